// Package draw draws interval logs: values over time, percentile curves, heat maps and
// throughput. It writes PNG, SVG and PDF, and pages by package page.
//
// A [Collector] takes intervals and makes a [Picture]. A Picture is plain data, which can also be
// filled by hand. Times are milliseconds from [Picture.Origin]. Values are in [Picture.Unit]: they
// are divided by the unit ratio already.
package draw

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/plot/text"

	"hdrkit/internal/chart/axis"
	"hdrkit/internal/chart/page"
)

// A Theme is a set of colours.
type Theme string

// The themes. A picture without one is light, and a page without one follows the reader's
// preference.
const (
	Light Theme = "light"
	Dark  Theme = "dark"
)

// A Picture is a chart and its looks.
type Picture struct {
	Type  *Type
	Title string
	Theme Theme
	// Width and Height are pixels of 1/96 inch. DPI is the number of dots per inch of a PNG: at 192
	// it has twice as many dots as pixels in each direction, with the same layout.
	Width, Height float64
	DPI           int
	// Unit is the unit of values, such as "ms", or empty if it is unknown.
	Unit string
	// LogValues makes the axis of values logarithmic. That of a heat map always is.
	LogValues bool
	// Absolute labels the time axis with clock times instead of the time since Origin.
	Absolute bool
	// Zone is the zone of clock times; nil is UTC.
	Zone *time.Location
	// Origin is time 0, in milliseconds since the epoch.
	Origin int64

	// Series are the lines of a timeline or throughput chart.
	Series []Series
	// Total is what a report shows of all series together: see [ReportMeasures].
	Total Series
	// Nodes are the 99th percentiles of each log in windows of NodeWindow milliseconds. A timeline,
	// a report and a page compare them below the chart.
	Nodes      []Series
	NodeWindow int64
	// Curves are what a chart of percentiles shows.
	Curves []Curve
	// Limits are service levels. Times in which a line is above its limit are shaded.
	Limits []Limit
	// Worst are the worst moments, the worst first.
	Worst []Moment
	// Marks are texts at times.
	Marks []Mark
	// Low and High are the ends of the axis of values, if they are above 0.
	Low, High float64
	// Baseline is a value to draw a line at, if it is above 0.
	Baseline float64
	// Facets draws a small chart for each tag, with the same axes.
	Facets bool
	// ValueName is the title of the axis of values, if it is not empty.
	ValueName string
	// Span is the time that a point of a line stands for, such as "each interval".
	Span string
	// Sources are the names of the logs, and From and To when they begin and end, in milliseconds
	// since the epoch, 0 if nobody knows. Added are the tags that a heat map adds up. A picture
	// says them below the chart.
	Sources, Added []string
	From, To       int64
	// SameRequests is set if some of the tags in Added count the same requests.
	SameRequests bool
	// Logs are what the sources of windows are called, if there are several that add up.
	Logs []string
	// Notes are further lines below the chart.
	Notes []string

	// Headline says how figures changed, a line for each tag. It is the title if there is none and
	// one line, and otherwise stands in the notes.
	Headline []string

	// Summary is the table of a page.
	Summary []page.Summary
	// Windows are the histograms by time of a heat map and of a page.
	Windows []WindowSeries
	// WindowMillis is the length of the windows into which intervals were merged. At 1 each has its
	// own.
	WindowMillis int64
	// Aggregate is the length of the windows whose intervals were merged before they were measured,
	// or 0.
	Aggregate int64
	// Digits is the precision of the windows' counts, in significant decimal digits.
	Digits int
	// handler sets texts, if it is not nil.
	handler text.Handler
	// PageSize is the limit of a page's data in bytes. At 0 it is 16 MB.
	PageSize int
}

// New returns a picture of the default size and theme.
func New(t *Type) *Picture {
	return &Picture{Type: t, Span: "each interval", Width: 1200, Height: 600, DPI: 96}
}

// A Series is what the picture shows of a tag or an input.
type Series struct {
	Label string
	// Group is the input that the series is compared by, empty if inputs are not compared.
	Group string
	Lines []Line
}

// A Line is one measure of a series over time.
type Line struct {
	// Name is the name of the measure, such as "max" or "99.9%".
	Name string
	// Points are in order of time.
	Points []Point
}

// A Point is a value from Start to End, in milliseconds from the origin. It is NaN if there is
// none.
type Point struct {
	Start, End float64
	Value      float64
}

func (p Point) middle() float64 { return p.Start + (p.End-p.Start)/2 }

// Tag returns the label without the group before it.
func (c *Curve) Tag() string { return tagOf(c.Label, c.Group) }

// tagOf returns a series' label without the group before it.
func tagOf(label, group string) string {
	if group == "" {
		return label
	}
	return strings.TrimPrefix(strings.TrimPrefix(label, group), " ")
}

// A Curve is a distribution: value by percentile.
type Curve struct {
	Label string
	// Group is that of [Series].
	Group string
	// Count is the number of values.
	Count int64
	// Steps are in order of percentile. The last one is the maximum, at 100.
	Steps []Step
	// Band are the intervals of confidence of some percentiles, in their order.
	Band []Bound
}

// A Bound is the interval of confidence of a value at a percentile, or of a ratio. Above is the
// number of values above the percentile.
type Bound struct{ Percentile, Low, High, Above float64 }

// A Step says that Percentile per cent of the values are at most Value.
type Step struct{ Percentile, Value float64 }

// A Limit is a service level: at most Value for Percentile per cent of the values, or for all if
// that is 0.
type Limit struct{ Percentile, Value float64 }

// holdsFor reports whether the limit is one for a line.
func (l Limit) holdsFor(line string) bool {
	return l.Percentile == 0 || line == AtPercentile(l.Percentile).Name
}

// A Mark is a text at a time, in milliseconds from the origin.
type Mark struct {
	Time float64
	Text string
}

func (p *Picture) zone() *time.Location { return cmp.Or(p.Zone, time.UTC) }

// caption says what the picture shows: of which logs, of what time, and how many values.
func (p *Picture) caption() string {
	if len(p.Sources) == 0 {
		return ""
	}
	parts := []string{listed(p.Sources)}
	if year := int64(365 * 24 * time.Hour / time.Millisecond); p.From > year { // otherwise the log has no date
		from, to := time.UnixMilli(p.From).In(p.zone()), time.UnixMilli(p.To).In(p.zone())
		layout := time.DateTime
		if from.Format(time.DateOnly) == to.Format(time.DateOnly) {
			layout = time.TimeOnly
		}
		parts = append(parts, from.Format(time.DateTime)+" to "+to.Format(layout)+" "+p.zone().String())
	}
	values, intervals := int64(0), int64(0)
	for _, c := range p.Curves {
		values += c.Count
	}
	for _, s := range p.Summary {
		intervals += s.Intervals
	}
	if p.Baseline == 0 {
		text := axis.Value("", float64(values)) + " values"
		if intervals > 0 {
			text += " in " + axis.Value("", float64(intervals)) + " intervals"
		}
		parts = append(parts, text)
	}
	if len(p.Added) > 1 {
		text := "adds up " + listed(p.Added)
		if p.SameRequests {
			text += ", some of which count the same requests"
		}
		parts = append(parts, text)
	}
	if len(p.Total.Lines) > 0 {
		lines := *p
		lines.Series = []Series{{Lines: p.Total.Lines[:len(p.Total.Lines)-1]}}
		parts = append(parts, Timeline.name(&lines))
	}
	if name := p.describe(p.Type).Name; p.Type.Chart.Marks == page.Lines {
		if p.Type.Chart.Rate {
			name += " of " + p.Span
		}
		parts = append(parts, name)
	}
	return strings.Join(parts, " · ")
}

// listed returns names, or the first of many.
func listed(names []string) string {
	const most = 6
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most-1], ", "), len(names)-most+1)
	}
	return strings.Join(names, ", ")
}

// title returns the title for programs that show the file.
func (p *Picture) title() string { return cmp.Or(p.Title, p.caption(), p.Type.Name) }

// notes returns the notes, and one about what the chart leaves out.
func (p *Picture) notes() []string {
	notes := slices.Concat(p.worstNotes(), p.Notes)
	if caption := p.caption(); caption != "" {
		notes = append(notes, caption)
	}
	if all := len(p.Curves); len(p.Total.Lines) > 0 && all > mostTogether {
		notes = append(notes, fmt.Sprintf("Of %d tags, the %d with the highest maximum have a percentile curve.", all, mostTogether))
	}
	return notes
}

// max returns the highest value of all lines, 0 if there is none.
func (s *Series) max() float64 {
	highest := 0.0
	for _, line := range s.Lines {
		for _, p := range line.Points {
			highest = math.Max(highest, noNaN(p.Value))
		}
	}
	return highest
}

func noNaN(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}
