package picture

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"hdrkit/hdrlog/merge"
	"hdrkit/output/picture/page"
	"hdrkit/output/picture/page/pagetest"
)

// readBack returns the data of a page as a browser gets them.
func readBack(t *testing.T, v any) *pagetest.Page {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return pagetest.Read(t, []byte(`<script id="data" type="application/json">`+string(text)+"</script>"))
}

// TestLive proves that a live page has everything, in bounded memory: either in its data or in the updates since, for
// a run of 300,000 seconds.
func TestLive(t *testing.T) {
	const seconds = 300_000 // more than the points of a line
	l := Live{Type: Timeline, Dress: func(p *Picture) { p.PageSize = 2 << 20 }, Collector: Collector{
		Measures: []Measure{AtPercentile(100)}, Ratio: 1, WindowBytes: 4 << 20,
	}}
	h := histogramOf(t, 3, []int64{100, 2000, 30000})
	var interval Interval
	refreshed, updates := 0, int64(0)
	var d *page.Data
	for s := range seconds {
		var sum merge.Sum
		sum.Start, sum.End = int64(1000*s), int64(1000*s+1000)
		l.Collector.MeasureMerged(&merge.Merged{Sum: sum}, h, &interval)
		interval.window.Intervals = 1
		if err := l.Add("a", &interval); err != nil {
			t.Fatal(err)
		}
		if l.Stale() {
			var err error
			if d, err = l.Data(); err != nil {
				t.Fatal(err)
			}
			refreshed++
			updates = 0
			continue
		}
		u, some := l.Update()
		if !some {
			t.Fatalf("no update at %d s", s)
		}
		if u.To < int64(1000*s) {
			t.Fatalf("the update at %d s ends at %d ms", s, u.To)
		}
		updates += 3
	}
	if refreshed > 40 {
		t.Errorf("the page gets all data %d times", refreshed)
	}
	if l.Collector.bytes > l.Collector.WindowBytes {
		t.Errorf("%d bytes in windows", l.Collector.bytes)
	}
	for _, g := range l.Collector.series {
		if len(g.lines[0]) > mostPoints {
			t.Errorf("%d points in a line", len(g.lines[0]))
		}
	}
	if d.Window < 1000 {
		t.Errorf("the page states windows of %d ms", d.Window)
	}
	p, total := readBack(t, d), int64(0)
	for _, windows := range p.Windows {
		for _, w := range windows {
			total += w.Count
		}
	}
	if want := int64(3 * seconds); total+updates != want {
		t.Errorf("%d values in the data and %d in updates, want %d", total, updates, want)
	}
}

// TestPolicy proves that a page carries the policy that lets it run.
func TestPolicy(t *testing.T) {
	p := New(Timeline)
	var html bytes.Buffer
	if err := p.WriteHTML(&html); err != nil {
		t.Fatal(err)
	}
	if text := html.String(); !strings.Contains(text, `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; `) || strings.Contains(text, "unsafe-inline") {
		t.Error("the page has no policy, or one that lets anything run")
	}
}
