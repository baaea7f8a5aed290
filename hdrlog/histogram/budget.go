package histogram

import (
	"runtime"
	"sync"
)

// A Budget is memory that goroutines share for their big histograms. One of five digits takes up to
// 49 MB, and so does its payload, inflated. Many goroutines that decode or encode logs of unknown
// origin would take that each. Only one that takes more than the whole budget gets more.
type Budget struct {
	turn  sync.Mutex    // taken while a goroutine waits: all wait in a row
	taken chan struct{} // holds one for each megabyte
	mu    sync.Mutex
	freed int // bytes since the last collection of garbage
}

// small is the number of bytes that a goroutine takes without asking.
const small = 8 << 20

// NewBudget returns a budget of some bytes.
func NewBudget(bytes int) *Budget { return &Budget{taken: make(chan struct{}, max(bytes>>20, 1))} }

// Take waits until some bytes are free. It returns false at once if they are few; they must not be
// given back then. A goroutine must give back what it has before it takes again.
func (b *Budget) Take(bytes int) bool {
	if bytes < small {
		return false
	}
	b.turn.Lock()
	defer b.turn.Unlock()
	for range b.units(bytes) {
		b.taken <- struct{}{}
	}
	if bytes>>20 >= cap(b.taken) {
		runtime.GC() // what is taken is more than garbage should add to
	}
	return true
}

func (b *Budget) units(bytes int) int { return min(bytes>>20, cap(b.taken)) }

// Give gives back bytes that were taken. Nothing refers to some of them any more: those freed.
func (b *Budget) Give(bytes, freed int) {
	b.mu.Lock()
	if b.freed += freed; b.freed >= cap(b.taken)<<20/2 {
		b.freed = 0
		runtime.GC() // otherwise the garbage would take as much again
	}
	b.mu.Unlock()
	for range b.units(bytes) {
		<-b.taken
	}
}

// Memory returns about how many bytes the histogram takes.
func (h *Histogram) Memory() int { return 8*cap(h.counts) + cap(h.pages) }

// Memory returns about how many bytes the sum takes.
func (s *Sum) Memory() int { return s.dense.Memory() + cap(s.packed.bytes) }

// Memory returns about how many bytes the decoder takes.
func (d *Decoder) Memory() int {
	return cap(d.packed) + cap(d.raw) + d.counts.Memory() + cap(d.sparse.bytes)
}

// Memory returns about how many bytes the encoder takes.
func (e *Encoder) Memory() int { return cap(e.raw) + cap(e.packed) + e.matched.Cap() }
