package main

import (
	"cmp"
	"errors"
	"io"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/cli"
	"hdrkit/internal/scan"
	"hdrkit/internal/table/series"
	"hdrkit/output"
	"hdrkit/tags"
)

// runStream writes a row for each interval, or for each window of -agg, as it is read.
func runStream(c *urfave.Context, s *scan.Scan, d *cli.Diagnostics, o *options) error {
	o.logs = o.units.Watch(s)
	if o.push != nil {
		return pushRows(c, s, d, o)
	}
	// On a terminal the rows are progress enough.
	stop := cli.ShowProgress(s, c.App.ErrWriter, c.Bool("q") || cli.Terminal(c.App.Writer))
	err := cli.WriteFile(c.String("of"), c.App.Writer, s.Inputs, func(w io.Writer) error {
		s.BatchDone = func() error { return cli.Flush(w) }
		return writeRows(c, s, d, o, o.rowWriter(func() (output.RowWriter, error) { return o.format.rows(w, o) }))
	})
	stop()
	return endRows(s, d, err)
}

// writeRows writes all rows.
func writeRows(c *urfave.Context, s *scan.Scan, d *cli.Diagnostics, o *options, out output.RowWriter) error {
	sink := newRowSink(c, d, o, out)
	if err := series.Run(s, &o.series, sink.row); err != nil {
		return err
	}
	if sink.rows == 0 {
		return errNoRows
	}
	return out.Close()
}

// rowWriter returns a writer of rows that is made when the first row comes. Then the comments at
// the beginning of the logs have been read, and the scale is known.
func (o *options) rowWriter(make func() (output.RowWriter, error)) output.RowWriter {
	return &lateRows{options: o, make: make}
}

type lateRows struct {
	options *options
	make    func() (output.RowWriter, error)
	out     output.RowWriter // nil before the first row
}

func (l *lateRows) Row(r *output.Row) (err error) {
	if l.out == nil {
		if err := l.options.setScale(); err != nil {
			return err
		}
		if l.options.format.readable && r.Count > 0 {
			if err := l.options.readable(r.Mean * cmp.Or(r.Factor, 1)); err != nil {
				return err
			}
		}
		out, err := l.make()
		if err != nil {
			return err
		}
		l.out = out
	}
	if r.Factor, err = l.options.logs.Factor(r.Tag); err != nil {
		return err
	}
	return l.out.Row(r)
}

func (l *lateRows) Close() error {
	if l.out == nil {
		return nil
	}
	return l.out.Close()
}

// endRows returns the error or status of a command that has written rows.
func endRows(s *scan.Scan, d *cli.Diagnostics, err error) error {
	if err == errNoRows {
		d.Close()
		return cli.NothingLeft(s)
	}
	if err != nil {
		return err
	}
	return d.Close()
}

// A rowSink writes rows, but not those that the receiver of the format would drop.
type rowSink struct {
	c           *urfave.Context
	diagnostics *cli.Diagnostics
	out         output.RowWriter
	points      points
	rows        int
}

func newRowSink(c *urfave.Context, d *cli.Diagnostics, o *options, out output.RowWriter) *rowSink {
	return &rowSink{c: c, diagnostics: d, out: out, points: points{format: o.format, options: o, last: make(map[string]int64)}}
}

// row is a [series.Sink].
func (s *rowSink) row(r *output.Row, at scan.Place, late error) error {
	s.rows++
	if s.c.Bool("v") {
		cli.Verbosef(s.c, "%s:%d: %s count=%d", at.Name, at.Line, tags.Text(r.Tag), r.Count)
	}
	if late == nil {
		late = s.points.check(r)
	}
	if late != nil {
		s.diagnostics.LeaveOut(at.Name, at.Line, late)
		if !s.points.moveOn(r) {
			return nil
		}
	}
	err := s.out.Row(r)
	if errors.Is(err, output.ErrPoint) {
		s.diagnostics.LeaveOut(at.Name, at.Line, err)
		return nil
	}
	return err
}

// errNoRows keeps a file from being written.
var errNoRows = errors.New("no rows")

// points holds the time of the last point of each tag, to find the points that a monitoring system
// would drop or replace.
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

// moveOn moves a row that is too late behind the tag's last point, and reduces it to its totals. It
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
