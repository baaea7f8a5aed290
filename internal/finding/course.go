package finding

import (
	"math"
	"slices"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/detect"
	"hdrkit/internal/summary"
	"hdrkit/output"
)

// A levelChange is a change of a level over time: of a percentile, of maxima, or of the rate.
type levelChange struct {
	detect.Change
	// start and end are the time in which the level is different, in milliseconds since the epoch.
	start, end int64
	// before and after are the figures on both sides: values in the unit of the log, or values per
	// second.
	before, after float64
}

// A rowChange is a change of the level of a row.
type rowChange struct {
	levelChange
	row        *output.Summary
	percentile float64 // the percentile of before and after
	// times is the ratio of the maxima from start to end to the other maxima, if the change is a
	// phase.
	times float64
}

// courses are the results of a look at the parts of the time: all changes of levels, and whether
// the highest row and the groups of values stay over time.
type courses struct {
	rows []rowChange
	logs []logPhase // logs that are higher than the others for a time
	slow []slowLog
	rate *levelChange // nil if it does not change
	// lead has for each part of the time by how much the row with the highest figure is above the
	// next row, as a difference of logarithms. It is nil if that is not known.
	lead []float64
	// lastingGroups is set if values of each group come in most windows.
	lastingGroups bool
}

// findCourses finds the changes of the rows, of the logs and of the rate.
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

// addTimelines adds the changes of rows, the lead of the highest row, and whether groups last. If a
// window cannot be decoded, it leaves out the rows from there on.
func (a *analysis) addTimelines(all *courses) {
	highest := a.figures.values[:min(2, len(a.figures.values))]
	levels := make([][]float64, 2) // levels of the two highest rows
	for t, err := range a.run.Course.Rows() {
		if err != nil {
			return
		}
		row := summary.Find(a.run.Summaries, t.Tag)
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
			all.lastingGroups = groupsLast(t, a.figures.groups, row.Scale.Of(1))
		}
	}
	for n := range min(len(levels[0]), len(levels[1])) {
		if d := levels[0][n] - levels[1][n]; !math.IsNaN(d) {
			all.lead = append(all.lead, d)
		}
	}
}

// rowChange returns the change of the level of a row, nil if there is none. It looks at a high
// percentile first, or at maxima if values are too few for the percentile, and then at the median.
func (a *analysis) rowChange(t *summary.Timeline, row *output.Summary) (c *rowChange) {
	high := a.figures.values[0].percentile
	for _, percentile := range []float64{high, 50} {
		levels, at := t.Levels(percentile)
		if len(levels) == 0 && percentile == high {
			if c := a.maximaPhase(row); c != nil {
				return c
			}
		}
		detect.FindChange(levels, 2*len(a.run.Summaries), func(found detect.Change) bool {
			possible := candidate{
				Change:     found,
				timeline:   t,
				at:         at,
				percentile: percentile,
				high:       high,
			}
			c = a.describe(row, &possible)
			return c != nil
		})
		if c != nil {
			return c
		}
	}
	return nil
}

// A candidate is a change that shows at a percentile of a timeline. A few moments or values may
// have caused it.
type candidate struct {
	detect.Change
	timeline   *summary.Timeline
	at         []int // windows at which the parts of the timeline begin
	percentile float64
	high       float64 // the high percentile, which sentences name if it changes as well
}

// A stretch is the windows from index from to before index to.
type stretch struct{ from, to int }

// sides returns the windows before and after the change.
func (s *candidate) sides() (before, after stretch) {
	windows := s.timeline.Windows()
	from, to := s.at[s.Spans[0].From], s.at[s.Spans[0].To]
	switch s.Kind {
	case detect.Step:
		margin := max(windows/30, 1) // the real moment of the step may lie this far away
		return stretch{0, max(from-margin, 1)}, stretch{min(from+margin, windows-1), windows}
	case detect.Drift:
		tenth := max(windows/10, 1)
		return stretch{0, tenth}, stretch{windows - tenth, windows}
	case detect.Decay:
		return stretch{0, to}, stretch{to, windows}
	}
	return stretch{0, from}, stretch{from, to}
}

// levels are the values of a stretch at five percentiles: the high percentile, the median, the
// percentile of the candidate, and two percentiles around it.
type levels struct{ high, median, seen, near, nearer float64 }

// levels returns the levels of a stretch.
func (s *candidate) levels(of stretch) levels {
	near, nearer := 100-2*(100-s.percentile), s.percentile
	if s.percentile == 50 {
		near, nearer = 40, 60
	}
	v := s.timeline.Values(of.from, of.to, s.high, 50, s.percentile, near, nearer)
	return levels{v[0], v[1], v[2], v[3], v[4]}
}

// over returns how far levels are above the levels before, as differences of logarithms.
func (l levels) over(before levels) levels {
	return levels{
		high:   math.Log(l.high / before.high),
		median: math.Log(l.median / before.median),
		seen:   math.Log(l.seen / before.seen),
		near:   math.Log(l.near / before.near),
		nearer: math.Log(l.nearer / before.nearer),
	}
}

// isBroad reports whether many values moved. If a percentile lies between two groups of values, few
// values decide in which group it is. So a percentile with twice as many values above it must move
// as well, and around the median p40 and p60.
func (l levels) isBroad() bool { return min(l.near/l.seen, l.nearer/l.seen) >= 0.5 }

// describe returns the times and figures of a change of a row, nil if a few moments or values
// caused the change.
func (a *analysis) describe(row *output.Summary, s *candidate) *rowChange {
	first, second := s.sides()
	before, after := s.levels(first), s.levels(second)
	moved := after.over(before)
	c := &rowChange{
		levelChange: levelChange{
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
	c.setFigures(before, after)
	switch {
	case !moved.isBroad() || !worthwhile(c.after/c.before):
		return nil
	case s.Kind == detect.Phases && !alike(moved.seen, s.By): // a few values caused the high parts
		return nil
	case s.Kind == detect.Drift:
		return c
	case s.Kind == detect.Step && s.percentile == 50: // maxima need not follow the median
	case !a.inMaxima(c, s.times()):
		return nil
	}
	if from := s.at[s.Spans[0].From]; s.Kind == detect.Step && c.after < c.before && 4*from < s.timeline.Windows() {
		c.Kind = detect.Decay // the begin was higher
		c.start, c.end = s.timeline.Start, c.start
	}
	return c
}

// setFigures sets the figures before and after the change.
func (c *rowChange) setFigures(before, after levels) {
	c.before, c.after = before.high, after.high
	if c.percentile == 50 {
		c.before, c.after = before.median, after.median
	}
}

// times returns when the parts of the timeline begin, in milliseconds since the epoch.
func (s *candidate) times() (all []int64) {
	for _, window := range s.at {
		all = append(all, s.timeline.At(window))
	}
	return all
}

// maximaPhase returns a time in which the maxima of a row are higher, nil if there is none.
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
	detect.FindChange(levels, len(a.run.Summaries), func(found detect.Change) bool {
		if found.Kind != detect.Phases {
			return false
		}
		c = &rowChange{
			levelChange: levelChange{Change: found, start: at[found.Spans[0].From], end: at[found.Spans[0].To]},
			row:         row,
		}
		if !a.inMaxima(c, at) {
			c = nil
		}
		return c != nil
	})
	return c
}

// alike reports whether a figure moves by about as much as a level. Both are differences of
// logarithms.
func alike(moved, by float64) bool { return moved/by >= 0.5 && moved/by <= 2 }

// minLevel is the least number by which high intervals exceed the others in a time of high
// maxima.
const minLevel = 10

// inMaxima reports whether the maxima of a row are higher by about as much as the level that
// changes. Otherwise a few moments caused the change. At has the begins of the parts of the time.
// If the change is a phase, inMaxima sets the intervals at which the phase begins and ends.
func (a *analysis) inMaxima(c *rowChange, at []int64) bool {
	end := c.end
	if c.Kind == detect.Decay { // the first third is high
		end = max(c.start+(c.end-c.start)/3, at[1])
	}
	intervals := intervalsOutside(a.intervalsOf(c.row), c.Spans[1:], at)
	higher := detect.Narrow(intervals, c.start, end, at[1]-at[0])
	switch {
	case !alike(math.Log(higher.Times), c.By) || !worthwhile(higher.Times):
		return false
	case c.Kind != detect.Phases:
		return true
	case higher.More < minLevel || followsLoad(intervals, higher):
		return false
	}
	c.start, c.end = higher.Start, higher.End
	c.times = higher.Times
	return true
}

// intervalsOutside returns the intervals that begin in none of the spans. At has the begins of the
// parts of the time, which spans count in.
func intervalsOutside(intervals []detect.Interval, spans []detect.Span, at []int64) (all []detect.Interval) {
	for _, i := range intervals {
		within := func(s detect.Span) bool { return i.Start >= at[s.From] && i.Start < at[s.To] }
		if !slices.ContainsFunc(spans, within) {
			all = append(all, i)
		}
	}
	return all
}

// followsLoad reports whether the rate grows by as much as the maxima.
func followsLoad(intervals []detect.Interval, higher detect.Higher) bool {
	load, otherwise := detect.Rates(intervals, higher.Start, higher.End)
	return load >= higher.Times*otherwise
}

// levelsBeside returns the logarithm of the figure of a row in each part of the time. Parts are so
// long that both of the two highest rows have enough values. It returns nil if there are too few
// parts.
func levelsBeside(t *summary.Timeline, highest []value) (levels []float64) {
	count := min(highest[0].row.Counts().TotalCount(), highest[1].row.Counts().TotalCount())
	parts := t.Parts(count, highest[0].percentile)
	for n := 1; n < len(parts); n++ {
		levels = append(levels, math.Log(t.Values(parts[n-1], parts[n], highest[0].percentile)[0]))
	}
	return levels
}

// groupsLast reports whether the values of each group come in at least half of the windows that
// have values. Unit is the unit of the row in printed units.
func groupsLast(t *summary.Timeline, groups []detect.Group, unit float64) bool {
	in := make([][]float64, len(groups)) // number of values by group and window
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

// countGroups returns the number of values of h in each group.
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
