package finding

import (
	"fmt"
	"math"

	"hdrkit/internal/base/people"
	"hdrkit/internal/gate"
	"hdrkit/internal/question/summary"
	"hdrkit/output"
)

// noticed is the factor between two levels from which on the change is a warning.
const noticed = 1.5

// course returns the levels of the percentile that a run is about, which are empty if they are not
// known.
func (r *Run) course() *summary.Levels {
	if r.levelsOf == nil {
		r.levelsOf = new(summary.Levels)
		if values := r.values(); r.Course != nil && len(values) > 0 && !r.separate() {
			// If windows cannot be decoded, the levels are not known.
			r.levelsOf, _ = r.Course.Levels(values[0].percentile, r.Summaries)
		}
	}
	return r.levelsOf
}

// warmup finds the end of a warm-up.
func (r *Run) warmup() []output.Finding {
	end, ok := r.course().Warmup()
	if !ok {
		return nil
	}
	ratio := end.Before / end.Later
	high := "as high"
	if ratio < 1 {
		ratio, high = 1/ratio, "as low"
	}
	if ratio < noticed {
		return nil
	}
	start, _ := r.span()
	f := output.Finding{
		Weight:  output.Warns,
		Start:   &start,
		End:     &end.At,
		Figures: map[string]output.Number{"times": output.Number(ratio)},
		Option:  "-s steady",
	}
	f.Sentence = fmt.Sprintf("Steady from %s on (-s steady); before, %s%s was %s times %s.",
		r.clock(end.At), output.Figure{Percentile: end.Percentile}, r.of(r.nameOf(end.Tag)), times(ratio), high)
	return []output.Finding{f}
}

// shift finds the row whose level changes most, at one moment or in the course of the run.
func (r *Run) shift() []output.Finding {
	changes := r.course().Shifts()
	if len(changes) == 0 || len(r.warmup()) > 0 {
		return nil
	}
	c := &changes[0]
	s := gate.Find(r.Summaries, c.Tag)
	ratio := c.Later / c.Before
	least := leastShift
	if len(r.Summaries) > fewRows { // of many rows, some shift by chance
		least = noticed
	}
	if s == nil || math.IsNaN(ratio) || max(ratio, 1/ratio) < least {
		return nil
	}
	when := "at " + r.clock(c.At)
	if c.Gradual {
		when = "in the course of the run"
	}
	f := output.Finding{
		Weight: output.Notes,
		Start:  &c.At,
		Figures: map[string]output.Number{
			"before": output.Number(r.printed(s, c.Before)),
			"after":  output.Number(r.printed(s, c.Later)),
		},
		Unit:   r.Scale.Unit,
		Option: "-agg 1m",
	}
	if max(ratio, 1/ratio) >= noticed {
		f.Weight = output.Warns
	}
	if len(r.Summaries) > 1 {
		f.Tag = s.Name()
	}
	f.Sentence = fmt.Sprintf("%s%s %s %s: from about %s to %s.", output.Figure{Percentile: c.Percentile}, r.of(s.Name()), people.Moved(ratio), when,
		figure(people.Rounded(float64(f.Figures["before"]), 2)), r.quantity(people.Rounded(float64(f.Figures["after"]), 2)))
	return []output.Finding{f}
}

// leastShift is the smallest factor between two levels that is worth a sentence.
const leastShift = 1.2

// fewRows is the number of rows up to which a small shift is worth a sentence.
const fewRows = 4
