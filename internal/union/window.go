package union

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
	"sync"

	"hdrkit/hdrlog/histogram"
)

// A window is an interval of the result while it is made: of one tag, with all that joins it.
type window struct {
	key        int64 // what windows are in order of, and by tag where it is the same
	tagged     *tagged
	start, end int64    // milliseconds
	first      interval // the one that opened it
	count      int      // how many joined
	closed     bool

	members []member  // not yet added up
	few     [4]member // the memory of the first of them

	// What follows belongs to the workers.
	adding sync.WaitGroup // counts what is under way
	mu     sync.Mutex
	sum    *histogram.Histogram
}

// A member is a payload, inflated, of an interval that joined a window, and the memory of that.
type member struct {
	plain  []byte
	memory *memory
}

func (w *window) add(i *interval) {
	if w.count++; w.count == 1 {
		w.members = w.few[:0]
	}
	w.members = append(w.members, member{i.plain, i.memory})
}

// compare orders windows by time, then tag. Untagged ones are first.
func (w *window) compare(v *window) int {
	return cmp.Or(cmp.Compare(w.key, v.key), strings.Compare(w.tagged.key, v.tagged.key))
}

// A plan puts intervals, which come in order of their starts, into windows.
type plan interface {
	// put returns the window that i belongs to, a new one perhaps, and appends those to closed that nothing can join
	// any more.
	put(i *interval, closed []*window) (*window, []*window)
	// floor returns a key that no window has which is not closed yet.
	floor() int64
	// finish returns all windows that are not closed.
	finish() []*window
}

func newWindow(key int64, i *interval) *window {
	return &window{key: key, tagged: i.tagged, start: i.start, end: i.end, first: *i}
}

// joining joins intervals as HdrLogProcessing's UnionHistograms does: one joins the open window of its tag if it ends in
// it, or if more than 80% of it lie in it. The window is as long as its first interval, or the target if that is longer.
type joining struct {
	target int64 // milliseconds
	open   map[*tagged]*window
	made   []*window // in order of their starts, the first of which is open
	ends   byEnd
	now    int64 // the start of the last interval
}

func newJoining(target int64) *joining {
	return &joining{target: target, open: make(map[*tagged]*window)}
}

func (j *joining) put(i *interval, closed []*window) (*window, []*window) {
	j.now = i.start
	for len(j.ends) > 0 && j.ends[0].end <= i.start {
		if w := heap.Pop(&j.ends).(*window); !w.closed {
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
		heap.Push(&j.ends, w)
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
	var open []*window
	for _, w := range j.made {
		if !w.closed {
			open = append(open, w)
		}
	}
	slices.SortFunc(open, (*window).compare)
	return open
}

// byEnd is a heap of windows, the one that ends first on top.
type byEnd []*window

func (h byEnd) Len() int           { return len(h) }
func (h byEnd) Less(i, j int) bool { return h[i].end < h[j].end }
func (h byEnd) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *byEnd) Push(w any)        { *h = append(*h, w.(*window)) }
func (h *byEnd) Pop() any {
	last := (*h)[len(*h)-1]
	(*h)[len(*h)-1] = nil
	*h = (*h)[:len(*h)-1]
	return last
}

// grid puts an interval into the window [k*size, (k+1)*size) of absolute time that its middle lies in. What comes out
// begins where the first of its intervals does and ends where the last does. Its middle lies in the window again: it is
// no later than that of the interval that ends last, and no earlier than that of the one that begins first. So an interval
// that nothing joins stays what it is, and a union of unions is the union of all.
type grid struct {
	size    int64 // milliseconds
	windows map[int64]map[*tagged]*window
	keys    keys
	now     int64 // the window that the last interval begins in
}

func newGrid(size int64) *grid {
	return &grid{size: size, windows: make(map[int64]map[*tagged]*window)}
}

func (g *grid) put(i *interval, closed []*window) (*window, []*window) {
	g.now = floorDiv(i.start, g.size)
	for len(g.keys) > 0 && g.keys[0] < g.now {
		closed = append(closed, g.close()...)
	}
	key := floorDiv(i.start+i.end, 2*g.size)
	if g.windows[key] == nil {
		g.windows[key] = make(map[*tagged]*window)
		heap.Push(&g.keys, key)
	}
	w := g.windows[key][i.tagged]
	if w == nil {
		w = newWindow(key, i)
		g.windows[key][i.tagged] = w
	}
	w.end = max(w.end, i.end) // it starts where the first of its intervals does
	return w, closed
}

// close closes the earliest windows and returns them by tag.
func (g *grid) close() []*window {
	key := heap.Pop(&g.keys).(int64)
	var closed []*window
	for _, w := range g.windows[key] {
		closed = append(closed, w)
	}
	delete(g.windows, key)
	slices.SortFunc(closed, (*window).compare)
	return closed
}

func (g *grid) floor() int64 { return g.now }

func (g *grid) finish() []*window {
	var open []*window
	for len(g.keys) > 0 {
		open = append(open, g.close()...)
	}
	return open
}

// keys is a heap, the least on top.
type keys []int64

func (h keys) Len() int           { return len(h) }
func (h keys) Less(i, j int) bool { return h[i] < h[j] }
func (h keys) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *keys) Push(k any)        { *h = append(*h, k.(int64)) }
func (h *keys) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// floorDiv divides, rounding down where Go rounds to zero. B is positive.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
