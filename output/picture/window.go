package picture

import (
	"maps"
	"math"
	"slices"

	"hdrkit/hdrlog/histogram"
)

// coarseDigits is the precision of counts in a picture, in significant digits. A pixel is more than a hundredth of the value
// that it shows. Three digits take ten times the memory.
const coarseDigits = 2

// A Window is what was recorded in a stretch of time.
type Window struct {
	// Start and End are those of the first and the last interval.
	Start, End float64
	Count      int64
	// Max is the highest value, in the picture's unit. The counts may be of less precision.
	Max    float64
	counts histogram.Packed
}

// include adds other to w but for the counts.
func (w *Window) include(other *Window) error {
	if w.Count > math.MaxInt64-other.Count {
		return histogram.ErrOverflow
	}
	w.Start, w.End = math.Min(w.Start, other.Start), math.Max(w.End, other.End)
	w.Count += other.Count
	w.Max = math.Max(w.Max, other.Max)
	return nil
}

// add adds other to w.
func (w *Window) add(other *Window) (err error) {
	if err := w.include(other); err != nil {
		return err
	}
	w.counts, err = w.counts.Plus(other.counts)
	return err
}

// addOpen adds other to w, whose counts are in sum.
func (w *Window) addOpen(other *Window, sum *histogram.Histogram) error {
	if err := w.include(other); err != nil {
		return err
	}
	return other.counts.AddTo(sum)
}

// A WindowSeries is the histograms of a series by time.
type WindowSeries struct {
	Label string
	// Unit is what a histogram's value of 1 stands for in the picture's unit.
	Unit    float64
	Windows []Window
}

// windows sums histograms by windows of time: the window with key k takes the intervals whose middle lies from k*width
// up to (k+1)*width.
type windows struct {
	width float64
	at    map[int64]*Window
	bytes int // what all of them take, about

	// What was added to last, if it was there before: its counts are in sum. Intervals come in order, or nearly, and to
	// pack a window again for each of them would take most of the time that a page does (BenchmarkWindows).
	open *Window
	sum  histogram.Histogram
}

// windowBytes is about what a window takes beside its counts.
const windowBytes = 120

// firstWidth is about a millisecond, in seconds, less than any interval that is worth a picture. Windows that grow do so
// by doubling from there, so that they nest and the outcome does not depend on the order of intervals.
const firstWidth = 1.0 / 1024

func newWindows(width float64) *windows { return &windows{width: width, at: map[int64]*Window{}} }

func (ws *windows) key(start, end float64) int64 {
	return int64(math.Floor((start + (end-start)/2) / ws.width))
}

// put adds w to the window at key, or makes it that window if there is none, with a copy of the counts.
func (ws *windows) put(key int64, w *Window) error {
	into := ws.at[key]
	if into == nil {
		counts := w.counts
		w.counts = histogram.Packed{}
		w.counts.Copy(counts)
		ws.at[key] = w
		ws.bytes += windowBytes + w.counts.Size()
		return nil
	}
	if into != ws.open {
		ws.close()
		into.counts.Unpack(&ws.sum)
		ws.open = into
	}
	return into.addOpen(w, &ws.sum)
}

// close packs the window that is open.
func (ws *windows) close() {
	if ws.open == nil {
		return
	}
	counts := &ws.open.counts
	ws.bytes -= counts.Size()
	counts.Pack(&ws.sum, histogram.MaxDigits)
	ws.bytes += counts.Size()
	ws.open = nil
}

// widen merges windows until they are so wide.
func (ws *windows) widen(width float64) error {
	ws.close()
	for ws.width < width {
		old := ws.at
		ws.width *= 2
		ws.at = make(map[int64]*Window, len(old))
		ws.bytes = 0
		for key, w := range old {
			if into := ws.at[key>>1]; into == nil {
				ws.at[key>>1] = w
			} else if err := into.add(w); err != nil {
				return err
			}
		}
		for _, w := range ws.at {
			ws.bytes += windowBytes + w.counts.Size()
		}
	}
	return nil
}

// inOrder returns the windows in order of time.
func (ws *windows) inOrder() []Window {
	ws.close()
	all := make([]Window, 0, len(ws.at))
	for _, key := range slices.Sorted(maps.Keys(ws.at)) {
		all = append(all, *ws.at[key])
	}
	return all
}

// refine brings all windows to the finest of their layouts, which it returns.
func refine(all []Window) (histogram.Layout, error) {
	finest, _ := histogram.New(all[0].counts.Layout())
	for _, w := range all {
		if err := finest.Refine(w.counts.Layout()); err != nil {
			return finest.Layout(), err
		}
	}
	for i := range all {
		var err error
		if all[i].counts, err = all[i].counts.As(finest.Layout()); err != nil {
			return finest.Layout(), err
		}
	}
	return finest.Layout(), nil
}
