package logs

import (
	"cmp"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/message"
)

// Ledger returns the ledger of a command: the same each time.
//
// The runtime has the same limit for all of the heap, so that garbage is collected sooner near it.
// GOMEMLIMIT overrides that.
func (r *Run) Ledger() *ledger.Ledger {
	if r.ledger == nil {
		limit := cmp.Or(r.Memory, usualMemory)
		if os.Getenv("GOMEMLIMIT") == "" {
			debug.SetMemoryLimit(limit)
		}
		r.ledger = ledger.New(limit)
	}
	return r.ledger
}

// ParseMemory reads the size of -memory.
func ParseMemory(text string) (int64, error) {
	limit, ok := parseBytes(text)
	if !ok || limit < leastMemory {
		return 0, message.Usagef("-memory %q: give a size of at least 64MiB, such as 512MiB or 2GiB", text)
	}
	return limit, nil
}

// leastMemory is enough for a log of ordinary size.
const leastMemory, usualMemory = 64 << 20, 512 << 20

// parseBytes reads a number of bytes, with or without a unit.
func parseBytes(text string) (bytes int64, ok bool) {
	sizes := map[string]float64{
		"": 1, "b": 1, "k": 1 << 10, "kb": 1e3, "kib": 1 << 10, "m": 1 << 20, "mb": 1e6, "mib": 1 << 20, "g": 1 << 30, "gb": 1e9, "gib": 1 << 30,
	}
	end := strings.LastIndexAny(text, "0123456789.") + 1
	size, ok := sizes[strings.ToLower(strings.TrimSpace(text[end:]))]
	n, err := strconv.ParseFloat(strings.TrimSpace(text[:end]), 64)
	n *= size
	return int64(n), ok && err == nil && n >= 0 && n < math.MaxInt64
}
