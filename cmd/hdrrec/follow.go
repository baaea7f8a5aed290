package main

import (
	"errors"
	"io"
	"sync"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/internal/cli"
	"hdrkit/internal/live/follow"
	"hdrkit/internal/measure"
)

// A follower records a file while it is written. What is complete is written whenever the reader
// waits for more.
type follower struct {
	*command
	w    io.Writer
	log  *hdrlog.Writer
	idle time.Duration

	mu      sync.Mutex // held while reading waits, and by the timer
	waiting bool
	timer   *time.Timer
	source  *measure.Source
	err     error // of writing
}

// follow records a file while it is written.
func (r *command) follow() error {
	f := &follower{command: r}
	idle, err := cli.Millis(r.c, "idle")
	if err != nil {
		return err
	}
	if f.idle = time.Duration(idle) * time.Millisecond; f.idle == 0 {
		f.idle = 5 * time.Second
	}
	limit, err := cli.Millis(r.c, "for")
	if err != nil {
		return err
	}
	names := append(append(r.c.StringSlice("if"), r.c.StringSlice("ifp")...), r.c.Args().Slice()...)
	if len(names) == 0 {
		if cli.Terminal(r.c.App.Reader) {
			return cli.Usagef("no input: name a file, or - for standard input")
		}
		names = []string{"-"}
	}
	if len(names) > 1 {
		return cli.Usagef("-follow records one file; record each by itself, and join the logs with hdrunion -follow")
	}
	following := follow.New(follow.Options{
		Notice:  func(input, text string) { r.diagnostics.Warnf("%s %s", input, text) },
		Waiting: func(_ *follow.Input, waiting bool) { f.wait(waiting) },
	})
	defer following.Close()
	var in *follow.Input
	if names[0] == "-" {
		in = following.AddReader("-", r.c.App.Reader)
	} else {
		in = following.AddFile(names[0])
	}
	if limit > 0 {
		defer time.AfterFunc(time.Duration(limit)*time.Millisecond, following.Stop).Stop()
	}
	cli.OnInterrupt(0, following.Stop)
	return cli.WriteFile("", r.c.App.Writer, nil, func(w io.Writer) error {
		f.w, f.log = w, r.begin(w)
		following.Start()
		return f.run(in)
	})
}

// run records one file after another: a new one begins when it is replaced.
func (f *follower) run(in *follow.Input) error {
	for {
		file, err := in.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, follow.ErrStopped) {
			break
		}
		if err != nil {
			return err
		}
		source, err := f.open(file, in.Name())
		if errors.Is(err, follow.ErrStopped) {
			break
		}
		if err != nil {
			return err
		}
		f.mu.Lock()
		f.source = source
		f.mu.Unlock()
		if err := f.recorder.Follow(source); err != nil && !errors.Is(err, follow.ErrStopped) {
			return err
		}
		if f.err != nil {
			return f.err
		}
	}
	f.wait(false)
	if err := f.recorder.Run(nil); err != nil {
		return err
	}
	if err := f.flush(); err != nil {
		return err
	}
	if !f.recorder.Intervals.Some() {
		return errNothing
	}
	return nil
}

// wait is called when the reader begins to wait for more, and when it ends to wait.
func (f *follower) wait(waiting bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting = waiting
	if f.timer != nil {
		f.timer.Stop()
	}
	if !waiting || f.source == nil {
		return
	}
	f.written(f.recorder.Advance(f.source))
	f.timer = time.AfterFunc(f.idle, f.quiet)
}

// quiet is called when nothing was read for long. Intervals that are over are written then.
func (f *follower) quiet() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting {
		f.written(f.recorder.CloseOver(f.source, time.Now().UnixMilli()))
		f.timer = time.AfterFunc(f.idle, f.quiet)
	}
}

// written flushes what was written.
func (f *follower) written(err error) {
	if err == nil {
		err = f.flush()
	}
	if f.err == nil {
		f.err = err
	}
}

func (f *follower) flush() error {
	if err := f.log.Flush(); err != nil {
		return err
	}
	return cli.Flush(f.w)
}
