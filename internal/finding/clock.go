package finding

import (
	"fmt"

	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/people"
	"hdrkit/output"
)

// disjoint finds logs that do not overlap at all: the clock of one may be off.
func (r *Run) disjoint() []output.Finding {
	names, spans := r.apart()
	if names == nil {
		return nil
	}
	last := len(spans) - 1
	between := spans[1].Start - spans[0].End
	logs, pair := "The "+people.Counted(int64(len(names)), "log"), "the first two"
	if last == 1 {
		logs, pair = r.label(names[0])+" and "+r.label(names[1]), "them"
	}
	f := output.Finding{
		Weight:  output.Notes,
		Start:   &spans[0].Start,
		End:     &spans[last].End,
		Figures: map[string]output.Number{"betweenMs": output.Number(between)},
	}
	if !output.Dated(spans[0].Start) && output.Dated(spans[last].Start) {
		f.Weight = output.Warns
		f.Sentence = fmt.Sprintf("%s has no dates: its times count from 0, and those of the other logs do not.",
			r.label(names[0]))
		return []output.Finding{f}
	}
	f.Sentence = fmt.Sprintf("%s do not overlap: %s lies between %s. If they ran together, a clock is off.",
		logs, people.Length(between), pair)
	return []output.Finding{f}
}

// separate reports whether the logs are several runs: what differs between them is no course of
// one.
func (r *Run) separate() bool {
	names, _ := r.apart()
	return names != nil
}

// apart returns the logs that do not overlap, and when they ran, nil if some do.
func (r *Run) apart() ([]string, []merge.Span) {
	if r.Histories == nil {
		return nil, nil
	}
	if r.apartOf == nil {
		r.apartOf = new(apartOf)
		r.apartOf.names, r.apartOf.spans = r.Histories.Apart()
	}
	return r.apartOf.names, r.apartOf.spans
}

// An apartOf is what [summary.Histories.Apart] finds.
type apartOf struct {
	names []string
	spans []merge.Span
}
