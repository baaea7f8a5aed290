package summary

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/collect"
	"hdrkit/internal/clitest"
	"hdrkit/internal/flow"
	"hdrkit/internal/scan"
	"hdrkit/tags"
)

// A widenedWindow is what a window that widens has of a tag: the number of values, 0 if that is not
// kept, and the highest one.
type widenedWindow struct {
	count   int64
	highest float64
}

// A taken interval is one of a random log.
type taken struct {
	tag           string
	start, end    int64
	count, lowest int64 // values from the lowest one up
}

func (i *taken) highest() float64 { return float64(i.lowest + i.count - 1) }

// TestWidening: the windows that widen, of all four kinds, have what the intervals in a window of
// their last size add up to, whatever the order of intervals, their division among inputs and
// workers, and the sizes that the windows had before. See package merge.
func TestWidening(t *testing.T) {
	t.Parallel()
	kinds := map[string]func(*testing.T, []taken, *scan.Scan) (size int64, at func(start, end, size int64) int64, got map[string]widenedWindow){
		"doubling":  widenDoubling,
		"maxima":    widenMaxima,
		"collector": widenCollector,
		"histories": widenHistories,
	}
	for name, widen := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(clitest.Rounds(40)) {
				random := rand.New(rand.NewPCG(seed, 3))
				all := randomIntervals(random)
				size, at, got := widen(t, all, scanOf(random, all))
				want := make(map[string]widenedWindow)
				for _, i := range all {
					key := fmt.Sprintf("%s at %d", i.tag, at(i.start, i.end, size))
					w := want[key]
					w.count += i.count
					w.highest = max(w.highest, i.highest())
					want[key] = w
				}
				for key, w := range want {
					if got[key].count == 0 { // only the highest value is kept
						w.count = 0
					}
					if got[key].highest == 0 { // only the number of values is kept
						w.highest = 0
					}
					if got[key] != w || len(got) != len(want) {
						t.Fatalf("seed %d, windows of %d ms: %d of %d, %s: %+v, want %+v", seed, size, len(got), len(want), key, got[key], w)
					}
				}
			}
		})
	}
}

// randomIntervals returns intervals of several tags in any order. Later ones are longer.
func randomIntervals(random *rand.Rand) (all []taken) {
	span := int64(1000) << random.IntN(12)
	longest := 1 + random.Int64N(span/4000+1)
	for n := range 500 + random.Int64N(2500) {
		start := random.Int64N(span)
		all = append(all, taken{
			tag:    string(rune('a' + random.IntN(3))),
			start:  start,
			end:    start + random.Int64N(longest+1)*(1+n/1000*10),
			count:  1 + random.Int64N(4),
			lowest: 1 + random.Int64N(60),
		})
	}
	return all
}

// scanOf returns a scan of the intervals in several logs, by some workers. With little memory,
// batches are small.
func scanOf(random *rand.Rand, all []taken) *scan.Scan {
	s := &scan.Scan{
		Workers: 1 + random.IntN(4),
		Memory:  ledger.New(8 << 20),
		Report:  func(err *hdrlog.SyntaxError, _ bool) error { return err },
	}
	logs := make([]bytes.Buffer, 1+random.IntN(3))
	writers := make([]*hdrlog.Writer, len(logs))
	for n := range logs {
		writers[n] = hdrlog.NewWriter(&logs[n])
		writers[n].Version()
		writers[n].BaseTime(0)
	}
	h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	for _, i := range all {
		h.Reset(h.Layout())
		for v := range i.count {
			h.Record(i.lowest + v)
		}
		writers[random.IntN(len(logs))].Interval([]byte(i.tag), float64(i.start)/1000, float64(i.end-i.start)/1000, h)
	}
	for n := range logs {
		writers[n].Flush()
		text := logs[n].Bytes()
		s.Inputs = append(s.Inputs, scan.Input{
			Name: fmt.Sprint("log", n),
			Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil },
		})
	}
	return s
}

func byMiddle(start, end, size int64) int64 { return merge.WindowOf(start, end, size).Start }

func widenDoubling(t *testing.T, all []taken, s *scan.Scan) (int64, func(start, end, size int64) int64, map[string]widenedWindow) {
	windows := &flow.Doubling{MaxWindows: 20, Digits: 2}
	if err := flow.Run(s, new(flow.Rows), windows); err != nil || windows.Err != nil {
		t.Fatal(err, windows.Err)
	}
	got := make(map[string]widenedWindow)
	var size int64
	for _, w := range windows.Windows {
		h, err := w.Histogram(nil)
		if err != nil {
			t.Fatal(err)
		}
		size = w.Window.End - w.Window.Start
		got[fmt.Sprintf("%s at %d", w.Tag, w.Window.Start)] = widenedWindow{h.TotalCount(), float64(h.Max())}
	}
	return size, byMiddle, got
}

// widenMaxima takes one tag, since each may have spans of its own.
func widenMaxima(t *testing.T, all []taken, s *scan.Scan) (size int64, at func(start, end, size int64) int64, got map[string]widenedWindow) {
	for n := range all {
		all[n].tag = ""
	}
	s.Rows.By, _ = tags.ParseBy("all")
	got = make(map[string]widenedWindow)
	err := flow.Run(s, &flow.Rows{Maxima: true, Emit: func(r *flow.Row) error {
		m := r.Maxima.Output()
		size = m.Step
		for n, v := range m.Values {
			if !math.IsNaN(v) {
				got[fmt.Sprintf(" at %d", m.Start+int64(n)*m.Step)] = widenedWindow{0, v}
			}
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return size, func(start, end, size int64) int64 {
		middle := start + (end-start)/2
		return merge.WindowOf(middle, middle, size).Start
	}, got
}

func widenCollector(t *testing.T, all []taken, s *scan.Scan) (int64, func(start, end, size int64) int64, map[string]widenedWindow) {
	c := &collect.Collector{Options: collect.Options{MaxWindows: 60, Paged: true, Ratio: 1}}
	var interval collect.Interval
	p := c.Flow(s.Memory, func(r *flow.Result, w *flow.Window) error {
		c.Options.Measure(r, w, &interval)
		return c.Add("", string(r.Row), &interval)
	}, func(w *flow.Window) error { return c.AddCounts(string(w.Row), w) })
	if err := flow.Run(s, new(flow.Rows), p); err != nil {
		t.Fatal(err)
	}
	picture, err := c.Picture(chart.New(chart.Heatmap), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	at := func(start, _, size int64) int64 { return chart.WindowAt(start, size) }
	got := make(map[string]widenedWindow)
	for _, series := range picture.Series {
		for _, w := range series.Windows {
			h, err := w.Counts.Histogram(new(histogram.Histogram))
			if err != nil || h.TotalCount() != w.Count {
				t.Fatalf("%d values of %d, %v", h.TotalCount(), w.Count, err)
			}
			got[fmt.Sprintf("%s at %d", series.Label, at(w.Start, 0, picture.Precision.WindowMillis))] = widenedWindow{w.Count, w.Max}
		}
	}
	return picture.Precision.WindowMillis, at, got
}

// widenHistories takes the maxima of all inputs as those of one.
func widenHistories(t *testing.T, all []taken, s *scan.Scan) (int64, func(start, end, size int64) int64, map[string]widenedWindow) {
	hs := &Histories{Times: true}
	hs.budget.account = ledger.New(200<<10).Open("times", "choose")
	for _, i := range all {
		hs.insert(0, "log", []byte(i.tag), piece{Start: i.start, End: i.end, highest: i.highest(), count: i.count}, counts{})
	}
	hs.coarse = cmp.Or(hs.coarse, hs.length)
	hs.pack()
	if hs.err != nil {
		t.Fatal(hs.err)
	}
	got := make(map[string]widenedWindow)
	for h := range maps.Values(hs.all) {
		for _, p := range h.pieces {
			key := fmt.Sprintf("%s at %d", h.tag, byMiddle(p.Start, p.End, hs.coarse))
			if _, twice := got[key]; twice {
				t.Fatalf("two pieces of %s", key)
			}
			got[key] = widenedWindow{p.count, p.highest}
		}
	}
	return hs.coarse, byMiddle, got
}
