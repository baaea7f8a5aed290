package gate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/confidence"
	"hdrkit/internal/base/people"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/sides"
	"hdrkit/internal/summary"
	"hdrkit/output"
	"hdrkit/tags"
)

// An AllowedChange is the allowed difference from the figure of the baseline: a percentage, an
// amount, or both. Of these, the one that is not given is NaN. If both are given, a figure needs to
// keep only one.
type AllowedChange struct {
	// Percent is relative to the baseline.
	Percent float64
	// By is in the unit of the limit, or values per second for a rate.
	By float64
}

// isChange reports whether the value of a limit is a change: it has a sign, or it is a percentage
// that can only be a change. p99<=10% means +10%, since a latency is no share. The meaning of
// p99>=90% is not clear, so it is no change.
func (l *Limit) isChange(value string) bool {
	_, or := cutOr(value)
	return or || hasSign(value) || strings.HasSuffix(value, "%") && l.Name != output.Over && !l.AtLeast
}

// hasSign reports whether a value begins with a sign.
func hasSign(value string) bool {
	return strings.HasPrefix(value, "+") || strings.HasPrefix(value, "-")
}

// cutOr returns the parts of a value between which " or " stands, and whether there are several.
func cutOr(value string) (parts []string, or bool) {
	for part := range strings.SplitSeq(value, " or ") {
		parts = append(parts, strings.TrimSpace(part))
	}
	return parts, len(parts) > 1
}

// parseChange reads a change, such as +10%, +5ms, -10/s, or +10% or +2ms. It returns the text of
// the change, in which each part has a sign.
func (l *Limit) parseChange(value string) (text string, err error) {
	l.Change = &AllowedChange{math.NaN(), math.NaN()}
	parts, _ := cutOr(value)
	for n, part := range parts {
		if strings.HasSuffix(part, "%") && !hasSign(part) && !l.AtLeast {
			part = "+" + part
			parts[n] = part
		}
		to := &l.Change.By
		var value float64
		number, percent := strings.CutSuffix(part, "%")
		switch {
		case !hasSign(part):
			return "", fmt.Errorf("%q has no sign: +%[1]s is a change", part)
		case percent:
			to = &l.Change.Percent
			value, err = strconv.ParseFloat(number, 64)
		case l.Name == output.Throughput && strings.HasSuffix(part, "/s"):
			value, err = strconv.ParseFloat(strings.TrimSuffix(part, "/s"), 64)
		case l.Unitless() || l.Name == output.Over:
			return "", l.misspelt(part)
		default:
			value, l.Unit, err = unit.ParseValue(part)
			if l.Unit == 0 {
				return "", l.misspelt(part)
			}
		}
		switch {
		case err != nil || math.IsNaN(value) || math.IsInf(value, 0):
			return "", l.misspelt(part)
		case !math.IsNaN(*to):
			return "", errors.New("a change has one percentage and one amount, such as +10% or +2ms")
		}
		*to = value
	}
	return strings.Join(parts, " or "), nil
}

// misspelt returns the error about a value with a sign that is no change. It names the right
// spelling.
func (l *Limit) misspelt(value string) error {
	number := value[:strings.LastIndexAny(value, "+-0123456789.")+1]
	if strings.Trim(number, "+-") == "" {
		number += "10"
	}
	switch l.Name {
	case output.Count, output.Over:
		return fmt.Errorf("%q has a sign, so it is a change, and a change of %s is in percent: %s%%", value, l.Name,
			number)
	case output.Throughput:
		return fmt.Errorf("%q has a sign, so it is a change: write %s%% or %[2]s/s", value, number)
	}
	return fmt.Errorf("%q has a sign, so it is a change: write %s%%, or a unit (%s) such as %[2]sms", value, number,
		strings.Join(unit.Names, ", "))
}

// Bound returns the bound of a figure, given the figure of the baseline. Both are in the unit of
// the limit. If the change has a percentage and an amount, the more generous bound counts.
func (l *Limit) Bound(baseline float64) float64 {
	c := l.Change
	relative := baseline * (1 + c.Percent/100)
	absolute := baseline + c.By
	switch {
	case math.IsNaN(c.By):
		return relative
	case math.IsNaN(c.Percent):
		return absolute
	case l.AtLeast:
		return min(relative, absolute)
	}
	return max(relative, absolute)
}

// Printing returns a copy of a limit of a change, with the amount in printed units.
func (l *Limit) Printing(scale hdrlog.Scale) *Limit {
	printing := *l
	change := *l.Change
	if l.Unit != 0 && l.Name != output.Over {
		change.By *= scale.In.Per(l.Unit) / scale.Ratio
		printing.Unit, _ = hdrlog.ParseUnit(scale.Unit)
	}
	printing.Change = &change
	return &printing
}

// judgeChange checks a limit of a change. If a side has several runs, it checks the geometric mean
// of their figures.
func (v *Verdict) judgeChange(s *output.Summary, m *Measured) {
	l := v.Limit
	base := summary.Find(m.Baseline, s.Tag)
	switch {
	case base == nil:
		v.Missing = m.noRow() + " before"
		return
	case base.Counts().TotalCount() == 0:
		v.Missing = "no values before"
		return
	}
	v.Relative.Baseline = l.Of(base)
	change := changeOf(m.Pairs, s.Tag)
	var c confidence.Comparison
	why := ""
	if l.Name != output.Count { // a count has no interval of confidence
		c, why = l.compare(change)
	}
	switch {
	case l.Name == output.Count && m.Runs != m.RunsBefore: // scale to the same number of runs
		v.Relative.Baseline *= float64(m.Runs) / float64(m.RunsBefore)
	case l.Name != output.Count && why == "" && change.HasRuns():
		v.Relative.Baseline, v.Value = c.Before, c.After
	}
	if c.Paired && c.Seconds > 0 { // only the seconds in which both ran are compared
		v.Relative.Whole = v.Value
		v.Value = v.Relative.Baseline * c.Ratio
	}
	v.Bound = l.Bound(v.Relative.Baseline)
	if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) {
		v.Value, v.Missing = 0, "the period is zero"
		return
	}
	v.decide(v.keeps(v.Value))
	switch {
	case why != "":
		v.undecided(why)
	case l.Name == "" && (c.Seconds > 0 || c.Untimed):
		v.decideVersions(c, m, func() string { return change.Next(c, v.Bound/v.Relative.Baseline, l.AtLeast) })
	case l.Name != output.Count:
		v.Low, v.High = c.Low*v.Relative.Baseline, c.High*v.Relative.Baseline
		v.decideInterval(change.Next(c, v.Bound/v.Relative.Baseline, l.AtLeast))
	}
}

// decideVersions judges a change between two single runs, which say little about their versions. A
// figure beyond the bound fails if noise between runs does not explain it, and is undecided
// otherwise. A figure within the bound holds if the runs are long enough. If the judge is strict,
// the whole interval must be within the bound. Next says which change runs of this length prove.
func (v *Verdict) decideVersions(c confidence.Comparison, m *Measured, next func() string) {
	wide := c.Versions(m.Tolerance.Noise)
	v.Low, v.High = wide.Low*v.Relative.Baseline, wide.High*v.Relative.Baseline
	better, worse := v.Low, v.High
	needed := c.High * v.Relative.Baseline
	if v.Limit.AtLeast {
		better, worse = v.High, v.Low
		needed = c.Low * v.Relative.Baseline
	}
	switch {
	case m.Strict:
		needed = worse
	case c.Calm(m.Tolerance.Noise):
		needed = v.Value
	}
	v.decide(v.keeps(needed))
	if v.Result == output.Holds || !v.keeps(better) {
		return
	}
	why := "the interval includes the bound"
	switch {
	case c.Calm(m.Tolerance.Noise):
		why = fmt.Sprintf("one run each shows changes of %.2g%% or more", 100*confidence.ShownBetween(m.Tolerance.Noise))
	case !v.keeps(v.Value):
		why = next()
	}
	v.undecided(why)
}

// changeOf returns the change of the figures of a tag, nil if it is not known.
func changeOf(pairs []sides.Pair, tag []byte) *sides.PairChange {
	byTag := func(p sides.Pair, tag []byte) int { return tags.Compare(p.Tag, tag) }
	if n, ok := slices.BinarySearchFunc(pairs, tag, byTag); ok {
		return pairs[n].Change
	}
	return nil
}

// compare returns the comparison of the figure of a limit, or says why it has no interval.
func (l *Limit) compare(change *sides.PairChange) (c confidence.Comparison, why string) {
	why = "too short for an interval"
	switch {
	case change == nil:
		return c, "there are no intervals"
	case change.HasRuns():
		c = change.Of(func(s *output.Summary) confidence.RunFigure {
			return confidence.RunFigure{Value: l.Of(s), Slot: sides.RunFigureOf(s, l.Figure).Slot}
		})
		why = "the runs are too few, or a figure is zero"
	case l.Name == output.Throughput:
		c = change.Rate.Comparison
	case l.Name == "":
		c = change.Percentiles[l.Percentile].Comparison
	default:
		return c, "the " + l.name() + " of one run has no interval: give several runs a side"
	}
	if math.IsNaN(c.Low) || math.IsNaN(c.High) {
		return c, why
	}
	return c, ""
}

// Allowed returns the text of the allowed change: +10% or +2ms.
func (v *Verdict) Allowed() string {
	var texts []string
	limit := v.Limit.Change
	if !math.IsNaN(limit.Percent) {
		texts = append(texts, signed(limit.Percent)+"%")
	}
	if !math.IsNaN(limit.By) {
		unit := v.Unit
		if v.Limit.Name == output.Throughput {
			unit = "/s"
		}
		texts = append(texts, signed(limit.By)+unit)
	}
	return strings.Join(texts, " or ")
}

// signed returns a number with its sign.
func signed(v float64) string {
	number := strconv.FormatFloat(people.Rounded(v, 9), 'f', -1, 64)
	if strings.HasPrefix(number, "-") {
		return number
	}
	return "+" + number
}
