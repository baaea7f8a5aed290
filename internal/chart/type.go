package chart

import (
	"math"
	"slices"
	"strings"

	"hdrkit/internal/chart/axis"
	"hdrkit/output"
)

// A Type is a type of picture, which users choose with -type.
type Type struct {
	Name string
	What string // a description of about three words, for the help text
	// Options are the names of those options of hdrplot that only some types take, such as "p
	// linear".
	Options string
	// Measures returns the measures of the lines for the percentiles that the user chose. It is nil
	// for a type without lines.
	Measures func(percentiles []float64) []Measure
	// Chart describes the chart. [Picture.Describe] adds what depends on the data.
	Chart Chart
	// name returns the title of the axis of values, if the title depends on the data.
	name func(p *Picture) string
	// logIfSteep says that the axis of values is logarithmic by default if [Picture.Steep] holds.
	logIfSteep bool
	Shows
}

// Shows says what a picture of a type shows beside lines and cells.
type Shows struct {
	// Curves says that it shows percentile curves.
	Curves bool
	// Worst says that it numbers the worst moments.
	Worst bool
	// Shifts says that it marks lasting changes of the level of a series.
	Shifts bool
	// Findings says that it shows sentences about the logs.
	Findings bool
}

// OverTime reports whether the chart has an axis of time.
func (t *Type) OverTime() bool { return t.Chart.Marks != Curves && t.Chart.Marks != Dots }

// HasLines reports whether the chart has lines, over time or over runs.
func (t *Type) HasLines() bool { return t.Chart.Marks == Lines || t.Chart.Marks == Dots }

// Takes reports whether the type takes an option of hdrplot.
func (t *Type) Takes(option string) bool { return slices.Contains(strings.Fields(t.Options), option) }

// A Chart describes a single chart: its axes, and the marks between them. Package draw draws it in
// a picture, and the script of the page draws it in a browser.
type Chart struct {
	// Marks is the kind of marks: [Lines], [Cells], [Rows], [Curves] or [Dots].
	Marks string `json:"marks"`
	// Name is the title of the axis of values.
	Name string `json:"name"`
	// Rate says that the values are numbers per second. Otherwise Unit is their unit, or empty if
	// the unit is unknown.
	Rate bool   `json:"rate"`
	Unit string `json:"unit"`
	// Log says that the axis of values is logarithmic. Readers of a page can change that.
	Log bool `json:"log"`
	// Low and High are the ends of the axis of values. At 0 the values decide.
	Low  float64 `json:"low,omitempty"`
	High float64 `json:"high,omitempty"`
	// Limits are service levels. ShadeBreaches says that times are shaded in which a line is above
	// its limit.
	Limits        []Limit `json:"limits"`
	ShadeBreaches bool    `json:"breaches"`
	// Empty is the text in a picture without data. EmptyView is the text in a page that has no data
	// in the time in view.
	Empty     string `json:"-"`
	EmptyView string `json:"empty"`
}

// The kinds of marks in a chart.
const (
	Rows   = "rows"   // a row for each log, over time
	Dots   = "dots"   // a dot for each run, over rates or runs
	Lines  = "lines"  // over time
	Cells  = "cells"  // of a heat map, over time and value
	Curves = "curves" // over percentiles
)

const nothing, nothingInView = "no values were recorded", "no interval with values starts in this time"

// Timeline is a chart of values over time.
var Timeline = &Type{
	Name:    "timeline",
	What:    "percentiles over time",
	Options: "p linear time agg mark compare facet phases",
	Measures: func(percentiles []float64) (all []Measure) {
		for _, percentile := range percentiles {
			all = append(all, AtPercentile(percentile))
		}
		return all
	},
	Chart: Chart{Marks: Lines, ShadeBreaches: true, Empty: nothing, EmptyView: nothingInView},
	name: func(p *Picture) string {
		if len(p.Series) == 0 || len(p.Series[0].Lines) == 0 {
			return "value"
		}
		return lineNames(p.Series[0].Lines) + " of " + p.Inputs.Span
	},
	logIfSteep: true,
	Shows:      Shows{Worst: true, Shifts: true, Findings: true},
}

// Percentiles is a chart of values against percentiles, on an axis of nines.
var Percentiles = &Type{
	Name:       "percentiles",
	What:       "values by percentile",
	Options:    "linear compare facet phases",
	Chart:      Chart{Marks: Curves, Name: "value", Empty: nothing, EmptyView: nothingInView},
	logIfSteep: true,
	Shows:      Shows{Curves: true, Findings: true},
}

// Heatmap is a chart of the number of values by time and value.
var Heatmap = &Type{
	Name:    "heatmap",
	What:    "density over time",
	Options: "p time agg fold mark compare facet phases",
	Chart:   Chart{Marks: Cells, Name: "value", Log: true, Empty: nothing, EmptyView: nothingInView},
	Shows:   Shows{Worst: true},
}

// Throughput is a chart of the number of values per second over time.
var Throughput = &Type{
	Name:     "throughput",
	What:     "values per second",
	Options:  "time agg mark compare facet phases",
	Measures: func([]float64) []Measure { return []Measure{PerSecond()} },
	Chart: Chart{
		Marks:     Lines,
		Name:      "values per second",
		Rate:      true,
		Empty:     "no interval has both values and a length",
		EmptyView: "no interval with values and a length starts in this time",
	},
}

// Report is a picture of a run with several charts: the result, figures, throughput and a heat map
// over time, percentile curves and the worst moments.
var Report = &Type{
	Name:       "report",
	What:       "all of a run",
	Options:    "p linear time agg mark compare phases",
	Measures:   Throughput.Measures,
	Chart:      Heatmap.Chart,
	logIfSteep: true,
	Shows:      Shows{Curves: true, Worst: true, Findings: true},
}

// Types are all types of charts.
var Types = []*Type{Timeline, Percentiles, Heatmap, Throughput, Report, Load, Trend}

// TotalMeasures returns the measures of the lines of [Picture.Total]: the median, p99, the
// percentiles of limits, the maximum, and the throughput as the last one.
func TotalMeasures(limits []Limit) []Measure {
	percentiles := []float64{50, 99}
	for _, l := range limits {
		if l.Percentile > 0 && l.Percentile != 50 && l.Percentile != 99 {
			percentiles = append(percentiles, l.Percentile)
		}
	}
	return append(Timeline.Measures(append(percentiles, 100)), PerSecond())
}

// Describe describes the chart of a type with the data of the picture. A page has several such
// charts.
func (p *Picture) Describe(t *Type) Chart {
	c := t.Chart
	if !c.Rate {
		c.Unit = axis.Spelled(p.Values.Unit)
	}
	if t.name != nil {
		c.Name = t.name(p)
	}
	c.Log = c.Log || p.Values.Log && !c.Rate
	return c
}

// lineNames lists the names of lines, such as "p99 and maximum".
func lineNames(lines []Line) string {
	var names []string
	for _, line := range lines {
		names = append(names, strings.Replace(line.Name, "max", "maximum", 1))
	}
	if last := len(names) - 1; last > 0 {
		names = []string{strings.Join(names[:last], ", "), names[last]}
	}
	return strings.Join(names, " and ")
}

// An axis of values is logarithmic by default if the highest value of all series is more than this
// multiple of the median of a series.
const (
	steepLines  = 50 // for maxima over time
	steepCurves = 30 // for percentile curves and runs
)

// Steep reports whether a linear axis of values would be nearly empty but for a few high values, or
// would show a series as a line at its bottom.
func (p *Picture) Steep() bool {
	if !p.Type.logIfSteep || p.Values.Low > 0 || p.Values.High > 0 {
		return false
	}
	if p.Type.Chart.Marks == Dots {
		return p.hasWideRange()
	}
	highest := 0.0
	lowestMedian := math.Inf(1)
	multiple := float64(steepLines)
	for _, s := range p.Series {
		if p.Type.Chart.Marks != Lines {
			i := slices.IndexFunc(s.Curve.Steps, func(step Step) bool { return step.Percentile >= 50 && step.Value > 0 })
			if i >= 0 {
				lowestMedian = math.Min(lowestMedian, s.Curve.Steps[i].Value)
			}
			highest, multiple = math.Max(highest, s.Curve.Max()), steepCurves
			continue
		}
		line := s.Lines[len(s.Lines)-1]
		if i := slices.IndexFunc(s.Lines, func(l Line) bool { return l.Name == output.Max }); i >= 0 {
			line = s.Lines[i]
		}
		var values []float64
		for _, point := range line.Points {
			if point.Value > 0 {
				values = append(values, point.Value)
			}
		}
		if len(values) > 0 {
			lowestMedian = math.Min(lowestMedian, median(values)) // median sorts the values
			highest = math.Max(highest, values[len(values)-1])
		}
	}
	return highest > multiple*lowestMedian
}

// DropLines drops lines if one chart would have too many: for several series on a page or of runs,
// and for pictures with many facets. It keeps the lines that have limits. Without limits it keeps
// the maxima, or the 99th percentile of runs and of logs that a page compares, since maxima vary
// too much to show a change.
func (p *Picture) DropLines(paged bool) {
	switch {
	case len(p.Series) < 2:
	case p.Type.Chart.Marks == Dots:
		p.keepLimited(usualLine(true))
	case paged || len(p.FacetsOf()) > MaxTogether:
		p.keepLimited(usualLine(paged && p.Series[0].Group != p.Series[len(p.Series)-1].Group))
	}
}

// usualLine returns the name of the line that DropLines keeps without limits. Compared says that
// runs or logs are compared.
func usualLine(compared bool) string {
	if compared {
		return AtPercentile(99).Name
	}
	return output.Max
}

// keepLimited drops all lines but those that have limits, or the usual line if there are no limits.
// It keeps the last line of a series that has none of these.
func (p *Picture) keepLimited(usual string) {
	for i := range p.Series {
		s := &p.Series[i]
		s.Lines = limited(s.Lines, func(line Line) string { return line.Name }, p.Values.Limits, usual)
	}
}

// LimitedMeasures returns the measures whose lines [Picture.DropLines] keeps on a page.
func LimitedMeasures(all []Measure, limits []Limit, compared bool) []Measure {
	return limited(all, func(m Measure) string { return m.Name }, limits, usualLine(compared))
}

// limited returns the elements whose name is the name of a limit, or the usual name if there are no
// limits. If no element has such a name, it returns the last element.
func limited[T any](all []T, name func(T) string, limits []Limit, usual string) (kept []T) {
	names := []string{usual}
	if len(limits) > 0 {
		names = nil
	}
	for _, l := range limits {
		names = append(names, l.Name())
	}
	for _, one := range all {
		if slices.Contains(names, name(one)) {
			kept = append(kept, one)
		}
	}
	if kept == nil {
		return all[max(len(all)-1, 0):]
	}
	return kept
}
