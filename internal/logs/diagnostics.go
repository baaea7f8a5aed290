package logs

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/message"
	"hdrkit/internal/base/writers"
	"hdrkit/internal/scan"
	"hdrkit/tags"
)

// maxDiagnostics is the number of messages that are printed. The rest are only counted.
const maxDiagnostics = 1000

// mostAlike is the number of lines of a file with the same cause that have a message each. One
// message counts the others.
const mostAlike = 3

// mostMalformed is the number of malformed lines that end a command. A small compressed file can
// have more lines than anybody wants to wait for; these take about half a minute.
const mostMalformed = 50_000_000

// Diagnostics prints what is wrong with logs, a line each, and counts it. It is safe for concurrent
// use.
type Diagnostics struct {
	mu      sync.Mutex
	std     *message.Streams
	strict  bool
	follows bool // messages begin with the time of day, and none is left out for their number
	printed int
	silent  int // messages that were not printed
	count   tally
	others  others
	alike   repeats
	filter  *tags.Filter
	rows    rows
	// Failed are the requests of measurements that failed, if Keep is set. Otherwise a message has
	// them.
	Keep   bool
	Failed []Failed
	cut    []Cut
}

// A Cut is a compressed log whose rest is missing. Until is the end of the last interval that was
// read in milliseconds since the epoch, nil if it is not known.
type Cut struct {
	Log   string
	Until *int64
}

// rows say what makes a row.
type rows struct {
	scan.Rows
	text  string // the option that they come from
	noted bool   // the output has the notes about phases
}

// A tally counts what is missing in the result.
type tally struct {
	skipped int            // malformed lines
	badRows map[string]int // malformed rows of phases, by file
	// leftOut are the intervals that were read but not shown, and lastLeftOut is the last one.
	leftOut     int
	lastLeftOut scan.Place
	late        int // measurements that came too late
	unread      int // logs that could not be read
}

// others are the inputs that are no logs.
type others struct {
	inputs int               // that were looked at
	texts  map[string]string // by the name of an input that is no log, the message that says so
	said   map[string]bool   // of these, those whose message was printed
}

// repeats are lines with the same fault.
type repeats struct {
	lines  map[fault]int
	faults []repeated // of more than mostAlike lines
}

// Failed are the requests of a log that failed. Of these, NoValue have no value, so that they are
// not recorded. Requests are all.
type Failed struct {
	Log                      string
	Count, NoValue, Requests int64
}

// A fault is what may be wrong with many lines of a file. The cause is without the text it quotes.
type fault struct{ file, field, cause string }

// A repeated fault has the first message that was not printed.
type repeated struct {
	fault
	text string
}

// NewDiagnostics returns the diagnostics of a command. If strict is set, the first malformed line
// is an error.
func NewDiagnostics(std *message.Streams, strict bool) *Diagnostics {
	return &Diagnostics{
		std:    std,
		strict: strict,
		others: others{texts: make(map[string]string), said: make(map[string]bool)},
		alike:  repeats{lines: make(map[fault]int)},
		count:  tally{badRows: make(map[string]int)},
	}
}

// Report prints what is wrong with a line of a log. A malformed line is skipped.
func (d *Diagnostics) Report(err *hdrlog.SyntaxError, malformed bool) error {
	return d.report(err, malformed, func() {
		d.count.skipped++
		d.noteCut(err)
	})
}

// ReportRow is [Diagnostics.Report] for a file of phases: no figure of the logs lacks what a row of
// it has.
func (d *Diagnostics) ReportRow(err *hdrlog.SyntaxError, malformed bool) error {
	return d.report(err, malformed, func() { d.count.badRows[err.File]++ })
}

func (d *Diagnostics) report(err *hdrlog.SyntaxError, malformed bool, count func()) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	noLog := d.others.texts[err.File]
	if malformed && noLog == "" {
		count()
	}
	switch {
	case noLog != "" && d.others.said[err.File]:
	case noLog != "":
		d.print(noLog)
		d.others.said[err.File] = true
	case !d.follows && d.repeats(err):
	case d.printed == maxDiagnostics: // a text that nobody sees takes time
		d.silent++
	default:
		d.print(err.Error() + Hint(err))
	}
	if malformed && d.strict {
		return message.Status(message.Skipped)
	}
	if d.count.skipped > mostMalformed || d.count.badRows[err.File] > mostMalformed {
		return fmt.Errorf("%s: more than %d million malformed lines so far; is it a log?", err.File,
			mostMalformed/1_000_000)
	}
	return nil
}

// noteCut notes a log that is cut short.
func (d *Diagnostics) noteCut(err *hdrlog.SyntaxError) {
	if !errors.Is(err, hdrlog.ErrCutShort) {
		return
	}
	cut := Cut{Log: err.File}
	var read *scan.CutError
	if errors.As(err, &read) && read.Any {
		cut.Until = &read.Until
	}
	d.cut = append(d.cut, cut)
}

// Idle says that a log has no interval, unless a message has said that it is none.
func (d *Diagnostics) Idle(name string) {
	d.mu.Lock()
	noLog := d.others.texts[name] != ""
	d.mu.Unlock()
	if !noLog {
		d.Warnf("%s has no interval", name)
	}
}

// onlyOthers reports whether messages have said of all inputs that they are no logs.
func (d *Diagnostics) onlyOthers() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.others.inputs > 0 && len(d.others.said) == d.others.inputs
}

// repeats reports whether enough lines with the same fault have a message, and counts the line.
func (d *Diagnostics) repeats(err *hdrlog.SyntaxError) bool {
	cause, _, _ := strings.Cut(err.Err.Error(), `: "`)
	f := fault{err.File, err.Field, cause}
	n, known := d.alike.lines[f]
	if !known && d.printed == maxDiagnostics {
		return false // a hostile log may have any number of faults
	}
	d.alike.lines[f] = n + 1
	if n == mostAlike {
		d.alike.faults = append(d.alike.faults, repeated{f, err.Error() + Hint(err)})
	}
	return n >= mostAlike
}

// Follow is for a command that runs for long: messages begin with the time of day, and none is left
// out for their number. The filter is that of -incT and -excT.
func (d *Diagnostics) Follow(filter *tags.Filter) { d.follows, d.filter = true, filter }

// Hint names the option that settles what the library could only guess.
func Hint(err error) string {
	switch {
	case errors.Is(err, hdrlog.ErrSecondEnd):
		return "; if it is the length, use -second length"
	case errors.Is(err, hdrlog.ErrSecondDoubt):
		return "; if it is the end, use -second end"
	}
	return ""
}

// add adds to a count, and prints text unless it is empty.
func (d *Diagnostics) add(kind *int, n int, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	*kind += n
	if text != "" {
		d.print(text)
	}
}

// Skip counts a malformed line, and prints text unless it is empty.
func (d *Diagnostics) Skip(text string) error {
	d.add(&d.count.skipped, 1, text)
	if d.strict {
		return message.Status(message.Skipped)
	}
	return nil
}

// Late counts a measurement that came too late. It prints the first one, and what to do.
func (d *Diagnostics) Late(err *hdrlog.SyntaxError, remedy string) error {
	text := ""
	if d.count.late == 0 {
		text = fmt.Sprintf("%v; %s", err, remedy)
	}
	d.add(&d.count.late, 1, text)
	if d.strict {
		return message.Status(message.Skipped)
	}
	return nil
}

// SkipWindow counts a window of a tag whose intervals do not add up.
func (d *Diagnostics) SkipWindow(tag []byte, why error) error {
	return d.Skip(fmt.Sprintf("tag %s: the intervals of a window do not add up: %v", tags.Text(tag), why))
}

// LeaveOut prints why an interval that was read cannot be shown, and counts the interval: once if it
// is in several phases.
func (d *Diagnostics) LeaveOut(v scan.Visit, err error) {
	d.mu.Lock()
	known := v.Again && v.Place == d.count.lastLeftOut
	d.count.lastLeftOut = v.Place
	d.mu.Unlock()
	if !known {
		d.add(&d.count.leftOut, 1, fmt.Sprintf("%v: %v", v.Place, err))
	}
}

// LeftOut counts intervals that were read but not shown, and prints nothing now.
func (d *Diagnostics) LeftOut(intervals int) { d.add(&d.count.leftOut, intervals, "") }

// fails takes the number of requests of measurements that failed.
func (d *Diagnostics) fails(f Failed) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Failed = append(d.Failed, f)
	if d.Keep {
		return
	}
	if f.NoValue > 0 {
		d.print(fmt.Sprintf("%s: %d of %d requests failed or were skipped, and have no value", f.Log,
			f.NoValue, f.Requests))
	}
	if counted := f.Count - f.NoValue; counted > 0 {
		d.print(fmt.Sprintf("%s: %d of %d requests failed and are counted with the others; hdrrec "+
			"-errors drop or -errors tag changes that", f.Log, counted, f.Requests))
	}
}

// Unread prints why a log could not be read.
func (d *Diagnostics) Unread(text string) { d.add(&d.count.unread, 1, text) }

// Notice prints another message.
func (d *Diagnostics) Notice(text string) { d.add(&d.count.unread, 0, text) }

// Warnf prints another message.
func (d *Diagnostics) Warnf(format string, args ...any) { d.Notice(fmt.Sprintf(format, args...)) }

func (d *Diagnostics) print(text string) {
	switch {
	case d.follows:
		message.Print(d.std.Err, time.Now().Format(time.TimeOnly)+" "+d.std.Name, text)
	case d.printed == maxDiagnostics:
		d.silent++
	default:
		d.printed++
		d.std.Say("%s", text)
	}
}

// AddsUp prints a notice if tags that an option adds up count the same requests. It reports whether
// they do.
func (d *Diagnostics) AddsUp(option string, tags []string) bool {
	same, choice := writers.SameRequests(tags)
	if same != "" {
		d.std.Say("%s adds up %s; choose %s", option, same, choice)
	}
	return same != ""
}

// TooLate returns the number of intervals and measurements that came too late to be shown.
func (d *Diagnostics) TooLate() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count.late + d.count.leftOut
}

// Skipped returns the number of malformed lines.
func (d *Diagnostics) Skipped() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count.skipped
}

// Cut returns the logs that are cut short. Skipped counts a line for each.
func (d *Diagnostics) Cut() []Cut { return d.cut }

// Close prints which patterns matched no tag, and how much was skipped and left out. It returns the
// status for that, nil if there was nothing.
func (d *Diagnostics) Close() error {
	include, exclude := d.filter.Unmatched()
	for n, pattern := range slices.Concat(include, exclude) {
		option := "incT"
		if n >= len(include) {
			option = "excT"
		}
		d.std.Say("-%s %q matches no tag%s", option, pattern, suggest(pattern, d.filter.Seen(), "tag"))
	}
	if d.rows.By.Unmatched() {
		d.std.Say("-by: the regular expression matches no whole tag")
	}
	for _, row := range d.rows.By.Added() {
		if d.AddsUp(d.rows.text, row) {
			break
		}
	}
	d.sayPhases()
	for _, f := range d.alike.faults {
		more := d.alike.lines[f.fault] - mostAlike
		if more == 1 {
			d.std.Say("%s", f.text)
			continue
		}
		d.std.Say("%s: %s: %s: %s", f.file, message.Number(more, "more line"), f.field, f.cause)
	}
	if d.silent > 0 {
		d.std.Say("%d more messages like these", d.silent)
	}
	for _, c := range []struct {
		n            int
		what, things string
		why          string
	}{
		{len(d.cut), "could not read the rest of", "log", ""},
		{d.count.skipped - len(d.cut), "skipped", "malformed line", ""},
		{d.count.late, "left out", "row", " that came too late"},
		{d.count.leftOut, "left out", "interval", ""},
		{d.count.unread, "could not read", "log", ""},
	} {
		if c.n > 0 {
			d.std.Say("%s %s%s", c.what, message.Number(c.n, c.things), c.why)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(d.count.badRows)) {
		d.std.Say("skipped %s of %s, which the phases lack", message.Number(d.count.badRows[file], "row"), file)
	}
	if d.count.skipped+len(d.count.badRows)+d.count.late+d.count.leftOut+d.count.unread+len(d.others.said) > 0 {
		return message.Status(message.Skipped)
	}
	return nil
}

// sayPhases says which phases have no row, or fewer times than their files say.
func (d *Diagnostics) sayPhases() {
	if d.rows.Phases == nil {
		return
	}
	none, short := d.rows.Phases.Missing()
	elsewhere := d.rows.Phases.Elsewhere()
	switch {
	case elsewhere != "":
		d.std.Say("-phases: %s", elsewhere)
	case len(none) > 0:
		d.std.Say("-phases: no interval has half of its time or more in %s", message.List(none))
	}
	for n, name := range slices.Sorted(maps.Keys(short)) {
		if n == mostAlike {
			d.std.Say("-phases: the same for %s", message.Number(len(short)-n, "more phase"))
			break
		}
		d.std.Say("-phases: no interval has half of its time or more in %s of %s", message.Number(short[name], "span"), name)
	}
	for _, note := range d.TakePhaseNotes() {
		d.std.Say("-phases: %s", note)
	}
}

// TakePhaseNotes returns notes about rows of phases, for an output to have instead of messages: a
// second call returns nothing.
func (d *Diagnostics) TakePhaseNotes() (notes []string) {
	if d.rows.Phases == nil || d.rows.noted {
		return nil
	}
	d.rows.noted = true
	if d.PhasesOverlap() {
		notes = append(notes, "phases overlap: an interval counts in each, so the rows are more than the run")
	}
	if d.ShortPhases() {
		notes = append(notes, "some phases are shorter than half an interval: what waited for them is in other rows")
	}
	return notes
}

// PhasesOverlap reports whether rows of phases have intervals in common.
func (d *Diagnostics) PhasesOverlap() bool { return d.rows.Phases != nil && d.rows.Phases.Overlap() }

// ShortPhases reports whether times of phases are in no row, since they are shorter than half an
// interval.
func (d *Diagnostics) ShortPhases() bool { return d.rows.Phases != nil && d.rows.Phases.Short() }
