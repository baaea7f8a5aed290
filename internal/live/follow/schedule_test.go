package follow

import (
	"math/rand/v2"
	"slices"
	"time"
)

// A schedule lets one of its goroutines run at a time. Each gives way before it looks at a file, so
// that a seed decides in which order all of them do.
type schedule struct {
	random *rand.Rand
	all    []*turn
	now    *turn
	steps  int
}

// A turn is a goroutine of a schedule.
type turn struct {
	run   chan struct{}
	share int // of the steps
	ended bool
}

// newSchedule returns a schedule with the goroutine that calls it.
func newSchedule(seed uint64) *schedule {
	s := &schedule{random: rand.New(rand.NewPCG(seed, 2))}
	s.now = &turn{run: make(chan struct{}, 1), share: 1}
	s.all = []*turn{s.now}
	return s
}

// do starts a goroutine, which runs at later steps.
func (s *schedule) do(what func()) *turn {
	t := &turn{run: make(chan struct{}, 1), share: 1}
	s.all = append(s.all, t)
	go func() {
		<-t.run
		what()
		t.ended = true
		s.all = slices.DeleteFunc(s.all, func(other *turn) bool { return other == t })
		s.next()
	}()
	return t
}

// next lets a random goroutine run.
func (s *schedule) next() {
	if s.steps++; s.steps%32 == 0 { // some are much slower for a while
		for _, t := range s.all {
			t.share = 1 << (3 * s.random.IntN(4))
		}
	}
	sum := 0
	for _, t := range s.all {
		sum += t.share
	}
	n := s.random.IntN(sum)
	for _, t := range s.all {
		if n -= t.share; n < 0 {
			s.now = t
			t.run <- struct{}{}
			return
		}
	}
}

// step gives way to others.
func (s *schedule) step() {
	me := s.now
	if s.random.IntN(16) == 0 {
		time.Sleep(time.Millisecond) // the clock of the bubble goes on
	}
	s.next()
	<-me.run
}

// await gives way until a goroutine has ended.
func (s *schedule) await(t *turn) {
	for !t.ended {
		s.step()
	}
}
