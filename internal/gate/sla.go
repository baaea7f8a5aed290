// Package gate checks summaries against limits, such as 99.9<=20: the value at the 99.9th
// percentile is at most 20.
package gate

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"hdrkit/internal/base/unit"
	"hdrkit/internal/scan"
	"hdrkit/output"
	"hdrkit/tags"
)

// A Limit says what a statistic must be at most, or at least.
type Limit struct {
	// Text is the limit without its tag.
	Text string
	// Tag is the text of the tag that the limit is for, nil for every tag.
	Tag *string
	// Statistic is min, mean, max, throughput, count or over, or empty for the value at Percentile.
	Statistic  string
	Percentile float64
	// Above is what values are counted above for over, in Unit. The statistic is their share of all
	// values in percent, and so is Value.
	Above float64
	// AtLeast is set if the statistic must be at least Value, not at most.
	AtLeast bool
	// Value is in Unit, or in printed units if that is unknown. If Relative is set, it is a change
	// from the statistic of the baseline, in percent.
	Value    float64
	Unit     unit.Unit
	Relative bool
	// Window is the length in milliseconds of the windows of which at least Share percent must keep
	// the limit. It is 0 if all values together must.
	Window int64
	Share  float64

	filter  *tags.Filter // of Tag
	tallies map[string]*tally
}

// isFor reports whether the limit is for a summary.
func (l *Limit) isFor(s *output.Summary) bool {
	return l.Tag == nil || *l.Tag == s.Name() || !s.AllTags && l.filter.Keeps(s.Tag)
}

// isRate reports whether the statistic is a number without a unit.
func (l *Limit) isRate() bool { return l.Statistic == "throughput" || l.Statistic == "count" }

// Parse reads limits with commas between them. A limit is [TAG:]STATISTIC<=VALUE or
// [TAG:]STATISTIC>=VALUE. TAG may be a pattern, see [tags.Filter]. The statistic is a percentile
// (99 or p99), min, mean, max, throughput (values per second), count, or the share of values above
// one, such as over(20ms). The value is a number, a number with a unit such as 250ms, a share such
// as 0.1%, or a change with its sign such as +10%. Behind it, in 99% of 10s makes it a limit of
// windows.
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

func parse(text string) (l Limit, err error) {
	operator := max(strings.LastIndex(text, "<="), strings.LastIndex(text, ">="))
	if operator < 0 {
		return l, fmt.Errorf("a limit is a statistic, <= or >=, and a value, such as 99.9<=20 or throughput>=1000")
	}
	statistic, value := text[:operator], strings.TrimSpace(text[operator+2:])
	value, windows, inWindows := strings.Cut(value, " in ")
	l.AtLeast = text[operator] == '>'
	if colon := strings.LastIndexByte(statistic, ':'); colon >= 0 {
		tag := strings.TrimSpace(statistic[:colon])
		l.Tag, statistic = &tag, statistic[colon+1:]
		if l.filter, err = tags.NewFilter([]string{tag}, nil); err != nil {
			return l, err
		}
	}
	statistic = strings.TrimSpace(statistic)
	if err = l.parseFigure(statistic); err == nil {
		err = l.parseValue(value)
	}
	l.Text = statistic + text[operator:operator+2] + value
	if err == nil && inWindows {
		l.Text += " in " + strings.TrimSpace(windows)
		err = l.parseWindows(windows)
	}
	return l, err
}

// ParseFigure reads a statistic alone, which is the text of the limit that it returns.
func ParseFigure(text string) (*Limit, error) {
	l := &Limit{Text: text}
	return l, l.parseFigure(text)
}

func (l *Limit) parseFigure(statistic string) (err error) {
	switch statistic {
	case "min", "mean", "max", "throughput", "count":
		l.Statistic = statistic
	default:
		if above, ok := strings.CutPrefix(statistic, "over("); ok && strings.HasSuffix(above, ")") {
			l.Statistic = "over"
			l.Above, l.Unit, err = parseNumber(strings.TrimSuffix(above, ")"))
			return err
		}
		l.Percentile, err = strconv.ParseFloat(strings.TrimPrefix(statistic, "p"), 64)
		if err != nil || !(l.Percentile >= 0 && l.Percentile <= 100) {
			return fmt.Errorf("%q is neither a percentile from 0 to 100 nor min, mean, max, throughput, count or over(VALUE)", statistic)
		}
	}
	return nil
}

// parseWindows reads 99% of 10s.
func (l *Limit) parseWindows(text string) (err error) {
	share, length, _ := strings.Cut(text, "of")
	l.Share, err = strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(share), "%"), 64)
	seconds, ok := scan.ParseSeconds(strings.TrimSpace(length))
	if l.Window = int64(seconds * 1000); err != nil || !ok || !(l.Share > 0 && l.Share <= 100) || l.Window < 1 || seconds > 1e9 {
		return fmt.Errorf("in %q: give a share of windows and their length, such as 99%% of 10s", text)
	}
	if l.Relative {
		return errors.New("a limit of windows cannot be relative to a baseline")
	}
	return nil
}

// parseNumber reads a number that may have a unit.
func parseNumber(text string) (value float64, in unit.Unit, err error) {
	end := strings.LastIndexAny(text, "0123456789.") + 1
	number := text
	if u, ok := unit.Parse(strings.TrimSpace(text[end:])); ok {
		in, number = u, text[:end]
	}
	value, err = strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || math.IsNaN(value) {
		err = fmt.Errorf("%q is neither a number nor a number with a unit (%s)", text, strings.Join(unit.Names, ", "))
	}
	return value, in, err
}

func (l *Limit) parseValue(value string) (err error) {
	number, percent := strings.CutSuffix(value, "%")
	signed := strings.HasPrefix(number, "+") || strings.HasPrefix(number, "-")
	if l.Statistic == "over" {
		l.Relative = signed
		if l.Value, err = strconv.ParseFloat(number, 64); err != nil || !percent || math.IsNaN(l.Value) {
			return fmt.Errorf("%q is neither a share such as 0.1%% nor a change such as +10%%", value)
		}
		return nil
	}
	l.Relative = percent
	if percent {
		l.Value, err = strconv.ParseFloat(number, 64)
	} else if l.Value, l.Unit, err = parseNumber(number); err == nil && l.isRate() && l.Unit != (unit.Unit{}) {
		return fmt.Errorf("%s has no unit", l.Statistic)
	}
	if err != nil || math.IsNaN(l.Value) || percent && !signed {
		return fmt.Errorf("%q is neither a number, a number with a unit (%s), nor a change such as +10%%", value, strings.Join(unit.Names, ", "))
	}
	return nil
}

// HasUnit reports whether a limit has a unit. Then the unit of the logs must be known.
func HasUnit(limits []Limit) bool {
	return slices.ContainsFunc(limits, func(l Limit) bool { return l.Unit != unit.Unit{} })
}

// Bare reports whether a limit is in printed units.
func Bare(limits []Limit) bool {
	return slices.ContainsFunc(limits, func(l Limit) bool {
		return l.Unit == unit.Unit{} && (!l.Relative || l.Statistic == "over") && !l.isRate()
	})
}

// ratio returns what to divide values of a summary by, to have them in the limit's unit.
func (l *Limit) ratio(s *output.Summary, scale unit.Scale) float64 {
	ratio := scale.Ratio
	if l.Unit != (unit.Unit{}) {
		ratio = scale.In.Per(l.Unit)
	}
	return ratio / cmp.Or(s.Factor, 1)
}

// Over returns the number of values above one that is in the limit's unit. A value counts as the
// highest of its slot, which is what percentiles print.
func (l *Limit) Over(above float64, s *output.Summary, scale unit.Scale) int64 {
	h, ratio := s.Counts(), l.ratio(s, scale)
	layout := h.Layout()
	raw := above * ratio / h.Ratio()
	switch {
	case !(raw >= 0):
		return h.TotalCount()
	case raw >= float64(h.Max()):
		return h.TotalCount() - h.CountBetween(0, h.Max())
	}
	slot := layout.IndexOf(int64(raw))
	last := layout.HighestAt(slot)
	if unit.Divide(h.Float(last), ratio) > above {
		last = layout.LowestAt(slot) - 1
	}
	return h.TotalCount() - h.CountBetween(0, last)
}

// Of returns the limit's statistic of a summary, in the limit's unit.
func (l *Limit) Of(s *output.Summary, scale unit.Scale) float64 {
	h, ratio := s.Counts(), l.ratio(s, scale)
	switch l.Statistic {
	case "over":
		return 100 * float64(l.Over(l.Above, s, scale)) / float64(h.TotalCount())
	case "count":
		return float64(h.TotalCount())
	case "throughput":
		return s.Throughput()
	case "min":
		return unit.Divide(h.Float(h.Min()), ratio)
	case "mean":
		return unit.Divide(h.Mean(), ratio)
	case "max":
		return unit.Divide(h.MaxFloat(), ratio)
	}
	return unit.Divide(h.Float(h.ValueAtPercentile(l.Percentile)), ratio)
}

// A Verdict says whether a limit holds for a tag.
type Verdict struct {
	Limit *Limit
	// Tag is the text of the tag.
	Tag   string
	Holds bool
	// Missing says why there is nothing to check, empty if there is something. If it is not empty,
	// the limit does not hold.
	Missing string
	// Unit is the unit of the values below, empty if there is none or it is unknown.
	Unit string
	// Value is the statistic, Bound what it must be at most or at least, and Baseline what a
	// relative bound is relative to.
	Value, Bound, Baseline float64
	// Undecided is set if the interval of the statistic neither keeps the limit nor violates it.
	Undecided bool
	// Low and High are that interval. Each is not a number if there is none.
	Low, High float64
	// Note says why the statistic itself was checked although an interval was asked for.
	Note string
	// Windows is the number of windows with values of a limit of windows, Value the share of those
	// that keep it in percent, and Bound what that must be.
	Windows int64
}

// Names of what becomes of a limit.
const (
	holds     = "holds"
	fails     = "fails"
	undecided = "undecided"
)

// Name returns holds, fails or undecided.
func (v *Verdict) Name() string {
	switch {
	case v.Undecided:
		return undecided
	case v.Holds:
		return holds
	}
	return fails
}

// Least numbers of what a run has before a figure that can still change counts.
const (
	leastWindows = 10
	leastAbove   = 10 // values above a percentile
)

// Final reports whether a limit that fails now fails a run that goes on. The tag has so many values
// in so many windows, and the run ends after planned windows, 0 if that is unknown. No later value
// mends a maximum or a count that is too high, or a minimum that is too low. One that must be
// higher, or lower, may still become so. A limit of windows fails when too many of the planned ones
// did not keep it. Other figures count when they come from enough.
func (v *Verdict) Final(values, windows, planned int64) bool {
	l := v.Limit
	switch {
	case v.Holds || v.Undecided || v.Missing != "":
		return false
	case l.Window > 0 && planned > 0:
		bad := math.Round(float64(v.Windows) * (100 - v.Value) / 100)
		return 100*bad > (100-l.Share)*float64(planned)*(1+roundoff)
	case l.Window > 0:
		return windows >= leastWindows
	case l.Statistic == "max" || l.Statistic == "count":
		return !l.AtLeast
	case l.Statistic == "min":
		return l.AtLeast
	}
	return windows >= leastWindows && (l.Statistic != "" || float64(values)*(100-l.Percentile)*(1+roundoff) >= 100*leastAbove)
}

// Judge checks summaries against limits, relative limits against the baseline. A limit for which
// there is nothing to check does not hold. A limit for every tag is also for the tags that only the
// baseline has.
//
// If summaries have a [output.Confidence] and pairs a [output.Change], a limit holds if the whole
// interval keeps it, and fails if the whole interval violates it.
func Judge(limits []Limit, summaries, baseline []*output.Summary, pairs []output.Pair, scale unit.Scale) []Verdict {
	var verdicts []Verdict
	for n := range limits {
		l := &limits[n]
		judged := false
		for _, s := range summaries {
			if l.isFor(s) {
				verdicts = append(verdicts, l.judge(s, baseline, pairs, scale))
				judged = true
			}
		}
		missing := func(tag string) {
			verdicts = append(verdicts, Verdict{Limit: l, Tag: tag, Missing: "no intervals with this tag"})
		}
		if !judged && l.Tag != nil {
			missing(*l.Tag)
		}
		for _, s := range baseline {
			if l.Tag == nil && Find(summaries, s.Tag) == nil {
				missing(s.Name())
			}
		}
	}
	return verdicts
}

// unit returns the unit of the verdict's values, empty if it is that of printed values.
func (l *Limit) unit() string {
	if l.Statistic == "over" || l.Window > 0 {
		return "%"
	}
	return l.Unit.String()
}

// roundoff is the part of a relative bound by which a value may exceed it, because the bound is
// computed in floating point.
const roundoff = 1e-12

func (l *Limit) judge(s *output.Summary, baseline []*output.Summary, pairs []output.Pair, scale unit.Scale) Verdict {
	v := Verdict{Limit: l, Tag: s.Name(), Bound: l.Value, Unit: l.unit(), Low: math.NaN(), High: math.NaN()}
	if v.Unit == "" && !l.isRate() {
		v.Unit = scale.Name
	}
	if l.Window > 0 {
		v.Bound = l.Share
		if t := l.tallies[tags.Text(s.Tag)]; t != nil {
			v.Windows, v.Value = t.all, 100*float64(t.kept)/float64(t.all)
			v.Holds = v.Value >= v.Bound
		} else {
			v.Missing = "no values"
		}
		return v
	}
	if s.Counts().TotalCount() == 0 && !l.isRate() {
		v.Missing = "no values"
		return v
	}
	v.Value = l.Of(s, scale)
	slack := 0.0
	if l.Relative {
		base := Find(baseline, s.Tag)
		switch {
		case base == nil:
			v.Missing = "no intervals with this tag in the baseline"
			return v
		case base.Counts().TotalCount() == 0:
			v.Missing = "no values in the baseline"
			return v
		}
		v.Baseline = l.Of(base, scale)
		v.Bound = v.Baseline * (1 + l.Value/100)
		slack = math.Abs(v.Bound) * roundoff
	}
	switch {
	case math.IsNaN(v.Value) || math.IsInf(v.Value, 0):
		v.Value, v.Missing = 0, "the period is zero"
	case l.AtLeast:
		v.Holds = v.Value >= v.Bound-slack
	default:
		v.Holds = v.Value <= v.Bound+slack
	}
	if v.Missing == "" {
		v.believe(s, pairs, slack)
	}
	return v
}

// believe judges by the interval, if there is one.
func (v *Verdict) believe(s *output.Summary, pairs []output.Pair, slack float64) {
	l := v.Limit
	var change *output.Change
	if n := slices.IndexFunc(pairs, func(p output.Pair) bool { return tags.Compare(p.Tag, s.Tag) == 0 }); n >= 0 && l.Relative {
		change = pairs[n].Change
	}
	if change == nil && (l.Relative || s.Confidence == nil) || l.Statistic == "count" {
		return
	}
	switch {
	case l.Statistic == "min" || l.Statistic == "max" || l.Statistic == "over":
		v.Note = "the " + strings.Replace(l.Statistic, "over", "share", 1) + " has no interval"
		return
	case change != nil:
		c := change.Rate
		if l.Statistic == "mean" {
			c = change.Mean
		} else if l.Statistic == "" && change.Percentiles[l.Percentile] != nil {
			c = change.Percentiles[l.Percentile].Comparison
		}
		v.Low, v.High = c.Low*v.Baseline, c.High*v.Baseline
	default:
		e := s.Confidence.Rate
		if l.Statistic == "mean" {
			e = s.Confidence.Mean
		} else if l.Statistic == "" {
			e = s.Confidence.Percentiles[l.Percentile]
		}
		// The figure may be in another unit.
		v.Low, v.High = e.Low*(v.Value/e.Value), e.High*(v.Value/e.Value)
	}
	if math.IsNaN(v.Low) && math.IsNaN(v.High) {
		v.Note = "too short for an interval"
		return
	}
	keeps, violates := v.High <= v.Bound+slack, v.Low > v.Bound+slack
	if l.AtLeast {
		keeps, violates = v.Low >= v.Bound-slack, v.High < v.Bound-slack
	}
	v.Holds, v.Undecided = keeps, !keeps && !violates
}

// Find returns the summary of a tag, nil if there is none.
func Find(summaries []*output.Summary, tag []byte) *output.Summary {
	if n := slices.IndexFunc(summaries, func(s *output.Summary) bool { return tags.Compare(s.Tag, tag) == 0 }); n >= 0 {
		return summaries[n]
	}
	return nil
}

// Factors returns what finds the factor of the summary that a tag of an input belongs to, 0 if
// there is none.
func Factors(summaries []*output.Summary, by *tags.By) func(input string, tag []byte) float64 {
	return func(input string, tag []byte) float64 {
		if s := Find(summaries, by.Row(input, tag)); s != nil {
			return s.Factor
		}
		return 0
	}
}

// failuresFirst returns verdicts in another order: those that fail, those that are undecided, and
// the others.
func failuresFirst(verdicts []Verdict) []Verdict {
	rank := map[string]int{fails: 0, undecided: 1, holds: 2}
	return slices.SortedStableFunc(slices.Values(verdicts), func(a, b Verdict) int { return rank[a.Name()] - rank[b.Name()] })
}

// Write writes a line for each verdict, failures first, and one about those that were checked
// without an interval. Colour marks those that fail.
func Write(w io.Writer, verdicts []Verdict, colour bool) error {
	var table bytes.Buffer
	t := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	for _, v := range failuresFirst(verdicts) {
		result, detail := "FAIL", v.Missing
		if v.Undecided {
			result = undecided
		} else if v.Holds {
			result = "ok"
		}
		if detail == "" {
			detail = short(v.Value, v.Bound) + v.Unit + v.interval()
			if v.Windows > 0 {
				detail += fmt.Sprintf(" of %d windows", v.Windows)
				if v.Windows == 1 {
					detail = strings.TrimSuffix(detail, "s")
				}
			}
			if v.Limit.Relative {
				most := "at most"
				if v.Limit.AtLeast {
					most = "at least"
				}
				detail += fmt.Sprintf(" (%s %s, was %s)", most, number(rounded(v.Bound))+v.Unit, number(rounded(v.Baseline))+v.Unit)
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", result, v.Tag, v.Limit.Text, detail)
	}
	t.Flush() // cannot fail: a buffer takes everything
	for line := range bytes.Lines(table.Bytes()) {
		if rest, ok := bytes.CutPrefix(line, []byte("FAIL")); ok && colour {
			line = append([]byte("\x1b[31mFAIL\x1b[0m"), rest...)
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	if n := count(verdicts, func(v *Verdict) bool { return v.Note != "" }); n > 0 { // without an interval that was asked for
		_, err := fmt.Fprintf(w, "%d of %d limits were checked by the figure itself: the run is too short for an interval, or there is none for a minimum or maximum\n", n, len(verdicts))
		return err
	}
	return nil
}

// interval returns the interval as text, empty if there is none.
func (v *Verdict) interval() string {
	if math.IsNaN(v.Low) && math.IsNaN(v.High) {
		return ""
	}
	text := func(limit float64) string {
		if math.IsNaN(limit) {
			return "-"
		}
		return strconv.FormatFloat(limit, 'g', 4, 64)
	}
	return " [" + text(v.Low) + ", " + text(v.High) + "]"
}

// short formats a value with nine digits, or with all digits if it would look like the bound that
// it is not.
func short(value, bound float64) string {
	text := strconv.FormatFloat(value, 'g', 9, 64)
	if r, _ := strconv.ParseFloat(text, 64); r != bound {
		return number(r)
	}
	return number(value)
}

// rounded drops the digits beyond the twelfth: a computed bound has roundoff there.
func rounded(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
	return r
}

// Failed returns the number of limits that do not hold.
func Failed(verdicts []Verdict) int {
	return count(verdicts, func(v *Verdict) bool { return v.Name() == fails })
}

// Undecided returns the number of limits that are undecided.
func Undecided(verdicts []Verdict) int {
	return count(verdicts, func(v *Verdict) bool { return v.Undecided })
}

func count(verdicts []Verdict, is func(v *Verdict) bool) (n int) {
	for i := range verdicts {
		if is(&verdicts[i]) {
			n++
		}
	}
	return n
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Document returns verdicts for [output.Document].
func Document(verdicts []Verdict) []output.DocumentLimit {
	all := []output.DocumentLimit{}
	for _, v := range verdicts {
		d := output.DocumentLimit{Tag: v.Tag, Limit: v.Limit.Text, Verdict: v.Name(), Unit: v.Limit.unit(), Note: v.Note}
		if v.Undecided {
			d.Note = "the interval" + v.interval() + " includes the bound"
		} else {
			d.Holds = &v.Holds
		}
		if v.Missing != "" {
			d.Missing = v.Missing
		} else {
			bound := rounded(v.Bound)
			d.Value, d.Bound = &v.Value, &bound
			if v.Limit.Relative {
				d.Baseline = &v.Baseline
			}
		}
		all = append(all, d)
	}
	return all
}
