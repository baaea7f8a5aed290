package chart

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/unit"
	"hdrkit/output"
)

// A Window is what was recorded in an interval, or in several that were merged. Times are
// milliseconds from the origin of the picture.
type Window struct {
	// Start is when the first interval starts. Begin and End are when the first one starts and the
	// last one ends as the reference has it, which truncates.
	Start, Begin, End int64
	Intervals, Count  int64
	// Min and Max are the lowest and the highest value, in the unit of the picture, and Sum is the
	// mean times the count. They are as precise as the log, and the counts may be less so.
	Min, Max, Sum float64
	// Source is the log that has Max: its place in [Picture.Logs], plus 1, or 0.
	Source int
	counts *merge.Sum
	// While a collector gathers, Sum is in the unit of the log, and rest is what rounding took of
	// it: both together are exact, whatever the order of what was added.
	rest float64
}

// Length returns the length in milliseconds.
func (w *Window) Length() int64 { return w.End - w.Begin }

// include adds other to w, all but the counts.
func (w *Window) include(other *Window) error {
	if w.Count > math.MaxInt64-other.Count {
		return histogram.ErrOverflow
	}
	w.Start = min(w.Start, other.Start)
	w.Begin = min(w.Begin, other.Begin)
	w.End = max(w.End, other.End)
	if other.Max > w.Max {
		w.Max, w.Source = other.Max, other.Source
	}
	w.add(other.Sum, other.rest)
	switch {
	case w.Count == 0:
		w.Min = other.Min
	case other.Count > 0:
		w.Min = math.Min(w.Min, other.Min)
	}
	w.Intervals, w.Count = w.Intervals+other.Intervals, w.Count+other.Count
	return nil
}

// add adds to the sum. What a + b loses is itself a number (Knuth).
func (w *Window) add(b, rest float64) {
	a := w.Sum
	w.Sum = a + b
	part := w.Sum - a
	w.rest += rest + (a - (w.Sum - part)) + (b - part)
}

// know takes in what is known of counts that were added: their minimum and their sum, which is a
// multiple of the unit of their layout.
func (w *Window) know(s *output.Stats, layout histogram.Layout, ratio float64) {
	if s.Count > 0 {
		w.Min = min(w.Min, unit.Divide(s.Min.Float(), ratio))
	}
	one := cmp.Or(layout.Ratio, 1)
	w.add(math.Round(s.Mean*float64(s.Count)/one)*one, 0)
}

// Histogram returns the counts: scratch, or one of w, which must not be changed.
func (w *Window) Histogram(scratch *histogram.Histogram) *histogram.Histogram {
	h, err := w.counts.Histogram(scratch)
	if err != nil {
		panic(err) // they were added up before
	}
	return h
}

// AppendCounts appends the counts as [histogram.Histogram.AppendCounts] does.
func (w *Window) AppendCounts(raw []byte) []byte {
	raw, err := w.counts.AppendCounts(raw)
	if err != nil {
		panic(err) // they were added up before
	}
	return raw
}

// Wider returns the next width of windows, in milliseconds: 1, 125, 250, 500, 1000 and so on. Each
// width is a multiple of the one before, so that the windows nest.
func Wider(width int64) int64 {
	if width == 1 {
		return 125
	}
	return 2 * width
}

// WindowAt returns the start of the window of width milliseconds for an interval. A page chooses
// intervals by their start, as -s and -e do, and so does this window; [merge.WindowOf] goes by the
// middle.
func WindowAt(start, width int64) int64 { return merge.WindowOf(start, start, width).Start }

// windowBytes is about what a window takes beside its counts.
const windowBytes = 150

// Layout returns the layout of the counts.
func (w *Window) Layout() histogram.Layout { return w.counts.Layout() }

func (w *Window) size() int { return windowBytes + w.counts.Size() }

// pagedTimes is how many times the counts of windows count that are for a page. Deflated and in
// base64 they take more than a half of their size there, all else of a window a sixth. So once they
// take a third of six times a page, it would merge their windows anyway.
const pagedTimes = 3

// sizeOf returns what a window counts for in [Collector.WindowBytes].
func (g *gathered) sizeOf(w *Window) int {
	if !g.paged {
		return w.size()
	}
	return w.size() + (pagedTimes-1)*(w.counts.Size()-new(merge.Sum).Size())
}

// keep adds w, whose counts are apart, to the windows of a series: to the last one, if that is of
// the same window of a width that is not 0.
func (g *gathered) keep(w *Window, counts *merge.Sum, width int64) error {
	if n := len(g.windows) - 1; width > 0 && n >= 0 {
		last := &g.windows[n]
		before := g.sizeOf(last)
		if WindowAt(last.Start, width) == WindowAt(w.Start, width) {
			err := cmp.Or(last.counts.Merge(counts), last.include(w))
			g.bytes += g.sizeOf(last) - before
			return err
		}
	}
	own := *w
	own.counts = new(merge.Sum)
	err := cmp.Or(own.counts.Merge(counts), own.counts.Compact())
	g.windows, g.bytes = append(g.windows, own), g.bytes+g.sizeOf(&own)
	return err
}

// widen merges the windows of a series: those that start before a time into those of a width, and
// later ones that start at the same time. They are in order of time afterwards.
func (g *gathered) widen(width, before int64) error {
	slices.SortStableFunc(g.windows, func(a, b Window) int { return cmp.Compare(a.Start, b.Start) })
	n, _ := slices.BinarySearchFunc(g.windows, before, func(w Window, before int64) int { return cmp.Compare(w.Start, before) })
	old, err := Widened(g.windows[:n], width, 0)
	recent, err2 := Widened(g.windows[n:], 1, 0)
	g.windows, g.bytes = append(old, recent...), 0
	for i := range g.windows {
		g.bytes += g.sizeOf(&g.windows[i])
	}
	return cmp.Or(err, err2)
}

// Widened merges windows, which are in order of time and count from origin, into those of a width.
// They stay as they are.
func Widened(all []Window, width, origin int64) (merged []Window, err error) {
	at := func(w *Window) int64 { return WindowAt(w.Start+origin, width) }
	for len(all) > 0 {
		n := 1
		for n < len(all) && at(&all[n]) == at(&all[0]) {
			n++
		}
		w := all[0]
		if w.counts != nil {
			if n > 1 {
				w.counts = new(merge.Sum)
				w.counts.Compact() // from few windows: a histogram does not pay
				for _, other := range all[:n] {
					err = cmp.Or(err, w.counts.Merge(other.counts))
				}
			}
			err = cmp.Or(err, w.counts.Compact())
		}
		for _, other := range all[1:n] {
			err = cmp.Or(err, w.include(&other))
		}
		if err != nil {
			return nil, err
		}
		merged, all = append(merged, w), all[n:]
	}
	return merged, nil
}

// refine brings all windows to the finest of their layouts, which it returns.
func refine(all []Window) (histogram.Layout, error) {
	finest, err := histogram.New(all[0].counts.Layout())
	if err != nil {
		return histogram.Layout{}, err
	}
	for _, w := range all {
		if err := finest.Refine(w.counts.Layout()); err != nil {
			return finest.Layout(), err
		}
	}
	for i := range all {
		if all[i].counts.Layout() == finest.Layout() {
			continue
		}
		sum := new(merge.Sum)
		h := all[i].Histogram(new(histogram.Histogram)).Clone()
		if err := errors.Join(h.Refine(finest.Layout()), sum.AddHistogram(0, 0, h)); err != nil {
			return finest.Layout(), err
		}
		all[i].counts = sum
	}
	return finest.Layout(), nil
}
