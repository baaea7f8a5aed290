package summary

import (
	"math"
	"slices"
	"sync"

	"hdrkit/hdrlog/confidence"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/output"
	"hdrkit/tags"
)

const (
	// windowDigits are the significant digits of windows. A window then takes a tenth of the memory
	// of one of three digits, and limits move by less than a tenth of the width of their interval
	// (TestCoarseWindows in confidence).
	windowDigits = 1
	// mostWindows is the largest number of windows of a run. More take memory, and tell no more.
	mostWindows = 1 << 12
	// looseBytes is what windows may take beside twice what they took when they were packed.
	looseBytes = 32 << 20
	// shiftPercentile is the percentile whose level may shift.
	shiftPercentile = 99
)

// Runs keep what each tag recorded in each window of absolute time, in memory that does not grow
// with the log. The zero value is ready.
type Runs struct {
	// Size is the size of windows in milliseconds. 0 means that of the longest interval. Much
	// longer intervals, many windows and little memory make windows longer.
	Size int64

	windows     *merge.Windows
	first, last int64 // start and end of what was added
	account     *ledger.Account
	charge      ledger.Charge
	packed      int // bytes of the windows after they were packed
	err         error
}

// charged makes the runs charge their windows.
func (r *Runs) charged(memory *ledger.Ledger) {
	r.account = memory.Open("tags, with their windows,", "choose some with -incT, or add them up with -it")
}

// add adds an interval of a tag. The runs keep the error, and nothing else, if there is one.
func (r *Runs) add(tag []byte, s *merge.Sum) {
	if r.err != nil || s.Intervals() == 0 {
		return
	}
	length := s.End - s.Start
	if r.windows == nil {
		r.windows = merge.NewWindows(max(r.Size, length))
		r.first, r.last = s.Start, s.End
	}
	r.first, r.last = min(r.first, s.Start), max(r.last, s.End)
	size := r.windows.Size()
	if length > size+size/8 { // timers are late by less
		size = length
	}
	for (r.last-r.first)/size > mostWindows {
		size *= 2
	}
	if size > r.windows.Size() || r.windows.Bytes() > 2*r.packed+looseBytes {
		r.pack(size)
	}
	if r.err == nil {
		r.err = r.windows.Merge(tag, 0, s)
	}
	for r.err == nil {
		r.charge.Set(r.account, 1, r.windows.Bytes())
		crowded := r.account.Crowded()
		if crowded == nil {
			return
		}
		if r.pack(2 * r.windows.Size()); (r.last-r.first)/r.windows.Size() < confidence.MinWindows {
			r.err = crowded
		}
	}
	r.release()
}

// pack makes windows of a size, which take little memory.
func (r *Runs) pack(size int64) {
	packed := merge.NewWindows(size)
	for m := range r.windows.All() {
		if r.err == nil {
			r.err = packed.Merge(m.Tag, 0, &m.Sum)
		}
	}
	if r.err == nil {
		r.err = packed.Compact()
	}
	r.windows, r.packed = packed, packed.Bytes()
}

// release gives the memory back.
func (r *Runs) release() {
	r.windows = nil
	r.charge.Set(r.account, 0, 0)
}

// A window is what a tag recorded in a window as a [confidence.Window]. Its values are multiples of
// ratio.
type window struct {
	*merge.Merged
	scratch *histogram.Histogram
	ratio   float64
}

// Seconds implements [confidence.Window].
func (w *window) Seconds() float64 { return float64(w.End-w.Start) / 1000 }

// Count implements [confidence.Window].
func (w *window) Count(upTo, counts []int64) (total int64) {
	h, err := w.Histogram(w.scratch)
	if err != nil {
		return 0 // cannot be: the intervals of all windows add up
	}
	factor := h.Ratio() / w.ratio
	if factor != 1 {
		upTo = slices.Clone(upTo)
		for n := range upTo {
			upTo[n] = int64(float64(upTo[n]) / factor)
		}
	}
	return confidence.HistogramWindow{Histogram: h}.Count(upTo, counts)
}

// Believe gives each summary the intervals of its figures, at a level of confidence. Afterwards the
// runs have no windows.
func (r *Result) Believe(runs *Runs, percentiles []float64, level float64, workers int) error {
	if runs.windows == nil {
		return runs.err
	}
	defer runs.release()
	size := runs.windows.Size()
	windows, first := make([][]confidence.Window, len(r.Summaries)), make([]int64, len(r.Summaries))
	counts := make([]*histogram.Histogram, len(r.Summaries))
	for m := range runs.windows.Open() {
		n, _ := slices.BinarySearchFunc(r.Summaries, m.Tag, func(s *output.Summary, tag []byte) int { return tags.Compare(s.Tag, tag) })
		if len(windows[n]) == 0 {
			first[n], counts[n] = m.Window.Start, new(histogram.Histogram)
		}
		empty := int((m.Window.Start-first[n])/size) - len(windows[n])
		windows[n] = append(append(windows[n], make([]confidence.Window, empty)...), &window{m, counts[n], 1})
	}
	var group sync.WaitGroup
	defer group.Wait()
	free := make(chan struct{}, max(workers, 1))
	for n, s := range r.Summaries {
		sum := s.Counts()
		for _, w := range windows[n] {
			if w != nil {
				w.(*window).ratio = sum.Ratio()
			}
		}
		run := confidence.NewRun(sum, windows[n])
		run.SetDigits(windowDigits)
		free <- struct{}{}
		group.Go(func() {
			s.Confidence = output.NewConfidence(run, percentiles, level, size)
			if at, ok := run.Shift(shiftPercentile); ok {
				s.Confidence.Shift = &output.Shift{Percentile: shiftPercentile, Start: first[n] + int64(at)*size,
					Before: levelOf(windows[n][:at]), After: levelOf(windows[n][at:])}
			}
			<-free
		})
	}
	return nil
}

// levelOf returns about the value at shiftPercentile of windows.
func levelOf(windows []confidence.Window) float64 {
	var sum merge.Sum
	for _, w := range windows {
		if w != nil {
			sum.Merge(&w.(*window).Sum) // cannot fail: the intervals of all windows add up
		}
	}
	h, err := sum.Histogram(new(histogram.Histogram))
	if err != nil {
		return math.NaN()
	}
	at := h.Layout().IndexOf(h.ValueAtPercentile(shiftPercentile))
	return (h.Float(h.Layout().LowestAt(at)) + h.Float(h.Layout().HighestAt(at))) / 2
}
