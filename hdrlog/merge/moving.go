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
// Like a [Sum], a Moving takes memory in proportion to the text of the intervals in the window.
type Moving struct {
	length int64
	queue  []*ended
	spare  []*ended // memory for another use

	dense  bool                // counts is the sum of the queue
	counts histogram.Histogram // see dense
	shape  shape               // of the queue, if dense is set
}

// ended is an interval in a moving window, or several that were merged.
type ended struct {
	end int64
	sum Sum
}

// NewMoving returns an empty moving window of length milliseconds. A length below 1 counts as 1.
func NewMoving(length int64) *Moving { return &Moving{length: max(length, 1)} }

// Add adds what ended at end, in milliseconds since the epoch. S is not kept. The error is a
// [SumError]; the window is then without s. Some intervals that do not add up are found only by
// [Moving.Histogram].
func (m *Moving) Add(end int64, s *Sum) error {
	c := codecs.Get().(*codec)
	defer codecs.Put(c)
	for len(m.queue) > 0 && m.queue[0].end <= end-max(m.length, 1) {
		if err := m.leave(c); err != nil {
			return err
		}
	}
	if s.intervals == 0 {
		return nil
	}
	if len(m.queue) > 0 {
		if err := m.queue[0].sum.checkKind(s.layout); err != nil {
			return err
		}
	}
	if m.dense = m.dense && m.shape.plus(s.shape).fits(0); m.dense {
		if err := s.addTo(c, &m.counts); err != nil {
			return err
		}
		m.shape = m.shape.plus(s.shape)
	}
	e := new(ended)
	if n := len(m.spare); n > 0 {
		e, m.spare = m.spare[n-1], m.spare[:n-1]
	}
	e.end = end
	e.sum.copy(s)
	m.queue = append(m.queue, e)
	return nil
}

// leave takes away the interval that was added first.
func (m *Moving) leave(c *codec) error {
	e := m.queue[0]
	if m.dense {
		if err := e.sum.subtractFrom(c, &m.counts); err != nil {
			return err
		}
		m.shape.weight -= e.sum.weight
	}
	m.queue = m.queue[1:]
	e.sum.Reset()
	m.spare = append(m.spare, e)
	return nil
}

// Histogram returns the sum of the intervals in the window: scratch, or one of the window's own. It
// must not be changed, and is valid until either is used again. The error is a [SumError].
func (m *Moving) Histogram(scratch *histogram.Histogram) (*histogram.Histogram, error) {
	if m.dense {
		return &m.counts, nil
	}
	var all Sum // what is known of them together
	for _, e := range m.queue {
		all.include(0, 0, 1, e.sum.shape)
	}
	if m.shape, m.dense = all.shape, all.fits(0); m.dense {
		scratch = &m.counts
	} else if m.counts.Memory() > mostKept {
		m.counts = histogram.Histogram{}
	}
	if len(m.queue) == 0 {
		return new(histogram.Histogram), nil
	}
	scratch.Reset(all.layout)
	c := codecs.Get().(*codec)
	defer codecs.Put(c)
	for _, e := range m.queue {
		if err := e.sum.addTo(c, scratch); err != nil {
			m.dense = false
			return nil, err
		}
	}
	return scratch, nil
}
