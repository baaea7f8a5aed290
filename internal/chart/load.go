package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"hdrkit/internal/chart/axis"
)

// Load is a chart of values against the measured rate, with a point for each run.
var Load = &Type{
	Name:    "load",
	What:    "values by rate",
	Options: "p linear agg",
	Measures: func(percentiles []float64) []Measure {
		return append(Timeline.Measures(percentiles), PerSecond()) // the last one is the place of a point
	},
	Chart: Chart{Marks: Dots, Name: "value", Empty: "no run has both values and a length"},
	steep: true,
	name: func(p *Picture) string {
		if len(p.Series) > 0 && len(p.Series[0].Lines) == 1 {
			return lineNames(p.Series[0].Lines)
		}
		return "value"
	},
}

// Trend is a chart of values over runs, with the levels that PELT finds in them.
var Trend = &Type{
	Name:     "trend",
	What:     "values over many runs",
	Options:  "p linear mark",
	Measures: Timeline.Measures,
	Chart:    Chart{Marks: Dots, Name: "value", Empty: "no run has values"},
	steep:    true,
	name:     Load.name,
}

// OrderLoads puts the points of series in the order of rates, whatever the order of runs is. Runs
// of one rate come to one place.
func (p *Picture) OrderLoads() {
	for n := range p.Series {
		s := &p.Series[n]
		if len(s.Lines) == 0 || len(s.Lines[0].Points) == 0 {
			continue
		}
		points := s.Lines[0].Points
		order := make([]int, len(points))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(points[a].Start, points[b].Start) })
		for l := range s.Lines {
			s.Lines[l].Points = arranged(s.Lines[l].Points, order)
		}
		s.Names = arranged(s.Names, order)
		if s.Joined() {
			s.joinRates()
		}
	}
}

// sameRate is how far apart the measured rates of runs of one load are, as a part: of 10,000 values
// of an open load, two runs differ by less in 84% of cases.
const sameRate = 0.02

// joinRates puts runs of about one rate at their mean. There the line goes up and down through the
// range of their values, and a limit that one of them violates does not hold.
func (s *Series) joinRates() {
	points := s.Lines[0].Points
	to := 0
	for from := 0; from < len(points); from = to {
		sum := 0.0
		for to = from; to < len(points) && points[to].Start <= points[from].Start*(1+sameRate); to++ {
			sum += points[to].Start
		}
		mean := sum / float64(to-from)
		for _, line := range s.Lines {
			for n := from; n < to; n++ {
				line.Points[n].Start = mean
				line.Points[n].End = mean
			}
		}
	}
}

func arranged[T any](all []T, order []int) (ordered []T) {
	for _, i := range order {
		ordered = append(ordered, all[i])
	}
	return ordered
}

// LoadResults says up to which rate each limit holds, a sentence for each series, and without
// limits what the highest rate of all is. It invents no rate between the measured ones.
func (p *Picture) LoadResults() (all []string) {
	var top *Series
	rate := func(s *Series) float64 { return s.Lines[0].Points[len(s.Lines[0].Points)-1].Start }
	for i := range p.Series {
		s := &p.Series[i]
		if len(s.Lines) == 0 || len(s.Lines[0].Points) == 0 {
			continue
		}
		if top == nil || rate(s) > rate(top) {
			top = s
		}
		for _, l := range p.Values.Limits {
			if n := slices.IndexFunc(s.Lines, func(line Line) bool { return line.Name == l.Name() }); n >= 0 {
				what := l.Name() + p.of(s) + " ≤ " + axis.Handy(axis.Spelled(p.Values.Unit), l.Value)
				all = append(all, what+" "+s.holdsUpTo(s.Lines[n].Points, l.Value))
			}
		}
	}
	if len(p.Values.Limits) == 0 && top != nil {
		points := top.Lines[0].Points
		all = append(all, "the highest rate"+p.of(top)+" is "+top.rate(points, len(points)-1))
	}
	return all
}

// of names a series, if it has a name or is one of several.
func (p *Picture) of(s *Series) string {
	if s.Label == "" && len(p.Series) == 1 {
		return ""
	}
	return " of " + Named(s.Label)
}

// holdsUpTo says up to which rate no point is above a limit. Points are in the order of rates. A
// rate at which one of several points is above the limit does not hold.
func (s *Series) holdsUpTo(points []Point, limit float64) string {
	holds := func(p Point) bool { return p.Value <= limit }
	first := slices.IndexFunc(points, func(p Point) bool { return !holds(p) })
	if first < 0 {
		return "holds at all rates, up to " + s.rate(points, len(points)-1)
	}
	if !slices.ContainsFunc(points, holds) {
		return "holds at no rate, from " + s.rate(points, 0) + " on"
	}
	failing := points[first].Start
	next, held := first+1, first-1
	for next < len(points) && points[next].Start == failing {
		next++
	}
	for held >= 0 && points[held].Start == failing {
		held--
	}
	text := "fails from " + s.rate(points, first)
	if held >= 0 {
		text = "holds up to " + s.rate(points, held) + " and " + text
	}
	if again := slices.IndexFunc(points[next:], holds); again >= 0 {
		return text + ", but holds again at " + s.rate(points, next+again)
	}
	return text + " on"
}

// Joined reports whether a line joins the points of a series: those of runs, which have names. The
// rates of windows over time are not in the order of load, and a line would go to and fro.
func (s *Series) Joined() bool {
	return slices.ContainsFunc(s.Names, func(name string) bool { return name != "" })
}

// wide reports whether the values of runs differ so much that a linear axis hides the low ones.
func (p *Picture) wide() bool {
	low, high := math.Inf(1), 0.0
	for _, s := range p.Series {
		for _, line := range s.Lines {
			for _, point := range line.Points {
				if point.Value > 0 {
					low, high = math.Min(low, point.Value), math.Max(high, point.Value)
				}
			}
		}
	}
	return high > steepCurve*low
}

// rate returns the rate of a point, with its name.
func (s *Series) rate(points []Point, n int) string {
	text := axis.Value("", math.Round(points[n].Start)) + "/s"
	if n < len(s.Names) && s.Names[n] != "" {
		text += fmt.Sprintf(" (%s)", Named(s.Names[n]))
	}
	return text
}
