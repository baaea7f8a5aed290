package output

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"

	"hdrkit/tags"
)

// A Pair is the summary of a tag before and after, nil where there is none.
type Pair struct {
	Tag           []byte
	Before, After *Summary
}

// Compare writes figures side by side, a line each, with the change in percent. Periods are in milliseconds.
func Compare(w io.Writer, pairs []Pair, beforePeriod, afterPeriod int64, o *Options) error {
	before, after := *o, *o
	before.Period, after.Period = beforePeriod, afterPeriod
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "TAG\tSTATISTIC\tBASELINE\tNEW\tCHANGE\n")
	for _, p := range pairs {
		for _, f := range figures(o) {
			a, b := math.NaN(), math.NaN()
			if p.Before != nil {
				a = f.of(p.Before, &before)
			}
			if p.After != nil {
				b = f.of(p.After, &after)
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", tags.Text(p.Tag), f.name, figureText(a), figureText(b), change(a, b))
		}
	}
	return t.Flush()
}

// A figure is a statistic of a summary.
type figure struct {
	name string
	of   func(s *Summary, o *Options) float64 // NaN if there is none
}

func figures(o *Options) []figure {
	value := func(name string, of func(s *Summary, o *Options) float64) figure {
		return figure{name, func(s *Summary, o *Options) float64 {
			if s.Histogram.TotalCount() == 0 {
				return math.NaN()
			}
			return of(s, o)
		}}
	}
	all := []figure{
		{"count", func(s *Summary, _ *Options) float64 { return float64(s.Histogram.TotalCount()) }},
		{"per second", func(s *Summary, o *Options) float64 { return math.Round(o.throughput(s.Histogram)*100) / 100 }},
		value("min", func(s *Summary, o *Options) float64 { return o.scaled(s.Histogram, s.Histogram.Min()) }),
		value("mean", func(s *Summary, o *Options) float64 { return s.Histogram.Mean() / o.Ratio }),
	}
	for _, p := range o.Percentiles {
		all = append(all, value(shortest(p)+"%", func(s *Summary, o *Options) float64 {
			return o.scaled(s.Histogram, s.Histogram.ValueAtPercentile(p))
		}))
	}
	return append(all, value("max", func(s *Summary, o *Options) float64 { return o.scaled(s.Histogram, s.Histogram.Max()) }))
}

func figureText(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	// Nine digits are more than a histogram can tell, and a mean has no end of them.
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 9, 64), 64)
	return shortest(rounded)
}

// change returns by how many percent b is above a.
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
