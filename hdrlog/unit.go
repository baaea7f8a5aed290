package hdrlog

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"hdrkit/internal/base/logline"
)

// A Unit is a unit of time in nanoseconds. The zero value is an unknown unit.
type Unit float64

// Units of time.
const (
	Nanosecond  Unit = 1
	Microsecond Unit = 1e3
	Millisecond Unit = 1e6
	Second      Unit = 1e9
)

// units are the units of time with their names, and the words by which comments state them.
var units = [...]struct {
	unit       Unit
	name, word string
}{
	{Nanosecond, "ns", "NANOSECONDS"},
	{Microsecond, "us", "MICROSECONDS"},
	{Millisecond, "ms", "MILLISECONDS"},
	{Second, "s", "SECONDS"},
}

// String returns the name of the unit: ns, us, ms or s. It is empty if the unit is another one.
func (u Unit) String() string {
	for n := range units {
		if units[n].unit == u {
			return units[n].name
		}
	}
	return ""
}

// Per returns the number of units u in a unit v: 1000 microseconds per millisecond.
func (u Unit) Per(v Unit) float64 { return float64(v) / float64(u) }

// Comment returns the comment that states the unit, as nosqlbench writes it, without #. It is empty
// if the unit has no name.
func (u Unit) Comment() string {
	for n := range units {
		if units[n].unit == u {
			return unitsComment + units[n].word
		}
	}
	return ""
}

// unitsComment begins the comment that states the unit of a log. Nosqlbench writes it so.
const unitsComment = "UNITS:"

// A writer is a program whose logs have values of a known unit. They are known from a comment, and
// from what follows in it if that is set.
type writer struct {
	comment string
	unit    Unit
	name    string
	follows func(rest string) bool
}

// Scylla-bench writes the comment of cassandra-stress whatever its unit: see [logline.RevokesUnit].
var writers = [...]writer{
	{logline.Stress, Nanosecond, "cassandra-stress", nil},
	{"[Logged with jHiccup ", Nanosecond, "jHiccup", nil},
	{"[Logging for: ", Microsecond, "YCSB", isYCSB},
}

// ycsb are the operations of YCSB. Other programs write "Logging for:" too, with any unit.
var ycsb = []string{
	"READ", "UPDATE", "INSERT", "SCAN", "READ-MODIFY-WRITE", "DELETE", "CLEANUP", "BATCH",
}

// isYCSB reports whether YCSB writes a name with ] behind it: that of an operation, of its time
// since it should have begun (Intended-READ), of a transaction (TX-READ), or of failures
// (READ-FAILED).
func isYCSB(name string) bool {
	name, ok := strings.CutSuffix(name, "]")
	name = strings.TrimSpace(name)
	name = strings.TrimPrefix(name, "Intended-")
	name = strings.TrimPrefix(name, "TX-")
	name = strings.TrimSuffix(name, "-FAILED")
	return ok && slices.Contains(ycsb, name)
}

// inWords finds the unit in a comment about values, such as "all measures are in micro seconds".
// One about intervals or their MAX says nothing of payloads.
var (
	inWords    = regexp.MustCompile(`\b(?:values?|measure(?:ment)?s?|latenc(?:y|ies)|durations?)\b.* in ((?:nano|micro|milli)?)[ -]?seconds?\b`)
	notOfThese = regexp.MustCompile(`\bintervals?\b|\bmax|\btimestamps?\b`)
)

// UnitOf returns the unit of the values of a log that has a comment. It is unknown if the comment
// does not say. The field MAX of intervals says nothing about it: writers divide it by numbers of
// their own.
func UnitOf(comment []byte) Unit {
	unit, _ := UnitBy(comment)
	return unit
}

// UnitBy is [UnitOf] with the name of the program that writes values in this unit, if the comment
// does not state the unit but is of that program. A log that states its unit has that one, whatever
// its program usually writes. It states it by #UNITS:MICROSECONDS, or in a sentence about its
// values.
func UnitBy(comment []byte) (unit Unit, program string) {
	text := string(bytes.TrimSpace(bytes.TrimPrefix(comment, []byte("#"))))
	if len(text) > len(unitsComment) && strings.EqualFold(text[:len(unitsComment)], unitsComment) {
		unit, _ = ParseUnit(strings.TrimSpace(text[len(unitsComment):]))
		return unit, ""
	}
	for _, w := range writers {
		rest, ok := strings.CutPrefix(text, w.comment)
		if ok && (w.follows == nil || w.follows(rest)) {
			return w.unit, w.name
		}
	}
	text = strings.ToLower(text)
	if words := inWords.FindStringSubmatch(text); words != nil && !notOfThese.MatchString(text) {
		unit, _ = ParseUnit(words[1] + "seconds")
	}
	return unit, ""
}

// ParseUnit returns the unit with a name: ns, us, ms or s, or a word such as microseconds. It
// returns false if there is none.
func ParseUnit(name string) (Unit, bool) {
	if name == "µs" || name == "μs" {
		return Microsecond, true
	}
	for _, u := range units {
		if strings.EqualFold(name, u.name) || strings.EqualFold(name, u.word) || strings.EqualFold(name+"s", u.word) {
			return u.unit, true
		}
	}
	return 0, false
}
