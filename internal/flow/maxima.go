package flow

import (
	"math"

	"hdrkit/hdrlog/merge"
	"hdrkit/output"
)

// maxSpans is the largest number of spans of Maxima. A sparkline has a quarter as many characters.
// So if each interval has a character, a span is at most half as long as an interval, and a missing
// interval is visible.
const maxSpans = 128

// Maxima are the maxima of a row over time, in at most maxSpans spans, however long the log is.
// The length of the spans is a power of two, and each starts at a multiple of its length. Spans of
// twice the length replace them when there are too many. So the result does not depend on the order
// of intervals, and maxima of the same row can be merged. The zero value has no intervals.
type Maxima struct {
	step        int64             // length of a span in milliseconds
	first, last int64             // the numbers of the first and the last span: span n starts at n*step
	values      map[int64]float64 // by the number of the span
	lengths     int64             // of all intervals together, in milliseconds
	intervals   int64             // the number of intervals
	highest     float64           // the maximum of all intervals
	peak        int64             // the start of the first interval with this maximum
}

// Add adds the maximum of an interval from start to end, in milliseconds since the epoch. The
// maximum is in the unit of the log. It counts only in the span that has the middle of the
// interval, so that a spike is one bar.
func (m *Maxima) Add(start, end int64, highest float64) {
	length := max(end-start, 0)
	m.raisePeak(start, highest)
	m.lengths += length
	m.intervals++
	m.raise(start+length/2, 1, highest)
}

// raisePeak updates the peak for the maximum of an interval. Call it before intervals counts the
// interval.
func (m *Maxima) raisePeak(start int64, highest float64) {
	if m.intervals == 0 || highest > m.highest || highest == m.highest && start < m.peak {
		m.peak, m.highest = start, highest
	}
}

// raise raises the value of the span at a time to a maximum. The spans become at least step long.
func (m *Maxima) raise(start, step int64, highest float64) {
	if m.values == nil {
		m.step, m.values = step, make(map[int64]float64)
		m.first, m.last = math.MaxInt64, math.MinInt64
	}
	at := merge.WindowOf(start, start, m.step).Start / m.step
	for m.step < step || max(m.last, at)-min(m.first, at) >= maxSpans {
		m.coarsen()
		at >>= 1
	}
	m.first, m.last = min(m.first, at), max(m.last, at)
	m.put(at, highest)
}

// put raises the value of a span, given by its number.
func (m *Maxima) put(at int64, highest float64) {
	if old, found := m.values[at]; !found || highest > old {
		m.values[at] = highest
	}
}

// coarsen doubles the length of all spans.
func (m *Maxima) coarsen() {
	old := m.values
	m.step = 2 * m.step
	m.first = m.first >> 1
	m.last = m.last >> 1
	m.values = make(map[int64]float64)
	for at, v := range old {
		m.put(at>>1, v)
	}
}

// merge adds the intervals of other.
func (m *Maxima) merge(other *Maxima) {
	if other.intervals > 0 {
		m.raisePeak(other.peak, other.highest)
	}
	m.lengths += other.lengths
	m.intervals += other.intervals
	for at, v := range other.values {
		m.raise(at*other.step, other.step, v)
	}
}

// Output returns the maxima for a table: a value for each span, NaN if it has no interval.
func (m *Maxima) Output() output.Maxima {
	o := output.Maxima{
		Start:  m.first * m.step,
		Step:   m.step,
		Length: m.lengths / max(m.intervals, 1),
		Peak:   m.peak,
	}
	for at := m.first; m.values != nil && at <= m.last; at++ {
		v, found := m.values[at]
		if !found {
			v = math.NaN()
		}
		o.Values = append(o.Values, v)
	}
	return o
}
