package measure

import (
	"slices"
	"strings"
	"unicode"

	"hdrkit/hdrlog"
)

// These are usual names of columns of times and values, in lower case and without characters
// between words. A unit may follow a name: responseTimeMs, "Latency (microseconds)".
var (
	timeNames = []string{
		"timestamp", "time", "ts", "date", "datetime", "epoch", "start", "starttime",
		"unixtime", "starttimestamp", "startedat", "createdat",
	}

	valueNames = []string{
		"latency", "elapsed", "duration", "responsetime", "requesttime", "rt", "value",
		"elapsedtime", "timetaken", "took", edgeColumn,
	}
)

// unitWords are units in names of columns, besides the names that [hdrlog.ParseUnit] knows.
var unitWords = map[string]hdrlog.Unit{
	"nanos":  hdrlog.Nanosecond,
	"nsec":   hdrlog.Nanosecond,
	"micros": hdrlog.Microsecond,
	"usec":   hdrlog.Microsecond,
	"millis": hdrlog.Millisecond,
	"msec":   hdrlog.Millisecond,
	"msecs":  hdrlog.Millisecond,
	"sec":    hdrlog.Second,
	"secs":   hdrlog.Second,
}

// nameWords splits the name of a column at characters that are neither letters nor digits, and
// before a capital letter that follows a small one. The words are in lower case.
func nameWords(name string) (all []string) {
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			all = append(all, strings.ToLower(word.String()))
			word.Reset()
		}
	}
	small := false
	for _, c := range name {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) || small && unicode.IsUpper(c) {
			end()
		}
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			word.WriteRune(c)
		}
		small = unicode.IsLower(c) || unicode.IsDigit(c)
	}
	end()
	return all
}

// splitUnit returns the words of a column's name without a unit at the end, joined and in lower
// case, and the unit. The unit is 0 if the name has none.
func splitUnit(column string) (name string, u hdrlog.Unit) {
	all := nameWords(column)
	if last := len(all) - 1; last > 0 {
		var ok bool
		if u, ok = unitWords[all[last]]; !ok {
			u, ok = hdrlog.ParseUnit(all[last])
		}
		if ok {
			all = all[:last]
		}
	}
	return strings.Join(all, ""), u
}

// usualColumn returns the first column that has the first possible one of some names, empty if
// there is none.
func usualColumn(columns, names []string) string {
	for _, name := range names {
		n := slices.IndexFunc(columns, func(column string) bool {
			found, _ := splitUnit(column)
			return found == name
		})
		if n >= 0 {
			return columns[n]
		}
	}
	return ""
}

// unitIn returns the unit at the end of a column's name: latency_ms, latencyMicros, "latency (ms)"
// or ms. It returns 0 if there is none.
func unitIn(column string) hdrlog.Unit {
	name, u := splitUnit(column)
	if u == 0 {
		u, _ = hdrlog.ParseUnit(name)
	}
	return u
}
