package flow

import (
	"math"

	"hdrkit/hdrlog/merge"
	"hdrkit/output"
)

// mostSpans is the largest number of spans of Maxima. A sparkline needs a quarter of them: a span
// is then at most half as long as an interval, if each interval has a character, so that a missing
// one is visible.
const mostSpans = 128

// Maxima keep the maximum over time in at most mostSpans spans, however long the log is. The length
// of the spans is a power of two, and each starts at a multiple of its length. Twice as long spans
// replace them when there would be too many. So the result does not depend on the order of
// intervals, and maxima of the same tag can be merged. The zero value is ready.
type Maxima struct {
	step        int64 // milliseconds
	first, last int64 // the spans from first*step to (last+1)*step
	values      map[int64]float64
	// The lengths of all intervals in milliseconds, and their number.
	lengths, intervals int64
	// The start of the first interval with the highest maximum, and that.
	peak    int64
	highest float64
}

// Add takes the maximum of an interval from start to end, in milliseconds since the epoch, in the
// unit of the log. The span that has the middle of the interval has it, so that a spike is one bar.
func (m *Maxima) Add(start, end int64, highest float64) {
	length := max(end-start, 0)
	m.raisePeak(start, highest)
	m.lengths, m.intervals = m.lengths+length, m.intervals+1
	m.raise(start+length/2, 1, highest)
}

// raisePeak takes the maximum of an interval. It comes before the number of intervals changes.
func (m *Maxima) raisePeak(start int64, highest float64) {
	if m.intervals == 0 || highest > m.highest || highest == m.highest && start < m.peak {
		m.peak, m.highest = start, highest
	}
}

// raise takes the maximum of a span that starts at a time and has a length.
func (m *Maxima) raise(start, step int64, highest float64) {
	if m.values == nil {
		m.step, m.values = step, make(map[int64]float64)
		m.first, m.last = math.MaxInt64, math.MinInt64
	}
	at := merge.WindowOf(start, start, m.step).Start / m.step
	for m.step < step || max(m.last, at)-min(m.first, at) >= mostSpans {
		m.coarsen()
		at >>= 1
	}
	m.first, m.last = min(m.first, at), max(m.last, at)
	m.put(at, highest)
}

func (m *Maxima) put(at int64, highest float64) {
	if old, found := m.values[at]; !found || highest > old {
		m.values[at] = highest
	}
}

// coarsen doubles the length of the spans.
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

// merge takes in the maxima of other.
func (m *Maxima) merge(other *Maxima) {
	if other.intervals > 0 {
		m.raisePeak(other.peak, other.highest)
	}
	m.lengths, m.intervals = m.lengths+other.lengths, m.intervals+other.intervals
	for at, v := range other.values {
		m.raise(at*other.step, other.step, v)
	}
}

// Output returns the maxima for a table.
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
