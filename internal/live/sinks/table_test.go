package sinks

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/gate"
	"hdrkit/internal/live"
)

// A screen is a terminal: its lines, and where the cursor is.
type screen struct {
	lines []string
	at    int
}

func (s *screen) Write(text []byte) (int, error) {
	for line := range strings.SplitAfterSeq(strings.NewReplacer("\x1b[?7l", "", "\x1b[?7h", "").Replace(string(text)), "\n") {
		var up int
		if n, _ := fmt.Sscanf(line, "\x1b[%dA\x1b[J", &up); n == 1 {
			s.at -= up
			s.lines = s.lines[:s.at]
			_, line, _ = strings.Cut(line, "\x1b[J")
		}
		if line != "" {
			s.lines = append(s.lines, line)
			s.at++
		}
	}
	return len(text), nil
}

// TestTerminal draws tables that are higher than the terminal, and writes messages between.
func TestTerminal(t *testing.T) {
	var s screen
	terminal := &Terminal{W: &s, Width: func() int { return 80 }, Height: func() int { return 10 }}
	messages := terminal.Messages(&s)
	table := func(rows int) (text string) {
		for n := range rows {
			text += fmt.Sprintf("row %d\n", n)
		}
		return text
	}
	want := func(lines ...string) {
		t.Helper()
		if got := strings.Join(s.lines, ""); got != strings.Join(lines, "") {
			t.Errorf("the terminal has\n%s\nwant\n%s", got, strings.Join(lines, ""))
		}
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	io.WriteString(messages, "first\n")
	check(terminal.draw(table(3), true))
	want("first\n", table(3))
	io.WriteString(messages, "second\n")
	want("first\n", "second\n", table(3))
	check(terminal.draw(table(500), true))
	want("first\n", "second\n", table(8), "... and 492 more lines; -incT chooses tags\n")
	check(terminal.draw(table(500), false))
	want("first\n", "second\n", table(500))
	io.WriteString(messages, "third\n")
	want("first\n", "second\n", table(500), "third\n")
}

// counting counts how often rows are judged.
type counting struct {
	plain
	judged int
}

func (c *counting) Scale(mustKnow bool) (hdrlog.Scale, error) {
	c.judged++
	return c.plain.Scale(mustKnow)
}

// TestTableFindings: a table begins with what the run shows. While it goes on, it has a column of
// limits, and at the end the other verdicts below it. A drawing judges the rows once.
func TestTableFindings(t *testing.T) {
	limits, err := gate.Parse("p50<=1000,max<=1000")
	if err != nil {
		t.Fatal(err)
	}
	var s screen
	terminal := &Terminal{W: &s, Width: func() int { return 80 }, Height: func() int { return 24 }}
	units := &counting{plain: plain{t}}
	g := NewGate(&Options{Units: units, Messages: plain{t}, Size: 1000, Percentiles: []float64{50}}, limits, nil)
	table := NewTable(g, terminal, func(command string) string { return command })
	var h histogram.Histogram
	for second := range int64(60) {
		err := h.Reset(histogram.Layout{Lowest: 1, Digits: 2})
		for value := range int64(20) {
			h.Record(100 + value)
		}
		if second >= 30 && second < 33 {
			h.Record(5000)
		}
		w := live.Window{Merged: &merge.Merged{Window: merge.Span{Start: second * 1000, End: second*1000 + 1000}}, Factor: 1, Scratch: new(histogram.Histogram)}
		if err := cmp.Or(err, w.Merged.Sum.AddHistogram(second*1000, second*1000+1000, &h), table.Window(&w)); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		draw func() error
		last string
	}{
		{table.Flush, "1 of 2 FAIL  1,203   -       -  100  121.7  110  5,023  ▁▁▁▁▁▁▁██▁▁▁▁▁▁\n"},
		{table.End, "\n\nHOLDS: p50 is 110 of 1,000.\n"},
	} {
		units.judged = 0
		if err := test.draw(); err != nil || units.judged != 1 {
			t.Fatal(err, units.judged)
		}
		first := "FAILS: max is 5,023, limit 1,000; above it for 3 s from 30 s after the start.\n"
		got := strings.Join(s.lines, "")
		if !strings.HasPrefix(got, first) || !strings.HasSuffix(got, test.last) {
			t.Errorf("the terminal has\n%s\nwant\n%s...\n%s", got, first, test.last)
		}
	}
}

// TestPeriod: while a window is open, neither its values nor its time count. At the end all do,
// also in findings.
func TestPeriod(t *testing.T) {
	limits, err := gate.Parse("throughput>=30")
	if err != nil {
		t.Fatal(err)
	}
	g := NewGate(&Options{Units: plain{t}, Messages: plain{t}, Size: 1000}, limits, nil)
	var h histogram.Histogram
	if err := cmp.Or(h.Reset(histogram.Layout{Lowest: 1, Digits: 2}), h.RecordN(1000, 50)); err != nil {
		t.Fatal(err)
	}
	g.Ran.Add(nil, 0, 0, 5500, 0, 0, 1000)
	for second := range int64(2) {
		w := live.Window{
			Merged:  &merge.Merged{Window: merge.Span{Start: second * 1000, End: second*1000 + 1000}},
			Factor:  1,
			Scratch: new(histogram.Histogram),
		}
		if err := cmp.Or(w.Merged.Sum.AddHistogram(second*1000, second*1000+1000, &h), g.Window(&w)); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []struct {
		period   int64
		sentence string
	}{
		{2000, "HOLDS: throughput is 50/s, limit 30/s."},
		{5500, "FAILS: throughput is 18.18/s, limit 30/s."},
	} {
		rows, found, err := g.Snapshot()
		if err != nil || len(rows) != 1 || rows[0].Period != want.period {
			t.Fatalf("%d rows, a period of %d ms, not %d: %v", len(rows), rows[0].Period, want.period, err)
		}
		if found[0].Sentence != want.sentence {
			t.Errorf("%q, want %q", found[0].Sentence, want.sentence)
		}
		if err := g.End(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTooManyTags: of tags that take too much memory a message says how many there are, and names
// options that hdrlive has.
func TestTooManyTags(t *testing.T) {
	for _, judged := range []bool{false, true} {
		o := &Options{Units: plain{t}, Messages: plain{t}, Size: 1000, Memory: ledger.New(1 << 20)}
		sinks := []live.Sink{NewMetrics(o, 0)}
		if judged {
			sinks = append(sinks, NewGate(o, nil, nil))
		}
		var h histogram.Histogram
		err := cmp.Or(h.Reset(histogram.Layout{Lowest: 1, Digits: 2}), h.Record(1000))
		tags := 0
		for ; err == nil; tags++ {
			w := live.Window{Merged: &merge.Merged{Window: merge.Span{End: 1000}, Tag: fmt.Append(nil, "t", tags)}, Factor: 1, Scratch: new(histogram.Histogram)}
			err = w.Merged.Sum.AddHistogram(0, 1000, &h)
			for _, s := range sinks {
				err = cmp.Or(err, s.Window(&w))
			}
		}
		var said int
		fmt.Sscan(err.Error(), &said)
		if !strings.Contains(err.Error(), "or add them up with -by all, or raise -memory") || said < tags-1 || said > tags {
			t.Errorf("%v, of %d tags", err, tags)
		}
	}
}
