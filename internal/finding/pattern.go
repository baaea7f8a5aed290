package finding

import (
	"fmt"

	"hdrkit/internal/base/people"
	"hdrkit/internal/summary"
	"hdrkit/output"
	"hdrkit/tags"
)

// gaps finds times without values.
func (a *analysis) gaps() (all []output.Finding) {
	if a.run.Histories == nil {
		return nil
	}
	inputs, allTags := a.say.inputs, a.run.Histories.Tags()
	for _, g := range a.run.Histories.Gaps() {
		f := output.Finding{
			Weight:  output.Warns,
			Start:   &g.Start,
			End:     &g.End,
			Figures: map[string]output.Number{"lengthMs": output.Number(g.End - g.Start)},
			Option:  "hdrsum -worst 5",
		}
		if len(g.Tags) < len(allTags) {
			f.Tag = tags.Text(g.Tags[0])
		}
		text := fmt.Sprintf("No values for %s from %s", people.Length(g.End-g.Start), a.say.clock(g.Start))
		if f.Tag != "" {
			text += fmt.Sprintf(" (%s%s)", f.Tag, andMore(len(g.Tags)-1, "tag"))
		}
		switch {
		case len(inputs) == 1:
		case len(g.Inputs) == len(inputs):
			text += fmt.Sprintf(", in all %d logs", len(inputs))
		case len(g.Inputs) == 1:
			f.Input = g.Inputs[0]
			text += ", in " + a.say.label(f.Input)
		default:
			text += fmt.Sprintf(", in %d of %d logs", len(g.Inputs), len(inputs))
		}
		f.Sentence = text + "."
		all = append(all, f)
	}
	return all
}

// andMore returns " and n other things", or nothing if n is 0.
func andMore(n int, thing string) string {
	if n == 0 {
		return ""
	}
	return " and " + people.Counted(int64(n), "other "+thing)
}

// rhythm finds spikes that come at equal distances of time.
func (a *analysis) rhythm() []output.Finding {
	found := summary.RhythmOf(a.tracks)
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
		Option: "hdrplot -type heatmap -fold auto",
	}
	if all := len(a.run.Histories.Tags()) * len(a.run.Histories.Inputs()); 2*(found.Others+1) <= all {
		f.Tag, f.Input = a.say.tag(found.Tag), a.say.input(found.Input)
	}
	f.Sentence = fmt.Sprintf("Spikes every %s (%d of %d expected)%s.", people.Length(int64(found.Period)), found.Found, found.Expected, a.say.where(&f))
	return []output.Finding{f}
}
