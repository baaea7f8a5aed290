package finding

import (
	"fmt"

	"hdrkit/internal/base/people"
	"hdrkit/internal/question/summary"
	"hdrkit/output"
	"hdrkit/tags"
)

// gaps finds times without values.
func (r *Run) gaps() (all []output.Finding) {
	if r.Histories == nil {
		return nil
	}
	inputs, ofRun := r.Histories.Inputs(), r.Histories.Tags()
	for _, g := range r.Histories.Gaps() {
		f := output.Finding{
			Weight:  output.Warns,
			Start:   &g.Start,
			End:     &g.End,
			Figures: map[string]output.Number{"lengthMs": output.Number(g.End - g.Start)},
			Option:  "hdrsum -worst 5",
		}
		if len(g.Tags) < len(ofRun) {
			f.Tag = tags.Text(g.Tags[0])
		}
		text := fmt.Sprintf("No values for %s from %s", people.Length(g.End-g.Start), r.clock(g.Start))
		if f.Tag != "" {
			text += fmt.Sprintf(" (%s%s)", f.Tag, more(len(g.Tags)-1, "tag"))
		}
		switch {
		case len(inputs) == 1:
		case len(g.Inputs) == len(inputs):
			text += fmt.Sprintf(", in all %d logs", len(inputs))
		case len(g.Inputs) == 1:
			f.Input = g.Inputs[0]
			text += ", in " + r.label(f.Input)
		default:
			text += fmt.Sprintf(", in %d of %d logs", len(g.Inputs), len(inputs))
		}
		f.Sentence = text + "."
		all = append(all, f)
	}
	return all
}

// more says how many more there are.
func more(n int, thing string) string {
	if n == 0 {
		return ""
	}
	return " and " + people.Counted(int64(n), "other "+thing)
}

// rhythm finds spikes that come at even times.
func (r *Run) rhythm() []output.Finding {
	if r.Histories == nil {
		return nil
	}
	found := r.Histories.Rhythm()
	if found == nil {
		return nil
	}
	first := int64(found.First)
	f := output.Finding{
		Weight: output.Warns,
		Start:  &first,
		End:    &found.Last,
		Figures: map[string]output.Number{
			"periodMs": output.Number(found.Period),
			"found":    output.Number(found.Found),
			"expected": output.Number(found.Expected),
		},
		Option: "hdrplot -fold auto",
	}
	if all := len(r.Histories.Tags()) * len(r.Histories.Inputs()); 2*(found.Others+1) <= all {
		f.Tag, f.Input = r.tag(found.Tag), r.input(found.Input)
	}
	f.Sentence = fmt.Sprintf("Spikes every %s (%d of %d expected)%s.", people.Length(int64(found.Period)), found.Found, found.Expected, r.where(&f))
	return []output.Finding{f}
}

// mostOfTheTime is the part of the time for which a sentence says "all the time".
const mostOfTheTime = 0.8

// mostNamed is the number of logs that a sentence names, with those that it only counts.
const mostNamed = 3

// outliers returns the logs that are slower than the others.
func (r *Run) outliers() []summary.Outlier {
	if r.outliersOf != nil {
		return *r.outliersOf
	}
	r.outliersOf = new([]summary.Outlier)
	values := r.values()
	if r.Histories == nil || !r.Histories.Sums || len(r.Histories.Inputs()) < LeastLogs || len(values) == 0 {
		return nil
	}
	// Without memory for sums, there is nothing to find in them.
	*r.outliersOf, _ = r.Histories.Outliers(values[0].percentile, r.scale)
	return *r.outliersOf
}

// outlier finds logs that are slower than the others.
func (r *Run) outlier() (all []output.Finding) {
	outliers := r.outliers()
	for n := range outliers {
		o := &outliers[n]
		f := output.Finding{
			Weight: output.Warns,
			Start:  &o.Start,
			End:    &o.End,
			Figures: map[string]output.Number{
				"logs":  output.Number(len(o.Inputs)),
				"times": output.Number(o.Times),
				"share": output.Number(o.Share),
			},
			Option: "-by input",
		}
		if r.By.Inputs() {
			f.Option = "hdrplot -by input -type heatmap"
		}
		verb := "have"
		if len(o.Inputs) == 1 {
			f.Input = o.Inputs[0]
			verb = "has"
		}
		var names []string
		for _, input := range o.Inputs {
			names = append(names, r.label(input))
		}
		if rest := len(names) - mostNamed + 1; rest > 1 {
			names = append(names[:mostNamed-1], fmt.Sprintf("%d more logs", rest))
		}
		of := ""
		if f.Tag = r.tag(o.Tag); f.Tag != "" {
			of = " of " + f.Tag
		}
		when := "all the time"
		if o.Share < mostOfTheTime {
			when = fmt.Sprintf("for %.0f%% of the time", 100*o.Share)
		}
		figure := output.Figure{Percentile: o.Percentile}
		f.Sentence = fmt.Sprintf("%s %s %s times the %s%s of the other %d, %s.",
			listed(names), verb, times(o.Times), figure, of, o.Others, when)
		all = append(all, f)
	}
	return all
}
