package measure

import (
	"runtime"
	"testing"
)

// TestIsLogSmall: to look at the beginning of a file takes little memory. A folder may have 100,000
// small logs, which a reader with the usual batches takes most of the time for.
func TestIsLogSmall(t *testing.T) {
	begin := []byte("#[Histogram log format version 1.3]\n")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		if !IsLog(begin) {
			t.Fatal("no log")
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / 100; each > 64<<10 {
		t.Errorf("%d bytes for each file", each)
	}
}
