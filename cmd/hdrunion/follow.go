package main

import (
	"errors"
	"fmt"
	"io"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/cli"
	"hdrkit/internal/live"
	"hdrkit/internal/live/prom"
	"hdrkit/internal/table/union"
)

// runFollow joins logs while they are written.
func runFollow(c *urfave.Context, d *cli.Diagnostics, grid int64) error {
	d.Follow()
	collector := prom.NewCollector(prom.Options{})
	hooks := cli.FollowHooks{}
	port, err := cli.Listen(c, "listen")
	if err != nil {
		return err
	}
	if port != nil {
		defer port.Close()
		hooks.Start = func(m *live.Merger) (end func()) {
			collector.Watch(m.States, nil)
			return port.Start(collector.Handler())
		}
	}
	some := false
	follow := func(w io.Writer) (err error) {
		out := &liveUnion{w: w, log: hdrlog.NewWriter(w), Diagnostics: d, collector: collector}
		some, err = cli.Follow(c, grid, out, hooks)
		return err
	}
	err = cli.WriteFollowed(c, func(w io.Writer) error { return follow(cli.Visible("", c.App.Writer, w)) }, follow)
	if err != nil {
		return err
	}
	if !some {
		d.Close()
		return errors.New("no intervals in the input")
	}
	return d.Close()
}

// liveUnion writes what is merged as a log.
type liveUnion struct {
	*cli.Diagnostics
	w         io.Writer
	log       *hdrlog.Writer
	collector *prom.Collector
	base      int64 // milliseconds since the epoch
	begun     bool
	units     unit.Finder
	fields    []byte
}

// Comment reads a comment of a log for its unit.
func (u *liveUnion) Comment(log string, text []byte) error {
	u.units.Comment(log, text)
	return nil
}

// Kept says that a log has an interval with a tag.
func (u *liveUnion) Kept(log string, tag []byte) { u.units.Uses(tag, log) }

// Window writes an interval.
func (u *liveUnion) Window(m *merge.Merged) error {
	u.collector.Complete(m.Window.End)
	if !u.begun {
		// A machine that joins later may have begun earlier: its intervals then have negative
		// starts.
		u.base = min(m.Start, int64(m.LogStart*1000))
		u.begun = true
		found, err := u.units.Unit()
		if err != nil {
			found = unit.Unit{} // the logs have several
		}
		if err := union.WriteHeader(u.log, nil, found, u.base); err != nil {
			return err
		}
	}
	if _, err := u.units.Of(m.Tag); err != nil {
		return fmt.Errorf("%w, and they have the same tag: -tif gives them different tags", err)
	}
	tag := hdrlog.StandardTag(m.Tag)
	if err := hdrlog.CheckTag(tag); err != nil {
		return u.Skip(err.Error())
	}
	fields, err := m.AppendFields(u.fields[:0], u.base)
	if err != nil {
		return u.SkipWindow(m.Tag, err)
	}
	u.fields = fields
	return u.log.Fields(tag, fields)
}

// Late writes an interval by itself. A union of the result puts it in its window.
func (u *liveUnion) Late(m *merge.Merged) error { return u.Window(m) }

// Flush writes what is complete.
func (u *liveUnion) Flush() error {
	if err := u.log.Flush(); err != nil {
		return err
	}
	return cli.Flush(u.w)
}

// A unionState is what a state file has of the output.
type unionState struct {
	Size, Base int64
	Begun      bool
}

// Save puts the output on the disk.
func (u *liveUnion) Save() (own []byte, arrived func() bool, err error) {
	if err := u.Flush(); err != nil {
		return nil, nil, err
	}
	s := unionState{Base: u.base, Begun: u.begun}
	own, err = cli.SaveOutput(u.w, &s.Size, &s)
	return own, func() bool { return true }, err
}

// Saved does nothing: the output was on the disk before.
func (u *liveUnion) Saved() error { return nil }

// Load goes on where Save was.
func (u *liveUnion) Load(own []byte) error {
	var s unionState
	err := cli.LoadOutput(u.w, own, &s.Size, &s)
	if s.Size > 0 { // standard output begins again
		u.base, u.begun = s.Base, s.Begun
	}
	return err
}
