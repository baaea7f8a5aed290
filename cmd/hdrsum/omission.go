package main

import (
	"slices"
	"strconv"
	"time"

	"hdrkit/internal/base/unit"
	"hdrkit/internal/cli"
	"hdrkit/internal/scan"
	"hdrkit/internal/table/summary"
	"hdrkit/output"
	"hdrkit/tags"
)

// warnOmission prints a notice if a log looks like coordinated omission. It corrects nothing. It
// reads logs once more, but only if a value is longer than the intervals, and only for people.
func (o *options) warnOmission(s *scan.Scan, d *cli.Diagnostics, r *summary.Result, in unit.Unit) {
	if !o.format.readable || in == (unit.Unit{}) || cli.Given(o.c, "co") || slices.ContainsFunc(s.Inputs, func(i scan.Input) bool { return i.Once }) {
		return
	}
	millis := func(s *output.Summary) float64 { return max(s.Factor, 0) / in.Per(unit.Millisecond) }
	var intervals int64
	longest := 0.0
	for _, s := range r.Summaries {
		intervals += s.Intervals
		longest = max(longest, s.Counts().Float(s.Counts().Max())*millis(s))
	}
	if intervals == 0 || longest <= float64(r.Lengths)/float64(intervals) {
		return
	}
	found, err := summary.FindOmission(s, func(row []byte) float64 {
		for _, s := range r.Summaries {
			if tags.Compare(s.Tag, row) == 0 {
				return millis(s)
			}
		}
		return 0
	})
	if err != nil || found == nil {
		return
	}
	span := func(millis float64, to time.Duration) time.Duration {
		return time.Duration(millis * float64(time.Millisecond)).Round(to)
	}
	d.Warnf("%s: a value of %v, and few others during that time: it looks as if the recorder waited for an answer (coordinated omission). -co %s would correct for a value every %v",
		found.Place, span(found.Longest, time.Millisecond), strconv.FormatFloat(summary.Rounded(found.Expected/found.Unit), 'f', -1, 64), span(summary.Rounded(found.Expected), time.Microsecond))
}
