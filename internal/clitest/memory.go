package clitest

import (
	"math"
	"runtime"
)

// InUse returns how many bytes of the heap are in use, the least of several looks: what other
// goroutines take and give up meanwhile does not count. The caller should hold them up.
func InUse() uint64 {
	least := uint64(math.MaxUint64)
	for same := 0; same < 3; same++ {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		if m.HeapAlloc < least {
			least, same = m.HeapAlloc, 0
		}
	}
	return least
}
