package logs

import (
	"slices"
	"strconv"
	"strings"

	"hdrkit/internal/base/message"
)

// ParsePercentiles reads the percentiles of -p, such as 50,p99,max.
func ParsePercentiles(text string) (all []float64, err error) {
	for text := range strings.SplitSeq(text, ",") {
		name := strings.ToLower(strings.TrimSpace(text))
		if name == "max" {
			name = "100"
		}
		p, err := strconv.ParseFloat(strings.TrimPrefix(name, "p"), 64)
		if err != nil || !(p >= 0 && p <= 100) {
			return nil, message.Usagef("-p: %q is neither max nor a percentile, which is a number from 0 to 100", text)
		}
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all, nil
}
