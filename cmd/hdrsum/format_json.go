package main

import (
	"io"
	"slices"

	"hdrkit/internal/gate"
	"hdrkit/internal/scan"
	"hdrkit/output"
)

// jsonFormat has all that is known of a summary, also with -baseline and -sla.
var jsonFormat = format{
	name: "json", what: "one JSON document", uses: slices.Concat([]string{"p", "tz"}, arrangeOptions, valueOptions, periodOptions, confidenceOptions), check: checkWindows,
	comparesAll: true, breaches: true, overs: true,
	compare: func(w io.Writer, r *report, c *comparison) error {
		doc := r.document(r.summaries, r.scan.Inputs)
		if len(c.gates.baseline) > 0 {
			doc.Compare(r.document(c.before, c.inputs), c.pairs, r.options.percentiles)
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

// document returns summaries of inputs for JSON.
func (r *report) document(summaries []*output.Summary, inputs []scan.Input) *output.Document {
	doc := output.NewDocument(summaries, r.options.scale, r.options.percentiles, r.options.zone)
	doc.PeriodMode, doc.SkippedLines, doc.Inputs = r.options.mode, r.diagnostics.Skipped(), inputNames(inputs)
	return doc
}

func inputNames(inputs []scan.Input) []string {
	names := []string{}
	for _, input := range inputs {
		names = append(names, input.Name)
	}
	return names
}
