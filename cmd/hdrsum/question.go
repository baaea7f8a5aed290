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

// A question is what is asked of logs, and how to print the answer.
type question struct {
	std     *message.Streams
	source  source
	figures figures
	limits  limits
	lists   lists
	order   order
	rows    series.Options // over time
	format  *format
	page    page
}

// A source is the logs that are asked, and what knows the units of their values.
type source struct {
	scan        *scan.Scan
	logs        *logs.Logs
	units       *logs.Units
	diagnostics *logs.Diagnostics
	corrected   bool // for coordinated omission
	verbose     bool // there is a line for each interval or window
}

// figures are those of summaries.
type figures struct {
	printed asked.Figures
	chosen  bool   // somebody chose the percentiles
	period  string // how to find it, see [summary.Modes]
	// level is the confidence of intervals in percent, 0 for no intervals, and believed are the
	// percentiles that have them. Hidden intervals only judge limits.
	level    float64
	believed []float64
	hidden   bool
}

// limits are what must hold.
type limits struct {
	all       []gate.Limit
	undecided string // what an undecided limit does
}

// lists are what is printed behind summaries.
type lists struct {
	worst      int     // moments, 0 for none
	who        bool    // who has the values above percentile
	percentile float64 // of who
	// byTag and byInput say who that is: a tag, a log, or a tag of a log.
	byTag, byInput bool
}

// A page is where the answer is printed, and what its reader sees.
type page struct {
	file    string
	width   int // of the terminal, 0 for a file
	colour  bool
	zone    *time.Location
	details formatFlags
	hint    string // a note behind the answer
}

// question returns what the flags ask. It finds the logs.
func (f *flags) question() (*question, error) {
	format := f.chosen()
	if err := f.checkEnding(); err != nil {
		return nil, err
	}
	units, err := logs.NewUnits(f.std, f.units)
	if err != nil {
		return nil, err
	}
	units.Headed = format.values == readable
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
	if q.source, err = f.source(units, format.finds); err != nil {
		return nil, err
	}
	q.lists.byTag, q.lists.byInput = true, true
	if by := q.source.scan.By; (f.given.by || by.Phases()) && !by.All() { // one row has everything
		q.lists.byTag, q.lists.byInput = !by.Inputs() || !by.AddsTags(), by.Inputs()
	}
	return q, nil
}

// order returns the order of rows.
func (f *flags) order() order {
	o := f.output.order
	if o.most > 0 && !f.given.sort {
		o.by, _ = parseSort("p99")
	}
	return o
}

// rows returns what rows over time are.
func (f *flags) rows() series.Options {
	r := series.Options{
		Window:           f.windows.length,
		MovingPercentile: f.windows.percentile,
		Percentiles:      f.figures.printed.Percentiles,
		Shares:           f.figures.printed.Shares,
	}
	if f.moves() {
		r.Moving = f.windows.moving
	}
	return r
}

// moves reports whether rows have a moving window.
func (f *flags) moves() bool { return f.given.moving || f.given.movingLength }

// page returns where a format is printed.
func (f *flags) page(of *format) page {
	p := page{file: f.output.file, zone: f.logs.Times.Zone, details: f.format}
	if logs.ToStdout(p.file) {
		p.width = logs.Width(f.std.Out)
		p.colour = logs.Colour(f.std.Out)
	}
	// HdrLogProcessing takes logs by -if only.
	if f.given.inputs && of == &tableFormat && !f.given.kind && !message.Terminal(f.std.Out) {
		p.hint = "-st " + percentilesFormat.Name + " has the lines of HdrLogProcessing"
	}
	return p
}

// checkedLimits returns what must hold.
func (f *flags) checkedLimits() (limits, error) {
	for _, l := range f.limits {
		if l.Change != nil {
			return limits{}, message.Usagef("-sla: %q is a change: hdrdiff OLD NEW compares logs", l.Text)
		}
	}
	return limits{f.limits, f.undecided}, nil
}

// summaryFigures returns the figures of summaries.
func (f *flags) summaryFigures() figures {
	all := figures{
		printed:  f.figures.printed,
		chosen:   f.given.percentiles,
		period:   f.figures.period,
		level:    f.figures.level,
		believed: asked.Believed(f.figures.printed.Percentiles, f.limits),
		hidden:   !f.given.level,
	}
	if f.figures.intervals {
		all.period = "intervals"
	}
	if all.level == 0 && f.undecided == "fail" {
		all.level = asked.UsualLevel
	}
	return all
}

// source finds the logs.
func (f *flags) source(units *logs.Units, finds bool) (source, error) {
	diagnostics := logs.NewDiagnostics(f.std, f.logs.Run.Strict)
	diagnostics.Keep = finds
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

// sayInterval prints the line of an interval or a window.
func sayInterval(std *message.Streams, at scan.Place, tag []byte, start, end, count int64) {
	std.Verbosef("%s:%d: %s (%.3f to %.3f) count=%d", at.Name, at.Line, tags.Text(tag), float64(start)/1000,
		float64(end)/1000, count)
}

// sayUnit says the unit of printed values if the log states it and the output does not.
func (q *question) sayUnit(s hdrlog.Scale) {
	units := q.source.units
	if q.format.values == bare && s.Unit != "" && units.Options.Empty() && !q.std.Quiet {
		units.Say("values are in %s; -unit converts them", s.Unit)
	}
}

// newWatch returns what checks limits over time, nil if there are none.
func (q *question) newWatch() *gate.Watch {
	from := &q.source
	w := gate.NewWatch(q.limits.all, q.rows.Window, q.format.breaches || q.format.finds, from.scan.Memory)
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
	w.AllTags = from.scan.By.All()
	w.Late = func(at scan.Place, why error) { from.diagnostics.LeaveOut(at.Name, at.Line, why) }
	return w
}
