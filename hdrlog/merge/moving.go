package merge

import (
	"cmp"
	"slices"

	"hdrkit/hdrlog/histogram"
)

// Moving is a moving window: the sum of the intervals that ended in the last Length milliseconds. At a time T these are the
// intervals with T-Length < end <= T, as in the reference's HistogramLogProcessor; T is the latest end so far. An interval is
// never divided: one that is longer than the window counts whole. It is not safe for concurrent use.
//
// With a length of 60,000 and an interval every 10 s, the window has six of them: the one that ended 60 s before the latest
// is not in it.
type Moving struct {
	length int64
	sum    histogram.Histogram
	used   bool // sum has a layout
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

// Add adds an interval that ended at end, in milliseconds since the epoch. H is not kept. The error is that of
// [histogram.Histogram.Add], as a [SumError]; the window is then unchanged.
func (m *Moving) Add(end int64, h *histogram.Histogram) error {
	latest := end
	if n := len(m.queue); n > 0 {
		latest = max(latest, m.queue[n-1].end)
	}
	if err := m.leave(latest - max(m.length, 1)); err != nil {
		return err
	}
	if end <= latest-max(m.length, 1) {
		return nil
	}
	if !m.used {
		m.sum.Reset(h.Layout())
		m.used = true
	}
	if err := m.sum.Add(h); err != nil {
		return &SumError{err}
	}
	var counts histogram.Packed
	if n := len(m.spare); n > 0 {
		counts, m.spare = m.spare[n-1], m.spare[:n-1]
	}
	counts.Pack(h, histogram.MaxDigits)
	at, _ := slices.BinarySearchFunc(m.queue, end, func(e ended, end int64) int { return cmp.Compare(e.end, end) })
	m.queue = slices.Insert(m.queue, at, ended{end, counts})
	return nil
}

// leave takes the intervals that ended at or before then out of the window.
func (m *Moving) leave(then int64) error {
	for len(m.queue) > 0 && m.queue[0].end <= then {
		if err := m.queue[0].counts.SubtractFrom(&m.sum); err != nil {
			return err
		}
		m.spare = append(m.spare, m.queue[0].counts)
		m.queue = m.queue[1:]
	}
	return nil
}

// Histogram returns the sum of the intervals in the window. It is the window's own: it must not be changed, and is valid until
// Add is called again.
func (m *Moving) Histogram() *histogram.Histogram { return &m.sum }
