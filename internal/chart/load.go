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

// falls is the part of the highest rate so far below which a rate is lower: less is noise.
const falls = 0.95

// OrderLoads puts the points of series in the order of load, which is that of rates. A server that
// has too much load may have lower rates than before: if rates rise up to the highest one, the
// curve goes back behind it.
func (p *Picture) OrderLoads() {
	for n := range p.Series {
		s := &p.Series[n]
		if len(s.Lines) == 0 || len(s.Lines[0].Points) == 0 {
			continue
		}
		order := loadOrder(s.Lines[0].Points)
		for l := range s.Lines {
			s.Lines[l].Points = arranged(s.Lines[l].Points, order)
		}
		s.Names = arranged(s.Names, order)
	}
}

// loadOrder returns the indexes of points in the order of load. Behind the highest rate that is the
// order of runs if a rate there is lower than noise makes it. Otherwise a run between, whose rate
// is a little lower, would stand before the highest one.
func loadOrder(points []Point) (order []int) {
	top := topOf(points)
	behind := len(points)
	lower := func(p Point) bool { return p.Start < falls*points[top].Start }
	if rises(points) && slices.ContainsFunc(points[top:], lower) {
		behind = top + 1
	}
	var back []int
	for i := range points {
		if i >= behind {
			back = append(back, i)
		} else {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(points[a].Start, points[b].Start) })
	return append(order, back...)
}

func arranged[T any](all []T, order []int) (ordered []T) {
	for _, i := range order {
		ordered = append(ordered, all[i])
	}
	return ordered
}

// rises reports whether rates rise up to the highest one, which is not the first.
func rises(points []Point) bool {
	if len(points) < 2 {
		return false
	}
	highest, top := 0.0, topOf(points)
	if top == 0 {
		return false
	}
	for _, p := range points[:top] {
		if p.Start < falls*highest {
			return false
		}
		highest = math.Max(highest, p.Start)
	}
	return true
}

// topOf returns the index of the point with the highest rate.
func topOf(points []Point) (top int) {
	for i, p := range points {
		if p.Start > points[top].Start {
			top = i
		}
	}
	return top
}

// LoadResults says up to which rate each limit holds, a sentence for each series, and without
// limits what the highest rate of all is. It invents no rate between the measured ones.
func (p *Picture) LoadResults() (all []string) {
	var top *Series
	rate := func(s *Series) float64 { return s.Lines[0].Points[topOf(s.Lines[0].Points)].Start }
	for i := range p.Series {
		s := &p.Series[i]
		if len(s.Lines) == 0 || len(s.Lines[0].Points) == 0 {
			continue
		}
		if top == nil || rate(s) > rate(top) {
			top = s
		}
		for _, l := range p.Limits {
			if n := slices.IndexFunc(s.Lines, func(line Line) bool { return line.Name == l.Name() }); n >= 0 {
				what := l.Name() + p.of(s) + " ≤ " + axis.Handy(axis.Spelled(p.Unit), l.Value)
				all = append(all, what+" "+s.holdsUpTo(s.Lines[n].Points, l.Value))
			}
		}
	}
	if len(p.Limits) == 0 && top != nil {
		all = append(all, "the highest rate"+p.of(top)+top.highestRate())
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

// highestRate says what the highest rate is, and what becomes of it with more load. It begins with
// a space.
func (s *Series) highestRate() string {
	points := s.Lines[0].Points
	top, last := topOf(points), len(points)-1
	text := " is " + s.rate(points, top)
	if points[last].Start < falls*points[top].Start {
		text += "; with more load it falls to " + s.rate(points, last)
	}
	return text
}

// holdsUpTo says up to which rate no point is above a limit. Points are in the order of load. A
// rate at which one of several points is above the limit does not hold.
func (s *Series) holdsUpTo(points []Point, limit float64) string {
	holds := func(p Point) bool { return p.Value <= limit }
	first := slices.IndexFunc(points, func(p Point) bool { return !holds(p) })
	top := topOf(points)
	if first < 0 {
		return "holds at all rates, up to " + s.rate(points, top)
	}
	if !slices.ContainsFunc(points, holds) {
		return "holds at no rate, from " + s.rate(points, 0) + " on"
	}
	failing := points[first].Start
	goesBack := first > top && failing < points[top].Start
	next, held := first+1, top
	text := "fails with more load, at " + s.rate(points, first)
	if !goesBack {
		text = "fails from " + s.rate(points, first)
		for next < len(points) && points[next].Start == failing {
			next++
		}
		held = first - 1
		for held >= 0 && points[held].Start == failing {
			held--
		}
	}
	if held >= 0 {
		text = "holds up to " + s.rate(points, held) + " and " + text
	}
	for i := next; i < len(points); i++ {
		if holds(points[i]) {
			return text + ", but holds again at " + s.rate(points, i)
		}
	}
	if goesBack {
		return text
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
