// Package chart is the model of charts of interval logs: values over time, percentile curves, heat
// maps and throughput. Package draw writes it as PNG, SVG and PDF, and package page as a page.
//
// A [Picture] is plain data. Package collect gathers intervals for it. Times are milliseconds from
// [TimeAxis.Origin]. Values are in [ValueAxis.Unit]: they are divided by the unit ratio already.
package chart

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"hdrkit/internal/base/counts"
	"hdrkit/internal/base/people"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/report"
	"hdrkit/output"
)

// A Picture is a chart, with all that it shows of some logs. Package draw and package page draw it.
// A function that needs only one of its parts takes that part.
type Picture struct {
	Type   *Type
	Looks  Looks
	Time   TimeAxis
	Values ValueAxis
	// Series are the tags or inputs.
	Series []Series
	// Total has the lines of all series together, for a heat map or a report. See [TotalMeasures].
	Total Series
	// Fleet has the rows of a picture or a report of many logs, nil in others.
	Fleet *Ratios
	// Ran are the times in which the logs of a group ran, by group, in order and without overlap.
	// Rates count only this time. A group without an entry ran all the time.
	Ran        map[string][][2]int64
	Events     Events
	Texts      Texts
	Inputs     Inputs
	Precision  Precision
	Comparison Comparison
}

// Looks are the size, the title and the colours of a picture, and how it divides its area.
type Looks struct {
	Title string `json:"title"`
	// Theme is light, dark or empty. If it is empty, pictures are light, and pages follow the
	// preference of the reader.
	Theme string `json:"theme"`
	// Width and Height are pixels of 1/96 inch. DPI is the number of dots per inch of a PNG: at 192
	// it has twice as many dots as pixels in each direction, with the same layout.
	Width  float64 `json:"-"`
	Height float64 `json:"height"`
	DPI    int     `json:"-"`
	// Facets draws a small chart for each tag, with the same axes.
	Facets bool `json:"facets,omitempty"`
	// PageSize is the limit of a page's data in bytes. At 0 it is [MaxPageSize].
	PageSize int `json:"-"`
}

// MaxPageSize is the usual limit of a page's data in bytes.
const MaxPageSize = 16e6

// A TimeAxis has the origin and the zone of the times of a picture, and the style of their labels.
type TimeAxis struct {
	// Origin is time 0, in milliseconds since the epoch.
	Origin int64 `json:"origin"`
	// Absolute labels the time axis with clock times instead of the time since Origin.
	Absolute bool `json:"absolute"`
	// Zone is the zone of clock times; nil is UTC.
	Zone *time.Location `json:"-"`
	// Fold is the period of a folded picture in milliseconds, 0 if the picture is not folded. All
	// times of a folded picture lie in one period. A window that reaches beyond the end of the
	// period continues at its beginning.
	Fold int64 `json:"-"`
}

// Location returns the zone of clock times.
func (t *TimeAxis) Location() *time.Location {
	if t.Zone == nil {
		return time.UTC
	}
	return t.Zone
}

// clock returns a time in milliseconds since the epoch as a time in the zone of the picture.
func (t *TimeAxis) clock(ms int64) time.Time { return time.UnixMilli(ms).In(t.Location()) }

// Dated reports whether Origin is a time of the calendar.
func (t *TimeAxis) Dated() bool { return people.Dated(t.Origin) }

// SeveralDays reports whether two times, in milliseconds from Origin, lie on different days.
func (t *TimeAxis) SeveralDays(from, to float64) bool {
	date := func(ms float64) string { return t.clock(int64(ms) + t.Origin).Format(time.DateOnly) }
	return date(from) != date(to)
}

// A ValueAxis says in which unit the values of a picture are, and how its axis of values looks.
type ValueAxis struct {
	// Unit is the unit of values, such as "ms", or empty if it is unknown. [axis.Fixed] marks units
	// that texts and axes must not convert.
	Unit string `json:"unit"`
	// Log makes the axis of values logarithmic. The axis of a heat map always is.
	Log bool `json:"log"`
	// Low and High are the ends of the axis of values, if they are above 0.
	Low  float64 `json:"-"`
	High float64 `json:"-"`
	// Limits are service levels. Times in which a line is above its limit are shaded.
	Limits []Limit `json:"-"`
}

// Events are moments and ranges of time that a picture marks. Their times are milliseconds from
// the origin of the picture.
type Events struct {
	// Worst are the worst moments, the worst first.
	Worst []Moment `json:"worst"`
	// Marks are texts at single times, such as "deploy".
	Marks []Mark `json:"marks"`
	// Phases are named times of the run, such as "backup", in the order of their starts.
	Phases []Phase `json:"phases,omitempty"`
}

// Texts are the sentences and figures that stand beside a chart.
type Texts struct {
	// Findings are sentences about the logs, the most important first. Their times are milliseconds
	// since the epoch.
	Findings []output.Finding `json:"findings"`
	// Summary has the figures of each series for the whole time.
	Summary []Summary `json:"summary"`
	// Notes are further lines below the chart.
	Notes []string `json:"notes"`
}

// A Comparison has the differences between two logs, or between runs before and after a change.
type Comparison struct {
	// Changes are the figures that a report compares: columns, whose first text is the heading.
	Changes [][]string `json:"-"`
	// Effects are the changes that have an interval.
	Effects []report.Effect `json:"-"`
	// Changed are the changes of the series of the second log on a page, by label and by the
	// headings of hdrdiff, for the whole time.
	Changed map[string]map[string]string `json:"changed,omitempty"`
}

// Inputs are the logs of a picture, for the line below it.
type Inputs struct {
	// Sources are the names of the logs.
	Sources []string `json:"-"`
	// Spans are the beginnings and ends of logs, in milliseconds since the epoch. Logs that are
	// added up have one span.
	Spans [][2]int64 `json:"-"`
	// Added are the tags that a heat map adds up.
	Added []string `json:"-"`
	// SeriesWord is the word for a series in notes, such as log. Empty stands for tag.
	SeriesWord string `json:"-"`
	// SameRequests is set if some of the tags in Added count the same requests.
	SameRequests bool `json:"-"`
	// Overlap is set if series have intervals in common, so that they do not add up.
	Overlap bool `json:"-"`
	// Logs are the names of the sources of windows, if several sources add up.
	Logs []string `json:"sources,omitempty"`
	// Span is the time that a point of a line stands for, such as "each interval".
	Span string `json:"-"`
}

// Precision has the lengths of windows and the precision of counts.
type Precision struct {
	// WindowMillis is the length in milliseconds of the windows into which intervals were merged.
	// At 1 each interval has a window of its own.
	WindowMillis int64 `json:"-"`
	// Widen merges windows into windows of a width in milliseconds. Times of windows count from the
	// given origin. A page calls it if its windows take too many bytes.
	Widen func(all []Window, width, origin int64) ([]Window, error) `json:"-"`
	// Aggregate is the length in milliseconds of the windows whose intervals were merged before
	// they were measured. It is 0 if intervals were measured one by one.
	Aggregate int64 `json:"-"`
	// Digits is the precision of the counts of windows, in significant decimal digits.
	Digits int `json:"digits"`
}

// New returns a picture of the default size and theme.
func New(t *Type) *Picture {
	return &Picture{
		Type:   t,
		Looks:  Looks{Width: 1200, Height: 600, DPI: 96},
		Inputs: Inputs{Span: "each interval"},
	}
}

// A Series has the data of a tag, of an input, or of a tag of an input.
type Series struct {
	Label string
	// Group is the label of the input or the side to which the series belongs. It is empty if
	// inputs are not compared.
	Group string
	// Lines are the lines over time or over runs.
	Lines []Line
	// Names are the names of the points of a [Load] or [Trend] chart, by index in Points.
	Names []string
	// Curve is the percentile curve.
	Curve Curve
	// Corrected is the percentile curve with correction for coordinated omission. It is empty if
	// there are no signs of omission.
	Corrected Curve
	// Windows have the counts over time, for heat maps and pages.
	Windows []Window
	// Unit is the value in the picture of the value 1 in the counts of Windows.
	Unit float64
	// Runs is the number of runs that Windows add up. A heat map shows their mean. 0 stands for 1.
	Runs int
}

// Tag returns the label without the name of the group at its beginning.
func (s *Series) Tag() string {
	if s.Group == "" {
		return s.Label
	}
	return strings.TrimPrefix(strings.TrimPrefix(s.Label, s.Group), " ")
}

// Max returns the highest value of the lines, or of the curve and the windows if there are no
// lines.
func (s *Series) Max() float64 {
	highest := 0.0
	for _, line := range s.Lines {
		for _, p := range line.Points {
			if p.Value > highest { // false for NaN
				highest = p.Value
			}
		}
	}
	if len(s.Lines) > 0 {
		return highest
	}
	for _, w := range s.Windows {
		highest = max(highest, w.Max)
	}
	return max(highest, s.Curve.Max())
}

// WithValues returns those series whose curves have values.
func WithValues(all []Series) []Series {
	return slices.DeleteFunc(slices.Clone(all), func(s Series) bool { return s.Curve.Count == 0 })
}

// A Line has the values of one measure of a series, over time or over runs.
type Line struct {
	// Name is the name of the measure, such as "max" or "p99.9".
	Name string
	// Points are in the order of their starts.
	Points []Point
	// Levels are the levels of a trend between changes, each from its first run to its last run.
	Levels []Point
}

// A Point is a value from Start to End, in milliseconds from the origin. In a [Load] chart, Start
// and End are the rate. Value is NaN if the time has no value.
type Point struct{ Start, End, Value float64 }

// Middle returns the middle between Start and End.
func (p Point) Middle() float64 { return p.Start + (p.End-p.Start)/2 }

// A Curve is a percentile curve: a distribution as values by percentile.
type Curve struct {
	// Count is the number of values.
	Count int64
	// Steps are in the order of percentiles. The last step is the maximum, at 100.
	Steps []Step
	// Named is the step whose value is printed beside the curve. It is zero for none.
	Named Step
	// Band has intervals of confidence, or the ranges of runs, in the order of percentiles.
	Band []Bound
}

// Max returns the highest value, 0 for an empty curve.
func (c *Curve) Max() float64 {
	if len(c.Steps) == 0 {
		return 0
	}
	return c.Steps[len(c.Steps)-1].Value
}

// End returns the place on the axis of nines at which the curve ends: the middle of the share of
// the highest of Count values.
func (c *Curve) End() float64 {
	end := math.Log10(2 * math.Max(float64(c.Count), 1))
	if n := len(c.Steps); n > 1 && c.Steps[n-2].Percentile < 100 {
		end = math.Max(end, axis.Nines(c.Steps[n-2].Percentile))
	}
	return end
}

// Points returns the steps as points, whose places are on the axis of nines.
func (c *Curve) Points() (points []Point) {
	if c.Count == 0 {
		return nil
	}
	end := c.End()
	for _, step := range c.Steps {
		at := math.Min(axis.Nines(step.Percentile), end)
		points = append(points, Point{at, at, step.Value})
	}
	return points
}

// MarshalJSON writes the points and the number of values for the script of a page.
func (c *Curve) MarshalJSON() ([]byte, error) {
	x, v := []float64{}, []float64{}
	for _, point := range c.Points() {
		x, v = append(x, point.Start), append(v, point.Value)
	}
	return json.Marshal(map[string]any{"x": x, "v": v, "total": c.Count})
}

// A Bound is a part of the band of a curve: the range from Low to High at a percentile. Above is
// the number of values above the percentile.
type Bound struct{ Percentile, Low, High, Above float64 }

// FewAbove is the number of values above a percentile below which a band becomes paler.
const FewAbove = 40

// MinShown is the lowest percentile whose value the axis of values must show. The percentiles
// below it cover little of the axis of nines, and their values can be many powers of ten lower.
const MinShown = 10

// A Step of a curve says that Percentile per cent of the values are at most Value.
type Step struct{ Percentile, Value float64 }

// A Limit is a service level of package gate that a chart can draw: at most Value for Percentile
// per cent of the values, or for the maximum if Percentile is 0. Value is in the unit of the
// picture, and Label is the text in the picture.
type Limit struct {
	Percentile float64 `json:"percentile"`
	Value      float64 `json:"value"`
	Label      string  `json:"label"`
}

// Name returns the name of the line that the limit is for, such as p99.
func (l *Limit) Name() string {
	if l.Percentile == 0 {
		return output.Max
	}
	return AtPercentile(l.Percentile).Name
}

// A Mark is a text at a time in milliseconds from the origin, such as "deploy".
type Mark struct {
	Time int64  `json:"time"`
	Text string `json:"text"`
}

// A Phase is a named time of a run from Start to End, in milliseconds from the origin. The user
// gives phases with -phases, and findings add some.
type Phase struct {
	Start int64  `json:"start"`
	End   int64  `json:"end"`
	Name  string `json:"name"`
}

// MaxLanes is the largest number of lanes above a chart. The phases that begin first have lanes.
const MaxLanes = 5

// A Lane is a row above a chart that has all phases with one name. Spans are their times in order.
type Lane struct {
	Name  string
	Spans [][2]float64
}

// Lanes returns a lane for each name of a phase in the time of the picture, also beyond
// [MaxLanes]. Lanes are in the order of their first phases.
func (p *Picture) Lanes() (all []Lane) {
	if len(p.Events.Phases) == 0 {
		return nil
	}
	from, to, timed := p.TimeRange()
	numbers := make(map[string]int)
	for _, phase := range p.Events.Phases {
		if start, end := float64(phase.Start), float64(phase.End); timed && start < to && end > from {
			n, known := numbers[phase.Name]
			if !known {
				n = len(all)
				numbers[phase.Name] = n
				all = append(all, Lane{Name: phase.Name})
			}
			all[n].Spans = append(all[n].Spans, [2]float64{start, end})
		}
	}
	return all
}

// A Moment is a time with high values, from Start to End. The highest one is Value, at the time
// Peak. Times are milliseconds from the origin.
type Moment struct {
	Start int64   `json:"start"`
	End   int64   `json:"end"`
	Peak  int64   `json:"peak"`
	Value float64 `json:"value"`
	// Share is the part of all values that was recorded in the moment, 0 if it is unknown.
	Share float64 `json:"-"`
	// Label is the label of the series with the high values. Name is the name of its tag and log in
	// the list of moments.
	Label string `json:"label"`
	Name  string `json:"name"`
	// Line is the name of a line of the series, for a [Trend]. Elsewhere says that another facet
	// has the number of the moment.
	Line      string `json:"-"`
	Elsewhere bool   `json:"-"`
}

// A Summary has the figures of a series for the whole time: a row of the table in a report or page.
type Summary struct {
	Label       string    `json:"label"`
	Intervals   int64     `json:"intervals"`
	Count       int64     `json:"count"`
	PerSecond   float64   `json:"perSecond"`
	Min         float64   `json:"min"`
	Mean        float64   `json:"mean"`
	Max         float64   `json:"max"`
	Percentiles []float64 `json:"percentiles"` // values at TablePercentiles
	// Limited are the values to which the limits apply, in the order of the limits.
	Limited []float64 `json:"limited,omitempty"`
}

// Knows reports whether a series has values above a percentile. Without values above it, a
// percentile only repeats the maximum. At 100, Knows reports whether the series has any values.
func (s *Summary) Knows(percentile float64) bool {
	if percentile >= 100 {
		return s.Count > 0
	}
	return counts.AboveOf(s.Count, percentile) > 0
}

// TablePercentiles are the percentiles of the table of series.
var TablePercentiles = []float64{50, 90, 99, 99.9, 99.99}
