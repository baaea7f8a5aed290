package main

import (
	"strconv"
	"time"

	"hdrkit/internal/base/unit"
	"hdrkit/internal/gate"
	"hdrkit/internal/table/summary"
)

// mostTimes is the memory in bytes that the times of intervals may take: enough for eight hours of
// six tags with an interval a second. Nobody looks for omission in longer logs.
const mostTimes = 20 << 20

// seeksOmission reports whether the command looks for coordinated omission: only for people.
func (o *options) seeksOmission() bool {
	return o.format.readable && !(o.Expected > 0)
}

// warnOmission prints a notice if a log looks like coordinated omission. It corrects nothing.
func (r *found) warnOmission(in unit.Unit) {
	if !r.seeksOmission() || in == (unit.Unit{}) {
		return
	}
	factor := gate.Factors(r.Summaries, r.scan.By)
	found, err := r.histories.Omission(func(input string, tag []byte) float64 { return max(factor(input, tag), 0) / in.Per(unit.Millisecond) })
	if err != nil || found == nil {
		return
	}
	span := func(millis float64, to time.Duration) time.Duration {
		return time.Duration(millis * float64(time.Millisecond)).Round(to)
	}
	r.diagnostics.Warnf("%s: a value of %v, and few others during that time: it looks as if the recorder waited for an answer (coordinated omission). -co %s would correct for a value every %v",
		found.Place, span(found.Longest, time.Millisecond), strconv.FormatFloat(summary.Rounded(found.Expected/found.Unit), 'f', -1, 64), span(summary.Rounded(found.Expected), time.Microsecond))
}
