package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"hdrkit/internal/cli"
	"hdrkit/internal/finding"
	"hdrkit/internal/gate"
	"hdrkit/internal/question/summary"
	"hdrkit/output"
	"hdrkit/tags"
)

// findingOptions are the options that find what was bad, and who did it.
func (o *options) findingOptions() []cli.Option {
	return []cli.Option{
		{
			Name:    "worst",
			Group:   cli.GroupOutput,
			Value:   cli.Int(&o.worst, "", cli.AtLeastOne),
			Default: "none",
			Usage:   "list the `N` worst separate moments: time, length, maximum, tag and log",
		},
		{
			Name:    "who",
			Group:   cli.GroupOutput,
			Value:   cli.Float(&o.percentile, "", cli.Percent),
			Given:   &o.who,
			Default: "none",
			Usage: "list what each tag of each log, or what -by says, has of the values above " +
				"this `PERCENTILE` of all values, and the percentile without it",
		},
	}
}

// histories returns what keeps what is to be found, nil if nothing is.
func (o *options) histories() *summary.Histories {
	switch {
	case o.worst > 0:
		return &summary.Histories{Times: true, Sums: o.who}
	case o.format.finds:
		return &summary.Histories{Sums: o.who || len(o.scan.Inputs) >= finding.LeastLogs, Times: true, Most: mostTimes}
	case o.who:
		return &summary.Histories{Sums: true}
	}
	return nil
}

// mostTimes is the memory in bytes that the times of intervals may take if nobody asked for them:
// enough for eight hours of six tags with an interval a second.
const mostTimes = 20 << 20

// find finds it, once the logs are read and the scale is known.
func (r *found) find() (err error) {
	by := r.scan.By
	scale := gate.Scales(r.Summaries, by)
	if r.worst > 0 {
		if r.moments, err = r.kept.Worst(r.worst, scale); err != nil {
			return fmt.Errorf("-worst: %w", err)
		}
	}
	if f := r.format; f.finds || f.breaches || r.worst > 0 {
		r.findings = r.findingsOf()
	}
	if !r.who {
		return nil
	}
	names := make(map[string]bool)
	ofTags, ofInputs := true, true
	if r.given.by && !by.All() { // one row has everything
		ofTags, ofInputs = !by.Inputs() || !by.AddsTags(), by.Inputs()
	}
	if r.shares, err = r.kept.Who(r.percentile, scale, func(input string, tag []byte) (string, []byte) {
		names[tags.Text(tag)] = true
		switch {
		case !ofInputs:
			return "", by.Row(input, tag)
		case !ofTags:
			return input, nil
		}
		return input, tag
	}); err != nil {
		return fmt.Errorf("-who: %w", err)
	}
	r.shares.Tags, r.shares.Inputs = ofTags, ofInputs
	r.diagnostics.AddsUp("-who", slices.Sorted(maps.Keys(names)))
	return nil
}

// findingsOf returns what the run shows.
func (r *found) findingsOf() []output.Finding {
	return finding.Of(&finding.Run{
		Summaries: r.Summaries,
		By:        r.scan.By,
		Scale:     r.scale,
		Zone:      r.Zone,
		Verdicts:  r.verdicts,
		Histories: r.times(),
		Moments:   r.moments,
		Course:    r.course,
		Corrected: r.Expected > 0,
		Failed:    r.diagnostics.Failed,
		Cut:       r.diagnostics.Cut(),
		Malformed: r.diagnostics.Skipped(),
		Late:      r.diagnostics.TooLate(),
	})
}

// times returns the histories if they have the times of intervals.
func (r *found) times() *summary.Histories {
	if r.kept != nil && r.kept.Times {
		return r.kept
	}
	return nil
}

// writeAsked writes what -worst and -who ask for, after something else if that is set.
func (r *found) writeAsked(w io.Writer, after bool) error {
	if r.worst > 0 {
		if after {
			fmt.Fprintln(w)
		}
		after = true
		for n := range r.findings {
			if f := &r.findings[n]; f.Kind == finding.Level {
				fmt.Fprintf(w, "%s\n\n", f.Sentence)
			}
		}
		if err := output.WriteWorst(w, r.moments, r.Zone, r.width); err != nil {
			return err
		}
	}
	if !r.who {
		return nil
	}
	if after {
		fmt.Fprintln(w)
	}
	return output.WriteWho(w, r.shares, r.width)
}
