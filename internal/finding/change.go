package finding

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"hdrkit/internal/base/people"
	"hdrkit/internal/detect"
	"hdrkit/output"
)

// most returns the row with the largest change of some kinds, nil if no row has one.
func (r *Run) most(kinds ...detect.Kind) (most *course) {
	rows := r.courses().rows
	for n := range rows {
		for _, kind := range kinds {
			if rows[n].Kind == kind && (most == nil || math.Abs(rows[n].By) > math.Abs(most.By)) {
				most = &rows[n]
			}
		}
	}
	return most
}

// warmup finds a begin that was slower than the rest.
func (r *Run) warmup() []output.Finding {
	c := r.most(detect.Decay)
	if c == nil {
		return nil
	}
	start, _ := r.span()
	ratio := c.before / c.after
	f := output.Finding{
		Weight:  output.Warns,
		Start:   &start,
		End:     &c.end,
		Figures: map[string]output.Number{"times": output.Number(ratio)},
		Option:  "-s steady",
	}
	f.Sentence = fmt.Sprintf("Steady from %s on (-s steady); before, %s%s was %s times as high.",
		r.clock(c.end), output.Figure{Percentile: c.percentile}, r.of(c.row.Name()), formatRatio(ratio))
	return []output.Finding{f}
}

// shift finds the row whose level changes most, at one moment or in the course of the run. If one
// of several logs differs from the others, that is said instead.
func (r *Run) shift() []output.Finding {
	c := r.most(detect.Step, detect.Drift)
	if c == nil || len(r.courses().logs) > 0 {
		return nil
	}
	before, after := r.printed(c.row, c.before), r.printed(c.row, c.after)
	f := output.Finding{
		Weight:  output.Warns,
		Start:   &c.start,
		Figures: map[string]output.Number{"before": output.Number(before), "after": output.Number(after)},
		Unit:    r.Scale.Unit,
		Option:  "-agg 1m",
	}
	if len(r.Summaries) > 1 {
		f.Tag = c.row.Name()
	}
	load := ""
	if rate := r.courses().rate; rate != nil && (rate.after > rate.before) == (after > before) {
		load = ", as does the rate"
	}
	f.Sentence = fmt.Sprintf("%s%s %s %s: from about %s to %s%s.", output.Figure{Percentile: c.percentile},
		r.of(c.row.Name()), people.Moved(after/before), r.when(c), figure(people.Rounded(before, 2)),
		r.quantity(people.Rounded(after, 2)), load)
	return []output.Finding{f}
}

// when says when a level changes.
func (r *Run) when(c *course) string {
	if c.Kind == detect.Drift {
		return "in the course of the run"
	}
	return "at " + r.clock(c.start)
}

// level finds a time that was bad for so long that it is no moment: that of a log beside the
// others, or that of a row.
func (r *Run) level() []output.Finding {
	c := r.most(detect.Phases)
	logs := r.courses().logs
	if len(logs) > 0 {
		c = &logs[0]
		for n := range logs {
			if logs[n].times > c.times {
				c = &logs[n]
			}
		}
	}
	if c == nil || c.Kind == detect.Constant {
		return nil
	}
	f := output.Finding{
		Weight:  output.Warns,
		Input:   r.input(c.input),
		Start:   &c.start,
		End:     &c.end,
		Figures: map[string]output.Number{"times": output.Number(c.times)},
		Option:  "hdrsum -worst 5",
	}
	when := fmt.Sprintf("for %s from %s", people.Length(c.end-c.start), r.clock(c.start))
	if c.row == nil {
		f.Tag = r.tag(c.tag)
		of := r.label(c.input)
		if f.Tag != "" {
			of = f.Tag + " in " + of
		}
		f.Sentence = fmt.Sprintf("Maxima of %s are %s times as high as otherwise %s.", of, formatRatio(c.times), when)
		return []output.Finding{f}
	}
	if len(r.Summaries) > 1 {
		f.Tag = c.row.Name()
	}
	more := ""
	if n := len(c.Spans) - 1; n > 0 {
		more = fmt.Sprintf(", and %s", people.Counted(int64(n), "more time"))
	}
	f.Sentence = fmt.Sprintf("Maxima%s are %s times as high as otherwise %s%s.", r.of(c.row.Name()), formatRatio(c.times), when, more)
	return []output.Finding{f}
}

// rate finds that the number of values per second changes.
func (r *Run) rate() []output.Finding {
	c := r.courses().rate
	if c == nil {
		return nil
	}
	return []output.Finding{{
		Weight:  output.Notes,
		Start:   &c.start,
		Figures: map[string]output.Number{"before": output.Number(c.before), "after": output.Number(c.after)},
		Unit:    "/s",
		Option:  "-agg 1m",
		Sentence: fmt.Sprintf("The rate %s %s: from about %s to %s/s.", people.Moved(c.after/c.before), r.when(c),
			figure(people.Rounded(c.before, 2)), figure(people.Rounded(c.after, 2))),
	}}
}

// mostNamed is the number of logs that a sentence names, with those that it only counts.
const mostNamed = 3

// outlier finds logs that are slower than the others all the time.
func (r *Run) outlier() []output.Finding {
	var inputs []string
	var first *course
	logs := r.courses().logs
	for n := range logs {
		c := &logs[n]
		switch {
		case c.Kind != detect.Constant:
			return nil
		case first == nil:
			first = c
		}
		if bytes.Equal(c.tag, first.tag) {
			inputs = append(inputs, c.input)
		}
	}
	values := r.values()
	if first == nil || len(values) == 0 {
		return nil
	}
	slices.Sort(inputs)
	percentile := values[0].percentile
	some, others := r.Histories.Figures(first.tag, percentile, inputs)
	if len(some) == 0 || len(others) == 0 {
		return nil
	}
	ratio := detect.Median(some) / detect.Median(others)
	if !worthwhile(ratio) {
		return nil
	}
	f := output.Finding{
		Weight: output.Warns,
		Start:  &first.start,
		End:    &first.end,
		Figures: map[string]output.Number{
			"logs":  output.Number(len(inputs)),
			"times": output.Number(ratio),
			"share": 1,
		},
		Option: "-by input",
	}
	if r.By.Inputs() {
		f.Option = "hdrplot -by input -type heatmap"
	}
	verb := "have"
	if len(inputs) == 1 {
		f.Input = inputs[0]
		verb = "has"
	}
	var names []string
	for _, input := range inputs {
		names = append(names, r.label(input))
	}
	if rest := len(names) - mostNamed + 1; rest > 1 {
		names = append(names[:mostNamed-1], people.Counted(int64(rest), "more log"))
	}
	of := ""
	if f.Tag = r.tag(first.tag); f.Tag != "" {
		of = " of " + f.Tag
	}
	f.Sentence = fmt.Sprintf("%s %s %s times the %s%s of the other %d, all the time.", listed(names), verb, formatRatio(ratio),
		output.Figure{Percentile: percentile}, of, len(others))
	return []output.Finding{f}
}
