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
	// grace is the longest time that an interrupted command waits for the end of a line that it
	// writes.
	grace = 2 * time.Second
)

// stdoutBusy is locked during a write to standard output that a signal could cut short.
var stdoutBusy sync.Mutex

// EndStdout ends the output of a command before it exits: it waits for a running write of lines to
// standard output, but not longer than grace. Later writes wait for ever.
func EndStdout() {
	for end := time.Now().Add(grace); !stdoutBusy.TryLock() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// A LineWriter is a buffered writer to standard output that writes whole lines, so that a signal
// does not end the output in the middle of a line. A write has at most maxBytes, unless one line is
// longer: a pipe takes a small write whole or not at all.
type LineWriter struct {
	w         io.Writer
	maxBytes  int
	printable bool // lines are made printable
	buf       []byte
	err       error
}

// NewLineWriter returns a writer of lines to standard output. If they are lines of a log and
// standard output is a terminal, it makes them printable, so that no byte of a log controls the
// terminal.
func NewLineWriter(stdout io.Writer, isLog bool) *LineWriter {
	l := &LineWriter{w: stdout, maxBytes: stdoutBuffer, printable: isLog && message.Terminal(stdout)}
	if f, ok := stdout.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
			l.maxBytes = pipeWrite
		}
	}
	return l
}

func (l *LineWriter) Write(p []byte) (int, error) {
	l.buf = append(l.buf, p...)
	if last := bytes.LastIndexByte(p, '\n'); len(l.buf) >= stdoutBuffer && last >= 0 {
		l.write(len(l.buf) - len(p) + last + 1)
	}
	return len(p), l.err
}

// Flush writes all that is buffered.
func (l *LineWriter) Flush() error {
	l.write(len(l.buf))
	return l.err
}

// write writes and removes the first size bytes of the buffer.
func (l *LineWriter) write(size int) {
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
		if n > l.maxBytes {
			n = bytes.LastIndexByte(text[:l.maxBytes], '\n') + 1
			if n == 0 {
				n = bytes.IndexByte(text, '\n') + 1
			}
			if n == 0 {
				n = len(text)
			}
		}
		if l.maxBytes == pipeWrite && n <= pipeWrite { // whole or not at all
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
