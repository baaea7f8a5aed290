package live

import "sync"

// Events are functions that other goroutines post, and that the merger's goroutine calls.
type events struct {
	mu    sync.Mutex
	queue []func()
	wake  chan struct{} // has a value if the queue is not empty
	done  chan struct{} // closed when the merger has ended
}

// post adds a function to the queue.
func (e *events) post(event func()) {
	e.mu.Lock()
	e.queue = append(e.queue, event)
	e.mu.Unlock()
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// handle calls the functions in the queue.
func (e *events) handle() {
	e.mu.Lock()
	queue := e.queue
	e.queue = nil
	e.mu.Unlock()
	for _, event := range queue {
		event()
	}
}
