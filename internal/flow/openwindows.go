package flow

import (
	"bytes"
	"cmp"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/scan"
)

// openWindows are those of a worker that can still get intervals: one for each row. A window stays
// open until an interval of its row lies in another window, so a batch goes on with the windows of
// the one before.
type openWindows struct {
	worker *worker
	rows   map[string]*Window
	bytes  int // that rows take
	feeds  bool
	emit   func(r *Window, h *histogram.Histogram) error // takes a window that is complete
	counts histogram.Histogram
}

func newOpenWindows(w *worker, feeds bool) openWindows {
	return openWindows{worker: w, rows: make(map[string]*Window), feeds: feeds}
}

// open returns the window that gets an interval. It closes the window that the row had open if that
// is another one.
func (l *openWindows) open(v scan.Visit, at merge.Span) *Window {
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
		l.closeWindow(r)
	}
	r.Window = at
	w.run.compactNew(&r.Sum, l.bytes)
	return r
}

// noteSize takes in that the counts of a row take more memory.
func (l *openWindows) noteSize(r *Window) {
	size := r.Sum.Size()
	l.bytes += size - r.size
	r.size = size
}

// closeWindow hands over the window of a row. The row stays, for the next window.
func (l *openWindows) closeWindow(r *Window) {
	if r.Intervals() == 0 {
		return
	}
	h, err := r.Histogram(&l.counts)
	if err == nil {
		err = l.emit(r, h)
	}
	w := l.worker
	w.err = cmp.Or(w.err, r.fail(err))
	if l.feeds {
		w.feed(r.Row, &r.Sum)
	}
	r.Sum.Reset()
}

// closeAll hands over all windows.
func (l *openWindows) closeAll() {
	for _, r := range l.rows {
		l.closeWindow(r)
	}
}
