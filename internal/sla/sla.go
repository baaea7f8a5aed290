// Package sla judges summaries by limits, such as 99.9<=20: the value at the 99.9th percentile must not be above 20.
package sla

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"hdrkit/output"
	"hdrkit/tags"
)

// A Limit is what a statistic must not be above.
type Limit struct {
	// Text is the limit without its tag.
	Text string
	// Tag is what it is for, nil for every tag.
	Tag *string
	// Statistic is min, mean or max, or empty for the value at Percentile.
	Statistic  string
	Percentile float64
	// Value is the limit in printed units; if Relative is set, how much the statistic may be above that of the baseline,
	// in percent of it.
	Value    float64
	Relative bool
}

// Parse reads limits, [TAG:]STATISTIC<=VALUE, between commas. A statistic is a percentile, min, mean or max; a value is a
// number, or a change with its sign, such as +10%.
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
	operator := strings.LastIndex(text, "<=")
	if operator < 0 {
		return l, fmt.Errorf("a limit is a statistic, <= and a value, such as 99.9<=20 or max<=100")
	}
	statistic, value := text[:operator], strings.TrimSpace(text[operator+2:])
	if colon := strings.LastIndexByte(statistic, ':'); colon >= 0 {
		tag := strings.TrimSpace(statistic[:colon])
		l.Tag, statistic = &tag, statistic[colon+1:]
	}
	statistic = strings.TrimSpace(statistic)
	l.Text = statistic + "<=" + value
	switch statistic {
	case "min", "mean", "max":
		l.Statistic = statistic
	default:
		l.Percentile, err = strconv.ParseFloat(statistic, 64)
		if err != nil || !(l.Percentile >= 0 && l.Percentile <= 100) {
			return l, fmt.Errorf("%q is neither a percentile from 0 to 100 nor min, mean or max", statistic)
		}
	}
	number, relative := strings.CutSuffix(value, "%")
	l.Relative = relative
	l.Value, err = strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(l.Value) || relative && !strings.HasPrefix(number, "+") && !strings.HasPrefix(number, "-") {
		return l, fmt.Errorf("%q is neither a number nor a change such as +10%%", value)
	}
	return l, nil
}

// of returns the limit's statistic of a summary, in printed units.
func (l *Limit) of(s *output.Summary, ratio float64) float64 {
	h := s.Histogram
	switch l.Statistic {
	case "min":
		return h.Float(h.Min()) / ratio
	case "mean":
		return h.Mean() / ratio
	case "max":
		return h.Float(h.Max()) / ratio
	}
	return h.Float(h.ValueAtPercentile(l.Percentile)) / ratio
}

// A Verdict says whether a limit holds for a tag.
type Verdict struct {
	Limit *Limit
	Tag   string
	Holds bool
	// Missing is why there is nothing to judge, if there is not; then the limit does not hold.
	Missing string
	// Value is the statistic, Bound what it must not be above, Baseline what that is relative to.
	Value, Bound, Baseline float64
}

// Judge judges summaries by limits, the relative ones against baseline. A limit for which there is nothing to judge does
// not hold: one for every tag is also for those that only the baseline has. Values are divided by ratio.
func Judge(limits []Limit, summaries, baseline []*output.Summary, ratio float64) []Verdict {
	var verdicts []Verdict
	for n := range limits {
		l := &limits[n]
		judged := false
		for _, s := range summaries {
			if l.Tag == nil || *l.Tag == tags.Text(s.Tag) {
				verdicts = append(verdicts, l.judge(s, baseline, ratio))
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
				missing(tags.Text(s.Tag))
			}
		}
	}
	return verdicts
}

// roundoff is how much a value may be above a relative bound, for the bound is reckoned in floating point.
const roundoff = 1e-12

func (l *Limit) judge(s *output.Summary, baseline []*output.Summary, ratio float64) Verdict {
	v := Verdict{Limit: l, Tag: tags.Text(s.Tag), Bound: l.Value}
	if s.Histogram.TotalCount() == 0 {
		v.Missing = "no values"
		return v
	}
	v.Value = l.of(s, ratio)
	if l.Relative {
		base := Find(baseline, s.Tag)
		switch {
		case base == nil:
			v.Missing = "no intervals with this tag in the baseline"
			return v
		case base.Histogram.TotalCount() == 0:
			v.Missing = "no values in the baseline"
			return v
		}
		v.Baseline = l.of(base, ratio)
		v.Bound = v.Baseline * (1 + l.Value/100)
		v.Holds = v.Value <= v.Bound*(1+roundoff)
		return v
	}
	v.Holds = v.Value <= v.Bound
	return v
}

// Find returns the summary of a tag, nil if there is none.
func Find(summaries []*output.Summary, tag []byte) *output.Summary {
	for _, s := range summaries {
		if (s.Tag == nil) == (tag == nil) && string(s.Tag) == string(tag) {
			return s
		}
	}
	return nil
}

// Write writes a line for each verdict.
func Write(w io.Writer, verdicts []Verdict) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, v := range verdicts {
		result, detail := "FAIL", v.Missing
		if v.Holds {
			result = "ok"
		}
		if detail == "" {
			detail = number(v.Value)
			if v.Limit.Relative {
				// The bound was reckoned: digits beyond the twelfth are roundoff.
				bound, _ := strconv.ParseFloat(strconv.FormatFloat(v.Bound, 'g', 12, 64), 64)
				detail += fmt.Sprintf(" (at most %s, for it was %s)", number(bound), number(v.Baseline))
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", result, v.Tag, v.Limit.Text, detail)
	}
	return t.Flush()
}

// Failed returns how many limits do not hold.
func Failed(verdicts []Verdict) int {
	failed := 0
	for _, v := range verdicts {
		if !v.Holds {
			failed++
		}
	}
	return failed
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
