package main

import (
	"time"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/message"
	"hdrkit/internal/gate"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/asked"
	"hdrkit/internal/question/series"
	"hdrkit/internal/scan"
	"hdrkit/tags"
)

// A question is what to find out about logs, and how to print the answer.
type question struct {
	std     *message.Streams
	source  source
	figures summaryFigures
	limits  checkedLimits
	lists   lists
	order   order
	rows    series.Options // which rows over time to make
	format  *format
	page    page
}

// A source is the logs to read, and the units of their values.
type source struct {
	scan        *scan.Scan
	logs        *logs.Logs
	units       *logs.Units
	diagnostics *logs.Diagnostics
	corrected   bool // corrected for coordinated omission
	verbose     bool // print a line for each interval or window
}

// summaryFigures are the figures of summaries to compute.
type summaryFigures struct {
	printed          asked.Figures
	percentilesGiven bool   // the user chose the percentiles
	period           string // how to compute it, see [summary.Modes]
	// level is the confidence of intervals in percent, 0 for no intervals. withIntervals are the
	// percentiles that have intervals. If hidden is true, the intervals are not printed, and only
	// decide limits.
	level         float64
	withIntervals []float64
	hidden        bool
}

// checkedLimits are the limits of -sla.
type checkedLimits struct {
	all       []gate.Limit
	undecided string // -undecided
}

// lists are the lists of -worst and -who, which follow the summaries.
type lists struct {
	worst      int  // number of moments to list, 0 for none
	who        bool // list who has the values above percentile
	percentile float64
	// byTag and byInput say what -who lists: tags, logs, or the tags of each log.
	byTag, byInput bool
}

// A page is where to print the answer, and for which reader.
type page struct {
	file    string
	width   int // width of the terminal, 0 for a file
	colour  bool
	zone    *time.Location
	details formatFlags
	hint    string // a note to print after the answer
}

// question returns the question of the flags. It looks for the logs.
func (f *flags) question() (*question, error) {
	format := f.chosenFormat()
	if err := f.checkEnding(); err != nil {
		return nil, err
	}
	units, err := logs.NewUnits(f.std, f.units)
	if err != nil {
		return nil, err
	}
	units.Headed = format.unitStyle == readable
	if format.check != nil {
		if err := format.check(f, format); err != nil {
			return nil, err
		}
	}
	q := &question{
		std:    f.std,
		lists:  f.lists,
		order:  f.order(),
		rows:   f.rows(),
		format: format,
		page:   f.page(format),
	}
	if q.limits, err = f.checkedLimits(); err != nil {
		return nil, err
	}
	q.figures = f.summaryFigures()
	if q.source, err = f.source(units, format.printsFindings); err != nil {
		return nil, err
	}
	q.lists.byTag, q.lists.byInput = true, true
	if by := q.source.scan.Rows.By; (f.given.by || by.Phases()) && !by.All() { // a single row has all tags and logs
		q.lists.byTag, q.lists.byInput = !by.Inputs() || !by.AddsTags(), by.Inputs()
	}
	return q, nil
}

// order returns how to sort summaries.
func (f *flags) order() order {
	o := f.output.order
	if o.maxRows > 0 && !f.given.sort {
		o.by, _ = parseSort("p99")
	}
	return o
}

// rows returns which rows over time to make.
func (f *flags) rows() series.Options {
	r := series.Options{
		Window:           f.windows.length,
		MovingPercentile: f.windows.percentile,
		Percentiles:      f.figures.printed.Percentiles,
		Shares:           f.figures.printed.Shares,
	}
	if f.hasMovingWindow() {
		r.Moving = f.windows.moving
	}
	return r
}

// hasMovingWindow reports whether rows have a percentile of a moving window.
func (f *flags) hasMovingWindow() bool { return f.given.moving || f.given.movingLength }

// page returns where to print a format.
func (f *flags) page(of *format) page {
	p := page{file: f.output.file, zone: f.logs.Times.Zone, details: f.format}
	if logs.ToStdout(p.file) {
		p.width = logs.Width(f.std.Out)
		p.colour = logs.Colour(f.std.Out)
	}
	// Only users of HdrLogProcessing name logs by -if.
	if f.given.inputs && of == &tableFormat && !f.given.format && !message.Terminal(f.std.Out) {
		p.hint = "-st " + percentilesFormat.kind.Name + " has the lines of HdrLogProcessing"
	}
	return p
}

// checkedLimits returns the limits. It refuses limits of changes.
func (f *flags) checkedLimits() (checkedLimits, error) {
	for _, l := range f.limits {
		if l.Change != nil {
			return checkedLimits{}, message.Usagef("-sla: %q is a change: hdrdiff OLD NEW compares logs", l.Text)
		}
	}
	return checkedLimits{f.limits, f.undecided}, nil
}

// summaryFigures returns the figures of summaries to compute.
func (f *flags) summaryFigures() summaryFigures {
	all := summaryFigures{
		printed:          f.figures.printed,
		percentilesGiven: f.given.percentiles,
		period:           f.figures.period,
		level:            f.figures.level,
		withIntervals:    asked.Believed(f.figures.printed.Percentiles, f.limits),
		hidden:           !f.given.level,
	}
	if f.figures.intervals {
		all.period = "intervals"
	}
	if all.level == 0 && f.undecided == "fail" {
		all.level = asked.UsualLevel
	}
	return all
}

// source looks for the logs. finds reports that the format prints findings.
func (f *flags) source(units *logs.Units, finds bool) (source, error) {
	diagnostics := logs.NewDiagnostics(f.std, f.logs.Run.Strict)
	diagnostics.KeepFailed = finds
	found, err := f.logs.Scan(f.std, diagnostics)
	if err != nil {
		return source{}, err
	}
	return source{
		scan:        found,
		logs:        units.Watch(found),
		units:       units,
		diagnostics: diagnostics,
		corrected:   f.logs.Omission.Expected > 0,
		verbose:     f.logs.Run.Verbose,
	}, nil
}

// printInterval prints a line about an interval or a window, for -verbose.
func printInterval(std *message.Streams, at scan.Place, tag []byte, start, end, count int64) {
	std.Verbosef("%s:%d: %s (%.3f to %.3f) count=%d", at.Name, at.Line, tags.Text(tag), float64(start)/1000,
		float64(end)/1000, count)
}

// printUnit prints the unit of printed values if the log states it, and the output does not.
func (q *question) printUnit(s hdrlog.Scale) {
	units := q.source.units
	if q.format.unitStyle == bare && s.Unit != "" && units.Options.Empty() && !q.std.Quiet {
		units.Say("values are in %s; -unit converts them", s.Unit)
	}
}

// newWatch returns a watch that checks limits over time, nil if there are no such limits.
func (q *question) newWatch() *gate.Watch {
	from := &q.source
	w := gate.NewWatch(q.limits.all, q.rows.Window, q.format.printsBreaches || q.format.printsFindings, from.scan.Memory)
	if w == nil {
		return nil
	}
	needs := gate.NeedsUnit(q.limits.all, &from.units.Options)
	w.Scale = func(row []byte) (hdrlog.Scale, error) {
		if err := from.units.CheckLimit(needs); err != nil {
			return hdrlog.Scale{}, err
		}
		return from.logs.RowScale(row, false)
	}
	w.AllTags = from.scan.Rows.By.All()
	w.Late = from.diagnostics.LeaveOut
	return w
}
