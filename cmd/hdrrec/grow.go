package main

import (
	"io"
	"sync"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/internal/logs"
	"hdrkit/internal/measure"
	"hdrkit/internal/scan"
)

const (
	// If the newest row is older than presentAge, the rows are of the past, and -late has the
	// default for files.
	presentAge = time.Minute
	// presentLate is the default of -late for rows of the present, in milliseconds. If a pipe has
	// nothing new for this time, hdrrec writes the intervals that are over.
	presentLate = 5_000
)

// A growingPipe is the only input of hdrrec, a pipe whose program may still run. While a read waits
// for more text, hdrrec writes the intervals that are over.
type growingPipe struct {
	command *command
	pipe    io.ReadCloser
	w       io.Writer
	log     *hdrlog.Writer
	late    int64 // milliseconds

	mu      sync.Mutex // held while setWaiting and the timer use the fields below and the recorder
	waiting bool
	timer   *time.Timer
	reader  *measure.Reader // nil until the format is known
	err     error           // the first error of writing
}

// input returns an input that reads a pipe through g.
func (g *growingPipe) input(pipe scan.Input) scan.Input {
	open := pipe.Open
	pipe.Open = func() (_ io.ReadCloser, err error) {
		g.pipe, err = open()
		return g, err
	}
	return pipe
}

func (g *growingPipe) Close() error { return g.pipe.Close() }

func (g *growingPipe) Read(p []byte) (n int, err error) {
	if err := g.setWaiting(true); err != nil {
		return 0, err
	}
	n, err = g.pipe.Read(p)
	g.setWaiting(false)
	return n, err
}

// setWaiting is called before and after each read of the pipe. Before, it writes intervals and
// starts the timer.
func (g *growingPipe) setWaiting(waiting bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = waiting
	if g.timer != nil {
		g.timer.Stop()
	}
	if !waiting || g.reader == nil || !g.reader.HasRowAfter(time.Now().Add(-presentAge)) {
		return g.err
	}
	g.flush(g.command.recorder.Advance(g.reader, g.late))
	g.timer = time.AfterFunc(presentLate*time.Millisecond, func() {
		g.writeIfWaiting(func() error { return g.command.recorder.WriteOver(g.reader, time.Now().UnixMilli()) })
	})
	return g.err
}

// interrupted writes all open intervals after a signal, since more rows may never come.
func (g *growingPipe) interrupted() {
	g.writeIfWaiting(func() error { return g.command.recorder.Run(nil) })
}

// writeIfWaiting calls end, which writes intervals, if a read waits. During a read, the recorder
// is in use.
func (g *growingPipe) writeIfWaiting(end func() error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.waiting && g.reader != nil {
		g.flush(end())
	}
}

// flush flushes the log after a write that returned err. It keeps the first error.
func (g *growingPipe) flush(err error) {
	if err == nil {
		err = g.log.Flush()
	}
	if err == nil {
		err = logs.Flush(g.w)
	}
	if g.err == nil {
		g.err = err
	}
}
