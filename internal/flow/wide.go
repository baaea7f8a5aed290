package flow

import (
	"cmp"
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
	openSizes
	ranks []output.Figure // the percentiles among Figures
	parts []*widePart
}

type widePart struct {
	*wideState
	openWindows
	target *Window   // nil if the interval has its counts
	ready  []*Window // to be handed over
}

func (k *Wide) start(r *run) state {
	r.rowBytes += rowBytes
	if k.Size == nil {
		k.Size = new(atomic.Int64)
	}
	all := &wideState{Wide: k, openSizes: openSizes{size: k.Size}}
	for _, f := range k.Figures {
		if f.Name == "" {
			all.ranks = append(all.ranks, f)
		}
	}
	return all
}

func (k *wideState) part(w *worker) part {
	s := &widePart{wideState: k, openWindows: newOpenWindows(w, k.feeding)}
	s.emit = s.handOver
	k.parts = append(k.parts, s)
	return s
}

func (s *widePart) want(v scan.Visit, m *made) (scan.Want, *merge.Sum) {
	size := s.size.Load()
	m.window, s.target = nil, nil
	if size == 0 {
		return s.Intervals.want(v, m)
	}
	m.alone()
	first, _ := startIn(v, s.Relative)
	at := merge.WindowOf(logline.Millis(first), logline.Millis(first), size)
	s.target = s.open(v, at)
	return scan.Want{Max: true, Counts: len(s.ranks) > 0}, &s.target.Sum
}

func (s *widePart) decoded(v scan.Visit, t *scan.Taken, failed error, m *made) error {
	if s.target == nil {
		return s.Intervals.decoded(v, t, failed, m)
	}
	one := &m.one.Result
	one.First, _ = startIn(v, s.Relative)
	one.add(v, t, failed)
	if s.ranks != nil {
		one.Stats = output.FiguresOf(t.Counts, s.ranks, one.Stats)
	} else {
		one.Stats = output.Stats{Count: t.Count, Max: output.FloatValue(t.Max)}
	}
	s.noteSize(s.target)
	if len(s.ready) > 0 {
		m.window = s.ready[0]
		s.ready = s.ready[1:]
	}
	return nil
}

// handOver makes the counts of a row in a window ready.
func (s *widePart) handOver(window *Window, h *histogram.Histogram) error {
	w := &Window{Window: window.Window}
	w.Row = window.Row
	w.Stats = output.StatsOf(h, nil, output.Stats{})
	s.ready = append(s.ready, w)
	return w.Coarse.AddCoarse(window.Start, window.End, h, s.Digits)
}

func (k *wideState) take(v scan.Visit, m *made) error {
	if err := k.Intervals.take(v, m); err != nil || m.window == nil {
		return err
	}
	return k.EmitCounts(m.window)
}

func (k *wideState) close() (err error) {
	for _, s := range k.parts {
		s.closeAll()
		for _, w := range s.ready {
			err = cmp.Or(err, k.EmitCounts(w))
		}
	}
	return err
}
