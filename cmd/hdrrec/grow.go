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
	// present is how old the newest row is at most of a program that runs now. Rows of the past are
	// as late as in a file.
	present = time.Minute
	// soon is how late rows of the present may be, if -late does not say, in milliseconds.
	// Intervals that are over are written when a pipe has nothing new for as long.
	soon = 5_000
)

// A growing input is a pipe. When reading waits for more, intervals that are over are written.
type growing struct {
	command *command
	pipe    io.ReadCloser
	w       io.Writer
	log     *hdrlog.Writer
	late    int64 // milliseconds

	mu      sync.Mutex // held while reading waits, and by the timer
	waiting bool
	timer   *time.Timer
	reader  *measure.Reader // nil before the format is known
	err     error           // of writing
}

// input returns the input that reads a pipe so.
func (g *growing) input(pipe scan.Input) scan.Input {
	open := pipe.Open
	pipe.Open = func() (_ io.ReadCloser, err error) {
		g.pipe, err = open()
		return g, err
	}
	return pipe
}

// Close closes the pipe.
func (g *growing) Close() error { return g.pipe.Close() }

// Read reads the pipe.
func (g *growing) Read(p []byte) (n int, err error) {
	if err := g.wait(true); err != nil {
		return 0, err
	}
	n, err = g.pipe.Read(p)
	g.wait(false)
	return n, err
}

// wait says that reading begins to wait for more, or ends to wait.
func (g *growing) wait(waiting bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = waiting
	if g.timer != nil {
		g.timer.Stop()
	}
	if !waiting || g.reader == nil || !g.reader.HasRowAfter(time.Now().Add(-present)) {
		return g.err
	}
	g.written(g.command.recorder.Advance(g.reader, g.late))
	g.timer = time.AfterFunc(soon*time.Millisecond, func() {
		g.end(func() error { return g.command.recorder.WriteOver(g.reader, time.Now().UnixMilli()) })
	})
	return g.err
}

// interrupted writes what there is: a signal has come, and maybe no more rows.
func (g *growing) interrupted() {
	g.end(func() error { return g.command.recorder.Run(nil) })
}

// end ends intervals if reading waits.
func (g *growing) end(end func() error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.waiting && g.reader != nil {
		g.written(end())
	}
}

// written flushes what was written.
func (g *growing) written(err error) {
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
