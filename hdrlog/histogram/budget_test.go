package histogram

import (
	"sync"
	"sync/atomic"
	"testing"
)

// TestBudget proves that goroutines never have more than the budget together, and that one that
// takes more than all of it is alone.
func TestBudget(t *testing.T) {
	t.Parallel()
	const all = 40 << 20
	b := NewBudget(all)
	var taken atomic.Int64
	var wait sync.WaitGroup
	for n := range 8 {
		wait.Go(func() {
			size := (10 + 10*n%50) << 20
			for range 100 {
				if !b.Take(size) {
					t.Errorf("%d bytes are few", size)
				}
				if now := taken.Add(int64(size)); now > max(all, int64(size)) {
					t.Errorf("%d bytes are taken", now)
				}
				taken.Add(-int64(size))
				b.Give(size, 0)
			}
		})
	}
	wait.Wait()
	if b.Take(1 << 10) {
		t.Error("a kilobyte was taken from the budget")
	}
}
