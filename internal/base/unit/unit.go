// Package unit determines the unit of the values of logs, and the number by which to divide values
// to print them in another unit.
//
// A log does not state its unit in a standard way. The unit is, in this order, given by the option
// -in, stated by a comment such as #UNITS:NANOSECONDS, or implied by a comment that names a program
// whose unit is known. The field MAX of intervals says nothing about the unit: writers divide it by
// numbers of their own.
package unit

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/logline"
)

// units are the units of time, the smallest first.
var units = []hdrlog.Unit{hdrlog.Nanosecond, hdrlog.Microsecond, hdrlog.Millisecond, hdrlog.Second}

// Names are the names of units that options accept.
var Names = names()

func names() (all []string) {
	for _, u := range units {
		all = append(all, u.String())
	}
	return all
}

// otherNames maps names of units that other programs use, without an s at the end, to the names of
// units.
var otherNames = map[string]string{
	"nsec":  "ns",
	"nano":  "ns",
	"usec":  "us",
	"micro": "us",
	"msec":  "ms",
	"milli": "ms",
	"sec":   "s",
}

// ParseOption returns the unit of time that the value of an option names.
func ParseOption(name string) (hdrlog.Unit, error) {
	u, ok := hdrlog.ParseUnit(name)
	if right := otherNames[strings.TrimSuffix(strings.ToLower(name), "s")]; !ok && right != "" {
		return u, fmt.Errorf("%q is spelt %s", name, right)
	}
	if !ok {
		return u, fmt.Errorf("%q is not a unit of time, which is one of %s", name, strings.Join(Names, ", "))
	}
	return u, nil
}

// ParseValue reads a number that may have a unit, such as 20 or 20ms. in is 0 if the number has
// none.
func ParseValue(text string) (value float64, in hdrlog.Unit, err error) {
	end := strings.LastIndexAny(text, "0123456789.") + 1
	number := text
	if u, ok := hdrlog.ParseUnit(strings.TrimSpace(text[end:])); ok {
		in, number = u, text[:end]
	}
	value, err = strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || math.IsNaN(value) {
		err = fmt.Errorf("%q is neither a number nor a number with a unit (%s)", text, strings.Join(Names, ", "))
	}
	return value, in, err
}

// A Finder determines the unit of each log from its comments, and the unit of each tag from the
// logs that have it. The values of its logs are added up, tag by tag. The zero value is ready.
type Finder struct {
	// Given, if set, returns the unit that the user gives a log, and false if the user gives none.
	Given func(name string) (hdrlog.Unit, bool)

	logs map[string]*log
	tags map[string]*tagLogs // by [merge.AppendKey]
	none tagLogs             // for a tag that no log has used yet
	key  []byte              // memory for looking up a tag
	// several has the keys of tags with more than one unit. Find looks only at these, since it is
	// called for each row over time, and there may be many tags.
	several map[string]bool
	clash   error    // says that one log states two units
	found   *outcome // the last result of Find, nil if anything has changed since
	// mixed has, for each tag, the first two logs, by name, whose program writes values in any unit
	// and does not say in which.
	mixed map[string][]*log
}

// An outcome is a result of Find. It is kept since Find is called for each row over time.
type outcome struct {
	Found
	err error
}

// tagLogs are the logs that have a tag: the first log of each unit, in the order of their names.
// Tags with equal logs share them, since there may be a million tags in one log.
type tagLogs struct {
	logs []*log
	more map[*log]*tagLogs // the results of with
}

// with returns the logs with another log, which replaces the log of the same unit.
func (u *tagLogs) with(l *log) *tagLogs {
	if u.more == nil {
		u.more = make(map[*log]*tagLogs)
	}
	if u.more[l] == nil {
		others := slices.DeleteFunc(slices.Clone(u.logs), func(other *log) bool { return other.unit == l.unit })
		logs := append(others, l)
		slices.SortFunc(logs, byName)
		u.more[l] = &tagLogs{logs: logs}
	}
	return u.more[l]
}

// log is a log and its unit, which may be unknown.
type log struct {
	name    string
	unit    hdrlog.Unit
	used    bool   // the log has intervals
	given   bool   // the user gives the unit
	anyUnit bool   // the program that wrote the log uses several units
	comment []byte // the comment that states or implies a unit
	// commentUnit is the unit of that comment. program is the program that the comment names if it
	// implies the unit.
	commentUnit hdrlog.Unit
	program     string
}

func (f *Finder) log(name string) *log {
	l := f.logs[name]
	if l == nil {
		if f.logs == nil {
			f.logs, f.tags = make(map[string]*log), make(map[string]*tagLogs)
			f.several = make(map[string]bool)
		}
		l = &log{name: name}
		if f.Given != nil {
			if given, ok := f.Given(name); ok {
				l.unit, l.given = given, true
			}
		}
		f.logs[name] = l
		f.found = nil
	}
	return l
}

// Comment reads a comment of a log, which begins with #. It returns the new unit of the log, or 0
// if the comment changes nothing. late reports whether earlier intervals of the log had another
// unit, or an unknown one.
func (f *Finder) Comment(name string, text []byte) (u hdrlog.Unit, late bool) {
	if l := f.logs[name]; l != nil && logline.RevokesUnit(text, l.comment) && !l.used {
		f.found = nil
		l.setUnit(0, "", nil)
		l.anyUnit = !l.given
	}
	if bytes.HasPrefix(text, []byte("#"+rowsComment)) {
		l := f.log(name)
		l.given = false
		l.unit = 0
		return 0, false
	}
	u, program := hdrlog.UnitBy(text)
	if u == 0 {
		return 0, false
	}
	l := f.log(name)
	f.found = nil
	stated := l.commentUnit != 0 && l.program == ""
	switch {
	case l.commentUnit != 0 && stated == (program == ""): // both comments state the unit, or both imply it
		if l.commentUnit != u && !l.given && (f.clash == nil || name < f.clash.(*ClashError).Log) {
			f.clash = &ClashError{
				Log:  name,
				text: fmt.Sprintf("%s states that its values are in %s, and in %s", name, l.commentUnit, u),
			}
		}
		return 0, false
	case stated:
		return 0, false
	}
	before := l.unit
	l.setUnit(u, program, bytes.Clone(text))
	if l.given {
		return 0, false
	}
	return u, l.used && before != u
}

// rowsComment begins the comment of [RowsComment].
const rowsComment = "[Rows with values in "

// RowsComment returns the comment, without #, of a log that was made of rows in a unit that the
// user gives. The log states another unit: that of its own values.
func RowsComment(u hdrlog.Unit) string { return rowsComment + u.String() + "]" }

// A ClashError says that values cannot be added up, since their units differ.
type ClashError struct {
	// Log is the log whose unit is the least certain. It is empty if all logs state their units.
	Log  string
	text string
}

func (e *ClashError) Error() string { return e.text }

// setUnit sets the unit that a comment states or, if it names a program, implies.
func (l *log) setUnit(u hdrlog.Unit, program string, comment []byte) {
	l.commentUnit = u
	l.program = program
	l.comment = comment
	if !l.given {
		l.unit = u
	}
}

// reason returns the comment that gives a log its unit, and why it does.
func (l *log) reason() string {
	text := strings.Trim(strings.TrimSpace(string(l.comment)), "#[]")
	if l.program == "" {
		return fmt.Sprintf("`%s`, as it states", text)
	}
	return fmt.Sprintf("`%s`, as %s writes", text, l.program)
}

// Add adds a log, which may have no comments.
func (f *Finder) Add(name string) { f.log(name) }

// OfLog returns the unit of a log, 0 if it is unknown.
func (f *Finder) OfLog(name string) hdrlog.Unit { return f.log(name).unit }

// Unstated returns the name of the first log, by name, that has intervals and whose unit is
// unknown. It is empty if there is no such log.
func (f *Finder) Unstated() (name string) {
	for _, l := range f.logs {
		if l.used && l.unstated() && (name == "" || l.name < name) {
			name = l.name
		}
	}
	return name
}

// Common returns the unit that a log with the values of all logs can state. It is 0 if the unit of
// a log with intervals is unknown. The error says that two logs have different units.
func (f *Finder) Common() (hdrlog.Unit, error) {
	u, err := f.Unit()
	for _, l := range f.logs {
		if l.used && l.unit == 0 {
			u = 0
		}
	}
	return u, err
}

// NumTags returns the number of tags of all logs so far.
func (f *Finder) NumTags() int { return len(f.tags) }

// Uses records that a log has an interval with a tag. A nil tag stands for untagged intervals, and
// for the sum of all tags. Call Comment first for the comments before the interval.
func (f *Finder) Uses(tag []byte, name string) {
	l := f.log(name)
	if !l.used {
		l.used = true
		f.found = nil
	}
	f.key = merge.AppendKey(f.key[:0], tag)
	if l.anyUnit && l.unit == 0 && !slices.Contains(f.mixed[string(f.key)], l) {
		if f.mixed == nil {
			f.mixed = make(map[string][]*log)
		}
		f.found = nil
		logs := append(f.mixed[string(f.key)], l)
		slices.SortFunc(logs, byName)
		f.mixed[string(f.key)] = logs[:min(len(logs), 2)]
	}
	tagLogs := f.tags[string(f.key)]
	if tagLogs == nil {
		tagLogs = &f.none
	}
	first := func(other *log) bool { return other.unit == l.unit && other.name <= l.name }
	if !slices.ContainsFunc(tagLogs.logs, first) {
		f.found = nil
		tagLogs = tagLogs.with(l)
		f.tags[string(f.key)] = tagLogs
		if len(tagLogs.logs) > 1 {
			f.several[string(f.key)] = true
		}
	}
}

// Of returns the unit of the values of a tag, from the logs that have the tag. It is 0 if no such
// log has a unit. The error says that two of them have different units.
func (f *Finder) Of(tag []byte) (hdrlog.Unit, error) {
	if tagLogs := f.tags[string(merge.AppendKey(nil, tag))]; tagLogs != nil {
		return f.agree(tagLogs.logs)
	}
	return f.agree(nil)
}

// Unit returns the unit of all logs that have one. It is 0 if no log has one. The error says that
// two logs have different units.
func (f *Finder) Unit() (hdrlog.Unit, error) {
	return f.agree(slices.SortedFunc(maps.Values(f.logs), byName))
}

func byName(a, b *log) int { return cmp.Compare(a.name, b.name) }

// agree returns the unit of logs, 0 if none of them has one, and an error if their units differ.
func (f *Finder) agree(logs []*log) (hdrlog.Unit, error) {
	u, err := smallest(logs, 0)
	if u != 0 && slices.ContainsFunc(logs, (*log).unstated) {
		u, err = smallest(logs, assumedUnit(f))
	}
	if err = cmp.Or(f.clash, err); err != nil {
		u = 0
	}
	return u, err
}

// unstated reports whether the unit of the log is unknown.
func (l *log) unstated() bool { return l.unit == 0 }

// inUnit returns the text that the values of the log are in a unit, or are taken to be.
func (l *log) inUnit(in hdrlog.Unit) string {
	if l.unstated() {
		return "taken as " + in.String()
	}
	return "in " + in.String()
}

// assumedUnit returns the unit to assume for logs whose unit is unknown: the unit of the other
// logs. A unit that the user gives one log by name does not count. If only such logs have a unit,
// assumedUnit returns nanoseconds. It returns 0 if the others have several units.
func assumedUnit(finders ...*Finder) hdrlog.Unit {
	var stating []*log
	given := false
	for _, f := range finders {
		for _, l := range f.logs {
			given = given || l.given
			if !l.given {
				stating = append(stating, l)
			}
		}
	}
	u, several := smallest(stating, 0)
	switch {
	case several != nil:
		return 0
	case u == 0 && given:
		return hdrlog.Nanosecond
	}
	return u
}

// smallest returns the smallest unit of logs, and an error if they have several. Logs whose unit is
// unknown have the unit other, and do not count if other is 0.
func smallest(logs []*log, other hdrlog.Unit) (u hdrlog.Unit, err error) {
	var first *log
	for _, l := range logs {
		in := cmp.Or(l.unit, other)
		if in == 0 {
			continue
		}
		if first == nil {
			first, u = l, in
		}
		if before := cmp.Or(first.unit, other); in != before && err == nil {
			clash := &ClashError{
				text: fmt.Sprintf("the values of %s are %s, those of %s %s", first.name, first.inUnit(before), l.name, l.inUnit(in)),
			}
			for _, candidate := range []*log{l, first} {
				if candidate.unstated() || candidate.program != "" && !candidate.given {
					clash.Log = candidate.name
				}
			}
			err = clash
		}
		if float64(in) < float64(u) {
			u = in
		}
	}
	return u, err
}

// Found is the result of several finders. Their values are shown together, but values of two
// finders do not add up.
type Found struct {
	// Unit is the smallest unit of the values, 0 if no log has one. Values in other units are whole
	// numbers of this unit.
	Unit hdrlog.Unit
	// Differ is nil, or says that some values are in another unit.
	Differ error
	// Unstated are the logs, by name, whose unit is unknown while another log has one. They are
	// taken to have the unit TakenAs, unless Unclear says that the others have several units.
	Unstated []string
	TakenAs  hdrlog.Unit
	Unclear  error
	// Doubt is nil, or says that the units of values that are added up may differ.
	Doubt error
	// Reasons are sentences. They say why logs have a unit that they do not state, and which units
	// of comments the user overrides.
	Reasons []string
}

// maxNamed is the largest number of logs that a sentence names one by one.
const maxNamed = 3

// UnstatedText returns the sentence that logs do not state their unit. It names all of a few logs,
// and otherwise the first log and the number of the others.
func (f *Found) UnstatedText() string {
	last := len(f.Unstated) - 1
	switch {
	case last < 1:
		return strings.Join(f.Unstated, "") + " does not state its unit"
	case last < maxNamed:
		return fmt.Sprintf("%s and %s do not state their units", strings.Join(f.Unstated[:last], ", "), f.Unstated[last])
	}
	return fmt.Sprintf("%s and %d more do not state their units", f.Unstated[0], last)
}

// Find returns the units of finders: those of logs with intervals, or of all logs if there are no
// intervals yet. The error says that two logs with a common tag have different units.
func Find(finders ...*Finder) (Found, error) {
	if len(finders) != 1 {
		return find(finders)
	}
	f := finders[0]
	if f.found == nil {
		found, err := find(finders)
		f.found = &outcome{found, err}
	}
	return f.found.Found, f.found.err
}

func find(finders []*Finder) (found Found, err error) {
	var all []*log
	for _, f := range finders {
		for _, l := range f.logs {
			if l.used || len(f.tags) == 0 {
				all = append(all, l)
			}
		}
		for key := range f.several {
			if _, clash := f.agree(f.tags[key].logs); clash != nil && (err == nil || clash.Error() < err.Error()) {
				err = clash
			}
		}
		err = cmp.Or(f.clash, err)
		for _, logs := range f.mixed {
			if len(logs) < 2 {
				continue
			}
			doubt := fmt.Errorf("%s and %s do not state their units, and the program that wrote them chooses it",
				logs[0].name, logs[1].name)
			if found.Doubt == nil || doubt.Error() < found.Doubt.Error() {
				found.Doubt = doubt
			}
		}
	}
	slices.SortFunc(all, byName)
	found.Reasons = reasons(finders)
	other := assumedUnit(finders...)
	if found.Unit, found.Differ = smallest(all, other); err != nil || found.Unit == 0 {
		return Found{Doubt: found.Doubt, Reasons: found.Reasons}, err
	}
	for _, l := range all {
		if l.unstated() {
			found.Unstated = append(found.Unstated, l.name)
		}
	}
	if found.Unstated != nil {
		found.Unstated = slices.Compact(found.Unstated) // several finders may have the same log
		found.TakenAs = other
		stating := slices.DeleteFunc(all, func(l *log) bool { return l.given })
		_, found.Unclear = smallest(stating, 0)
	}
	return found, nil
}

// reasons returns [Found.Reasons], a sentence for all logs with the same program and units.
func reasons(finders []*Finder) (all []string) {
	type group struct {
		program           string
		unit, commentUnit hdrlog.Unit
	}
	logs := make(map[group][]*log)
	for _, f := range finders {
		for _, l := range f.logs {
			overridden := l.given && l.commentUnit != 0 && l.commentUnit != l.unit
			if overridden || !l.given && l.program != "" {
				key := group{l.program, l.unit, l.commentUnit}
				logs[key] = append(logs[key], l)
			}
		}
	}
	for key, logs := range logs {
		slices.SortFunc(logs, byName)
		logs = slices.CompactFunc(logs, func(a, b *log) bool { return a.name == b.name }) // several finders may have the same log
		first := logs[0]
		name := first.name
		if len(logs) > 1 {
			name += fmt.Sprintf(" and %d more", len(logs)-1)
		}
		not := ""
		if key.unit != key.commentUnit {
			not = fmt.Sprintf(", as -in says, not as %s", key.commentUnit)
		}
		all = append(all, fmt.Sprintf("%s taken as %s%s: %s", name, key.unit, not, first.reason()))
	}
	slices.Sort(all)
	return all
}

// Options are the options of commands for the unit of values.
type Options struct {
	// In is the unit of all logs, 0 if the option is not given. Of has the units of single logs.
	In hdrlog.Unit
	Of []Of
	// Unit is the name of the unit to print.
	Unit string
	// Ratio is the number by which to divide values, 0 if the option is not given.
	Ratio float64
}

// Empty reports whether no option is given.
func (o *Options) Empty() bool {
	return o.In == 0 && len(o.Of) == 0 && o.Unit == "" && o.Ratio == 0
}

// An Of is the unit that the user gives the logs with a name.
type Of struct {
	Name string
	Unit hdrlog.Unit
}

// ParseIn reads a value of -in: a unit, or NAME=UNIT.
func (o *Options) ParseIn(text string) error {
	at := strings.LastIndexByte(text, '=')
	u, err := ParseOption(text[at+1:])
	switch {
	case err != nil:
		return err
	case at < 0 && o.In != 0 && o.In != u:
		return fmt.Errorf("%s and %s: all logs have one unit; NAME=UNIT gives that of one log", o.In, u)
	case at < 0:
		o.In = u
	case at == 0:
		return fmt.Errorf("%q names no log", text)
	default:
		o.Of = append(o.Of, Of{text[:at], u})
	}
	return nil
}

// Given returns the unit that the user gives a log, by its name or for all logs, and false if there
// is none.
func (o *Options) Given(log string) (hdrlog.Unit, bool) {
	u, ok := o.Named(log)
	if !ok {
		u = o.In
	}
	return u, u != 0
}

// Named returns the unit that the user gives a log by its name, and false if there is none.
func (o *Options) Named(log string) (hdrlog.Unit, bool) {
	for _, of := range o.Of {
		if of.Names(log) {
			return of.Unit, true
		}
	}
	return 0, false
}

// Names reports whether the unit is that of a log: Name is the name of the log, or the last part of
// its path.
func (of Of) Names(log string) bool { return log == of.Name || filepath.Base(log) == of.Name }

// Printed returns the unit to print, 0 if the user gives none.
func (o *Options) Printed() hdrlog.Unit {
	if o.Ratio != 0 {
		return 0
	}
	in, _ := hdrlog.ParseUnit(o.Unit)
	return in
}

// Validate returns an error if Unit must be a unit of time and is not. With a Ratio, it may be any
// text.
func (o *Options) Validate() error {
	if o.Unit == "" || o.Ratio != 0 {
		return nil
	}
	_, err := ParseOption(o.Unit)
	return err
}
