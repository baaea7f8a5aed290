package series

import (
	"hdrkit/hdrlog/histogram"
	"hdrkit/output"
)

// moving is a moving window: the sum of what was recorded in the last so many milliseconds, as HistogramLogProcessor
// reckons them. An interval leaves when another one ends that long after it ended, or later.
type moving struct {
	sum   *histogram.Histogram
	queue []queued
	spare []histogram.Packed // whose memory is used again
	gone  histogram.Histogram
}

// queued is an interval in a moving window.
type queued struct {
	end    int64 // milliseconds since the epoch
	counts histogram.Packed
}

// add adds an interval, whose counts are h and are packed in counts, and returns what the window then shows.
func (m *moving) add(h *histogram.Histogram, counts *histogram.Packed, end int64, o *Options) (w output.Moving, err error) {
	if m.sum == nil {
		if m.sum, err = histogram.New(h.Layout()); err != nil {
			return w, err
		}
	}
	if err := m.sum.Add(h); err != nil {
		return w, err
	}
	for len(m.queue) > 0 && m.queue[0].end <= end-o.Moving {
		m.queue[0].counts.Unpack(&m.gone)
		if err := m.sum.Subtract(&m.gone); err != nil {
			return w, err
		}
		m.spare = append(m.spare, m.queue[0].counts)
		m.queue = m.queue[1:]
	}
	var own histogram.Packed
	if n := len(m.spare); n > 0 {
		own, m.spare = m.spare[n-1], m.spare[:n-1]
	}
	own.Copy(*counts)
	m.queue = append(m.queue, queued{end, own})
	at := m.sum.ValueAtPercentile(o.MovingPercentile)
	return output.Moving{
		Count:           m.sum.TotalCount(),
		PercentileValue: output.PercentileValue{Percentile: o.MovingPercentile, Value: output.ValueOf(m.sum, at)},
		Max:             output.ValueOf(m.sum, m.sum.Max()),
	}, nil
}
