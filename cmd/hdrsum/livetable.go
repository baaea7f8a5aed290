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
	"hdrkit/internal/unit"
	"hdrkit/output"
	"hdrkit/tags"
)

// redraw is the shortest time between two drawings of a table.
const redraw = 500 * time.Millisecond

// A liveTable is a table of all that was recorded so far. It is drawn again where it stands.
type liveTable struct {
	table     output.Table
	limits    []sla.Limit
	scale     unit.Scale // of limits
	colour    bool
	summaries map[string]*output.Summary
	drawn     time.Time
	buffer    bytes.Buffer
}

func newLiveTable(o *options, g *gates) (*liveTable, error) {
	t := &liveTable{limits: g.limits, summaries: make(map[string]*output.Summary), colour: cli.Colour(os.Stdout)}
	t.table = output.Table{Scale: o.scale, Percentiles: o.percentiles, Colour: t.colour}
	var err error
	t.scale, err = o.units.Scale(sla.HasUnit(g.limits))
	return t, err
}

// add adds what a tag has in a window.
func (t *liveTable) add(m *merge.Merged, h *histogram.Histogram) error {
	key := tags.Text(m.Tag)
	s := t.summaries[key]
	if s == nil {
		s = &output.Summary{Histogram: new(histogram.Histogram), Start: m.Start, End: m.End}
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
	return nil
}

// draw draws the table, unless it has just been drawn. If a limit does not hold, the error ends the command.
func (t *liveTable) draw(w io.Writer) error {
	all := slices.SortedFunc(maps.Values(t.summaries), func(a, b *output.Summary) int { return tags.Compare(a.Tag, b.Tag) })
	verdicts := sla.Judge(t.limits, all, nil, t.scale)
	failed := sla.Failed(verdicts) > 0
	if !failed && time.Since(t.drawn) < redraw {
		return nil
	}
	t.drawn = time.Now()
	t.buffer.Reset()
	t.buffer.WriteString("\x1b[H\x1b[2J") // to the top of an empty screen
	t.table.Width = cli.Width(os.Stdout)
	if err := t.table.Write(&t.buffer, all); err != nil {
		return err
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
