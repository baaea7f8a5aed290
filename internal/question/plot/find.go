package plot

import (
	"bytes"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/chart"
	"hdrkit/internal/finding"
	"hdrkit/internal/flow"
	"hdrkit/internal/gate"
	"hdrkit/internal/logs"
	"hdrkit/internal/scan"
	"hdrkit/internal/summary"
	"hdrkit/output"
)

// judging has what findings need beside the logs.
type judging struct {
	limits    []gate.Limit
	zone      *time.Location
	corrected bool // values are corrected for coordinated omission
	// diagnostics have the requests of measurements that failed, after these were read.
	diagnostics *logs.Diagnostics
}

// A search makes the findings of the logs of a picture.
type search struct {
	judging
	watch *gate.Watch
	run   finding.Run
}

// search returns the search of logs, which adds to what is collected of them, and its flows. Nil is
// none.
func (r *reading) search(one *scan.Scan, headers *logs.Logs, o *summary.Options) (*search, []flow.Flow) {
	if !r.plan.takes.findings {
		return nil, nil
	}
	j := r.plan.judging
	s := &search{judging: j, watch: gate.NewWatch(j.limits, 0, true, one.Memory)}
	if s.watch != nil {
		s.watch.Scale = func(row []byte) (hdrlog.Scale, error) { return headers.RowScale(row, false) }
		s.watch.AllTags = r.plan.by.All()
		s.watch.Late = func(scan.Place, error) {}
		one.ByTime = true
	}
	if r.plan.takes.overTime {
		s.run.Course = new(summary.Course)
		o.Course = s.run.Course
	}
	if o.Histories == nil {
		o.Histories = &summary.Histories{Times: true}
	}
	o.Histories.Sums = o.Histories.Sums || len(one.Inputs) >= finding.LeastLogs
	return s, s.watch.Flows()
}

// find finds out what logs show after they were added up. A picture over time gets all findings,
// any other only those about values that were not recorded.
func (r *reading) find(s *search, one *scan.Scan, result *summary.Result, histories *summary.Histories) (err error) {
	scale := r.plan.scale
	var typical []unit.Typical
	var summaries []*output.Summary // without intervals, which nobody asked for
	for _, sum := range result.Summaries {
		plain := *sum
		plain.Confidence = nil
		summaries = append(summaries, &plain)
		if h := sum.Counts(); h.TotalCount() > 0 {
			typical = append(typical, unit.TypicalOf(h, sum.Scale.Factor()))
		}
	}
	if !gate.Bare(s.limits) {
		scale = r.units.Readable(scale, typical...)
	}
	for _, sum := range summaries {
		sum.Scale = scale.Times(sum.Scale.Factor())
	}
	run := &s.run
	run.Summaries, run.By = summaries, r.plan.by
	run.Scale = scale
	run.Zone = s.zone
	run.Same = r.plan.shows.same
	run.Histories = histories
	run.Corrected = s.corrected
	run.Failed = s.diagnostics.Failed
	run.Cut = s.diagnostics.Cut()
	run.Malformed, run.Late = s.diagnostics.Skipped(), s.diagnostics.TooLate()
	run.Verdicts = gate.Judge(s.limits, gate.Figures{
		Summaries: summaries,
		Watch:     s.watch,
		Phases:    r.plan.by.Phases(),
	})
	if r.plan.phases != nil {
		drawn := *one
		drawn.Phases = r.plan.phases
		run.Coincident, err = summary.Coincide(&drawn)
		if err == summary.ErrOnce {
			s.diagnostics.Warnf("-phases: %v", err)
		} else if err != nil {
			return err
		}
	}
	find := finding.Omissions
	if r.plan.takes.overTime {
		find = finding.Of
	}
	var omitted *finding.Omitted
	r.found.findings, omitted = find(run)
	r.addOmitted(omitted)
	return nil
}

// addOmitted adds the curve of values with those that were due while the recorder waited.
func (r *reading) addOmitted(o *finding.Omitted) {
	if o == nil {
		return
	}
	for n := range r.found.rows {
		row := &r.found.rows[n]
		if row.sum == nil || !bytes.Equal(row.sum.Tag, o.Tag) {
			continue
		}
		row.Corrected = chart.CurveOf(&o.Counts, row.sum.Scale.Divisor())
		if o.Percentile > 0 {
			row.Corrected.Named = chart.Step{Percentile: o.Percentile, Value: row.sum.Scale.Of(o.Value)}
		}
	}
}
