package logs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/message"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/scan"
)

// Units find out in which unit the values of logs are, and how to print them. Tags may have
// different units: the values of each are converted to one unit for all.
type Units struct {
	Options unit.Options
	// Headed is set if the output says itself which unit is assumed.
	Headed  bool
	std     *message.Streams
	finders []*unit.Finder  // of all [Logs]
	named   map[string]bool // whether a scan has a log with a name that -in gives, if there is a scan
	in      hdrlog.Unit     // what values that were printed were taken to be in
	takenAs hdrlog.Unit     // what values of logs are in that do not state their unit
	assumed bool            // that nothing states it
	said    map[string]bool
	// judged is the limit whose result depends on the unit of each log, empty if there is none.
	judged string
}

// NewUnits returns the units that options ask for, whose messages go to std.
func NewUnits(std *message.Streams, options unit.Options) (*Units, error) {
	if err := options.Validate(); err != nil {
		return nil, message.Usagef("-unit: %w", err)
	}
	return &Units{Options: options, std: std, said: make(map[string]bool)}, nil
}

// Logs are logs that add up, tag by tag, but not with others.
type Logs struct {
	*Units
	finder  unit.Finder
	account *ledger.Account // of the tags in finder
}

// tagBytes is about what a tag takes in a [unit.Finder], beside its text.
const tagBytes = 60

// NewLogs returns logs, none so far.
func (u *Units) NewLogs(memory *ledger.Ledger) *Logs {
	l := &Logs{Units: u, account: memory.Open("tags with their units", "choose some with -incT")}
	l.finder.Given = u.Options.Given
	u.finders = append(u.finders, &l.finder)
	return l
}

// Watch returns the logs of a scan, and has their comments and tags read for their units.
func (u *Units) Watch(s *scan.Scan) *Logs {
	l := u.NewLogs(s.Memory)
	if u.named == nil {
		u.named = make(map[string]bool)
	}
	for _, of := range u.Options.Of {
		gives := func(input scan.Input) bool { return of.Names(input.Name) }
		u.named[of.Name] = u.named[of.Name] || slices.ContainsFunc(s.Inputs, gives) ||
			s.Rows.Phases != nil && slices.ContainsFunc(s.Rows.Phases.Files, of.Names)
	}
	s.Hooks.Comment = func(input int, text []byte) error { return l.Comment(s.Inputs[input].Name, text) }
	s.Hooks.Selected = func(input int, row []byte) { l.Kept(s.Inputs[input].Name, row) }
	return l
}

// CheckNames returns an error if -in names a log that is none of the inputs.
func CheckNames(o *unit.Options, inputs []scan.Input) error {
	for _, of := range o.Of {
		if !slices.ContainsFunc(inputs, func(input scan.Input) bool { return of.Names(input.Name) }) {
			return noLog(of)
		}
	}
	return nil
}

func noLog(of unit.Of) error {
	return message.Usagef("-in %s=%s: no log has this name", of.Name, of.Unit)
}

// Kept says that a log has an interval in a row. If memory is short for one tag more, whoever is
// charged for the interval says so.
func (l *Logs) Kept(log string, row []byte) {
	before := l.finder.Tags()
	l.finder.Uses(row, log)
	if l.finder.Tags() > before {
		l.account.Add(1, tagBytes+len(row))
	}
}

// Comment reads a comment of a log for its unit. It returns an error if values may have been
// printed that were taken to be in another unit.
func (l *Logs) Comment(log string, text []byte) error {
	u := l.Units
	found, late := l.finder.Comment(log, text)
	if found == 0 || !u.assumed && !late || u.in == 0 || found == u.in {
		return nil
	}
	return gives(fmt.Errorf("the values of %s are in %s, but were taken as %s", log, found, u.in), log, found.String())
}

// gives adds to an error which option gives a log its unit.
func gives(err error, log, in string) error {
	return fmt.Errorf("%w: -in %s gives it", err, inOption(log, in))
}

// inOption returns what to type behind -in for the unit of one log.
func inOption(log, in string) string { return message.Quoted(filepath.Base(log) + "=" + in) }

// unclear adds to an error of units that differ which option settles it, unless all logs state
// their units.
func unclear(err error) error {
	var clash *unit.ClashError
	if !errors.As(err, &clash) || clash.Log == "" {
		return err
	}
	return fmt.Errorf("%w: -in %s gives another one", err, inOption(clash.Log, "UNIT"))
}

// Unit returns the unit that a log can state which has the values of all logs, see
// [unit.Finder.Common]. An error says that they have several.
func (l *Logs) Unit() (hdrlog.Unit, error) {
	u, err := l.finder.Common()
	if err != nil {
		err = unclear(err)
	}
	return u, err
}

// Readable is [unit.Options.Readable].
func (u *Units) Readable(s hdrlog.Scale, rows ...unit.Typical) hdrlog.Scale {
	return u.Options.Readable(s, rows...)
}

// Header reads the comments at the beginning of a log for its unit. Begin may end anywhere, and may
// be compressed.
func (l *Logs) Header(log string, begin []byte) { header(&l.finder, log, begin) }

// header reads comments, and reports whether an interval follows.
func header(f *unit.Finder, log string, begin []byte) (began bool) {
	f.Add(log)
	reader := hdrlog.NewReader(bytes.NewReader(begin), log)
	defer reader.Close()
	for reader.Scan() {
		switch record := reader.Record(); record.Kind {
		case hdrlog.Comment, hdrlog.BaseTime:
			f.Comment(log, record.Text)
		case hdrlog.IntervalRecord:
			return true
		}
	}
	return false
}

// beginBytes is how much of a file is read for its comments.
const beginBytes = 64 << 10

// AdmitFile is [Logs.Admit] of a file. One without intervals may still state its unit.
func (l *Logs) AdmitFile(path string) error {
	if l.judged == "" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil // who follows it says so
	}
	defer f.Close()
	begin, _ := io.ReadAll(io.LimitReader(f, beginBytes))
	if !header(&l.finder, path, begin) {
		return nil
	}
	return l.Admit(path)
}

// Scale returns how to print values, by the comments read so far: of the tags whose unit has the
// factor 1, see [Logs.Factor]. If the unit must be known and is not, it is assumed to be
// nanoseconds. Messages say once what is assumed and converted. Logs of different units that have
// the same tag do not add up, which is an error.
func (u *Units) Scale(mustKnow bool) (hdrlog.Scale, error) {
	for _, of := range u.Options.Of {
		if named, scanned := u.named[of.Name]; scanned && !named {
			return hdrlog.Scale{}, noLog(of)
		}
	}
	found, err := unit.Find(u.finders...)
	if err != nil {
		return hdrlog.Scale{}, unclear(err)
	}
	if u.in != 0 {
		found.Unit = u.in // all is printed in one unit
	}
	if found.Unclear != nil && u.Options.Ratio == 0 {
		return hdrlog.Scale{}, gives(fmt.Errorf("%s, and %w", found.UnstatedText(), found.Unclear), found.Unstated[0], "UNIT")
	}
	u.takenAs = found.TakenAs
	if found.Doubt != nil {
		u.Say("%v: they add up as if it were one; -in NAME=UNIT gives that of a log", found.Doubt)
	}
	if u.Options.Ratio == 0 {
		for _, reason := range found.Reasons {
			u.note(reason)
		}
	}
	s := u.Options.Scale(found.Unit)
	if mustKnow && s.In == 0 {
		s.In, s.Assumed = hdrlog.Nanosecond, true
	}
	u.in = s.In
	switch {
	case s.Assumed:
		u.assumed = true
		if !u.Headed {
			u.Say(unit.Assumption)
		}
	case u.Options.Ratio != 0 && found.Differ != nil:
		u.Say("%v; -ovr divides all of them alike, and -unit converts them", found.Differ)
	case u.Options.Ratio != 0:
	case found.Differ != nil && u.Options.Unit == "":
		u.Say("%v; they are converted to one unit", found.Differ)
	}
	if found.Unstated != nil && u.Options.Ratio == 0 && !u.assumed {
		says := "%s, so its values are taken as %s: -in %s names another"
		if len(found.Unstated) > 1 {
			says = "%s, so their values are taken as %s: -in %s names another"
		}
		u.Say(says, found.UnstatedText(), found.TakenAs, inOption(found.Unstated[0], "UNIT"))
	}
	s.Assumed = u.assumed
	return s, nil
}

// CheckLimit returns an error if the result of a limit would depend on a unit that is unknown. An
// empty limit depends on none.
func (u *Units) CheckLimit(limit string) error {
	if limit == "" {
		return nil
	}
	found, err := unit.Find(u.finders...)
	if err != nil {
		return unclear(err)
	}
	if found.Unstated == nil || u.Options.Ratio != 0 {
		if s := u.Options.Scale(found.Unit); s.In != 0 && !s.Assumed {
			return nil
		}
		return message.Usagef("-sla %s: the unit of the values is unknown: add -in ns, us, ms or s", limit)
	}
	return unknownUnit(limit, found.Unstated[0])
}

func unknownUnit(limit, log string) error {
	return message.Usagef("-sla %s: the unit of the values of %s is unknown: add -in %s, or -in UNIT for all logs",
		limit, log, inOption(log, "UNIT"))
}

// Unstated returns a log whose unit is unknown, empty if there is none.
func (l *Logs) Unstated() string { return l.finder.Unstated() }

// Judge says which limit depends on the unit of each log, see [Logs.Admit].
func (u *Units) Judge(limit string) { u.judged = limit }

// Admit returns an error if a log cannot be judged, since its unit is unknown. The comments before
// its first interval have been taken.
func (l *Logs) Admit(log string) error {
	if l.judged == "" {
		return nil
	}
	if s := l.Options.Scale(l.finder.OfLog(log)); s.In != 0 && !s.Assumed {
		return nil
	}
	return unknownUnit(l.judged, log)
}

// Assumed reports whether the unit of values that were printed is unknown, and taken to be
// nanoseconds.
func (u *Units) Assumed() bool { return u.assumed }

// Doubt says so if values can hardly be in the unit that is assumed, or that -in gives: the highest
// one would be below a microsecond if the unit is assumed, or above an hour. It says nothing of a
// unit that logs state, or if there are no values.
func (u *Units) Doubt(highest float64) {
	given := u.Options.In != 0 && u.in == u.Options.In
	if !u.assumed && !given || !(highest > 0) {
		return
	}
	nanoseconds := highest * float64(u.in)
	text := time.Duration(min(nanoseconds, math.MaxInt64/2)).String()
	switch {
	case nanoseconds > 3600e9 && given:
		u.Say("the highest value is %s if values are in %s, as -in says", text, u.in)
	case nanoseconds > 3600e9:
		u.Say("the highest value would be %s if values were in ns, as is assumed: if they are no "+
			"times, leave the unit out", text)
	case nanoseconds < 1e3 && u.assumed:
		u.Say("the highest value would be %s if values were in ns, as is assumed: -in us, -in ms or "+
			"-in s says what they are", text)
	}
}

// note prints a note once, unless nobody wants notes.
func (u *Units) note(text string) {
	if !u.said[text] {
		u.said[text] = true
		u.std.Notef("%s", text)
	}
}

// Say prints a message once.
func (u *Units) Say(format string, args ...any) {
	if !u.said[format] {
		u.said[format] = true
		u.std.Say(format, args...)
	}
}

// Factor returns how many of the units that [Units.Scale] begins with make one unit of a row's
// values. An error says that the values of the row do not add up.
func (l *Logs) Factor(row []byte) (float64, error) {
	in, err := l.finder.Of(row)
	if err != nil {
		return 0, unclear(err)
	}
	if in != 0 && l.in == 0 {
		if _, err := l.Scale(false); err != nil {
			return 0, err
		}
	}
	return l.factor(in), nil
}

// RowScale is [Units.Scale] of the values of a row.
func (l *Logs) RowScale(row []byte, mustKnow bool) (hdrlog.Scale, error) {
	scale, err := l.Scale(mustKnow)
	if err != nil {
		return scale, err
	}
	factor, err := l.Factor(row)
	return scale.Times(factor), err
}

// LogFactor is Factor for the values of a log.
func (l *Logs) LogFactor(log string) float64 { return l.factor(l.finder.OfLog(log)) }

func (u *Units) factor(in hdrlog.Unit) float64 {
	in = cmp.Or(in, u.takenAs)
	if u.Options.Ratio != 0 || in == 0 || u.in == 0 {
		return 1
	}
	return u.in.Per(in)
}
