package finding

import (
	"cmp"
	"math"
	"strings"
	"time"

	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/people"
	"hdrkit/internal/logs"
	"hdrkit/output"
	"hdrkit/tags"
)

// formatNumber returns a number with four significant digits.
func formatNumber(v float64) string { return people.Significant(v, 4) }

// formatRatio returns a ratio with two significant digits.
func formatRatio(v float64) string { return people.Significant(v, 2) }

// worthwhile reports whether a ratio is worth a sentence. A sentence that says "1 times" is not.
func worthwhile(v float64) bool { return formatRatio(max(v, 1/v)) != "1" }

// formatBeside returns the text of v with enough digits to differ from the text of other. If both
// are equal, it prints all digits.
func formatBeside(v, other float64) string {
	if v == other {
		return formatBound(other)
	}
	for digits := 4; digits < 9; digits++ {
		if text := people.Significant(v, digits); text != people.Significant(other, digits) {
			return text
		}
	}
	return people.Significant(v, 9)
}

// joined returns names in one text: a, b and c.
func joined(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Sentences returns the sentence of each finding.
func Sentences(findings []output.Finding) (all []string) {
	for _, f := range findings {
		all = append(all, f.Sentence)
	}
	return all
}

// words has the names, times and units that many sentences contain.
type words struct {
	rows []*output.Summary
	unit string
	zone *time.Location
	span merge.Span // from the first start to the last end of the rows
	// names are the short names of rows of inputs, by the name of the row. Other rows have none.
	names map[string]string
	// severalTags is set if histories have several tags.
	severalTags bool
	inputs      []string          // inputs that have histories
	labels      map[string]string // short names of these inputs
}

func newWords(r *Run) *words {
	w := &words{
		rows: r.Summaries,
		unit: r.Scale.Unit,
		zone: r.Zone,
		span: merge.Span{Start: math.MaxInt64, End: math.MinInt64},
	}
	for _, s := range r.Summaries {
		w.span.Start = min(w.span.Start, s.Start)
		w.span.End = max(w.span.End, s.End)
	}
	if r.By.Inputs() {
		w.names = rowNames(r.Summaries)
	}
	if r.Histories != nil {
		w.severalTags = len(r.Histories.Tags()) > 1
		w.inputs = r.Histories.Inputs()
		w.labels = logs.Labels(w.inputs)
	}
	return w
}

// rowNames returns the short names of rows of inputs, by the name of the row. They contain the
// label of the input.
func rowNames(rows []*output.Summary) map[string]string {
	var inputs []string
	for _, s := range rows {
		inputs = append(inputs, s.Input)
	}
	labels := logs.Labels(inputs)
	names := make(map[string]string)
	for _, s := range rows {
		if s.Input != "" {
			label := cmp.Or(labels[s.Input], s.Input)
			names[s.Name()] = strings.Replace(s.Name(), tags.Text([]byte(s.Input)), label, 1)
		}
	}
	return names
}

// quantity returns the text of a value in printed units, with its unit.
func (w *words) quantity(v float64) string { return formatNumber(v) + people.Spaced(w.unit) }

// row returns the name of a row for sentences.
func (w *words) row(name string) string { return cmp.Or(w.names[name], name) }

// of returns " of ROW", or nothing if the run has only one row.
func (w *words) of(row string) string {
	if len(w.rows) == 1 && w.rows[0].Name() == row {
		return ""
	}
	return " of " + w.row(row)
}

// tagOf returns the name of a row for [output.Finding.Tag]. It is empty if the run has only one
// row.
func (w *words) tagOf(row *output.Summary) string {
	if len(w.rows) > 1 {
		return row.Name()
	}
	return ""
}

// clock returns the text of a time in milliseconds since the epoch.
func (w *words) clock(at int64) string { return people.TimeIn(at, w.span.Start, w.span.End, w.zone) }

// tag returns the text of a tag for [output.Finding.Tag]. It is empty if there is only one tag.
func (w *words) tag(tag []byte) string {
	if w.severalTags {
		return tags.Text(tag)
	}
	return ""
}

// input returns the name of an input for [output.Finding.Input]. It is empty if there is only one
// input.
func (w *words) input(name string) string {
	if len(w.inputs) > 1 {
		return name
	}
	return ""
}

// label returns the name of an input for sentences.
func (w *words) label(name string) string {
	if name == "" {
		return ""
	}
	return tags.Printable(w.labels[name])
}

// where returns the tag and the log of a finding in parentheses, or nothing if it has neither.
func (w *words) where(f *output.Finding) string {
	var names []string
	for _, name := range []string{f.Tag, w.label(f.Input)} {
		if name != "" {
			names = append(names, name)
		}
	}
	if names == nil {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}
