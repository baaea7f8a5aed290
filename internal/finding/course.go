package finding

import (
	"math"
	"slices"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/detect"
	"hdrkit/internal/gate"
	"hdrkit/internal/summary"
	"hdrkit/output"
)

// A change is how a level changes, with the figures on both sides. Those of the rate are values per
// second.
type change struct {
	detect.Change
	// start and end are those of what is different, in milliseconds since the epoch.
	start, end    int64
	before, after float64
}

// A rowChange is how the level of a row changes.
type rowChange struct {
	change
	row        *output.Summary
	percentile float64 // the percentile of before and after
	// times is how many times as high maxima are from start to end, if the change is a phase.
	times float64
}

// courses are all changes that the parts of a run show, and what the parts say of groups and of the
// highest row.
type courses struct {
	rows []rowChange
	logs []logPhase // logs that are higher than the others for a time
	slow []slowLog
	rate *change // nil if it does not change
	// lead is by how much the row with the highest figure is above the next one in each part of the
	// time, as a logarithm: nil if that is not known.
	lead []float64
	// lastingGroups is set if values of each group come in most parts of the time.
	lastingGroups bool
}

// findCourses finds how levels change.
func (a *analysis) findCourses() (all courses) {
	all.logs, all.slow = a.logChanges()
	all.rate = a.rateChange()
	switch {
	case len(a.figures.values) == 0:
	case a.run.Course == nil && a.run.Histories == nil:
	case a.run.Course == nil: // only the maxima are known
		for _, row := range a.run.Summaries {
			if c := a.maximaPhase(row); c != nil {
				all.rows = append(all.rows, *c)
			}
		}
	default:
		a.addTimelines(&all)
	}
	return all
}

// addTimelines adds what the levels of rows tell. If windows cannot be decoded, the rest of the
// levels is not known.
func (a *analysis) addTimelines(all *courses) {
	highest := a.figures.values[:min(2, len(a.figures.values))]
	levels := make([][]float64, 2) // levels of the two highest rows
	for t, err := range a.run.Course.Rows() {
		if err != nil {
			return
		}
		row := gate.Find(a.run.Summaries, t.Tag)
		if row == nil {
			continue
		}
		if c := a.rowChange(t, row); c != nil {
			all.rows = append(all.rows, *c)
		}
		for n := range highest {
			if highest[n].row == row && len(highest) == 2 {
				levels[n] = levelsBeside(t, highest)
			}
		}
		if highest[0].row == row && len(a.figures.groups) > 1 {
			all.lastingGroups = lasting(t, a.figures.groups, row.Scale.Of(1))
		}
	}
	for n := range min(len(levels[0]), len(levels[1])) {
		if d := levels[0][n] - levels[1][n]; !math.IsNaN(d) {
			all.lead = append(all.lead, d)
		}
	}
}

// rowChange returns how the level of a row changes, nil if it does not: at a high percentile, or
// that of maxima if it has too few values for that, or at the median.
func (a *analysis) rowChange(t *summary.Timeline, row *output.Summary) (c *rowChange) {
	high := a.figures.values[0].percentile
	for _, percentile := range []float64{high, 50} {
		levels, at := t.Levels(percentile)
		if len(levels) == 0 && percentile == high {
			if c := a.maximaPhase(row); c != nil {
				return c
			}
		}
		detect.Find(levels, 2*len(a.run.Summaries), func(found detect.Change) bool {
			seen := sight{
				Change:     found,
				timeline:   t,
				at:         at,
				percentile: percentile,
				high:       high,
			}
			c = a.describe(row, &seen)
			return c != nil
		})
		if c != nil {
			return c
		}
	}
	return nil
}

// A sight is a change that is seen at a percentile of a timeline. A few moments or values may have
// made it.
type sight struct {
	detect.Change
	timeline   *summary.Timeline
	at         []int // windows at which its parts begin
	percentile float64
	high       float64 // the percentile that sentences name if it changes, too
}

// A stretch is the windows from one to before another.
type stretch struct{ from, to int }

// sides returns the windows before and after the change.
func (s *sight) sides() (before, after stretch) {
	windows := s.timeline.Windows()
	from, to := s.at[s.Spans[0].From], s.at[s.Spans[0].To]
	switch s.Kind {
	case detect.Step:
		aside := max(windows/30, 1) // the moment of a step may lie so far beside
		return stretch{0, max(from-aside, 1)}, stretch{min(from+aside, windows-1), windows}
	case detect.Drift:
		tenth := max(windows/10, 1)
		return stretch{0, tenth}, stretch{windows - tenth, windows}
	case detect.Decay:
		return stretch{0, to}, stretch{to, windows}
	}
	return stretch{0, from}, stretch{from, to}
}

// levels are the values of a stretch at percentiles: the high one of sentences, the median, the one
// at which the change is seen, and two around that.
type levels struct{ high, median, seen, near, nearer float64 }

func (s *sight) levels(of stretch) levels {
	near, nearer := 100-2*(100-s.percentile), s.percentile
	if s.percentile == 50 {
		near, nearer = 40, 60
	}
	v := s.timeline.Values(of.from, of.to, s.high, 50, s.percentile, near, nearer)
	return levels{v[0], v[1], v[2], v[3], v[4]}
}

// over returns how far levels are above others, as logarithms.
func (l levels) over(before levels) levels {
	return levels{
		high:   math.Log(l.high / before.high),
		median: math.Log(l.median / before.median),
		seen:   math.Log(l.seen / before.seen),
		near:   math.Log(l.near / before.near),
		nearer: math.Log(l.nearer / before.nearer),
	}
}

// broad reports whether many values moved. Where a percentile lies between two groups of values,
// few of them decide which one it is. So it must move as well with twice as many values above it,
// and the median with a tenth less and more.
func (l levels) broad() bool { return min(l.near/l.seen, l.nearer/l.seen) >= 0.5 }

// describe returns the times and figures of a change of a row, nil if a few moments or values made
// it.
func (a *analysis) describe(row *output.Summary, s *sight) *rowChange {
	first, second := s.sides()
	before, after := s.levels(first), s.levels(second)
	moved := after.over(before)
	c := &rowChange{
		change: change{
			Change: s.Change,
			start:  s.timeline.At(s.at[s.Spans[0].From]),
			end:    s.timeline.At(s.at[s.Spans[0].To]),
		},
		row:        row,
		percentile: s.high,
	}
	if math.Abs(moved.high) < math.Abs(moved.median)/2 {
		c.percentile = 50
	}
	c.setSides(before, after)
	switch {
	case !moved.broad() || !worthwhile(c.after/c.before):
		return nil
	case s.Kind == detect.Phases && !alike(moved.seen, s.By): // a few values make its parts high
		return nil
	case s.Kind == detect.Drift:
		return c
	case s.Kind == detect.Step && s.percentile == 50: // maxima need not follow the median
	case !a.inMaxima(c, s.times()):
		return nil
	}
	if from := s.at[s.Spans[0].From]; s.Kind == detect.Step && c.after < c.before && 4*from < s.timeline.Windows() {
		c.Kind = detect.Decay // a begin that was higher
		c.start, c.end = s.timeline.Start, c.start
	}
	return c
}

// setSides sets the figures on both sides.
func (c *rowChange) setSides(before, after levels) {
	c.before, c.after = before.high, after.high
	if c.percentile == 50 {
		c.before, c.after = before.median, after.median
	}
}

// times returns when the parts begin.
func (s *sight) times() (all []int64) {
	for _, window := range s.at {
		all = append(all, s.timeline.At(window))
	}
	return all
}

// maximaPhase returns a time for which the maxima of a row are higher, nil if there is none.
func (a *analysis) maximaPhase(row *output.Summary) (c *rowChange) {
	intervals := a.intervalsOf(row)
	if len(intervals) == 0 {
		return nil
	}
	start, end := a.run.Histories.Ran()
	size := max((end-start)/detect.Parts, 1)
	whole := summary.Track{Intervals: intervals}
	var levels []float64
	var at []int64
	for part, intervals := range whole.Parts(start, size) {
		if v := detect.MedianMax(intervals); v > 0 {
			levels = append(levels, math.Log(v))
			at = append(at, start+int64(part)*size)
		}
	}
	at = append(at, end)
	detect.Find(levels, len(a.run.Summaries), func(found detect.Change) bool {
		if found.Kind != detect.Phases {
			return false
		}
		c = &rowChange{
			change: change{Change: found, start: at[found.Spans[0].From], end: at[found.Spans[0].To]},
			row:    row,
		}
		if !a.inMaxima(c, at) {
			c = nil
		}
		return c != nil
	})
	return c
}

// alike reports whether a figure moves by about as much as a level does.
func alike(moved, by float64) bool { return moved/by >= 0.5 && moved/by <= 2 }

// leastLevel is by how many more intervals of a level are high than are not.
const leastLevel = 10

// inMaxima reports whether the maxima of a row are higher by about as much as the level that
// changes, whose parts begin at some times. Otherwise a few moments made it. Maxima say to the
// interval when a phase begins and ends.
func (a *analysis) inMaxima(c *rowChange, at []int64) bool {
	end := c.end
	if c.Kind == detect.Decay { // when it is high
		end = max(c.start+(c.end-c.start)/3, at[1])
	}
	intervals := outside(a.intervalsOf(c.row), c.Spans[1:], at)
	higher := detect.Narrow(intervals, c.start, end, at[1]-at[0])
	switch {
	case !alike(math.Log(higher.Times), c.By) || !worthwhile(higher.Times):
		return false
	case c.Kind != detect.Phases:
		return true
	case higher.More < leastLevel || followsLoad(intervals, higher):
		return false
	}
	c.start, c.end = higher.Start, higher.End
	c.times = higher.Times
	return true
}

// outside returns the intervals that begin in none of the spans, whose parts begin at some times.
func outside(intervals []detect.Interval, spans []detect.Span, at []int64) (all []detect.Interval) {
	for _, i := range intervals {
		within := func(s detect.Span) bool { return i.Start >= at[s.From] && i.Start < at[s.To] }
		if !slices.ContainsFunc(spans, within) {
			all = append(all, i)
		}
	}
	return all
}

// followsLoad reports whether the rate of values grows by as much as their maxima.
func followsLoad(intervals []detect.Interval, higher detect.Higher) bool {
	load, otherwise := detect.Rates(intervals, higher.Start, higher.End)
	return load >= higher.Times*otherwise
}

// levelsBeside returns the logarithms of the figure of a row in the parts in which the two highest
// rows have enough values, nil if there are too few.
func levelsBeside(t *summary.Timeline, highest []value) (levels []float64) {
	count := min(highest[0].row.Counts().TotalCount(), highest[1].row.Counts().TotalCount())
	parts := t.Parts(count, highest[0].percentile)
	for n := 1; n < len(parts); n++ {
		levels = append(levels, math.Log(t.Values(parts[n-1], parts[n], highest[0].percentile)[0]))
	}
	return levels
}

// lasting reports whether the values of each group come in many windows, at least half of those
// that have values. What comes in a few is a moment. Unit is a unit of the row in printed ones.
func lasting(t *summary.Timeline, groups []detect.Group, unit float64) bool {
	in := make([][]float64, len(groups)) // values of a group by window
	var all []float64
	for n := range t.Windows() {
		h := t.Counts(n)
		if h == nil {
			continue
		}
		all = append(all, float64(h.TotalCount()))
		for g, count := range countGroups(h, groups, unit) {
			in[g] = append(in[g], count)
		}
	}
	few := func(counts []float64) bool { return 2*detect.Spread(counts) < detect.Spread(all) }
	return !slices.ContainsFunc(in, few)
}

// countGroups returns how many values are in each group.
func countGroups(h *histogram.Histogram, groups []detect.Group, unit float64) []float64 {
	in := make([]float64, len(groups))
	for slot, count := range h.Slots() {
		v := h.Float(h.Layout().HighestAt(slot)) * unit
		g := len(groups) - 1
		for g > 0 && v < groups[g].From {
			g--
		}
		in[g] += float64(count)
	}
	return in
}
