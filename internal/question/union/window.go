package union

import (
	"cmp"
	"iter"

	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/heap"
	"hdrkit/internal/scan"
	"hdrkit/tags"
)

// A window is an interval of the result that still collects intervals of one tag.
type window struct {
	key        int64 // windows are in the order of keys, then of tags
	tag        []byte
	start, end int64      // in milliseconds
	first      scan.Place // the place of the first interval

	members []*merge.Sum  // intervals that are not added up yet
	few     [4]*merge.Sum // memory for the first members
	sum     *merge.Sum    // intervals that are added up, nil if they are few
	err     error         // the first error of adding up
}

func newWindow(key int64, i *interval) *window {
	w := &window{key: key, tag: i.tag, start: i.start, end: i.end, first: i.Place}
	w.members = w.few[:0]
	return w
}

// compare orders windows by time, then by tag. Windows without a tag come first.
func (w *window) compare(v *window) int {
	return cmp.Or(cmp.Compare(w.key, v.key), tags.Compare(w.tag, v.tag))
}

// A plan puts intervals into windows. Intervals come in the order of their starts.
type plan interface {
	// before removes and returns the windows that no interval can join that starts at a time or
	// later. It returns them in the order of the result.
	before(time int64) iter.Seq[*window]
	// windowFor returns the window of an interval, which it makes if needed.
	windowFor(i *interval) *window
}

// joining is the plan of HdrLogProcessing's UnionHistograms. An interval joins the open window of
// its tag if it ends in the window, or if more than 80% of it lie there. A window is as long as its
// first interval, but at least as long as the target.
type joining struct {
	target int64              // in milliseconds
	open   map[string]*window // the open window of each tag, by [merge.AppendKey]
	key    []byte
	all    *heap.Heap[*window]
}

func newJoining(target int64) *joining {
	return &joining{target: target, open: make(map[string]*window), all: heap.New(func(a, b *window) bool { return a.compare(b) < 0 })}
}

func (j *joining) windowFor(i *interval) *window {
	j.key = merge.AppendKey(j.key[:0], i.tag)
	w := j.open[string(j.key)]
	if w == nil || !w.accepts(i) {
		w = newWindow(i.start, i)
		w.end = max(w.end, w.start+j.target)
		j.open[string(j.key)] = w
		j.all.Push(w)
	}
	return w
}

// accepts reports whether an interval joins the window. The interval does not start before the
// window.
func (w *window) accepts(i *interval) bool {
	return i.start < w.end && (i.end <= w.end || float64(w.end-i.start)/float64(i.end-i.start) > 0.8)
}

func (j *joining) before(time int64) iter.Seq[*window] {
	return func(yield func(*window) bool) {
		for j.all.Len() > 0 {
			w := j.all.First()
			j.key = merge.AppendKey(j.key[:0], w.tag)
			open := j.open[string(j.key)] == w
			if w.key >= time || open && w.end > time {
				return // another window may still come before this one
			}
			j.all.Pop()
			if open {
				delete(j.open, string(j.key))
			}
			if !yield(w) {
				return
			}
		}
	}
}

// grid is the plan with the windows of package merge. An interval of the result begins with its
// first interval and ends with its last one. So an interval that no other one joins stays the same,
// and a union of unions is the union of all logs. The key of a window is its start.
type grid struct{ windows merge.Table[window] }

func (g *grid) windowFor(i *interval) *window {
	w := g.windows.At(i.tag, i.start, i.end, func(at merge.Span) *window { return newWindow(at.Start, i) })
	w.end = max(w.end, i.end) // the start is that of the first interval
	return w
}

func (g *grid) before(time int64) iter.Seq[*window] { return g.windows.Before(time) }
