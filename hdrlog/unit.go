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

// units are the units of time with their names, and the words for them in comments.
var units = [...]struct {
	unit       Unit
	name, word string
}{
	{Nanosecond, "ns", "NANOSECONDS"},
	{Microsecond, "us", "MICROSECONDS"},
	{Millisecond, "ms", "MILLISECONDS"},
	{Second, "s", "SECONDS"},
}

// String returns the name of the unit: ns, us, ms or s. It is empty for any other unit.
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

// Comment returns the comment that states the unit, without #. It is empty if the unit has no name.
func (u Unit) Comment() string {
	for n := range units {
		if units[n].unit == u {
			return unitsComment + units[n].word
		}
	}
	return ""
}

// unitsComment begins the comment by which nosqlbench and hdrkit state the unit of a log.
const unitsComment = "UNITS:"

// A knownWriter is a program whose logs have values of a known unit. Its logs have a line that
// begins with comment. acceptsRest, if set, reports whether the rest of the line is by this
// program.
type knownWriter struct {
	comment     string
	unit        Unit
	name        string
	acceptsRest func(rest string) bool
}

// knownWriters lists the programs. Scylla-bench writes the comment of cassandra-stress too, for any
// unit: see [logline.RevokesUnit].
var knownWriters = [...]knownWriter{
	{logline.Stress, Nanosecond, "cassandra-stress", nil},
	{"[Logged with jHiccup ", Nanosecond, "jHiccup", nil},
	{"[Logging for: ", Microsecond, "YCSB", isYCSB},
}

// ycsbOperations are the operations of YCSB. Other programs write "Logging for:" too, with any
// unit.
var ycsbOperations = []string{
	"READ", "UPDATE", "INSERT", "SCAN", "READ-MODIFY-WRITE", "DELETE", "CLEANUP", "BATCH",
}

// isYCSB reports whether name, which ends with ], is a name that YCSB writes: an operation, its
// time since it should have begun (Intended-READ), a transaction (TX-READ), or failures
// (READ-FAILED).
func isYCSB(name string) bool {
	name, ok := strings.CutSuffix(name, "]")
	name = strings.TrimSpace(name)
	name = strings.TrimPrefix(name, "Intended-")
	name = strings.TrimPrefix(name, "TX-")
	name = strings.TrimSuffix(name, "-FAILED")
	return ok && slices.Contains(ycsbOperations, name)
}

// unitInWords finds the unit in a comment about values, such as "all measures are in micro
// seconds". notAboutValues matches comments about intervals or their MAX, which say nothing about
// payloads.
var (
	unitInWords    = regexp.MustCompile(`\b(?:values?|measure(?:ment)?s?|latenc(?:y|ies)|durations?)\b.* in ((?:nano|micro|milli)?)[ -]?seconds?\b`)
	notAboutValues = regexp.MustCompile(`\bintervals?\b|\bmax|\btimestamps?\b`)
)

// UnitOf returns the unit that a comment states or implies for the values of its log, or 0. The
// field MAX of intervals says nothing about the unit: writers divide it by numbers of their own.
func UnitOf(comment []byte) Unit {
	unit, _ := UnitBy(comment)
	return unit
}

// UnitBy is [UnitOf] with the name of the program that implies the unit. The name is empty if the
// comment states the unit, by #UNITS:MICROSECONDS or in a sentence about values. A stated unit
// overrides an implied one.
func UnitBy(comment []byte) (unit Unit, program string) {
	text := string(bytes.TrimSpace(bytes.TrimPrefix(comment, []byte("#"))))
	if len(text) > len(unitsComment) && strings.EqualFold(text[:len(unitsComment)], unitsComment) {
		unit, _ = ParseUnit(strings.TrimSpace(text[len(unitsComment):]))
		return unit, ""
	}
	for _, w := range knownWriters {
		rest, ok := strings.CutPrefix(text, w.comment)
		if ok && (w.acceptsRest == nil || w.acceptsRest(rest)) {
			return w.unit, w.name
		}
	}
	text = strings.ToLower(text)
	if words := unitInWords.FindStringSubmatch(text); words != nil && !notAboutValues.MatchString(text) {
		unit, _ = ParseUnit(words[1] + "seconds")
	}
	return unit, ""
}

// ParseUnit returns the unit with a name: ns, us, ms or s, or a word such as microseconds. It
// returns false if no unit has the name.
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
