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

// Wide is the flow that does what [Intervals] does, but adds up the counts of a row in windows. It
// needs [Rows] before it.
type Wide struct {
	Intervals Intervals
	// Size is the size of windows in milliseconds. As long as it is 0, each result has its counts.
	// The caller may set it while the flow runs. Later results have no Coarse, no minimum and no
	// mean, since these take all counts.
	Size *atomic.Int64
	// EmitCounts takes the counts of a row in a window, or in a part of it. The results of these
	// intervals came without counts, perhaps long before.
	EmitCounts func(w *Window) error
}

// A wideState is a [Wide] while it runs.
type wideState struct {
	flow        *Wide
	number      int             // of its differences, see [newDifferences]
	percentiles []output.Figure // among the figures
	shares      []*wideShare
}

// A wideShare adds up the counts of a worker in windows.
type wideShare struct {
	state    *wideState
	windows  *differences
	separate bool      // the result of the current interval has its counts, and no window has them
	ready    []*Window // for the state
}

func (k *Wide) start(r *run) state {
	r.rowBytes += rowBytes
	if k.Size == nil {
		k.Size = new(atomic.Int64)
	}
	all := &wideState{flow: k, number: r.differences}
	r.differences++
	for _, f := range k.Intervals.Figures {
		if f.Name == "" {
			all.percentiles = append(all.percentiles, f)
		}
	}
	return all
}

func (k *wideState) newShare(w *worker) share {
	s := &wideShare{state: k}
	s.windows = newDifferences(w, k.number, math.MaxInt, s.handOver)
	k.shares = append(k.shares, s)
	return s
}

func (s *wideShare) beginBatch() {}

func (s *wideShare) target(v scan.Visit, p *partial) (sum *merge.Sum, needsCounts bool) {
	p.window = nil
	k := s.state.flow
	size := k.Size.Load()
	s.separate = true
	if size > 0 {
		first, _ := startIn(v, k.Intervals.Relative)
		s.separate = !s.windows.open(v, merge.WindowOf(logline.Millis(first), logline.Millis(first), size))
	}
	if s.separate {
		return k.Intervals.target(v, p)
	}
	p.emptySingle()
	return nil, s.state.percentiles != nil
}

func (s *wideShare) add(v scan.Visit, d *scan.Decoder, failed error, p *partial) (err error) {
	if len(s.ready) > 0 {
		p.window = s.ready[0]
		s.ready = s.ready[1:]
	}
	k := s.state.flow
	if s.separate {
		return k.Intervals.add(v, d, failed, p)
	}
	if failed == nil {
		s.windows.add(v)
	}
	r := &p.single.Result
	r.First, _ = startIn(v, k.Intervals.Relative)
	r.note(v, d, failed)
	r.Stats, err = figuresOf(d, s.state.percentiles, r.Stats)
	return err
}

// handOver queues what a row recorded in a window for the state.
func (s *wideShare) handOver(r *Row, o *openWindow, h *histogram.Histogram) error {
	w := &Window{Window: o.window}
	w.Row = r.Row
	w.Stats = output.StatsOf(h, nil, output.Stats{})
	s.ready = append(s.ready, w)
	return w.Coarse.AddCoarse(o.ran.Start, o.ran.End, h, s.state.flow.Intervals.Digits)
}

func (k *wideState) consume(v scan.Visit, p *partial) error {
	if err := k.flow.Intervals.consume(v, p); err != nil || p.window == nil {
		return err
	}
	return k.flow.EmitCounts(p.window)
}

func (k *wideState) close() (err error) {
	for _, s := range k.shares {
		for _, w := range s.ready {
			err = cmp.Or(err, k.flow.EmitCounts(w))
		}
	}
	return err
}
