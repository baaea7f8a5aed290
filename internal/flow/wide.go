package flow

import (
	"cmp"
	"math"
	"sync/atomic"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/logline"
	"hdrkit/internal/scan"
	"hdrkit/output"
)

// Wide is [Intervals] whose counts workers add up in windows.
type Wide struct {
	Intervals
	// Size is the size of windows in milliseconds. As long as it is 0, each result has its counts.
	// The caller may set it while the flow runs. Later results have no Coarse, no minimum and no
	// mean, since these take all counts.
	Size *atomic.Int64
	// EmitCounts takes the counts of a row in a window, or in a part of it. The results of these
	// intervals came without counts, perhaps long before.
	EmitCounts func(w *Window) error
}

type wideState struct {
	*Wide
	number int             // see [differences]
	ranks  []output.Figure // the percentiles among Figures
	parts  []*widePart
}

type widePart struct {
	*wideState
	windows *differences
	apart   bool      // the interval has its counts
	ready   []*Window // to be handed over
}

func (k *Wide) start(r *run) state {
	r.rowBytes += rowBytes
	if k.Size == nil {
		k.Size = new(atomic.Int64)
	}
	all := &wideState{Wide: k, number: r.differ}
	r.differ++
	for _, f := range k.Figures {
		if f.Name == "" {
			all.ranks = append(all.ranks, f)
		}
	}
	return all
}

func (k *wideState) part(w *worker) part {
	s := &widePart{wideState: k}
	s.windows = newDifferences(w, k.number, math.MaxInt, s.handOver)
	k.parts = append(k.parts, s)
	return s
}

func (s *widePart) want(v scan.Visit, m *made) (scan.Want, *merge.Sum) {
	m.window = nil
	size := s.Size.Load()
	s.apart = true
	if size > 0 {
		first, _ := startIn(v, s.Relative)
		s.apart = !s.windows.open(v, merge.WindowOf(logline.Millis(first), logline.Millis(first), size))
	}
	if s.apart {
		return s.Intervals.want(v, m)
	}
	m.alone()
	return scan.Want{Max: true, Counts: len(s.ranks) > 0}, nil
}

func (s *widePart) decoded(v scan.Visit, t *scan.Taken, failed error, m *made) error {
	if len(s.ready) > 0 {
		m.window = s.ready[0]
		s.ready = s.ready[1:]
	}
	if s.apart {
		return s.Intervals.decoded(v, t, failed, m)
	}
	if failed == nil {
		s.windows.add(v)
	}
	one := &m.one.Result
	one.First, _ = startIn(v, s.Relative)
	one.Total.add(v, t, failed)
	if s.ranks != nil {
		one.Stats = output.FiguresOf(t.Counts, s.ranks, one.Stats)
	} else {
		one.Stats = output.Stats{Count: t.Count, Max: output.FloatValue(t.Max)}
	}
	return nil
}

// handOver makes what a row recorded in a window ready.
func (s *widePart) handOver(r *Row, o *openWindow, h *histogram.Histogram) error {
	w := &Window{Window: o.window}
	w.Row = r.Row
	w.Stats = output.StatsOf(h, nil, output.Stats{})
	s.ready = append(s.ready, w)
	return w.Coarse.AddCoarse(o.ran.Start, o.ran.End, h, s.Digits)
}

func (k *wideState) take(v scan.Visit, m *made) error {
	if err := k.Intervals.take(v, m); err != nil || m.window == nil {
		return err
	}
	return k.EmitCounts(m.window)
}

func (k *wideState) close() (err error) {
	for _, s := range k.parts {
		for _, w := range s.ready {
			err = cmp.Or(err, k.EmitCounts(w))
		}
	}
	return err
}
