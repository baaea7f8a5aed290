package union

// inOrder has next fill items, several goroutines work on them, and done take them in the order in
// which they were filled. Items are used again. Next and done each run on one goroutine, done on
// the caller's. It ends when next returns false, or when done returns an error, which it returns.
func inOrder[T any](workers int, next func(*T) bool, work func(worker int, item *T), done func(*T) error) error {
	if workers <= 1 {
		var item T
		for next(&item) {
			work(0, &item)
			if err := done(&item); err != nil {
				return err
			}
		}
		return nil
	}

	type slot struct {
		item  T
		ready chan struct{}
	}
	slots := 2*workers + 1
	free, jobs, order := make(chan *slot, slots), make(chan *slot, slots), make(chan *slot, slots)
	for range slots {
		free <- &slot{ready: make(chan struct{}, 1)}
	}
	stop := make(chan struct{})
	go func() {
		defer close(jobs)
		defer close(order)
		for {
			select {
			case <-stop:
				return
			case s := <-free:
				if !next(&s.item) {
					return
				}
				order <- s
				jobs <- s
			}
		}
	}()
	for worker := range workers {
		go func() {
			for s := range jobs {
				work(worker, &s.item)
				s.ready <- struct{}{}
			}
		}()
	}
	var err error
	for s := range order {
		<-s.ready
		if err != nil {
			continue // wait for what is under way, so that no worker outlives this
		}
		if err = done(&s.item); err != nil {
			close(stop)
			continue
		}
		free <- s
	}
	return err
}
