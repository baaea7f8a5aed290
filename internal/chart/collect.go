package chart

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/chart/axis"
)

// A Measure is the value that a line shows of an interval.
type Measure struct {
	Name string
	of   func(h *histogram.Histogram, seconds, ratio float64) float64
}

// AtPercentile measures the value at a percentile, 0 to 100; at 100 it is the maximum.
func AtPercentile(percentile float64) Measure {
	name := "max"
	if percentile < 100 {
		name = percent(percentile)
	}
	return Measure{name, func(h *histogram.Histogram, _, ratio float64) float64 {
		if h.TotalCount() == 0 {
			return math.NaN()
		}
		if percentile >= 100 {
			return unit.Divide(h.Float(h.Max()), ratio)
		}
		return unit.Divide(h.Float(h.ValueAtPercentile(percentile)), ratio)
	}}
}

// RateName is the name of lines of rates.
const RateName = "values/s"

// PerSecond measures the number of values per second.
func PerSecond() Measure {
	return Measure{RateName, func(h *histogram.Histogram, seconds, _ float64) float64 {
		if seconds <= 0 {
			return math.NaN()
		}
		return float64(h.TotalCount()) / seconds
	}}
}

// A Collector gathers intervals for a picture.
type Collector struct {
	// Measures are the lines of each series. A chart without lines has none.
	Measures []Measure
	// Ratio is the number by which values are divided.
	Ratio float64
	// Aggregate merges the intervals of each window of so many milliseconds before anything is
	// measured, if it is above 0. See package merge.
	Aggregate int64
	// Totals are the lines of all series together, if there are any. Aggregate is set then.
	Totals []Measure
	// WindowBytes keeps histograms by time, for a heat map or a page. It is the memory that they
	// may take. If they need more, neighbours in time are merged. 0 keeps none.
	WindowBytes int
	// Relative lays logs over one another: times count from the start of each log.
	Relative bool
	// Step says that intervals are windows of so many milliseconds, and that they go on. The recent
	// ones then stay as they are, and only older ones are merged. 0 merges all of them alike.
	Step int64

	series map[string]*gathered
	order  []string // the labels of series as they came
	width  int64    // of the windows that start before recent
	recent int64    // later windows are not merged
	bytes  int      // that the windows take
	room   int      // bytes that they may take until they are merged

	steps     merge.Table[step] // by label, if Aggregate is set
	stepBytes int
	stepLimit int // stepBytes, unless a test changes it
	total     gathered
	rough     merge.Sum // of the step that is measured last

	scratch histogram.Histogram
}

// gathered is what a collector has of a series.
type gathered struct {
	label    string
	group    string
	ratio    float64
	measures []Measure
	lines    [][]Point // by measure
	windows  []Window  // if WindowBytes is set
	bytes    int       // that the windows take
}

// unit returns what a value of 1 of a layout is in the picture.
func (g *gathered) unit(layout histogram.Layout) float64 { return cmp.Or(layout.Ratio, 1) / g.ratio }

// add adds a point to a line.
func (g *gathered) add(n int, p Point) {
	line := append(g.lines[n], p)
	if len(line) == mostPoints { // half as many are left
		line = thinned(line, (line[len(line)-1].End-line[0].Start)*8/mostPoints)
	}
	g.lines[n] = line
}

// An Interval is what a collector needs of an interval.
type Interval struct {
	// Factor is what one unit of the values is in the unit that Ratio divides, 0 for 1. It is the
	// same for all intervals of a series, and is set before the interval is measured.
	Factor float64
	// Source is that of [Window].
	Source int

	window Window    // without counts
	values []float64 // by measure
	part   *step     // see [Parts]
	rough  merge.Sum // its counts, for windows
	err    error
}

// Window returns the interval as a window, whose counts are those of the interval until it is
// measured again.
func (i *Interval) Window() Window {
	w := i.window
	w.counts = &i.rough
	return w
}

// Values returns what the last measures are.
func (i *Interval) Values() []float64 { return i.values }

// Measure takes what the collector needs from an interval, whose counts are h. Measure does the
// work, and may be called by several goroutines at once. Into is overwritten, but for its sum.
func (c *Collector) Measure(i *hdrlog.Interval, h *histogram.Histogram, into *Interval) {
	c.measure(c.windowOf(i, into.Source), i.Length, h, into)
}

// windowOf returns an interval as a window.
func (c *Collector) windowOf(i *hdrlog.Interval, source int) Window {
	seconds, from := i.Absolute(), int64(0)
	if c.Relative {
		seconds, from = i.Relative(), millis(i.LogStart)
	}
	return Window{Start: millis(seconds), Begin: i.StartMillis() - from, End: i.EndMillis() - from, Intervals: 1, Source: source}
}

// InSteps reports whether intervals are added up with [Parts] before they are measured.
func (c *Collector) InSteps() bool { return c.Aggregate > 0 }

// MeasureWindow does what Measure does for a window of merged intervals, whose counts are h. Its
// times are those of the window: the intervals of several logs begin at different times.
func (c *Collector) MeasureWindow(m *merge.Merged, h *histogram.Histogram, into *Interval) {
	c.measure(Window{Start: m.Window.Start, Begin: m.Window.Start, End: m.Window.End, Intervals: m.Intervals()}, float64(m.Recorded())/1000, h, into)
}

func (c *Collector) measure(w Window, seconds float64, h *histogram.Histogram, into *Interval) {
	ratio := c.ratio(into.Factor)
	into.values = into.values[:0]
	for _, m := range c.Measures {
		into.values = append(into.values, m.of(h, seconds, ratio))
	}
	if c.WindowBytes > 0 {
		into.err = w.count(h, ratio, &into.rough)
	}
	into.window = w
}

// ratio returns what to divide values by.
func (c *Collector) ratio(factor float64) float64 { return c.Ratio / cmp.Or(factor, 1) }

// windowDigits is the precision of the windows' counts, in significant decimal digits: a pixel is
// more than a hundredth of the value that it stands for.
const windowDigits = 2

// slotWidth is more than the width of a slot of windows' counts, as a part of its lowest value.
const slotWidth = 0.01

// millis rounds seconds to the milliseconds that a log prints.
func millis(seconds float64) int64 { return int64(math.Round(seconds * 1000)) }

// Add adds an interval to the series with a label. Group is that of [Series]. The error is that of
// [histogram.Histogram.Add]. Tags of integers and of doubles have no total.
func (c *Collector) Add(group, label string, i *Interval) error {
	if i.err != nil {
		return i.err
	}
	g := c.at(group, label)
	g.ratio = c.ratio(i.Factor)
	if c.InSteps() {
		return c.addStep(g, i.part)
	}
	for n, v := range i.values {
		g.add(n, Point{float64(i.window.Start), float64(i.window.Start + i.window.Length()), v})
	}
	return c.addWindow(g, &i.window, &i.rough)
}

// addWindow adds a window, whose counts are apart, to a series.
func (c *Collector) addWindow(g *gathered, w *Window, counts *merge.Sum) error {
	if c.WindowBytes == 0 {
		return nil
	}
	before := g.bytes
	if err := g.keep(w, counts); err != nil {
		return err
	}
	if c.bytes += g.bytes - before; c.bytes > c.room {
		return c.bound()
	}
	return nil
}

// Widths returns the width of the windows that start before a time, and that time. Later windows
// are not merged.
func (c *Collector) Widths() (width, recent int64) { return c.width, c.recent }

// Labels returns the labels of the series as they came.
func (c *Collector) Labels() []string { return c.order }

// UnitOf returns what a value of 1 of a layout is in the picture.
func (c *Collector) UnitOf(label string, layout histogram.Layout) float64 {
	return c.series[label].unit(layout)
}

func (c *Collector) at(group, label string) *gathered {
	g := c.series[label]
	if g == nil {
		if c.series == nil {
			c.series = map[string]*gathered{}
			c.steps = merge.NewTable[step](c.Aggregate)
			c.total = gathered{measures: c.Totals, lines: make([][]Point, len(c.Totals))}
			c.width, c.recent, c.room = max(c.Step, 1), math.MaxInt64, c.WindowBytes
			if c.Step > 0 {
				c.recent = math.MinInt64
			}
		}
		g = &gathered{label: label, group: group, measures: c.Measures, lines: make([][]Point, len(c.Measures))}
		c.series[label] = g
		c.order = append(c.order, label)
	}
	return g
}

// errWide is the error for tags whose sums alone take more memory than all windows may.
var errWide = errors.New("the tags take too much memory: choose some with -incT, or set a larger -page-size")

// bound merges windows, and makes them wider if they take more memory than they may. Before that
// happens again, a quarter as much may be added: to merge them for each interval would take most of
// the time.
func (c *Collector) bound() error {
	defer func() { c.room = max(c.WindowBytes, c.bytes+c.WindowBytes/4) }()
	if err := c.widen(); err != nil || c.bytes <= c.WindowBytes {
		return err
	}
	limit := c.WindowBytes
	if c.Step > 0 { // make room for a while, so that this is seldom
		limit = limit / 4 * 3
		c.recent = WindowAt(c.newest(limit/3)+c.Step-1, c.Step)
		c.thin()
		if err := c.widen(); err != nil {
			return err
		}
	}
	for c.bytes > limit {
		if c.width >= 1<<40 {
			return errWide
		}
		c.width = Wider(c.width)
		if err := c.widen(); err != nil {
			return err
		}
	}
	return nil
}

// widen merges the windows of all series.
func (c *Collector) widen() error {
	c.bytes = 0
	for _, g := range c.series {
		if err := g.widen(c.width, c.recent); err != nil {
			return fmt.Errorf("%s: %w", Named(g.label), err)
		}
		c.bytes += g.bytes
	}
	return nil
}

// newest returns when the newest windows start, which take so many bytes together.
func (c *Collector) newest(bytes int) int64 {
	sizes := map[int64]int{}
	for _, g := range c.series {
		for _, w := range g.windows {
			sizes[w.Start] += w.size()
		}
	}
	starts := slices.Sorted(maps.Keys(sizes))
	n := len(starts)
	for ; n > 0 && bytes >= sizes[starts[n-1]]; n-- {
		bytes -= sizes[starts[n-1]]
	}
	if n == len(starts) {
		return starts[n-1] + 1
	}
	return starts[n]
}

// thin thins the lines before the recent windows as those of a page.
func (c *Collector) thin() {
	for _, g := range c.series {
		for n, line := range g.lines {
			old, recent := SplitAt(line, c.recent)
			if len(old) > 0 {
				g.lines[n] = append(thinned(old, (old[len(old)-1].End-old[0].Start)/PageColumns), recent...)
			}
		}
	}
}

// PageColumns is how many columns the lines of a page are thinned to: several times the width of a
// screen, so that there is something to zoom into.
const PageColumns = 4000

// SplitAt splits points, which are in order of time, into those that start before a time, and the
// others.
func SplitAt(points []Point, start int64) (before, after []Point) {
	n, _ := slices.BinarySearchFunc(points, float64(start), func(p Point, start float64) int { return cmp.Compare(p.Start, start) })
	return points[:n], points[n:]
}

// mostPoints is the number of points at which a line is thinned: several times what a page shows.
// It bounds the memory for logs of any length.
const mostPoints = 256 << 10

// thinned thins the points of a line, which are in order of time, to four in each column of a width
// in milliseconds.
func thinned(points []Point, width float64) []Point { return slices.Concat(Runs(points, width)...) }

// Picture returns what was gathered as a picture with some looks, whose time 0 is origin, in
// milliseconds since the epoch. Series are those that are known already, to which it adds lines and
// windows. The others follow in the order of their first intervals.
func (c *Collector) Picture(looks *Picture, origin int64, known []Series) (*Picture, error) {
	if err := c.measureSteps(math.MaxInt64); err != nil {
		return nil, err
	}
	if c.WindowBytes > 0 {
		if err := c.bound(); err != nil {
			return nil, err
		}
	}
	own := *looks
	p := &own
	p.Origin, p.Digits = origin, windowDigits
	p.Total.Lines = c.total.linesFrom(origin)
	p.Aggregate, p.WindowMillis = c.Aggregate, c.width
	p.Series = slices.Clone(known)
	named := map[string]bool{}
	for _, s := range known {
		named[s.Label] = true
	}
	for _, label := range c.order {
		if !named[label] {
			p.Series = append(p.Series, Series{Label: label})
		}
	}
	for i := range p.Series {
		s := &p.Series[i]
		g := c.series[s.Label]
		if g == nil {
			continue // a distribution without times
		}
		s.Group, s.Lines = g.group, g.linesFrom(origin)
		if c.WindowBytes > 0 {
			all := slices.Clone(g.windows)
			layout, err := refine(all)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", Named(s.Label), err)
			}
			for i := range all {
				all[i].Start -= origin
				all[i].Begin -= origin
				all[i].End -= origin
			}
			s.Windows, s.Unit = all, g.unit(layout)
		}
	}
	p.Span = c.span(append(p.Series, p.Total))
	return p, nil
}

// span returns the time that a point of a line stands for, if the lines are those of all.
func (c *Collector) span(all []Series) string {
	size := c.Aggregate
	if size == 0 {
		return "each interval"
	}
	for _, s := range all {
		for _, line := range s.Lines {
			if slices.ContainsFunc(line.Points, func(p Point) bool { return p.End-p.Start > 1.5*float64(size) }) {
				return axis.Length(size) + " windows, or of an interval that is longer"
			}
		}
	}
	return axis.Length(size) + " windows"
}

// linesFrom returns the lines, whose times count from origin.
func (g *gathered) linesFrom(origin int64) (lines []Line) {
	for n, m := range g.measures {
		points := slices.Clone(g.lines[n])
		for i := range points {
			points[i].Start -= float64(origin)
			points[i].End -= float64(origin)
		}
		slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(a.Middle(), b.Middle()) })
		lines = append(lines, Line{m.Name, points})
	}
	return lines
}
