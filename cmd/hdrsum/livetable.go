package main

import (
	"bytes"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/cli"
	"hdrkit/internal/sla"
	"hdrkit/internal/summary"
	"hdrkit/output"
	"hdrkit/tags"
)

// redraw is the shortest time between two drawings of a table.
const redraw = 500 * time.Millisecond

// A liveTable is a table of all that was recorded so far. It is drawn again where it stands.
type liveTable struct {
	options   *options
	limits    []sla.Limit
	colour    bool
	summaries map[string]*output.Summary
	maxima    map[*output.Summary]*summary.Maxima
	drawn     time.Time
	buffer    bytes.Buffer
}

func newLiveTable(o *options, g *gates) *liveTable {
	return &liveTable{
		options: o, limits: g.limits, colour: cli.Colour(os.Stdout),
		summaries: make(map[string]*output.Summary), maxima: make(map[*output.Summary]*summary.Maxima),
	}
}

// add adds what a tag has in a window.
func (t *liveTable) add(m *merge.Merged, h *histogram.Histogram) error {
	key := tags.Text(m.Tag)
	s := t.summaries[key]
	if s == nil {
		s = &output.Summary{Histogram: new(histogram.Histogram), Start: m.Start, End: m.End, AllTags: t.options.series.IgnoreTags}
		t.maxima[s] = new(summary.Maxima)
		if m.Tag != nil {
			s.Tag = append([]byte{}, m.Tag...)
		}
		t.summaries[key] = s
	}
	if err := s.Histogram.Add(h); err != nil {
		return err
	}
	s.Intervals += m.Intervals()
	s.Start, s.End = min(s.Start, m.Start), max(s.End, m.End)
	s.Period = s.End - s.Start
	if h.TotalCount() > 0 {
		t.maxima[s].Add(m.Start, m.End, h.Float(h.Max()))
		s.Maxima = t.maxima[s].Output()
	}
	return nil
}

// draw draws the table, unless it has just been drawn. If a limit does not hold, the error ends the
// command.
func (t *liveTable) draw(w io.Writer) error {
	all := slices.SortedFunc(maps.Values(t.summaries), func(a, b *output.Summary) int { return tags.Compare(a.Tag, b.Tag) })
	scale, err := t.options.units.Scale(sla.HasUnit(t.limits))
	if err != nil {
		return err
	}
	verdicts := sla.Judge(t.limits, all, nil, scale)
	failed := sla.Failed(verdicts) > 0
	if !failed && time.Since(t.drawn) < redraw {
		return nil
	}
	t.drawn = time.Now()
	t.buffer.Reset()
	t.buffer.WriteString("\x1b[H\x1b[2J") // to the top of an empty screen
	if err := t.options.setReadableScale(all...); err != nil {
		return err
	}
	table := output.Table{Scale: t.options.scale, Percentiles: t.options.percentiles, Width: cli.Width(os.Stdout), Colour: t.colour}
	if err := table.Write(&t.buffer, all); err != nil {
		return err
	}
	if len(verdicts) > 0 {
		t.buffer.WriteByte('\n')
	}
	if err := sla.Write(&t.buffer, verdicts, t.colour); err != nil {
		return err
	}
	if _, err := w.Write(t.buffer.Bytes()); err != nil {
		return err
	}
	if failed {
		return errExceeded
	}
	return nil
}

// errExceeded ends a test early.
var errExceeded = cli.Status(cli.Exceeded)
