package measure

import (
	"slices"
	"strings"
	"unicode"

	"hdrkit/hdrlog"
)

// Names of columns that have the time or the value if no option names one: in small letters, and
// without what separates words. A unit may follow: responseTimeMs, "Latency (microseconds)".
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

// unitWords are words of a name that are units, beside the names that package unit knows.
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

// words splits the name of a column: at what is no letter and no digit, and before a capital letter
// behind a small one.
func words(name string) (all []string) {
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

// named returns the name of a column without its unit, as it stands in [timeNames] and
// [valueNames], and the unit.
func splitUnit(column string) (name string, u hdrlog.Unit) {
	all := words(column)
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

// likely returns the first of some names that the columns have, nothing if they have none.
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

// unitIn returns the unit that the name of a column ends in: latency_ms, latencyMicros, "latency
// (ms)", or that it is: ms. It is unknown if there is none.
func unitIn(column string) hdrlog.Unit {
	name, u := splitUnit(column)
	if u == 0 {
		u, _ = hdrlog.ParseUnit(name)
	}
	return u
}
