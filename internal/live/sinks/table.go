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

// A Terminal shows a table below the messages. It is safe for concurrent use.
type Terminal struct {
	W             io.Writer
	Width, Height func() int
	Colour        bool

	mu    sync.Mutex
	lines []string // of the table on the screen
}

// Messages returns a writer for messages. It passes them to w, which shows them on the same
// terminal, above the table.
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

// draw draws a table. If further tables follow, it leaves out lines that do not fit on the
// terminal.
func (t *Terminal) draw(table string, isLive bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !isLive {
		err := t.put(nil)
		_, last := io.WriteString(t.W, table)
		return cmp.Or(err, last)
	}
	lines := slices.Collect(strings.Lines(table))
	if height := max(t.Height()-1, 3); len(lines) > height { // one line is for the cursor
		more := len(lines) - height + 1
		lines = append(lines[:height-1], fmt.Sprintf("... and %d more lines; -incT chooses tags\n", more))
	}
	return t.put(lines)
}

// put replaces the table on the screen by lines. It cuts off lines that are too wide, because a
// line that wraps would move the others.
func (t *Terminal) put(lines []string) error {
	var text strings.Builder
	if len(t.lines) > 0 {
		fmt.Fprintf(&text, "\x1b[%dA\x1b[J", len(t.lines)) // move to the first line, and erase the rest of the screen
	}
	if len(lines) > 0 {
		text.WriteString("\x1b[?7l" + strings.Join(lines, "") + "\x1b[?7h")
	}
	t.lines = lines
	_, err := io.WriteString(t.W, text.String())
	return err
}

// A Table shows all values so far as a table on a terminal. It is drawn again in the same place.
type Table struct {
	gate     *Gate
	terminal *Terminal
	complete func(command string) string

	lastDrawn time.Time
	drawTime  time.Duration // of the last drawing
	stale     bool          // windows have come since the last drawing
}

// NewTable returns a table of the values of a gate. The function complete adds the names of the
// logs to the command that the table suggests.
func NewTable(g *Gate, t *Terminal, complete func(command string) string) *Table {
	return &Table{gate: g, terminal: t, complete: complete}
}

// Window adds a row of a window, or a late interval.
func (t *Table) Window(w *live.Window) error {
	t.stale = true
	return t.gate.Window(w)
}

// Flush draws the table, unless the last drawing is too recent. Drawings take at most
// 1/findShare of the time.
func (t *Table) Flush() error {
	if t.stale && time.Since(t.lastDrawn) >= max(redraw, findShare*t.drawTime) {
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

// worstPercentile is the percentile by which rows are sorted.
const worstPercentile = 99

// draw draws the table. If isLive is set, further drawings follow.
func (t *Table) draw(isLive bool) error {
	begin := time.Now()
	defer func() {
		t.lastDrawn = time.Now()
		t.drawTime = t.lastDrawn.Sub(begin)
	}()
	t.stale = false
	all, found, err := t.gate.Snapshot()
	if err != nil {
		return err
	}
	var text strings.Builder
	isMaximum := func(p float64) bool { return p == 100 } // the table always has a column of maxima
	percentiles := slices.DeleteFunc(slices.Clone(t.gate.options.Percentiles), isMaximum)
	table := report.Table{
		Percentiles: percentiles,
		Width:       t.terminal.Width(),
		Colour:      t.terminal.Colour,
	}
	if isLive {
		table.Verdicts = verdictsOf(found, all)
	}
	for _, line := range report.Top(found, t.complete) {
		fmt.Fprintln(&text, table.Line(line))
	}
	text.WriteByte('\n')
	if err := table.Write(&text, worstFirst(all)); err != nil {
		return err
	}
	if isLive {
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

// worstFirst returns the rows in descending order of their worstPercentile, because the terminal
// may have fewer lines.
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

// verdictsOf returns the text of the column of limits for each tag. It returns nil if there are no
// limits.
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

// verdictOf returns the text of the column of limits for the verdicts of a tag: how many limits
// fail, or whether all hold.
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

// WriteVerdicts writes sentences about the limits. Limits that fail come first.
func WriteVerdicts(w io.Writer, all []*output.Summary, verdicts []gate.Verdict, colour bool) {
	run := finding.Run{Summaries: all, Scale: output.CommonScale(all), Verdicts: verdicts}
	for _, f := range finding.Limits(&run) {
		fmt.Fprintln(w, report.Verdict(f.Sentence, colour))
	}
}
