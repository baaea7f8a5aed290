package finding

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/counts"
	"hdrkit/internal/base/people"
	"hdrkit/internal/base/writers"
	"hdrkit/internal/measure"
	"hdrkit/internal/summary"
	"hdrkit/output"
	"hdrkit/tags"
)

// Omitted are the values of a row, together with values for the requests that were due while the
// recorder waited.
type Omitted struct {
	Tag    []byte // the tag of the row
	Counts histogram.Histogram
	// Percentile is the percentile that the sentence names, 0 if it names none. Value is the value
	// at this percentile, in the unit of the row's counts.
	Percentile, Value float64
}

// An omission is a stall in which the recorder waited for an answer and sent no requests.
type omission struct {
	summary.Omission
	every float64 // the time from one request to the next, in milliseconds
	row   *output.Summary
	*Omitted
}

// omission returns the worst stall of the run in which the recorder waited for an answer, nil if
// there is none.
func (r *Run) omission() *omission {
	if r.Histories == nil || r.Corrected || r.Scale.In == 0 {
		return nil
	}
	found, err := r.Histories.Omission(func(input string, tag []byte) float64 {
		of := r.scale(input, tag)
		return of.Factor() * float64(of.In) / float64(time.Millisecond)
	})
	if err != nil || found == nil {
		return nil
	}
	o := &omission{
		Omission: *found,
		every:    people.Rounded(found.Expected, 2),
		row:      r.row(found.Place.Name, found.Tag),
		Omitted:  new(Omitted),
	}
	if o.row == nil || o.row.Counts().CorrectInto(&o.Counts, o.every/found.Unit) != nil {
		return nil
	}
	o.Omitted.Tag = o.row.Tag
	for _, p := range named {
		if counts.Above(&o.Counts, p) >= counts.Few {
			o.Percentile, o.Value = p, o.Counts.Float(o.Counts.ValueAtPercentile(p))
			break
		}
	}
	return o
}

// waited finds that the recorder waited for answers, and computes a percentile with the requests
// that were due meanwhile.
func (a *analysis) waited() []output.Finding {
	o := a.omission
	if o == nil {
		return nil
	}
	f := output.Finding{
		Weight: output.Warns,
		Tag:    a.say.tag(o.Omission.Tag),
		Input:  a.say.input(o.Place.Name),
		Start:  &o.Start,
		Figures: map[string]output.Number{
			"expectedMs": output.Number(o.every),
			"longestMs":  output.Number(o.Longest),
		},
		Unit:   a.run.Scale.Unit,
		Option: "-co " + time.Duration(o.every*float64(time.Millisecond)).Round(time.Microsecond).String(),
	}
	if a.run.Scale.Assumed { // -co needs to know the unit
		f.Option = "-in ns " + f.Option
	}
	result := "it looks as if the recorder waited"
	if o.Percentile > 0 {
		v := o.row.Scale.Of(o.Value)
		name := output.Figure{Percentile: o.Percentile}.String()
		f.Figures[name] = output.Number(v)
		result = fmt.Sprintf("%s with those that were due is %s if all requests waited and went on at once",
			name+a.say.of(o.row.Name()), a.say.quantity(v))
	}
	f.Sentence = fmt.Sprintf("Requests waited for an answer while nothing was recorded: %s (%s).", result, f.Option)
	return []output.Finding{f}
}

// IsFailed reports whether a tag, given as text, is one of failed requests.
func IsFailed(tag string) bool { return path.Base(tag) == measure.FailedTag }

// manyFailed is the part of all requests that makes failures a warning.
const manyFailed = 0.01

// failures finds requests that failed, and says whether they are counted with the others.
func (a *analysis) failures() (all []output.Finding) {
	var failed, noValue, requests int64
	for _, f := range a.run.Reading.Failed {
		failed += f.Count - f.NoValue
		noValue += f.NoValue
		requests += f.Requests
	}
	all = appendFailed(all, noValue, requests, "failed or were skipped, and have no value", "")
	ending := "failed and are counted"
	option := "hdrrec -errors drop"
	if a.run.Reading.Failed == nil {
		ending = "failed and have tags of their own"
		option = "-incT '.*/" + measure.FailedTag + "'"
		requests = a.figures.count
		for _, s := range a.run.Summaries {
			if IsFailed(tags.Text(s.Tag)) {
				failed = saturatedSum(failed, s.Counts().TotalCount())
			}
		}
	}
	return appendFailed(all, failed, requests, ending, option)
}

// appendFailed appends the finding about failed requests, if there are some. Ending is the end of
// the sentence. Option may be empty.
func appendFailed(to []output.Finding, failed, requests int64, ending, option string) []output.Finding {
	if failed == 0 {
		return to
	}
	weight := output.Notes
	if float64(failed) >= manyFailed*float64(requests) {
		weight = output.Warns
	}
	if option != "" {
		ending += " (" + option + ")"
	}
	return append(to, output.Finding{
		Weight:   weight,
		Figures:  map[string]output.Number{"failed": output.Number(failed), "requests": output.Number(requests)},
		Option:   option,
		Sentence: fmt.Sprintf("%s of %s requests %s.", people.Whole(failed), people.Whole(requests), ending),
	})
}

// cut finds logs whose end is missing, and says from which time on.
func (a *analysis) cut() []output.Finding {
	if len(a.run.Reading.Cut) == 0 {
		return nil
	}
	f := output.Finding{
		Weight:  output.Warns,
		Figures: map[string]output.Number{"count": output.Number(len(a.run.Reading.Cut))},
	}
	for _, c := range a.run.Reading.Cut {
		if c.Until != nil && (f.Start == nil || *c.Until < *f.Start) {
			f.Start = c.Until
		}
	}
	from := ""
	if f.Start != nil {
		from = fmt.Sprintf(" from %s on", a.say.clock(*f.Start))
	}
	if len(a.run.Reading.Cut) > 1 {
		if from != "" {
			from = ", the earliest" + from
		}
		f.Sentence = fmt.Sprintf("The rest of %s is missing%s: the files are cut short or damaged.",
			people.Counted(int64(len(a.run.Reading.Cut)), "log"), from)
		return []output.Finding{f}
	}
	of := "the log"
	if name := a.run.Reading.Cut[0].Log; !slices.Equal(a.say.inputs, []string{name}) {
		f.Input = name
		of = tags.Printable(name)
	}
	f.Sentence = fmt.Sprintf("The rest of %s is missing%s: the file is cut short or damaged.", of, from)
	return []output.Finding{f}
}

// malformed finds lines that were skipped, so that no figure has their values.
func (a *analysis) malformed() []output.Finding {
	return missingThings(a.run.Reading.Malformed-len(a.run.Reading.Cut), "malformed line", "skipped, so no figure has what they recorded")
}

// late finds intervals and measurements that came too late.
func (a *analysis) late() []output.Finding {
	return missingThings(a.run.Reading.Late, "interval", "left out, since they came too late")
}

// missingThings returns the finding that n things are missing in figures, nil if n is 0. How says
// what became of the things.
func missingThings(n int, thing, how string) []output.Finding {
	if n == 0 {
		return nil
	}
	verb := "are"
	if n == 1 {
		verb = "is"
		how = strings.ReplaceAll(how, "they", "it")
	}
	return []output.Finding{{
		Weight:   output.Warns,
		Figures:  map[string]output.Number{"count": output.Number(n)},
		Sentence: fmt.Sprintf("%s %s %s.", people.Counted(int64(n), thing), verb, how),
	}}
}

// same finds tags that count the same requests.
func (a *analysis) same() []output.Finding {
	if a.run.Same != nil {
		return []output.Finding{{
			Weight: output.Notes,
			Option: "-incT",
			Sentence: fmt.Sprintf("%s are the same requests: only %s is shown (-incT chooses).", joined(a.run.Same),
				a.run.Same[0]),
		}}
	}
	weight := output.Notes
	var names []string
	for _, s := range a.run.Summaries {
		names = append(names, s.Name())
	}
	found, ok := writers.SameAmong(names)
	for _, row := range a.run.By.Added() {
		if added, is := writers.SameAmong(row); is {
			found = added
			ok = true
			weight = output.Warns
		}
	}
	if !ok {
		return nil
	}
	f := output.Finding{Weight: weight, Option: found.Option}
	more := ""
	if weight == output.Warns {
		more = ", and are added up"
	} else if found.Other == "" {
		more = others(names, found.Tags)
	}
	choose := "choose one"
	if found.Other != "" {
		found.Tags, choose = append(found.Tags, found.Other), "leave it out"
	}
	f.Sentence = fmt.Sprintf("%s are the same requests%s: %s (%s).", joined(found.Tags), more, choose, f.Option)
	return []output.Finding{f}
}

// others names a second group of tags that count the same requests, or nothing if there is none.
func others(names, first []string) string {
	rest := slices.DeleteFunc(names, func(name string) bool { return slices.Contains(first, name) })
	next, ok := writers.SameAmong(rest)
	if !ok || next.Other != "" {
		return ""
	}
	return ", as are " + joined(next.Tags)
}

// unit finds that the unit of values is unknown.
func (a *analysis) unit() []output.Finding {
	f := output.Finding{Weight: output.Notes, Option: "-in ns"}
	switch {
	case a.run.Scale.Assumed:
		f.Sentence = "No log states its unit: values are taken as ns (-in names another)."
		f.Option = "-in"
	case a.run.Scale.Unit == "" && a.run.Scale.In == 0:
		f.Sentence = "The unit of values is unknown (-in ns)."
	default:
		return nil
	}
	return []output.Finding{f}
}

// with finds phases in which more values than by chance are slow. It does not say that the phase is
// the cause.
func (a *analysis) with() (all []output.Finding) {
	for _, c := range a.run.Coincident {
		f := output.Finding{
			Weight: output.Warns,
			Figures: map[string]output.Number{
				"percentile": output.Number(c.Percentile),
				"share":      output.Number(100 * c.Share),
				"chance":     output.Number(100 * c.Chance),
				"time":       output.Number(100 * c.Time),
			},
			Unit: "%",
		}
		of := ""
		if c.Rows > 1 {
			f.Tag = tags.Text(c.Row)
			of = " of " + f.Tag
		}
		f.Sentence = fmt.Sprintf("%.0f%% of the values%s above %s come with %s, in %s%% of the time; if that were like the time around, %.0f%% would.",
			100*c.Share, of, output.Figure{Percentile: c.Percentile}, tags.Text([]byte(c.Phase)), people.Significant(100*c.Time, 2), 100*c.Chance)
		all = append(all, f)
	}
	return all
}
