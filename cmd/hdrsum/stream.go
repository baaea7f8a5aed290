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
	if o.by.AddsTags() && o.series.Window == 0 {
		return cli.Usagef("-it and -by make one series of several tags: -agg must say which intervals to merge")
	}
	o.logs = o.units.Watch(s)
	if o.push != nil {
		return pushRows(c, s, d, o)
	}
	// On a terminal the rows are progress enough.
	stop := cli.ShowProgress(s, c.App.ErrWriter, c.Bool("q") || cli.Terminal(c.App.Writer))
	err := cli.WriteFile(c.String("of"), c.App.Writer, s.Inputs, func(w io.Writer) error {
		s.BatchDone = func() error { return cli.Flush(w) }
		return writeRows(s, d, o, func() (output.RowWriter, error) { return o.format.rows(w, o) })
	})
	stop()
	return endRows(s, d, err)
}

// writeRows writes all rows. It makes their writer when the first row comes: then the comments at
// the beginning of the logs have been read, and the scale is known.
func writeRows(s *scan.Scan, d *cli.Diagnostics, o *options, make func() (output.RowWriter, error)) error {
	sink := &rowSink{options: o, diagnostics: d, make: make, last: map[string]int64{}}
	if err := series.Run(s, &o.series, sink.row); err != nil {
		return err
	}
	switch {
	case sink.rows == 0:
		return errNoRows
	case sink.out == nil:
		return nil
	}
	o.units.Doubt(sink.highest)
	return sink.out.Close()
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
	options     *options
	diagnostics *cli.Diagnostics
	make        func() (output.RowWriter, error)
	out         output.RowWriter // nil before the first row
	rows        int
	highest     float64
	// last holds the time of the last point of each tag, to find the points that a monitoring
	// system would drop or replace.
	last map[string]int64
}

// row is a [series.Sink].
func (s *rowSink) row(r *output.Row, at scan.Place, late error) error {
	s.rows++
	sayInterval(s.options.c, at, r.Tag, r.Start, r.End, r.Count)
	if late == nil {
		late = s.check(r)
	}
	if late != nil {
		s.diagnostics.LeaveOut(at.Name, at.Line, late)
		if !s.moveOn(r) {
			return nil
		}
	}
	err := s.write(r)
	if errors.Is(err, output.ErrPoint) {
		s.diagnostics.LeaveOut(at.Name, at.Line, err)
		return nil
	}
	return err
}

// write writes a row, and makes the writer if it is the first one.
func (s *rowSink) write(r *output.Row) (err error) {
	o := s.options
	if s.out == nil {
		if err := o.setScale(); err != nil {
			return err
		}
		if o.format.readable && r.Count > 0 {
			if err := o.readable(r.Mean * cmp.Or(r.Factor, 1)); err != nil {
				return err
			}
		}
		if s.out, err = s.make(); err != nil {
			return err
		}
	}
	if r.Factor, err = o.logs.Factor(r.Tag); err != nil {
		return err
	}
	s.highest = max(s.highest, r.Max.Float()*cmp.Or(r.Factor, 1))
	return s.out.Row(r)
}

// errNoRows keeps a file from being written.
var errNoRows = errors.New("no rows")

// check returns why a row cannot be a point after the tag's last one.
func (s *rowSink) check(r *output.Row) error {
	if s.options.format.clash == nil {
		return nil
	}
	label := tags.Text(r.Tag)
	if last, ok := s.last[label]; ok {
		if err := s.options.format.clash(last, r.End); err != nil {
			return err
		}
	}
	s.last[label] = r.End
	return nil
}

// moveOn moves a row that is too late behind the tag's last point, and reduces it to its totals. It
// reports whether the format has totals.
func (s *rowSink) moveOn(r *output.Row) bool {
	if !s.options.format.totals {
		return false
	}
	label := tags.Text(r.Tag)
	if last, ok := s.last[label]; ok {
		r.End = max(r.End, last+1)
	}
	s.last[label] = r.End
	r.TotalsOnly = true
	return true
}
