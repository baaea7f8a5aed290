package summary

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/detect"
	"hdrkit/internal/flow"
	"hdrkit/internal/scan"
)

// A Course has the counts of rows over time, in windows that are at least as long as the longest
// interval. It shows where a run becomes steady, and where its level changes. The zero value is
// ready.
type Course struct {
	doubling *flow.Doubling
	// windows are in the order of time, then of rows. Collect takes them from doubling.
	windows []*merge.Merged
}

// maxCourse is the largest number of windows of a course. With 150 windows as many logs of known
// truth get a right first line as with 600, and a table of an hour takes 0.95 of the CPU time.
const maxCourse = 150

// coursePart divides the memory: a course may take a 32nd of it.
const coursePart = 32

// flow returns the flow that fills the windows.
func (c *Course) flow(memory *ledger.Ledger) *flow.Doubling {
	c.doubling = &flow.Doubling{
		MaxWindows: maxCourse,
		Budget:     memory.AtMost(math.MaxInt, 2),
		Digits:     windowDigits,
		Account:    accountOf(memory),
	}
	return c.doubling
}

// Rows returns the timelines of all rows, in the order of rows. Each timeline is valid until the
// next one.
func (c *Course) Rows() iter.Seq2[*Timeline, error] {
	return func(yield func(*Timeline, error) bool) {
		if c.doubling == nil || c.doubling.Err != nil || len(c.windows) == 0 {
			return
		}
		byRow := make(map[string][]*merge.Merged)
		for _, m := range c.windows {
			key := string(merge.AppendKey(nil, m.Tag))
			byRow[key] = append(byRow[key], m)
		}
		first, last := c.windows[0].Window, c.windows[len(c.windows)-1].Window
		size := first.End - first.Start
		t := newTimeline(first.Start, size, int((last.Start-first.Start)/size)+1)
		for _, key := range slices.Sorted(maps.Keys(byRow)) {
			err := t.fill(byRow[key])
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// A Timeline has the counts of a row in windows of Size milliseconds. The first window begins at
// Start, in milliseconds since the epoch.
type Timeline struct {
	Tag         []byte
	Start, Size int64

	counts []*histogram.Histogram // counts of each window, nil for a window without values
	count  int64                  // number of values in all windows
	memory []histogram.Histogram  // reused by counts
	sum    histogram.Histogram
}

func newTimeline(start, size int64, windows int) *Timeline {
	return &Timeline{
		Start:  start,
		Size:   size,
		counts: make([]*histogram.Histogram, windows),
		memory: make([]histogram.Histogram, windows),
	}
}

// fill sets the timeline to the counts of a row, given its windows that have values.
func (t *Timeline) fill(windows []*merge.Merged) error {
	t.Tag = windows[0].Tag
	t.count = 0
	clear(t.counts)
	for _, m := range windows {
		at := (m.Window.Start - t.Start) / t.Size
		h, err := m.Histogram(&t.memory[at])
		if err != nil {
			return err
		}
		if h.TotalCount() > 0 {
			t.counts[at] = h
			t.count += h.TotalCount()
		}
	}
	return nil
}

// At returns when a window begins, in milliseconds since the epoch.
func (t *Timeline) At(window int) int64 { return t.Start + int64(window)*t.Size }

// Windows returns the number of windows.
func (t *Timeline) Windows() int { return len(t.counts) }

// Counts returns the counts of a window, nil if it has no values.
func (t *Timeline) Counts(window int) *histogram.Histogram { return t.counts[window] }

// Values returns the values at percentiles of the windows from index from to before index to, NaN
// if these windows have no values. It spreads the values of a slot evenly over the slot, so that it
// shows a level that moves within one slot.
func (t *Timeline) Values(from, to int, percentiles ...float64) (all []float64) {
	t.sum.Reset(histogram.Layout{})
	for _, h := range t.counts[from:to] {
		switch {
		case h == nil:
		case t.sum.TotalCount() == 0:
			t.sum.Reset(h.Layout())
			fallthrough
		default:
			t.sum.Add(h) // cannot fail: the intervals of all windows add up
		}
	}
	for _, p := range percentiles {
		all = append(all, inSlot(&t.sum, p))
	}
	return all
}

// inSlot returns the value at a percentile, as if the values of a slot were spread evenly over it.
func inSlot(h *histogram.Histogram, percentile float64) float64 {
	rank, seen := percentile/100*float64(h.TotalCount()), 0.0
	layout := h.Layout()
	for slot, count := range h.Slots() {
		if next := seen + float64(count); next < rank {
			seen = next
			continue
		}
		low, high := float64(layout.LowestAt(slot)), float64(layout.HighestAt(slot)+1)
		return h.Ratio() * (low + (high-low)*(rank-seen)/float64(count))
	}
	return math.NaN()
}

// minAbove is the number of values above a percentile that a part of a timeline has, on average.
const minAbove = 3

// Parts cuts the time into parts that have enough values above a percentile, if count values are
// spread evenly. It returns the windows at which the parts begin, and the end of the last part, or
// nil if values are too few.
func (t *Timeline) Parts(count int64, percentile float64) (at []int) {
	windows := len(t.counts)
	least := minAbove * 100 / (100 - percentile)
	size := max((windows+detect.Parts-1)/detect.Parts, 1)
	if count > 0 {
		size = max(size, int(math.Ceil(min(least*float64(windows)/float64(count), float64(windows)))))
	}
	if count == 0 || windows/size < detect.MinParts {
		return nil
	}
	for from := 0; from+size <= windows; from += size {
		at = append(at, from)
	}
	return append(at, windows)
}

// Levels returns the logarithm of a percentile in each part that has values, the windows at which
// these parts begin, and the end of the last part.
func (t *Timeline) Levels(percentile float64) (levels []float64, at []int) {
	parts := t.Parts(t.count, percentile)
	for n := 1; n < len(parts); n++ {
		if v := t.Values(parts[n-1], parts[n], percentile)[0]; v > 0 {
			levels = append(levels, math.Log(v))
			at = append(at, parts[n-1])
		}
	}
	return levels, append(at, len(t.counts))
}

// quietly returns a scan of the same intervals that reports nothing. Each tag is a row.
func quietly(s *scan.Scan) *scan.Scan {
	return &scan.Scan{
		Inputs:     s.Inputs,
		Selection:  s.Selection,
		Workers:    s.Workers,
		Correction: s.Correction,
		Memory:     s.Memory,
		Report:     func(*hdrlog.SyntaxError, bool) error { return nil },
	}
}

// SkipWarmup lets a scan begin where its logs become steady, at the same time for all tags and
// logs. It returns a notice with this time. To find it, SkipWarmup reads the logs once more without
// reporting malformed lines.
func SkipWarmup(s *scan.Scan) (notice string, err error) {
	s.Selection.Range.From = nil
	quiet := quietly(s)
	var c Course
	rows := &flow.Rows{Account: accountOf(s.Memory)}
	windows := c.flow(s.Memory)
	if err := cmp.Or(flow.Run(quiet, rows, windows), windows.Err); err != nil {
		return "", err
	}
	c.windows = windows.Windows
	warm, count, err := c.steadyFrom()
	switch {
	case err != nil:
		return "", err
	case count < detect.MinParts:
		return fmt.Sprintf("%d windows are too few to find a warm-up, so nothing is left out", count), nil
	case warm == 0:
		return fmt.Sprintf("no warm-up found in %d windows", count), nil
	}
	first, size := int64(math.MaxInt64), c.windows[0].Window.End-c.windows[0].Window.Start
	for _, m := range c.windows {
		first = min(first, m.Start)
	}
	begin := c.windows[0].Window.Start + int64(warm)*size
	s.Selection.Range.From = &scan.Bound{Seconds: float64(begin) / 1000, Origin: scan.Epoch}
	after := math.Round(float64(max(begin-first, 0))/100) / 10
	return fmt.Sprintf("steady from %vs: %d of %d windows left out", after, warm, count), nil
}

// steadyFrom returns the number of windows before the median, p90 and p99 of all rows, and the rate
// of all rows together, are steady. It also returns the number of all windows.
func (c *Course) steadyFrom() (warm, windows int, err error) {
	var series []*warmup
	var counts []float64
	for t, err := range c.Rows() {
		if err != nil {
			return 0, 0, err
		}
		windows = t.Windows()
		if counts == nil {
			counts = make([]float64, windows)
		}
		for n, h := range t.counts {
			if h != nil {
				counts[n] += float64(h.TotalCount())
			}
		}
		medianParts := 0
		for _, p := range []float64{50, 90, 99} {
			levels, at := t.Levels(p)
			medianParts = max(medianParts, len(levels))
			if len(levels) == medianParts { // the longer parts of high percentiles would end after the warm-up
				series = append(series, &warmup{levels, at})
			}
		}
	}
	rate := &warmup{}
	size := max((windows+detect.Parts-1)/detect.Parts, 1)
	for from := 0; from+size <= windows; from += size {
		if mean := detect.Mean(counts[from : from+size]); mean > 0 {
			rate.levels = append(rate.levels, -math.Log(mean)) // a warm-up has a lower rate
			rate.at = append(rate.at, from)
		}
	}
	rate.at = append(rate.at, windows)
	series = append(series, rate)
	for _, w := range series {
		end, steady := w.end(len(series))
		if !steady {
			return 0, windows, fmt.Errorf("no part of the %d windows is steady: the level still changes in the second half", windows)
		}
		warm = max(warm, end)
	}
	return warm, windows, nil
}

// A warmup has the levels of a row or of the rate in parts of the time, which may show a warm-up.
type warmup struct {
	levels []float64 // logarithms
	at     []int     // windows at which the parts begin, and the end of the last part
}

// end returns the window at which the warm-up ends, 0 if there is none. A warm-up is a high level
// that fades at the begin, or the levels before a step. Steady is false if the level still changes
// in the second half. Tries is the number of series that are looked at.
func (w *warmup) end(tries int) (window int, steady bool) {
	found := detect.FindChange(w.levels, tries, func(c detect.Change) bool { return c.Kind != detect.Phases })
	switch found.Kind {
	case detect.Decay:
		window = w.at[found.Spans[0].To]
	case detect.Step:
		window = w.at[found.Spans[0].From]
	case detect.Drift:
		return 0, false
	}
	return window, found.Kind == detect.Decay || 2*window <= w.at[len(w.at)-1]
}
