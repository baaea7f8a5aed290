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
	// patience is how long a command may take without showing progress.
	patience = 2 * time.Second
	// refresh is the time from one picture of the progress to the next.
	refresh = 100 * time.Millisecond
)

// ShowProgress shows on standard error how far the scan has come, if that is a terminal and the
// scan takes long. Call stop when the scan has ended.
func ShowProgress(s *scan.Scan, std *message.Streams) (stop func()) {
	if std.Quiet || !message.Terminal(std.Err) {
		return func() {}
	}
	p := &progress{w: std.Err, now: time.Now, begin: time.Now(), total: totalSize(s.Inputs)}
	s.Progress = p.add
	return p.stop
}

// totalSize returns how many bytes there are to read, 0 if that is not known.
func totalSize(inputs []scan.Input) (total int64) {
	for _, input := range inputs {
		if input.Size == 0 {
			return 0
		}
		total += input.Size
	}
	return total
}

// progress is a line on a terminal that shows how much is read.
type progress struct {
	w           io.Writer
	now         func() time.Time
	begin, last time.Time // last is when the line was shown last
	total       int64     // bytes to read, 0 if that is not known

	mu   sync.Mutex
	read int64
}

// add counts bytes, and shows the line if it is time.
func (p *progress) add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read += int64(n)
	now := p.now()
	took := now.Sub(p.begin)
	if took < patience || now.Sub(p.last) < refresh {
		return
	}
	p.last = now
	rate := float64(p.read) / took.Seconds()
	line := fmt.Sprintf("%s read, %s/s", size(float64(p.read)), size(rate))
	if p.total >= p.read && rate > 0 {
		left := time.Duration(float64(p.total-p.read) / rate * float64(time.Second))
		line = fmt.Sprintf("%3d%%  %s, %s left", 100*p.read/p.total, line, left.Round(time.Second))
	}
	fmt.Fprintf(p.w, "\r%s\x1b[K", line)
}

// stop removes the line.
func (p *progress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.last.IsZero() {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// size returns a number of bytes with three digits or so.
func size(bytes float64) string {
	for _, unit := range []string{"B", "kB", "MB", "GB"} {
		if bytes < 999.5 {
			return fmt.Sprintf("%.3g %s", bytes, unit)
		}
		bytes /= 1000
	}
	return fmt.Sprintf("%.3g TB", bytes)
}
