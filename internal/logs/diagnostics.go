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

// maxDiagnostics is the largest number of messages. Further ones are only counted.
const maxDiagnostics = 1000

// mostAlike is the largest number of lines of a file with the same fault that get a message each.
// One message counts the other lines.
const mostAlike = 3

// More than maxMalformed malformed lines end a command. That many take about half a minute, and a
// small compressed file can have many more.
const maxMalformed = 50_000_000

// Diagnostics print the faults of logs, a line each, and count what the result lacks. They are safe
// for concurrent use.
type Diagnostics struct {
	mu        sync.Mutex
	std       *message.Streams
	strict    bool
	following bool // see [Diagnostics.Follow]
	printed   int  // messages, unless following
	silent    int  // messages that were not printed
	count     tally
	otherFile otherFiles
	repeated  repeatedFaults
	filter    *tags.Filter
	rows      rows
	cut       []Cut
	// Failed are the failed requests of measurements, if KeepFailed is set. Otherwise a message
	// says how many there are.
	KeepFailed bool
	Failed     []Failed
}

// A Cut is a compressed log whose rest is missing. Until is the end of the last interval that could
// be read, in milliseconds since the epoch, or nil if there is none.
type Cut struct {
	Log   string
	Until *int64
}

// rows say what makes a row of the result, for messages about options that make rows.
type rows struct {
	scan   scan.Rows
	option string // that makes the rows
	noted  bool   // [Diagnostics.TakePhaseNotes] was called
}

// A tally counts what the result lacks.
type tally struct {
	skipped int            // malformed lines
	badRows map[string]int // malformed rows of -phases, by file
	// leftOut are the intervals that were read but not shown, and lastLeftOut is the last one.
	leftOut     int
	lastLeftOut scan.Place
	late        int // measurements that came too late
	unread      int // logs that could not be read
}

// otherFiles are the inputs that are no logs. Each gets one message only, however many lines it
// has.
type otherFiles struct {
	inputs   int               // the number of all inputs whose kind is known
	messages map[string]string // by the name of an input that is no log
	printed  map[string]bool   // by name, whether the message was printed
}

// repeatedFaults count lines with the same fault.
type repeatedFaults struct {
	lines   map[fault]int
	further []furtherFault // of faults in more than mostAlike lines, in the order of time
}

// Failed are the failed requests of a log of measurements.
type Failed struct {
	Log      string
	Count    int64 // of failed requests
	NoValue  int64 // of failed requests without a value, which are not recorded
	Requests int64 // of all requests
}

// A fault is a mistake that many lines of a file may have. The cause lacks the text that it quotes.
type fault struct{ file, field, cause string }

// A furtherFault is a fault with the message of its first line that was not printed.
type furtherFault struct {
	fault
	message string
}

// NewDiagnostics returns the diagnostics of a command. If strict is set, the first malformed line
// ends the command.
func NewDiagnostics(std *message.Streams, strict bool) *Diagnostics {
	return &Diagnostics{
		std:       std,
		strict:    strict,
		otherFile: otherFiles{messages: make(map[string]string), printed: make(map[string]bool)},
		repeated:  repeatedFaults{lines: make(map[fault]int)},
		count:     tally{badRows: make(map[string]int)},
	}
}

// Report prints what is wrong with a line of a log, and counts a malformed line. It returns an
// error if the command must end.
func (d *Diagnostics) Report(err *hdrlog.SyntaxError, malformed bool) error {
	return d.report(err, malformed, func() {
		d.count.skipped++
		d.noteCut(err)
	})
}

// ReportRow is [Diagnostics.Report] for a file of -phases, whose malformed rows are counted apart
// from those of logs.
func (d *Diagnostics) ReportRow(err *hdrlog.SyntaxError, malformed bool) error {
	return d.report(err, malformed, func() { d.count.badRows[err.File]++ })
}

func (d *Diagnostics) report(err *hdrlog.SyntaxError, malformed bool, count func()) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	noLog := d.otherFile.messages[err.File]
	if malformed && noLog == "" {
		count()
	}
	switch {
	case noLog != "" && d.otherFile.printed[err.File]:
	case noLog != "":
		d.print(noLog)
		d.otherFile.printed[err.File] = true
	case !d.following && d.isRepeated(err):
	case d.printed == maxDiagnostics: // do not spend time on a text that nobody sees
		d.silent++
	default:
		d.print(err.Error() + Hint(err))
	}
	if malformed && d.strict {
		return message.Status(message.Skipped)
	}
	if d.count.skipped > maxMalformed || d.count.badRows[err.File] > maxMalformed {
		return fmt.Errorf("%s: more than %d million malformed lines so far; is it a log?", err.File,
			maxMalformed/1_000_000)
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

// Idle prints that a log has no interval, unless a message says that the file is no log.
func (d *Diagnostics) Idle(name string) {
	d.mu.Lock()
	noLog := d.otherFile.messages[name] != ""
	d.mu.Unlock()
	if !noLog {
		d.Warnf("%s has no interval", name)
	}
}

// noLogs reports whether there are inputs, and messages have said of all that they are no logs.
func (d *Diagnostics) noLogs() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.otherFile.inputs > 0 && len(d.otherFile.printed) == d.otherFile.inputs
}

// isRepeated reports whether enough lines with the same fault have a message. It counts the line.
func (d *Diagnostics) isRepeated(err *hdrlog.SyntaxError) bool {
	cause, _, _ := strings.Cut(err.Err.Error(), `: "`)
	f := fault{err.File, err.Field, cause}
	n, known := d.repeated.lines[f]
	if !known && d.printed == maxDiagnostics {
		return false // a hostile log may have any number of faults
	}
	d.repeated.lines[f] = n + 1
	if n == mostAlike {
		d.repeated.further = append(d.repeated.further, furtherFault{f, err.Error() + Hint(err)})
	}
	return n >= mostAlike
}

// Follow is for a command that follows logs: each message begins with the time of day, and their
// number is not limited. The filter of tags is used by [Diagnostics.Close].
func (d *Diagnostics) Follow(filter *tags.Filter) { d.following, d.filter = true, filter }

// Hint returns what to add to the message of an error of the reader: the option to give if the
// guess of the reader is wrong. It is empty for other errors.
func Hint(err error) string {
	switch {
	case errors.Is(err, hdrlog.ErrSecondEnd):
		return "; if it is the length, use -second length"
	case errors.Is(err, hdrlog.ErrSecondDoubt):
		return "; if it is the end, use -second end"
	}
	return ""
}

// add adds n to a count of d.count, and prints text unless it is empty.
func (d *Diagnostics) add(count *int, n int, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	*count += n
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

// Late counts a measurement that came too late. For the first one it prints the error and a remedy.
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

// SkipWindow counts and reports a window of a tag whose intervals do not add up.
func (d *Diagnostics) SkipWindow(tag []byte, why error) error {
	return d.Skip(fmt.Sprintf("tag %s: the intervals of a window do not add up: %v", tags.Text(tag), why))
}

// LeaveOut prints why an interval that was read cannot be shown, and counts the interval: once if
// it is in several phases.
func (d *Diagnostics) LeaveOut(v scan.Visit, err error) {
	d.mu.Lock()
	known := v.Again && v.Place == d.count.lastLeftOut
	d.count.lastLeftOut = v.Place
	d.mu.Unlock()
	if !known {
		d.add(&d.count.leftOut, 1, fmt.Sprintf("%v: %v", v.Place, err))
	}
}

// LeftOut counts intervals that were read but not shown. [Diagnostics.Close] prints their number.
func (d *Diagnostics) LeftOut(intervals int) { d.add(&d.count.leftOut, intervals, "") }

// addFailed adds the failed requests of a log of measurements, and prints them unless KeepFailed is
// set.
func (d *Diagnostics) addFailed(f Failed) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Failed = append(d.Failed, f)
	if d.KeepFailed {
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

// Unread prints why a log could not be read, and counts the log.
func (d *Diagnostics) Unread(text string) { d.add(&d.count.unread, 1, text) }

// Notice prints a message that changes no count.
func (d *Diagnostics) Notice(text string) { d.add(&d.count.unread, 0, text) }

// Warnf formats a message and prints it as [Diagnostics.Notice] does.
func (d *Diagnostics) Warnf(format string, args ...any) { d.Notice(fmt.Sprintf(format, args...)) }

func (d *Diagnostics) print(text string) {
	switch {
	case d.following:
		message.Print(d.std.Err, time.Now().Format(time.TimeOnly)+" "+d.std.Name, text)
	case d.printed == maxDiagnostics:
		d.silent++
	default:
		d.printed++
		d.std.Say("%s", text)
	}
}

// WarnSameRequests prints a notice if an option adds up tags that count the same requests. It
// reports whether it printed one.
func (d *Diagnostics) WarnSameRequests(option string, tags []string) bool {
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

// Cut returns the logs that are cut short. [Diagnostics.Skipped] counts a line for each of them.
func (d *Diagnostics) Cut() []Cut { return d.cut }

// Close prints which patterns matched no tag, and how much was skipped and left out. It returns
// [message.Skipped] as status if the result lacks something, and otherwise nil.
func (d *Diagnostics) Close() error {
	include, exclude := d.filter.Unmatched()
	for n, pattern := range slices.Concat(include, exclude) {
		option := "incT"
		if n >= len(include) {
			option = "excT"
		}
		d.std.Say("-%s %q matches no tag%s", option, pattern, suggest(pattern, d.filter.Seen(), "tag"))
	}
	if d.rows.scan.By.Unmatched() {
		d.std.Say("-by: the regular expression matches no whole tag")
	}
	for _, row := range d.rows.scan.By.Added() {
		if d.WarnSameRequests(d.rows.option, row) {
			break
		}
	}
	d.printPhases()
	for _, f := range d.repeated.further {
		more := d.repeated.lines[f.fault] - mostAlike
		if more == 1 {
			d.std.Say("%s", f.message)
			continue
		}
		d.std.Say("%s: %s: %s: %s", f.file, message.Number(more, "more line"), f.field, f.cause)
	}
	if d.silent > 0 {
		d.std.Say("%d more messages like these", d.silent)
	}
	for _, c := range []struct {
		n             int
		action, thing string
		why           string
	}{
		{len(d.cut), "could not read the rest of", "log", ""},
		{d.count.skipped - len(d.cut), "skipped", "malformed line", ""},
		{d.count.late, "left out", "row", " that came too late"},
		{d.count.leftOut, "left out", "interval", ""},
		{d.count.unread, "could not read", "log", ""},
	} {
		if c.n > 0 {
			d.std.Say("%s %s%s", c.action, message.Number(c.n, c.thing), c.why)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(d.count.badRows)) {
		d.std.Say("skipped %s of %s, which the phases lack", message.Number(d.count.badRows[file], "row"), file)
	}
	if d.count.skipped+len(d.count.badRows)+d.count.late+d.count.leftOut+d.count.unread+len(d.otherFile.printed) > 0 {
		return message.Status(message.Skipped)
	}
	return nil
}

// printPhases prints which phases have no interval, or some spans without an interval.
func (d *Diagnostics) printPhases() {
	if d.rows.scan.Phases == nil {
		return
	}
	none, short := d.rows.scan.Phases.Missing()
	elsewhere := d.rows.scan.Phases.Elsewhere()
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

// TakePhaseNotes returns notes about rows of phases. An output that shows them calls it, so that
// [Diagnostics.Close] does not print them: a second call returns nothing.
func (d *Diagnostics) TakePhaseNotes() (notes []string) {
	if d.rows.scan.Phases == nil || d.rows.noted {
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

// PhasesOverlap reports whether an interval is in the rows of several phases.
func (d *Diagnostics) PhasesOverlap() bool {
	return d.rows.scan.Phases != nil && d.rows.scan.Phases.Overlap()
}

// ShortPhases reports whether a phase is shorter than half an interval, so that no interval is in
// its row.
func (d *Diagnostics) ShortPhases() bool {
	return d.rows.scan.Phases != nil && d.rows.scan.Phases.Short()
}
