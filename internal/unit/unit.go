// Package unit finds out the unit of the values of logs, and what to divide them by to print them
// in another unit.
//
// A log does not state its unit in a standard way. It is known from the option -in, from a comment
// such as #UNITS:NANOSECONDS, or from a comment that names a writer whose unit is known. The field
// MAX of intervals says nothing: writers divide it by numbers of their own.
package unit

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// A Unit is a unit of time. The zero value is an unknown unit.
type Unit struct {
	name        string
	nanoseconds float64
}

// Units of time.
var (
	Nanosecond  = Unit{"ns", 1}
	Microsecond = Unit{"us", 1e3}
	Millisecond = Unit{"ms", 1e6}
	Second      = Unit{"s", 1e9}
)

var all = []Unit{Nanosecond, Microsecond, Millisecond, Second}

// Names are the names of units for options.
var Names = []string{"ns", "us", "ms", "s"}

// String returns the name of the unit, empty if it is unknown.
func (u Unit) String() string { return u.name }

// Per returns the number of units u in a unit v: 1000 microseconds per millisecond.
func (u Unit) Per(v Unit) float64 { return v.nanoseconds / u.nanoseconds }

// Parse returns the unit with a name: ns, us, ms or s, or a word such as microseconds. It returns
// false if there is none.
func Parse(name string) (Unit, bool) {
	switch strings.ToLower(name) {
	case "ns", "nanosecond", "nanoseconds":
		return Nanosecond, true
	case "us", "µs", "μs", "microsecond", "microseconds":
		return Microsecond, true
	case "ms", "millisecond", "milliseconds":
		return Millisecond, true
	case "s", "second", "seconds":
		return Second, true
	}
	return Unit{}, false
}

// ParseOption returns the unit that the value of an option names.
func ParseOption(name string) (Unit, error) {
	u, ok := Parse(name)
	if !ok {
		return u, fmt.Errorf("%q is not a unit of time, which is one of %s", name, strings.Join(Names, ", "))
	}
	return u, nil
}

// writers are the writers whose unit is known, by the beginning of a comment in their logs.
// Scylla-bench, which records nanoseconds too, has the comment of cassandra-stress.
var writers = []struct {
	comment string
	unit    Unit
}{
	{"Logging op latencies for Cassandra Stress", Nanosecond},
	{"[Logged with jHiccup ", Nanosecond},
	{"[Logging for: ", Microsecond}, // YCSB
}

// ofComment returns the unit that a comment of a log states. Text begins with #.
func ofComment(text []byte) (Unit, bool) {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("#")))
	if len(text) > 6 && strings.EqualFold(string(text[:6]), "UNITS:") {
		return Parse(strings.TrimSpace(string(text[6:])))
	}
	for _, w := range writers {
		if bytes.HasPrefix(text, []byte(w.comment)) {
			return w.unit, true
		}
	}
	return Unit{}, false
}

// Comment returns a comment that states the unit, as nosqlbench writes it.
func (u Unit) Comment() string {
	return "UNITS:" + map[Unit]string{
		Nanosecond: "NANOSECONDS", Microsecond: "MICROSECONDS", Millisecond: "MILLISECONDS", Second: "SECONDS",
	}[u]
}

// A Finder finds out the unit of logs from their comments. The zero value is ready.
type Finder struct {
	found Unit
	from  string // the log that states it
	clash error
}

// Comment takes a comment of a log, beginning with #.
func (f *Finder) Comment(log string, text []byte) {
	u, ok := ofComment(text)
	switch {
	case !ok:
		return
	case f.found == Unit{}:
		f.found, f.from = u, log
	case f.found != u && f.clash == nil:
		f.clash = fmt.Errorf("the values of %s are in %s, those of %s in %s", f.from, f.found, log, u)
	}
}

// Unit returns the unit of all logs. A log that states no unit has that of the others, since their
// values are added up or drawn together. The unit is unknown if no log states it. If two logs state
// different units, Unit returns an error.
func (f *Finder) Unit() (Unit, error) {
	if f.clash != nil {
		return Unit{}, f.clash
	}
	return f.found, nil
}

// Options are the options that say how to print values.
type Options struct {
	// In is the unit of the log, unknown if the option is not given.
	In Unit
	// Unit is the name of the unit to print.
	Unit string
	// Ratio is what to divide values by, 0 if the option is not given.
	Ratio float64
}

// Validate returns an error if the options do not go together.
func (o *Options) Validate() error {
	if o.Unit != "" && o.Ratio == 0 {
		if _, err := ParseOption(o.Unit); err != nil {
			return fmt.Errorf("%w; with -ovr, -unit names any unit", err)
		}
	}
	return nil
}

// ErrAssumed is the notice that the unit of a log is unknown.
var ErrAssumed = errors.New("the log does not state its unit, so its values are taken as nanoseconds: -in names another unit")

// A Scale says how to print values.
type Scale struct {
	// Ratio is what to divide values by.
	Ratio float64
	// Name is the unit of the results, empty if it is unknown.
	Name string
	// In is the unit of the log. It is unknown if nothing states it.
	In Unit
	// Notice is nil or ErrAssumed.
	Notice error
}

// Scale returns how to print the values of a log whose unit is found, or unknown.
func (o *Options) Scale(found Unit) Scale {
	in := found
	if o.In != (Unit{}) {
		in = o.In
	}
	to, isTime := Parse(o.Unit)
	switch {
	case o.Ratio != 0:
		if isTime && in == (Unit{}) {
			in = Unit{"", to.nanoseconds / o.Ratio}
		}
		return Scale{Ratio: o.Ratio, Name: o.Unit, In: in}
	case o.Unit == "":
		return Scale{Ratio: 1, Name: in.name, In: in}
	case in == (Unit{}):
		return Scale{Ratio: Nanosecond.Per(to), Name: to.name, In: Nanosecond, Notice: ErrAssumed}
	}
	return Scale{Ratio: in.Per(to), Name: to.name, In: in}
}

// Readable returns the scale for people. If the unit of the log is known and the user asks for no
// other, that is the largest unit in which typical, a value of the log, is at least 0.05.
func (s Scale) Readable(o *Options, typical float64) Scale {
	if s.In == (Unit{}) || o.Unit != "" || o.Ratio != 0 {
		return s
	}
	best := Nanosecond
	for _, u := range all {
		if typical >= s.In.Per(u)/20 {
			best = u
		}
	}
	return Scale{Ratio: s.In.Per(best), Name: best.name, In: s.In}
}
