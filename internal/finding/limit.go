package finding

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/people"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/gate"
	"hdrkit/output"
)

// limits returns a finding for each verdict: first limits that fail, then undecided limits, and
// last limits that hold. Among these, the figure that takes the largest part of its bound comes
// first.
func (w *words) limits(verdicts []gate.Verdict) (all []output.Finding) {
	verdicts = slices.Clone(verdicts)
	slices.SortStableFunc(verdicts, func(a, b gate.Verdict) int {
		return cmp.Or(cmp.Compare(a.Result, b.Result), cmp.Compare(partOfBound(&b), partOfBound(&a)))
	})
	for n := range verdicts {
		all = append(all, w.limit(&verdicts[n]))
	}
	return all
}

// partOfBound returns the part of its bound that a figure takes. It is above 1 if the figure is
// beyond the bound.
func partOfBound(v *gate.Verdict) float64 {
	part := v.Value / v.Bound
	if v.Limit.AtLeast {
		part = 1 / part
	}
	if v.Missing != "" || math.IsNaN(part) {
		return math.Inf(1)
	}
	return part
}

// limit returns the finding about a verdict.
func (w *words) limit(v *gate.Verdict) output.Finding {
	word := v.Result.Word()
	f := output.Finding{
		Weight: v.Result,
		Tag:    v.Tag,
		Limit:  v.Limit.Text,
		Figures: map[string]output.Number{
			"value": output.Number(v.Value),
			"limit": output.Number(v.Shown()),
		},
		Unit: v.Unit,
	}
	if v.Relative.Whole != 0 {
		f.Figures["whole"] = output.Number(v.Relative.Whole)
	}
	if !math.IsNaN(v.Low) && !math.IsNaN(v.High) {
		f.Figures["low"], f.Figures["high"] = output.Number(v.Low), output.Number(v.High)
	}
	what := v.Limit.Figure.String() + w.of(v.Tag)
	var text string
	switch {
	case v.Missing != "":
		f.Figures = nil
		text = fmt.Sprintf("%s: %s: %s", word, what, v.Missing)
	case v.Windows > 0:
		limit, _, _ := strings.Cut(v.Limit.Text, " in ")
		text = fmt.Sprintf("%s: %s%s in %s%% of %s, limit %s%%", word, limit, w.of(v.Tag),
			formatBeside(v.Value, v.Bound), people.Counted(v.Windows, "window"), formatBound(v.Bound))
	case v.Limit.Change != nil && v.Relative.Baseline != 0:
		text = fmt.Sprintf("%s: %s %s", word, what, changeText(v))
	case v.Result == output.Holds && !v.Limit.AtLeast && !v.Limit.Exclusive && v.Value <= v.Bound:
		text = fmt.Sprintf("%s: %s is %s%s of %s", word, what, strings.TrimSuffix(figureWithUnit(v), people.Spaced(unitOf(v))),
			interval(v), bound(v)+people.Spaced(unitOf(v)))
	default:
		text = fmt.Sprintf("%s: %s is %s%s, limit %s", word, what, figureWithUnit(v), interval(v),
			bound(v)+people.Spaced(unitOf(v)))
		if v.Result == output.Holds && !v.Limit.AtLeast && v.Value > v.Bound { // the upper end of a slot is above the limit
			text += "; the log does not tell them apart"
		}
	}
	if v.Note != "" {
		text += "; " + v.Note
	}
	if v.Outage.Times > 0 {
		f.Start, f.End = &v.Outage.Start, &v.Outage.End
		if v.Result == output.Fails {
			text += "; " + w.sayOutage(v)
			f.Option = "hdrsum -st breaches"
		}
	}
	f.Sentence = text + "."
	return f
}

// Failed says how many limits fail, and for how many rows. It is empty if no limit fails.
func Failed(verdicts []gate.Verdict) string {
	return counted(verdicts, "does not hold", "do not hold",
		func(v *gate.Verdict) bool { return v.Result == output.Fails })
}

// Undecided says how many limits are undecided, and for how many rows. It is empty if all limits
// hold or fail.
func Undecided(verdicts []gate.Verdict) string {
	text := counted(verdicts, "is undecided", "are undecided",
		func(v *gate.Verdict) bool { return v.Result == output.Undecided })
	if text == "" {
		return ""
	}
	if beyond, _ := gate.Count(verdicts, func(v *gate.Verdict) bool { return v.Relative.Worse }); beyond > 0 {
		text += fmt.Sprintf(", %d beyond the bound", beyond)
	}
	return text
}

// counted says how many limits have a verdict that keeps returns true for, such as 1 of 3 limits
// does not hold. If a limit is for several rows, the text says for how many of all rows.
func counted(verdicts []gate.Verdict, is, are string, keeps func(v *gate.Verdict) bool) string {
	limits, rows := gate.Count(verdicts, keeps)
	all, allRows := gate.Count(verdicts, func(*gate.Verdict) bool { return true })
	switch {
	case limits == 0:
		return ""
	case limits > 1:
		is = are
	}
	noun := "limits"
	if all == 1 {
		noun = "limit"
	}
	text := fmt.Sprintf("%d of %d %s %s", limits, all, noun, is)
	if len(verdicts) > all {
		text += fmt.Sprintf(", for %d of %d rows", rows, allRows)
	}
	return text
}

// formatBound returns a bound with all the digits that somebody typed.
func formatBound(bound float64) string { return people.Significant(bound, 9) }

// bound returns the bound of a verdict, behind < or > if the figure must not equal it.
func bound(v *gate.Verdict) string {
	text := formatBound(v.Bound)
	if isCount(v) {
		text = formatCount(v.Bound)
	}
	switch {
	case v.Limit.Exclusive && v.Limit.AtLeast:
		return ">" + text
	case v.Limit.Exclusive:
		return "<" + text
	}
	return text
}

// figure returns the figure of a verdict, with enough digits to show on which side of the bound the
// figure is.
func figure(v *gate.Verdict) string {
	if isCount(v) {
		return formatCount(v.Value)
	}
	return formatBeside(v.Value, v.Bound)
}

// isCount reports whether a verdict is about a number of values. Such a number is exact.
func isCount(v *gate.Verdict) bool { return v.Limit.Name == output.Count }

// formatCount returns a count with all its digits. The count of a baseline is scaled if it has more
// runs, and may be no whole number.
func formatCount(v float64) string {
	if v == math.Trunc(v) {
		return people.Significant(v, 15)
	}
	return people.Significant(v, 9)
}

// sayOutage says for how long and since when a limit did not hold.
func (w *words) sayOutage(v *gate.Verdict) string {
	side := "above"
	if v.Limit.AtLeast {
		side = "below"
	}
	if v.Limit.Exclusive {
		side = "at or " + side
	}
	times, long := "", people.Length(v.Outage.Millis)
	if v.Outage.Times > 1 {
		times = fmt.Sprintf(" %d times,", v.Outage.Times)
		long += ","
	}
	return fmt.Sprintf("%s it%s for %s from %s", side, times, long, w.clock(v.Outage.Start))
}

// figureWithUnit returns the figure of a verdict with its unit. If the figure is below 1 in the
// unit of the limit, a smaller unit takes its place.
func figureWithUnit(v *gate.Verdict) string {
	in, ok := hdrlog.ParseUnit(v.Unit)
	value, name := v.Value, v.Unit
	for n := slices.Index(unit.Names, v.Unit) - 1; ok && n >= 0 && value > 0 && value < 1; n-- {
		name = unit.Names[n]
		smaller, _ := hdrlog.ParseUnit(name)
		value = v.Value * smaller.Per(in)
	}
	if name != v.Unit {
		return formatNumber(value) + " " + name
	}
	return figure(v) + people.Spaced(unitOf(v))
}

// interval returns the interval of confidence of a figure in parentheses, or nothing if it has
// none.
func interval(v *gate.Verdict) string {
	if math.IsNaN(v.Low) || math.IsNaN(v.High) {
		return ""
	}
	return fmt.Sprintf(" (%s..%s)", formatNumber(v.Low), formatNumber(v.High))
}

// changeText returns the words for a change from a baseline: rose by 20% (18..23): 6.1 to 7.3 ms,
// limit +10%. If two runs overlapped only partly, their figures can contradict the change, so the
// words say what the change is about.
func changeText(v *gate.Verdict) string {
	percent := func(value float64) float64 { return 100 * (value/v.Relative.Baseline - 1) }
	by := percent(v.Value)
	sign := math.Copysign(1, by)
	interval := ""
	if low, high := sign*percent(v.Low), sign*percent(v.High); !math.IsNaN(low) && !math.IsNaN(high) {
		interval = fmt.Sprintf(" (%s..%s)", people.Significant(min(low, high), 3),
			people.Significant(max(low, high), 3))
	}
	before, after := formatNumber(v.Relative.Baseline), figure(v)+people.Spaced(unitOf(v))
	if isCount(v) {
		before = formatCount(v.Relative.Baseline)
	}
	if v.Relative.Whole != 0 {
		after = formatNumber(v.Relative.Whole) + people.Spaced(unitOf(v))
	}
	values := fmt.Sprintf(": %s to %s", before, after)
	switch {
	case v.Relative.Whole != 0 && (v.Relative.Whole < v.Low || v.Relative.Whole > v.High):
		values = fmt.Sprintf(" while both ran (%s to %s in all)", before, after)
	case by == 0 && (v.Relative.Whole == 0 || v.Relative.Whole == v.Relative.Baseline):
		return fmt.Sprintf("is %s as before%s, limit %s", after, strings.Replace(interval, ")", "%)", 1), v.Allowed())
	}
	return fmt.Sprintf("%s by %s%%%s%s, limit %s", people.RoseOrFell(v.Value/v.Relative.Baseline), people.Significant(math.Abs(by), 3),
		interval, values, v.Allowed())
}

// unitOf returns the unit of the figure of a verdict.
func unitOf(v *gate.Verdict) string {
	if v.Limit.Name == output.Throughput {
		return "/s"
	}
	return v.Unit
}
