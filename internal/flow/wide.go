package flow

import (
	"cmp"
	"sync/atomic"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/scan"
	"hdrkit/output"
)

// Wide are intervals whose counts workers add up in windows, once Size is above 0. From then on the
// results lack what takes all counts: Coarse, the minimum and the mean. Left takes that of a row in
// a window, or in a part of it, which may be long after the intervals.
type Wide struct {
	Intervals
	Size *atomic.Int64
	Left func(w *Window) error
}

type wideKind struct {
	*Wide
	ranks  []output.Figure // those at percentiles
	feeds  bool
	shares []*wideShare
}

type wideShare struct {
	*wideKind
	lasting
	to   *Window // nil if the interval has its counts
	left []*Window
}

func (k *Wide) start(r *run) kind {
	r.rowBytes += rowBytes
	all := &wideKind{Wide: k}
	for _, f := range k.Figures {
		if f.Name == "" {
			all.ranks = append(all.ranks, f)
		}
	}
	return all
}

func (k *wideKind) feed() { k.feeds = true }

func (k *wideKind) share(w *worker) share {
	s := &wideShare{wideKind: k, lasting: newLasting(w, k.feeds)}
	s.lasting.left = s.handOver
	k.shares = append(k.shares, s)
	return s
}

func (s *wideShare) want(v scan.Visit, m *made) (scan.Want, *merge.Sum) {
	size := s.Size.Load()
	m.window, s.to = nil, nil
	if size == 0 {
		return s.Intervals.want(v, m)
	}
	m.alone()
	first, _ := from(v, s.Relative)
	at := merge.WindowOf(hdrlog.Millis(first), hdrlog.Millis(first), size)
	s.to = s.open(v, at)
	return scan.Want{Max: true, Counts: len(s.ranks) > 0}, &s.to.Sum
}

func (s *wideShare) took(v scan.Visit, t *scan.Taken, failed error, m *made) error {
	if s.to == nil {
		return s.Intervals.took(v, t, failed, m)
	}
	one := &m.one.Result
	one.First, _ = from(v, s.Relative)
	one.add(v, t, failed)
	if s.ranks != nil {
		one.Stats = output.FiguresOf(t.Counts, s.ranks, one.Stats)
	} else {
		one.Stats = output.Stats{Count: t.Count, Max: output.FloatValue(t.Max)}
	}
	s.hold(s.to)
	if len(s.left) > 0 {
		m.window, s.left = s.left[0], s.left[1:]
	}
	return nil
}

// handOver has what a row had in a window handed over.
func (s *wideShare) handOver(r *Window, h *histogram.Histogram) error {
	w := &Window{Window: r.Window}
	w.Row = r.Row
	w.Stats = output.StatsOf(h, nil, output.Stats{})
	s.left = append(s.left, w)
	return w.Coarse.AddCoarse(r.Start, r.End, h, s.Digits)
}

func (k *wideKind) take(v scan.Visit, m *made) error {
	if err := k.Intervals.take(v, m); err != nil || m.window == nil {
		return err
	}
	return k.Left(m.window)
}

func (k *wideKind) close() (err error) {
	for _, s := range k.shares {
		s.leaveAll()
		for _, w := range s.left {
			err = cmp.Or(err, k.Left(w))
		}
	}
	return err
}
