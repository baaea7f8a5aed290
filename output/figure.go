package output

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"hdrkit/hdrlog/histogram"
)

// A Figure is a statistic of counts: one of Names or, if that is empty, the value at Percentile.
type Figure struct {
	Name       string
	Percentile float64
}

// The names of figures that are no percentiles.
const (
	Count      = "count"
	Throughput = "throughput" // values per second
	Min        = "min"
	Mean       = "mean"
	Max        = "max"
)

// ParseFigure reads a figure, such as p99.9, 99.9 or max.
func ParseFigure(text string) (f Figure, err error) {
	if slices.Contains([]string{Count, Throughput, Min, Mean, Max}, text) {
		return Figure{Name: text}, nil
	}
	f.Percentile, err = strconv.ParseFloat(strings.TrimPrefix(text, "p"), 64)
	if err != nil || !(f.Percentile >= 0 && f.Percentile <= 100) {
		err = errors.New("neither a percentile from 0 to 100 nor min, mean, max, throughput or count")
	}
	return f, err
}

func (f Figure) String() string {
	if f.Name == "" {
		return "p" + shortest(f.Percentile)
	}
	return f.Name
}

// Unitless reports whether the figure is a number, not a value.
func (f Figure) Unitless() bool { return f.Name == Count || f.Name == Throughput }

// Of returns the figure of counts that were recorded in some seconds. There is no value if nothing
// was recorded.
func (f Figure) Of(s *Stats, seconds float64) Value {
	switch f.Name {
	case Count:
		return countOf(s.Count)
	case Throughput:
		return Value{float: (float64(s.Count) + s.Moved) / seconds}
	case Min:
		return ifAny(s.Count, s.Min)
	case Mean:
		return ifAny(s.Count, Value{float: s.Mean})
	case Max:
		return ifAny(s.Count, s.Max)
	}
	n := slices.IndexFunc(s.Percentiles, func(p PercentileValue) bool { return p.Percentile == f.Percentile })
	return ifAny(s.Count, s.Percentiles[n].Value)
}

// RowFigures are the figures of a row with values at percentiles.
func RowFigures(percentiles []float64) []Figure {
	s := Stats{}
	for _, p := range percentiles {
		s.Percentiles = append(s.Percentiles, PercentileValue{Percentile: p})
	}
	return s.figures(Count, Throughput, Min, Mean)
}

// FiguresOf returns what figures need of h: values at the same percentiles cost one pass, and the
// mean, which takes longer than all else, is there if one of them is that.
func FiguresOf(h *histogram.Histogram, figures []Figure, reuse Stats) Stats {
	percentiles, mean := make([]float64, 0, 16), false
	for _, f := range figures {
		if mean = mean || f.Name == Mean; f.Name == "" {
			percentiles = append(percentiles, f.Percentile)
		}
	}
	if mean {
		return StatsOf(h, percentiles, reuse)
	}
	return RanksOf(h, percentiles, reuse)
}
