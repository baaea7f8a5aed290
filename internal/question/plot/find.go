package plot

import (
	"bytes"
	"slices"

	"hdrkit/hdrlog"
	"hdrkit/internal/chart"
	"hdrkit/internal/finding"
	"hdrkit/internal/flow"
	"hdrkit/internal/gate"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/summary"
	"hdrkit/internal/scan"
	"hdrkit/output"
)

// finds reports whether the picture has findings: if it is a page of logs that add up, or a picture
// with sentences about them.
func (d *decision) finds() bool {
	kinds := []*chart.Type{chart.Report, chart.Fleet, chart.Percentiles}
	return (slices.Contains(kinds, d.Type) || d.Page) && !d.separate && !d.Compare
}

// A search makes the findings of the logs of a picture.
type search struct {
	watch *gate.Watch
	run   finding.Run
}

// search returns the search of logs, which adds to what is collected of them, and its flows. Nil is
// none.
func (r *reading) search(one *scan.Scan, added *logs.Logs, o *summary.Options) (*search, []flow.Flow) {
	if !r.finds() {
		return nil, nil
	}
	s := &search{watch: gate.NewWatch(r.Limits, 0, true, one.Memory)}
	if s.watch != nil {
		s.watch.Scale = func(row []byte) (hdrlog.Scale, error) { return added.RowScale(row, gate.HasUnit(r.Limits)) }
		s.watch.AllTags = r.by.All()
		s.watch.Late = func(scan.Place, error) {}
		one.ByTime = true
	}
	if r.Type != chart.Percentiles || r.Page {
		s.run.Course = new(summary.Course)
		o.Course = s.run.Course
	}
	if o.Histories == nil {
		o.Histories = &summary.Histories{Times: true}
	}
	o.Histories.Sums = o.Histories.Sums || len(one.Inputs) >= finding.LeastLogs
	return s, s.watch.Flows()
}

// find sets the findings of logs after they were added up.
func (r *reading) find(s *search, result *summary.Result, histories *summary.Histories) {
	scale := r.scale
	var medians []float64
	var summaries []*output.Summary // without intervals, which nobody asked for
	for _, sum := range result.Summaries {
		plain := *sum
		plain.Confidence = nil
		summaries = append(summaries, &plain)
		if h := sum.Counts(); h.TotalCount() > 0 {
			medians = append(medians, h.Float(h.ValueAtPercentile(50))*sum.Scale.Factor())
		}
	}
	if len(medians) > 0 && !gate.Bare(r.Limits) {
		slices.Sort(medians)
		scale = r.units.Readable(scale, medians[len(medians)/2])
	}
	for _, s := range summaries {
		s.Scale = scale.Times(s.Scale.Factor())
	}
	run := &s.run
	run.Summaries, run.By = summaries, r.by
	run.Scale = scale
	run.Zone = r.Zone
	run.Same = r.same
	run.Histories = histories
	run.Corrected = r.Expected > 0
	run.Verdicts = gate.Judge(r.Limits, gate.Figures{Summaries: summaries, Watch: s.watch})
	run.Breaches = s.watch.Breaches()
	if r.Type == chart.Percentiles && !r.Page {
		r.findings = finding.Omissions(run)
	} else {
		r.findings = finding.Of(run)
	}
	r.addOmitted(run.Omitted())
}

// addOmitted adds the curve of values with those that were due while the recorder waited.
func (r *reading) addOmitted(o *finding.Omitted) {
	if o == nil {
		return
	}
	for n := range r.rows {
		row := &r.rows[n]
		if row.sum == nil || !bytes.Equal(row.sum.Tag, o.Tag) {
			continue
		}
		row.Corrected = chart.CurveOf(&o.Counts, row.sum.Scale.Divisor())
		if o.Percentile > 0 {
			row.Corrected.Named = chart.Step{Percentile: o.Percentile, Value: row.sum.Scale.Of(o.Value)}
		}
	}
}
