package main

import (
	"io"
	"slices"

	"hdrkit/internal/gate"
	"hdrkit/internal/scan"
	"hdrkit/output"
	"hdrkit/tags"
)

// jsonFormat has all that is known of a summary, also with -baseline and -sla.
var jsonFormat = format{
	name: "json", what: "one JSON document", uses: slices.Concat([]string{"p", "tz"}, arrangeOptions, valueOptions, periodOptions, confidenceOptions), check: checkWindows,
	write: func(r *report) error {
		doc, err := r.document(r.summaries, r.scan.Inputs)
		if err != nil {
			return err
		}
		return r.write(r.c.String("of"), func(w io.Writer) error { return output.JSON(w, doc) })
	},
	listTags: func(w io.Writer, r *report) error {
		list := tagList{Inputs: inputNames(r.scan.Inputs), SkippedLines: r.diagnostics.Skipped(), Tags: []listedTag{}}
		for _, s := range r.summaries {
			listed := listedTag{Input: s.Input, Intervals: s.Intervals, TotalCount: s.Counts().TotalCount()}
			if tag := s.OwnTag(); tag != nil {
				listed.Tag = new(tags.Text(tag))
			}
			list.Tags = append(list.Tags, listed)
		}
		return output.JSON(w, list)
	},
	comparesAll: true, breaches: true, overs: true,
	compare: func(w io.Writer, r *report, c *comparison) error {
		doc, err := r.document(r.summaries, r.scan.Inputs)
		if err != nil {
			return err
		}
		if len(c.gates.baseline) > 0 {
			baseline, err := r.document(c.before, c.inputs)
			if err != nil {
				return err
			}
			doc.Compare(baseline, c.pairs, r.options.percentiles)
		}
		if len(c.gates.limits) > 0 {
			doc.Limits = gate.Document(c.verdicts)
		}
		if c.gates.watch != nil {
			doc.Broken(c.gates.watch.Breaches())
		}
		if f := &c.gates.findings; f.wanted() {
			f.document(doc, r.options.scale)
		}
		return output.JSON(w, doc)
	},
}

// A tagList is the output of -lt.
type tagList struct {
	Inputs       []string    `json:"inputs"`
	SkippedLines int         `json:"skippedLines"`
	Tags         []listedTag `json:"tags"`
}

// A listedTag is a tag, null for untagged intervals and for all tags together.
type listedTag struct {
	Tag        *string `json:"tag"`
	Input      string  `json:"input,omitempty"`
	Intervals  int64   `json:"intervals"`
	TotalCount int64   `json:"totalCount"`
}

// document returns summaries of inputs for JSON.
func (r *report) document(summaries []*output.Summary, inputs []scan.Input) (*output.Document, error) {
	doc, err := output.NewDocument(summaries, r.options.scale, r.options.percentiles, r.options.zone)
	if err != nil {
		return nil, err
	}
	doc.PeriodMode, doc.SkippedLines, doc.Inputs = r.options.mode, r.diagnostics.Skipped(), inputNames(inputs)
	return doc, nil
}

func inputNames(inputs []scan.Input) []string {
	names := []string{}
	for _, input := range inputs {
		names = append(names, input.Name)
	}
	return names
}
