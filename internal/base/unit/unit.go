// Package unit finds out the unit of the values of logs, and what to divide them by to print them
// in another unit.
//
// A log does not state its unit in a standard way. It is given by the option -in, stated by a
// comment such as #UNITS:NANOSECONDS, or implied by a comment that names a program whose unit is
// known, in this order. The field MAX of intervals says nothing: writers divide it by numbers of
// their own.
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

// units are those of time, the smallest first.
var units = []hdrlog.Unit{hdrlog.Nanosecond, hdrlog.Microsecond, hdrlog.Millisecond, hdrlog.Second}

// Names are the names of units for options.
var Names = names()

func names() (all []string) {
	for _, u := range units {
		all = append(all, u.String())
	}
	return all
}

// short are the names of units that other programs shorten in another way, without an s at the end.
var short = map[string]string{
	"nsec":  "ns",
	"nano":  "ns",
	"usec":  "us",
	"micro": "us",
	"msec":  "ms",
	"milli": "ms",
	"sec":   "s",
}

// ParseOption returns the unit that the value of an option names.
func ParseOption(name string) (hdrlog.Unit, error) {
	u, ok := hdrlog.ParseUnit(name)
	if typed := short[strings.TrimSuffix(strings.ToLower(name), "s")]; !ok && typed != "" {
		return u, fmt.Errorf("%q is spelt %s", name, typed)
	}
	if !ok {
		return u, fmt.Errorf("%q is not a unit of time, which is one of %s", name, strings.Join(Names, ", "))
	}
	return u, nil
}

// ParseValue reads a number that may have a unit, such as 20 or 20ms.
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

// A Finder finds out the unit of logs from their comments, and that of the tags of their intervals.
// Its logs are added up, tag by tag. The zero value is ready.
type Finder struct {
	// Given, if it is set, returns the unit that the user gives a log.
	Given func(name string) (hdrlog.Unit, bool)

	logs map[string]*log
	tags map[string]*users // by [merge.AppendKey]
	none users             // of a tag that is new
	key  []byte            // memory of the key that is looked up
	// several has the tags of more than one unit: rows over time ask each time, and there may be
	// many tags.
	several map[string]bool
	clash   error    // in one log
	found   *outcome // of Find, nil if something has changed since
	// mixed has the first two logs, by name, of each tag that has two whose program writes values
	// in any unit, and does not say which.
	mixed map[string][]*log
}

// An outcome is what Find returns: rows over time ask for each of them.
type outcome struct {
	Found
	err error
}

// users are the logs that use a tag: the first one of each unit, in the order of their names.
// Tags share them, since there may be a million tags in one log.
type users struct {
	logs []*log
	more map[*log]*users // these with another one
}

// with returns the users with one log more, which takes the place of one of its unit.
func (u *users) with(l *log) *users {
	if u.more == nil {
		u.more = make(map[*log]*users)
	}
	if u.more[l] == nil {
		others := slices.DeleteFunc(slices.Clone(u.logs), func(other *log) bool { return other.unit == l.unit })
		logs := append(others, l)
		slices.SortFunc(logs, byName)
		u.more[l] = &users{logs: logs}
	}
	return u.more[l]
}

// log is a log and its unit, which may be unknown.
type log struct {
	name  string
	unit  hdrlog.Unit
	used  bool   // has intervals
	given bool   // the user gives the unit
	any   bool   // the program that wrote it writes values in several units
	by    []byte // the comment that states or implies the unit, also if another is given
	// said is the unit of that comment, and program whose comment it is if it implies the unit.
	said    hdrlog.Unit
	program string
}

func (f *Finder) log(name string) *log {
	l := f.logs[name]
	if l == nil {
		if f.logs == nil {
			f.logs, f.tags = make(map[string]*log), make(map[string]*users)
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

// Comment takes a comment of a log, beginning with #. It returns the unit that the log has from now
// on, unknown if the comment changes nothing, and whether intervals of the log had another one or
// an unknown one.
func (f *Finder) Comment(name string, text []byte) (u hdrlog.Unit, late bool) {
	if l := f.logs[name]; l != nil && logline.RevokesUnit(text, l.by) && !l.used {
		f.found = nil
		l.says(0, "", nil)
		l.any = !l.given
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
	stated := l.said != 0 && l.program == ""
	switch {
	case l.said != 0 && stated == (program == ""): // both state it, or both imply it
		if l.said != u && !l.given && (f.clash == nil || name < f.clash.(*ClashError).Log) {
			f.clash = &ClashError{
				Log:  name,
				text: fmt.Sprintf("%s states that its values are in %s, and in %s", name, l.said, u),
			}
		}
		return 0, false
	case stated:
		return 0, false
	}
	before := l.unit
	l.says(u, program, bytes.Clone(text))
	if l.given {
		return 0, false
	}
	return u, l.used && before != u
}

// rowsComment begins the comment of a log of rows whose unit the user gives.
const rowsComment = "[Rows with values in "

// RowsComment returns the comment of a log that was made of rows in a unit which the user gives.
// The log states another one: that of its own values.
func RowsComment(u hdrlog.Unit) string { return rowsComment + u.String() + "]" }

// A ClashError says that values do not add up, since their units differ.
type ClashError struct {
	// Log is the log whose unit is the least sure one. It is empty if all logs state theirs.
	Log  string
	text string
}

func (e *ClashError) Error() string { return e.text }

// says notes the unit that a comment states or, if a program is named, implies.
func (l *log) says(u hdrlog.Unit, program string, comment []byte) {
	l.said = u
	l.program = program
	l.by = comment
	if !l.given {
		l.unit = u
	}
}

// reason says what shows that a log has the unit of its comment.
func (l *log) reason() string {
	text := strings.Trim(strings.TrimSpace(string(l.by)), "#[]")
	if l.program == "" {
		return fmt.Sprintf("`%s`, as it states", text)
	}
	return fmt.Sprintf("`%s`, as %s writes", text, l.program)
}

// Add adds a log, which may have no comments.
func (f *Finder) Add(name string) { f.log(name) }

// OfLog returns the unit of a log, unknown if it does not state one.
func (f *Finder) OfLog(name string) hdrlog.Unit { return f.log(name).unit }

// Unstated returns the first log, by name, that has intervals and does not state its unit. It is
// empty if there is none.
func (f *Finder) Unstated() (name string) {
	for _, l := range f.logs {
		if l.used && l.unstated() && (name == "" || l.name < name) {
			name = l.name
		}
	}
	return name
}

// Common returns the unit that a log can state which has the values of all logs: that of all which
// have intervals. It is unknown if one of them does not state its unit, and no program implies it.
// The error says that two have different ones.
func (f *Finder) Common() (hdrlog.Unit, error) {
	u, err := f.Unit()
	for _, l := range f.logs {
		if l.used && l.unit == 0 {
			u = 0
		}
	}
	return u, err
}

// Tags returns the number of tags that logs have so far.
func (f *Finder) Tags() int { return len(f.tags) }

// Uses says that a log has an interval with a tag, nil for the sum of all tags or none. The
// comments before the interval have been taken.
func (f *Finder) Uses(tag []byte, name string) {
	l := f.log(name)
	if !l.used {
		l.used = true
		f.found = nil
	}
	f.key = merge.AppendKey(f.key[:0], tag)
	if l.any && l.unit == 0 && !slices.Contains(f.mixed[string(f.key)], l) {
		if f.mixed == nil {
			f.mixed = make(map[string][]*log)
		}
		f.found = nil
		logs := append(f.mixed[string(f.key)], l)
		slices.SortFunc(logs, byName)
		f.mixed[string(f.key)] = logs[:min(len(logs), 2)]
	}
	users := f.tags[string(f.key)]
	if users == nil {
		users = &f.none
	}
	first := func(other *log) bool { return other.unit == l.unit && other.name <= l.name }
	if !slices.ContainsFunc(users.logs, first) {
		f.found = nil
		users = users.with(l)
		f.tags[string(f.key)] = users
		if len(users.logs) > 1 {
			f.several[string(f.key)] = true
		}
	}
}

// Of returns the unit of a tag's values: the one that its logs state. It is unknown if none of them
// does. If they state different units, their values do not add up, and Of returns an error.
func (f *Finder) Of(tag []byte) (hdrlog.Unit, error) {
	if users := f.tags[string(merge.AppendKey(nil, tag))]; users != nil {
		return f.agree(users.logs)
	}
	return f.agree(nil)
}

// Unit returns the unit that all logs have which state one. It is unknown if none does. If two logs
// state different units, Unit returns an error.
func (f *Finder) Unit() (hdrlog.Unit, error) {
	return f.agree(slices.SortedFunc(maps.Values(f.logs), byName))
}

func byName(a, b *log) int { return cmp.Compare(a.name, b.name) }

// agree returns the unit that logs state, unknown if none does, and an error if they do not agree.
func (f *Finder) agree(logs []*log) (hdrlog.Unit, error) {
	u, err := smallest(logs, 0)
	if u != 0 && slices.ContainsFunc(logs, (*log).unstated) {
		u, err = smallest(logs, unstated(f))
	}
	if err = cmp.Or(f.clash, err); err != nil {
		u = 0
	}
	return u, err
}

// unstated reports whether nothing says in which unit the values of the log are.
func (l *log) unstated() bool { return l.unit == 0 }

// taken says in which unit the values of the log are.
func (l *log) taken(in hdrlog.Unit) string {
	if l.unstated() {
		return "taken as " + in.String()
	}
	return "in " + in.String()
}

// unstated returns the unit of the logs that do not state theirs: the one that others state or
// imply. What the user gives a log by its name says nothing about others. If only such logs have a
// unit, that of the others is taken to be nanoseconds. It is unknown if others state several.
func unstated(finders ...*Finder) hdrlog.Unit {
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

// smallest returns the smallest unit of logs, and an error if they have several. Those that do not
// state theirs have another one, and do not count if that is unknown.
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
				text: fmt.Sprintf("the values of %s are %s, those of %s %s", first.name, first.taken(before), l.name, l.taken(in)),
			}
			for _, one := range []*log{l, first} {
				if one.unstated() || one.program != "" && !one.given {
					clash.Log = one.name
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

// Found is what some finders have found, whose values are shown together but do not add up with
// those of the others.
type Found struct {
	// Unit is the smallest unit of the values, unknown if no log states one. Values in other units
	// are whole numbers of it.
	Unit hdrlog.Unit
	// Differ is nil, or says that some values are in another unit.
	Differ error
	// Unstated are the logs, by name, that do not state their unit, while another one has one. They
	// have the unit TakenAs, unless Unclear says that others have several.
	Unstated []string
	TakenAs  hdrlog.Unit
	Unclear  error
	// Doubt is nil, or says that values add up whose units may differ.
	Doubt error
	// Reasons say why logs have a unit that they do not state, and which units that logs state or
	// imply are not theirs, since the user gives others.
	Reasons []string
}

// mostNamed is the number of logs that are all named.
const mostNamed = 3

// Unstates says which logs do not state their unit: all of a few, otherwise the first one and how
// many more.
func (f *Found) Unstates() string {
	last := len(f.Unstated) - 1
	switch {
	case last < 1:
		return strings.Join(f.Unstated, "") + " does not state its unit"
	case last < mostNamed:
		return fmt.Sprintf("%s and %s do not state their units", strings.Join(f.Unstated[:last], ", "), f.Unstated[last])
	}
	return fmt.Sprintf("%s and %d more do not state their units", f.Unstated[0], last)
}

// Find returns what finders have found about the values that they know of, or about their logs if
// they know of no values. If two logs have different units and the same tag, it returns an error.
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
	other := unstated(finders...)
	if found.Unit, found.Differ = smallest(all, other); err != nil || found.Unit == 0 {
		return Found{Doubt: found.Doubt, Reasons: found.Reasons}, err
	}
	for _, l := range all {
		if l.unstated() {
			found.Unstated = append(found.Unstated, l.name)
		}
	}
	if found.Unstated != nil {
		found.Unstated = slices.Compact(found.Unstated) // of several finders
		found.TakenAs = other
		stating := slices.DeleteFunc(all, func(l *log) bool { return l.given })
		_, found.Unclear = smallest(stating, 0)
	}
	return found, nil
}

// reasons says why logs have their units, unless they state them: a line for all logs of a program
// and a unit.
func reasons(finders []*Finder) (all []string) {
	type same struct {
		program    string
		unit, said hdrlog.Unit
	}
	logs := make(map[same][]*log)
	for _, f := range finders {
		for _, l := range f.logs {
			overridden := l.given && l.said != 0 && l.said != l.unit
			if overridden || !l.given && l.program != "" {
				of := same{l.program, l.unit, l.said}
				logs[of] = append(logs[of], l)
			}
		}
	}
	for of, logs := range logs {
		slices.SortFunc(logs, byName)
		logs = slices.CompactFunc(logs, func(a, b *log) bool { return a.name == b.name }) // of several finders
		first := logs[0]
		name := first.name
		if len(logs) > 1 {
			name += fmt.Sprintf(" and %d more", len(logs)-1)
		}
		not := ""
		if of.unit != of.said {
			not = fmt.Sprintf(", as -in says, not as %s", of.said)
		}
		all = append(all, fmt.Sprintf("%s taken as %s%s: %s", name, of.unit, not, first.reason()))
	}
	slices.Sort(all)
	return all
}

// Options are the options that say how to print values.
type Options struct {
	// In is the unit of the logs, unknown if the option is not given. Of are those of some.
	In hdrlog.Unit
	Of []Of
	// Unit is the name of the unit to print.
	Unit string
	// Ratio is what to divide values by, 0 if the option is not given.
	Ratio float64
}

// Empty reports whether no option is given.
func (o *Options) Empty() bool {
	return o.In == 0 && len(o.Of) == 0 && o.Unit == "" && o.Ratio == 0
}

// Of is the unit that the user gives the logs with a name.
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

// Given returns the unit that the user gives a log, by its name or by that of all.
func (o *Options) Given(log string) (hdrlog.Unit, bool) {
	u, ok := o.Named(log)
	if !ok {
		u = o.In
	}
	return u, u != 0
}

// Named returns the unit that the user gives a log by its name.
func (o *Options) Named(log string) (hdrlog.Unit, bool) {
	for _, of := range o.Of {
		if of.Gives(log) {
			return of.Unit, true
		}
	}
	return 0, false
}

// Gives reports whether it is the unit of a log: the name is that of the log, or the last part of
// its path.
func (of Of) Gives(log string) bool { return log == of.Name || filepath.Base(log) == of.Name }

// Printed returns the unit to print, unknown if none is given.
func (o *Options) Printed() hdrlog.Unit {
	if o.Ratio != 0 {
		return 0
	}
	in, _ := hdrlog.ParseUnit(o.Unit)
	return in
}

// Validate returns an error if the options do not go together.
func (o *Options) Validate() error {
	if o.Unit == "" || o.Ratio != 0 {
		return nil
	}
	_, err := ParseOption(o.Unit)
	return err
}
