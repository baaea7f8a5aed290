// Package plot makes pictures of logs: it reads the intervals of a scan, and percentile
// distributions, and decides which windows, lines and marks a picture has.
package plot

import (
	"slices"
	"strings"

	"hdrkit/internal/base/message"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/chart"
	"hdrkit/internal/gate"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/report"
	"hdrkit/internal/scan"
)

// Options say what to draw of which logs. The zero value of each but the type is the usual one.
type Options struct {
	logs.Options // of the scan
	Units        unit.Options
	Type         *chart.Type
	Page         bool      // a page has all charts
	Percentiles  []float64 // of a timeline, nil for the usual ones
	// Aggregate is the length of windows in milliseconds. If nobody gave it, long logs get windows.
	Aggregate      int64
	AggregateGiven bool
	// Fold is a period in milliseconds of which a heat map shows the times, FoldFound the period
	// that is found, and 0 none.
	Fold        int64
	HeightGiven bool // otherwise the picture is as high as its logs need
	Compare     bool // each log by itself, and not what several add up to
	Separator   int  // how many names are before --
	Linear      bool // an axis of values that is never logarithmic by itself
	Limits      []gate.Limit
	Marks       []Mark
	Look        chart.Looks // the size, the title, the axes and the theme
	// Sums, if set, takes the sums of logs that add up. Summaries then have their maxima over time.
	Sums func(units *logs.Units, side report.Side) error

	sides report.Sides // of a report that compares
}

// Find finds the logs, and those of each side of a report that compares.
func (o *Options) Find(std *message.Streams, d *logs.Diagnostics) (s *scan.Scan, err error) {
	by, err := o.Rows()
	if err != nil {
		return nil, err
	}
	runs := o.Type == chart.Trend || o.compareReport() || o.eachRun(by)
	o.Inputs.Runs, o.EachRun = runs, runs
	if !o.compareReport() {
		return o.Scan(std, d)
	}
	old, new, err := report.SplitSides(o.Names, o.Separator)
	if err != nil {
		return nil, err
	}
	o.sides, err = report.FindSides(std, d, &o.Options, old, new, false)
	if err != nil {
		return nil, err
	}
	return o.sides.All(), nil
}

// A Mark is a text at a time.
type Mark struct {
	When scan.Bound
	Text string
}

// levels returns the percentiles of lines. Limits have lines of their own, unless somebody chose.
func (o *Options) levels() []float64 {
	if o.Percentiles != nil {
		return o.Percentiles
	}
	all := []float64{99, 100}
	if o.Page || o.Type.Chart.Marks == chart.Dots { // of several series, one alone
		all = []float64{50, 99, 100}
	}
	for _, l := range o.Limits {
		if l.Percentile > 0 && !slices.Contains(all, l.Percentile) {
			all = append(all, l.Percentile)
		}
	}
	slices.Sort(all)
	return all
}

// needsLogs returns an option that is given and changes nothing of a percentile distribution, empty
// if there is none. Some may be for the logs beside it.
func (o *Options) needsLogs(logs bool) string {
	for _, given := range []struct {
		option string
		is     bool
	}{
		{"co", o.Expected > 0},
		{"s", !logs && o.From != ""},
		{"e", !logs && o.To != ""},
		{"incT", !logs && o.Include != nil},
		{"excT", !logs && o.Exclude != nil},
	} {
		if given.is {
			return given.option
		}
	}
	return ""
}

// ParseLimits reads service levels as hdrsum does. 20 stands for max<=20, and 99=5 for 99<=5.
func ParseLimits(text string) (limits []gate.Limit, err error) {
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		switch {
		case strings.ContainsAny(part, "<>"):
		case strings.Contains(part, "="):
			part = strings.Replace(part, "=", "<=", 1)
		default:
			part = "max<=" + part
		}
		parsed, err := gate.Parse(part)
		if err != nil {
			return nil, message.Usagef("-sla %s: %w", text, err)
		}
		l := parsed[0]
		if !l.Drawn() || !(l.Value > 0 && l.Value < 1e300) {
			return nil, message.Usagef("-sla %s: a picture shows limits above 0 for percentiles or the maximum, "+
				"such as 20 or 99<=5ms", text)
		}
		limits = append(limits, l)
	}
	return limits, nil
}
