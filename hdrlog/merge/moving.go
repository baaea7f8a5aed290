package merge

import "hdrkit/hdrlog/histogram"

// Moving is a moving window: the intervals that ended in the last Length milliseconds, as in the
// reference's HistogramLogProcessor. After an interval that ends at T is added, the window has the
// intervals with T-Length < end <= T: an interval leaves when another one is added that ends Length
// or more after it. Intervals are added in the order of their ends. One that is not leaves once
// those that were added before it have left. An interval is never divided: one that is longer than
// the window counts whole. A Moving is not safe for concurrent use.
//
// With a length of 60,000 and an interval every 10 s, the window has six of them: the one that
// ended 60 s before the last is not in it.
type Moving struct {
	length int64
	sum    histogram.Sum
	queue  []ended
	spare  []histogram.Packed // memory for another use
	own    histogram.Packed
}

// ended is an interval in a moving window.
type ended struct {
	end    int64
	counts histogram.Packed
}

// NewMoving returns an empty moving window of length milliseconds. A length below 1 counts as 1.
func NewMoving(length int64) *Moving { return &Moving{length: max(length, 1)} }

// Add adds an interval that ended at end, in milliseconds since the epoch. H is not kept. The error
// is that of [histogram.Histogram.Add], as a [SumError]; the window is then without the interval.
func (m *Moving) Add(end int64, h *histogram.Histogram) error {
	m.own.Pack(h, histogram.MaxDigits)
	return m.AddPacked(end, m.own)
}

// AddPacked is [Moving.Add] for counts that are packed. They are not kept.
func (m *Moving) AddPacked(end int64, counts histogram.Packed) error {
	for len(m.queue) > 0 && m.queue[0].end <= end-max(m.length, 1) {
		if err := m.sum.Subtract(m.queue[0].counts); err != nil {
			return err
		}
		m.spare = append(m.spare, m.queue[0].counts)
		m.queue = m.queue[1:]
	}
	if err := m.sum.AddPacked(counts); err != nil {
		return &SumError{err}
	}
	var own histogram.Packed
	if n := len(m.spare); n > 0 {
		own, m.spare = m.spare[n-1], m.spare[:n-1]
	}
	own.Copy(counts)
	m.queue = append(m.queue, ended{end, own})
	return nil
}

// Histogram returns the sum of the intervals in the window: scratch, or one of the window's own. It
// must not be changed, and is valid until either is used again.
func (m *Moving) Histogram(scratch *histogram.Histogram) *histogram.Histogram {
	return m.sum.Histogram(scratch)
}
