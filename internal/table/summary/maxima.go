package summary

import (
	"math"
	"slices"

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
	step   int64 // milliseconds
	first  int64 // the first span starts at first*step
	values []float64
	// The lengths of all intervals in milliseconds, and their number.
	lengths, intervals int64
}

// Add takes the maximum of an interval from start to end, in milliseconds since the epoch, in the
// unit of the log. The span that has the middle of the interval has it, so that a spike is one bar.
func (m *Maxima) Add(start, end int64, highest float64) {
	if m.values == nil {
		m.step = 1
	}
	m.lengths, m.intervals = m.lengths+max(end-start, 0), m.intervals+1
	at := floorDiv(start+max(end-start, 0)/2, m.step)
	m.raise(m.include(at, at, m.step)-m.first, highest)
}

func (m *Maxima) raise(n int64, v float64) {
	if old := m.values[n]; math.IsNaN(old) || v > old {
		m.values[n] = v
	}
}

// include makes room for the spans first to last of length step, which is at most that of m, and
// returns the first as a span of m.
func (m *Maxima) include(first, last, step int64) int64 {
	for ; step < m.step; step *= 2 {
		first, last = first>>1, last>>1
	}
	for len(m.values) > 0 && max(last, m.first+int64(len(m.values))-1)-min(first, m.first) >= mostSpans {
		m.coarsen()
		first, last = first>>1, last>>1
	}
	if len(m.values) == 0 {
		m.first = first
	}
	if missing := m.first - first; missing > 0 {
		m.values = slices.Insert(m.values, 0, slices.Repeat([]float64{math.NaN()}, int(missing))...)
		m.first = first
	}
	for m.first+int64(len(m.values)) <= last {
		m.values = append(m.values, math.NaN())
	}
	return first
}

// coarsen doubles the length of the spans.
func (m *Maxima) coarsen() {
	old := *m
	*m = Maxima{step: 2 * old.step, first: old.first >> 1, lengths: old.lengths, intervals: old.intervals}
	for n, v := range old.values {
		at := (old.first+int64(n))>>1 - m.first
		if at == int64(len(m.values)) {
			m.values = append(m.values, v)
		} else {
			m.raise(at, v)
		}
	}
}

// merge takes in the maxima of other.
func (m *Maxima) merge(other *Maxima) {
	if len(other.values) == 0 {
		return
	}
	if len(m.values) == 0 {
		*m = *other
		m.values = slices.Clone(other.values)
		return
	}
	m.lengths, m.intervals = m.lengths+other.lengths, m.intervals+other.intervals
	for m.step < other.step {
		m.coarsen()
	}
	m.include(other.first, other.first+int64(len(other.values))-1, other.step)
	for n, v := range other.values {
		start := (other.first + int64(n)) * other.step
		m.raise(floorDiv(start, m.step)-m.first, v)
	}
}

// Output returns the maxima for a table.
func (m *Maxima) Output() output.Maxima {
	return output.Maxima{Start: m.first * m.step, Step: m.step, Values: m.values, Length: m.lengths / max(m.intervals, 1)}
}

// floorDiv divides and rounds down. B is positive.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
