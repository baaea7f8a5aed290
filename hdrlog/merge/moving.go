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
//
// A Moving takes the memory of a histogram, and of the packed counts of the intervals in the
// window.
type Moving struct {
	length int64
	queue  []*ended
	spare  []*ended            // memory for another use
	counts histogram.Histogram // the sum of the queue
	size   int                 // bytes of the sums in the queue
	slots  int                 // that counts has memory for, about
}

// ended is an interval in a moving window, or several that were merged.
type ended struct {
	end int64
	sum Sum
}

// NewMoving returns an empty moving window of length milliseconds. A length below 1 counts as 1.
func NewMoving(length int64) *Moving { return &Moving{length: max(length, 1)} }

// Size returns about how many bytes m takes.
func (m *Moving) Size() int { return m.size + 8*m.slots }

// Add adds what ended at end, in milliseconds since the epoch. S is not kept. The error is a
// [SumError]; the window is then without s.
func (m *Moving) Add(end int64, s *Sum) error {
	for len(m.queue) > 0 && m.queue[0].end <= end-max(m.length, 1) {
		if err := m.leave(); err != nil {
			return err
		}
	}
	if s.intervals == 0 {
		return nil
	}
	if len(m.queue) == 0 {
		m.counts.Reset(s.layout)
	}
	if err := s.addTo(&m.counts); err != nil {
		return sumError(err, nil)
	}
	m.slots = max(m.slots, slots(m.counts.Layout(), s.highest))
	e := new(ended)
	if n := len(m.spare); n > 0 {
		e, m.spare = m.spare[n-1], m.spare[:n-1]
	}
	e.end = end
	if err := e.sum.Merge(s); err != nil {
		return err
	}
	m.queue = append(m.queue, e)
	m.size += e.sum.Size()
	return nil
}

// leave takes away the interval that was added first.
func (m *Moving) leave() error {
	e := m.queue[0]
	c := codecs.Get().(*codec)
	defer e.sum.putCodec(c)
	counts, err := e.sum.Histogram(&c.scratch)
	if err == nil {
		err = m.counts.Subtract(counts)
	}
	if err != nil {
		return err
	}
	m.queue = m.queue[1:]
	m.size -= e.sum.Size()
	e.sum.Reset()
	m.spare = append(m.spare, e)
	return nil
}

// Histogram returns the sum of the intervals in the window. It must not be changed, and is valid
// until the window changes.
func (m *Moving) Histogram() *histogram.Histogram { return &m.counts }
