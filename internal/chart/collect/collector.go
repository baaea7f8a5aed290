// Package collect gathers intervals for pictures: the points of lines, and windows with counts. The
// memory of both is bounded. Times are milliseconds since the epoch, or since the start of a log.
//
// A [Collector] takes each [Interval] after it was measured. [Options.Measure] measures a result of
// a flow, for logs that are complete: workers have already computed its figures and coarse counts.
// [Options.MeasureWindow] measures a window of hdrlive from its counts.
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

// Options select the lines and windows that a collector gathers.
type Options struct {
	// Measures are the figures that become lines of each series. A chart without lines has none.
	Measures []chart.Measure
	// Ratio is the number by which values are divided.
	Ratio float64
	// Aggregate is the length of windows in milliseconds whose intervals are merged before they are
	// measured. At 0 each interval is measured by itself. See package merge.
	Aggregate int64
	// Ordered says that no interval comes after its window is complete, see [flow.Windows].
	// Otherwise windows stay open to the end of the logs. For a log of an hour this takes a quarter
	// more CPU time and twice the memory.
	Ordered bool
	// Totals are the figures that become lines of all series together. They need Aggregate. The
	// last one is the rate, which is the only line if the counts of the series do not add up.
	Totals []chart.Measure
	// MaxWindows is the largest number of windows with counts, of all series together, for a heat
	// map or a page. The collector merges adjacent windows when there are more. The limit is a
	// number, not bytes, so that the result does not depend on the order of intervals. At 0 the
	// collector keeps no counts.
	MaxWindows int
	// Paged says that the windows are for a page.
	Paged bool
	// Paired says that the n-th points of all lines belong together, as values and their rate do.
	// Then lines are not thinned, and Add returns [ErrPoints] after [MaxPoints] intervals.
	Paired bool
	// Relative says that times count from the start of each log, which lays logs over one another.
	Relative bool
	// Fold is the period of a folded picture in milliseconds, 0 for none. Intervals then stand at
	// their time since FoldAt, modulo Fold, and Aggregate is 0.
	Fold, FoldAt int64
	// Step is the length in milliseconds of the windows of a live page, 0 for complete logs. With
	// Step, the collector merges old windows and leaves recent ones as they are.
	Step int64
}

// A Collector gathers intervals for a picture.
type Collector struct {
	Options Options

	series    map[string]*series // by label
	labels    []string           // of the series, in the order of their first intervals
	total     total
	widths    windowWidths
	maxPoints int // of a line: MaxPoints, unless a test changes it
}

// windowWidths says how wide the windows of all series are. The collector widens them when there
// are too many.
type windowWidths struct {
	width   int64        // of windows that start before recent, in milliseconds
	recent  int64        // windows that start later are not merged
	count   int          // number of windows of all series
	limit   int          // the collector merges windows when count is above it
	workers atomic.Int64 // width once workers add up counts, and 0 before, see [flow.Wide.Size]
}

// total has the lines of all series together. It adds up the series of one window after another.
type total struct {
	series
	latest      *flow.Window // the sum of all series in the latest window, nil without totals
	count       int64        // number of values in latest
	end         int64        // when latest ends
	origin      int64        // time 0 of the times of latest
	isDifferent bool         // the series have different units or kinds of counts: they do not add up

	scratch histogram.Histogram
}

// series has the lines and the windows of a [chart.Series].
type series struct {
	label    string
	group    string
	ratio    float64 // by which values are divided
	measures []chart.Measure
	lines    [][]chart.Point // by measure
	most     int             // a line with this number of points is thinned
	windows  []window        // nil without MaxWindows
}

// unit returns the value in the picture of the value 1 in a layout.
func (s *series) unit(layout histogram.Layout) float64 { return cmp.Or(layout.Ratio, 1) / s.ratio }

// add adds a point to the line of the n-th measure.
func (s *series) add(n int, p chart.Point) {
	line := append(s.lines[n], p)
	if len(line) == s.most { // thinning leaves about half of the points
		line = chart.Thinned(line, (line[len(line)-1].End-line[0].Start)*8/float64(s.most))
	}
	s.lines[n] = line
}

// An Interval has the figures and counts of an interval, or of a window of merged intervals. The
// Measure methods of [Options] fill it in, and [Collector.Add] takes it. It can be used again.
type Interval struct {
	// Factor converts values of the log into the unit that Ratio divides. 0 stands for 1. It is the
	// same for all intervals of a series.
	Factor float64

	window  window // without counts
	stats   output.Stats
	seconds float64      // length of the interval
	ratio   float64      // by which values are divided
	values  []float64    // by measure
	merged  *flow.Window // the window of Aggregate, nil for a single interval
	counts  *merge.Sum   // nil without MaxWindows
	coarse  merge.Sum    // memory of counts for MeasureWindow
}

// Window returns the interval as a window. Its counts are valid until the interval is measured
// again.
func (i *Interval) Window() chart.Window {
	w := i.window.Window
	w.Counts, w.Sum = i.counts, unit.Divide(w.Sum, i.ratio)
	return w
}

// Values returns the value of each measure.
func (i *Interval) Values() []float64 { return i.values }

// Flow returns the flow that feeds the collector. The flow calls emit with each result, and with
// its window if the result is a window of Aggregate: emit calls [Options.Measure] and
// [Collector.Add]. The flow calls emitCounts with counts that come later than their results:
// emitCounts calls [Collector.AddCounts]. The flow charges windows of Aggregate to memory.
func (c *Collector) Flow(memory *ledger.Ledger, emit func(*flow.Result, *flow.Window) error, emitCounts func(*flow.Window) error) flow.Flow {
	figures, digits := append(chart.FiguresOf(c.Options.Measures), output.Figure{Name: output.Count}), 0
	if c.Options.MaxWindows > 0 {
		figures, digits = append(figures, output.Figure{Name: output.Mean}), windowDigits
	}
	if c.Options.Aggregate > 0 {
		return &flow.Windows{
			Size:     c.Options.Aggregate,
			AtEnd:    !c.Options.Ordered,
			Relative: c.Options.Relative,
			Sources:  true,
			Figures:  figures,
			Digits:   digits,
			Account:  memory.Open("windows", "choose longer ones with -agg"),
			Emit:     func(w *flow.Window) error { return emit(&w.Result, w) },
		}
	}
	each := flow.Intervals{
		Relative: c.Options.Relative,
		Figures:  figures,
		Digits:   digits,
		Emit:     func(r *flow.Result) error { return emit(r, nil) },
	}
	if !c.Options.Paged || c.Options.Fold > 0 { // a heat map gains nothing, and folded counts stand at other times
		return &each
	}
	return &flow.Wide{Intervals: each, Size: &c.widths.workers, EmitCounts: emitCounts}
}

// Measure fills an interval with a result of a flow. Window is nil unless the result is a window of
// Aggregate.
func (o *Options) Measure(r *flow.Result, window *flow.Window, into *Interval) {
	v := r.Visit
	into.merged = window
	into.stats = r.Stats
	into.counts = &r.Coarse
	into.seconds = v.Length
	w := chart.Window{
		Start:     logline.Millis(r.First),
		Begin:     v.StartMillis(),
		End:       v.EndMillis(),
		Intervals: 1,
		Source:    r.Input + 1,
	}
	if window != nil {
		into.seconds = float64(window.Rate.Millis) / 1000
		w.Begin = r.Sum.Start
		w.End = r.Sum.End
		w.Intervals = r.Sum.Intervals()
	}
	if o.Relative {
		w.Begin, w.End = w.Begin-logline.Millis(v.LogStart), w.End-logline.Millis(v.LogStart)
	}
	o.fold(&w)
	o.measure(w, into)
}

// fold moves a window to its time in the period of a folded picture.
func (o *Options) fold(w *chart.Window) {
	if o.Fold <= 0 {
		return
	}
	length := w.End - w.Begin
	at := (w.Begin - o.FoldAt) % o.Fold
	if at < 0 {
		at += o.Fold
	}
	switch {
	case at+length <= o.Fold || length >= o.Fold:
	case !o.Paged: // a picture draws the part behind the period at its beginning
		w.Start = at
		w.Begin = at
		w.End = at + length
		return
	// On a page, the window stands at that end of the period that has its larger part.
	case at+length/2 >= o.Fold:
		at = 0
	default:
		at = o.Fold - length
	}
	w.Start = at
	w.Begin = at
	w.End = min(at+length, o.Fold)
}

// MeasureWindow fills an interval with a window of hdrlive, whose counts are h. The times of the
// interval are those of the window, since the intervals of several logs begin at different times.
func (o *Options) MeasureWindow(m *merge.Merged, h *histogram.Histogram, into *Interval) error {
	figures := append(chart.FiguresOf(o.Measures), output.Figure{Name: output.Mean})
	into.stats = output.FiguresOf(h, figures, into.stats)
	into.seconds = float64(m.Recorded.Millis) / 1000
	into.stats.Moved = m.Recorded.Moved
	into.counts = nil
	if o.MaxWindows > 0 {
		into.coarse.Reset()
		if err := into.coarse.AddCoarse(m.Window.Start, m.Window.End, h, windowDigits); err != nil {
			return err
		}
		into.counts = &into.coarse
	}
	o.measure(chart.Window{
		Start:     m.Window.Start,
		Begin:     m.Window.Start,
		End:       m.Window.End,
		Intervals: m.Intervals(),
	}, into)
	return nil
}

// measure computes the values of an interval, whose stats, length and counts are known.
func (o *Options) measure(times chart.Window, into *Interval) {
	w := window{Window: times}
	into.ratio = o.ratio(into.Factor)
	s := &into.stats
	into.values = into.values[:0]
	for n := range o.Measures {
		into.values = append(into.values, o.Measures[n].Of(s, into.seconds, into.ratio))
	}
	w.Count, w.Max = s.Count, unit.Divide(s.Max.Float(), into.ratio)
	if s.Count > 0 {
		w.Min = math.Inf(1)
	}
	if into.counts != nil && into.counts.Intervals() > 0 {
		w.addStats(s, into.counts.Layout(), into.ratio)
	}
	into.window = w
}

// ratio returns the number by which to divide the values of a log.
func (o *Options) ratio(factor float64) float64 { return o.Ratio / cmp.Or(factor, 1) }

// windowDigits is the precision of the windows' counts, in significant decimal digits: a pixel is
// more than a hundredth of the value that it stands for.
const windowDigits = 2

// Add adds an interval to the series with a label. Group is the Group of the [chart.Series]. The
// error is [ErrPoints], or one of [histogram.Histogram.Add].
func (c *Collector) Add(group, label string, i *Interval) error {
	s := c.seriesOf(group, label)
	s.ratio = c.Options.ratio(i.Factor)
	if c.Options.Paired && len(s.lines[0]) == s.most-1 {
		return ErrPoints
	}
	w := i.window
	for n, v := range i.values {
		if i.merged == nil {
			s.add(n, chart.Point{Start: float64(w.Start), End: float64(w.Start + w.Length()), Value: v})
		} else {
			s.addStep(n, &w, v)
		}
	}
	if i.merged != nil {
		from := int64(0)
		if c.Options.Relative {
			from = logline.Millis(i.merged.Visit.LogStart)
		}
		if err := c.total.add(s, i.merged, from); err != nil {
			return err
		}
		if size := c.Options.Aggregate; i.merged.Lengths <= i.merged.Sum.Intervals()*(size+size/8) { // recorders write intervals late
			w.End = min(w.End, w.Begin+size) // else intervals of several logs overlap the next window
		}
	}
	return c.addWindow(s, &w, i.counts)
}

// addStep adds the value of a window to the line of the n-th measure. The point before ends at the
// start of the window at the latest: windows of logs that begin at different times overlap.
func (s *series) addStep(n int, w *window, v float64) {
	if line := s.lines[n]; len(line) > 0 {
		if last := &line[len(line)-1]; last.Start < float64(w.Start) {
			last.End = min(last.End, float64(w.Start))
		}
	}
	s.add(n, chart.Point{Start: float64(w.Start), End: float64(w.End), Value: v})
}

// add adds a window of a series to the sum of all series in this window. The times of the window
// count from origin.
func (t *total) add(s *series, w *flow.Window, origin int64) error {
	if t.measures == nil {
		return nil
	}
	if t.latest == nil || t.latest.Window != w.Window {
		if err := t.measure(); err != nil {
			return err
		}
		t.latest = w
		t.count = w.Stats.Count
		t.end = w.Sum.End
		t.origin = origin
		t.isDifferent = t.isDifferent || t.ratio != 0 && t.ratio != s.ratio
		t.ratio = s.ratio
		w.Keep()
		return nil
	}
	err := t.latest.Merge(w)
	t.count += w.Stats.Count
	t.end = max(t.end, w.Sum.End)
	t.isDifferent = t.isDifferent || t.ratio != s.ratio || errors.Is(t.latest.Err(), histogram.ErrKind)
	if t.isDifferent {
		return err
	}
	return cmp.Or(err, t.latest.Err())
}

// measure adds the points of the latest window to the lines, and releases the window. If the series
// do not add up, only the line of the rate gets a point.
func (t *total) measure() error {
	if t.latest == nil {
		return nil
	}
	s := output.Stats{Count: t.count}
	if t.isDifferent {
		n := len(t.measures) - 1
		t.measures = t.measures[n:]
		t.lines = t.lines[n:]
	} else {
		h, err := t.latest.Sum.Histogram(&t.scratch)
		if err != nil {
			return err
		}
		s = output.FiguresOf(h, chart.FiguresOf(t.measures), output.Stats{})
	}
	s.Moved = t.latest.Rate.Moved
	w := window{Window: chart.Window{Start: logline.Millis(t.latest.First), End: t.end - t.origin}}
	for n := range t.measures {
		t.addStep(n, &w, t.measures[n].Of(&s, float64(t.latest.Rate.Any)/1000, t.ratio))
	}
	t.latest.Release()
	t.latest = nil
	return nil
}

// addWindow adds a window with its counts to a series, and merges windows if there are too many.
func (c *Collector) addWindow(s *series, w *window, counts *merge.Sum) error {
	if c.Options.MaxWindows == 0 {
		return nil
	}
	before := len(s.windows)
	if err := s.addWindow(w, counts, c.widths.workers.Load()); err != nil {
		return err
	}
	c.widths.count += len(s.windows) - before
	if c.widths.count > c.widths.limit {
		return c.limitWindows()
	}
	return nil
}

// AddCounts adds the counts of intervals that Add has added to a series without counts, see
// [flow.Wide.EmitCounts].
func (c *Collector) AddCounts(label string, late *flow.Window) error {
	s := c.series[label]
	at := chart.WindowAt(late.Window.Start, c.widths.width)
	n := len(s.windows) - 1
	for ; n > 0; n-- {
		w := &s.windows[n]
		hasValues := w.Count > 0 || late.Stats.Count == 0 // a window of empty intervals has no minimum
		if hasValues && chart.WindowAt(w.Start, c.widths.width) == at {
			break
		}
	}
	w := &s.windows[n]
	w.addStats(&late.Stats, late.Coarse.Layout(), s.ratio)
	return w.counts.Merge(&late.Coarse)
}

// Forget drops windows and points that end at or before a time, and series that have no windows
// left. It reports whether it dropped any window.
func (c *Collector) Forget(time int64) (dropped bool) {
	for label, s := range c.series {
		n := len(s.windows)
		s.windows = slices.DeleteFunc(s.windows, func(w window) bool { return w.End <= time })
		if len(s.windows) == n {
			continue
		}
		dropped = true
		for i, line := range s.lines {
			s.lines[i] = slices.DeleteFunc(line, func(p chart.Point) bool { return p.End <= float64(time) })
		}
		c.widths.count -= n - len(s.windows)
		if len(s.windows) == 0 {
			delete(c.series, label)
			c.labels = slices.DeleteFunc(c.labels, func(other string) bool { return other == label })
		}
	}
	return dropped
}

// Widths returns the width in milliseconds of the windows that start before the time recent.
// Windows that start later are not merged.
func (c *Collector) Widths() (width, recent int64) { return c.widths.width, c.widths.recent }

// Labels returns the labels of the series in the order of their first intervals.
func (c *Collector) Labels() []string { return c.labels }

// UnitOf returns the value in the picture of the value 1 in a layout of a series.
func (c *Collector) UnitOf(label string, layout histogram.Layout) float64 {
	return c.series[label].unit(layout)
}

// seriesOf returns the series with a label, which it adds if there is none.
func (c *Collector) seriesOf(group, label string) *series {
	s := c.series[label]
	if s == nil {
		if c.series == nil {
			c.series = map[string]*series{}
			c.total.series = series{
				measures: c.Options.Totals,
				lines:    make([][]chart.Point, len(c.Options.Totals)),
				most:     cmp.Or(c.maxPoints, MaxPoints),
			}
			c.widths.width = max(c.Options.Step, 1)
			c.widths.recent = math.MaxInt64
			c.widths.limit = c.Options.MaxWindows
			if c.Options.Step > 0 {
				c.widths.recent = math.MinInt64
			}
		}
		s = &series{
			label:    label,
			group:    group,
			measures: c.Options.Measures,
			lines:    make([][]chart.Point, len(c.Options.Measures)),
			most:     cmp.Or(c.maxPoints, MaxPoints),
		}
		c.series[label] = s
		c.labels = append(c.labels, label)
	}
	return s
}

// errTags is the error for more series than MaxWindows.
var errTags = errors.New("there are too many tags: choose some with -incT, or set a larger -page-size")

// limitWindows merges windows, and widens them until there are at most MaxWindows. Afterwards it
// raises the limit by a quarter of MaxWindows: to merge after each interval would take most of the
// time.
func (c *Collector) limitWindows() error {
	defer func() { c.widths.limit = max(c.Options.MaxWindows, c.widths.count+c.Options.MaxWindows/4) }()
	if err := c.widen(); err != nil || c.widths.count <= c.Options.MaxWindows {
		return err
	}
	limit := c.Options.MaxWindows
	if c.Options.Step > 0 { // merge a quarter more, so that the page seldom needs all data anew
		limit = limit / 4 * 3
		c.widths.recent = chart.WindowAt(c.startOfNewest(limit/3)+c.Options.Step-1, c.Options.Step)
		c.thinOldLines()
		if err := c.widen(); err != nil {
			return err
		}
	}
	if len(c.series) > limit {
		return errTags
	}
	for c.widths.count > limit && c.widths.width < 1<<40 {
		c.widths.width = chart.Wider(c.widths.width)
		if err := c.widen(); err != nil {
			return err
		}
	}
	intervals := int64(0)
	for _, s := range c.series {
		for n := range s.windows {
			intervals += s.windows[n].Intervals
		}
	}
	if c.Options.Step == 0 && intervals >= workersFrom*int64(c.widths.count) {
		c.widths.workers.Store(c.widths.width)
	}
	return nil
}

// workersFrom is the average number of intervals in a window from which on workers add up counts.
// The page of a day of six tags then takes 0.73 of the CPU time; with 7 it takes 0.78.
const workersFrom = 4

// widen merges the old windows of all series into windows of the current width.
func (c *Collector) widen() error {
	c.widths.count = 0
	for _, s := range c.series {
		if err := s.widen(c.widths.width, c.widths.recent); err != nil {
			return fmt.Errorf("%s: %w", chart.Named(s.label), err)
		}
		c.widths.count += len(s.windows)
	}
	return nil
}

// startOfNewest returns the earliest time from which on at most limit windows start.
func (c *Collector) startOfNewest(limit int) int64 {
	counts := map[int64]int{}
	for _, s := range c.series {
		for _, w := range s.windows {
			counts[w.Start]++
		}
	}
	starts := slices.Sorted(maps.Keys(counts))
	n := len(starts)
	for ; n > 0 && limit >= counts[starts[n-1]]; n-- {
		limit -= counts[starts[n-1]]
	}
	if n == len(starts) {
		return starts[n-1] + 1
	}
	return starts[n]
}

// thinOldLines thins the points before the recent windows to the columns of a page.
func (c *Collector) thinOldLines() {
	for _, s := range c.series {
		for n, line := range s.lines {
			old, recent := chart.SplitAt(line, c.widths.recent)
			if len(old) > 0 {
				s.lines[n] = append(chart.Thinned(old, (old[len(old)-1].End-old[0].Start)/chart.PageColumns), recent...)
			}
		}
	}
}

// MaxPoints is the number of points at which a line is thinned, which bounds its memory. A page
// shows only a part of them.
const MaxPoints = 256 << 10

// ErrPoints is the error for too many points of lines that must not be thinned.
var ErrPoints = errors.New("too many windows")

// Picture returns a copy of a picture with the lines and windows of all series. Origin is time 0 of
// the picture, in milliseconds since the epoch. Known series, which may have curves, come first,
// and the others follow in the order of their first intervals.
func (c *Collector) Picture(of *chart.Picture, origin int64, known []chart.Series) (*chart.Picture, error) {
	if err := c.total.measure(); err != nil {
		return nil, err
	}
	if c.Options.MaxWindows > 0 {
		if err := c.limitWindows(); err != nil {
			return nil, err
		}
	}
	picture := *of
	p := &picture
	p.Time.Origin, p.Precision.Digits = origin, windowDigits
	p.Total.Lines = c.total.linesFrom(origin)
	p.Precision.Aggregate, p.Precision.WindowMillis = c.Options.Aggregate, c.widths.width
	p.Series = slices.Clone(known)
	named := map[string]bool{}
	for _, s := range known {
		named[s.Label] = true
	}
	for _, label := range c.labels {
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
		if c.Options.MaxWindows > 0 {
			all := slices.Clone(g.windows)
			layout, err := refine(all)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", chart.Named(s.Label), err)
			}
			s.Windows, s.Unit = chartWindows(all, origin, g.ratio), g.unit(layout)
		}
	}
	p.Precision.Widen = widenChartWindows
	p.Inputs.Span = c.span(append(p.Series, p.Total))
	return p, nil
}

// span returns the text of the time that a point of a line stands for, such as "each interval". All
// are the series with their lines.
func (c *Collector) span(all []chart.Series) string {
	size := c.Options.Aggregate
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

// linesFrom returns the lines of a series in order of time. Their times count from origin.
func (s *series) linesFrom(origin int64) (lines []chart.Line) {
	for n, m := range s.measures {
		points := slices.Clone(s.lines[n])
		for i := range points {
			points[i].Start -= float64(origin)
			points[i].End -= float64(origin)
		}
		slices.SortStableFunc(points, func(a, b chart.Point) int { return cmp.Compare(a.Middle(), b.Middle()) })
		lines = append(lines, chart.Line{Name: m.Name, Points: points})
	}
	return lines
}
