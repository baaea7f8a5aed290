// Package heap has a heap of any type, and merges sorted queues.
package heap

// A Heap holds items, the least of them first. Items that are equal come out in any order.
type Heap[T any] struct {
	items []T
	less  func(a, b T) bool
}

// New returns an empty heap in the order of less.
func New[T any](less func(a, b T) bool) *Heap[T] { return &Heap[T]{less: less} }

// Of returns a heap of items, in the order of less. It keeps the slice. This is faster than to push
// each item.
func Of[T any](items []T, less func(a, b T) bool) *Heap[T] {
	h := &Heap[T]{items, less}
	for at := len(items)/2 - 1; at >= 0; at-- {
		h.down(at, items[at])
	}
	return h
}

// Len returns the number of items.
func (h *Heap[T]) Len() int { return len(h.items) }

// First returns the least item. The heap must not be empty.
func (h *Heap[T]) First() T { return h.items[0] }

// Push adds an item.
func (h *Heap[T]) Push(item T) {
	h.items = append(h.items, item)
	at := len(h.items) - 1
	for at > 0 && h.less(item, h.items[(at-1)/2]) {
		h.items[at] = h.items[(at-1)/2]
		at = (at - 1) / 2
	}
	h.items[at] = item
}

// Pop takes the least item out. The heap must not be empty.
func (h *Heap[T]) Pop() T {
	first, n := h.items[0], len(h.items)-1
	last := h.items[n]
	clear(h.items[n:]) // for the garbage collector
	h.items = h.items[:n]
	if n > 0 {
		h.down(0, last)
	}
	return first
}

// Fix restores the order after the first item has changed. The heap must not be empty.
func (h *Heap[T]) Fix() { h.down(0, h.items[0]) }

// down puts an item in the place of another one, and moves it down to its place in the order.
func (h *Heap[T]) down(at int, item T) {
	for {
		child := 2*at + 1
		if child >= len(h.items) {
			break
		}
		if child+1 < len(h.items) && h.less(h.items[child+1], h.items[child]) {
			child++
		}
		if !h.less(h.items[child], item) {
			break
		}
		h.items[at] = h.items[child]
		at = child
	}
	h.items[at] = item
}

// A Queue is a sorted sequence with a current item. Next advances to the next item, and in its
// first call to the first item. It returns false at the end.
type Queue interface{ Next() (bool, error) }

// InOrder merges sorted queues. It calls take with the queue whose current item comes first, again
// and again, until all queues end. It stops at the first error and returns it.
func InOrder[Q Queue](queues []Q, before func(a, b Q) bool, take func(q Q) error) error {
	all := New(before)
	for _, q := range queues {
		if more, err := q.Next(); err != nil {
			return err
		} else if more {
			all.Push(q)
		}
	}
	for all.Len() > 0 {
		q := all.First()
		if err := take(q); err != nil {
			return err
		}
		if more, err := q.Next(); err != nil {
			return err
		} else if more {
			all.Fix()
		} else {
			all.Pop()
		}
	}
	return nil
}
