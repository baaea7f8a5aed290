package sinks

import (
	"bytes"
	"io"
	"slices"
	"sync"
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

	mu    sync.Mutex // held while the table changes, and by the timer
	drawn time.Time
	timer *time.Timer // draws what came soon after the last drawing
	err   error       // of the timer
}

// NewTable returns a table of what a gate has, on a terminal that has a width.
func NewTable(g *Gate, w io.Writer, width func() int, colour bool) *Table {
	return &Table{Gate: g, w: w, width: width, colour: colour}
}

// Window adds what a tag has in a window, or what came late.
func (t *Table) Window(w *live.Window) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.Gate.Window(w)
}

// Flush draws the table, soon if it has just been drawn.
func (t *Table) Flush() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if wait := redraw - time.Since(t.drawn); wait <= 0 {
		t.draw()
	} else if t.timer == nil {
		t.timer = time.AfterFunc(wait, func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			if t.timer != nil {
				t.draw()
			}
		})
	}
	if t.err != nil {
		return t.err
	}
	return t.Gate.Flush()
}

// End draws the table for the last time.
func (t *Table) End() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.tags) > 0 {
		t.draw()
	}
	return t.err
}

// draw draws the table.
func (t *Table) draw() {
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
	t.drawn = time.Now()
	all, verdicts, scale, err := t.Judge(true)
	if err != nil {
		t.err = err
		return
	}
	var text bytes.Buffer
	text.WriteString("\x1b[H\x1b[2J")                                                                               // to the top of an empty screen
	percentiles := slices.DeleteFunc(slices.Clone(t.options.Percentiles), func(p float64) bool { return p == 100 }) // a table has the maximum
	table := output.Table{Scale: output.Scale{Ratio: scale.Ratio, Unit: scale.Name}, Percentiles: percentiles, Width: t.width(), Colour: t.colour}
	if t.err = table.Write(&text, all); t.err != nil {
		return
	}
	if len(verdicts) > 0 {
		text.WriteByte('\n')
	}
	if t.err = gate.Write(&text, verdicts, t.colour); t.err == nil {
		_, t.err = t.w.Write(text.Bytes())
	}
}
