package hdrlog

import (
	"bytes"
	"slices"
	"strings"
)

// units are the units of time: the name, and the word by which a comment states it.
var units = [...]struct{ name, word string }{
	{"ns", "NANOSECONDS"}, {"us", "MICROSECONDS"}, {"ms", "MILLISECONDS"}, {"s", "SECONDS"},
}

// unitsComment begins the comment that states the unit of a log. Nosqlbench writes it so.
const unitsComment = "UNITS:"

// A writer is a program whose logs have values of a known unit. They are known from a comment, and
// from what follows in it if that is set.
type writer struct {
	comment, unit, name string
	follows             func(rest string) bool
}

// Scylla-bench writes the comment of cassandra-stress whatever its unit: see [RevokesUnit].
var writers = [...]writer{
	{stressComment, "ns", "cassandra-stress", nil},
	{"[Logged with jHiccup ", "ns", "jHiccup", nil},
	{"[Logging for: ", "us", "YCSB", isYCSB},
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

const stressComment = "Logging op latencies for Cassandra Stress"

// IsBaseTime reports whether a comment has the time from which starts count.
func IsBaseTime(comment []byte) bool {
	_, ok := cutPrefixFold(comment, "#[BaseTime:")
	return ok
}

// RevokesUnit reports whether a comment shows that another comment of the same log, which comes
// before it, does not say the unit: scylla-bench writes that of cassandra-stress for values in
// microseconds too, and is known from its spelling of BaseTime.
func RevokesUnit(comment, before []byte) bool {
	return bytes.HasPrefix(comment, []byte("#[Basetime:")) && bytes.HasPrefix(before, []byte("#"+stressComment))
}

// Unit returns the unit of the values of a log that has a comment: ns, us, ms or s. It is empty if
// the comment does not say. The field MAX of intervals says nothing about it: writers divide it by
// numbers of their own.
func Unit(comment []byte) string {
	unit, _ := UnitBy(comment)
	return unit
}

// UnitBy is [Unit] with the name of the program that writes values in this unit, if the comment
// does not state the unit but is of that program. A log that states its unit has that one, whatever
// its program usually writes.
func UnitBy(comment []byte) (unit, program string) {
	text := string(bytes.TrimSpace(bytes.TrimPrefix(comment, []byte("#"))))
	if len(text) > len(unitsComment) && strings.EqualFold(text[:len(unitsComment)], unitsComment) {
		return ParseUnit(strings.TrimSpace(text[len(unitsComment):])), ""
	}
	for _, w := range writers {
		rest, ok := strings.CutPrefix(text, w.comment)
		if ok && (w.follows == nil || w.follows(rest)) {
			return w.unit, w.name
		}
	}
	return "", ""
}

// ParseUnit returns the unit with a name, such as us or microseconds: ns, us, ms or s. It is empty
// if there is none.
func ParseUnit(name string) string {
	switch name {
	case "µs", "μs":
		return "us"
	}
	for _, u := range units {
		if strings.EqualFold(name, u.name) || strings.EqualFold(name, u.word) || strings.EqualFold(name+"s", u.word) {
			return u.name
		}
	}
	return ""
}

// UnitComment returns the comment that states a unit that [ParseUnit] knows, without #.
func UnitComment(unit string) string {
	for _, u := range units {
		if u.name == ParseUnit(unit) {
			return unitsComment + u.word
		}
	}
	return ""
}
