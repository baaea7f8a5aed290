package union

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"

	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/heap"
	"hdrkit/internal/scan"
)

// A window is an interval of the result while it is made: of one tag, with all that joins it.
type window struct {
	key        int64 // windows are in order of keys, then of tags
	tagged     *tagged
	start, end int64        // milliseconds
	first      scan.Place   // of the interval that opened it
	extents    scan.Extents // of doubles
	closed     bool

	members []*merge.Sum  // not yet added up
	few     [4]*merge.Sum // the memory of the first of them

	// What follows belongs to the workers.
	adding sync.WaitGroup // counts what is under way
	mu     sync.Mutex
	sum    *merge.Sum
	err    error // of adding up
}

func newWindow(key int64, i *interval) *window {
	w := &window{key: key, tagged: i.tagged, start: i.start, end: i.end, first: i.Place}
	w.members = w.few[:0]
	return w
}

func (w *window) add(i *interval) {
	w.members = append(w.members, i.sum)
	if i.extent.Ratio != 0 {
		w.extents.Add(i.extent, i.Place)
	}
}

// fold adds members to the sum. It returns by how many bytes that has grown.
func (w *window) fold(members []*merge.Sum, spare int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sum == nil {
		w.sum = &merge.Sum{Spare: spare}
	}
	before := w.sum.Size()
	if w.err == nil {
		w.err = w.sum.MergeAll(members)
	}
	return w.sum.Size() - before
}

// compare orders windows by time, then tag. Untagged ones are first.
func (w *window) compare(v *window) int {
	return cmp.Or(cmp.Compare(w.key, v.key), strings.Compare(w.tagged.key, v.tagged.key))
}

// A plan puts intervals, which come in order of their starts, into windows.
type plan interface {
	// put returns the window that i belongs to, a new one perhaps, and appends those to closed that
	// nothing can join any more.
	put(i *interval, closed []*window) (*window, []*window)
	// floor returns the lowest key that a window can have that put or finish did not return yet.
	floor() int64
	// finish returns all windows that are not closed, in order.
	finish() []*window
}

// joining joins intervals as HdrLogProcessing's UnionHistograms does: one joins the open window of
// its tag if it ends in it, or if more than 80% of it lie in it. The window is as long as its first
// interval, or the target if that is longer.
type joining struct {
	target int64 // milliseconds
	open   map[*tagged]*window
	made   []*window // in order of their starts; the first is open
	ends   *heap.Heap[*window]
	now    int64 // the start of the last interval
}

func newJoining(target int64) *joining {
	return &joining{
		target: target, open: make(map[*tagged]*window),
		ends: heap.New(func(a, b *window) bool { return a.end < b.end }),
	}
}

func (j *joining) put(i *interval, closed []*window) (*window, []*window) {
	j.now = i.start
	for j.ends.Len() > 0 && j.ends.First().end <= i.start {
		if w := j.ends.Pop(); !w.closed {
			closed = append(closed, j.close(w))
		}
	}
	w := j.open[i.tagged]
	if w != nil && !w.takes(i) {
		closed = append(closed, j.close(w))
		w = nil
	}
	if w == nil {
		w = newWindow(i.start, i)
		w.end = max(w.end, w.start+j.target)
		j.open[w.tagged] = w
		j.ends.Push(w)
		j.made = append(j.made, w)
	}
	for j.made[0].closed {
		j.made[0] = nil
		j.made = j.made[1:]
	}
	return w, closed
}

// takes reports whether i, which begins before the window ends, joins it.
func (w *window) takes(i *interval) bool {
	return i.end <= w.end || float64(w.end-i.start)/float64(i.end-i.start) > 0.8
}

func (j *joining) close(w *window) *window {
	w.closed = true
	delete(j.open, w.tagged)
	return w
}

func (j *joining) floor() int64 {
	if len(j.made) == 0 {
		return j.now
	}
	return min(j.now, j.made[0].key)
}

func (j *joining) finish() []*window {
	j.made = slices.DeleteFunc(j.made, func(w *window) bool { return w.closed })
	slices.SortFunc(j.made, (*window).compare)
	return slices.Clone(j.made)
}

// grid puts an interval into the window of package merge that it belongs to. What comes out begins
// where the first of its intervals does and ends where the last does. So an interval that nothing
// joins stays the same, and a union of unions is the union of all. Keys are starts of windows.
type grid struct {
	windows merge.Table[window]
	now     int64 // the key of the window that the last interval begins in
}

func newGrid(size int64) *grid { return &grid{windows: merge.NewTable[window](size)} }

func (g *grid) put(i *interval, closed []*window) (*window, []*window) {
	for w := range g.windows.Before(i.start) {
		closed = append(closed, w)
	}
	g.now = merge.WindowOf(i.start, i.start, g.windows.Size()).Start
	w := g.windows.At(i.tagged.tag, i.start, i.end, func(at merge.Window) *window { return newWindow(at.Start, i) })
	w.end = max(w.end, i.end) // it starts where the first of its intervals does
	return w, closed
}

func (g *grid) floor() int64 { return g.now }

func (g *grid) finish() []*window { return slices.Collect(g.windows.Before(math.MaxInt64)) }
