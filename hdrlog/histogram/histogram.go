// Package histogram counts values in the slots of an HdrHistogram, computes statistics, and encodes
// and decodes the payloads of interval logs.
//
// A [Histogram] has the slots and the arithmetic of the reference's [AbstractHistogram]
// (HdrHistogram 2.2.2, Java). It rounds ranks and orders sums as the reference does, so every
// statistic equals the reference's, bit for bit. Unlike the reference, it always grows: no value is
// out of range. [Histogram.Add] takes histograms of any precision.
//
// Values are non-negative int64, in the unit that the writer of the log chose, often nanoseconds or
// microseconds. A double histogram counts int64, too: a value n stands for n times
// [Histogram.Ratio], and [Histogram.Float] converts n to that float64.
//
// A payload is the encoded histogram of an interval: a header and a zlib stream of counts, in
// base64. A [Decoder] reads all versions. An [Encoder] writes version 2.
//
// [AbstractHistogram]: https://hdrhistogram.github.io/HdrHistogram/JavaDoc/org/HdrHistogram/AbstractHistogram.html
package histogram

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Errors of recording and adding. The errors that functions return may wrap them.
var (
	// ErrOverflow: the total count would exceed the largest int64.
	ErrOverflow = errors.New("total count exceeds the largest int64")
	// ErrKind: one histogram is double and the other one is not.
	ErrKind = errors.New("integer and double histograms do not add up")
	// ErrRange: a value or a count is negative, or was never added and cannot be subtracted.
	ErrRange = errors.New("value out of range")
	// ErrSpan: the values of double histograms lie so far apart that one histogram cannot hold them
	// all. If the sum of some histograms fails with ErrSpan, it does so in every order of adding.
	ErrSpan = errors.New("values lie too far apart for one double histogram")
	// ErrLayout: no histogram can have this precision or lowest discernible value, or the
	// histogram has no layout.
	ErrLayout = errors.New("impossible histogram layout")
)

// A Histogram counts values. It is not safe for concurrent use; a [Recorder] is.
//
// [New] makes a histogram to record values in. The zero value has no layout yet: it takes the
// layout of the first histogram or payload that is added to it, and until then [Histogram.Record]
// fails.
type Histogram struct {
	layout Layout // the zero Layout if there is none yet
	// counts holds the counts of the slots from base on; base and the number of counts are
	// multiples of pageSize. Slots outside of counts are empty, and so is the spare capacity of
	// counts. So a histogram takes memory for the slots between its values, not for the slots below
	// them.
	counts []int64
	base   int
	// pages has a byte for each page of counts: 0 if all its slots are empty, 1 if one may have
	// a count.
	pages []byte
	// sparse holds the counts instead, by ascending slots, if they were decoded and are few. Then
	// counts and pages are empty.
	sparse []slotCount
	total  int64
	// minPlusOne is one more than the minimum that LowerMin sets, 0 if none is set. It is needed if
	// the counts of a coarser slot went to the slot of its highest value.
	minPlusOne int64
}

// New returns an empty histogram.
func New(layout Layout) (*Histogram, error) {
	if err := layout.Validate(); err != nil {
		return nil, err
	}
	return &Histogram{layout: layout.normalized()}, nil
}

// Layout returns the layout, which says which values share a slot.
func (h *Histogram) Layout() Layout { return h.layout }

// Double reports whether h is a double histogram. [Histogram.Float] converts its values.
func (h *Histogram) Double() bool { return h.layout.Ratio != 0 }

// Ratio returns the float64 that a value of 1 stands for: 1 in a histogram of integers.
func (h *Histogram) Ratio() float64 {
	if !h.Double() {
		return 1
	}
	return h.layout.Ratio
}

// Float returns the float64 that value stands for. It rounds integers above 2^53 to the nearest
// float64.
func (h *Histogram) Float(value int64) float64 { return float64(value) * h.Ratio() }

// TotalCount returns the number of recorded values.
func (h *Histogram) TotalCount() int64 { return h.total }

// Reset empties h for use with another layout, and keeps its memory. The error wraps [ErrLayout]; h
// is then unchanged.
func (h *Histogram) Reset(layout Layout) error {
	if err := layout.Validate(); err != nil {
		return err
	}
	h.reset(layout.normalized())
	return nil
}

// reset is Reset for a layout that is valid and normalized, or the zero layout.
func (h *Histogram) reset(layout Layout) {
	if len(h.sparse) == 0 {
		for _, counts := range h.segments() {
			clear(counts)
		}
	}
	h.layout = layout
	h.counts = h.counts[:0]
	h.pages = h.pages[:0]
	h.sparse = h.sparse[:0]
	h.total = 0
	h.minPlusOne = 0
}

// Clone returns a copy of h with memory of its own.
func (h *Histogram) Clone() *Histogram {
	counts := make([]int64, len(h.counts))
	h.copyTo(counts)
	return &Histogram{h.layout, counts, h.base, slices.Clone(h.pages), slices.Clone(h.sparse), h.total, h.minPlusOne}
}

// add adds n to the count of the slot at index and to the total.
func (h *Histogram) add(index int, n int64) {
	i := index - h.base
	if uint(i) >= uint(len(h.counts)) || h.total == 0 {
		h.reserve(index, index)
		i = index - h.base
	}
	h.counts[i] += n
	h.pages[i>>pageBits] = 1
	h.total += n
}

// RecordFloat counts value once in a double histogram, as [Histogram.RecordFloatN] does.
func (h *Histogram) RecordFloat(value float64) error { return h.RecordFloatN(value, 1) }

// RecordFloatN counts value n times in a double histogram. Like the reference, it rounds value down
// to a multiple of [Layout.Ratio]. So values below 10^Digits times the ratio have fewer significant
// digits. It returns [ErrKind] if h is a histogram of integers, [ErrRange] if value is negative,
// not a number, or at least 2^63 times the ratio, and otherwise the errors of [Histogram.RecordN].
// After an error, h is unchanged.
func (h *Histogram) RecordFloatN(value float64, n int64) error {
	units, err := h.layout.units(value)
	if err != nil {
		return err
	}
	return h.RecordN(units, n)
}

var errNoLayout = fmt.Errorf("%w: there is none; use New, NewRecorder or Reset", ErrLayout)

// reserve makes room for the slots from low to high. It returns the counts and the index of the
// first slot that they hold. Contract: the caller then adds only to slots from low to high, marks
// their pages, adds the sum of these counts to h.total, and calls no method but grow in between.
func (h *Histogram) reserve(low, high int) (base int, counts []int64) {
	if len(h.sparse) > 0 {
		h.spread()
	}
	if h.total == 0 {
		h.counts = h.counts[:0]
		h.pages = h.pages[:0]
		h.base = low &^ (pageSize - 1)
	} else if low < h.base {
		h.growDown(low)
	}
	return h.base, h.grow(high)
}

// spanOf returns the number of slots in the pages from that of slot low to that of slot high.
func spanOf(low, high int) int { return (high | (pageSize - 1)) + 1 - low&^(pageSize-1) }

// grow makes room for the slots up to high, from base on, and returns the counts.
func (h *Histogram) grow(high int) []int64 {
	if size := spanOf(h.base, high); size > cap(h.counts) {
		// Double the capacity. Otherwise a series of ever larger values copies the counts
		// each time.
		maxSize := h.layout.SlotsFor(math.MaxInt64) - h.base
		counts := make([]int64, size, max(size, min(2*cap(h.counts), maxSize)))
		h.copyTo(counts)
		h.counts = counts
	} else if size > len(h.counts) {
		h.counts = h.counts[:size]
	}
	h.pages = append(h.pages, make([]byte, len(h.counts)/pageSize-len(h.pages))...)
	return h.counts
}

// copyTo copies the counts of h into counts, which are all 0.
func (h *Histogram) copyTo(counts []int64) {
	if len(h.sparse) > 0 {
		return
	}
	for low, filled := range h.segments() {
		copy(counts[low-h.base:], filled)
	}
}

// growDown makes room for slots from low on, which is below base.
func (h *Histogram) growDown(low int) {
	// Take as many slots again. Otherwise a series of ever smaller values copies the counts
	// each time.
	base := max(0, min(low, h.base-len(h.counts))) &^ (pageSize - 1)
	more := h.base - base
	size := more + len(h.counts)
	counts := h.counts[:min(size, cap(h.counts))]
	if len(counts) < size {
		counts = make([]int64, size)
	}
	// counts may be the same memory as h.counts. So move the last page first.
	for page := len(h.pages) - 1; page >= 0; page-- {
		if h.pages[page] != 0 {
			filled := h.counts[page*pageSize:][:pageSize]
			copy(counts[more+page*pageSize:], filled)
			clear(filled) // counts may be the same memory
		}
	}
	h.pages = slices.Insert(h.pages, 0, make([]byte, more/pageSize)...)
	h.counts, h.base = counts, base
}

// count returns the count of the slot at index.
func (h *Histogram) count(index int) int64 {
	if i := index - h.base; uint(i) < uint(len(h.counts)) {
		return h.counts[i]
	}
	return sparseCount(h.sparse, index)
}

// Record counts value once. It returns the errors of [Histogram.RecordN].
func (h *Histogram) Record(value int64) error { return h.RecordN(value, 1) }

// RecordN counts value n times. It returns [ErrRange] if value or n is negative, [ErrOverflow] if
// the total count would exceed an int64, and [ErrLayout] if h has no layout. After an error, h is
// unchanged.
func (h *Histogram) RecordN(value, n int64) error {
	if h.layout.Lowest == 0 {
		return errNoLayout
	}
	if value < 0 || n < 0 {
		return fmt.Errorf("%w: value %d, count %d", ErrRange, value, n)
	}
	if n > math.MaxInt64-h.total {
		return ErrOverflow
	}
	index := h.layout.IndexOf(value)
	h.add(index, n)
	return nil
}

// Add adds the counts of other to h. Other is not changed. If the two differ in precision, lowest
// discernible value or conversion ratio, h takes the finer of each. Then each count of a coarser
// slot goes to the slot of its highest value, so that no percentile is below the recorded values.
// [Histogram.Min] still knows the lowest value. A 0 of a double histogram stays 0. If Add returns
// [ErrKind], [ErrSpan] or [ErrOverflow], h is unchanged.
func (h *Histogram) Add(other *Histogram) error {
	switch {
	case other.layout.Lowest == 0:
		return nil
	case h.layout.Lowest == 0:
		h.reset(other.layout)
	}
	if h.Double() != other.Double() {
		return ErrKind
	}
	if other.total > math.MaxInt64-h.total {
		return ErrOverflow
	}
	first, last := other.firstIndex(), other.lastIndex()
	if last < 0 {
		return h.Refine(other.layout)
	}
	// If the highest value fits, all others fit.
	layout, err := h.layout.Finest(other.layout)
	if err != nil {
		return err
	}
	highest, err := other.layout.valueIn(last, layout)
	if err != nil {
		return err
	}
	if err := h.Refine(other.layout); err != nil {
		return err
	}
	lowest, _ := other.layout.valueIn(first, layout)
	otherMin, _ := rescale(other.Min(), other.layout.Ratio, layout.Ratio) // no error: it is not above the highest
	base, slots := h.reserve(layout.IndexOf(lowest), layout.IndexOf(highest))
	aligned := h.layout.sameSlots(other.layout)
	for low, counts := range other.between(first&^(pageSize-1), last|(pageSize-1)) {
		if !aligned {
			h.addCoarser(other.layout, low, counts)
			continue
		}
		h.markPages(low-base, low-base+len(counts))
		into := slots[low-base:][:len(counts)]
		if useVectors {
			addPages(&into[0], &counts[0], len(counts)/pageSize)
			continue
		}
		for i, n := range counts {
			into[i] += n
		}
	}
	h.total += other.total
	if !aligned || other.minPlusOne > 0 {
		h.LowerMin(otherMin)
	}
	return nil
}

// addCoarser adds counts of a histogram whose layout is coarser, from its slot low on. It does not
// add to the total.
func (h *Histogram) addCoarser(coarser Layout, low int, counts []int64) {
	layout := h.layout
	base := h.base
	slots := h.counts
	pages := h.pages
	for i, n := range counts {
		if n != 0 {
			value, _ := coarser.valueIn(low+i, layout)
			at := layout.IndexOf(value) - base
			pages[at>>pageBits] = 1
			slots[at] += n
		}
	}
}

// Subtract subtracts the counts of other from h. They must have been added before: otherwise
// Subtract returns [ErrRange], and h is unchanged. Where layouts differ, [Histogram.Min] does not
// rise until h is empty.
func (h *Histogram) Subtract(other *Histogram) error {
	if !h.layout.sameSlots(other.layout) {
		same := &Histogram{layout: h.layout}
		if err := same.Add(other); err != nil {
			return err
		}
		if !h.layout.sameSlots(same.layout) {
			return fmt.Errorf("%w: a histogram of %+v was never added", ErrRange, other.layout)
		}
		other = same
	}
	if len(h.sparse) > 0 {
		h.spread()
	}
	for low, counts := range other.segments() {
		for i, n := range counts {
			if n > h.count(low+i) {
				return errNeverAdded(h.layout, low+i, n)
			}
		}
	}
	for low, counts := range other.segments() {
		for i, n := range counts {
			if n != 0 {
				h.counts[low+i-h.base] -= n
			}
		}
	}
	h.total -= other.total
	if h.total == 0 {
		h.minPlusOne = 0
	}
	return nil
}

func errNeverAdded(l Layout, index int, n int64) error {
	return fmt.Errorf("%w: %d values around %d were never added", ErrRange, n, l.LowestAt(index))
}

// Refine makes h at least as fine as layout: h gets the higher number of digits, the lower lowest
// value, and the smaller ratio. It returns [ErrKind] if only one of the two is double, [ErrSpan] if
// the values of h do not fit the smaller ratio, and [ErrLayout] if layout is impossible. After an
// error, h is unchanged.
func (h *Histogram) Refine(layout Layout) error {
	if err := layout.Validate(); err != nil {
		return err
	}
	layout = layout.normalized()
	finest, err := h.layout.Finest(layout)
	if err != nil {
		return err
	}
	return h.refineTo(finest)
}

// refineTo changes the layout of h to a layout that is at least as fine.
func (h *Histogram) refineTo(layout Layout) error {
	if h.layout.sameSlots(layout) {
		h.layout = layout
		return nil
	}
	finer := Histogram{layout: layout}
	if err := finer.Add(h); err != nil {
		return err
	}
	*h = finer
	return nil
}

// valueIn returns the value by which a finer layout, or an equally fine one, counts the values of
// the slot at index: the highest value of the slot, or 0 for the lowest slot of doubles, which has
// only zeros in logs of the reference.
func (l Layout) valueIn(index int, finer Layout) (int64, error) {
	low, err := rescale(l.LowestAt(index), l.Ratio, finer.Ratio)
	if err != nil || l.Ratio != 0 && index == 0 {
		return low, err
	}
	size, err := rescale(l.sizeAt(index), l.Ratio, finer.Ratio)
	return max(low, low+(size-1)), err // ratios that are no powers of two may round up
}

// rescale converts a value from one conversion ratio to another.
func rescale(value int64, from, to float64) (int64, error) {
	if from == to || value == 0 {
		return value, nil
	}
	// The ratios in logs of the reference are powers of two. Then this is exact.
	scaled := math.Round(float64(value) * (from / to))
	if scaled >= 1<<63 {
		return 0, fmt.Errorf("%w: %v beside multiples of %v", ErrSpan, float64(value)*from, to)
	}
	return int64(scaled), nil
}

// firstIndex returns the index of the lowest slot with a count, or -1 if there is none.
func (h *Histogram) firstIndex() int {
	if len(h.sparse) > 0 {
		return h.sparse[0].index
	}
	for low, counts := range h.segments() {
		for i, n := range counts {
			if n != 0 {
				return low + i
			}
		}
	}
	return -1
}

// lastIndex returns the index of the highest slot with a count, or -1 if there is none.
func (h *Histogram) lastIndex() int {
	if n := len(h.sparse); n > 0 {
		return h.sparse[n-1].index
	}
	for page := len(h.pages) - 1; page >= 0; page-- {
		if h.pages[page] == 0 {
			continue
		}
		for i := (page+1)*pageSize - 1; i >= page*pageSize; i-- {
			if h.counts[i] != 0 {
				return h.base + i
			}
		}
	}
	return -1
}
