package output

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
)

// A Pair is the summary of a tag before and after, nil where there is none.
type Pair struct {
	Tag           []byte
	Before, After *Summary
	// Change says how far the change can be believed. It is nil if nobody asked, or if a side has
	// no confidence.
	Change *Change
}

// Compare writes the figures of pairs side by side, one in each line, with the change in percent.
func Compare(w io.Writer, pairs []Pair, scale Scale, percentiles []float64) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "TAG\tSTATISTIC\tBASELINE\tNEW\tCHANGE\n")
	table := Table{Scale: scale, Percentiles: percentiles}
	for _, p := range pairs {
		for n, f := range figures(scale, percentiles) {
			a, b := f.ifAny(p.Before), f.ifAny(p.After)
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", p.name(), f.name, f.text(a), f.text(b), table.change(a, b, p.Change, n).text)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, note := range changeNotes(pairs, percentiles) {
		if _, err := fmt.Fprintln(w, note); err != nil {
			return err
		}
	}
	return nil
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
	if s == nil || s.Counts() == nil || !f.any && s.Counts().TotalCount() == 0 {
		return math.NaN()
	}
	return f.of(s)
}

func figures(scale Scale, percentiles []float64) []figure {
	all := []figure{
		{"count", func(s *Summary) float64 { return float64(s.Counts().TotalCount()) }, true},
		{perSecond, (*Summary).Throughput, true},
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

// text returns a value of the figure.
func (f *figure) text(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	// A histogram has at most five significant digits. Nine digits keep whole values and shorten
	// means.
	digits := 9
	if f.name == perSecond {
		digits = max(4, len(strconv.FormatInt(int64(v), 10))+2)
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	return shortest(rounded)
}

// perSecond is the name of the figure that has two decimals, or more if it is small.
const perSecond = "per second"

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
