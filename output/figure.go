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

// A Figure is a statistic of counts: that with a name or, if that is empty, the value at
// Percentile.
type Figure struct {
	Name       string
	Percentile float64
	// Above is what [Over] counts values above, and the threshold of [Apdex]: in the unit named
	// Unit, or in printed units if that is empty.
	Above float64
	Unit  string
}

// The names of figures that are no percentiles.
const (
	Count      = "count"
	Throughput = "throughput" // values per second
	Min        = "min"
	Mean       = "mean"
	Max        = "max"
	Over       = "over"  // the share of values above one, in percent
	Apdex      = "apdex" // from 0 to 1: values up to a threshold count fully, and up to four times it half
)

// named are the figures of [Stats] that are no percentiles. An entry is all that a new one takes:
// it can be a limit, a column of -trend, or what -sort orders by.
var named = []struct {
	name     string
	unitless bool // it is a number, not a value
	of       func(s *Stats, seconds float64) Value
}{
	{Min, false, func(s *Stats, _ float64) Value { return ifAny(s.Count, s.Min) }},
	{Mean, false, func(s *Stats, _ float64) Value { return ifAny(s.Count, Value{float: s.Mean}) }},
	{Max, false, func(s *Stats, _ float64) Value { return ifAny(s.Count, s.Max) }},
	{Throughput, true, func(s *Stats, seconds float64) Value { return Value{float: (float64(s.Count) + s.Moved) / seconds} }},
	{Count, true, func(s *Stats, _ float64) Value { return countOf(s.Count) }},
}

// AtPercentile returns the value at a percentile. At 100 that is the maximum.
func AtPercentile(percentile float64) Figure {
	if percentile >= 100 {
		return Figure{Name: Max}
	}
	return Figure{Percentile: percentile}
}

// Rank returns the percentile that the figure is the value at: 0 for the minimum, and 100 for the
// maximum. It is false if the figure is no value of the counts.
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

// ParseFigure reads a figure, such as p99.9, 99.9, max or over(20ms).
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
			strings.Join(names, ", "), MeantPercentile(text))
	}
	return f, err
}

// MeantPercentile asks about a percentile whose point is missing, such as p999. It is empty for any
// other text.
func MeantPercentile(text string) string {
	digits := strings.TrimPrefix(text, "p")
	if len(digits) < 3 || digits[0] != '9' || strings.Trim(digits, "0123456789") != "" {
		return ""
	}
	return fmt.Sprintf("; did you mean p%s.%s?", digits[:2], digits[2:])
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

// Unitless reports whether the figure is a number, not a value.
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

// OfCounts reports whether the figure is [Over] or [Apdex], which need all counts.
func (f Figure) OfCounts() bool { return f.Name == Over || f.Name == Apdex }

// Share returns [Over] or [Apdex] of h, whose values have a scale. It is not a number if nothing
// was recorded. Values of the slot that Above lies in are not above.
func (f Figure) Share(h *histogram.Histogram, s hdrlog.Scale) float64 {
	return f.ShareOf(h, per(s, f.Unit))
}

// ShareOf is [Figure.Share] of values that are divided by ratio.
func (f Figure) ShareOf(h *histogram.Histogram, ratio float64) float64 {
	if f.Name == Apdex {
		return counts.Apdex(h, f.Above, ratio)
	}
	return counts.ShareOver(h, f.Above, ratio)
}

// Of returns the figure of counts that were recorded in some seconds. There is no value if nothing
// was recorded, or if s does not have the percentile.
func (f Figure) Of(s *Stats, seconds float64) Value {
	if f.Name != "" {
		for n := range named {
			if named[n].name == f.Name {
				return named[n].of(s, seconds)
			}
		}
		return none // it needs all counts, see [Figure.Share]
	}
	n := slices.IndexFunc(s.Percentiles, func(p PercentileValue) bool { return p.Percentile == f.Percentile })
	if n < 0 {
		return none
	}
	return ifAny(s.Count, s.Percentiles[n].Value)
}

// FiguresOf returns what figures need of h: values at the same percentiles cost one pass, and the
// mean, which takes longer than all else, is there if one of them is that.
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
