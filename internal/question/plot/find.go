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

// judging has the limits and options for findings, which come from the command line.
type judging struct {
	limits    []gate.Limit
	zone      *time.Location
	corrected bool // values are corrected for coordinated omission
	// diagnostics knows, once the inputs are read, how many requests of measurements failed.
	diagnostics *logs.Diagnostics
}

// A search makes the findings about the logs of a picture. It needs flows while they are read.
type search struct {
	judging
	watch *gate.Watch
	run   finding.Run
}

// newSearch returns the search for the logs of a scan, and its flows. It adds to the options what
// the search needs, and makes the scan go by time if limits are watched. It returns nil if the
// picture needs no findings.
func (r *reading) newSearch(one *scan.Scan, headers *logs.Logs, o *summary.Options) (*search, []flow.Flow) {
	if !r.plan.needs.findings {
		return nil, nil
	}
	j := r.plan.judging
	s := &search{judging: j, watch: gate.NewWatch(j.limits, 0, true, one.Memory)}
	if s.watch != nil {
		s.watch.Scale = func(row []byte) (hdrlog.Scale, error) { return headers.RowScale(row, false) }
		s.watch.AllTags = r.plan.by.All()
		s.watch.Late = func(scan.Visit, error) {}
		one.ByTime = true
	}
	if r.plan.needs.overTime {
		s.run.Course = new(summary.Course)
		o.Course = s.run.Course
	}
	if o.Histories == nil {
		o.Histories = &summary.Histories{Times: true}
	}
	o.Histories.Sums = o.Histories.Sums || len(one.Inputs) >= finding.MinLogs
	return s, s.watch.Flows()
}

// find makes the findings of logs that were added up. A picture over time gets all findings, any
// other picture only those about coordinated omission.
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
	run.Same = r.plan.content.same
	run.Histories = histories
	run.Corrected = s.corrected
	run.Reading = finding.ReadingOf(s.diagnostics)
	run.Verdicts = gate.Judge(s.limits, gate.Measured{
		Summaries: summaries,
		Watch:     s.watch,
		Phases:    r.plan.by.Phases(),
	})
	if r.plan.phases != nil {
		drawn := *one
		drawn.Rows.Phases = r.plan.phases
		run.Coincident, err = summary.Coincide(&drawn)
		if err == summary.ErrOnce {
			s.diagnostics.Warnf("-phases: %v", err)
		} else if err != nil {
			return err
		}
	}
	find := finding.Omissions
	if r.plan.needs.overTime {
		find = finding.Of
	}
	var omitted *finding.Omitted
	r.found.findings, omitted = find(run)
	r.addOmitted(omitted)
	return nil
}

// addOmitted adds the curve with correction for coordinated omission to its row, if there is one.
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
