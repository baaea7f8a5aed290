package measure

import (
	"slices"
	"strings"
)

// Arguments returns the options of hdrrec that read the file as the reader does, whatever it begins
// with: those that were given, and what the format and the first lines showed.
func (r *Reader) Arguments() []string {
	if r.format == nil {
		return nil
	}
	all := []string{"-format", r.format.Name}
	add := func(option, text string) {
		if text != "" {
			all = append(all, "-"+option, text)
		}
	}
	s := &r.setup
	if r.payloads != nil {
		add("time", s.Time)
		add("in", s.Unit.String())
		return all
	}
	add("pattern", s.Pattern)
	if s.Delimiter != 0 {
		add("delimiter", strings.ReplaceAll(string(s.Delimiter), "\t", `\t`))
	}
	add("time", s.Time)
	if s.timeless {
		all = append(all, "-time", "")
	}
	add("time-in", s.TimeUnit.String())
	if s.Zone != nil && s.Zone.String() != "UTC" {
		add("tz", s.Zone.String())
	}
	add("value", s.Value)
	add("end", s.End)
	if s.Unit != 0 && s.End == "" {
		add("in", s.Unit.String())
	}
	if s.Count != keyCount {
		add("count", s.Count)
	}
	add("above", s.Above)
	add("ok", s.OK)
	all = append(all, "-tag", strings.TrimPrefix(strings.TrimPrefix(strings.Join(s.Tags, ","), seriesColumn), ","))
	if r.given.Metric != "" {
		add("metric", r.given.Metric)
	}
	for _, condition := range r.given.Where {
		add("where", condition.String())
	}
	return slices.Clip(all)
}

// String returns the text of a condition, as [ParseCondition] reads it.
func (c Condition) String() string {
	not := ""
	if c.Not {
		not = "!"
	}
	if c.Match != nil {
		return c.Column + not + "~" + strings.TrimSuffix(strings.TrimPrefix(c.Match().String(), "^(?:"), ")$")
	}
	return c.Column + not + "=" + c.Value
}
