package cli

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"hdrkit/internal/base/ledger"
)

// Memory returns the ledger of a command: the same each time.
//
// The runtime has the same limit for all of the heap, so that garbage is collected sooner near it.
// GOMEMLIMIT overrides that.
func Memory(c *cli.Context) (*ledger.Ledger, error) {
	const key = "memory"
	if l, ok := c.App.Metadata[key].(*ledger.Ledger); ok {
		return l, nil
	}
	limit, ok := parseBytes(c.String("memory"))
	if !ok || limit < leastMemory {
		return nil, Usagef("-memory %q: give a size of at least 64MiB, such as 512MiB or 2GiB", c.String("memory"))
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
	l := ledger.New(limit)
	if c.App.Metadata == nil {
		c.App.Metadata = make(map[string]any)
	}
	c.App.Metadata[key] = l
	return l, nil
}

// leastMemory is enough for a log of ordinary size.
const leastMemory = 64 << 20

// parseBytes reads a number of bytes, with or without a unit.
func parseBytes(text string) (bytes int64, ok bool) {
	units := []struct {
		name  string
		bytes float64
	}{{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"b", 1}, {"", 1}}
	for _, unit := range units {
		number, found := strings.CutSuffix(strings.ToLower(text), unit.name)
		if !found {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		n *= unit.bytes
		return int64(n), err == nil && n >= 0 && n < math.MaxInt64
	}
	return 0, false
}
