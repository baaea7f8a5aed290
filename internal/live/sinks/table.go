package sinks

import (
	"bytes"
	"io"
	"slices"
	"time"

	"hdrkit/internal/gate"
	"hdrkit/internal/live"
	"hdrkit/output"
)

// redraw is the shortest time between two drawings of a table.
const redraw = 500 * time.Millisecond

// A Table shows on a terminal all that was recorded so far. It is drawn again where it stands.
type Table struct {
	*Gate
	w      io.Writer
	width  func() int
	colour bool

	drawn time.Time
	stale bool // it has changed since then
}

// NewTable returns a table of what a gate has, on a terminal that has a width.
func NewTable(g *Gate, w io.Writer, width func() int, colour bool) *Table {
	return &Table{Gate: g, w: w, width: width, colour: colour}
}

// Window adds what a tag has in a window, or what came late.
func (t *Table) Window(w *live.Window) error {
	t.stale = true
	return t.Gate.Window(w)
}

// Flush draws the table, unless it has just been drawn.
func (t *Table) Flush() error {
	if t.stale && time.Since(t.drawn) >= redraw {
		if err := t.draw(); err != nil {
			return err
		}
	}
	return t.Gate.Flush()
}

// End draws the table for the last time.
func (t *Table) End() error {
	if len(t.tags) == 0 {
		return nil
	}
	return t.draw()
}

// draw draws the table.
func (t *Table) draw() error {
	t.drawn, t.stale = time.Now(), false
	all, verdicts, scale, err := t.Judge(true)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	text.WriteString("\x1b[H\x1b[2J")                                                                               // to the top of an empty screen
	percentiles := slices.DeleteFunc(slices.Clone(t.options.Percentiles), func(p float64) bool { return p == 100 }) // a table has the maximum
	table := output.Table{Scale: output.Scale{Ratio: scale.Ratio, Unit: scale.Name}, Percentiles: percentiles, Width: t.width(), Colour: t.colour}
	if err := table.Write(&text, all); err != nil {
		return err
	}
	if len(verdicts) > 0 {
		text.WriteByte('\n')
	}
	if err := gate.Write(&text, verdicts, t.colour); err != nil {
		return err
	}
	_, err = t.w.Write(text.Bytes())
	return err
}
