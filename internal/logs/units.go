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

// Units find the unit of the values of logs, and how to print values. Tags may have different
// units: all values are converted to one unit.
type Units struct {
	Options unit.Options
	// Headed reports that the output itself says which unit is assumed, so that no message does.
	Headed  bool
	std     *message.Streams
	finders []*unit.Finder // of all [Logs]
	// named says of each name that -in gives whether a scan has a log with this name. It is nil
	// before the first scan.
	named map[string]bool
	// in is the unit of printed values before they are converted. It is 0 before the first call of
	// [Units.Scale], and if the unit is unknown.
	in      hdrlog.Unit
	takenAs hdrlog.Unit     // the unit that is taken for logs that do not state theirs
	assumed bool            // no log states a unit, so in is a guess
	printed map[string]bool // messages, by their format, and notes
	// limit depends on the unit of each log, see [Units.Judge]. It is empty if there is none.
	limit string
}

// NewUnits returns units for the options, or an error if these are invalid. Messages go to std.
func NewUnits(std *message.Streams, options unit.Options) (*Units, error) {
	if err := options.Validate(); err != nil {
		return nil, message.Usagef("-unit: %w", err)
	}
	return &Units{Options: options, std: std, printed: make(map[string]bool)}, nil
}

// Logs have the units of logs that are added up, tag by tag: all logs of a command, or those of one
// side of a comparison.
type Logs struct {
	*Units
	finder  unit.Finder
	account *ledger.Account // of the tags in finder
}

// tagBytes is about how many bytes a tag takes in a [unit.Finder], beside its text.
const tagBytes = 60

// NewLogs returns empty Logs. Memory is charged for their tags.
func (u *Units) NewLogs(memory *ledger.Ledger) *Logs {
	l := &Logs{Units: u, account: memory.Open("tags with their units", "choose some with -incT")}
	l.finder.Given = u.Options.Given
	u.finders = append(u.finders, &l.finder)
	return l
}

// Watch returns Logs that the scan s fills: with the units that comments state, and the tags of
// intervals.
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

// Kept notes that a log has an interval in a row. It returns no error if there is no memory for
// one more tag: whoever is charged for the interval returns it.
func (l *Logs) Kept(log string, row []byte) {
	before := l.finder.NumTags()
	l.finder.Uses(row, log)
	if l.finder.NumTags() > before {
		l.account.Add(1, tagBytes+len(row))
	}
}

// Comment notes the unit that a comment of a log may state. It returns an error if values that were
// taken to be in another unit may have been printed already.
func (l *Logs) Comment(log string, text []byte) error {
	u := l.Units
	found, late := l.finder.Comment(log, text)
	if found == 0 || !u.assumed && !late || u.in == 0 || found == u.in {
		return nil
	}
	return withUnitOption(fmt.Errorf("the values of %s are in %s, but were taken as %s", log, found, u.in), log, found.String())
}

// withUnitOption adds the option that gives a log its unit to an error.
func withUnitOption(err error, log, in string) error {
	return fmt.Errorf("%w: -in %s gives it", err, inOption(log, in))
}

// inOption returns the value of -in that gives one log a unit, quoted for a shell.
func inOption(log, in string) string { return message.Quoted(filepath.Base(log) + "=" + in) }

// withClashOption adds the option that gives a log its unit to an error of units that differ,
// unless all logs state their units.
func withClashOption(err error) error {
	var clash *unit.ClashError
	if !errors.As(err, &clash) || clash.Log == "" {
		return err
	}
	return fmt.Errorf("%w: -in %s gives another one", err, inOption(clash.Log, "UNIT"))
}

// Unit returns the unit of the values of all logs, see [unit.Finder.Common]. It returns an error if
// they have several units.
func (l *Logs) Unit() (hdrlog.Unit, error) {
	u, err := l.finder.Common()
	if err != nil {
		err = withClashOption(err)
	}
	return u, err
}

// Readable calls [unit.Options.Readable] of the options.
func (u *Units) Readable(s hdrlog.Scale, rows ...unit.Typical) hdrlog.Scale {
	return u.Options.Readable(s, rows...)
}

// Header looks for the unit of a log in the comments at its beginning, which may be compressed and
// may end anywhere.
func (l *Logs) Header(log string, begin []byte) { findUnit(&l.finder, log, begin) }

// findUnit looks for the unit of a log in the comments at its beginning, and adds the unit to a
// finder. It reports whether the beginning has an interval.
func findUnit(f *unit.Finder, log string, begin []byte) (hasInterval bool) {
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

// beginBytes is the number of bytes of a file that are read for its comments.
const beginBytes = 64 << 10

// AdmitFile does what [Logs.Admit] does for a file that has an interval at its beginning. Without
// an interval, the file may still state its unit later.
func (l *Logs) AdmitFile(path string) error {
	if l.limit == "" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil // following the file reports the error
	}
	defer f.Close()
	begin, _ := io.ReadAll(io.LimitReader(f, beginBytes))
	if !findUnit(&l.finder, path, begin) {
		return nil
	}
	return l.Admit(path)
}

// Scale returns how to print values, given the comments read so far. It is the scale of tags whose
// factor is 1, see [Logs.Factor]. With mustKnow, an unknown unit is assumed to be nanoseconds.
// Messages say once what is assumed and converted. It is an error if logs with the same tag have
// different units, since they do not add up.
func (u *Units) Scale(mustKnow bool) (hdrlog.Scale, error) {
	for _, of := range u.Options.Of {
		if named, scanned := u.named[of.Name]; scanned && !named {
			return hdrlog.Scale{}, noLog(of)
		}
	}
	found, err := unit.Find(u.finders...)
	if err != nil {
		return hdrlog.Scale{}, withClashOption(err)
	}
	if u.in != 0 {
		found.Unit = u.in // the unit of what is printed already
	}
	if found.Unclear != nil && u.Options.Ratio == 0 {
		return hdrlog.Scale{}, withUnitOption(fmt.Errorf("%s, and %w", found.UnstatedText(), found.Unclear), found.Unstated[0], "UNIT")
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

// CheckLimit returns an error if the result of a limit depends on an unknown unit. The limit may be
// empty.
func (u *Units) CheckLimit(limit string) error {
	if limit == "" {
		return nil
	}
	found, err := unit.Find(u.finders...)
	if err != nil {
		return withClashOption(err)
	}
	if found.Unstated == nil || u.Options.Ratio != 0 {
		if s := u.Options.Scale(found.Unit); s.In != 0 && !s.Assumed {
			return nil
		}
		return message.Usagef("-sla %s: the unit of the values is unknown: add -in ns, us, ms or s", limit)
	}
	return unknownUnit(limit, found.Unstated[0])
}

// unknownUnit returns the error for a limit that depends on the unknown unit of a log.
func unknownUnit(limit, log string) error {
	return message.Usagef("-sla %s: the unit of the values of %s is unknown: add -in %s, or -in UNIT for all logs",
		limit, log, inOption(log, "UNIT"))
}

// Unstated returns the name of a log whose unit is unknown, or an empty name.
func (l *Logs) Unstated() string { return l.finder.Unstated() }

// Judge sets the limit whose result depends on the unit of each log, for [Logs.Admit].
func (u *Units) Judge(limit string) { u.limit = limit }

// Admit returns an error if the unit of a log is unknown and a limit depends on it. Call it after
// the comments before the first interval of the log.
func (l *Logs) Admit(log string) error {
	if l.limit == "" {
		return nil
	}
	if s := l.Options.Scale(l.finder.OfLog(log)); s.In != 0 && !s.Assumed {
		return nil
	}
	return unknownUnit(l.limit, log)
}

// Assumed reports whether values were printed as nanoseconds although their unit is unknown.
func (u *Units) Assumed() bool { return u.assumed }

// Doubt prints a message if values can hardly be in the unit that is assumed or that -in gives,
// since the highest value would be above an hour, or below a microsecond in an assumed unit. It
// prints nothing about a unit that logs state, or if there are no values.
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

// note prints a note once, unless -q is given.
func (u *Units) note(text string) {
	if !u.printed[text] {
		u.printed[text] = true
		u.std.Notef("%s", text)
	}
}

// Say prints a message, unless a message with the same format was printed before: its figures may
// change while logs are read.
func (u *Units) Say(format string, args ...any) {
	if !u.printed[format] {
		u.printed[format] = true
		u.std.Say(format, args...)
	}
}

// Factor returns the factor that converts the values of a row to the unit of [Units.Scale]. It
// returns an error if logs of the row have different units.
func (l *Logs) Factor(row []byte) (float64, error) {
	in, err := l.finder.Of(row)
	if err != nil {
		return 0, withClashOption(err)
	}
	if in != 0 && l.in == 0 {
		if _, err := l.Scale(false); err != nil {
			return 0, err
		}
	}
	return l.factor(in), nil
}

// RowScale returns how to print the values of a row, as [Units.Scale] does for all values.
func (l *Logs) RowScale(row []byte, mustKnow bool) (hdrlog.Scale, error) {
	scale, err := l.Scale(mustKnow)
	if err != nil {
		return scale, err
	}
	factor, err := l.Factor(row)
	return scale.Times(factor), err
}

// LogFactor does what [Logs.Factor] does for the values of a log.
func (l *Logs) LogFactor(log string) float64 { return l.factor(l.finder.OfLog(log)) }

func (u *Units) factor(in hdrlog.Unit) float64 {
	in = cmp.Or(in, u.takenAs)
	if u.Options.Ratio != 0 || in == 0 || u.in == 0 {
		return 1
	}
	return u.in.Per(in)
}
