package union

import (
	"cmp"
	"iter"

	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/heap"
	"hdrkit/internal/scan"
	"hdrkit/tags"
)

// A window is an interval of the result while it is made: of one tag, with all that joins it.
type window struct {
	key        int64 // windows are in order of keys, then of tags
	tag        []byte
	start, end int64      // milliseconds
	first      scan.Place // place of the interval that opened it

	members []*merge.Sum  // sums that are not added up yet
	few     [4]*merge.Sum // the memory of the first of them
	sum     *merge.Sum    // of the others, if there are many
	err     error         // the first error of adding up
}

func newWindow(key int64, i *interval) *window {
	w := &window{key: key, tag: i.tag, start: i.start, end: i.end, first: i.Place}
	w.members = w.few[:0]
	return w
}

// compare orders windows by time, then tag. Untagged ones are first.
func (w *window) compare(v *window) int {
	return cmp.Or(cmp.Compare(w.key, v.key), tags.Compare(w.tag, v.tag))
}

// A plan puts intervals, which come in order of their starts, into windows.
type plan interface {
	// before takes out the windows that no interval can join that starts at a time or later. They
	// are in the order of the result.
	before(time int64) iter.Seq[*window]
	// put returns the window that i belongs to, a new one perhaps.
	put(i *interval) *window
}

// joining joins intervals as HdrLogProcessing's UnionHistograms does: one joins the open window of
// its tag if it ends in it, or if more than 80% of it lie in it. The window is as long as its first
// interval, or the target if that is longer.
type joining struct {
	target int64              // milliseconds
	open   map[string]*window // by [merge.AppendKey]
	key    []byte
	all    *heap.Heap[*window]
}

func newJoining(target int64) *joining {
	return &joining{target: target, open: make(map[string]*window), all: heap.New(func(a, b *window) bool { return a.compare(b) < 0 })}
}

func (j *joining) put(i *interval) *window {
	j.key = merge.AppendKey(j.key[:0], i.tag)
	w := j.open[string(j.key)]
	if w == nil || !w.takes(i) {
		w = newWindow(i.start, i)
		w.end = max(w.end, w.start+j.target)
		j.open[string(j.key)] = w
		j.all.Push(w)
	}
	return w
}

// takes reports whether i, which does not begin before the window, joins it.
func (w *window) takes(i *interval) bool {
	return i.start < w.end && (i.end <= w.end || float64(w.end-i.start)/float64(i.end-i.start) > 0.8)
}

func (j *joining) before(time int64) iter.Seq[*window] {
	return func(yield func(*window) bool) {
		for j.all.Len() > 0 {
			w := j.all.First()
			j.key = merge.AppendKey(j.key[:0], w.tag)
			open := j.open[string(j.key)] == w
			if w.key >= time || open && w.end > time {
				return // a window with a lower key, or of a tag before, may come
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

// grid puts an interval into the window of package merge that it belongs to. What comes out begins
// where the first of its intervals does and ends where the last does. So an interval that nothing
// joins stays the same, and a union of unions is the union of all. Keys are starts of windows.
type grid struct{ windows merge.Table[window] }

func (g *grid) put(i *interval) *window {
	w := g.windows.At(i.tag, i.start, i.end, func(at merge.Span) *window { return newWindow(at.Start, i) })
	w.end = max(w.end, i.end) // it starts where the first of its intervals does
	return w
}

func (g *grid) before(time int64) iter.Seq[*window] { return g.windows.Before(time) }
