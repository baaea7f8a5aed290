package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"hdrkit/internal/base/people"
	"hdrkit/internal/chart/axis"
	"hdrkit/output"
)

// Caption says what the picture shows: of which logs, of what time, how many values unless some are
// in several series, and which lines. The tags come last: they may be cut.
func (p *Picture) Caption() string {
	if len(p.Inputs.Sources) == 0 {
		return ""
	}
	parts := []string{listed(p.Inputs.Sources)}
	if spans := p.Inputs.spans(&p.Time); spans != "" {
		parts = append(parts, spans)
	}
	values, intervals := int64(0), int64(0)
	for _, s := range p.Series {
		values += s.Curve.Count
	}
	for _, s := range p.Texts.Summary {
		intervals += s.Intervals
	}
	text := Counted(values, "value")
	if intervals > 0 {
		text += " in " + Counted(intervals, "interval")
	}
	if !p.Inputs.Overlap {
		parts = append(parts, text)
	}
	if lines := len(p.Total.Lines); lines > 1 && !p.Looks.Facets { // small heat maps have no lines
		parts = append(parts, lineNames(p.Total.Lines[:lines-1])+" of "+p.Inputs.Span)
	}
	name := p.Describe(p.Type).Name
	if p.Type.Chart.Marks == Lines {
		if p.Type.Chart.Rate {
			name += " of " + p.Inputs.Span
		}
		parts = append(parts, name)
	}
	if p.Fleet != nil {
		parts = append(parts, p.Fleet.Line+" of "+p.Inputs.Span+" beside the median of all")
	}
	if len(p.Inputs.Added) > 1 {
		var tags []string
		for _, tag := range p.Inputs.Added {
			tags = append(tags, Named(tag))
		}
		text := "adds up " + listed(tags)
		if p.Inputs.SameRequests {
			text += ", some of which count the same requests"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " · ")
}

// spans says when the logs begin and end, or nothing if they have no date.
func (in *Inputs) spans(axis *TimeAxis) string {
	const most = 2
	var all []string
	for _, span := range in.Spans {
		if !people.Dated(span[0]) {
			return ""
		}
		from, to := axis.clock(span[0]), axis.clock(span[1])
		layout := time.DateTime
		if from.Format(time.DateOnly) == to.Format(time.DateOnly) {
			layout = time.TimeOnly
		}
		all = append(all, from.Format(time.DateTime)+" to "+to.Format(layout))
	}
	slices.Sort(all)
	if len(all) > 0 {
		all = slices.Compact(all)
		if len(all) > most {
			all = []string{all[0], fmt.Sprintf("%d more times", len(all)-1)}
		}
		all[len(all)-1] += " " + axis.Location().String()
	}
	return strings.Join(all, " and ")
}

// Counted returns a number of things as a page does: huge ones are short, unlike in package output.
func Counted(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return axis.Value("", float64(n)) + " " + thing
}

// Of returns a note that only some of all things are shown: those with the highest of something.
func (in *Inputs) Of(all, shown int, highest, have string) string {
	of := fmt.Sprintf("Of %d %ss, the ", all, cmp.Or(in.Each, "tag"))
	if shown == 1 {
		return of + "one with the highest " + highest + " has " + have + "."
	}
	return of + fmt.Sprintf("%d with the highest %s have %s.", shown, highest, have)
}

// listed returns names, or the first of many.
func listed(names []string) string {
	const most = 6
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most-1], ", "), len(names)-most+1)
	}
	return strings.Join(names, ", ")
}

// Name returns the title for programs that show the file, or read it aloud: the title, or what the
// picture shows first.
func (p *Picture) Name() string {
	first := ""
	if results := p.Results(); len(results) > 0 {
		first = results[0]
	}
	return cmp.Or(p.Looks.Title, first, p.Caption(), p.Type.Name)
}

// Description says in words what the picture shows, for who cannot see it: the caption, and a line
// of figures for each of the first rows.
func (p *Picture) Description() string {
	const most = 24
	lines := []string{p.Caption()}
	for _, row := range p.Texts.Summary[:min(len(p.Texts.Summary), most)] {
		text := cmp.Or(row.Label, "all") + ": " + Counted(row.Count, "value")
		for n, level := range Levels {
			if (level == 50 || level == 99) && row.Knows(level) {
				text += ", " + AtPercentile(level).Name + " " + axis.Value(p.Values.Unit, row.Percentiles[n])
			}
		}
		lines = append(lines, text+", maximum "+axis.Value(p.Values.Unit, row.Max))
	}
	return strings.Join(lines, "\n")
}

// Footnotes returns the lines below the charts.
func (p *Picture) Footnotes() []string {
	notes := slices.Clone(p.Texts.Notes)
	if p.Type != Report && p.Type != Trend { // these types show findings as a table or sentences
		for n, m := range p.Moments() {
			notes = slices.Insert(notes, n, m.String())
		}
	}
	if legend := p.legend(); legend != "" {
		notes = append(notes, legend)
	}
	if caption := p.Caption(); caption != "" {
		notes = append(notes, caption)
	}
	return notes
}

// Leads reports whether a sentence at the top of a report is about the series with a label.
func (p *Picture) Leads(label string) bool {
	const sentences = 2
	if p.Type != Report || label == "" {
		return false
	}
	top := p.Texts.Findings[:min(len(p.Texts.Findings), sentences)]
	return slices.ContainsFunc(top, func(f output.Finding) bool { return f.Tag == label })
}

// Unnamed returns the names of phases for which there is no lane.
func (p *Picture) Unnamed() []string {
	lanes := p.Lanes()
	return namesOf(lanes[min(len(lanes), MostLanes):])
}

func namesOf(lanes []Lane) (names []string) {
	for _, lane := range lanes {
		names = append(names, lane.Name)
	}
	return names
}

// legend says what shades, hatches and triangles mean, if there are some.
func (p *Picture) legend() string {
	var all []string
	if p.shades() {
		all = append(all, "shaded: above a limit")
	}
	if names := p.Unnamed(); len(names) > 0 && p.FacetsOf() == nil {
		all = append(all, "grey, too: "+listed(names))
	} else if lanes := p.Lanes(); len(lanes) > 0 && p.FacetsOf() != nil {
		all = append(all, "grey: "+listed(namesOf(lanes)))
	}
	if p.Type == Report {
		if len(p.Texts.ofKind(gap)) > 0 {
			all = append(all, "hatched: no values")
		}
		if len(p.Texts.ofKind(rhythm)) > 0 {
			all = append(all, "triangles on the axis of time: when spikes are expected")
		}
	}
	if all == nil {
		return ""
	}
	text := strings.Join(all, "; ")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// shades reports whether something is above a limit, and shaded.
func (p *Picture) shades() bool {
	overTime := append(slices.Clone(p.Series), p.Total)
	if p.Type.Chart.Marks == Cells {
		overTime = []Series{p.Total}
	}
	if (p.Type.Chart.Breaches || p.Type.Chart.Marks == Cells) && len(Breaches(overTime, p.Values.Limits)) > 0 {
		return true
	}
	if p.Type != Percentiles && p.Type != Report {
		return false
	}
	above := func(s Series) bool {
		return slices.ContainsFunc(p.Values.Limits, func(l Limit) bool {
			return slices.ContainsFunc(s.Curve.Steps, func(step Step) bool {
				return step.Percentile <= l.Percentile && step.Value > l.Value
			})
		})
	}
	return slices.ContainsFunc(p.Series, above)
}

// A Described is a moment in the words of a list.
type Described struct {
	Number           int // 0 if it has none
	At, Length, Peak string
	Clock            string // when the peak was, if that is another time than At
	Share, Name      string // of all values of the picture, and of which tag and log
}

// String returns the moment as a line of text.
func (d Described) String() string {
	text := fmt.Sprintf("%d  at %s for %s · %s", d.Number, d.At, d.Length, d.Peak)
	if d.Clock != "" {
		text += " at " + d.Clock
	}
	if d.Name != "" {
		text += " · " + d.Name
	}
	return text
}

// Moments describes the worst moments, whose numbers stand in the charts, and in a report behind
// them times without values. All times have one unit, and all values another.
func (p *Picture) Moments() (all []Described) {
	for i, m := range p.Events.Worst {
		highest, lowest := p.Events.Worst[0].Value, p.Events.Worst[len(p.Events.Worst)-1].Value
		scale := axis.ScaleFor(p.Values.Unit, math.Sqrt(highest*max(lowest, highest/1e6)))
		d := p.described(m.Start, m.Peak, m.End)
		d.Number = i + 1
		d.Name = m.Name
		d.Peak = strings.TrimSpace(axis.Value("", m.Value/scale.Divide) + " " + scale.Unit)
		if part := 100 * m.Share; part >= 10 {
			d.Share = fmt.Sprintf("%.0f%%", part)
		} else if part > 0 {
			d.Share = fmt.Sprintf("%.2g%%", part)
		}
		all = append(all, d)
	}
	for _, f := range p.Texts.ofKind(gap) {
		if p.Type != Report { // only a report has a table of gaps
			break
		}
		start := *f.Start - p.Time.Origin
		d := p.described(start, start, *f.End-p.Time.Origin)
		d.Name = f.Tag
		d.Peak = "no values"
		all = append(all, d)
	}
	return all
}

// described describes the times of a moment: by the clock if the log has dates, else since its
// start.
func (p *Picture) described(start, peak, end int64) (d Described) {
	precise := 1.0
	if end-start >= 1000 { // timers are late
		precise = 100
	}
	rounded := func(ms int64) float64 { return math.Round(float64(ms)/precise) * precise }
	d.Length = axis.Length(max(int64(rounded(end-start)), 1))
	if !p.Time.Dated() {
		from, to, _ := p.TimeRange()
		furthest := max(math.Abs(from), math.Abs(to)) / 1000
		d.At = axis.Since(rounded(start)/1000, furthest)
		return d
	}
	layout := time.TimeOnly
	if end-start < 1000 {
		layout += ".000"
	}
	if from, to, _ := p.TimeRange(); p.Time.SeveralDays(from, to) {
		layout = time.DateOnly + " " + layout
	}
	d.At = p.Time.clock(start + p.Time.Origin).Format(layout)
	if at := p.Time.clock(peak + p.Time.Origin).Format(layout); at != d.At {
		d.Clock = at
	}
	return d
}

// TimeRange returns the time that the picture shows, and false if it shows none.
func (p *Picture) TimeRange() (from, to float64, ok bool) {
	from, to, ok = timeRange(append(slices.Clone(p.Series), p.Total))
	switch {
	case ok && p.Time.Fold > 0:
		return 0, float64(p.Time.Fold), true
	case ok:
		from, to = roomy(from, to, p.Time.Absolute)
	}
	return from, to, ok
}

// roomy returns the range of a time axis. It starts at 0 if that is near, and is never empty.
func roomy(from, to float64, absolute bool) (float64, float64) {
	if !absolute && from > 0 && from < (to-from)/20 {
		from = 0
	}
	if to <= from {
		from, to = from-500, to+500
	}
	return from, to
}

// Labelled returns the limits with their labels, in the order of percentiles.
func (p *Picture) Labelled() []Limit {
	unit := axis.Spelled(p.Values.Unit)
	limits := append([]Limit{}, p.Values.Limits...)
	slices.SortStableFunc(limits, func(a, b Limit) int { return cmp.Compare(a.Percentile, b.Percentile) })
	for i := range limits {
		l := &limits[i]
		name := l.Name()
		if l.Percentile == 0 && p.Type == Timeline && len(p.Series) > 0 && !p.Series[0].hasLine(name) {
			name = lineNames(p.Series[0].Lines) // the lines are shaded above the limit
		}
		l.Label = "SLA: " + name + " ≤ " + axis.Handy(unit, l.Value)
	}
	return limits
}

// LineLimits returns the labelled limits of a chart of lines: those whose figure a line shows. A
// limit of the maximum holds for each line.
func (p *Picture) LineLimits() []Limit {
	return slices.DeleteFunc(p.Labelled(), func(l Limit) bool {
		hasLine := func(s Series) bool { return s.hasLine(l.Name()) }
		return l.Percentile > 0 && len(p.Series) > 0 && !slices.ContainsFunc(p.Series, hasLine)
	})
}
