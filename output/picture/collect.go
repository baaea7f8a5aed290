package picture

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"hdrkit/hdrlog/histogram"
)

// A Measure is what a line shows of an interval.
type Measure struct {
	Name string
	of   func(h *histogram.Histogram, seconds, ratio float64) float64
}

// AtPercentile measures the value at a percentile, 0 to 100; at 100 it is the maximum.
func AtPercentile(percentile float64) Measure {
	name := "max"
	if percentile < 100 {
		name = strconv.FormatFloat(percentile, 'f', -1, 64) + "%"
	}
	return Measure{name, func(h *histogram.Histogram, _, ratio float64) float64 {
		if h.TotalCount() == 0 {
			return math.NaN()
		}
		if percentile >= 100 {
			return h.Float(h.Max()) / ratio
		}
		return h.Float(h.ValueAtPercentile(percentile)) / ratio
	}}
}

// PerSecond measures how many values were recorded a second.
func PerSecond() Measure {
	return Measure{"values/s", func(h *histogram.Histogram, seconds, _ float64) float64 {
		if seconds <= 0 {
			return math.NaN()
		}
		return float64(h.TotalCount()) / seconds
	}}
}

// A Collector gathers intervals for a picture.
type Collector struct {
	// Measures are what to show of each interval; none for a chart that is not one of lines.
	Measures []Measure
	// Ratio is what values are divided by.
	Ratio float64
	// Aggregate merges the intervals of so many seconds before anything is measured, if above 0.
	Aggregate float64
	// Moving makes each measure one of what was recorded in the so many seconds that end with the interval, if above 0.
	Moving float64
	// WindowBytes keeps histograms by time, for a heat map or HTML, and is the memory that they may take, in bytes: where
	// that is not enough, neighbours in time are merged. 0 keeps none.
	WindowBytes int

	series map[string]*gathered
	width  float64 // of the windows, in seconds
	bytes  int     // what the windows take
}

// gathered is what a collector has of a series.
type gathered struct {
	lines   [][]Point // by measure
	exact   *windows  // if Aggregate is set
	steps   []Window  // the intervals, if Moving is set and Aggregate is not
	windows *windows
}

// An Interval is what a collector needs of one.
type Interval struct {
	start, end float64
	values     []float64        // by measure
	exact      histogram.Packed // if Aggregate or Moving is set
	rough      histogram.Packed // if WindowBytes is
	max        float64          // likewise
	count      int64
}

// Measure takes from an interval, which starts at start and is so long, both in seconds, what is needed of it. It does the
// work, and may be called by several goroutines at once; into is overwritten.
func (c *Collector) Measure(start, length float64, h *histogram.Histogram, into *Interval) {
	into.start, into.end, into.values, into.count = start, start+length, into.values[:0], h.TotalCount()
	if c.Aggregate > 0 || c.Moving > 0 {
		into.exact.Pack(h, histogram.MaxDigits)
	} else {
		for _, m := range c.Measures {
			into.values = append(into.values, m.of(h, length, c.Ratio))
		}
	}
	if c.WindowBytes > 0 {
		into.rough.Pack(h, coarseDigits)
		into.max = h.Float(h.Max()) / c.Ratio
	}
}

// Add adds an interval to a series. It fails where histograms do not add up: [histogram.ErrKind], [histogram.ErrSpan] or
// [histogram.ErrOverflow].
func (c *Collector) Add(label string, i *Interval) error {
	g := c.at(label)
	window := func(counts histogram.Packed) *Window {
		return &Window{Start: i.start, End: i.end, Count: i.count, Max: i.max, counts: counts}
	}
	switch {
	case c.Aggregate > 0:
		if err := g.exact.put(g.exact.key(i.start, i.end), window(i.exact)); err != nil {
			return err
		}
	case c.Moving > 0:
		step := Window{Start: i.start, End: i.end, Count: i.count, Max: i.max}
		step.counts.Copy(i.exact)
		g.steps = append(g.steps, step)
	default:
		for n, v := range i.values {
			g.lines[n] = append(g.lines[n], Point{i.start, i.end, v})
		}
	}
	if c.WindowBytes == 0 {
		return nil
	}
	before := g.windows.bytes
	if err := g.windows.put(g.windows.key(i.start, i.end), window(i.rough)); err != nil {
		return err
	}
	c.bytes += g.windows.bytes - before // a window that is open counts as what it was
	return c.bound()
}

func (c *Collector) at(label string) *gathered {
	g := c.series[label]
	if g == nil {
		if c.series == nil {
			c.series = map[string]*gathered{}
			c.width = firstWidth
		}
		g = &gathered{lines: make([][]Point, len(c.Measures)), exact: newWindows(c.Aggregate), windows: newWindows(c.width)}
		c.series[label] = g
	}
	return g
}

// bound widens the windows until they take no more memory than they may.
func (c *Collector) bound() error {
	for c.bytes > c.WindowBytes && c.width < 1<<40 {
		c.width *= 2
		c.bytes = 0
		for _, g := range c.series {
			if err := g.windows.widen(c.width); err != nil {
				return err
			}
			c.bytes += g.windows.bytes
		}
	}
	return nil
}

// Picture returns what was gathered as a picture of type t. Series are sorted by label; times are counted from origin.
func (c *Collector) Picture(t Type, origin float64) (*Picture, error) {
	if err := c.settleWindows(); err != nil {
		return nil, err
	}
	p := New(t)
	p.Origin = origin
	switch {
	case c.Moving > 0:
		p.Span = "the last " + number(c.Moving) + " s"
	case c.Aggregate > 0:
		p.Span = "each " + number(c.Aggregate) + " s"
	}
	if c.width > firstWidth {
		p.WindowSeconds = c.width
	}
	for _, label := range slices.Sorted(maps.Keys(c.series)) {
		g := c.series[label]
		if err := c.settle(g); err != nil {
			return nil, fmt.Errorf("%s: %w", named(label), err)
		}
		if len(c.Measures) > 0 {
			p.Series = append(p.Series, c.lines(label, g, origin))
		}
		if c.WindowBytes > 0 {
			all := g.windows.inOrder()
			layout, err := refine(all)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", named(label), err)
			}
			for i := range all {
				all[i].Start -= origin
				all[i].End -= origin
			}
			unit := 1 / c.Ratio
			if layout.Ratio != 0 {
				unit *= layout.Ratio
			}
			p.Windows = append(p.Windows, WindowSeries{label, unit, all})
		}
	}
	return p, nil
}

// settleWindows packs the windows that are open.
func (c *Collector) settleWindows() error {
	if c.WindowBytes == 0 {
		return nil
	}
	c.bytes = 0
	for _, g := range c.series {
		g.windows.close()
		c.bytes += g.windows.bytes
	}
	return c.bound()
}

// settle measures what could not be measured interval by interval.
func (c *Collector) settle(g *gathered) error {
	steps := g.steps
	if c.Aggregate > 0 {
		steps = g.exact.inOrder()
	}
	if len(steps) == 0 {
		return nil
	}
	if c.Moving > 0 {
		return c.measureMoving(g, steps)
	}
	for _, s := range steps {
		c.measure(g, s, s.End-s.Start, s.counts.Histogram())
	}
	return nil
}

func (c *Collector) measure(g *gathered, w Window, seconds float64, h *histogram.Histogram) {
	for i, m := range c.Measures {
		g.lines[i] = append(g.lines[i], Point{w.Start, w.End, m.of(h, seconds, c.Ratio)})
	}
}

// measureMoving measures, at the end of each step, all that was recorded in the Moving seconds before.
func (c *Collector) measureMoving(g *gathered, steps []Window) error {
	slices.SortStableFunc(steps, func(a, b Window) int { return cmp.Compare(a.End, b.End) })
	layout, err := refine(steps)
	if err != nil {
		return err
	}
	sum, _ := histogram.New(layout)
	const slop = 1e-6 // seconds: ends are sums of decimal numbers
	oldest := 0
	for _, s := range steps {
		if err := s.counts.AddTo(sum); err != nil {
			return err
		}
		for ; steps[oldest].End <= s.End-c.Moving+slop; oldest++ {
			if err := steps[oldest].counts.SubtractFrom(sum); err != nil {
				return err
			}
		}
		c.measure(g, s, c.Moving, sum)
	}
	return nil
}

func (c *Collector) lines(label string, g *gathered, origin float64) Series {
	s := Series{Label: label}
	for n, m := range c.Measures {
		points := g.lines[n]
		for i := range points {
			points[i].Start -= origin
			points[i].End -= origin
		}
		slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(a.middle(), b.middle()) })
		s.Lines = append(s.Lines, Line{m.Name, points})
	}
	return s
}
