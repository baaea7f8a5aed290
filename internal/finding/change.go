package finding

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"

	"hdrkit/internal/base/people"
	"hdrkit/internal/detect"
	"hdrkit/output"
)

// most returns the largest change of a row that has one of some kinds, nil if there is none.
func (a *analysis) most(kinds ...detect.Kind) (most *rowChange) {
	rows := a.courses.rows
	for n := range rows {
		for _, kind := range kinds {
			if rows[n].Kind == kind && (most == nil || math.Abs(rows[n].By) > math.Abs(most.By)) {
				most = &rows[n]
			}
		}
	}
	return most
}

// warmup finds that the begin of the run was slower than the rest.
func (a *analysis) warmup() []output.Finding {
	c := a.most(detect.Decay)
	if c == nil {
		return nil
	}
	start := a.say.span.Start
	ratio := c.before / c.after
	f := output.Finding{
		Weight:  output.Warns,
		Start:   &start,
		End:     &c.end,
		Figures: map[string]output.Number{"times": output.Number(ratio)},
		Option:  "-s steady",
	}
	f.Sentence = fmt.Sprintf("Steady from %s on (-s steady); before, %s%s was %s times as high.",
		a.say.clock(c.end), output.Figure{Percentile: c.percentile}, a.say.of(c.row.Name()), formatRatio(ratio))
	return []output.Finding{f}
}

// shift finds the row whose level changes most, at one moment or in the course of the run. If one
// of several logs differs from the others, other findings say so, and shift finds nothing.
func (a *analysis) shift() []output.Finding {
	c := a.most(detect.Step, detect.Drift)
	if c == nil || a.logsDiffer() {
		return nil
	}
	before, after := c.row.Scale.Of(c.before), c.row.Scale.Of(c.after)
	f := output.Finding{
		Weight:  output.Warns,
		Tag:     a.say.tagOf(c.row),
		Start:   &c.start,
		Figures: map[string]output.Number{"before": output.Number(before), "after": output.Number(after)},
		Unit:    a.run.Scale.Unit,
		Option:  "-agg 1m",
	}
	load := ""
	if rate := a.courses.rate; rate != nil && (rate.after > rate.before) == (after > before) {
		load = ", as does the rate"
	}
	f.Sentence = fmt.Sprintf("%s%s %s %s: from about %s to %s%s.", output.Figure{Percentile: c.percentile},
		a.say.of(c.row.Name()), people.RoseOrFell(after/before), a.when(&c.levelChange), formatNumber(people.Rounded(before, 2)),
		a.say.quantity(people.Rounded(after, 2)), load)
	return []output.Finding{f}
}

// when says when a level changes.
func (a *analysis) when(c *levelChange) string {
	if c.Kind == detect.Drift {
		return "in the course of the run"
	}
	return "at " + a.say.clock(c.start)
}

// logsDiffer reports whether a log differs from the other logs, for a time or all the time.
func (a *analysis) logsDiffer() bool { return len(a.courses.logs) > 0 || len(a.courses.slow) > 0 }

// level finds a long time with high maxima: of a log compared with other logs, or of a row.
func (a *analysis) level() []output.Finding {
	if len(a.courses.logs) > 0 {
		return a.levelOfLog()
	}
	c := a.most(detect.Phases)
	if c == nil || a.logsDiffer() {
		return nil
	}
	more := ""
	if n := len(c.Spans) - 1; n > 0 {
		more = fmt.Sprintf(", and %s", people.Counted(int64(n), "more time"))
	}
	f := a.levelAt(c.start, c.end, c.times, a.say.of(c.row.Name()))
	f.Tag = a.say.tagOf(c.row)
	f.Sentence += more + "."
	return []output.Finding{f}
}

// levelOfLog finds the time at which the maxima of a log are highest compared with other logs.
func (a *analysis) levelOfLog() []output.Finding {
	highest := func(a, b logPhase) int { return cmp.Compare(a.times, b.times) }
	p := slices.MaxFunc(a.courses.logs, highest)
	tag := a.say.tag(p.tag)
	of := a.say.label(p.input)
	if tag != "" {
		of = tag + " in " + of
	}
	f := a.levelAt(p.start, p.end, p.times, " of "+of)
	f.Input = a.say.input(p.input)
	f.Tag = tag
	f.Sentence += "."
	return []output.Finding{f}
}

// levelAt returns the finding that maxima are higher from start to end. Of says whose maxima, such
// as " of read". Its sentence has no full stop.
func (a *analysis) levelAt(start, end int64, times float64, of string) output.Finding {
	return output.Finding{
		Weight:  output.Warns,
		Start:   &start,
		End:     &end,
		Figures: map[string]output.Number{"times": output.Number(times)},
		Option:  "hdrsum -worst 5",
		Sentence: fmt.Sprintf("Maxima%s are %s times as high as otherwise for %s from %s", of, formatRatio(times),
			people.Length(end-start), a.say.clock(start)),
	}
}

// rate finds that the number of values per second changes.
func (a *analysis) rate() []output.Finding {
	c := a.courses.rate
	if c == nil {
		return nil
	}
	return []output.Finding{{
		Weight:  output.Notes,
		Start:   &c.start,
		Figures: map[string]output.Number{"before": output.Number(c.before), "after": output.Number(c.after)},
		Unit:    "/s",
		Option:  "-agg 1m",
		Sentence: fmt.Sprintf("The rate %s %s: from about %s to %s/s.", people.RoseOrFell(c.after/c.before), a.when(c),
			formatNumber(people.Rounded(c.before, 2)), formatNumber(people.Rounded(c.after, 2))),
	}}
}

// maxNamed is the largest number of logs that a sentence names.
const maxNamed = 3

// outlier finds logs that are slower than the other logs all the time.
func (a *analysis) outlier() []output.Finding {
	values := a.figures.values
	if len(a.courses.slow) == 0 || len(values) == 0 {
		return nil
	}
	first := &a.courses.slow[0]
	var inputs []string
	for _, log := range a.courses.slow {
		if bytes.Equal(log.tag, first.tag) {
			inputs = append(inputs, log.input)
		}
	}
	slices.Sort(inputs)
	percentile := values[0].percentile
	some, others := a.run.Histories.Figures(first.tag, percentile, inputs)
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
	if a.run.By.Inputs() {
		f.Option = "hdrplot -by input -type heatmap"
	}
	verb := "have"
	if len(inputs) == 1 {
		f.Input = inputs[0]
		verb = "has"
	}
	var names []string
	for _, input := range inputs {
		names = append(names, a.say.label(input))
	}
	if rest := len(names) - maxNamed + 1; rest > 1 {
		names = append(names[:maxNamed-1], people.Counted(int64(rest), "more log"))
	}
	of := ""
	if f.Tag = a.say.tag(first.tag); f.Tag != "" {
		of = " of " + f.Tag
	}
	f.Sentence = fmt.Sprintf("%s %s %s times the %s%s of the other %d, all the time.", joined(names), verb,
		formatRatio(ratio), output.Figure{Percentile: percentile}, of, len(others))
	return []output.Finding{f}
}
