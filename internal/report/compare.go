package report

import (
	"math"
	"slices"
	"strconv"

	"hdrkit/internal/base/people"
	"hdrkit/internal/sides"
	"hdrkit/output"
)

// A figureColumn is a statistic of a summary, and a column of a [Table].
type figureColumn struct {
	output.Figure
	of func(s *output.Summary) float64
	// always is set if a summary without values has the figure, too.
	always bool
	// text returns the figure of a summary as text. If text is nil, the figure is a number with
	// significant digits.
	text func(s *output.Summary) string
	// interval returns the interval of confidence in printed units. It is nil for a figure that has
	// none.
	interval func(s *output.Summary) (low, high float64)
	// compared is set if changes of the figure are tested.
	compared bool
}

// periodOf returns the period of a summary, or NaN if its values have no times.
func periodOf(s *output.Summary) float64 {
	if s.Period == 0 {
		return math.NaN()
	}
	return float64(s.Period)
}

// head returns the title of the column of a figure, such as p99 or /s.
func head(f output.Figure) string {
	if f.Name == output.Throughput {
		return "/s"
	}
	return f.String()
}

// valueOf returns the figure of s, or NaN if s is nil or does not have the figure.
func (f *figureColumn) valueOf(s *output.Summary) float64 {
	if s == nil || !f.always && s.Counts().TotalCount() == 0 {
		return math.NaN()
	}
	return f.of(s)
}

// sideValue returns the figure of s, a side of a pair. If a change of runs is known, it is the
// number that the change compares, such as the geometric mean of the runs. Otherwise it is the
// figure of all values of the side.
func (t *Table) sideValue(p *sides.Pair, s *output.Summary, f *figureColumn) float64 {
	if s != nil && p.Change.HasRuns() && f.compared {
		c := p.Change.Figure(f.Figure)
		if c.Known() {
			return p.OfRuns(s, f.Figure, c)
		}
		// Runs have too few values for this percentile. The percentile of all values together
		// cannot be compared with the means of runs in other columns.
		if f.Name == "" && len(p.Change.RunsBefore) > 1 && len(p.Change.RunsAfter) > 1 {
			return math.NaN()
		}
	}
	return f.valueOf(s)
}

// period is the head of the column of periods. Package output has no figure of this name.
const period = "period"

// figures returns the columns of a table after its labels. They share the statistics of a summary,
// so that one pass through its counts serves all columns.
func (t *Table) figures() []figureColumn {
	percentiles := t.columnPercentiles()
	known := make(map[*output.Summary]output.Stats)
	value := func(f output.Figure) figureColumn {
		return figureColumn{Figure: f, of: func(s *output.Summary) float64 {
			stats, ok := known[s]
			if !ok {
				stats = output.StatsOf(s.Counts(), percentiles, output.Stats{})
				known[s] = stats
			}
			return s.Scale.Of(f.Of(&stats, 0).Float())
		}}
	}
	count := func(s *output.Summary) string { return people.Whole(s.Counts().TotalCount()) }
	all := []figureColumn{
		countColumn: {
			Figure: output.Figure{Name: output.Count},
			of:     func(s *output.Summary) float64 { return float64(s.Counts().TotalCount()) },
			always: true,
			text:   count,
		},
		rateColumn: {
			Figure:   output.Figure{Name: output.Throughput},
			of:       (*output.Summary).Throughput,
			always:   true,
			interval: func(s *output.Summary) (low, high float64) { return s.Confidence.Throughput(s) },
			compared: true,
		},
		periodColumn: {
			Figure: output.Figure{Name: period},
			of:     periodOf,
			always: true,
			text:   func(s *output.Summary) string { return periodText(s.Period) },
		},
		minColumn:  value(output.Figure{Name: output.Min}),
		meanColumn: value(output.Figure{Name: output.Mean}),
		maxColumn:  value(output.Figure{Name: output.Max}),
	}
	all[meanColumn].compared = true
	all[maxColumn].compared = slices.Contains(t.Percentiles, 100)
	for n, p := range percentiles {
		f := value(output.Figure{Percentile: p})
		f.interval = func(s *output.Summary) (low, high float64) {
			e := s.Confidence.Percentiles[p]
			return s.Scale.Of(e.Low), s.Scale.Of(e.High)
		}
		f.compared = true
		all = slices.Insert(all, meanColumn+1+n, f)
	}
	for _, f := range t.Shares {
		share := func(s *output.Summary) float64 { return f.Share(s.Counts(), s.Scale) }
		all = slices.Insert(all, len(all)-1, figureColumn{
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

// percentChange returns the change from a to b in percent as text, or "-" if there is none.
func percentChange(a, b float64) string {
	percent := (b - a) / a * 100
	if math.IsNaN(percent) || math.IsInf(percent, 0) {
		if a == 0 && b == 0 {
			return "+0.0%"
		}
		return "-"
	}
	text := strconv.FormatFloat(percent, 'f', people.ChangeDecimals(b/a, 1), 64)
	if percent > -0.05 {
		text = "+" + strconv.FormatFloat(math.Abs(percent), 'f', 1, 64)
	}
	return text + "%"
}
