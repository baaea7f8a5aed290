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
	"hdrkit/output"
	"hdrkit/tags"
)

// Omitted are the values of a row with those that were due while the recorder waited.
type Omitted struct {
	Tag    []byte // of the row
	Counts histogram.Histogram
	// Percentile is the one that the sentence names, with its value in the unit of the row's
	// counts. It is 0 if it names none.
	Percentile, Value float64
}

// Omitted returns the values that the finding of an omission is about, nil if there is none. Call
// it after [Of].
func (r *Run) Omitted() *Omitted { return r.omitted }

// omission finds requests that were due while the recorder waited for an answer, and says what the
// percentile is if they are counted.
func (r *Run) omission() []output.Finding {
	if r.Histories == nil || r.Corrected || r.Scale.In == 0 {
		return nil
	}
	const millisecond = 1e6
	found, err := r.Histories.Omission(func(input string, tag []byte) float64 {
		of := r.scale(input, tag)
		return of.Factor() * float64(of.In) / millisecond
	})
	if err != nil || found == nil {
		return nil
	}
	row := r.row(found.Place.Name, found.Tag)
	every := people.Rounded(found.Expected, 2)
	omitted := new(Omitted)
	corrected := &omitted.Counts
	if row == nil || row.Counts().CorrectInto(corrected, every/found.Unit) != nil {
		return nil
	}
	omitted.Tag = row.Tag
	r.omitted = omitted
	f := output.Finding{
		Weight:  output.Warns,
		Tag:     r.tag(found.Tag),
		Input:   r.input(found.Place.Name),
		Start:   &found.Start,
		Figures: map[string]output.Number{"expectedMs": output.Number(every), "longestMs": output.Number(found.Longest)},
		Unit:    r.Scale.Unit,
		Option:  "-co " + time.Duration(every*millisecond).Round(time.Microsecond).String(),
	}
	if r.Scale.Assumed { // -co needs to know the unit
		f.Option = "-in ns " + f.Option
	}
	result := "it looks as if the recorder waited"
	for _, p := range named {
		if counts.Above(corrected, p) >= counts.Few {
			omitted.Percentile, omitted.Value = p, corrected.Float(corrected.ValueAtPercentile(p))
			v := r.printed(row, omitted.Value)
			name := output.Figure{Percentile: p}.String()
			f.Figures[name] = output.Number(v)
			result = fmt.Sprintf("%s with those that were due is %s if all requests waited and went on at once",
				name+r.of(row.Name()), r.quantity(v))
			break
		}
	}
	f.Sentence = fmt.Sprintf("Requests waited for an answer while nothing was recorded: %s (%s).", result, f.Option)
	return []output.Finding{f}
}

// IsFailed reports whether the text of a tag is that of failed requests.
func IsFailed(tag string) bool { return path.Base(tag) == measure.FailedTag }

// manyFailed is the part of all requests from which on failures are a warning.
const manyFailed = 0.01

// failures finds requests that failed, and says whether they are counted with the others.
func (r *Run) failures() (all []output.Finding) {
	var failed, noValue, requests int64
	for _, f := range r.Failed {
		failed += f.Count - f.NoValue
		noValue += f.NoValue
		requests += f.Requests
	}
	all = appendFailed(all, noValue, requests, "failed or were skipped, and have no value", "")
	ending := "failed and are counted"
	option := "hdrrec -errors drop"
	if r.Failed == nil {
		ending = "failed and have tags of their own"
		option = "-incT '.*/" + measure.FailedTag + "'"
		requests = r.figures().count
		for _, s := range r.Summaries {
			if IsFailed(tags.Text(s.Tag)) {
				failed = added(failed, s.Counts().TotalCount())
			}
		}
	}
	return appendFailed(all, failed, requests, ending, option)
}

// appendFailed appends what is said of requests that failed, if there are some: what the sentence
// ends in, and an option.
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

// cut finds logs whose rest is missing, and says from when on.
func (r *Run) cut() []output.Finding {
	if len(r.Cut) == 0 {
		return nil
	}
	f := output.Finding{
		Weight:  output.Warns,
		Figures: map[string]output.Number{"count": output.Number(len(r.Cut))},
	}
	for _, c := range r.Cut {
		if c.Until != nil && (f.Start == nil || *c.Until < *f.Start) {
			f.Start = c.Until
		}
	}
	from := ""
	if f.Start != nil {
		from = fmt.Sprintf(" from %s on", r.clock(*f.Start))
	}
	if len(r.Cut) > 1 {
		if from != "" {
			from = ", the earliest" + from
		}
		f.Sentence = fmt.Sprintf("The rest of %s is missing%s: the files are cut short or damaged.",
			people.Counted(int64(len(r.Cut)), "log"), from)
		return []output.Finding{f}
	}
	of := "the log"
	if name := r.Cut[0].Log; r.Histories == nil || !slices.Equal(r.Histories.Inputs(), []string{name}) {
		f.Input = name
		of = tags.Printable(name)
	}
	f.Sentence = fmt.Sprintf("The rest of %s is missing%s: the file is cut short or damaged.", of, from)
	return []output.Finding{f}
}

// malformed finds lines that were skipped: what they had is in no figure.
func (r *Run) malformed() []output.Finding {
	return lost(r.Malformed-len(r.Cut), "malformed line", "skipped, so no figure has what they recorded")
}

// late finds what came too late to be shown.
func (r *Run) late() []output.Finding {
	return lost(r.Late, "interval", "left out, since they came too late")
}

// lost returns the finding of things that are missing in figures, if there are some.
func lost(n int, thing, how string) []output.Finding {
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
func (r *Run) same() []output.Finding {
	if r.Same != nil {
		return []output.Finding{{
			Weight:   output.Notes,
			Option:   "-incT",
			Sentence: fmt.Sprintf("%s are the same requests: only %s is shown (-incT chooses).", listed(r.Same), r.Same[0]),
		}}
	}
	weight := output.Notes
	var names []string
	for _, s := range r.Summaries {
		names = append(names, s.Name())
	}
	found, ok := writers.SameAmong(names)
	for _, row := range r.By.Added() {
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
	f.Sentence = fmt.Sprintf("%s are the same requests%s: %s (%s).", listed(found.Tags), more, choose, f.Option)
	return []output.Finding{f}
}

// others names the next tags that count the same requests, and nothing if there are none.
func others(names, first []string) string {
	rest := slices.DeleteFunc(names, func(name string) bool { return slices.Contains(first, name) })
	next, ok := writers.SameAmong(rest)
	if !ok || next.Other != "" {
		return ""
	}
	return ", as are " + listed(next.Tags)
}

// unit finds that the unit of values is unknown.
func (r *Run) unit() []output.Finding {
	f := output.Finding{Weight: output.Notes, Option: "-in ns"}
	switch {
	case r.Scale.Assumed:
		f.Sentence = "No log states its unit: values are taken as ns (-in names another)."
		f.Option = "-in"
	case r.Scale.Unit == "" && r.Scale.In == 0:
		f.Sentence = "The unit of values is unknown (-in ns)."
	default:
		return nil
	}
	return []output.Finding{f}
}
