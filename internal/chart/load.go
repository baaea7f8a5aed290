package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"hdrkit/internal/chart/axis"
)

// Load is a chart of values by the measured rate, with a point for each run.
var Load = &Type{
	Name:    "load",
	What:    "values by rate",
	Options: "p linear agg",
	Measures: func(percentiles []float64) []Measure {
		return append(Timeline.Measures(percentiles), PerSecond()) // the rate is the horizontal place of a point
	},
	Chart:      Chart{Marks: Dots, Name: "value", Empty: "no run has both values and a length"},
	logIfSteep: true,
	name: func(p *Picture) string {
		if len(p.Series) > 0 && len(p.Series[0].Lines) == 1 {
			return lineNames(p.Series[0].Lines)
		}
		return "value"
	},
}

// Trend is a chart of values over many runs, with the levels between changes, which PELT finds.
var Trend = &Type{
	Name:       "trend",
	What:       "values over many runs",
	Options:    "p linear mark",
	Measures:   Timeline.Measures,
	Chart:      Chart{Marks: Dots, Name: "value", Empty: "no run has values"},
	logIfSteep: true,
	name:       Load.name,
}

// SortByRate sorts the points of a [Load] chart by rate. Runs of about the same rate get the same
// place.
func (p *Picture) SortByRate() {
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
			s.Lines[l].Points = permuted(s.Lines[l].Points, order)
		}
		s.Names = permuted(s.Names, order)
		if s.IsJoined() {
			s.joinRates()
		}
	}
}

// sameRate is the largest difference, as a part of the rate, at which two runs count as runs of the
// same load. Two runs of an open load with 10,000 values each differ by less in 84% of cases.
const sameRate = 0.02

// joinRates moves the points of runs of about the same rate to their mean rate. At this rate the
// line shows the range of their values, and a limit does not hold if one of the runs is above it.
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

// permuted returns the elements at the indexes of an order.
func permuted[T any](all []T, order []int) (ordered []T) {
	for _, i := range order {
		ordered = append(ordered, all[i])
	}
	return ordered
}

// loadResults returns sentences about the rates up to which each limit holds, one for each series
// and limit. Without limits it returns a sentence about the highest rate. It names only rates that
// were measured.
func (p *Picture) loadResults() (all []string) {
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
				limit := l.Name() + p.ofSeries(s) + " ≤ " + axis.Handy(axis.Spelled(p.Values.Unit), l.Value)
				all = append(all, limit+" "+s.limitResult(s.Lines[n].Points, l.Value))
			}
		}
	}
	if len(p.Values.Limits) == 0 && top != nil {
		points := top.Lines[0].Points
		all = append(all, "the highest rate"+p.ofSeries(top)+" is "+top.rateText(points, len(points)-1))
	}
	return all
}

// ofSeries returns " of" and the name of a series. It returns nothing for the only series of a
// picture, if this has no label.
func (p *Picture) ofSeries(s *Series) string {
	if s.Label == "" && len(p.Series) == 1 {
		return ""
	}
	return " of " + Named(s.Label)
}

// limitResult says up to which rate a limit holds, such as "holds up to 100/s and fails from 200/s
// on". Points are in the order of rates. The limit fails at a rate if any of its points is above
// the limit.
func (s *Series) limitResult(points []Point, limit float64) string {
	holds := func(p Point) bool { return p.Value <= limit }
	first := slices.IndexFunc(points, func(p Point) bool { return !holds(p) })
	if first < 0 {
		return "holds at all rates, up to " + s.rateText(points, len(points)-1)
	}
	if !slices.ContainsFunc(points, holds) {
		return "holds at no rate, from " + s.rateText(points, 0) + " on"
	}
	failing := points[first].Start
	next, held := first+1, first-1
	for next < len(points) && points[next].Start == failing {
		next++
	}
	for held >= 0 && points[held].Start == failing {
		held--
	}
	text := "fails from " + s.rateText(points, first)
	if held >= 0 {
		text = "holds up to " + s.rateText(points, held) + " and " + text
	}
	if again := slices.IndexFunc(points[next:], holds); again >= 0 {
		return text + ", but holds again at " + s.rateText(points, next+again)
	}
	return text + " on"
}

// IsJoined reports whether a line joins the points of a [Load] chart. Points of runs, which have
// names, are joined. Points of windows are not: their rates go up and down, and so would the line.
func (s *Series) IsJoined() bool {
	return slices.ContainsFunc(s.Names, func(name string) bool { return name != "" })
}

// hasWideRange reports whether the values of runs differ so much that a linear axis would hide the
// low ones.
func (p *Picture) hasWideRange() bool {
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
	return high > steepCurves*low
}

// rateText returns the rate of the n-th point as text, with the name of the run if there is one.
func (s *Series) rateText(points []Point, n int) string {
	text := axis.Value("", math.Round(points[n].Start)) + "/s"
	if n < len(s.Names) && s.Names[n] != "" {
		text += fmt.Sprintf(" (%s)", Named(s.Names[n]))
	}
	return text
}
