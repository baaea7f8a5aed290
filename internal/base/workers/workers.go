// Package workers has several goroutines work on items, and returns the items in order.
//
// One goroutine fills the items of a [Lane]. The workers of a [Pool] work on the items of all
// lanes. The owner of a lane takes the items again in the order in which they were filled, and
// frees them to be filled again. So a lane never has more items than its depth.
package workers

import (
	"errors"
	"sync"
)

// ErrStopped is the error of a lane whose pool was stopped.
var ErrStopped = errors.New("stopped")

// A Pool has goroutines, called workers, that work on items.
type Pool[T any] struct {
	jobs    chan *Item[T]
	stopped chan struct{}
	running sync.WaitGroup
}

// An Item holds a value that a worker works on. It belongs to one goroutine at a time.
type Item[T any] struct {
	Value T
	ready chan struct{}
}

// Start starts a number of workers. Each of them calls run with its number, from 0. run works on
// all items that jobs yields.
func Start[T any](workers int, run func(worker int, jobs func(yield func(*T) bool))) *Pool[T] {
	p := &Pool[T]{jobs: make(chan *Item[T]), stopped: make(chan struct{})}
	for n := range workers {
		p.running.Go(func() { run(n, p.items) })
	}
	return p
}

// items yields the items for one worker, until the pool is stopped.
func (p *Pool[T]) items(yield func(*T) bool) {
	for {
		select {
		case <-p.stopped:
			return
		case item := <-p.jobs:
			more := yield(&item.Value)
			item.ready <- struct{}{}
			if !more {
				return
			}
		}
	}
}

// Stop ends the workers and the lanes. It waits for the workers, and for the lanes that were opened
// with wait.
func (p *Pool[T]) Stop() {
	close(p.stopped)
	p.running.Wait()
}

// A Lane is a queue of items that are filled one after another.
type Lane[T any] struct {
	pool  *Pool[T]
	queue chan *Item[T] // the filled items, in order; it has room for all items
	free  chan *Item[T] // the items to fill
	err   error         // the result of fill, once queue is closed
}

// Open opens a lane of at most depth items, and calls fill on a goroutine of its own. Stop waits
// for that goroutine if wait is set. A lane that reads a pipe is opened without wait, since the
// pipe may never have more to read.
func (p *Pool[T]) Open(depth int, wait bool, fill func(l *Lane[T]) error) *Lane[T] {
	l := &Lane[T]{
		pool:  p,
		queue: make(chan *Item[T], depth),
		free:  make(chan *Item[T], depth),
	}
	for range depth {
		l.free <- &Item[T]{ready: make(chan struct{}, 1)}
	}
	run := func() {
		defer close(l.queue)
		l.err = fill(l)
	}
	if wait {
		p.running.Go(run)
	} else {
		go run()
	}
	return l
}

// Empty waits until an item is free, and returns it to be filled. It returns nil if the pool is
// stopped.
func (l *Lane[T]) Empty() *Item[T] {
	select {
	case <-l.pool.stopped:
		return nil
	case item := <-l.free:
		return item
	}
}

// Put hands a filled item to a worker. It returns false if the pool is stopped.
func (l *Lane[T]) Put(item *Item[T]) bool {
	l.queue <- item
	select {
	case <-l.pool.stopped:
		return false
	case l.pool.jobs <- item:
		return true
	}
}

// Settle waits until all items are free, and calls clear for each. It returns false if the pool is
// stopped. Only fill may call it, and must not hold an item then.
func (l *Lane[T]) Settle(clear func(*T)) bool {
	all := make([]*Item[T], cap(l.free))
	for n := range all {
		if all[n] = l.Empty(); all[n] == nil {
			return false
		}
	}
	for _, item := range all {
		clear(&item.Value)
		l.free <- item
	}
	return true
}

// Take returns the next item once a worker has worked on it. It returns nil at the end of the lane,
// and if the pool is stopped.
func (l *Lane[T]) Take() *Item[T] {
	var item *Item[T]
	select {
	case item = <-l.queue:
	case <-l.pool.stopped:
	}
	if item == nil {
		return nil
	}
	select {
	case <-item.ready:
		return item
	case <-l.pool.stopped: // no worker will work on it
		return nil
	}
}

// Free gives an item back, to be filled again.
func (l *Lane[T]) Free(item *Item[T]) { l.free <- item }

// Err returns the error of fill. It is valid once Take has returned nil at the end of the lane.
func (l *Lane[T]) Err() error { return l.err }
