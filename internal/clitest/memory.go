package clitest

import (
	"math"
	"runtime"
)

// InUse returns how many bytes of the heap are in use: the least of several measurements, since
// other goroutines may take memory for a short time.
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
