package finding

import (
	"math"

	"hdrkit/internal/detect"
	"hdrkit/internal/gate"
	"hdrkit/internal/summary"
	"hdrkit/output"
)

// A course is how the level of a row, of a log or of the rate changes.
type course struct {
	detect.Change
	// row has the level, and percentile is that of before and after. They are nothing for a log and
	// for the rate.
	row        *output.Summary
	percentile float64
	// input and tag have the level if it is that of a log beside the others.
	input string
	tag   []byte
	// start and end are those of what is different, in milliseconds since the epoch.
	start, end int64
	// before and after are the figures on both sides, the rate in values per second. Times is how
	// many times as high maxima are from start to end.
	before, after, times float64
}

// courses are those of the rows whose level changes, of logs that differ from the others, and of
// the rate, nil if it does not change.
type courses struct {
	rows, logs []course
	rate       *course
	// lead is by how much the row with the highest figure is above the next one in each part of the
	// time, as a logarithm: nil if that is not known.
	lead []float64
	// groupsLast reports whether values of each group come in most parts of the time.
	groupsLast bool
}

// courses returns how the levels of the run change. What differs between separate runs is no course
// of one.
func (r *Run) courses() *courses {
	if r.coursesOf != nil {
		return r.coursesOf
	}
	all := new(courses)
	r.coursesOf = all
	if r.separate() {
		return all
	}
	all.logs = r.logCourses()
	all.rate = r.rateCourse()
	values := r.values()
	if len(values) == 0 {
		return all
	}
	if r.Course == nil { // only the maxima are known
		for _, row := range r.Summaries {
			if c := r.maximaCourse(row); c != nil {
				all.rows = append(all.rows, *c)
			}
		}
		return all
	}
	var levels [2][]float64 // of the two highest rows
	for t, err := range r.Course.Rows() {
		if err != nil { // if windows cannot be decoded, the levels are not known
			return all
		}
		row := gate.Find(r.Summaries, t.Tag)
		if row == nil {
			continue
		}
		if c := r.rowCourse(t, row, values[0].percentile); c != nil {
			all.rows = append(all.rows, *c)
		}
		for n := range levels {
			if n < len(values) && values[n].row == row {
				levels[n] = levelsBeside(t, values)
			}
		}
		if row == values[0].row && len(r.figures().groups) > 1 {
			all.groupsLast = last(t, r.figures().groups, row.Scale.Of(1))
		}
	}
	for n := range min(len(levels[0]), len(levels[1])) {
		if d := levels[0][n] - levels[1][n]; !math.IsNaN(d) {
			all.lead = append(all.lead, d)
		}
	}
	return all
}

// rowCourse returns how the level of a row changes, nil if it does not: at a high percentile, or
// that of maxima if it has too few values for that, or at the median.
func (r *Run) rowCourse(t *summary.Timeline, row *output.Summary, percentile float64) (c *course) {
	for _, p := range []float64{percentile, 50} {
		levels, at := t.Levels(p)
		if len(levels) == 0 && p == percentile {
			if c := r.maximaCourse(row); c != nil {
				return c
			}
		}
		detect.Find(levels, 2*len(r.Summaries), func(found detect.Change) bool {
			c = r.describe(t, row, [2]float64{p, percentile}, found, at)
			return c != nil
		})
		if c != nil {
			return c
		}
	}
	return nil
}

// maximaCourse returns a time for which the maxima of a row are higher, nil if there is none.
func (r *Run) maximaCourse(row *output.Summary) (c *course) {
	if len(r.tracks()) == 0 {
		return nil
	}
	start, end := r.Histories.Ran()
	size := max((end-start)/detect.Parts, 1)
	together := summary.Track{Intervals: summary.Together(r.tracksOfRow(row.Tag))}
	var levels []float64
	var at []int64
	for part, intervals := range together.Parts(start, size) {
		if v := detect.MedianMax(intervals); v > 0 {
			levels = append(levels, math.Log(v))
			at = append(at, start+int64(part)*size)
		}
	}
	at = append(at, end)
	detect.Find(levels, len(r.Summaries), func(found detect.Change) bool {
		c = &course{Change: found, row: row, start: at[found.Spans[0].From], end: at[found.Spans[0].To]}
		if found.Kind != detect.Phases || !r.narrow(c, at) {
			c = nil
		}
		return c != nil
	})
	return c
}

// describe returns the times and figures of a change of a row that is seen at the first of two
// percentiles, nil if it is one of a few moments or values only. It is about the second percentile
// if that changes, too.
func (r *Run) describe(t *summary.Timeline, row *output.Summary, percentiles [2]float64, found detect.Change, at []int) *course {
	span := found.Spans[0]
	from, to := at[span.From], at[span.To]
	c := &course{
		Change:     found,
		row:        row,
		percentile: percentiles[1],
		start:      t.At(from),
		end:        t.At(to),
	}
	// Where a percentile lies between two groups of values, few of them decide which one it is. So
	// it must change as well with twice as many values above it, and the median with a tenth less
	// and more.
	near, nearer := 100-2*(100-percentiles[0]), percentiles[0]
	if percentiles[0] == 50 {
		near, nearer = 40, 60
	}
	figures := func(from, to int) []float64 {
		return t.Values(from, to, percentiles[1], 50, percentiles[0], near, nearer)
	}
	var before, after []float64
	var times []int64
	for _, n := range at {
		times = append(times, t.At(n))
	}
	aside := max(t.Windows()/30, 1) // the moment of a step may lie so far beside
	tenth := max(t.Windows()/10, 1)
	switch found.Kind {
	case detect.Step:
		before, after = figures(0, max(from-aside, 1)), figures(min(from+aside, t.Windows()-1), t.Windows())
	case detect.Drift:
		before, after = figures(0, tenth), figures(t.Windows()-tenth, t.Windows())
	case detect.Decay:
		before, after = figures(0, to), figures(to, t.Windows())
	case detect.Phases:
		before, after = figures(0, from), figures(from, to)
	}
	moved := func(n int) float64 { return math.Log(after[n] / before[n]) }
	figure := 0
	if math.Abs(moved(0)) < math.Abs(moved(1))/2 {
		figure = 1
		c.percentile = 50
	}
	c.before, c.after = before[figure], after[figure]
	if !(min(moved(3)/moved(2), moved(4)/moved(2)) >= 0.5) || !worthwhile(c.after/c.before) {
		return nil
	}
	if found.Kind == detect.Phases && !alike(moved(2), found.By) { // a few values make its parts high
		return nil
	}
	if found.Kind == detect.Drift || r.Histories == nil {
		return c
	}
	if (percentiles[0] != 50 || found.Kind != detect.Step) && !r.narrow(c, times) {
		return nil
	}
	if found.Kind == detect.Step && c.after < c.before && 4*from < t.Windows() { // a begin that was higher
		c.Kind = detect.Decay
		c.start, c.end = t.Start, c.start
		c.before, c.after = figures(0, from)[figure], figures(from, t.Windows())[figure]
	}
	return c
}

// leastLevel is by how many more intervals of a level are high than are not.
const leastLevel = 10

// alike reports whether a figure moves by about as much as a level does.
func alike(moved, by float64) bool { return moved/by >= 0.5 && moved/by <= 2 }

// narrow finds by the maxima of intervals when a level begins and ends, whose parts begin at some
// times. It returns false if they are not higher by about as much as the level: then a few moments
// made it.
func (r *Run) narrow(c *course, at []int64) bool {
	var intervals []detect.Interval
	for _, i := range summary.Together(r.tracksOfRow(c.row.Tag)) {
		elsewhere := false
		for _, s := range c.Spans[1:] {
			elsewhere = elsewhere || i.Start >= at[s.From] && i.Start < at[s.To]
		}
		if !elsewhere {
			intervals = append(intervals, i)
		}
	}
	end := c.end
	if c.Kind == detect.Decay { // when it is high
		end = max(c.start+(c.end-c.start)/3, at[1])
	}
	start, end, times, more := detect.Narrow(intervals, c.start, end, at[1]-at[0])
	if !alike(math.Log(times), c.By) || !worthwhile(times) {
		return false
	}
	if c.Kind == detect.Phases {
		load, otherwise := detect.Rates(intervals, start, end)
		if more < leastLevel || load >= times*otherwise { // it follows the load
			return false
		}
		c.start = start
		c.end = end
		c.times = times
	}
	return true
}

// levelsBeside returns the logarithms of the figure of a row in the parts in which the two highest
// rows have enough values, nil if there are too few.
func levelsBeside(t *summary.Timeline, highest []value) (levels []float64) {
	if len(highest) < 2 {
		return nil
	}
	count := min(highest[0].row.Counts().TotalCount(), highest[1].row.Counts().TotalCount())
	parts := t.Parts(count, highest[0].percentile)
	for n := 1; n < len(parts); n++ {
		levels = append(levels, math.Log(t.Values(parts[n-1], parts[n], highest[0].percentile)[0]))
	}
	return levels
}

// last reports whether the values of each group come in many windows, at least half of those that
// have values. What comes in a few is a moment. Unit is a unit of the row in printed ones.
func last(t *summary.Timeline, groups []detect.Group, unit float64) bool {
	in := make([][]float64, len(groups))
	var all []float64
	for n := range t.Windows() {
		h := t.Counts(n)
		if h == nil {
			continue
		}
		all = append(all, float64(h.TotalCount()))
		counts := make([]float64, len(groups))
		for slot, count := range h.Slots() {
			v := h.Float(h.Layout().HighestAt(slot)) * unit
			g := len(groups) - 1
			for g > 0 && v < groups[g].From {
				g--
			}
			counts[g] += float64(count)
		}
		for g := range groups {
			in[g] = append(in[g], counts[g])
		}
	}
	for g := range groups {
		if 2*many(in[g]) < many(all) {
			return false
		}
	}
	return true
}

// many returns the number of equal counts that would vary as much as some do.
func many(counts []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, c := range counts {
		sum += c
		squares += c * c
	}
	return sum * sum / max(squares, 1)
}

// tracks returns those of all tags of all logs.
func (r *Run) tracks() []summary.Track {
	if r.tracksOf == nil && r.Histories != nil {
		r.tracksOf = r.Histories.Tracks(r.scale)
	}
	return r.tracksOf
}

// tracksOfRow returns the tracks that a row has.
func (r *Run) tracksOfRow(row []byte) (all []summary.Track) {
	for _, t := range r.tracks() {
		if s := r.row(t.Input, t.Tag); s != nil && string(s.Tag) == string(row) {
			all = append(all, t)
		}
	}
	return all
}

// leastCount is the number of values that a part of the time has for its rate, on average.
const leastCount = 10

// rateCourse returns how the rate of all logs together changes, nil if it does not. That of a log
// counts while it runs, and so many logs run together as in most parts.
func (r *Run) rateCourse() (c *course) {
	if len(r.tracks()) == 0 {
		return nil
	}
	start, end := r.Histories.Ran()
	parts := min(detect.Parts, r.figures().count/leastCount)
	size := max((end-start)/max(parts, 1), 1)
	rates := make([]float64, parts+1)
	logs := make([]map[string]bool, parts+1)
	for _, t := range r.tracks() {
		for part, intervals := range t.Parts(start, size) {
			if part > int(parts) {
				break
			}
			rate, _ := detect.Rates(intervals, math.MinInt64, math.MaxInt64)
			rates[part] += rate
			if logs[part] == nil {
				logs[part] = make(map[string]bool)
			}
			logs[part][t.Input] = true
		}
	}
	var levels []float64
	var at []int64
	var running []float64
	for part := range parts {
		if rates[part] > 0 {
			running = append(running, float64(len(logs[part])))
			levels = append(levels, math.Log(rates[part]/float64(len(logs[part]))))
			at = append(at, start+part*size)
		}
	}
	at = append(at, end)
	detect.Find(levels, 1, func(found detect.Change) bool {
		if found.Kind != detect.Step && found.Kind != detect.Drift {
			return false
		}
		from := found.Spans[0].From
		before, after := levels[:from], levels[from:]
		if found.Kind == detect.Drift {
			tenth := len(levels) / 10
			before, after = levels[:tenth], levels[len(levels)-tenth:]
		}
		together := detect.Median(running)
		c = &course{
			Change: found,
			start:  at[from],
			end:    end,
			before: together * math.Exp(detect.Median(before)),
			after:  together * math.Exp(detect.Median(after)),
		}
		if !worthwhile(c.after / c.before) {
			c = nil
		}
		return c != nil
	})
	return c
}
