package chart

import (
	"math"
	"slices"
	"strings"

	"hdrkit/internal/chart/axis"
	"hdrkit/output"
)

// A Type is a type of chart.
type Type struct {
	Name string
	What string // in about three words, for help
	// Options are those of hdrplot that only some types take, such as "p linear".
	Options string
	// Measures returns what the lines show, by the percentiles that were asked for. It is nil if
	// there are no lines.
	Measures func(percentiles []float64) []Measure
	// Chart describes the chart. A picture adds what depends on its data.
	Chart Chart
	// name returns the title of the axis of values, if it depends on the data.
	name func(p *Picture) string
	// steep says that the axis of values is logarithmic by default if [Picture.Steep] holds.
	steep bool
	Shows
}

// Shows are what a picture of a type shows beside lines and cells.
type Shows struct {
	// Curves are percentile curves of the logs.
	Curves bool
	// Worst are the worst moments, each with a number.
	Worst bool
	// Shifts are changes of the level of a series.
	Shifts bool
	// Findings are sentences about what the logs show.
	Findings bool
}

// OverTime reports whether the chart has an axis of time.
func (t *Type) OverTime() bool { return t.Chart.Marks != Curves && t.Chart.Marks != Dots }

// Lined reports whether the chart has lines, over time or over runs.
func (t *Type) Lined() bool { return t.Chart.Marks == Lines || t.Chart.Marks == Dots }

// Takes reports whether the type takes an option of hdrplot.
func (t *Type) Takes(option string) bool { return slices.Contains(strings.Fields(t.Options), option) }

// A Chart describes a chart: what its axes show, and what lies between them. Package draw draws it
// as a picture, and the page's script draws it in a browser.
type Chart struct {
	// Marks is the kind of marks: Lines, Cells or Rows over time, Curves over percentiles, or Dots.
	Marks string `json:"marks"`
	// Name is the title of the axis of values.
	Name string `json:"name"`
	// Rate says that values are numbers per second. Unit is the unit of other values, empty if it
	// is unknown.
	Rate bool   `json:"rate"`
	Unit string `json:"unit"`
	// Log makes the axis of values logarithmic, always or at first.
	Log bool `json:"log"`
	// Low and High are the ends of the axis of values, if they are fixed.
	Low  float64 `json:"low,omitempty"`
	High float64 `json:"high,omitempty"`
	// Limits are service levels. Breaches has the times shaded in which a line is above its limit.
	Limits   []Limit `json:"limits"`
	Breaches bool    `json:"breaches"`
	// Empty is the text in a picture without data, and EmptyView the text in a page if the time in
	// view has none.
	Empty     string `json:"-"`
	EmptyView string `json:"empty"`
}

// What shows the data of a chart. Dots stand for runs, and rows for logs.
const (
	Rows   = "rows"
	Dots   = "dots"
	Lines  = "lines"
	Cells  = "cells"
	Curves = "curves"
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
	Chart: Chart{Marks: Lines, Breaches: true, Empty: nothing, EmptyView: nothingInView},
	name: func(p *Picture) string {
		if len(p.Series) == 0 || len(p.Series[0].Lines) == 0 {
			return "value"
		}
		return lineNames(p.Series[0].Lines) + " of " + p.Inputs.Span
	},
	steep: true,
	Shows: Shows{Worst: true, Shifts: true, Findings: true},
}

// Percentiles is a chart of values against percentiles, on an axis of nines.
var Percentiles = &Type{
	Name:    "percentiles",
	What:    "values by percentile",
	Options: "linear compare facet phases",
	Chart:   Chart{Marks: Curves, Name: "value", Empty: nothing, EmptyView: nothingInView},
	steep:   true,
	Shows:   Shows{Curves: true, Findings: true},
}

// Heatmap is a chart of how many values there were, by time and value.
var Heatmap = &Type{
	Name:    "heatmap",
	What:    "density over time",
	Options: "p time agg fold mark compare facet phases",
	Chart:   Chart{Marks: Cells, Name: "value", Log: true, Empty: nothing, EmptyView: nothingInView},
	Shows:   Shows{Worst: true},
}

// Throughput is a chart of values a second over time.
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

// Report is one picture of a run: the result, figures, throughput and a heat map over time,
// percentile curves and the worst moments.
var Report = &Type{
	Name:     "report",
	What:     "all of a run",
	Options:  "p linear time agg mark compare phases",
	Measures: Throughput.Measures,
	Chart:    Heatmap.Chart,
	steep:    true,
	Shows:    Shows{Curves: true, Worst: true, Findings: true},
}

// Types are all types of charts.
var Types = []*Type{Timeline, Percentiles, Heatmap, Throughput, Report, Load, Trend}

// TotalMeasures are the lines of [Picture.Total], for limits: percentiles in their order, the
// maximum, and the throughput.
func TotalMeasures(limits []Limit) []Measure {
	levels := []float64{50, 99}
	for _, l := range limits {
		if l.Percentile > 0 && l.Percentile != 50 && l.Percentile != 99 {
			levels = append(levels, l.Percentile)
		}
	}
	return append(Timeline.Measures(append(levels, 100)), PerSecond())
}

// Describe describes a chart of a type, as a picture and on the page of this picture.
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

// lineNames lists what lines show, such as "p99 and maximum".
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

// An axis is logarithmic by default if the highest value of all is at least so many times the
// median of a series.
const (
	steep      = 50 // for maxima over time
	steepCurve = 30 // for curves
)

// Steep reports whether a few high values leave most of a linear axis empty, or a series on its
// bottom.
func (p *Picture) Steep() bool {
	if !p.Type.steep || p.Values.Low > 0 || p.Values.High > 0 {
		return false
	}
	if p.Type.Chart.Marks == Dots {
		return p.wide()
	}
	highest := 0.0
	middle := math.Inf(1)
	times := float64(steep)
	for _, s := range p.Series {
		if p.Type.Chart.Marks != Lines {
			i := slices.IndexFunc(s.Curve.Steps, func(step Step) bool { return step.Percentile >= 50 && step.Value > 0 })
			if i >= 0 {
				middle = math.Min(middle, s.Curve.Steps[i].Value)
			}
			highest, times = math.Max(highest, s.Curve.Max()), steepCurve
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
			middle = math.Min(middle, median(values)) // median sorts the values
			highest = math.Max(highest, values[len(values)-1])
		}
	}
	return highest > times*middle
}

// KeepLines drops lines where they would be too many in one chart: those of several series on a
// page or of runs, and those of many charts in a picture. It keeps what limits are for, or else the
// maxima. Of runs and of what a page compares it keeps the 99th percentile: maxima hide a change.
func (p *Picture) KeepLines(paged bool) {
	switch {
	case len(p.Series) < 2:
	case p.Type.Chart.Marks == Dots:
		p.keepLimited(usualLine(true))
	case paged || len(p.FacetsOf()) > MostTogether:
		p.keepLimited(usualLine(paged && p.Series[0].Group != p.Series[len(p.Series)-1].Group))
	}
}

// usualLine returns the name of the line that KeepLines keeps if there are no limits. Runs are
// compared, too.
func usualLine(compared bool) string {
	if compared {
		return AtPercentile(99).Name
	}
	return output.Max
}

// keepLimited keeps the lines that limits are for, or those with the usual name if there are no
// limits: several of each series would be too many. Of series without such a line it keeps the
// last.
func (p *Picture) keepLimited(usual string) {
	for i := range p.Series {
		s := &p.Series[i]
		s.Lines = limited(s.Lines, func(line Line) string { return line.Name }, p.Values.Limits, usual)
	}
}

// LimitedMeasures returns the measures whose lines [Picture.KeepLines] keeps on a page.
func LimitedMeasures(all []Measure, limits []Limit, compared bool) []Measure {
	return limited(all, func(m Measure) string { return m.Name }, limits, usualLine(compared))
}

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
