package summary

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"

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
	// mostWindows is the largest number of windows of a run: ten minutes of seconds. More take time
	// and memory, and tell no more: of the intervals of an hour, as many are right with windows of
	// 8 s as with those of 1 s (bench/confidence.md).
	mostWindows = 600
	// mostWarmup is that for warm-ups, which may be short.
	mostWarmup = 1 << 12
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

	most int64 // windows, mostWindows if it is 0

	// doubled is the size of the windows once they have become twice as long, 0 before. From then
	// on they only double, so it does not matter in which order intervals are added, or whether
	// those of a window were added up before.
	doubled atomic.Int64

	mutex       sync.Mutex
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

// add adds an interval of a tag, in the order of the scan. S is empty if a worker adds up what its
// window has. The runs keep the error, and nothing else, if there is one.
func (r *Runs) add(start, end int64, tag []byte, s *merge.Sum) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.err != nil {
		return
	}
	end = max(start, end)
	length := end - start
	if r.windows == nil {
		r.windows, r.most = newWindows(max(r.Size, length)), cmp.Or(r.most, mostWindows)
		r.first, r.last = start, end
	}
	r.first, r.last = min(r.first, start), max(r.last, end)
	size := r.windows.Size()
	late := func() bool { return length > size+size/8 } // timers are late by less
	if late() && r.doubled.Load() == 0 {
		size = length
	}
	for late() || (r.last-r.first)/size > r.most {
		size *= 2
		r.doubled.Store(size)
	}
	if size > r.windows.Size() || r.windows.Bytes() > 2*r.packed+looseBytes {
		r.pack(size)
	}
	r.merge(tag, s)
}

// merge adds what was recorded in a window, or in a part of it. The mutex is locked.
func (r *Runs) merge(tag []byte, s *merge.Sum) {
	if r.err == nil {
		r.err = r.windows.Merge(tag, 0, s)
	}
	for r.err == nil {
		r.charge.Set(r.account, 1, r.windows.Bytes())
		crowded := r.account.Crowded()
		if crowded == nil {
			return
		}
		r.doubled.Store(2 * r.windows.Size())
		if r.pack(r.doubled.Load()); (r.last-r.first)/r.windows.Size() < confidence.MinWindows {
			r.err = crowded
		}
	}
	r.release()
}

// pack makes windows of a size, which take little memory.
func (r *Runs) pack(size int64) {
	packed := newWindows(size)
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

// newWindows returns windows that can become longer.
func newWindows(size int64) *merge.Windows {
	w := merge.NewWindows(size)
	w.Packed = true
	return w
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
