// Package gate checks summaries against limits, such as 99.9<=20: the value at the 99.9th
// percentile is at most 20.
package gate

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/counts"
	"hdrkit/internal/base/logline"
	"hdrkit/internal/base/people"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/scan"
	"hdrkit/internal/sides"
	"hdrkit/internal/summary"
	"hdrkit/output"
	"hdrkit/tags"
)

// A Limit is the largest or the smallest value that a statistic may have.
type Limit struct {
	// Text is the limit as it was typed, without its tag.
	Text string
	// Tag is the text of the tag that the limit is for, or a pattern. It is nil for all tags.
	Tag *string
	output.Figure
	// AtLeast is set for >= and >, if the statistic must be at least Value. Exclusive is set if the
	// statistic must not equal Value.
	AtLeast, Exclusive bool
	// Value is in Unit, or in printed units if Unit is unknown. The value of [output.Over] is a
	// share in percent, and Unit is the unit of its bound.
	Value float64
	Unit  hdrlog.Unit
	// Change takes the place of Value. It is nil if the limit is no change.
	Change *AllowedChange
	// Window is the length of windows in milliseconds, of which at least Share percent must keep
	// the limit. It is 0 if the limit is one for all values together.
	Window int64
	Share  float64

	filter *tags.Filter // matches Tag
}

// For reports whether the limit is for the row of a summary.
func (l *Limit) For(s *output.Summary) bool {
	return l.Tag == nil || *l.Tag == s.Name() || !s.AllTags && l.filter.Keeps(s.Tag)
}

// Parse reads limits with commas between them. A limit is [TAG:]STATISTIC<=VALUE or
// [TAG:]STATISTIC>=VALUE. TAG may be a pattern, see [tags.Filter]. The statistic is a percentile
// (99 or p99), min, mean, max, throughput (values per second), count, or the share of values above
// one, such as over(20ms). The value is a number, a number with a unit such as 250ms, a share such
// as 0.1%, or a change with its sign such as +10%, +2ms, -10/s, or +10% or +2ms. Behind it, in 99%
// of 10s makes it a limit of windows.
func Parse(list string) ([]Limit, error) {
	var limits []Limit
	for text := range strings.SplitSeq(list, ",") {
		l, err := parse(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		limits = append(limits, l)
	}
	return limits, nil
}

// limitParts matches a limit: tag and statistic, operator, and value. A tag may have any character.
var limitParts = regexp.MustCompile(`^(.*?)([<>=]+)([^<>=]*)$`)

// parse reads one limit.
func parse(text string) (l Limit, err error) {
	parts := limitParts.FindStringSubmatch(text)
	if parts == nil {
		return l, errors.New("a limit is a statistic, <= or >=, and a value, such as 99.9<=20 or throughput>=1000")
	}
	statistic, operator := parts[1], parts[2]
	value, windows, inWindows := strings.Cut(strings.TrimSpace(parts[3]), " in ")
	l.AtLeast = strings.HasPrefix(operator, ">")
	if colon := strings.LastIndexByte(statistic, ':'); colon >= 0 {
		tag := strings.TrimSpace(statistic[:colon])
		l.Tag, statistic = &tag, statistic[colon+1:]
		if l.filter, err = tags.NewFilter([]string{tag}, nil); err != nil {
			return l, err
		}
	}
	statistic = strings.TrimSpace(statistic)
	if err = l.parseFigure(statistic); err != nil {
		return l, err
	}
	if l.isChange(value) {
		value, err = l.parseChange(value)
	} else {
		err = l.parseValue(value)
	}
	if err == nil {
		err = checkOperator(strings.TrimSpace(parts[1]), operator, value)
	}
	// A latency may equal the bound of < and >, since it stands for a slot.
	l.Exclusive = l.Name == output.Count && l.Change == nil && len(operator) == 1
	l.Text = statistic + operator + value
	if err == nil && inWindows {
		l.Text += " in " + strings.TrimSpace(windows)
		err = l.parseWindows(windows)
	}
	return l, err
}

// checkOperator returns an error for an operator other than <=, >=, < and >. The error says what to
// write.
func checkOperator(subject, operator, value string) error {
	most, least := subject+"<="+value, subject+">="+value
	switch operator {
	case "<=", ">=", "<", ">":
		return nil
	case "=<":
		return fmt.Errorf("%s is no operator of limits: write %s", operator, most)
	case "=>":
		return fmt.Errorf("%s is no operator of limits: write %s", operator, least)
	}
	return fmt.Errorf("%s is no operator of limits: write %s or %s", operator, most, least)
}

// ParseFigure reads a statistic. It returns a limit without a value, since a limit knows the unit
// of its statistic: see [Limit.Of], [NeedsUnit] and [Bare]. Its text is the name of the statistic.
func ParseFigure(text string) (*Limit, error) {
	l := &Limit{Text: text}
	return l, l.parseFigure(text)
}

// parseFigure reads the statistic of a limit.
func (l *Limit) parseFigure(statistic string) (err error) {
	if l.Figure, err = output.ParseFigure(statistic); err != nil {
		return err
	}
	l.Unit, _ = hdrlog.ParseUnit(l.Figure.Unit)
	return nil
}

// parseWindows reads the windows of a limit, such as 99% of 10s.
func (l *Limit) parseWindows(text string) (err error) {
	share, length, _ := strings.Cut(text, "of")
	l.Share, err = strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(share), "%"), 64)
	seconds, ok := scan.ParseSeconds(strings.TrimSpace(length))
	if l.Window = logline.Millis(seconds); err != nil || !ok || !(l.Share > 0 && l.Share <= 100) || l.Window < 1 || seconds > 1e9 {
		return fmt.Errorf("in %q: give a share of windows and their length, such as 99%% of 10s", text)
	}
	if l.Change != nil {
		return errors.New("a limit of windows cannot be a change")
	}
	return nil
}

// parseValue reads the value of a limit: a share of values in percent, or a number.
func (l *Limit) parseValue(value string) (err error) {
	number, percent := strings.CutSuffix(value, "%")
	over := l.Name == output.Over
	switch {
	case percent || over || l.Name == output.Apdex:
		l.Value, err = strconv.ParseFloat(number, 64)
	case l.Name == output.Throughput:
		l.Value, l.Unit, err = unit.ParseValue(strings.TrimSuffix(number, "/s"))
	default:
		l.Value, l.Unit, err = unit.ParseValue(number)
	}
	wrong := err != nil || math.IsNaN(l.Value)
	switch {
	case over && (wrong || !percent):
		return fmt.Errorf("%q is neither a share such as 0.1%% nor a change such as +10%%", value)
	case !over && percent && !wrong:
		return fmt.Errorf("%q is no change: -10%% allows a tenth less", value)
	case !over && wrong:
		return fmt.Errorf("%q is neither a number, a number with a unit (%s), nor a change such as +10%%", value,
			strings.Join(unit.Names, ", "))
	case l.Name == output.Apdex && !wrong:
	case l.Unitless() && l.Unit != 0:
		return fmt.Errorf("%s has no unit", l.Name)
	}
	return nil
}

// Bare reports whether a limit has a value in printed units, such as p99<=20.
func Bare(limits []Limit) bool { return slices.ContainsFunc(limits, Limit.bare) }

// bare reports whether the value of the limit, or the bound of a share, has no unit of its own.
func (l Limit) bare() bool {
	return l.Unit == 0 && (l.OfCounts() || l.Change == nil && !l.Unitless())
}

// NeedsUnit returns the text of the first limit whose result depends on the unit of the logs, empty
// if there is none. Options say in which unit values are printed.
func NeedsUnit(limits []Limit, o *unit.Options) string {
	for _, l := range limits {
		if l.Unit != 0 || o.Printed() != 0 && l.bare() {
			return l.Text
		}
	}
	return ""
}

// Drawn reports whether a chart can draw the limit: an upper bound for a percentile or the maximum,
// for all tags.
func (l *Limit) Drawn() bool {
	percentile, ranked := l.Rank()
	simple := !l.AtLeast && l.Change == nil && l.Window == 0
	return l.Tag == nil && simple && ranked && percentile > 0
}

// Printed returns the value of the limit in printed units.
func (l *Limit) Printed(scale hdrlog.Scale) float64 {
	if l.Unit == 0 {
		return l.Value
	}
	return l.Value * (scale.In.Per(l.Unit) / scale.Ratio)
}

// ratio returns the divisor that converts values of a summary to the unit of the limit.
func (l *Limit) ratio(s *output.Summary) float64 { return s.Scale.Per(l.Unit) }

// Over returns the number of values of a summary above a value in the limit's unit. Values in the
// same slot as that value do not count.
func (l *Limit) Over(above float64, s *output.Summary) int64 {
	return s.Counts().TotalCount() - counts.UpTo(s.Counts(), above, l.ratio(s), true)
}

// under returns the number of values of a summary below the value of the limit. Values in the same
// slot do not count.
func (l *Limit) under(s *output.Summary) int64 {
	return counts.UpTo(s.Counts(), l.Value, l.ratio(s), false)
}

// best returns the value in the slot of a statistic that keeps the limit most easily, since the
// slot does not say which of its values was recorded. For limits of changes it returns the
// statistic.
func (l *Limit) best(value float64, s *output.Summary) float64 {
	if _, ranked := l.Rank(); l.Change != nil || !ranked {
		return value
	}
	h := s.Counts()
	layout := s.Counts().Layout()
	ratio := l.ratio(s)
	slot := layout.IndexOf(h.Max())
	if raw := value * ratio / h.Ratio(); raw < float64(h.Max()) {
		slot = layout.IndexOf(int64(math.Round(raw)))
	}
	if l.AtLeast {
		return max(value, unit.Divide(h.Float(layout.HighestAt(slot)), ratio))
	}
	return min(value, unit.Divide(h.Float(layout.LowestAt(slot)), ratio))
}

// Of returns the limit's statistic of a summary, in the limit's unit.
func (l *Limit) Of(s *output.Summary) float64 {
	switch l.Name {
	case output.Max: // no value is higher, also in histograms of doubles
		return unit.Divide(s.Counts().MaxFloat(), l.ratio(s))
	case output.Over, output.Apdex:
		return l.ShareOf(s.Counts(), l.ratio(s))
	}
	stats := output.FiguresOf(s.Counts(), []output.Figure{l.Figure}, output.Stats{})
	stats.Moved = s.Moved
	v := l.Figure.Of(&stats, float64(s.Period)/1000).Float()
	if l.Unitless() {
		return v
	}
	return unit.Divide(v, l.ratio(s))
}

// A Verdict says whether a limit holds for a tag. [NewVerdict] makes one.
type Verdict struct {
	Limit *Limit
	Tag   string // text of the tag
	// Result is [output.Fails], [output.Undecided] or [output.Holds]. The limit is undecided if the
	// interval of the statistic neither keeps the limit nor violates it, or if there is no interval
	// and chance decides.
	Result output.Weight
	// Missing says why there is no value to check, empty if there is a value. Without a value the
	// limit fails, or is undecided if a trend has too few runs to check the value of the newest.
	Missing string
	// Unit is the unit of the values below, empty if there is none or it is unknown.
	Unit string
	// Value is the statistic, and Bound what it must be at most or at least.
	Value, Bound float64
	// Relative is what only limits of changes have.
	Relative Relative
	// Low and High are the interval of confidence of the statistic. An end that is unknown is NaN.
	Low, High float64
	slack     float64 // the amount by which Value may exceed the bound, see [Limit.best]
	// Note says why the limit is undecided, or why the statistic was checked without its interval.
	Note string
	// Windows is the number of windows with values, if the limit is one of windows. Then Value is
	// the share of windows in percent that keep the limit, and Bound the least share.
	Windows int64
	// Outage has the times at which the limit did not hold. It is zero if no [Watch] kept them.
	Outage Outage
}

// NewVerdict returns the verdict about a limit that was not checked for a tag: it fails, and has no
// interval.
func NewVerdict(l *Limit, tag string) Verdict {
	return Verdict{
		Limit:  l,
		Tag:    tag,
		Result: output.Fails,
		Low:    math.NaN(),
		High:   math.NaN(),
	}
}

// Relative is the part of a verdict that only limits of changes have.
type Relative struct {
	// Baseline is the statistic before the change.
	Baseline float64
	// Whole is the statistic of the whole run if two runs overlapped in time. Then the value of the
	// verdict is Baseline times the ratio measured while both ran. Otherwise Whole is 0.
	Whole float64
	// Worse is set if the limit is undecided, and its statistic is beyond the bound.
	Worse bool
}

// Measured is what limits are checked against.
type Measured struct {
	// Summaries are checked. Limits of changes compare them with Baseline, and the changes of Pairs
	// say which differences chance explains.
	Summaries, Baseline []*output.Summary
	Pairs               []sides.Pair
	// Runs is the number of runs of Summaries, and RunsBefore that of Baseline. Both are 0 if each
	// is one run.
	Runs, RunsBefore int
	// Watch has the windows of limits of windows.
	Watch *Watch
	// Tolerance says which changes between two single runs noise explains.
	Tolerance sides.Tolerance
	// Strict makes limits that are no changes undecided, too, if a run is too short for an
	// interval.
	Strict bool
	// Phases says that rows are phases.
	Phases bool
}

// Judge checks limits. A limit without a value to check fails. A limit also has a verdict for each
// of its tags that only the baseline has.
//
// A limit of a figure that has an interval holds if the whole interval keeps it, and fails if the
// whole interval violates it. A relative limit of a figure without an interval is undecided: the
// difference may be chance. An absolute one is checked by the figure itself, which decides if
// enough values lie above it.
func Judge(limits []Limit, m Measured) []Verdict {
	var verdicts []Verdict
	for n := range limits {
		l := &limits[n]
		judged := false
		for _, s := range m.Summaries {
			if l.For(s) {
				v := l.judge(s, &m)
				v.Outage = m.Watch.of(l, s).outage
				verdicts = append(verdicts, v)
				judged = true
			}
		}
		missing := func(tag string) {
			v := NewVerdict(l, tag)
			v.Missing = m.missing(tag)
			verdicts = append(verdicts, v)
		}
		for _, s := range m.Baseline {
			if l.For(s) && summary.Find(m.Summaries, s.Tag) == nil {
				missing(s.Name())
				judged = true
			}
		}
		if !judged && l.Tag != nil {
			missing(*l.Tag)
		}
	}
	return verdicts
}

// noRow says that a row of a limit does not exist.
func (m *Measured) noRow() string {
	if m.Phases {
		return "no intervals in this phase"
	}
	return "no intervals with this tag"
}

// missing says that there is no row with a name. If a row has the name in the spelling of logs, it
// says so.
func (m *Measured) missing(name string) string {
	text := m.noRow()
	spelled := string(logline.AppendTag(nil, []byte(name), hdrlog.MaxTag))
	if spelled != name && summary.Find(m.Summaries, tags.Parse(spelled)) != nil {
		text += "; it is called " + spelled
	}
	return text
}

// unit returns the unit of the verdict's values, empty if it is that of printed values.
func (l *Limit) unit() string {
	switch {
	case l.Name == output.Over || l.Window > 0:
		return "%"
	case l.Unitless():
		return ""
	}
	return l.Unit.String()
}

// roundoff is the part of a computed bound by which a value may exceed the bound.
const roundoff = 1e-12

// judge checks the limit for the row of a summary.
func (l *Limit) judge(s *output.Summary, m *Measured) Verdict {
	v := NewVerdict(l, s.Name())
	v.Bound = l.Value
	v.Unit = l.unit()
	if v.Unit == "" && !l.Unitless() {
		v.Unit = s.Scale.Unit
	}
	if l.Window > 0 {
		v.Bound, v.Missing = l.Share, "no values"
		if h := m.Watch.of(l, s); h.all > 0 {
			v.Missing = ""
			v.Windows = h.all
			v.Value = 100 * float64(h.kept) / float64(h.all)
			v.decide(v.Value >= v.Bound)
		}
		return v
	}
	if s.Counts().TotalCount() == 0 && (!l.Unitless() || l.OfCounts()) {
		v.Missing = "no values"
		return v
	}
	v.Value = l.Of(s)
	if l.Change != nil {
		v.judgeChange(s, m)
		return v
	}
	if change := changeOf(m.Pairs, s.Tag); change.HasRuns() {
		v.Note = "of all runs together"
		if l.Name == output.Throughput { // runs without dates seem to run at once
			v.Note = "the mean of the runs"
			v.Value = change.Rate.After
		}
	}
	if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) {
		v.Value, v.Missing = 0, "the period is zero"
		return v
	}
	v.slack = math.Abs(v.Value - l.best(v.Value, s))
	v.decide(v.keeps(v.Value))
	v.believe(s, m)
	v.doubt(s)
	return v
}

// decide sets the result of a limit that is not undecided.
func (v *Verdict) decide(holds bool) {
	v.Result = output.Fails
	if holds {
		v.Result = output.Holds
	}
}

// keeps reports whether a value, or another value of its slot, keeps the bound. A value that is
// computed in floating point may exceed the bound by roundoff.
func (v *Verdict) keeps(value float64) bool {
	slack := v.slack
	if v.Limit.Change != nil || slack > 0 {
		slack += math.Abs(v.Bound) * roundoff
	}
	return v.Limit.allows(value, v.Bound, slack)
}

// allows reports whether a limit with a bound allows a value, which may exceed the bound by slack.
func (l *Limit) allows(value, bound, slack float64) bool {
	switch {
	case l.Exclusive && l.AtLeast:
		return value > bound
	case l.Exclusive:
		return value < bound
	case l.AtLeast:
		return value >= bound-slack
	}
	return value <= bound+slack
}

// believe judges by the interval of confidence, if the statistic has one.
func (v *Verdict) believe(s *output.Summary, m *Measured) {
	l := v.Limit
	switch {
	case l.Name == output.Count:
		return // it is no sample of anything
	case s.Confidence == nil:
		return
	case l.Name == "" || l.Name == output.Throughput:
		e := s.Confidence.Rate
		if l.Name == "" {
			e = s.Confidence.Percentiles[l.Percentile]
		}
		v.Low, v.High = e.Low*(v.Value/e.Value), e.High*(v.Value/e.Value) // the figure may be in another unit
		if math.IsNaN(v.Low) && math.IsNaN(v.High) {
			v.Note = "too short for an interval"
			if m.Strict {
				v.Result = output.Undecided
			}
		}
	default:
		v.Note = "the " + l.name() + " has no interval"
	}
	if v.Note == "" {
		v.decideInterval("")
	}
}

// doubt makes a limit that holds undecided if fewer than [counts.Few] values lie above the
// percentile, since one more request could change the percentile, and if it has no interval. A
// limit that fails stays so: a high percentile of few values is too low rather than too high.
func (v *Verdict) doubt(s *output.Summary) {
	l := v.Limit
	decided := !math.IsNaN(v.Low) || !math.IsNaN(v.High)
	if v.Result != output.Holds || l.AtLeast || l.Name != "" || l.Percentile == 100 || decided {
		return
	}
	above := counts.Above(s.Counts(), l.Percentile)
	switch {
	case above == 0:
		v.Note = "that is the maximum: no value is above this percentile"
	case above == 1:
		v.Note = "only 1 value is above this percentile"
	case above < counts.Few:
		v.Note = fmt.Sprintf("only %d values are above this percentile", above)
	default:
		return
	}
	v.Result = output.Undecided
}

// decideInterval judges by the interval of confidence. Next says which change such runs prove.
func (v *Verdict) decideInterval(next string) {
	l := v.Limit
	// better is the end of the interval that keeps the limit more easily.
	better, worse := v.Low, v.High
	if l.AtLeast {
		better, worse = v.High, v.Low
	}
	v.decide(v.keeps(worse))
	if v.Result == output.Fails && (math.IsNaN(better) || v.keeps(better)) {
		v.undecided("the interval includes the bound")
		if v.Relative.Worse {
			v.Note = Unproven
			if next != "" {
				v.Note += ". " + next
			}
		}
	}
}

// undecided makes a limit undecided, and notes why.
func (v *Verdict) undecided(why string) {
	v.Result = output.Undecided
	v.Note = why
	v.Relative.Worse = v.Limit.Change != nil && !v.keeps(v.Value)
	if v.Relative.Worse {
		v.Note = Unproven + "; " + why
	}
}

// Unproven begins the note of an undecided verdict whose statistic is beyond the bound.
const Unproven = "looks worse"

// name returns the name of the statistic for people.
func (l *Limit) name() string { return strings.Replace(l.Name, output.Over, "share", 1) }

// Count returns the number of limits that have a verdict, and the number of rows that these
// verdicts are about. Only verdicts that keeps returns true for count.
func Count(verdicts []Verdict, keeps func(v *Verdict) bool) (limits, rows int) {
	counted := make(map[*Limit]bool)
	names := make(map[string]bool)
	for n := range verdicts {
		if v := &verdicts[n]; keeps(v) {
			counted[v.Limit] = true
			names[v.Tag] = true
		}
	}
	return len(counted), len(names)
}

// Documents returns verdicts for JSON.
func Documents(verdicts []Verdict) (all []output.DocumentVerdict) {
	for _, v := range verdicts {
		all = append(all, v.document())
	}
	return all
}

// Shown returns the bound for programs, which a figure that holds may equal: 4 for count<5. It has
// no roundoff.
func (v *Verdict) Shown() float64 {
	switch {
	case v.Limit.Exclusive && v.Limit.AtLeast:
		return math.Floor(v.Bound) + 1
	case v.Limit.Exclusive:
		return math.Ceil(v.Bound) - 1
	}
	return people.Rounded(v.Bound, 12)
}

// document returns the verdict for JSON.
func (v Verdict) document() output.DocumentVerdict {
	bound := v.Shown()
	d := output.DocumentVerdict{
		Tag:     v.Tag,
		Limit:   v.Limit.Text,
		Verdict: v.Result.String(),
		Worse:   v.Relative.Worse,
		Missing: v.Missing,
		Note:    v.Note,
		Unit:    v.Limit.unit(),
	}
	holds := v.Result == output.Holds
	if v.Result != output.Undecided {
		d.Holds = &holds
	}
	if v.Missing == "" {
		d.Value, d.Bound = &v.Value, &bound
	}
	if v.Missing == "" && v.Limit.Change != nil {
		d.Baseline = &v.Relative.Baseline
	}
	return d
}
