package scan

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"hdrkit/internal/base/heap"
)

// lanesOf returns a lane for each input, so that all inputs are read at the same time.
func lanesOf(inputs []Input) (lanes [][]int) {
	for n := range inputs {
		lanes = append(lanes, []int{n})
	}
	return lanes
}

// A timedCursor is the cursor of an input whose intervals are merged by time.
type timedCursor[R any] struct {
	*cursor[R]
	// start is the latest start of the intervals so far, in milliseconds since the epoch. That is
	// the start of the current interval unless lines are out of order.
	start  int64
	before int64 // see [Scan.PassedBefore]
}

func (t *timedCursor[R]) Next() (bool, error) {
	ok, err := t.cursor.Next()
	passed := &t.scan.passed.until[t.inputs[0]]
	if ok {
		if t.start == math.MinInt64 {
			t.scan.Seen.Start = min(t.scan.Seen.Start, t.Visit.LogStart)
		}
		start, end := t.Visit.Span()
		t.start = max(t.start, start)
		t.before = *passed
		*passed = max(*passed, PassedAfter(start, end))
	} else {
		*passed = math.MaxInt64
	}
	return ok, err
}

// runByTime hands over the intervals of all inputs in order of time. Intervals with the same start
// are in the order of the names of their inputs, since the result must not depend on the order in
// which the user gives the inputs.
func runByTime[R any](s *Scan, decode work[R], observe func(Visit), consume func(Visit, *R) error) error {
	lanes := lanesOf(s.Inputs)
	most := max(mergedBatch, largestBatch/max(len(lanes), 1))
	cursors, stop := start(s, lanes, most, decode, observe)
	defer stop()
	s.Seen.Start = math.Inf(1)
	s.passed = passed{until: slices.Repeat([]int64{math.MinInt64}, len(s.Inputs))}
	var queues []*timedCursor[R]
	for _, c := range cursors {
		queues = append(queues, &timedCursor[R]{c, math.MinInt64, math.MinInt64})
	}
	before := func(a, b *timedCursor[R]) bool {
		if a.start != b.start {
			return a.start < b.start
		}
		return cmp.Or(cmp.Compare(a.Visit.Name, b.Visit.Name), cmp.Compare(a.Visit.Input, b.Visit.Input)) < 0
	}
	return heap.InOrder(queues, before, func(t *timedCursor[R]) error {
		s.passed.before = t.before
		return consume(t.Visit, t.Result)
	})
}

// A sortingCursor is the cursor of an input whose lines may be out of order. It reads some results
// ahead, and returns the first of them.
type sortingCursor[R any] struct {
	*cursor[R]
	first    R
	hasFirst bool
	held     *heap.Heap[R] // results after first
	maxHeld  int
	before   func(a, b R) bool // the order of results
}

func (a *sortingCursor[R]) Next() (bool, error) {
	for a.held.Len() <= a.maxHeld {
		ok, err := a.cursor.Next()
		if err != nil {
			return false, err
		}
		if !ok {
			break
		}
		a.held.Push(*a.Result)
	}
	if a.held.Len() == 0 {
		return false, nil
	}
	last := a.first
	a.first = a.held.Pop()
	if a.hasFirst && a.before(a.first, last) {
		return false, fmt.Errorf("%s was written to while it was read", a.scan.Inputs[a.inputs[0]].Name)
	}
	a.hasFirst = true
	return true, nil
}

// RunSorted does what [Run] does, and hands over results in the order of the function before, even
// if the lines of a log are out of order. Held says of each input how many results are held for
// that. Results are copied. All inputs are read at the same time.
func RunSorted[R any](
	s *Scan,
	held []int,
	decode func(d *Decoder, v Visit, result *R) error,
	before func(a, b R) bool,
	consume func(result *R) error,
) error {
	cursors, stop := start(s, lanesOf(s.Inputs), mergedBatch, decode, nil)
	defer stop()
	var queues []*sortingCursor[R]
	for n, c := range cursors {
		queues = append(queues, &sortingCursor[R]{
			cursor:  c,
			held:    heap.New(before),
			maxHeld: held[n],
			before:  before,
		})
	}
	first := func(a, b *sortingCursor[R]) bool { return before(a.first, b.first) }
	return heap.InOrder(queues, first, func(a *sortingCursor[R]) error { return consume(&a.first) })
}
