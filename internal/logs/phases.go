package logs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/logline"
	"hdrkit/internal/base/message"
	"hdrkit/internal/base/people"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/measure"
	"hdrkit/internal/scan"
)

// Phases are the files of -phases, with the units of the values in them.
type Phases struct {
	Files []string
	// Units has the units that the user gives to values, and the unit to print.
	Units *unit.Options
}

// A phaseReader reads the files of -phases, and collects their phases.
type phaseReader struct {
	options     *Options
	std         *message.Streams
	diagnostics *Diagnostics
	account     *ledger.Account
	all         []scan.Phase
	files       []string // see [scan.Phases.Files]
	first       int      // the index in all of the first phase of the current table
}

// phaseBytes is about how many bytes a phase takes, with its span in a timetable.
const phaseBytes = 250

// ReadPhases reads the files of -phases. It reports malformed rows to the diagnostics.
func (o *Options) ReadPhases(std *message.Streams, diagnostics *Diagnostics) (*scan.Phases, error) {
	r := &phaseReader{
		options:     o,
		std:         std,
		diagnostics: diagnostics,
		account:     o.Run.Ledger().Open("phases", "give fewer with -phases"),
	}
	for _, text := range o.Tags.Phases.Files {
		if err := r.read(text); err != nil {
			return nil, fmt.Errorf("-phases: %w", err)
		}
	}
	if len(r.all) == 0 {
		return nil, message.Usagef("-phases %s: no phase in it", message.List(o.Tags.Phases.Files))
	}
	p := scan.NewPhases(r.all, o.Run.Ledger())
	p.Files = r.files
	p.Zone = o.Times.Zone
	p.Whole = o.Times.From == "" && o.Times.To == ""
	return p, nil
}

// read reads the phases of one value of -phases: of a file, or of LOG>VALUE, which makes phases of
// the intervals of a log whose maximum is above a value.
func (r *phaseReader) read(text string) error {
	switch text {
	case "":
		return message.Usagef("the name of the file is empty")
	case "-":
		return message.Usagef("phases cannot be standard input: give a file")
	}
	file, err := os.Open(text)
	log, above, isLog := cutLast(text, '>')
	if errors.Is(err, os.ErrNotExist) && isLog {
		return r.readLog(log, above)
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder", text)
	}
	r.files = append(r.files, text)
	table, rest := measure.DetectTexts(file, text, phaseColumns, minColumns)
	if table != nil {
		return r.readTable(table)
	}
	in, _ := r.options.Tags.Phases.Units.Named(text)
	measured, _, begin, why := measure.Detect(rest, text, in)
	switch {
	case measured != nil:
		return r.readMeasured(measured)
	case measure.IsLog(begin):
		return message.Usagef("%s is a log: '%[1]s>20ms' has its intervals with a maximum above 20 ms", text)
	case len(bytes.TrimSpace(begin)) == 0:
		return fmt.Errorf("%s is empty", text)
	case errors.As(why, new(measure.OptionError)) && !errors.As(why, new(measure.UnitError)):
		// hdrrec has these options
	case why != nil && why != measure.ErrNoInterval:
		return fmt.Errorf("%s: %w", text, why)
	}
	return fmt.Errorf("%s is neither measurements nor a table of phases, which begins with start,end,name or start,name", text)
}

// cutLast cuts a text around the last occurrence of a character.
func cutLast(text string, at byte) (before, after string, found bool) {
	n := strings.LastIndexByte(text, at)
	if n < 0 {
		return text, "", false
	}
	return text[:n], text[n+1:], true
}

// add adds a phase. It makes the name a valid tag, so that limits and charts can name the row.
func (r *phaseReader) add(name []byte, from, to *scan.Bound) error {
	if string(name) == scan.Outside {
		return errOutside
	}
	tag := string(logline.AppendTag(nil, name, hdrlog.MaxTag))
	r.all = append(r.all, scan.Phase{Name: tag, Range: scan.Range{From: from, To: to}})
	return r.account.Add(1, phaseBytes+len(tag))
}

// nameOfFile returns the name of phases for a file that gives them no names: the name of the file
// without folder and extensions.
func nameOfFile(path string) []byte {
	name, _, _ := strings.Cut(strings.TrimLeft(filepath.Base(path), "."), ".")
	return []byte(name)
}

// phaseColumns are the columns of a table of phases. The first minColumns of them are required.
var phaseColumns = []string{"start", "name", "end", "duration"}

const (
	startColumn = iota
	nameColumn
	endColumn
	durationColumn
	minColumns = endColumn
)

// readTable reads a table of phases. A phase without an end lasts until the next row of the table.
func (r *phaseReader) readTable(t *measure.Texts) error {
	r.first = len(r.all)
	for t.Scan() {
		bad := t.Bad()
		if bad == nil {
			field, err := r.addRow(t)
			if errors.As(err, new(*ledger.LimitError)) {
				return err
			}
			if err == nil {
				continue
			}
			bad = &hdrlog.SyntaxError{File: t.Name(), Line: t.Line(), Field: field, Err: err}
		}
		if err := r.diagnostics.ReportRow(bad, true); err != nil {
			return err
		}
	}
	return t.Err()
}

// addRow adds the phase of a row of a table. An error is about the column of the field.
func (r *phaseReader) addRow(t *measure.Texts) (field string, err error) {
	bound := func(column int) (*scan.Bound, error) {
		return parseBound(string(t.Text(column)), t.Units[column], r.options.Times.Zone)
	}
	from, err := bound(startColumn)
	if err != nil {
		return t.Columns[startColumn], err
	}
	if last := len(r.all) - 1; last >= r.first && r.all[last].To == nil {
		before := &r.all[last]
		switch {
		case before.From.Origin != from.Origin:
			return t.Columns[startColumn], errors.New("it counts from another time than the row before, which has no end")
		case from.Seconds < before.From.Seconds && from.Origin != scan.Midnight:
			return t.Columns[startColumn], errors.New("it is before the row before, which has no end: sort the rows")
		}
		next := *from
		before.To = &next
	}
	name := t.Text(nameColumn)
	if len(name) == 0 {
		return t.Columns[nameColumn], hdrlog.ErrMissing
	}
	to := new(scan.Bound)
	switch {
	case len(t.Text(endColumn)) > 0:
		to, err = bound(endColumn)
		switch {
		case err != nil:
			return t.Columns[endColumn], err
		case to.Origin != from.Origin:
			return t.Columns[endColumn], errors.New("the end counts from another time than the start")
		case to.Seconds < from.Seconds && to.Origin != scan.Midnight:
			return t.Columns[endColumn], errors.New("the end is before the start")
		}
	case len(t.Text(durationColumn)) > 0:
		seconds, ok := parseSeconds(string(t.Text(durationColumn)), t.Units[durationColumn])
		if !ok || seconds < 0 {
			return t.Columns[durationColumn], fmt.Errorf("%.60q is no length of time such as 60, 90s or 1h5m", t.Text(durationColumn))
		}
		*to = *from
		to.Seconds += seconds
	default:
		to = nil
	}
	return t.Columns[nameColumn], r.add(name, from, to)
}

// errOutside is the error for a phase with the reserved name [scan.Outside].
var errOutside = fmt.Errorf("%s is the time that no phase has", scan.Outside)

// parseSeconds parses a length of time: a number in a unit, which is seconds if in is 0, or a text
// such as 90s.
func parseSeconds(text string, in hdrlog.Unit) (seconds float64, ok bool) {
	if _, err := strconv.ParseFloat(text, 64); err == nil && in != 0 {
		seconds, ok = scan.ParseSeconds(text)
		return seconds * float64(in/hdrlog.Second), ok
	}
	return scan.ParseSeconds(text)
}

// A time since 1970 without a unit is in seconds if it is below maxSeconds. A larger number is in
// milliseconds, microseconds or nanoseconds.
const maxSeconds = 1e11

// parseBound parses a time as -s does. A number since 1970 may be in smaller units than seconds.
func parseBound(text string, in hdrlog.Unit, zone *time.Location) (*scan.Bound, error) {
	if text == "" {
		return nil, hdrlog.ErrMissing
	}
	if zone == nil {
		zone = time.UTC
	}
	at := text
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		seconds, finite := parseSeconds(text, in)
		for range 3 { // ms, us and ns
			if finite && in == 0 && seconds >= maxSeconds {
				seconds /= 1000
			}
		}
		at = strconv.FormatFloat(seconds, 'f', -1, 64)
	}
	b, ok := scan.ParseTime(at, zone)
	if !ok || b.Origin == scan.LogEnd {
		return nil, fmt.Errorf("%.60q is no time such as 2026-05-04T03:02:01Z, 1777863721 since 1970, or 60 or 1m30s after the start of the log", text)
	}
	return &b, nil
}

// boundOf returns the bound at a time in seconds since 1970. A small time counts from the start of
// the log.
func boundOf(seconds float64) *scan.Bound {
	b := &scan.Bound{Seconds: seconds}
	if people.Dated(logline.Millis(seconds)) {
		b.Origin = scan.Epoch
	}
	return b
}

// readMeasured makes a phase of each measurement: the value is the length of the phase, and the tag
// is its name.
func (r *phaseReader) readMeasured(m *measure.Reader) error {
	if !r.std.Quiet {
		r.diagnostics.Warnf("%s is read as %s; hdrrec has options for other columns", m.Name(), m.Interpretation())
	}
	untagged := nameOfFile(m.Name())
	warned := false
	for m.Scan() {
		if bad := m.Bad(); bad != nil {
			if err := r.diagnostics.ReportRow(bad, true); err != nil {
				return err
			}
			continue
		}
		row := m.Row()
		switch {
		case row.Payload != nil || m.Timeless():
			return message.Usagef("%s has values without times, which are no phases", m.Name())
		case row.NoValue:
			continue
		}
		start, length := float64(row.Time)/1e9, float64(row.Value)/1e9
		if m.AtEnd() {
			start -= length
		}
		from := boundOf(start)
		if from.Origin == scan.LogStart && !warned {
			warned = true
			r.diagnostics.Warnf("-phases: the times of %s have no date, so they count from the start of the log: that is exact only if both began at once", m.Name())
		}
		name := row.Tag
		if name == nil {
			name = untagged
		}
		if err := r.add(name, from, boundOf(start+length)); err != nil {
			return err
		}
	}
	return m.Err()
}

// readLog makes phases of the intervals of a log whose maximum is above a value.
func (r *phaseReader) readLog(path, above string) error {
	limit, in, err := unit.ParseValue(above)
	if err != nil {
		return message.Usagef("%s>%s: %w", path, above, err)
	}
	units := r.options.Tags.Phases.Units
	if in == 0 {
		in = units.Printed()
		what := "the unit of the log"
		if in != 0 {
			what = in.String()
		}
		r.diagnostics.Warnf("-phases: %s>%s has no unit, and is taken to be in %s", path, above, what)
	}
	only := r.options.Inputs
	only.Names = nil
	only.Paths = []string{path}
	only.Tagged = nil
	only.UnitOf = units.Named
	inputs, err := only.Find(r.std)
	if err != nil {
		return err
	}
	r.files = append(r.files, path)
	s := &scan.Scan{
		Inputs:  inputs,
		Workers: max(r.options.Run.Workers, 1),
		Report:  r.diagnostics.ReportRow,
		Memory:  r.options.Run.Ledger(),
	}
	r.diagnostics.convertMeasurements(s.Inputs, s.Memory, only.UnitOf)
	finder := unit.Finder{Given: only.UnitOf}
	s.Hooks.Comment = func(_ int, text []byte) error { finder.Comment(path, text); return nil }
	decode := func(d *scan.Decoder, v scan.Visit, highest *float64) (err error) {
		if err = d.Open(v.Interval); err == nil {
			*highest, _, err = d.MaxAndCount()
		}
		return err
	}
	name := nameOfFile(path)
	return scan.Run(s, decode, func(v scan.Visit, highest *float64) error {
		value := *highest
		if in != 0 {
			of := finder.OfLog(path)
			if of == 0 && r.options.Inputs.UnitOf != nil {
				of, _ = r.options.Inputs.UnitOf(path) // that of all logs
			}
			if of == 0 {
				return message.Usagef("%s does not state its unit: -in %s gives it", path, inOption(path, "UNIT"))
			}
			value *= in.Per(of)
		}
		if value <= limit {
			return nil
		}
		start, end := v.Span()
		return r.add(name, boundOf(float64(start)/1000), boundOf(float64(end)/1000))
	})
}
