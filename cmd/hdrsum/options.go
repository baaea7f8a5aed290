package main

import (
	"cmp"
	"math"
	"slices"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/message"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/gate"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/report"
	"hdrkit/internal/question/series"
	"hdrkit/internal/scan"
	"hdrkit/output"
)

// options are what the command line asks for, and what it is asked of.
type options struct {
	logs.Options
	typed
	printing
	checks
	lists
	reading
	std *message.Streams
}

// typed are options as they are given, from which others follow.
type typed struct {
	kind            string // -st
	list, intervals bool   // -lt, -its
	unit            unit.Options
	moving          int64 // -mwpl
	given           struct{ inputs, kind, sort, level, windows, moving, movingLength, percentiles, by, bucket bool }
}

// printing says what is printed of rows and summaries, and how.
type printing struct {
	of      string // the file
	width   int    // of the terminal, 0 for a file
	format  *format
	mode    string // of the period
	figures report.Figures
	// sort is the figure that rows are sorted by, nil for their names. At most top rows are shown,
	// 0 for all.
	sort *gate.Limit
	top  int
	// level is the confidence of intervals in percent, 0 for no intervals, and believed are the
	// percentiles that have them.
	level    float64
	believed []float64
	series   series.Options
	metric   string  // influx and openmetrics
	ticks    int     // -tph
	bucket   float64 // -obs
}

// checks are what must hold.
type checks struct {
	limits    []gate.Limit
	undecided string      // what an undecided limit does
	watch     *gate.Watch // nil if no limit is checked over time
}

// lists are what is printed behind summaries.
type lists struct {
	worst      int     // moments, 0 for none
	who        bool    // who has the values above percentile
	percentile float64 // of -who
}

// reading is what the logs are read with.
type reading struct {
	diagnostics *logs.Diagnostics
	scan        *scan.Scan // of the logs that are shown
	units       *logs.Units
	logs        *logs.Logs   // of the logs that are shown
	scale       hdrlog.Scale // known when the logs have been read, see setScale
}

// check checks the options together, and sets those that follow from others.
func (o *options) check() (err error) {
	f := o.chosen()
	o.format, o.diagnostics = f, logs.NewDiagnostics(o.std, o.Strict)
	o.diagnostics.Keep = f.finds
	if logs.ToStdout(o.of) {
		o.width = logs.Width(o.std.Out)
	}
	if err := o.checkEnding(); err != nil {
		return err
	}
	if o.units, err = logs.NewUnits(o.std, o.unit); err != nil {
		return err
	}
	if o.top > 0 && !o.given.sort {
		o.sort, _ = parseSort("p99")
	}
	o.units.Headed = o.format.values == readable
	if o.intervals {
		o.mode = "intervals"
	}
	o.series.Percentiles, o.series.Shares = o.figures.Percentiles, o.figures.Shares
	if o.given.moving || o.given.movingLength {
		o.series.Moving = o.moving
	}
	if f.check != nil {
		if err := f.check(o); err != nil {
			return err
		}
	}
	return o.checkLimits()
}

// checkLimits checks -sla.
func (o *options) checkLimits() error {
	for _, l := range o.limits {
		if l.Change != nil {
			return message.Usagef("-sla: %q is a change: hdrdiff OLD NEW compares logs", l.Text)
		}
	}
	o.believed = report.Believed(o.figures.Percentiles, o.limits)
	if o.level == 0 && o.undecided == "fail" {
		o.level = report.UsualLevel
	}
	return nil
}

// parseSort reads -sort.
func parseSort(text string) (*gate.Limit, error) {
	if text == "tag" {
		return nil, nil
	}
	figure, err := gate.ParseFigure(text)
	if err != nil {
		return nil, message.Usagef("-sort: %w; tag sorts by name", err)
	}
	return figure, nil
}

// arrange returns the summaries to show, in their order: the highest figure first.
func (o *options) arrange(summaries []*output.Summary) []*output.Summary {
	if o.sort != nil {
		figures := make(map[*output.Summary]float64)
		for _, s := range summaries {
			figures[s] = math.Inf(-1)
			if s.Counts().TotalCount() > 0 {
				figures[s] = o.sort.Of(s)
			}
		}
		summaries = slices.SortedStableFunc(slices.Values(summaries),
			func(a, b *output.Summary) int { return cmp.Compare(figures[b], figures[a]) })
	}
	if o.top > 0 {
		summaries = summaries[:min(o.top, len(summaries))]
	}
	return summaries
}

// setScale finds out how to print values, by the comments of the logs that were read so far.
func (o *options) setScale() error {
	s, err := o.units.Scale(o.figures.HaveUnit())
	o.setPrinted(s)
	return err
}

// readable lets rows have the unit that suits those that are like one.
func (o *options) readable(row unit.Typical) error {
	s, err := o.units.Scale(true)
	o.setPrinted(o.units.Readable(s, row))
	return err
}

// setPrinted sets how to print values. A message says their unit if the log states it and the
// output does not.
func (o *options) setPrinted(s hdrlog.Scale) {
	o.scale = s
	if o.format.values == bare && s.Unit != "" && o.units.Options.Empty() && !o.std.Quiet {
		o.units.Say("values are in %s; -unit converts them", s.Unit)
	}
}

// newWatch returns what checks limits over time, nil if there are none.
func (o *options) newWatch() *gate.Watch {
	w := gate.NewWatch(o.limits, o.series.Window, o.format.breaches || o.format.finds, o.Ledger())
	if w != nil {
		needs := gate.NeedsUnit(o.limits, &o.units.Options)
		w.Scale = func(row []byte) (hdrlog.Scale, error) {
			if err := o.units.CheckLimit(needs); err != nil {
				return hdrlog.Scale{}, err
			}
			return o.logs.RowScale(row, false)
		}
		w.AllTags = o.scan.By.All()
		w.Late = func(at scan.Place, why error) { o.diagnostics.LeaveOut(at.Name, at.Line, why) }
	}
	return w
}

// fitScale finds out how to print summaries and to compare them with limits.
func (o *options) fitScale(summaries []*output.Summary) error {
	limits := o.limits
	if o.sort != nil && o.sort.Name == output.Over {
		limits = append(slices.Clone(limits), *o.sort)
	}
	scale, err := report.Fit(o.units, &o.figures, limits, o.format.values == readable,
		report.Side{Summaries: summaries, Logs: o.logs})
	if err == nil {
		o.setPrinted(scale)
	}
	return err
}
