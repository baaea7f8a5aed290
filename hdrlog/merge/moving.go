package merge

import "hdrkit/hdrlog/histogram"

// Moving is a moving window: the intervals that ended in the last milliseconds, as in the
// reference's HistogramLogProcessor. After an interval that ends at T is added to a window of
// length L, the window has the intervals with T-L < end <= T. Add intervals in the order of their
// ends: an interval leaves only after all intervals that were added before it. An interval is never
// divided, so an interval that is longer than the window counts as a whole. A Moving is not safe
// for concurrent use.
//
// With a length of 60,000 and an interval every 10 s, the window has six intervals. The interval
// that ended 60 s before the last one is outside.
//
// A Moving takes memory in proportion to the packed counts of its intervals, as a [Sum] does.
type Moving struct {
	length int64 // in milliseconds
	queue  []*ended
	spare  []*ended // entries that left, for reuse
	size   int      // bytes of the sums in the queue
	all    Sum      // the sum of the queue, unless stale is set
	stale  bool     // all must be added up again
}

// ended is an entry in the queue of a [Moving]: one interval, or several that were merged.
type ended struct {
	end int64
	sum Sum
}

// NewMoving returns an empty moving window of length milliseconds. A length below 1 counts as 1.
func NewMoving(length int64) *Moving { return &Moving{length: max(length, 1)} }

// Size returns the approximate memory of m in bytes.
func (m *Moving) Size() int { return m.size + m.all.Size() }

// Add adds a sum of intervals that ended at end, in milliseconds since the epoch. It does not keep
// s. The error is a [SumError]; the window then lacks s. Add does not decode all counts, so
// [Moving.Histogram] can also return a SumError.
func (m *Moving) Add(end int64, s *Sum) error {
	for len(m.queue) > 0 && m.queue[0].end <= end-max(m.length, 1) {
		m.removeFirst()
	}
	if s.intervals == 0 {
		return nil
	}
	e := new(ended)
	if n := len(m.spare); n > 0 {
		e, m.spare = m.spare[n-1], m.spare[:n-1]
	}
	e.end = end
	if err := e.sum.Merge(s); err != nil {
		return err
	}
	m.all.counts.allowHistogram(m.size + e.sum.Size())
	if !m.stale {
		if err := m.all.Merge(s); err != nil {
			return err
		}
	}
	m.queue = append(m.queue, e)
	m.size += e.sum.Size()
	return nil
}

func (m *Moving) removeFirst() {
	e := m.queue[0]
	if m.queue = m.queue[1:]; len(m.queue) == 0 {
		m.all.Reset()
		m.stale = false
	} else if !m.stale {
		m.stale = !m.all.counts.subtract(&e.sum.counts)
	}
	m.size -= e.sum.Size()
	e.sum.Reset()
	m.spare = append(m.spare, e)
}

// Histogram returns the sum of the intervals in the window, in scratch or in a histogram of m. The
// caller must not change the sum, which is valid until m or scratch is used again. The error is a
// [SumError].
func (m *Moving) Histogram(scratch *histogram.Histogram) (*histogram.Histogram, error) {
	if m.stale {
		m.all.Reset()
		for _, e := range m.queue {
			if err := m.all.Merge(&e.sum); err != nil {
				return nil, err
			}
		}
		m.stale = false
	}
	return m.all.Histogram(scratch)
}
