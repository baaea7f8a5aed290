package output

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/counts"
	"hdrkit/internal/base/people"
	"hdrkit/internal/base/unit"
)

// A Figure is a statistic of counts, such as the mean or a percentile. If Name is empty, it is the
// value at Percentile.
type Figure struct {
	Name       string
	Percentile float64 // 0 to 100
	// Above is the threshold of [Over] and [Apdex], in the unit with the name Unit. If Unit is
	// empty, it is in printed units.
	Above float64
	Unit  string
}

// Names of figures that are not percentiles.
const (
	Count      = "count"
	Throughput = "throughput" // values per second
	Min        = "min"
	Mean       = "mean"
	Max        = "max"
	Over       = "over"  // share of the values above a threshold, in percent
	Apdex      = "apdex" // 0 to 1: values up to a threshold count 1, values up to four times the threshold 0.5
)

// named lists the figures of [Stats] that are not percentiles. To add a figure, add an entry: it is
// then available for limits and -sort.
var named = []struct {
	name     string
	unitless bool // the figure is a number, not a value with a unit
	of       func(s *Stats, seconds float64) Value
}{
	{Min, false, func(s *Stats, _ float64) Value { return ifAny(s.Count, s.Min) }},
	{Mean, false, func(s *Stats, _ float64) Value { return ifAny(s.Count, Value{float: s.Mean}) }},
	{Max, false, func(s *Stats, _ float64) Value { return ifAny(s.Count, s.Max) }},
	{Throughput, true, func(s *Stats, seconds float64) Value { return Value{float: (float64(s.Count) + s.Moved) / seconds} }},
	{Count, true, func(s *Stats, _ float64) Value { return countOf(s.Count) }},
}

// AtPercentile returns the figure for the value at a percentile, or the maximum from 100 on.
func AtPercentile(percentile float64) Figure {
	if percentile >= 100 {
		return Figure{Name: Max}
	}
	return Figure{Percentile: percentile}
}

// Rank returns the percentile of the figure: 0 for the minimum, and 100 for the maximum. It returns
// false for a figure that is not a percentile.
func (f Figure) Rank() (percentile float64, ok bool) {
	switch f.Name {
	case "":
		return f.Percentile, true
	case Min:
		return 0, true
	case Max:
		return 100, true
	}
	return 0, false
}

// ParseFigure returns the figure that a text such as p99.9, 99.9, max or over(20ms) names.
func ParseFigure(text string) (f Figure, err error) {
	for _, name := range []string{Over, Apdex} {
		if above, ok := strings.CutPrefix(text, name+"("); ok && strings.HasSuffix(above, ")") {
			value, in, err := unit.ParseValue(strings.TrimSuffix(above, ")"))
			return Figure{Name: name, Above: value, Unit: in.String()}, err
		}
	}
	var names []string
	for _, figure := range named {
		if figure.name == text {
			return Figure{Name: text}, nil
		}
		names = append(names, figure.name)
	}
	f.Percentile, err = strconv.ParseFloat(strings.TrimPrefix(text, "p"), 64)
	if err != nil || !(f.Percentile >= 0 && f.Percentile <= 100) {
		err = fmt.Errorf("%q is neither a percentile from 0 to 100 nor %s, over(VALUE) or apdex(VALUE)%s", text,
			strings.Join(names, ", "), people.PercentileHint(text))
	}
	return f, err
}

func (f Figure) String() string {
	switch f.Name {
	case "":
		return "p" + people.Shortest(f.Percentile)
	case Over, Apdex:
		return f.Name + "(" + people.Shortest(f.Above) + f.Unit + ")"
	}
	return f.Name
}

// Unitless reports whether the figure is a number without a unit, such as a count.
func (f Figure) Unitless() bool {
	if f.Name == Apdex {
		return true
	}
	for n := range named {
		if named[n].name == f.Name {
			return named[n].unitless
		}
	}
	return false
}

// OfCounts reports whether the figure is [Over] or [Apdex]. They need all counts of a histogram;
// the other figures need only its [Stats].
func (f Figure) OfCounts() bool { return f.Name == Over || f.Name == Apdex }

// Share returns the figure [Over] or [Apdex] of h, NaN if h has no values. The scale converts the
// values of h. Values in the same slot as Above do not count as above.
func (f Figure) Share(h *histogram.Histogram, s hdrlog.Scale) float64 {
	return f.ShareOf(h, divisorOf(s, f.Unit))
}

// ShareOf is [Figure.Share] for values that must be divided by ratio to be in the unit of Above.
func (f Figure) ShareOf(h *histogram.Histogram, ratio float64) float64 {
	if f.Name == Apdex {
		return counts.Apdex(h, f.Above, ratio)
	}
	return counts.ShareOver(h, f.Above, ratio)
}

// Of returns the figure of counts that were recorded in so many seconds. It returns an empty value
// if there are no counts, if s does not have the percentile, or if the figure is [Figure.OfCounts].
func (f Figure) Of(s *Stats, seconds float64) Value {
	if f.Name != "" {
		for n := range named {
			if named[n].name == f.Name {
				return named[n].of(s, seconds)
			}
		}
		return none // Over and Apdex, see [Figure.Share]
	}
	n := slices.IndexFunc(s.Percentiles, func(p PercentileValue) bool { return p.Percentile == f.Percentile })
	if n < 0 {
		return none
	}
	return ifAny(s.Count, s.Percentiles[n].Value)
}

// FiguresOf returns the statistics of h that figures need: the values at their percentiles, in one
// pass over h, and the mean only if a figure needs it, since it takes longer than the rest. It
// reuses the memory of reuse.
func FiguresOf(h *histogram.Histogram, figures []Figure, reuse Stats) Stats {
	percentiles, mean := make([]float64, 0, 16), false
	for _, f := range figures {
		mean = mean || f.Name == Mean
		if f.Name == "" {
			percentiles = append(percentiles, f.Percentile)
		}
	}
	if mean {
		return StatsOf(h, percentiles, reuse)
	}
	return RanksOf(h, percentiles, reuse)
}
