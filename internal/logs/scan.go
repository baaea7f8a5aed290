// Package logs is what the commands do with logs: they find inputs, choose tags and times, find out
// units, print what is wrong, and write files that appear whole. It knows no command line: its
// structs are filled by package cli, or by hand.
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

// Options say which intervals of which logs to read, and how. The zero value reads all of standard
// input. The options of the command line that all commands share fill it; see package cli.
type Options struct {
	Inputs   Inputs
	Tags     Tags
	Times    Times
	Run      Run
	Omission Omission
}

// Tags say which tags to use, and what makes a row of them.
type Tags struct {
	Include, Exclude []string // tags and regular expressions, empty for all
	By               string   // see [tags.ParseBy], empty for the tag
	Together         bool     // one row of all
	Phases           Phases   // of rows, unless they are only drawn
	DrawnPhases      bool
}

// Filter returns what chooses tags.
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

// by returns what makes a row as -by has it, and the option that says so.
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

// Rows returns what makes a row.
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

// Run says how to run.
type Run struct {
	Strict  bool // the first malformed line is an error
	Verbose bool
	Workers int
	Memory  int64 // bytes
	ledger  *ledger.Ledger
}

// Scan returns the scan that options ask for.
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
	if diagnostics.rows.By, err = o.Tags.Rows(); err != nil {
		return nil, err
	}
	if o.Times.Apart != "" && diagnostics.rows.By.Inputs() {
		return nil, message.Usagef("-by %s and -%s do not go together: -%s looks at each log by itself", o.Tags.By, o.Times.Apart,
			o.Times.Apart)
	}
	_, diagnostics.rows.text = o.Tags.by()
	if diagnostics.rows.By.Phases() {
		if diagnostics.rows.Phases, err = o.ReadPhases(std, diagnostics); err != nil {
			return nil, err
		}
	}
	s := &scan.Scan{
		Inputs:    inputs,
		Memory:    o.Run.Ledger(),
		Selection: selection,
		Rows:      diagnostics.rows.Rows,
		Workers:   cmp.Or(o.Run.Workers, UsualWorkers()),
		Report:    diagnostics.Report,
		NoLogs:    diagnostics.onlyOthers,
	}
	diagnostics.lookAt(inputs, s.Memory, o.Inputs.UnitOf)
	if err := o.Omission.set(s, o.Inputs.UnitOf); err != nil {
		return nil, err
	}
	return s, o.Times.find(std, s)
}

// Other returns a scan like s, of the inputs of other names.
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
	diagnostics.lookAt(other.Inputs, other.Memory, o.Inputs.UnitOf)
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

// A toldError is an error that messages have told already. It ends a command without one.
type toldError struct{ error }

// Unwrap returns the status.
func (toldError) Unwrap() error { return message.Status(message.Failed) }

// NothingLeft returns the error of a scan that found no interval to use. It names the input if
// there is only one and it has none.
func NothingLeft(s *scan.Scan) error {
	err := Nothing(s)
	if s.Seen.Intervals == 0 && len(s.Inputs) == 1 && s.Inputs[0].Name != "-" {
		return fmt.Errorf("%s: %w", s.Inputs[0].Name, err)
	}
	return err
}

// Nothing is NothingLeft for a message that names the inputs.
func Nothing(s *scan.Scan) error {
	err := nothing(s)
	if s.NoLogs != nil && s.NoLogs() {
		return toldError{err}
	}
	return err
}

func nothing(s *scan.Scan) error {
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
		return fmt.Errorf("%s starts in the range of -s and -e: %s", all, ranFor(s))
	}
	return fmt.Errorf("%s has a tag that -incT and -excT choose and starts in the range of -s and -e: %s", all,
		ranFor(s))
}

// ranFor says when the intervals of a scan are.
func ranFor(s *scan.Scan) string {
	const layout = "2006-01-02T15:04:05.999Z07:00"
	at := func(millis int64) string { return time.UnixMilli(millis).UTC().Format(layout) }
	length := time.Duration(s.Seen.Latest-s.Seen.Earliest) * time.Millisecond
	return fmt.Sprintf("they are from %s to %s (%v)", at(s.Seen.Earliest), at(s.Seen.Latest), length)
}

// most is how much text of logs [Options.TagPatterns] reads in all, in bytes: somebody waits.
const most = 1 << 20

// special are the characters that make an expression of a pattern of tags.
const special = `*+?()[]{}|^$\`

// tagPattern returns the pattern that matches only the tag with this text.
func tagPattern(text string) string {
	if strings.ContainsAny(text, special) {
		return regexp.QuoteMeta(text)
	}
	return text
}

// TagPatterns returns patterns of the tags at the beginning of logs. It reads files only.
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
		if size >= most {
			break
		}
		// After an error, the tags that were found until there are right.
		inputs[n].Look(0, func(r *hdrlog.Record) bool {
			size += len(r.Text)
			if r.Kind == hdrlog.IntervalRecord {
				s.Select(n, &r.Interval)
				found[tagPattern(tags.Text(r.Interval.Tag))] = true
			}
			return size < most
		})
	}
	return slices.Sorted(maps.Keys(found))
}

// UsualWorkers returns the number of workers, if -j does not say it: one a core. What one goroutine
// does for each interval takes a twentieth of the time or more, so more than 32 gain nothing, and
// take memory.
func UsualWorkers() int { return min(runtime.GOMAXPROCS(0), 32) }
