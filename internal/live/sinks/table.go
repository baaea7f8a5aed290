package sinks

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"hdrkit/internal/finding"
	"hdrkit/internal/gate"
	"hdrkit/internal/live"
	"hdrkit/internal/report"
	"hdrkit/output"
	"hdrkit/tags"
)

// redraw is the shortest time between two drawings of a table.
const redraw = 500 * time.Millisecond

// A Terminal has a table below the messages. It is safe for concurrent use.
type Terminal struct {
	W             io.Writer
	Width, Height func() int
	Colour        bool

	mu    sync.Mutex
	lines []string // of the table
}

// Messages returns a writer for messages, which w shows on the same terminal. They stay above the
// table.
func (t *Terminal) Messages(w io.Writer) io.Writer { return &messages{t, w} }

type messages struct {
	terminal *Terminal
	w        io.Writer
}

func (m *messages) Write(text []byte) (int, error) {
	t := m.terminal
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := t.lines
	if err := t.put(nil); err != nil {
		return 0, err
	}
	n, err := m.w.Write(text)
	return n, cmp.Or(err, t.put(lines))
}

// draw draws a table. One that goes on fits the terminal: it may lack lines at its end.
func (t *Terminal) draw(table string, goesOn bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !goesOn {
		err := t.put(nil)
		_, last := io.WriteString(t.W, table)
		return cmp.Or(err, last)
	}
	lines := slices.Collect(strings.Lines(table))
	if height := max(t.Height()-1, 3); len(lines) > height { // the cursor has a line
		more := len(lines) - height + 1
		lines = append(lines[:height-1], fmt.Sprintf("... and %d more lines; -incT chooses tags\n", more))
	}
	return t.put(lines)
}

// put puts lines in the place of the table. Those that are too wide are cut: a line that breaks
// would move the others.
func (t *Terminal) put(lines []string) error {
	var text strings.Builder
	if len(t.lines) > 0 {
		fmt.Fprintf(&text, "\x1b[%dA\x1b[J", len(t.lines)) // up to its first line, and erase what follows
	}
	if len(lines) > 0 {
		text.WriteString("\x1b[?7l" + strings.Join(lines, "") + "\x1b[?7h")
	}
	t.lines = lines
	_, err := io.WriteString(t.W, text.String())
	return err
}

// A Table shows on a terminal all that was recorded so far. It is drawn again where it stands.
type Table struct {
	gate     *Gate
	terminal *Terminal
	complete func(command string) string

	drawn time.Time
	took  time.Duration // the last drawing
	stale bool          // it has changed since then
}

// NewTable returns a table of what a gate has. Complete adds the logs to the command to type next.
func NewTable(g *Gate, t *Terminal, complete func(command string) string) *Table {
	return &Table{gate: g, terminal: t, complete: complete}
}

// Window adds what a tag has in a window, or what came late.
func (t *Table) Window(w *live.Window) error {
	t.stale = true
	return t.gate.Window(w)
}

// Flush draws the table, unless it has just been drawn. Drawings take one of findShare parts of the
// time.
func (t *Table) Flush() error {
	if t.stale && time.Since(t.drawn) >= max(redraw, findShare*t.took) {
		if err := t.draw(true); err != nil {
			return err
		}
	}
	return t.gate.Flush()
}

// End draws the table for the last time.
func (t *Table) End() error {
	if err := t.gate.End(); err != nil || len(t.gate.tags) == 0 {
		return err
	}
	return t.draw(false)
}

// worstPercentile is the figure that rows are in the order of.
const worstPercentile = 99

// draw draws the table, which goes on or is the last.
func (t *Table) draw(goesOn bool) error {
	begin := time.Now()
	defer func() {
		t.drawn = time.Now()
		t.took = t.drawn.Sub(begin)
	}()
	t.stale = false
	all, found, err := t.gate.Snapshot()
	if err != nil {
		return err
	}
	var text strings.Builder
	isMaximum := func(p float64) bool { return p == 100 } // a table has that anyway
	percentiles := slices.DeleteFunc(slices.Clone(t.gate.options.Percentiles), isMaximum)
	table := report.Table{
		Percentiles: percentiles,
		Width:       t.terminal.Width(),
		Colour:      t.terminal.Colour,
	}
	if goesOn {
		table.Verdicts = verdictsOf(found, all)
	}
	for _, line := range report.Top(found, t.complete) {
		fmt.Fprintln(&text, table.Line(line))
	}
	text.WriteByte('\n')
	if err := table.Write(&text, worstFirst(all)); err != nil {
		return err
	}
	if goesOn {
		return t.terminal.draw(text.String(), true)
	}
	between := "\n"
	for n, f := range found {
		if n > 0 && f.Verdict() {
			fmt.Fprintln(&text, between+report.Verdict(f.Sentence, t.terminal.Colour))
			between = ""
		}
	}
	return t.terminal.draw(text.String(), false)
}

// worstFirst returns the rows with the worst ones first: there may be more of them than lines.
func worstFirst(rows []*output.Summary) []*output.Summary {
	figures := make(map[*output.Summary]float64)
	for _, s := range rows {
		if h := s.Counts(); h.TotalCount() > 0 {
			figures[s] = h.Float(h.ValueAtPercentile(worstPercentile)) * s.Scale.Factor()
		}
	}
	return slices.SortedStableFunc(slices.Values(rows), func(a, b *output.Summary) int {
		return cmp.Compare(figures[b], figures[a])
	})
}

// verdictsOf returns what the column of limits says of each tag: how many limits fail, or whether
// all hold. It is nil if there are no limits.
func verdictsOf(found []output.Finding, all []*output.Summary) map[string]string {
	limits := make(map[string][]output.Finding)
	for _, f := range found {
		if !f.Verdict() {
			continue
		}
		if f.Tag == "" && len(all) == 1 {
			f.Tag = tags.Text(all[0].Tag)
		}
		limits[f.Tag] = append(limits[f.Tag], f)
	}
	if len(limits) == 0 {
		return nil
	}
	texts := make(map[string]string)
	for tag, verdicts := range limits {
		texts[tag] = verdictOf(verdicts)
	}
	return texts
}

// verdictOf returns what the column of limits says of a tag, in few characters.
func verdictOf(verdicts []output.Finding) string {
	text := "hold"
	failed := 0
	for _, f := range verdicts {
		switch f.Weight {
		case output.Fails:
			failed++
		case output.Undecided:
			text = "undecided"
		}
	}
	if failed > 0 {
		text = fmt.Sprintf("%d of %d FAIL", failed, len(verdicts))
	}
	return text
}

// WriteVerdicts writes the sentences about limits, those that fail first.
func WriteVerdicts(w io.Writer, all []*output.Summary, verdicts []gate.Verdict, colour bool) {
	run := finding.Run{Summaries: all, Scale: output.CommonScale(all), Verdicts: verdicts}
	for _, f := range finding.Limits(&run) {
		fmt.Fprintln(w, report.Verdict(f.Sentence, colour))
	}
}
