package hdrlog

import (
	"bytes"
	"strings"
)

// units are the units of time: the name, and the word by which a comment states it.
var units = [...]struct{ name, word string }{
	{"ns", "NANOSECONDS"}, {"us", "MICROSECONDS"}, {"ms", "MILLISECONDS"}, {"s", "SECONDS"},
}

// unitsComment begins the comment that states the unit of a log. Nosqlbench writes it so.
const unitsComment = "UNITS:"

// writers are programs whose logs have values of a known unit, by the comment that they write.
// Scylla-bench writes the comment of cassandra-stress whatever its unit: see [RevokesUnit].
var writers = [...]struct{ comment, unit string }{
	{stressComment, "ns"},
	{"[Logged with jHiccup ", "ns"},
	{"[Logging for: ", "us"}, // YCSB
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
	text := string(bytes.TrimSpace(bytes.TrimPrefix(comment, []byte("#"))))
	if len(text) > len(unitsComment) && strings.EqualFold(text[:len(unitsComment)], unitsComment) {
		return ParseUnit(strings.TrimSpace(text[len(unitsComment):]))
	}
	for _, w := range writers {
		if strings.HasPrefix(text, w.comment) {
			return w.unit
		}
	}
	return ""
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
