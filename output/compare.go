package output

import (
	"math"
	"strconv"
)

// A Pair is the summary of a tag before and after, nil where there is none.
type Pair struct {
	Tag           []byte
	Before, After *Summary
	// Change says how far the change can be believed. It is nil if nobody asked, or if a side has
	// no confidence.
	Change *Change
}

// A figure is a statistic of a summary.
type figure struct {
	name string
	of   func(s *Summary) float64
	// any is set if the figure exists without values, too.
	any bool
}

// ifAny returns the figure of s, not a number if there is none.
func (f *figure) ifAny(s *Summary) float64 {
	if s == nil || !f.any && s.Counts().TotalCount() == 0 {
		return math.NaN()
	}
	return f.of(s)
}

func figures(scale Scale, percentiles []float64) []figure {
	all := []figure{
		{"count", func(s *Summary) float64 { return float64(s.Counts().TotalCount()) }, true},
		{"per second", (*Summary).Throughput, true},
		{"min", func(s *Summary) float64 { return scale.By(s.Factor).value(s.Counts(), s.Counts().Min()) }, false},
		{"mean", func(s *Summary) float64 { return scale.By(s.Factor).of(s.Counts().Mean()) }, false},
	}
	for _, p := range percentiles {
		all = append(all, figure{shortest(p) + "%", func(s *Summary) float64 {
			return scale.By(s.Factor).value(s.Counts(), s.Counts().ValueAtPercentile(p))
		}, false})
	}
	return append(all, figure{"max", func(s *Summary) float64 { return scale.By(s.Factor).value(s.Counts(), s.Counts().Max()) }, false})
}

// change returns the change from a to b in percent.
func change(a, b float64) string {
	percent := (b - a) / a * 100
	if math.IsNaN(percent) || math.IsInf(percent, 0) {
		if a == b {
			return "+0.0%"
		}
		return "-"
	}
	text := strconv.FormatFloat(percent, 'f', 1, 64)
	if percent > -0.05 {
		text = "+" + strconv.FormatFloat(math.Abs(percent), 'f', 1, 64)
	}
	return text + "%"
}
