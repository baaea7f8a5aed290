package finding

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/counts"
	"hdrkit/internal/base/people"
	"hdrkit/internal/detect"
	"hdrkit/output"
)

// named are the percentiles that a sentence may name. It names the first percentile that has at
// least [counts.Few] values above it.
var named = []float64{99, 90, 50}

// A value is the value of a row at a percentile.
type value struct {
	row        *output.Summary
	percentile float64
	printed    float64 // in printed units
	// low is the lowest value that the figure may have by chance, if values are independent. Its
	// rank is lower by two standard errors of the difference of two such figures.
	low float64
}

// name returns the name of the percentile, such as p99.
func (v *value) name() string { return output.Figure{Percentile: v.percentile}.String() }

// rowFigures are the figures of all rows.
type rowFigures struct {
	count   int64           // number of values of all rows
	highest float64         // the maximum of all rows, in printed units
	top     *output.Summary // the row with the maximum
	// values has the value of each row at one percentile, the highest first. The percentile is the
	// first of the named percentiles that any row has enough values above. Rows with too few values
	// are left out.
	values []value
	// others is the highest value of the rows that values leaves out, in printed units.
	others float64
	// ceiling is the number of values of top that are as high as the maximum. It is 0 if they are
	// few, or if other values are nearly as high.
	ceiling int64
	// groups are the groups of values of the first row of values, and mean is the mean of this row.
	groups []detect.Group
	mean   float64
}

// figuresOf returns the figures of rows. It decodes the counts of each row only once.
func figuresOf(rows []*output.Summary) (all rowFigures) {
	first := len(named)                     // index of the first of named that a row has enough values for
	leading := 0.0                          // the highest of all.values
	maxima := make([]float64, len(named)+1) // highest maximum of rows, by the index that first has for the row
	for _, s := range rows {
		h := s.Counts()
		if h.TotalCount() == 0 {
			continue
		}
		all.count = saturatedSum(all.count, h.TotalCount())
		highest := s.Scale.Of(h.MaxFloat())
		if highest > all.highest {
			all.top, all.highest = s, highest
			all.ceiling = ceiling(h)
		}
		n := slices.IndexFunc(named, func(p float64) bool { return counts.Above(h, p) >= counts.Few })
		if n < 0 {
			n = len(named)
		}
		maxima[n] = max(maxima[n], highest)
		if n == len(named) || n > first {
			continue
		}
		if n < first {
			first, all.values = n, nil
		}
		p := named[n]
		above := float64(counts.Above(h, p))
		lower := 100 * (1 - (above+2*math.Sqrt(2*above))/float64(h.TotalCount()))
		v := value{
			row:        s,
			percentile: p,
			printed:    s.Scale.Of(h.Float(h.ValueAtPercentile(p))),
			low:        s.Scale.Of(h.Float(h.ValueAtPercentile(lower))),
		}
		if len(all.values) == 0 || v.printed > leading {
			leading = v.printed
			all.groups = detect.Groups(printedValues(s, h))
			all.mean = s.Scale.Of(h.Mean())
		}
		all.values = append(all.values, v)
	}
	slices.SortStableFunc(all.values, func(a, b value) int { return cmp.Compare(b.printed, a.printed) })
	if first < len(named) {
		all.others = slices.Max(maxima[first+1:])
	}
	return all
}

// saturatedSum returns the sum of two counts, or the largest int64 if the sum exceeds it.
func saturatedSum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// sameValue is the largest difference between values of one timeout, as a part of the value.
const sameValue = 0.01

// ceiling returns the number of values that are as high as the maximum, such as those of requests
// that timed out. It returns 0 if they are few, if they are more than a tenth of all values, or if
// as many values are nearly as high.
func ceiling(h *histogram.Histogram) int64 {
	least := int64(float64(h.Max()) * (1 - sameValue))
	at := h.CountBetween(least, math.MaxInt64)
	if at < counts.Few || 10*at > h.TotalCount() || at <= h.CountBetween(h.Max()/2, least-1) {
		return 0
	}
	return at
}

// printedValues returns the values of a row in printed units, each with the number of such values.
func printedValues(s *output.Summary, h *histogram.Histogram) iter.Seq2[float64, int64] {
	times := s.Scale.Of(1)
	return func(yield func(float64, int64) bool) {
		for b := range h.Recorded() {
			if !yield(times*(h.Float(b.Low)+h.Float(b.High))/2, b.Count) {
				return
			}
		}
	}
}

// groups finds that the values of the row with the highest figure fall into groups.
func (a *analysis) groups() []output.Finding {
	all := &a.figures
	if len(all.groups) < 2 || !a.courses.lastingGroups {
		return nil
	}
	row := all.values[0].row
	f := output.Finding{
		Weight:  output.Notes,
		Figures: map[string]output.Number{"groups": output.Number(len(all.groups)), "mean": output.Number(all.mean)},
		Unit:    a.run.Scale.Unit,
		Option:  "hdrplot -type heatmap",
	}
	values := "Values"
	if len(a.run.Summaries) > 1 {
		f.Tag = row.Name()
		values += " of " + a.say.row(row.Name())
	}
	var texts []string
	between := true // the mean is near no group
	for _, g := range all.groups {
		texts = append(texts, fmt.Sprintf("%.0f%% near %s", 100*g.Share, a.say.quantity(people.Rounded(g.Middle, 2))))
		between = between && math.Abs(math.Log2(all.mean/g.Middle)) > 0.5
	}
	f.Sentence = fmt.Sprintf("%s fall in %d groups: %s", values, len(all.groups), joined(texts))
	if between {
		f.Sentence += fmt.Sprintf("; the mean, %s, is near none", a.say.quantity(people.Rounded(all.mean, 2)))
	}
	f.Sentence += "."
	return []output.Finding{f}
}

// figure finds the row whose p99 is highest, or another named percentile if values are few.
func (a *analysis) figure() []output.Finding {
	all := a.figures.values
	if len(all) == 0 || all[0].printed == 0 || a.rowsMislead() {
		return nil
	}
	highest := &all[0]
	f := output.Finding{
		Weight:   output.Notes,
		Figures:  map[string]output.Number{highest.name(): output.Number(highest.printed)},
		Unit:     a.run.Scale.Unit,
		Sentence: fmt.Sprintf("%s is %s.", highest.name(), a.say.quantity(highest.printed)),
	}
	if !a.hasSeveralIntervals() {
		f.Option = "hdrplot -type percentiles"
	}
	if len(a.run.Summaries) > 1 {
		f.Tag = highest.row.Name()
		more := ", the highest"
		switch {
		case len(all) < 2 || all[1].printed == 0:
		case a.hasSeveralIntervals() && (a.run.Course != nil || a.run.By.Phases()) && a.courses.lead == nil:
			more = "" // too few values over time, or other times, to tell whether it is by chance
		case !a.leadsBeyondChance():
			more = ", among the highest"
		case worthwhile(highest.printed / all[1].printed):
			more = fmt.Sprintf(", %s times the next highest", formatRatio(highest.printed/all[1].printed))
			f.Figures["times"] = output.Number(highest.printed / all[1].printed)
		}
		if a.figures.others > highest.printed { // a table may show a higher figure
			more = cmp.Or(more, ", the highest") + " of those with enough values"
		}
		f.Sentence = fmt.Sprintf("%s of %s is %s%s.", highest.name(), a.say.row(highest.row.Name()),
			a.say.quantity(highest.printed), more)
	}
	return []output.Finding{f}
}

// rowsMislead reports whether a row may have values that another phase caused.
func (a *analysis) rowsMislead() bool { return a.run.ShortPhases && len(a.run.Summaries) > 1 }

// leadsBeyondChance reports whether the highest figure is above the next one beyond chance. It
// compares the parts of the run, or assumes independent values if the run is one interval.
func (a *analysis) leadsBeyondChance() bool {
	if c := a.courses; c.lead != nil {
		return detect.Differs(c.lead, len(a.run.Summaries))
	}
	all := a.figures.values
	return all[1].printed < all[0].low
}

// few finds that the run has too few values for percentiles, or that all values are 0.
func (a *analysis) few() []output.Finding {
	count, highest := a.figures.count, a.figures.highest
	f := output.Finding{
		Weight:  output.Warns,
		Figures: map[string]output.Number{"count": output.Number(count), "max": output.Number(highest)},
		Unit:    a.run.Scale.Unit,
		Option:  "hdrsum -st values",
	}
	switch {
	case count == 0:
		f.Figures = nil
		f.Option = "hdrsum -lt"
		f.Sentence = "No values."
	case highest == 0:
		f.Sentence = fmt.Sprintf("All %s are 0.", people.Counted(count, "value"))
	case len(a.figures.values) == 0:
		f.Sentence = fmt.Sprintf("%s: too few for percentiles; the highest is %s.", people.Counted(count, "value"),
			a.say.quantity(highest))
	case a.figures.values[0].percentile == 50:
		f.Sentence = fmt.Sprintf("%s: too few for p90 and p99.", people.Counted(count, "value"))
	default:
		return nil
	}
	return []output.Finding{f}
}

// hasSeveralIntervals reports whether a row has several intervals.
func (a *analysis) hasSeveralIntervals() bool {
	return slices.ContainsFunc(a.run.Summaries, func(s *output.Summary) bool { return s.Intervals > 1 })
}

// worst finds the moment with the highest value. A run of one interval has none.
func (a *analysis) worst() []output.Finding {
	if !a.hasSeveralIntervals() || a.rowsMislead() {
		return nil
	}
	moments := a.run.moments()
	if len(moments) == 0 || moments[0].Max == 0 {
		return a.maximum()
	}
	m := &moments[0]
	highest := output.Number(m.Scale.Of(float64(m.Max)))
	if a.run.Histories.Truncated() && float64(highest) < a.figures.highest {
		return a.maximum()
	}
	f := output.Finding{
		Weight:  output.Notes,
		Tag:     a.say.tag(m.Tag),
		Input:   a.say.input(m.Input),
		Start:   &m.Start,
		End:     &m.End,
		Figures: map[string]output.Number{"max": highest, "times": m.Times},
		Unit:    a.run.Scale.Unit,
		Option:  "hdrsum -worst 5",
	}
	if float64(m.Max) > m.Bound {
		f.Weight = output.Warns
	}
	at, length := m.Start, people.Length(m.End-m.Start)+" up to "
	if m.End-m.Start <= a.run.Histories.Resolution() { // the moment may be shorter than its window
		at, length = m.Peak, ""
	}
	f.Sentence = fmt.Sprintf("Worst moment: %s, %s%s%s.", a.say.clock(at), length, a.say.quantity(float64(highest)), a.say.where(&f))
	if all := &a.figures; all.ceiling > 0 && a.run.row(m.Input, m.Tag) == all.top {
		count := all.top.Counts().TotalCount()
		high, intervals := reach(a.intervalsOf(all.top), float64(m.Max)*m.Scale.Factor()*(1-sameValue))
		if high < counts.Few {
			return []output.Finding{f}
		}
		f.Weight = output.Warns
		f.Sentence = fmt.Sprintf("%s%% of values%s take %s, the maximum, in %d of %s.",
			people.Significant(100*float64(all.ceiling)/float64(count), 2), a.say.of(all.top.Name()),
			a.say.quantity(people.Rounded(float64(highest), 3)), high, people.Counted(int64(intervals), "interval"))
		return []output.Finding{f}
	}
	return []output.Finding{f}
}

// reach returns the number of intervals whose maximum is at least limit, and the number of all
// intervals.
func reach(all []detect.Interval, limit float64) (high, intervals int) {
	for _, i := range all {
		if i.Max >= limit {
			high++
		}
	}
	return high, len(all)
}

// moments returns the worst moments of the run.
func (r *Run) moments() []output.Moment {
	if r.Histories == nil {
		return nil
	}
	if r.Moments != nil {
		return r.Moments
	}
	// An error means that memory was too small to keep the times of intervals.
	moments, _ := r.Histories.Worst(1, r.scale)
	return moments
}

// maximum finds the highest value. It takes the place of the worst moment if the times of intervals
// are not known.
func (a *analysis) maximum() []output.Finding {
	top, highest := a.figures.top, a.figures.highest
	if top == nil {
		return nil
	}
	f := output.Finding{
		Weight:  output.Notes,
		Figures: map[string]output.Number{"max": output.Number(highest)},
		Unit:    a.run.Scale.Unit,
	}
	if len(a.run.Summaries) > 1 {
		f.Tag = top.Name()
	}
	if len(top.Maxima.Values) == 0 {
		f.Sentence = fmt.Sprintf("The maximum is %s%s.", a.say.quantity(highest), a.say.where(&f))
		return []output.Finding{f}
	}
	f.Start = &top.Maxima.Peak
	f.Sentence = fmt.Sprintf("Worst moment: %s, %s%s.", a.say.clock(*f.Start), a.say.quantity(highest), a.say.where(&f))
	return []output.Finding{f}
}
