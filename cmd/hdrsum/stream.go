package main

import (
	"errors"
	"io"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/cli"
	"hdrkit/internal/scan"
	"hdrkit/internal/series"
	"hdrkit/output"
	"hdrkit/tags"
)

// runStream writes a row for each interval, or for each window of -agg, as it is read.
func runStream(c *urfave.Context, s *scan.Scan, d *cli.Diagnostics, o *options) error {
	// On a terminal the rows are progress enough.
	stop := cli.ShowProgress(s, c.App.ErrWriter, c.Bool("q") || cli.Terminal(c.App.Writer))
	rows := 0
	err := cli.WriteFile(c.String("of"), c.App.Writer, s.Inputs, func(w io.Writer) error {
		out := o.format.rows(w, o)
		if buffered, ok := w.(interface{ Flush() error }); ok {
			s.BatchDone = buffered.Flush
		}
		points := points{format: &o.format, options: o, last: make(map[string]int64)}
		err := series.Run(s, &o.series, func(r *output.Row, at scan.Place, late error) error {
			rows++
			if c.Bool("v") {
				cli.Verbosef(c, "%s:%d: %s count=%d", at.Name, at.Line, tags.Text(r.Tag), r.Count)
			}
			if late == nil {
				late = points.check(r)
			}
			if late != nil {
				d.LeaveOut(at.Name, at.Line, late)
				if !points.moveOn(r) {
					return nil
				}
			}
			err := out.Row(r)
			if errors.Is(err, output.ErrPoint) {
				d.LeaveOut(at.Name, at.Line, err)
				return nil
			}
			return err
		})
		if err != nil {
			return err
		}
		if rows == 0 {
			return errNoRows
		}
		return out.Close()
	})
	stop()
	if err == errNoRows {
		d.Close()
		return cli.NothingLeft(s)
	}
	if err != nil {
		return err
	}
	return d.Close()
}

// errNoRows keeps a file from being written.
var errNoRows = errors.New("no rows")

// points knows when the last point of each tag was, to find those that a monitoring system would drop or replace.
type points struct {
	format  *format
	options *options
	last    map[string]int64 // by tag as a label
}

// check returns why a row cannot be a point after the tag's last one.
func (p *points) check(r *output.Row) error {
	if p.format.point == nil {
		return nil
	}
	label, now := tags.Text(r.Tag), p.format.point(r, p.options)
	if last, ok := p.last[label]; ok {
		if err := p.format.clash(last, now); err != nil {
			return err
		}
	}
	p.last[label] = now
	return nil
}

// moveOn makes of a row that is too late one that tells its totals only, at least a millisecond after
// the tag's last point. It
// reports whether the format has totals.
func (p *points) moveOn(r *output.Row) bool {
	if !p.format.totals {
		return false
	}
	label := tags.Text(r.Tag)
	if last, ok := p.last[label]; ok {
		r.End = max(r.End, last+1)
	}
	p.last[label] = r.End
	r.TotalsOnly = true
	return true
}

// outOfOrder is the rule of Prometheus: it drops points that are no later than the last one.
func outOfOrder(last, now int64) error {
	if now > last {
		return nil
	}
	return errors.New("ends no later than the last interval of its tag, so that only the counters take it in, a millisecond after that; hdrunion puts logs in order")
}

// sameTime is the rule of InfluxDB: a point replaces one of the same time.
func sameTime(last, now int64) error {
	if now != last {
		return nil
	}
	return errors.New("ends when the last interval of its tag does, which it would replace; -agg or hdrunion merge them, a finer -precision tells them apart")
}
