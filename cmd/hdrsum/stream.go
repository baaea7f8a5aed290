package main

import (
	"errors"
	"io"

	"hdrkit/internal/base/message"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/series"
	"hdrkit/internal/scan"
	"hdrkit/output"
	"hdrkit/tags"
)

// runStream writes a row for each interval, or for each window of -agg, as it is read.
func runStream(o *options) error {
	s := o.scan
	if s.By.AddsTags() && o.series.Window == 0 {
		return message.Usagef("-it and -by make one series of several tags: -agg must say which intervals to merge")
	}
	o.logs = o.units.Watch(s)
	// On a terminal the rows are progress enough.
	stop := func() {}
	if !message.Terminal(o.std.Out) {
		stop = logs.ShowProgress(s, o.std)
	}
	err := logs.WriteFile(o.of, o.std.Out, s.Inputs, func(w io.Writer) error {
		s.BatchDone = func() error { return logs.Flush(w) }
		return writeRows(o, w)
	})
	stop()
	switch {
	case err == errNoRows:
		o.diagnostics.Close()
		return logs.NothingLeft(s)
	case err != nil:
		return err
	}
	return o.diagnostics.Close()
}

// writeRows writes all rows to w. It makes their writer when the first row comes: then the comments
// at the beginning of the logs have been read, and the scale is known.
func writeRows(o *options, w io.Writer) error {
	sink := &rowSink{options: o, w: w, last: map[string]int64{}}
	if err := series.Run(o.scan, &o.series, sink.row); err != nil {
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

// A rowSink writes rows, but not those that the receiver of the format would drop.
type rowSink struct {
	*options
	w       io.Writer
	out     output.RowWriter // nil before the first row
	rows    int
	highest float64
	// last holds the time of the last point of each tag, to find the points that a monitoring
	// system would drop or replace.
	last map[string]int64
}

// row is a [series.Sink].
func (s *rowSink) row(r *output.Row, at scan.Place, late error) error {
	s.rows++
	s.sayInterval(at, r.Tag, r.Start, r.End, r.Count)
	// A row that cannot follow the tag's last point is left out, or, if the format has totals,
	// moved behind that point and reduced to them.
	moved := false
	if s.format.points.clash != nil {
		label := tags.Text(r.Tag)
		last, ok := s.last[label]
		if ok && late == nil {
			late = s.format.points.clash(last, r.End)
		}
		if moved = late != nil && s.format.points.totals; moved {
			r.TotalsOnly = true
			if ok {
				r.End = max(r.End, last+1)
			}
		}
		if late == nil || moved {
			s.last[label] = r.End
		}
	}
	if late != nil {
		s.diagnostics.LeaveOut(at.Name, at.Line, late)
		if !moved {
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
func (s *rowSink) write(r *output.Row) error {
	if s.out == nil {
		if err := s.begin(r); err != nil {
			return err
		}
	}
	factor, err := s.logs.Factor(r.Tag)
	if err != nil {
		return err
	}
	r.Scale = s.scale.Times(factor)
	s.highest = max(s.highest, r.Max.Float()*factor)
	return s.out.Row(r)
}

// begin finds out how to print values and makes the writer, for the first row.
func (s *rowSink) begin(r *output.Row) error {
	err := s.setScale()
	if err == nil && s.format.values == readable && r.Count > 0 {
		factor := 1.0
		if factor, err = s.logs.Factor(r.Tag); err == nil {
			err = s.readable(unit.Typical{Median: r.Mean * factor, Count: r.Count})
		}
	}
	if err == nil {
		s.out, err = s.format.rows(s.w, s.options)
	}
	return err
}

// errNoRows keeps a file from being written.
var errNoRows = errors.New("no rows")
