package scan

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"hdrkit/internal/base/heap"
)

// lanesOf returns a lane for each input, to read all at the same time.
func lanesOf(inputs []Input) (lanes [][]int) {
	for n := range inputs {
		lanes = append(lanes, []int{n})
	}
	return lanes
}

// timed is a cursor, and when the interval that it stands at starts. In a log whose lines are out
// of order, that is when the latest one so far starts.
type timed[R any] struct {
	*cursor[R]
	start  int64
	before int64 // see [Scan.PassedBefore]
}

func (t *timed[R]) Next() (bool, error) {
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
// are in the order of the names of their inputs: what they add up to must not depend on the order
// in which somebody gives the inputs.
func runByTime[R any](s *Scan, decode work[R], consume func(Visit, *R) error) error {
	lanes := lanesOf(s.Inputs)
	most := max(aheadBatch, largestBatch/max(len(lanes), 1))
	cursors, stop := start(s, lanes, most, decode)
	defer stop()
	s.Seen.Start = math.Inf(1)
	s.passed = passed{until: slices.Repeat([]int64{math.MinInt64}, len(s.Inputs))}
	var queues []*timed[R]
	for _, c := range cursors {
		queues = append(queues, &timed[R]{c, math.MinInt64, math.MinInt64})
	}
	before := func(a, b *timed[R]) bool {
		if a.start != b.start {
			return a.start < b.start
		}
		return cmp.Or(cmp.Compare(a.Visit.Name, b.Visit.Name), cmp.Compare(a.Visit.Input, b.Visit.Input)) < 0
	}
	return heap.InOrder(queues, before, func(t *timed[R]) error {
		s.passed.before = t.before
		return consume(t.Visit, t.Result)
	})
}

// ahead is a cursor that reads so many results ahead of the first, to have them in order.
type ahead[R any] struct {
	*cursor[R]
	first  R
	begun  bool // first has a result
	held   *heap.Heap[R]
	most   int // that are held
	before func(a, b R) bool
}

func (a *ahead[R]) Next() (bool, error) {
	for a.held.Len() <= a.most {
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
	if a.begun && a.before(a.first, last) {
		return false, fmt.Errorf("%s was written to while it was read", a.scan.Inputs[a.inputs[0]].Name)
	}
	a.begun = true
	return true, nil
}

// RunAhead is [Run] for results that are copied. It hands them over in the order that before says,
// also if the lines of a log are not in order: of each input it holds a number of results to have
// them so. All inputs are read at the same time.
func RunAhead[R any](
	s *Scan,
	held []int,
	decode func(d *Decoder, v Visit, result *R) error,
	before func(a, b R) bool,
	consume func(result *R) error,
) error {
	cursors, stop := start(s, lanesOf(s.Inputs), aheadBatch, decode)
	defer stop()
	var queues []*ahead[R]
	for n, c := range cursors {
		queues = append(queues, &ahead[R]{
			cursor: c,
			held:   heap.New(before),
			most:   held[n],
			before: before,
		})
	}
	first := func(a, b *ahead[R]) bool { return before(a.first, b.first) }
	return heap.InOrder(queues, first, func(a *ahead[R]) error { return consume(&a.first) })
}
