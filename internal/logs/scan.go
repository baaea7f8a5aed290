// Package logs has what all commands do with logs: they find inputs, select tags and times, find
// the units of values, print what is wrong, and write files that appear whole. Package cli fills
// the options here from the command line. Programs without a command line fill them themselves.
package logs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/message"
	"hdrkit/internal/scan"
	"hdrkit/tags"
)

// Options say which intervals of which logs to read, and how. All commands have these options. The
// zero value reads all of standard input.
type Options struct {
	Inputs   Inputs
	Tags     Tags
	Times    Times
	Run      Run
	Omission Omission
}

// Tags are the options that select tags, and say what makes a row of the result.
type Tags struct {
	Include, Exclude []string // tags and regular expressions, empty for all
	By               string   // see [tags.ParseBy], empty for the tag
	Together         bool     // -it: one row of all tags
	Phases           Phases   // see [Tags.DrawnPhases]
	DrawnPhases      bool     // Phases are only drawn, and make no rows
}

// Filter returns the filter that selects tags.
func (t *Tags) Filter() (*tags.Filter, error) {
	filter, err := tags.NewFilter(t.Include, t.Exclude)
	if err != nil {
		hint := ""
		if strings.Contains(err.Error(), "missing argument to repetition") {
			hint = "; .* matches any text"
		}
		return nil, message.Usagef("-incT and -excT: %w%s", err, hint)
	}
	return filter, nil
}

// by returns what makes a row, in the words of -by, and the option that says so.
func (t *Tags) by() (by, option string) {
	rowsOfPhases := t.Phases.Files != nil && !t.DrawnPhases
	switch {
	case t.Together && rowsOfPhases:
		return "phase", "-it"
	case t.Together:
		return "all", "-it"
	case t.By == "" && rowsOfPhases:
		return "phase,tag", "-phases"
	}
	by = cmp.Or(t.By, "tag")
	return by, "-by " + by
}

// Rows returns what makes a row, or an error if options contradict each other.
func (t *Tags) Rows() (*tags.By, error) {
	by, _ := t.by()
	parsed, err := tags.ParseBy(by)
	switch {
	case err != nil:
		return nil, message.Usagef("-by: %w", err)
	case parsed.Phases() && t.Phases.Files == nil:
		return nil, message.Usagef("-by %s needs the phases: -phases FILE of hdrsum, hdrdiff and hdrplot", by)
	case t.Phases.Files != nil && !parsed.Phases() && !t.DrawnPhases:
		return nil, message.Usagef("-phases makes rows of phases, and -by %s does not: -by phase or -by phase,tag does", by)
	}
	return parsed, nil
}

// Run has the options for how a command runs.
type Run struct {
	Strict  bool // the first malformed line is an error
	Verbose bool
	Workers int   // goroutines that decode, 0 for [UsualWorkers]
	Memory  int64 // in bytes, 0 for the default
	ledger  *ledger.Ledger
}

// Scan returns the scan that the options describe. It looks at the inputs, but does not read their
// intervals unless -s or -e need that.
func (o *Options) Scan(std *message.Streams, diagnostics *Diagnostics) (*scan.Scan, error) {
	selection, err := o.selection()
	if err != nil {
		return nil, err
	}
	inputs, err := o.Inputs.Find(std)
	if err != nil {
		return nil, err
	}
	diagnostics.filter = selection.Tags
	if diagnostics.rows.scan.By, err = o.Tags.Rows(); err != nil {
		return nil, err
	}
	if o.Times.SeparateOption != "" && diagnostics.rows.scan.By.Inputs() {
		return nil, message.Usagef("-by %s and -%s do not go together: -%s looks at each log by itself", o.Tags.By, o.Times.SeparateOption,
			o.Times.SeparateOption)
	}
	_, diagnostics.rows.option = o.Tags.by()
	if diagnostics.rows.scan.By.Phases() {
		if diagnostics.rows.scan.Phases, err = o.ReadPhases(std, diagnostics); err != nil {
			return nil, err
		}
	}
	s := &scan.Scan{
		Inputs:    inputs,
		Memory:    o.Run.Ledger(),
		Selection: selection,
		Rows:      diagnostics.rows.scan,
		Workers:   cmp.Or(o.Run.Workers, UsualWorkers()),
		Report:    diagnostics.Report,
		NoLogs:    diagnostics.noLogs,
	}
	diagnostics.convertMeasurements(inputs, s.Memory, o.Inputs.UnitOf)
	if err := o.Omission.set(s, o.Inputs.UnitOf); err != nil {
		return nil, err
	}
	return s, o.Times.find(std, s)
}

// Other returns a scan like s of other inputs, which names name.
func (o *Options) Other(std *message.Streams, diagnostics *Diagnostics, s *scan.Scan, names []string) (*scan.Scan, error) {
	in := o.Inputs
	in.Names = names
	other := *s
	var err error
	if other.Inputs, err = in.Find(std); err != nil {
		return nil, err
	}
	if other.Selection.Range, err = o.Times.span(); err != nil { // each has its own start
		return nil, err
	}
	other.Seen = scan.Seen{}
	diagnostics.convertMeasurements(other.Inputs, other.Memory, o.Inputs.UnitOf)
	if err := o.Omission.set(&other, o.Inputs.UnitOf); err != nil {
		return nil, err
	}
	return &other, o.Times.find(std, &other)
}

func (o *Options) selection() (scan.Selection, error) {
	span, err := o.Times.span()
	if err != nil {
		return scan.Selection{}, err
	}
	filter, err := o.Tags.Filter()
	return scan.Selection{Tags: filter, Range: span}, err
}

// A silentError ends a command without a message, since earlier messages say what is wrong.
type silentError struct{ error }

// Unwrap returns the status.
func (silentError) Unwrap() error { return message.Status(message.Failed) }

// NothingLeft returns the error for a scan that found no interval of its selection. It names the
// input if this is the only one and has no intervals.
func NothingLeft(s *scan.Scan) error {
	err := Nothing(s)
	if s.Seen.Intervals == 0 && len(s.Inputs) == 1 && s.Inputs[0].Name != "-" {
		return fmt.Errorf("%s: %w", s.Inputs[0].Name, err)
	}
	return err
}

// Nothing is [NothingLeft] without the name of the input, for a message that has the name already.
func Nothing(s *scan.Scan) error {
	err := noIntervals(s)
	if s.NoLogs != nil && s.NoLogs() {
		return silentError{err}
	}
	return err
}

// noIntervals returns the reason why a scan found no interval of its selection.
func noIntervals(s *scan.Scan) error {
	all := fmt.Sprintf("none of the %d intervals in the input", s.Seen.Intervals)
	switch {
	case s.Seen.Intervals == 0 && len(s.Inputs) == 1 && s.Inputs[0].Name == "-":
		return errors.New("no intervals in standard input")
	case s.Seen.Intervals == 0:
		return errors.New("no intervals in the input")
	case s.Seen.NeverInRange:
		return message.Usagef("%w", s.Selection.Range.ErrLater())
	case s.Selection.Range.All() && s.Selection.Tags.All():
		return fmt.Errorf("%s could be read", all)
	case s.Selection.Range.All():
		return fmt.Errorf("%s has a tag that -incT and -excT choose; hdrsum -lt lists their tags", all)
	case s.Selection.Tags.All():
		return fmt.Errorf("%s starts in the range of -s and -e: %s", all, timesOf(s))
	}
	return fmt.Errorf("%s has a tag that -incT and -excT choose and starts in the range of -s and -e: %s", all,
		timesOf(s))
}

// timesOf returns a clause that says when the intervals of a scan are.
func timesOf(s *scan.Scan) string {
	const layout = "2006-01-02T15:04:05.999Z07:00"
	at := func(millis int64) string { return time.UnixMilli(millis).UTC().Format(layout) }
	length := time.Duration(s.Seen.Latest-s.Seen.Earliest) * time.Millisecond
	return fmt.Sprintf("they are from %s to %s (%v)", at(s.Seen.Earliest), at(s.Seen.Latest), length)
}

// maxTagText is the number of bytes that [Inputs.TagPatterns] reads of all logs. Completion in a
// shell must be fast.
const maxTagText = 1 << 20

// special are the characters with a meaning in a regular expression.
const special = `*+?()[]{}|^$\`

// tagPattern returns the value of -incT that matches only this tag.
func tagPattern(text string) string {
	if strings.ContainsAny(text, special) {
		return regexp.QuoteMeta(text)
	}
	return text
}

// TagPatterns returns values of -incT for the tags at the beginning of logs, for completion in a
// shell. It returns nil if an input is a pipe.
func (in *Inputs) TagPatterns() []string {
	std := &message.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}
	inputs, err := in.Find(std)
	if err != nil || slices.ContainsFunc(inputs, func(i scan.Input) bool { return i.Once }) {
		return nil
	}
	found := make(map[string]bool)
	s := scan.Scan{Inputs: inputs}
	size := 0
	for n := range inputs {
		if size >= maxTagText {
			break
		}
		// An error does not matter: the tags before it are right.
		inputs[n].Look(0, func(r *hdrlog.Record) bool {
			size += len(r.Text)
			if r.Kind == hdrlog.IntervalRecord {
				s.Select(n, &r.Interval)
				found[tagPattern(tags.Text(r.Interval.Tag))] = true
			}
			return size < maxTagText
		})
	}
	return slices.Sorted(maps.Keys(found))
}

// UsualWorkers returns the number of workers if -j does not give it: one for each core, but at most
// 32. The goroutine that merges results takes a twentieth of the time of a worker or more for each
// interval, so more workers would only take memory.
func UsualWorkers() int { return min(runtime.GOMAXPROCS(0), 32) }
