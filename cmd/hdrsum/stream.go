package main

import (
	"errors"
	"io"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/message"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/series"
	"hdrkit/internal/scan"
	"hdrkit/output"
	"hdrkit/tags"
)

// writeStream writes a row for each interval, or for each window of -agg, while the logs are read.
func writeStream(q *question) error {
	s := q.source.scan
	if s.Rows.By.AddsTags() && q.rows.Window == 0 {
		return message.Usagef("-it and -by make one series of several tags: -agg must say which intervals to merge")
	}
	stop := func() {}
	if !message.Terminal(q.std.Out) {
		stop = logs.ShowProgress(s, q.std)
	}
	err := logs.WriteFile(q.page.file, q.std.Out, s.Inputs, func(w io.Writer) error {
		s.BatchDone = func() error { return logs.Flush(w) }
		return writeRows(q, w)
	})
	stop()
	switch {
	case err == errNoRows:
		q.source.diagnostics.Close()
		return logs.NothingLeft(s)
	case err != nil:
		return err
	}
	return q.source.diagnostics.Close()
}

// writeRows writes all rows to w. It makes their writer at the first row, since the scale is known
// only after the comments at the beginning of the logs.
func writeRows(q *question, w io.Writer) error {
	sink := &rowSink{question: q, w: w, lastTimes: map[string]int64{}}
	if err := series.Run(q.source.scan, &q.rows, sink.addRow); err != nil {
		return err
	}
	switch {
	case sink.rows == 0:
		return errNoRows
	case sink.out == nil:
		return nil
	}
	q.source.units.Doubt(sink.highest)
	return sink.out.Close()
}

// A rowSink writes rows, except for rows that the format's monitoring system would drop.
type rowSink struct {
	question *question
	w        io.Writer
	out      output.RowWriter // nil until the first row
	scale    hdrlog.Scale     // set together with out
	rows     int
	highest  float64
	// lastTimes is the time of each tag's last point, by the tag's text. It shows which points a
	// monitoring system would drop or replace.
	lastTimes map[string]int64
}

// addRow writes a row. late is an error if the row's intervals came too late. It is a
// [series.Sink].
func (s *rowSink) addRow(r *output.Row, v scan.Visit, late error) error {
	q := s.question
	points := &q.format.points
	s.rows++
	if q.source.verbose {
		printInterval(q.std, v.Place, r.Tag, r.Start, r.End, r.Count)
	}
	// A row that cannot follow the tag's last point is left out. If the format has totals, the row
	// is moved behind that point instead, and reduced to totals.
	moved := false
	if points.conflict != nil {
		label := tags.Text(r.Tag)
		last, ok := s.lastTimes[label]
		if ok && late == nil {
			late = points.conflict(last, r.End)
		}
		if moved = late != nil && points.hasTotals; moved {
			r.TotalsOnly = true
			if ok {
				r.End = max(r.End, last+1)
			}
		}
		if late == nil || moved {
			s.lastTimes[label] = r.End
		}
	}
	if late != nil {
		q.source.diagnostics.LeaveOut(v, late)
		if !moved {
			return nil
		}
	}
	err := s.write(r)
	if errors.Is(err, output.ErrPoint) {
		q.source.diagnostics.LeaveOut(v, err)
		return nil
	}
	return err
}

// write writes a row. The first row makes the writer.
func (s *rowSink) write(r *output.Row) error {
	if s.out == nil {
		if err := s.open(r); err != nil {
			return err
		}
	}
	factor, err := s.question.source.logs.Factor(r.Tag)
	if err != nil {
		return err
	}
	r.Scale = s.scale.Times(factor)
	s.highest = max(s.highest, r.Max.Float()*factor)
	return s.out.Row(r)
}

// open sets the scale, and makes the writer, at the first row.
func (s *rowSink) open(r *output.Row) (err error) {
	q := s.question
	units := q.source.units
	s.scale, err = units.Scale(q.figures.printed.HaveUnit())
	if err != nil {
		return err
	}
	q.printUnit(s.scale)
	if q.format.unitStyle == readable && r.Count > 0 {
		factor, err := q.source.logs.Factor(r.Tag)
		if err != nil {
			return err
		}
		known, err := units.Scale(true)
		if err != nil {
			return err
		}
		s.scale = units.Readable(known, unit.Typical{Median: r.Mean * factor, Count: r.Count})
	}
	s.out, s.scale, err = q.format.rows(s.w, q, s.scale)
	return err
}

// errNoRows prevents that an empty file is written.
var errNoRows = errors.New("no rows")
