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

// Ledger returns the ledger of the command, which limits its memory. All calls return the same one.
//
// The first call gives Go's runtime the same limit for the whole heap, so that it collects garbage
// sooner near the limit. The variable GOMEMLIMIT overrides that.
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

// ParseMemory parses the size of -memory, and returns it in bytes.
func ParseMemory(text string) (int64, error) {
	limit, ok := parseBytes(text)
	if !ok || limit < minMemory {
		return 0, message.Usagef("-memory %q: give a size of at least 64MiB, such as 512MiB or 2GiB", text)
	}
	return limit, nil
}

// The smallest value and the default of -memory, in bytes. A log of ordinary size needs less than
// minMemory.
const minMemory, usualMemory = 64 << 20, 512 << 20

// parseBytes parses a number of bytes, with or without a unit.
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
