package series

import "hdrkit/hdrlog/merge"

// A Live makes rows of intervals that were merged before, see package live.
type Live struct {
	maker   *maker
	started bool
}

// NewLive returns a Live. The places that the sink receives say nothing.
func NewLive(o *Options, sink Sink) *Live { return &Live{maker: newMaker(o, sink, new(float64))} }

// Window makes the row of a tag and window. Windows come in order of time. Rows count from the
// start of the log that the first one is of.
func (l *Live) Window(w *merge.Merged) error {
	if !l.started {
		*l.maker.start, l.started = w.LogStart, true
	}
	return l.maker.window(w)
}

// Interval makes the row of an interval that was not merged, with its start relative to its log and
// its length in seconds.
func (l *Live) Interval(w *merge.Merged, relative, length float64) error {
	return l.maker.merged(w, relative, length, length)
}

// Late makes a row of an interval that came after its window. Only its totals have a place in the
// series.
func (l *Live) Late(w *merge.Merged) error {
	return l.maker.late(l.maker.tag(w.Tag), w.Window, &w.Sum)
}
