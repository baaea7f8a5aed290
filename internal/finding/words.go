package finding

import (
	"cmp"
	"math"
	"strings"

	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/people"
	"hdrkit/internal/logs"
	"hdrkit/output"
	"hdrkit/tags"
)

// printed returns a value of a row in printed units.
func (r *Run) printed(s *output.Summary, v float64) float64 { return s.Scale.Of(v) }

// quantity returns a printed value with its unit.
func (r *Run) quantity(v float64) string { return figure(v) + people.Spaced(r.Scale.Unit) }

// figure returns a number as sentences have it.
func figure(v float64) string { return people.Significant(v, 4) }

// formatRatio returns how many times as high something is, with two digits.
func formatRatio(v float64) string { return people.Significant(v, 2) }

// worthwhile reports whether a sentence can say how many times as high or low something is: not "1
// times".
func worthwhile(v float64) bool { return formatRatio(max(v, 1/v)) != "1" }

// beside returns v as a text that differs from that of other, unless both are equal: it has as many
// digits as that takes. All digits of other are printed.
func beside(v, other float64) string {
	if v == other {
		return typed(other)
	}
	for digits := 4; digits < 9; digits++ {
		if text := people.Significant(v, digits); text != people.Significant(other, digits) {
			return text
		}
	}
	return people.Significant(v, 9)
}

// listed returns names as a sentence has them: a, b and c.
func listed(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Sentences returns the sentences of findings.
func Sentences(findings []output.Finding) (all []string) {
	for _, f := range findings {
		all = append(all, f.Sentence)
	}
	return all
}

// descending orders numbers, the highest first.
func descending(a, b float64) int { return cmp.Compare(b, a) }

// name returns what a sentence calls a row.
func (r *Run) name(s *output.Summary) string { return r.called(s.Name()) }

// called returns what a sentence calls the row with a name. A row of an input has the input's
// label. The names are found once: there may be a verdict for each of many rows.
func (r *Run) called(name string) string {
	if !r.By.Inputs() {
		return name
	}
	if r.names == nil {
		var inputs []string
		for _, s := range r.Summaries {
			inputs = append(inputs, s.Input)
		}
		labels := logs.Labels(inputs)
		r.names = make(map[string]string)
		for _, s := range r.Summaries {
			if s.Input != "" {
				label := cmp.Or(labels[s.Input], s.Input)
				r.names[s.Name()] = strings.Replace(s.Name(), tags.Text([]byte(s.Input)), label, 1)
			}
		}
	}
	return cmp.Or(r.names[name], name)
}

// of returns " of TAG", or nothing if the run has only one row.
func (r *Run) of(tag string) string {
	if len(r.Summaries) == 1 && r.Summaries[0].Name() == tag {
		return ""
	}
	return " of " + r.called(tag)
}

// span returns when the run starts and ends. It looks at the rows once: each sentence with a time
// asks, and there may be one for each row.
func (r *Run) span() (start, end int64) {
	if r.spanOf == nil {
		r.spanOf = &merge.Span{Start: math.MaxInt64, End: math.MinInt64}
		for _, s := range r.Summaries {
			r.spanOf.Start = min(r.spanOf.Start, s.Start)
			r.spanOf.End = max(r.spanOf.End, s.End)
		}
	}
	return r.spanOf.Start, r.spanOf.End
}

// clock returns a time as sentences have it.
func (r *Run) clock(at int64) string {
	start, end := r.span()
	return people.TimeIn(at, start, end, r.Zone)
}

// tag returns the text of a tag, and input the name of an input: nothing if there is only one.
func (r *Run) tag(tag []byte) string {
	if r.Histories != nil && len(r.Histories.Tags()) > 1 {
		return tags.Text(tag)
	}
	return ""
}

func (r *Run) input(name string) string {
	if r.Histories != nil && len(r.Histories.Inputs()) > 1 {
		return name
	}
	return ""
}

// label returns what a sentence calls an input.
func (r *Run) label(name string) string {
	if name == "" {
		return ""
	}
	return tags.Printable(logs.Labels(r.Histories.Inputs())[name])
}

// where returns the tag and the log of a finding behind a sentence, if it has some.
func (r *Run) where(f *output.Finding) string {
	var names []string
	for _, name := range []string{f.Tag, r.label(f.Input)} {
		if name != "" {
			names = append(names, name)
		}
	}
	if names == nil {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// moments returns the worst moments of the run.
func (r *Run) moments() []output.Moment {
	if r.Histories == nil {
		return nil
	}
	if !r.looked && r.Moments == nil {
		// Without memory for the times of intervals, there is nothing to find in them.
		r.Moments, _ = r.Histories.Worst(1, r.scale)
	}
	r.looked = true
	return r.Moments
}
