package logs

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"hdrkit/internal/base/message"
)

const (
	stdoutBuffer = 64 << 10
	// pipeWrite is the largest write that a pipe takes whole or not at all (POSIX's PIPE_BUF is at
	// least 512; Linux has 4096).
	pipeWrite = 4096
	// grace is how long an interrupted command waits for a line that it has begun to write.
	grace = 2 * time.Second
)

// stdoutBusy is held while lines go to standard output in a way that a signal could cut short.
var stdoutBusy sync.Mutex

// EndStdout waits until no line is being written to standard output, or until the reader takes too
// long. There can be no more output after it.
func EndStdout() {
	for end := time.Now().Add(grace); !stdoutBusy.TryLock() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// Lines is a buffered writer to standard output that writes whole lines, so that a signal does not
// end the output in the middle of a line. A write is no longer than most, unless a line is: a pipe
// that is full takes such a write whole or not at all.
type Lines struct {
	w         io.Writer
	most      int
	printable bool // lines are made so
	buf       []byte
	err       error
}

// NewLines returns a writer of lines to standard output. On a terminal the lines of a log are
// [Printable], so that no byte of it controls the terminal.
func NewLines(stdout io.Writer, log bool) *Lines {
	l := &Lines{w: stdout, most: stdoutBuffer, printable: log && message.Terminal(stdout)}
	if f, ok := stdout.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
			l.most = pipeWrite
		}
	}
	return l
}

func (l *Lines) Write(p []byte) (int, error) {
	l.buf = append(l.buf, p...)
	if last := bytes.LastIndexByte(p, '\n'); len(l.buf) >= stdoutBuffer && last >= 0 {
		l.write(len(l.buf) - len(p) + last + 1)
	}
	return len(p), l.err
}

// Flush writes all that is buffered.
func (l *Lines) Flush() error {
	l.write(len(l.buf))
	return l.err
}

// write writes the first bytes of the buffer.
func (l *Lines) write(size int) {
	text := l.buf[:size]
	if l.printable {
		var b bytes.Buffer
		for line := range bytes.Lines(text) {
			whole, ended := bytes.CutSuffix(line, []byte("\n"))
			b.WriteString(message.Printable(string(whole)))
			if ended {
				b.WriteByte('\n')
			}
		}
		text = b.Bytes()
	}
	for len(text) > 0 && l.err == nil {
		n := len(text)
		if n > l.most {
			n = bytes.LastIndexByte(text[:l.most], '\n') + 1
			if n == 0 {
				n = bytes.IndexByte(text, '\n') + 1
			}
			if n == 0 {
				n = len(text)
			}
		}
		if l.most == pipeWrite && n <= pipeWrite { // whole or not at all
			_, l.err = l.w.Write(text[:n])
		} else {
			stdoutBusy.Lock()
			_, l.err = l.w.Write(text[:n])
			stdoutBusy.Unlock()
		}
		text = text[n:]
	}
	l.buf = l.buf[:copy(l.buf, l.buf[size:])]
}
