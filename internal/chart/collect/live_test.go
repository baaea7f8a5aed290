package collect_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"hdrkit/hdrlog/merge"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/collect"
	"hdrkit/internal/chart/page"
	"hdrkit/internal/chart/page/pagetest"
	"hdrkit/internal/clitest"
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

// TestLive shows two tags for so long that older windows are merged again and again. Its memory has
// a bound, the data and the updates since have every value, and the windows are as long as the data
// say.
func TestLive(t *testing.T) {
	t.Parallel()
	const origin, limit = 1468800000000, 1 << 11
	seconds := clitest.Rounds(100_000)
	l := collect.Live{Type: chart.Timeline, Dress: func(*chart.Picture) {}, Collector: collect.Collector{Options: collect.Options{
		Measures: []chart.Measure{chart.AtPercentile(100)}, Ratio: 1, MaxWindows: limit, Step: 1000,
	}}}
	h := pagetest.HistogramOf(t, 3, []int64{100, 2000, 30000})
	var interval collect.Interval
	var d *page.Data
	var last *page.Rows
	all, updates := 0, 0
	for s := range int64(seconds) {
		for _, label := range []string{"a", "b"} {
			var sum merge.Sum
			sum.Start, sum.End = origin+1000*s+700, origin+1000*s+1700
			l.Collector.Options.MeasureWindow(&merge.Merged{Window: merge.Span{Start: sum.Start, End: sum.End}, Sum: sum}, h, &interval)
			if err := l.Add(label, origin, &interval); err != nil {
				t.Fatal(err)
			}
		}
		if !l.Stale() {
			u, some := l.Update()
			if last = u.Rows; !some || u.To != 1000*s+1700 {
				t.Fatalf("the update at %d s ends at %d ms: %v", s, u.To, some)
			}
			updates++
			continue
		}
		var err error
		if d, err = l.Data(); err != nil {
			t.Fatal(err)
		}
		all++
		updates = 0
	}
	if all < 3 || all > seconds/200 {
		t.Errorf("the page gets all data %d times", all)
	}
	if d.Origin != origin || d.Recent == nil || d.Recent.Window != 1000 || d.Window < 4000 || d.Window%1000 != 0 || d.Recent.From > d.To-200_000 {
		t.Fatalf("origin %d, windows of %d ms, recent %+v, until %d", d.Origin, d.Window, d.Recent, d.To)
	}
	p := readBack(t, d)
	for n, windows := range p.Windows {
		count, last := 0, int64(math.MinInt64)
		for _, w := range windows {
			if w.Start < last {
				t.Fatalf("a window starts at %d ms, that before ends at %d", w.Start, last)
			}
			last = w.Start + w.Length
			count += int(w.Count)
			if recent := w.Start >= d.Recent.From; recent && w.Length != 1000 || w.Length > d.Window+1000 {
				t.Fatalf("the window at %d ms has %d ms, recent %v", w.Start, w.Length, recent)
			}
			// A view that begins or ends where the page snaps it cuts no window.
			if first, last := w.Start-d.WindowAt, w.Start+w.Length-1000-d.WindowAt; first/d.Window != last/d.Window {
				t.Fatalf("the window at %d ms, of %d ms, is in two windows of %d", w.Start, w.Length, d.Window)
			}
		}
		if want := 3 * (seconds - updates); count != want {
			t.Errorf("%s has %d values, want %d", d.Series[n].Label, count, want)
		}
		// The lines of the recent time are not thinned, and have no gap.
		line, recent := p.Lines[n][0], 0
		for i, start := range line.S {
			if start >= float64(d.Recent.From) {
				recent++
			}
			if i > 0 && start > line.S[i-1]+float64(d.To)/1000 {
				t.Fatalf("the line has nothing from %v to %v", line.S[i-1], start)
			}
		}
		if len(line.S) > 40_000 {
			t.Errorf("%d points in a line", len(line.S))
		}
		if want := (d.To - d.Recent.From) / 1000; recent < int(want)-1 {
			t.Errorf("%d recent points, want %d", recent, want)
		}
	}
	if n := len(readBack(t, &page.Data{Series: d.Series, Measures: d.Measures, Rows: last}).Windows[0]); n != 1 {
		t.Errorf("%d windows in the last update", n)
	}
}

// TestPolicy proves that a page carries the policy that lets it run.
func TestPolicy(t *testing.T) {
	t.Parallel()
	p := chart.New(chart.Timeline)
	d, err := page.New(p)
	if err != nil {
		t.Fatal(err)
	}
	var html bytes.Buffer
	if err := page.Write(&html, d); err != nil {
		t.Fatal(err)
	}
	if text := html.String(); !strings.Contains(text, `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; `) || strings.Contains(text, "unsafe-inline") {
		t.Error("the page has no policy, or one that lets anything run")
	}
}

// TestLiveUnits proves that a series in another unit is shown as one that is divided by less.
func TestLiveUnits(t *testing.T) {
	t.Parallel()
	h := pagetest.HistogramOf(t, 3, []int64{100, 2000, 30000})
	var want string
	for _, unit := range []struct{ ratio, factor float64 }{{1e3, 0}, {1e3, 1}, {1e6, 1000}} {
		l := collect.Live{Type: chart.Timeline, Dress: func(*chart.Picture) {}, Collector: collect.Collector{Options: collect.Options{
			Measures: []chart.Measure{chart.AtPercentile(100)}, Ratio: unit.ratio, MaxWindows: 1 << 11, Step: 1000,
		}}}
		interval := collect.Interval{Factor: unit.factor}
		var got string
		for s := range int64(3) {
			var sum merge.Sum
			sum.Start, sum.End = 1000*s, 1000*s+1000
			l.Collector.Options.MeasureWindow(&merge.Merged{Window: merge.Span{Start: sum.Start, End: sum.End}, Sum: sum}, h, &interval)
			if err := l.Add("a", 0, &interval); err != nil {
				t.Fatal(err)
			}
			var shown any
			if l.Stale() {
				d, err := l.Data()
				if err != nil {
					t.Fatal(err)
				}
				shown = d
			} else {
				shown, _ = l.Update()
			}
			text, err := json.Marshal(shown)
			if err != nil {
				t.Fatal(err)
			}
			got += string(text)
		}
		if want == "" {
			want = got
		} else if got != want {
			t.Errorf("ratio %v, factor %v: %s, want %s", unit.ratio, unit.factor, got, want)
		}
	}
}

// TestPageLimit proves that a page keeps to its size.
func TestPageLimit(t *testing.T) {
	t.Parallel()
	c := pagetest.Timeline(100)
	c.Options.MaxWindows = 1 << 16
	p := pagetest.Collect(t, chart.Timeline, c, 2000, func(i int) (string, float64, float64, []int64) {
		return []string{"a", "b"}[i%2], float64(i / 2), 1, pagetest.Latencies(int64(i), 200, 1e6)
	})
	for _, limit := range []int{1 << 20, 100_000, 20_000} {
		p.Looks.PageSize = limit
		d, err := page.New(p)
		if err != nil {
			t.Fatal(err)
		}
		if size := d.Rows.Size(); size > limit {
			t.Errorf("%d bytes, the limit is %d", size, limit)
		}
		if (d.Window > 0) != (limit < 1<<20) {
			t.Errorf("limit %d: windows of %d ms", limit, d.Window)
		}
	}
}

// TestLiveHighest: the series with the highest maxima have a line, also if they rise later.
func TestLiveHighest(t *testing.T) {
	t.Parallel()
	l := collect.Live{Type: chart.Timeline, Dress: func(*chart.Picture) {}, Collector: collect.Collector{Options: collect.Options{
		Measures: []chart.Measure{chart.AtPercentile(100)}, Ratio: 1, MaxWindows: 1 << 11, Step: 1000,
	}}}
	var interval collect.Interval
	add := func(second int64, label string, value int64) {
		t.Helper()
		var sum merge.Sum
		sum.Start, sum.End = 1000*second, 1000*second+1000
		h := pagetest.HistogramOf(t, 3, []int64{value})
		l.Collector.Options.MeasureWindow(&merge.Merged{Window: merge.Span{Start: sum.Start, End: sum.End}, Sum: sum}, h, &interval)
		if err := l.Add(label, 0, &interval); err != nil {
			t.Fatal(err)
		}
	}
	hasLine := func(label string) bool {
		t.Helper()
		d, err := l.Data()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range d.Series {
			if s.Label == label {
				return !s.Rest
			}
		}
		return false
	}
	for n := range int64(page.MaxLines + 1) {
		add(0, string(rune('a'+n)), 100-n)
	}
	last := string(rune('a' + page.MaxLines))
	if hasLine(last) {
		t.Error("the lowest series has a line")
	}
	add(1, last, 50)
	if l.Stale() {
		t.Error("a value below those of the others makes all data stale")
	}
	add(2, last, 500)
	if !l.Stale() || !hasLine(last) {
		t.Error("the highest series has no line")
	}
}
