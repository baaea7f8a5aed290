// Package collect gathers intervals for pictures: the points of lines, and windows with counts,
// whose memory has a bound. Times are milliseconds.
//
// An [Interval] is the one door for logs at rest and for live logs, as [output.Summary] is for
// limits and [output.Row] for rows over time. [Collector.Measure] makes one of a result of a flow,
// whose figures and coarse counts the workers have found, and whose times are those of its
// intervals. [Collector.MeasureWindow] makes one of a live window, which has counts, and the times
// of the window. One type for both was tried for limits, pictures and rows: it takes 22 lines and a
// type more, since each needs something that the other does not have.
package collect

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync/atomic"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/logline"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/flow"
	"hdrkit/output"
)

// Options say what a collector gathers.
type Options struct {
	// Measures are the lines of each series. A chart without lines has none.
	Measures []chart.Measure
	// Ratio is the number by which values are divided.
	Ratio float64
	// Aggregate merges the intervals of each window of so many milliseconds before anything is
	// measured, if it is above 0. See package merge.
	Aggregate int64
	// Ordered says that no interval is late for its window, see [flow.Windows]. Otherwise windows
	// stay open to the end, which takes a quarter more CPU time for a log of an hour, and twice the
	// memory.
	Ordered bool
	// Totals are the lines of all series together, if any. They need Aggregate. The last one is the
	// rate. If the series do not add up, only the rate is drawn.
	Totals []chart.Measure
	// MostWindows is the largest number of windows with counts of all series together, for a heat
	// map or a page. If there are more, the collector merges windows that follow each other. So
	// what it merges does not depend on the order of intervals, as bytes would. 0 keeps no counts.
	MostWindows int
	// Paged says that the windows are for a page.
	Paged bool
	// Paired says that the points of a window belong together, as values and their rate do. The
	// lines are then not thinned: Add returns an error for more windows than [MostPoints].
	Paired bool
	// Relative lays logs over one another: times count from the start of each log.
	Relative bool
	// Fold is a period in milliseconds: an interval stands at its time modulo that, from FoldAt on,
	// if it is above 0. Aggregate is 0 then.
	Fold, FoldAt int64
	// Step is set if windows of so many milliseconds keep coming. The collector then merges only
	// older windows, and recent ones stay as they are. 0 merges all of them alike.
	Step int64
}

// A Collector gathers intervals for a picture.
type Collector struct {
	Options

	series map[string]*gathered
	order  []string // the labels of series as they came
	width  int64    // of the windows that start before recent
	recent int64    // later windows are not merged
	count  int      // of windows
	room   int      // when count is above it, windows are merged
	total  total
	most   int          // MostPoints, unless a test changes it
	wide   atomic.Int64 // see [flow.Wide.Size]: width once workers add up counts, and 0 before
}

// total has the lines of all series together.
type total struct {
	gathered
	all      *flow.Window // the sum of all series in the latest window, if there are totals
	count    int64        // of the values in all
	end      int64        // of all
	from     int64        // what its times count from
	mismatch bool         // series do not add up, so all has no counts

	scratch histogram.Histogram
}

// gathered has the lines and the windows of a series.
type gathered struct {
	label    string
	group    string
	ratio    float64
	measures []chart.Measure
	lines    [][]chart.Point // by measure
	most     int             // points of a line
	windows  []window        // if MostWindows is set
}

// unit returns what a value of 1 of a layout is in the picture.
func (g *gathered) unit(layout histogram.Layout) float64 { return cmp.Or(layout.Ratio, 1) / g.ratio }

// add adds a point to a line.
func (g *gathered) add(n int, p chart.Point) {
	line := append(g.lines[n], p)
	if len(line) == g.most { // thinning leaves about half of the points
		line = chart.Thinned(line, (line[len(line)-1].End-line[0].Start)*8/float64(g.most))
	}
	g.lines[n] = line
}

// An Interval is what a collector needs of an interval, or of a window of several.
type Interval struct {
	// Factor is what one unit of the values is in the unit that Ratio divides, 0 for 1. It is the
	// same for all intervals of a series.
	Factor float64

	window  window // without counts
	stats   output.Stats
	seconds float64
	ratio   float64      // what values are divided by
	values  []float64    // by measure
	merged  *flow.Window // nil if it is not a window of Aggregate
	counts  *merge.Sum   // for windows over time, nil if none are kept
	coarse  merge.Sum    // memory of counts for MeasureWindow
}

// Window returns the interval as a window, whose counts are those of the interval until it is
// measured again.
func (i *Interval) Window() chart.Window {
	w := i.window.Window
	w.Counts, w.Sum = i.counts, unit.Divide(w.Sum, i.ratio)
	return w
}

// Values returns the value of each measure.
func (i *Interval) Values() []float64 { return i.values }

// Flow returns the flow that the collector needs. Emit takes its results, with the window if a
// result is one of a window, and adds them by [Collector.Measure] and [Collector.Add]. EmitCounts
// takes counts that come later, and adds them by [Collector.AddCounts]. Windows of Aggregate are
// charged to memory.
func (c *Collector) Flow(memory *ledger.Ledger, emit func(*flow.Result, *flow.Window) error, emitCounts func(*flow.Window) error) flow.Flow {
	figures, digits := append(chart.FiguresOf(c.Measures), output.Figure{Name: output.Count}), 0
	if c.MostWindows > 0 {
		figures, digits = append(figures, output.Figure{Name: output.Mean}), windowDigits
	}
	if c.Aggregate > 0 {
		return &flow.Windows{
			Size:     c.Aggregate,
			AtEnd:    !c.Ordered,
			Relative: c.Relative,
			Sources:  true,
			Figures:  figures,
			Digits:   digits,
			Account:  memory.Open("windows", "choose longer ones with -agg"),
			Emit:     func(w *flow.Window) error { return emit(&w.Result, w) },
		}
	}
	each := flow.Intervals{
		Relative: c.Relative,
		Figures:  figures,
		Digits:   digits,
		Emit:     func(r *flow.Result) error { return emit(r, nil) },
	}
	if !c.Paged || c.Fold > 0 { // a heat map takes as long without, and folded counts stand at other times
		return &each
	}
	return &flow.Wide{Intervals: each, Size: &c.wide, EmitCounts: emitCounts}
}

// Measure measures a result of the flow. Of is its window, nil for an interval.
func (c *Collector) Measure(r *flow.Result, of *flow.Window, into *Interval) {
	v := r.Visit
	into.merged = of
	into.stats = r.Stats
	into.counts = &r.Coarse
	into.seconds = v.Length
	w := window{Window: chart.Window{Start: logline.Millis(r.First), Intervals: 1, Source: r.Input + 1}}
	w.Begin, w.End = v.StartMillis(), v.EndMillis()
	if of != nil {
		into.seconds = float64(of.Rate.Millis) / 1000
		w.Begin = r.Start
		w.End = r.End
		w.Intervals = r.Intervals()
	}
	if c.Relative {
		w.Begin, w.End = w.Begin-logline.Millis(v.LogStart), w.End-logline.Millis(v.LogStart)
	}
	c.fold(&w)
	c.measure(w, into)
}

// fold moves a window to its time in a period.
func (c *Collector) fold(w *window) {
	if c.Fold <= 0 {
		return
	}
	length := w.End - w.Begin
	at := (w.Begin - c.FoldAt) % c.Fold
	if at < 0 {
		at += c.Fold
	}
	switch {
	case at+length <= c.Fold || length >= c.Fold:
	case !c.Paged: // the picture takes it around
		w.Start = at
		w.Begin = at
		w.End = at + length
		return
	// On a page it stands on the side on which most of it is.
	case at+length/2 >= c.Fold:
		at = 0
	default:
		at = c.Fold - length
	}
	w.Start = at
	w.Begin = at
	w.End = min(at+length, c.Fold)
}

// MeasureWindow does what Measure does for a window of merged intervals, whose counts are h. Its
// times are those of the window: the intervals of several logs begin at different times.
func (c *Collector) MeasureWindow(m *merge.Merged, h *histogram.Histogram, into *Interval) error {
	figures := append(chart.FiguresOf(c.Measures), output.Figure{Name: output.Mean})
	into.stats = output.FiguresOf(h, figures, into.stats)
	into.seconds = float64(m.Recorded.Millis) / 1000
	into.stats.Moved = m.Recorded.Moved
	into.counts = nil
	if c.MostWindows > 0 {
		into.coarse.Reset()
		if err := into.coarse.AddCoarse(m.Window.Start, m.Window.End, h, windowDigits); err != nil {
			return err
		}
		into.counts = &into.coarse
	}
	c.measure(window{Window: chart.Window{
		Start:     m.Window.Start,
		Begin:     m.Window.Start,
		End:       m.Window.End,
		Intervals: m.Intervals(),
	}}, into)
	return nil
}

func (c *Collector) measure(w window, into *Interval) {
	into.ratio = c.ratio(into.Factor)
	s := &into.stats
	into.values = into.values[:0]
	for n := range c.Measures {
		into.values = append(into.values, c.Measures[n].Of(s, into.seconds, into.ratio))
	}
	w.Count, w.Max = s.Count, unit.Divide(s.Max.Float(), into.ratio)
	if s.Count > 0 {
		w.Min = math.Inf(1)
	}
	if into.counts != nil && into.counts.Intervals() > 0 {
		w.know(s, into.counts.Layout(), into.ratio)
	}
	into.window = w
}

// ratio returns what to divide values by.
func (c *Collector) ratio(factor float64) float64 { return c.Ratio / cmp.Or(factor, 1) }

// windowDigits is the precision of the windows' counts, in significant decimal digits: a pixel is
// more than a hundredth of the value that it stands for.
const windowDigits = 2

// Add adds an interval to the series with a label. Group is that of [chart.Series]. The error is
// that of [histogram.Histogram.Add].
func (c *Collector) Add(group, label string, i *Interval) error {
	g := c.at(group, label)
	g.ratio = c.ratio(i.Factor)
	if c.Paired && len(g.lines[0]) == g.most-1 {
		return ErrPoints
	}
	w := i.window
	for n, v := range i.values {
		if i.merged == nil {
			g.add(n, chart.Point{Start: float64(w.Start), End: float64(w.Start + w.Length()), Value: v})
		} else {
			g.addStep(n, &w, v)
		}
	}
	if i.merged != nil {
		from := int64(0)
		if c.Relative {
			from = logline.Millis(i.merged.Visit.LogStart)
		}
		if err := c.total.add(g, i.merged, from); err != nil {
			return err
		}
		if size := c.Aggregate; i.merged.Lengths <= i.merged.Intervals()*(size+size/8) { // timers are late
			w.End = min(w.End, w.Begin+size) // where intervals of several logs overlap the next window
		}
	}
	return c.addWindow(g, &w, i.counts)
}

// addStep adds the point of a window. Logs may begin at different times.
func (g *gathered) addStep(n int, w *window, v float64) {
	if line := g.lines[n]; len(line) > 0 {
		if last := &line[len(line)-1]; last.Start < float64(w.Start) {
			last.End = min(last.End, float64(w.Start))
		}
	}
	g.add(n, chart.Point{Start: float64(w.Start), End: float64(w.End), Value: v})
}

// add adds a window of a series to the sum of all series in this window. From is what times count
// from.
func (t *total) add(g *gathered, w *flow.Window, from int64) error {
	if t.measures == nil {
		return nil
	}
	if t.all == nil || t.all.Window != w.Window {
		if err := t.measure(); err != nil {
			return err
		}
		t.all = w
		t.count = w.Stats.Count
		t.end = w.End
		t.from = from
		t.mismatch = t.mismatch || t.ratio != 0 && t.ratio != g.ratio
		t.ratio = g.ratio
		w.Keep()
		return nil
	}
	err := t.all.Merge(w)
	t.count += w.Stats.Count
	t.end = max(t.end, w.End)
	t.mismatch = t.mismatch || t.ratio != g.ratio || errors.Is(t.all.Err(), histogram.ErrKind)
	if t.mismatch {
		return err
	}
	return cmp.Or(err, t.all.Err())
}

// measure measures the sum of all series in a window, if there is one. If the series do not add up,
// it measures only the rate, which is the last measure.
func (t *total) measure() error {
	if t.all == nil {
		return nil
	}
	s := output.Stats{Count: t.count}
	if t.mismatch {
		n := len(t.measures) - 1
		t.measures = t.measures[n:]
		t.lines = t.lines[n:]
	} else {
		h, err := t.all.Histogram(&t.scratch)
		if err != nil {
			return err
		}
		s = output.FiguresOf(h, chart.FiguresOf(t.measures), output.Stats{})
	}
	s.Moved = t.all.Rate.Moved
	w := window{Window: chart.Window{Start: logline.Millis(t.all.First), End: t.end - t.from}}
	for n := range t.measures {
		t.addStep(n, &w, t.measures[n].Of(&s, float64(t.all.Rate.Any)/1000, t.ratio))
	}
	t.all.Release()
	t.all = nil
	return nil
}

// addWindow adds a window and its counts to a series.
func (c *Collector) addWindow(g *gathered, w *window, counts *merge.Sum) error {
	if c.MostWindows == 0 {
		return nil
	}
	before := len(g.windows)
	if err := g.keep(w, counts, c.wide.Load()); err != nil {
		return err
	}
	if c.count += len(g.windows) - before; c.count > c.room {
		return c.bound()
	}
	return nil
}

// AddCounts adds counts of intervals that were added to a series before, see
// [flow.Wide.EmitCounts].
func (c *Collector) AddCounts(label string, late *flow.Window) error {
	g := c.series[label]
	at := chart.WindowAt(late.Window.Start, c.width)
	n := len(g.windows) - 1
	for ; n > 0; n-- {
		w := &g.windows[n]
		hasValues := w.Count > 0 || late.Stats.Count == 0 // a window of empty intervals has no minimum
		if hasValues && chart.WindowAt(w.Start, c.width) == at {
			break
		}
	}
	w := &g.windows[n]
	w.know(&late.Stats, late.Coarse.Layout(), g.ratio)
	return w.counts.Merge(&late.Coarse)
}

// Forget drops windows and points that end at or before a time. It reports whether it dropped any.
func (c *Collector) Forget(time int64) (some bool) {
	for label, g := range c.series {
		n := len(g.windows)
		g.windows = slices.DeleteFunc(g.windows, func(w window) bool { return w.End <= time })
		if len(g.windows) == n {
			continue
		}
		some = true
		for i, line := range g.lines {
			g.lines[i] = slices.DeleteFunc(line, func(p chart.Point) bool { return p.End <= float64(time) })
		}
		c.count -= n - len(g.windows)
		if len(g.windows) == 0 {
			delete(c.series, label)
			c.order = slices.DeleteFunc(c.order, func(other string) bool { return other == label })
		}
	}
	return some
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
			c.total.gathered = gathered{
				measures: c.Totals,
				lines:    make([][]chart.Point, len(c.Totals)),
				most:     cmp.Or(c.most, MostPoints),
			}
			c.width = max(c.Step, 1)
			c.recent = math.MaxInt64
			c.room = c.MostWindows
			if c.Step > 0 {
				c.recent = math.MinInt64
			}
		}
		g = &gathered{
			label:    label,
			group:    group,
			measures: c.Measures,
			lines:    make([][]chart.Point, len(c.Measures)),
			most:     cmp.Or(c.most, MostPoints),
		}
		c.series[label] = g
		c.order = append(c.order, label)
	}
	return g
}

// errWide is the error for more series than there may be windows.
var errWide = errors.New("there are too many tags: choose some with -incT, or set a larger -page-size")

// bound merges windows, and widens them until there are at most MostWindows. After that they may
// grow by a quarter before bound runs again: to run it for each interval would take most of the
// time.
func (c *Collector) bound() error {
	defer func() { c.room = max(c.MostWindows, c.count+c.MostWindows/4) }()
	if err := c.widen(); err != nil || c.count <= c.MostWindows {
		return err
	}
	limit := c.MostWindows
	if c.Step > 0 { // make room for a while, so that this is seldom
		limit = limit / 4 * 3
		c.recent = chart.WindowAt(c.newest(limit/3)+c.Step-1, c.Step)
		c.thin()
		if err := c.widen(); err != nil {
			return err
		}
	}
	if len(c.series) > limit {
		return errWide
	}
	for c.count > limit && c.width < 1<<40 {
		c.width = chart.Wider(c.width)
		if err := c.widen(); err != nil {
			return err
		}
	}
	intervals := int64(0)
	for _, g := range c.series {
		for n := range g.windows {
			intervals += g.windows[n].Intervals
		}
	}
	if c.Step == 0 && intervals >= wideFrom*int64(c.count) {
		c.wide.Store(c.width)
	}
	return nil
}

// wideFrom is the average number of intervals of a window from which on workers add up counts.
// The page of a day of six tags takes 0.73 of the CPU time with that. With 7 it takes 0.78.
const wideFrom = 4

// widen merges the windows of all series.
func (c *Collector) widen() error {
	c.count = 0
	for _, g := range c.series {
		if err := g.widen(c.width, c.recent); err != nil {
			return fmt.Errorf("%s: %w", chart.Named(g.label), err)
		}
		c.count += len(g.windows)
	}
	return nil
}

// newest returns the time from which on there are at most so many windows.
func (c *Collector) newest(most int) int64 {
	counts := map[int64]int{}
	for _, g := range c.series {
		for _, w := range g.windows {
			counts[w.Start]++
		}
	}
	starts := slices.Sorted(maps.Keys(counts))
	n := len(starts)
	for ; n > 0 && most >= counts[starts[n-1]]; n-- {
		most -= counts[starts[n-1]]
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
			old, recent := chart.SplitAt(line, c.recent)
			if len(old) > 0 {
				g.lines[n] = append(chart.Thinned(old, (old[len(old)-1].End-old[0].Start)/chart.PageColumns), recent...)
			}
		}
	}
}

// MostPoints is the number of points at which a line is thinned: several times what a page shows.
// It bounds the memory for logs of any length.
const MostPoints = 256 << 10

// ErrPoints is the error for too many points of lines that must not be thinned.
var ErrPoints = errors.New("too many windows")

// Picture returns what was gathered as a picture with some looks, whose time 0 is origin, in
// milliseconds since the epoch. Series are those that are known already, to which it adds lines and
// windows. The others follow in the order of their first intervals.
func (c *Collector) Picture(looks *chart.Picture, origin int64, known []chart.Series) (*chart.Picture, error) {
	if err := c.total.measure(); err != nil {
		return nil, err
	}
	if c.MostWindows > 0 {
		if err := c.bound(); err != nil {
			return nil, err
		}
	}
	picture := *looks
	p := &picture
	p.Time.Origin, p.Precision.Digits = origin, windowDigits
	p.Total.Lines = c.total.linesFrom(origin)
	p.Precision.Aggregate, p.Precision.WindowMillis = c.Aggregate, c.width
	p.Series = slices.Clone(known)
	named := map[string]bool{}
	for _, s := range known {
		named[s.Label] = true
	}
	for _, label := range c.order {
		if !named[label] {
			p.Series = append(p.Series, chart.Series{Label: label})
		}
	}
	for i := range p.Series {
		s := &p.Series[i]
		g := c.series[s.Label]
		if g == nil {
			continue // a distribution without times
		}
		s.Group, s.Lines = g.group, g.linesFrom(origin)
		if c.MostWindows > 0 {
			all := slices.Clone(g.windows)
			layout, err := refine(all)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", chart.Named(s.Label), err)
			}
			s.Windows, s.Unit = finished(all, origin, g.ratio), g.unit(layout)
		}
	}
	p.Precision.Widen = widenPicture
	p.Inputs.Span = c.span(append(p.Series, p.Total))
	return p, nil
}

// span returns the time that a point of a line stands for, if the lines are those of all.
func (c *Collector) span(all []chart.Series) string {
	size := c.Aggregate
	if size == 0 {
		return "each interval"
	}
	for _, s := range all {
		for _, line := range s.Lines {
			if slices.ContainsFunc(line.Points, func(p chart.Point) bool { return p.End-p.Start > 1.5*float64(size) }) {
				return axis.Length(size) + " windows, or of an interval that is longer"
			}
		}
	}
	return axis.Length(size) + " windows"
}

// linesFrom returns the lines, whose times count from origin.
func (g *gathered) linesFrom(origin int64) (lines []chart.Line) {
	for n, m := range g.measures {
		points := slices.Clone(g.lines[n])
		for i := range points {
			points[i].Start -= float64(origin)
			points[i].End -= float64(origin)
		}
		slices.SortStableFunc(points, func(a, b chart.Point) int { return cmp.Compare(a.Middle(), b.Middle()) })
		lines = append(lines, chart.Line{Name: m.Name, Points: points})
	}
	return lines
}
