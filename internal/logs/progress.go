package logs

import (
	"fmt"
	"io"
	"sync"
	"time"

	"hdrkit/internal/base/message"
	"hdrkit/internal/scan"
)

const (
	// quietTime is the time from the start of a command to the first line of progress.
	quietTime = 2 * time.Second
	// refresh is the shortest time from one update of the line to the next.
	refresh = 100 * time.Millisecond
)

// ShowProgress shows on standard error how much of the inputs a scan has read, if standard error is
// a terminal and the scan takes long. Call stop when the scan has ended.
func ShowProgress(s *scan.Scan, std *message.Streams) (stop func()) {
	if std.Quiet || !message.Terminal(std.Err) {
		return func() {}
	}
	p := &progress{w: std.Err, now: time.Now, begin: time.Now(), total: totalSize(s.Inputs)}
	s.Progress = p.add
	return p.stop
}

// totalSize returns the size of all inputs in bytes, 0 if the size of one is unknown.
func totalSize(inputs []scan.Input) (total int64) {
	for _, input := range inputs {
		if input.Size == 0 {
			return 0
		}
		total += input.Size
	}
	return total
}

// A progress is a line on a terminal that shows how much of the inputs is read.
type progress struct {
	w           io.Writer
	now         func() time.Time
	begin, last time.Time // last is when the line was shown last
	total       int64     // bytes to read, 0 if unknown

	mu   sync.Mutex
	read int64
}

// add counts bytes that were read. It updates the line if enough time has passed.
func (p *progress) add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read += int64(n)
	now := p.now()
	elapsed := now.Sub(p.begin)
	if elapsed < quietTime || now.Sub(p.last) < refresh {
		return
	}
	p.last = now
	rate := float64(p.read) / elapsed.Seconds()
	line := fmt.Sprintf("%s read, %s/s", formatSize(float64(p.read)), formatSize(rate))
	if p.total >= p.read && rate > 0 {
		remaining := time.Duration(float64(p.total-p.read) / rate * float64(time.Second))
		line = fmt.Sprintf("%3d%%  %s, %s left", 100*p.read/p.total, line, remaining.Round(time.Second))
	}
	fmt.Fprintf(p.w, "\r%s\x1b[K", line)
}

// stop removes the line from the terminal.
func (p *progress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.last.IsZero() {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// formatSize formats a number of bytes with a unit and about three digits.
func formatSize(bytes float64) string {
	for _, unit := range []string{"B", "kB", "MB", "GB"} {
		if bytes < 999.5 {
			return fmt.Sprintf("%.3g %s", bytes, unit)
		}
		bytes /= 1000
	}
	return fmt.Sprintf("%.3g TB", bytes)
}
