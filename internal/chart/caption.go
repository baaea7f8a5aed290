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

// Caption returns the line below a picture: the names of the logs, their time, the number of
// values, the meaning of the lines, and the tags that add up. The number is left out if series have
// values in common. The tags come last, since a long caption is cut at its end.
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
	if lines := len(p.Total.Lines); lines > 1 && !p.Looks.Facets { // facets of a heat map have no lines
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

// spans returns the text for the beginning and end of the logs. It is empty for logs without dates.
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

// Counted returns a number with its noun, such as "2 values". Huge numbers are short, such as "1e15
// values".
func Counted(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return axis.Value("", float64(n)) + " " + thing
}

// OnlyShown returns the note for a picture that shows only some of all series, such as "Of 20 tags,
// the 8 with the highest maximum have a chart."
func (in *Inputs) OnlyShown(all, shown int, rankedBy, have string) string {
	of := fmt.Sprintf("Of %d %ss, the ", all, cmp.Or(in.SeriesWord, "tag"))
	if shown == 1 {
		return of + "one with the highest " + rankedBy + " has " + have + "."
	}
	return of + fmt.Sprintf("%d with the highest %s have %s.", shown, rankedBy, have)
}

// listed joins names by commas. Of more than six names it lists five, and counts the rest.
func listed(names []string) string {
	const most = 6
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most-1], ", "), len(names)-most+1)
	}
	return strings.Join(names, ", ")
}

// Name returns the title of the file for programs such as viewers and screen readers: the title of
// the picture, or else its first result, or its caption.
func (p *Picture) Name() string {
	first := ""
	if results := p.Results(); len(results) > 0 {
		first = results[0]
	}
	return cmp.Or(p.Looks.Title, first, p.Caption(), p.Type.Name)
}

// Description describes the picture in words, for people who cannot see it: the caption, and a line
// with the figures of each of the first series.
func (p *Picture) Description() string {
	const most = 24
	lines := []string{p.Caption()}
	for _, s := range p.Texts.Summary[:min(len(p.Texts.Summary), most)] {
		text := cmp.Or(s.Label, "all") + ": " + Counted(s.Count, "value")
		for n, percentile := range TablePercentiles {
			if (percentile == 50 || percentile == 99) && s.Knows(percentile) {
				text += ", " + AtPercentile(percentile).Name + " " + axis.Value(p.Values.Unit, s.Percentiles[n])
			}
		}
		lines = append(lines, text+", maximum "+axis.Value(p.Values.Unit, s.Max))
	}
	return strings.Join(lines, "\n")
}

// Footnotes returns the lines of text below the charts: the worst moments, notes, the meaning of
// shades, and the caption.
func (p *Picture) Footnotes() []string {
	notes := slices.Clone(p.Texts.Notes)
	if p.Type != Report && p.Type != Trend { // these types show moments as a table or as sentences
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

// HasSentence reports whether a sentence at the top of a report is about the series with a label.
func (p *Picture) HasSentence(label string) bool {
	const sentences = 2
	if p.Type != Report || label == "" {
		return false
	}
	top := p.Texts.Findings[:min(len(p.Texts.Findings), sentences)]
	return slices.ContainsFunc(top, func(f output.Finding) bool { return f.Tag == label })
}

// PhasesWithoutLane returns the names of the phases that have no lane, since there are more names
// than [MaxLanes].
func (p *Picture) PhasesWithoutLane() []string {
	lanes := p.Lanes()
	return namesOf(lanes[min(len(lanes), MaxLanes):])
}

func namesOf(lanes []Lane) (names []string) {
	for _, lane := range lanes {
		names = append(names, lane.Name)
	}
	return names
}

// legend returns the meaning of the shades, hatches and triangles of the picture. It is empty if
// the picture has none of these.
func (p *Picture) legend() string {
	var all []string
	if p.hasShades() {
		all = append(all, "shaded: above a limit")
	}
	if names := p.PhasesWithoutLane(); len(names) > 0 && p.FacetsOf() == nil {
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

// hasShades reports whether the picture shades values or times above a limit.
func (p *Picture) hasShades() bool {
	overTime := append(slices.Clone(p.Series), p.Total)
	if p.Type.Chart.Marks == Cells {
		overTime = []Series{p.Total}
	}
	if (p.Type.Chart.ShadeBreaches || p.Type.Chart.Marks == Cells) && len(Breaches(overTime, p.Values.Limits)) > 0 {
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

// A MomentText is a row in the list of worst moments: a [Moment], or a time without values.
type MomentText struct {
	Number int    // the number in the charts, 0 for a time without values
	At     string // when the moment starts
	Length string
	Peak   string // the highest value
	PeakAt string // when the highest value was recorded, empty if that is At
	Share  string // the share of all values of the picture
	Name   string // the tag and the log
}

// String returns the moment as a line of text.
func (d MomentText) String() string {
	text := fmt.Sprintf("%d  at %s for %s · %s", d.Number, d.At, d.Length, d.Peak)
	if d.PeakAt != "" {
		text += " at " + d.PeakAt
	}
	if d.Name != "" {
		text += " · " + d.Name
	}
	return text
}

// Moments returns the list of the worst moments, whose numbers stand in the charts. In a report,
// times without values follow. All values have the same unit, so that readers can compare them.
func (p *Picture) Moments() (all []MomentText) {
	for i, m := range p.Events.Worst {
		highest, lowest := p.Events.Worst[0].Value, p.Events.Worst[len(p.Events.Worst)-1].Value
		scale := axis.ScaleFor(p.Values.Unit, math.Sqrt(highest*max(lowest, highest/1e6)))
		d := p.momentTimes(m.Start, m.Peak, m.End)
		d.Number = i + 1
		d.Name = m.Name
		d.Peak = strings.TrimSpace(axis.Value("", m.Value/scale.Divide) + " " + scale.Unit)
		if percent := 100 * m.Share; percent >= 10 {
			d.Share = fmt.Sprintf("%.0f%%", percent)
		} else if percent > 0 {
			d.Share = fmt.Sprintf("%.2g%%", percent)
		}
		all = append(all, d)
	}
	for _, f := range p.Texts.ofKind(gap) {
		if p.Type != Report { // only a report has a table of gaps
			break
		}
		start := *f.Start - p.Time.Origin
		d := p.momentTimes(start, start, *f.End-p.Time.Origin)
		d.Name = f.Tag
		d.Peak = "no values"
		all = append(all, d)
	}
	return all
}

// momentTimes returns the texts of the times of a moment: clock times if the log has dates,
// otherwise the time since the start of the log.
func (p *Picture) momentTimes(start, peak, end int64) (d MomentText) {
	precise := 1.0
	if end-start >= 1000 { // recorders write intervals a few milliseconds late
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
		d.PeakAt = at
	}
	return d
}

// TimeRange returns the range of the time axis, in milliseconds from the origin. Ok is false for a
// picture without lines or windows over time.
func (p *Picture) TimeRange() (from, to float64, ok bool) {
	from, to, ok = timeRange(append(slices.Clone(p.Series), p.Total))
	switch {
	case ok && p.Time.Fold > 0:
		return 0, float64(p.Time.Fold), true
	case ok:
		from, to = axisRange(from, to, p.Time.Absolute)
	}
	return from, to, ok
}

// axisRange returns the range of a time axis for points in a range. The axis starts at 0 if that is
// near, and it is never empty.
func axisRange(from, to float64, absolute bool) (float64, float64) {
	if !absolute && from > 0 && from < (to-from)/20 {
		from = 0
	}
	if to <= from {
		from, to = from-500, to+500
	}
	return from, to
}

// LabelledLimits returns the limits with their labels, in the order of percentiles.
func (p *Picture) LabelledLimits() []Limit {
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

// LineLimits returns the labelled limits of a chart of lines. It leaves out limits of percentiles
// that no line shows. A limit of the maximum holds for each line.
func (p *Picture) LineLimits() []Limit {
	return slices.DeleteFunc(p.LabelledLimits(), func(l Limit) bool {
		hasLine := func(s Series) bool { return s.hasLine(l.Name()) }
		return l.Percentile > 0 && len(p.Series) > 0 && !slices.ContainsFunc(p.Series, hasLine)
	})
}
