package measure

import (
	"slices"
	"strings"
)

// Arguments returns the options with which hdrrec reads any file as the reader reads this one: the
// given options, and what the format and the first lines showed.
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
	s := r.parser.setup
	if r.parser.payloads != nil {
		add("time", s.options.Columns.Time)
		add("in", s.options.Unit.String())
		return all
	}
	add("pattern", s.options.Pattern)
	if s.options.Delimiter != 0 {
		add("delimiter", strings.ReplaceAll(string(s.options.Delimiter), "\t", `\t`))
	}
	add("time", s.options.Columns.Time)
	if s.timeless {
		all = append(all, "-time", "")
	}
	add("time-in", s.options.TimeUnit.String())
	add("start", s.options.Start)
	if s.options.Zone != nil && s.options.Zone.String() != "UTC" {
		add("tz", s.options.Zone.String())
	}
	add("value", s.options.Columns.Value)
	add("end", s.options.Columns.End)
	// -in would replace the units of formats whose rows have units.
	only := r.format.columns.unit == "" || r.given.Unit != 0
	if only && s.options.Unit != 0 && s.options.Columns.End == "" {
		add("in", s.options.Unit.String())
	}
	if s.options.Columns.Count != keyCount {
		add("count", s.options.Columns.Count)
	}
	add("above", s.options.Above)
	add("ok", s.options.Columns.OK)
	// If the format names the columns of a tag, rows may lack some. -tag would make them necessary.
	if !s.formatTags || len(s.format.columns.Tags) < 2 {
		all = append(all, "-tag", strings.TrimPrefix(strings.TrimPrefix(strings.Join(s.options.Columns.Tags, ","), seriesColumn), ","))
	}
	if r.given.Metric != "" {
		add("metric", r.given.Metric)
	}
	for _, condition := range r.given.Where {
		add("where", condition.String())
	}
	return slices.Clip(all)
}

// String returns the text that [ParseCondition] parses to the condition.
func (c Condition) String() string {
	negation := ""
	if c.Not {
		negation = "!"
	}
	if c.Match != nil {
		return c.Column + negation + "~" + strings.TrimSuffix(strings.TrimPrefix(c.Match().String(), "^(?:"), ")$")
	}
	return c.Column + negation + "=" + c.Value
}
