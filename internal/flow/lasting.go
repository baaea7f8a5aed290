package flow

import (
	"bytes"
	"cmp"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/scan"
)

// A lasting has the window of each row that a worker has not left. The order of such windows makes
// no difference, so they stay for later batches.
type lasting struct {
	worker *worker
	rows   map[string]*Window
	bytes  int // that rows take
	feeds  bool
	left   func(r *Window, h *histogram.Histogram) error // takes what a row had in a window
	counts histogram.Histogram
}

func newLasting(w *worker, feeds bool) lasting {
	return lasting{worker: w, rows: make(map[string]*Window), feeds: feeds}
}

// open returns what gets an interval. It leaves another window of the row.
func (l *lasting) open(v scan.Visit, at merge.Span) *Window {
	w := l.worker
	w.fed = w.fed || l.feeds
	w.key = merge.AppendKey(w.key[:0], v.Row)
	r := l.rows[string(w.key)]
	if r == nil {
		r = windows.Get().(*Window)
		r.Row = bytes.Clone(v.Row)
		r.size = 0
		l.rows[string(w.key)] = r
	} else if r.Window != at {
		l.leave(r)
	}
	r.Window = at
	w.run.compactNew(&r.Sum, l.bytes)
	return r
}

// hold counts what a row has taken.
func (l *lasting) hold(r *Window) {
	size := r.Sum.Size()
	l.bytes += size - r.size
	r.size = size
}

// leave hands over what a row had in a window.
func (l *lasting) leave(r *Window) {
	if r.Intervals() == 0 {
		return
	}
	h, err := r.Histogram(&l.counts)
	if err == nil {
		err = l.left(r, h)
	}
	w := l.worker
	w.err = cmp.Or(w.err, r.fail(err))
	if l.feeds {
		w.feed(r.Row, &r.Sum)
	}
	r.Sum.Reset()
}

// leaveAll hands over what is left at the end.
func (l *lasting) leaveAll() {
	for _, r := range l.rows {
		l.leave(r)
	}
}
