package sinks

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/chart/page"
	"hdrkit/internal/clitest"
	"hdrkit/internal/gate"
	"hdrkit/internal/live"
	"hdrkit/internal/live/serve"
)

// noted keeps the notices.
type noted struct {
	plain
	text []string
}

func (n *noted) Notice(text string) { n.text = append(n.text, text) }

// TestPageTags shows more tags than a page has. It says so, and shows the first ones. What it says
// of a limit is of all tags, and goes on.
func TestPageTags(t *testing.T) {
	limits, err := gate.Parse("max<=2000")
	if err != nil {
		t.Fatal(err)
	}
	var server serve.Server
	messages := &noted{plain: plain{t}}
	o := &Options{Units: plain{t}, Messages: messages, Size: 1000, Percentiles: []float64{50}}
	p, err := NewPage(o, &server, "tags", limits)
	if err != nil {
		t.Fatal(err)
	}
	g := NewGate(o, limits, nil)
	p.Judge(g)
	p.Watch(func() []live.Progress { return nil })
	var h histogram.Histogram
	if err := h.Reset(histogram.Layout{Lowest: 1, Digits: 2}); err != nil {
		t.Fatal(err)
	}
	if err := h.Record(1000); err != nil {
		t.Fatal(err)
	}
	for second := range int64(2) {
		for tag := range maxTags + 5 {
			if second == 1 && tag == maxTags {
				if err := h.Record(5000); err != nil {
					t.Fatal(err)
				}
			}
			w := live.Window{Merged: &merge.Merged{Window: merge.Span{Start: second * 1000, End: second*1000 + 1000}, Tag: fmt.Append(nil, "t", tag)}, Factor: 1, Scratch: new(histogram.Histogram)}
			if err := w.Merged.Sum.AddHistogram(second*1000, second*1000+1000, &h); err != nil {
				t.Fatal(err)
			}
			if err := cmp.Or(g.Window(&w), p.Window(&w)); err != nil {
				t.Fatal(err)
			}
		}
		p.ended = true // so that findings are new
		if err := p.Flush(); err != nil {
			t.Fatal(err)
		}
		want := []string{"HOLDS: ", "FAILS: "}[second]
		if len(p.findings) == 0 || !strings.HasPrefix(p.findings[0].Sentence, want) {
			t.Errorf("after %d s the page says %+v, not %s", second+1, p.findings, want)
		}
	}
	if n := len(p.page.Collector.Labels()); n != maxTags || len(messages.text) != 1 || !strings.Contains(messages.text[0], "leaves out the others") {
		t.Errorf("%d tags, %q", n, messages.text)
	}
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	if d, err := p.page.Data(); err != nil || !slices.Contains(d.Notes, "unit unknown: add -in ns, us, ms or s") {
		t.Errorf("%v, notes %q", err, d.Notes)
	}
}

// TestPageOrder shows more series than have lines, of which the lowest become the highest. A viewer
// gets all data anew when the series get other places.
func TestPageOrder(t *testing.T) {
	var server serve.Server
	p, err := NewPage(&Options{Units: plain{t}, Messages: plain{t}, Size: 1000, Percentiles: []float64{50}}, &server, "order", nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Watch(func() []live.Progress { return nil })
	var web *httptest.Server
	stop := server.Start(func(h http.Handler) func() {
		web = httptest.NewServer(h)
		return web.Close
	})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	request, _ := http.NewRequestWithContext(ctx, http.MethodGet, web.URL+"/events", nil)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	events := make(chan string, 10_000)
	go func() {
		defer close(events)
		lines := bufio.NewReader(answer.Body)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			if kind, ok := strings.CutPrefix(line, "event: "); ok {
				events <- strings.TrimSpace(kind)
			}
		}
	}()
	var h histogram.Histogram
	all, rows := 0, 0
	for second := range int64(700) {
		for tag := range int64(14) {
			if err := h.Reset(histogram.Layout{Lowest: 1, Digits: 2}); err != nil {
				t.Fatal(err)
			}
			value := 1000 * (tag + 1)
			if second > 0 {
				value = 1_000_000 / (tag + 1) // the other way round
			}
			if err := h.Record(value); err != nil {
				t.Fatal(err)
			}
			w := live.Window{Merged: &merge.Merged{Window: merge.Span{Start: second * 1000, End: second*1000 + 1000}, Tag: fmt.Appendf(nil, "t%02d", tag)}, Factor: 1, Scratch: new(histogram.Histogram)}
			if err := w.Merged.Sum.AddHistogram(second*1000, second*1000+1000, &h); err != nil {
				t.Fatal(err)
			}
			if err := p.Window(&w); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Flush(); err != nil {
			t.Fatal(err)
		}
		for kind := "alive"; kind == "alive"; { // the viewer has each update
			select {
			case kind = <-events:
			case <-time.After(clitest.Patience):
				t.Fatalf("no event of second %d", second)
			}
			if kind == "all" {
				all++
			} else if kind == "rows" {
				rows++
			}
		}
	}
	cancel()
	stop()
	if all < 2 {
		t.Errorf("the viewer got all data %d times and %d updates, although the series have other places", all, rows)
	}
}

// TestPageBehind: a log that is a day behind does not make the page a day wide.
func TestPageBehind(t *testing.T) {
	var server serve.Server
	p, err := NewPage(&Options{Units: plain{t}, Messages: plain{t}, Size: 1000, Percentiles: []float64{50}}, &server, "behind", nil)
	if err != nil {
		t.Fatal(err)
	}
	var inputs []live.Progress
	p.Watch(func() []live.Progress { return inputs })
	var h histogram.Histogram
	if err := h.Reset(histogram.Layout{Lowest: 1, Digits: 2}); err != nil {
		t.Fatal(err)
	}
	if err := h.Record(1000); err != nil {
		t.Fatal(err)
	}
	const day = 86_400_000
	add := func(tag string, start int64, late bool) {
		t.Helper()
		w := live.Window{Merged: &merge.Merged{Window: merge.Span{Start: start, End: start + 1000}, Tag: []byte(tag), LogStart: float64(start) / 1000}, Late: late, Factor: 1, Scratch: new(histogram.Histogram)}
		if err := w.Merged.Sum.AddHistogram(start, start+1000, &h); err != nil {
			t.Fatal(err)
		}
		if err := p.Window(&w); err != nil {
			t.Fatal(err)
		}
	}
	shows := func(labels string, width int64) {
		t.Helper()
		if err := p.Flush(); err != nil {
			t.Fatal(err)
		}
		d, err := p.page.Data()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, s := range d.Series {
			names = append(names, s.Label)
		}
		if got := strings.Join(names, " "); got != labels || d.To-d.From != width {
			t.Errorf("the page has %q in %d ms, not %q in %d ms", got, d.To-d.From, labels, width)
		}
	}
	// The log that is behind is read first. What it has is shown until others go ahead.
	add("old", 5000, false)
	inputs = []live.Progress{{Name: "old.hdr", Start: 5000, End: 6000}}
	shows("old", 1000)
	inputs = append(inputs, live.Progress{Name: "new.hdr", Start: day, End: day + 2000})
	add("new", day, false)
	add("new", day+1000, false)
	shows("new old", day+2000-5000)
	inputs[0].Behind, inputs[0].End = true, 7000
	add("old", 6000, true)
	shows("new", 2000)
	if len(p.inputs.shown) != 1 || p.inputs.shown[0].State != "is behind, and not shown" {
		t.Errorf("the inputs are %+v", p.inputs.shown)
	}
	add("old", 7000, true)
	add("new", day-500, true) // late, but no day
	shows("new", 2500)
	// What a log has that is gone stays.
	inputs = []live.Progress{inputs[0], {Name: "newer.hdr", Start: day + 3000, End: day + 4000}}
	add("new", day+3000, false)
	shows("new", 4500)
}

// TestForget: what is found of times is about the last windows, but for the worst moment.
func TestForget(t *testing.T) {
	o := &Options{Units: plain{t}, Messages: plain{t}, Size: 1000}
	g := NewGate(o, nil, nil)
	var h histogram.Histogram
	const most = 100_000
	for second := range int64(most) {
		err := h.Reset(histogram.Layout{Lowest: 1, Digits: 2})
		for value := range int64(20) {
			h.Record(100 + value)
		}
		switch {
		case second == 500:
			h.Record(1_000_000)
		case second > 1000 && second < 1020, second > most-1020 && second < most-1000:
			continue
		case second%most == most-500:
			h.Record(5000)
		}
		w := live.Window{Merged: &merge.Merged{Window: merge.Span{Start: second * 1000, End: second*1000 + 1000}}, Factor: 1, Scratch: new(histogram.Histogram)}
		if err := cmp.Or(err, w.Merged.Sum.AddHistogram(second*1000, second*1000+1000, &h), g.Window(&w)); err != nil {
			t.Fatal(err)
		}
	}
	all, err := g.Findings(true)
	if err != nil {
		t.Fatal(err)
	}
	var sentences []string
	for _, f := range all {
		sentences = append(sentences, f.Sentence)
	}
	want := []string{"No values for 19 s from 27h30m after the start.", "Worst moment: 8m20s after the start, 1,004,000."}
	if got := strings.Join(sentences, "\n"); !strings.Contains(got, want[0]) || !strings.Contains(got, want[1]) || strings.Contains(got, "16m41s") {
		t.Errorf("%s\nwant %q", got, want)
	}
}

// TestPageStatus: a page says what the run shows, how many logs there are and how far they are, and
// names only those that somebody should know of.
func TestPageStatus(t *testing.T) {
	limits, err := gate.Parse("max<=5")
	if err != nil {
		t.Fatal(err)
	}
	o := &Options{Units: plain{t}, Messages: plain{t}, Size: 1000, Percentiles: []float64{50}}
	p, err := NewPage(o, new(serve.Server), "status", limits)
	if err != nil {
		t.Fatal(err)
	}
	g := NewGate(o, limits, nil)
	p.Judge(g)
	p.Watch(func() []live.Progress {
		return []live.Progress{
			{Name: "a.hdr", Start: 10_000, End: 12_000},
			{Name: "b.hdr", Start: 10_000, End: 11_000},
			{Name: "c.hdr", Start: 10_000, End: 10_500, Ended: true},
		}
	})
	var h histogram.Histogram
	if err := h.Reset(histogram.Layout{Lowest: 1, Digits: 2}); err != nil {
		t.Fatal(err)
	}
	for value := range int64(200) {
		h.Record(value)
	}
	for _, tag := range []string{"read", "read/failed"} {
		w := live.Window{Merged: &merge.Merged{Window: merge.Span{Start: 10_000, End: 11_000}, Tag: []byte(tag), LogStart: 10}, Factor: 1, Scratch: new(histogram.Histogram)}
		if err := w.Merged.Sum.AddHistogram(10_000, 11_000, &h); err != nil {
			t.Fatal(err)
		}
		for _, sink := range []live.Sink{p, g} {
			if err := sink.Window(&w); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	if len(p.findings) == 0 || p.findings[0].Sentence != "FAILS: max of read is 199, limit 5; above it for 1 s from the start." {
		t.Errorf("findings %+v", p.findings)
	}
	s := p.inputs.status
	if s.Logs != 3 || s.End == nil || *s.End != 1000 || s.Now < 1e12 || len(s.Inputs) != 1 || s.Inputs[0] != (page.Input{Name: "c.hdr", State: "has ended", End: 500}) {
		t.Errorf("status %+v", s)
	}
	var failed []string
	for _, series := range p.series {
		if series.Failed {
			failed = append(failed, series.Label)
		}
	}
	if !slices.Equal(failed, []string{"read/failed"}) {
		t.Errorf("%q are of failed requests", failed)
	}
}
