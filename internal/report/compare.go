package report

import (
	"math"
	"slices"
	"strconv"

	"hdrkit/internal/base/people"
	"hdrkit/internal/sides"
	"hdrkit/output"
)

// A figure is a statistic of a summary, and a column of a [Table].
type figure struct {
	output.Figure
	of func(s *output.Summary) float64
	// any is set if the figure exists without values, too.
	any bool
	// text spells the figure of a summary, nil for a number with significant digits.
	text func(s *output.Summary) string
	// interval returns the interval of confidence in printed units, and change how far a change can
	// be believed. They are nil if the figure has none.
	interval func(s *output.Summary) (low, high float64)
	change   func(c *sides.Change) *sides.FigureChange
}

// periodOf returns the period of a summary, not a number if values have no times.
func periodOf(s *output.Summary) float64 {
	if s.Period == 0 {
		return math.NaN()
	}
	return float64(s.Period)
}

// head returns the heading of a column of a figure.
func head(f output.Figure) string {
	if f.Name == output.Throughput {
		return "/s"
	}
	return f.String()
}

// ifAny returns the figure of s, not a number if there is none.
func (f *figure) ifAny(s *output.Summary) float64 {
	if s == nil || !f.any && s.Counts().TotalCount() == 0 {
		return math.NaN()
	}
	return f.of(s)
}

// side returns the figure of a side of a pair: what its change compares, if that is known, such as
// the geometric mean of several runs. Otherwise it is that of all values of the side.
func (t *Table) side(p *sides.Pair, s *output.Summary, f *figure) float64 {
	if s != nil && p.Change != nil && p.Change.Before != nil && f.change != nil {
		c := f.change(p.Change)
		if c.Known() {
			v := c.Before
			if s == p.After {
				v = c.After
			}
			if !f.rate() {
				v = s.Scale.Times(1).Of(v)
			}
			return v
		}
		// A run has too few values for it. That of all values is of another kind than the figures
		// beside it.
		if f.Name == "" && len(p.Change.Before) > 1 && len(p.Change.After) > 1 {
			return math.NaN()
		}
	}
	return f.ifAny(s)
}

// period is the head of the column of periods, which are no figures.
const period = "period"

// figures returns the columns of a table, for a row or a pair: all values of a summary come of one
// pass through its counts.
func (t *Table) figures() []figure {
	percentiles := t.columns()
	known := make(map[*output.Summary]output.Stats)
	value := func(f output.Figure) figure {
		return figure{Figure: f, of: func(s *output.Summary) float64 {
			stats, ok := known[s]
			if !ok {
				stats = output.StatsOf(s.Counts(), percentiles, output.Stats{})
				known[s] = stats
			}
			return s.Scale.Of(f.Of(&stats, 0).Float())
		}}
	}
	count := func(s *output.Summary) string { return people.Whole(s.Counts().TotalCount()) }
	all := []figure{
		countColumn: {
			Figure: output.Figure{Name: output.Count},
			of:     func(s *output.Summary) float64 { return float64(s.Counts().TotalCount()) },
			any:    true,
			text:   count,
		},
		rateColumn: {
			Figure:   output.Figure{Name: output.Throughput},
			of:       (*output.Summary).Throughput,
			any:      true,
			interval: func(s *output.Summary) (low, high float64) { return s.Confidence.Throughput(s) },
			change:   func(c *sides.Change) *sides.FigureChange { return c.Rate },
		},
		periodColumn: {
			Figure: output.Figure{Name: period},
			of:     periodOf,
			any:    true,
			text:   func(s *output.Summary) string { return duration(s.Period) },
		},
		minColumn:  value(output.Figure{Name: output.Min}),
		meanColumn: value(output.Figure{Name: output.Mean}),
		maxColumn:  value(output.Figure{Name: output.Max}),
	}
	all[meanColumn].change = func(c *sides.Change) *sides.FigureChange { return c.Mean }
	if slices.Contains(t.Percentiles, 100) {
		all[maxColumn].change = func(c *sides.Change) *sides.FigureChange { return c.Percentiles[100] }
	}
	for n, p := range percentiles {
		f := value(output.Figure{Percentile: p})
		f.interval = func(s *output.Summary) (low, high float64) {
			e := s.Confidence.Percentiles[p]
			return s.Scale.Of(e.Low), s.Scale.Of(e.High)
		}
		f.change = func(c *sides.Change) *sides.FigureChange { return c.Percentiles[p] }
		all = slices.Insert(all, meanColumn+1+n, f)
	}
	for _, f := range t.Shares {
		share := func(s *output.Summary) float64 { return f.Share(s.Counts(), s.Scale) }
		all = slices.Insert(all, len(all)-1, figure{
			Figure: f,
			of:     share,
			text: func(s *output.Summary) string {
				text := people.Digits(share(s), 3)
				if f.Name == output.Over {
					text += "%"
				}
				return text
			},
		})
	}
	return all
}

// change returns the change from a to b in percent.
func change(a, b float64) string {
	percent := (b - a) / a * 100
	if math.IsNaN(percent) || math.IsInf(percent, 0) {
		if a == 0 && b == 0 {
			return "+0.0%"
		}
		return "-"
	}
	text := strconv.FormatFloat(percent, 'f', decimalsOf(b/a, 1), 64)
	if percent > -0.05 {
		text = "+" + strconv.FormatFloat(math.Abs(percent), 'f', 1, 64)
	}
	return text + "%"
}
