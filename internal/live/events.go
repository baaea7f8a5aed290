package live

import "sync"

// Events are functions of other goroutines that the merger's goroutine calls.
type events struct {
	mu    sync.Mutex
	queue []func()
	wake  chan struct{} // has one if there are some
	done  chan struct{} // closed when the merger has ended
}

func (e *events) post(event func()) {
	e.mu.Lock()
	e.queue = append(e.queue, event)
	e.mu.Unlock()
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// handle does what was posted.
func (e *events) handle() {
	e.mu.Lock()
	queue := e.queue
	e.queue = nil
	e.mu.Unlock()
	for _, event := range queue {
		event()
	}
}
