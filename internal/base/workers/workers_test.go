package workers_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"hdrkit/internal/base/workers"
)

// count is a job: double n.
type count struct{ n, doubled int }

func double(_ int, jobs func(yield func(*count) bool)) {
	for c := range jobs {
		c.doubled = 2 * c.n
	}
}

// TestOrder checks that items come back in order, whatever worker has them, and that the end of a
// lane has its error.
func TestOrder(t *testing.T) {
	failed := errors.New("failed")
	const items = 1000
	pool := workers.Start(3, double)
	defer pool.Stop()
	var lanes []*workers.Lane[count]
	for range 2 {
		lanes = append(lanes, pool.Open(4, true, func(l *workers.Lane[count]) error {
			for n := range items {
				item := l.Empty()
				item.Value.n = n
				if !l.Put(item) {
					return workers.ErrStopped
				}
			}
			return failed
		}))
	}
	for n := range items {
		for _, l := range lanes {
			item := l.Take()
			if item == nil || item.Value.n != n || item.Value.doubled != 2*n {
				t.Fatalf("%d: %+v", n, item)
			}
			l.Free(item)
		}
	}
	for _, l := range lanes {
		if item := l.Take(); item != nil || l.Err() != failed {
			t.Errorf("at the end: %+v, %v", item, l.Err())
		}
	}
}

// TestStop checks that a pool stops while a lane waits for an empty item or for a worker, and that
// nobody waits for a lane that does not want that.
func TestStop(t *testing.T) {
	var filled atomic.Int32
	fill := func(l *workers.Lane[count]) error {
		for {
			item := l.Empty()
			if item == nil || !l.Put(item) {
				filled.Add(1)
				return workers.ErrStopped
			}
		}
	}
	pipe := make(chan struct{})
	pool := workers.Start(1, double)
	lanes := []*workers.Lane[count]{pool.Open(2, true, fill), pool.Open(2, true, fill)}
	pool.Open(2, false, func(*workers.Lane[count]) error {
		<-pipe
		return nil
	})
	lanes[0].Take()
	pool.Stop()
	if filled.Load() != 2 {
		t.Errorf("%d lanes have ended", filled.Load())
	}
	close(pipe)
	for lanes[0].Take() != nil {
		// An item that was ready may be taken.
	}
}

// TestSettle checks that all items are cleared once they are back.
func TestSettle(t *testing.T) {
	pool := workers.Start(2, double)
	defer pool.Stop()
	lane := pool.Open(3, true, func(l *workers.Lane[count]) error {
		for n := range 3 {
			item := l.Empty()
			item.Value.n = n + 1
			l.Put(item)
		}
		l.Settle(func(c *count) { c.n = 0 })
		for range 3 {
			item := l.Empty()
			if item.Value.n != 0 {
				return errors.New("an item is not cleared")
			}
			l.Free(item)
		}
		return nil
	})
	for item := lane.Take(); item != nil; item = lane.Take() {
		if item.Value.doubled == 0 {
			t.Error("an item is cleared before it was taken")
		}
		lane.Free(item)
	}
	if err := lane.Err(); err != nil {
		t.Error(err)
	}
}
