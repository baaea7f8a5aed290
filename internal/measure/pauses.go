package measure

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"hdrkit/hdrlog"
)

// These are the logs of garbage collectors. A row is a pause, in which no thread of the program
// runs. What a collector does while the program runs has no row. Lines of the application between
// the lines of the collector are skipped.
//
// A date may stand before a line, as docker logs -t and kubectl logs --timestamps write it. It is
// the time of the line, unless the line has a date of its own.
var (
	// jvm is what [-Xlog] of OpenJDK writes. Decorations in brackets have the date, the time since
	// the start of the program, or both. A line is written at the end of its pause. Safepoints
	// have lines of their own. Of Java 8, only lines of -XX:+PrintGCApplicationStoppedTime are
	// read.
	//
	// [-Xlog]: https://openjdk.org/jeps/158
	jvm = Format{
		Name:    "jvm",
		columns: pauseColumns,
		atEnd:   true,
		detects: beginsPauses(jvmPauses, `^(\[[^\]]*\])*\[(gc|safepoint)( *|,[^\]]*)\]`),
		open:    openPauses(jvmPauses),
	}
	// gctrace is what programs in Go write with [GODEBUG=gctrace=1]. A line is a collection with
	// two pauses: the first and the third of its times. Times are starts of collections, since the
	// start of the program.
	//
	// [GODEBUG=gctrace=1]: https://pkg.go.dev/runtime#hdr-Environment_Variables
	gctrace = Format{
		Name:    "gctrace",
		columns: pauseColumns,
		detects: beginsPauses(goPauses, ""),
		open:    openPauses(goPauses),
	}
	// traceGC is what V8 writes with [--trace-gc]. A line is written at the end of its pause. The
	// value does not include steps of marking before the pause, since the line has only their sum.
	//
	// [--trace-gc]: https://nodejs.org/en/learn/diagnostics/memory/using-gc-traces
	traceGC = Format{
		Name:    "trace-gc",
		columns: pauseColumns,
		atEnd:   true,
		detects: beginsPauses(v8Pauses, ""),
		open:    openPauses(v8Pauses),
	}
)

var pauseColumns = Columns{Time: "time", Value: "pause", Tags: []string{"kind"}, unit: "unit"}

// pauseNames are the names of columns in all logs of garbage collectors.
var pauseNames = []string{"time", "pause", "unit", "kind", "reason"}

// A pauseLine describes a kind of line that has a pause.
type pauseLine struct {
	// keyword is a text in each line of the kind. find skips lines without it, since matching the
	// expression takes ten times as long.
	keyword string
	// start matches each line of the kind, also a line whose rest is damaged. The line of a
	// collection that only starts lacks the ms at its end. So a line that is cut before its ms is
	// skipped.
	start func() *regexp.Regexp
	// groups has a group for each of pauseNames. Instead of the time, it may have the groups stamp,
	// a time in the line, and date, a date before the line. A group second is another pause of the
	// line. It starts after the first pause and the time in the group marking.
	groups func() *regexp.Regexp
	// kind is the kind of pauses in lines without a group kind. secondKind is the kind of the pause
	// in the group second.
	kind, secondKind string
}

const (
	// dated matches a date before a line.
	dated = `^(?:(?P<date>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) )?`
	// decorated matches decorations, or the times of Java 8 in their place.
	decorated = dated + `(?P<stamp>(?:\[[^\]\n]*\])+ |(?:\d{4}-\d\d-\d\dT[\d:.,+-]*: )?(?:\d+[.,]\d+: )?)`
	stopped   = `Total time for which application threads were stopped: `
	goTime    = `\d{1,9}(?:\.\d+)?`
)

// jvmPauses are lines of collections, of safepoints, and of safepoints before Java 13.
var jvmPauses = []pauseLine{
	{
		keyword: "Pause ",
		start:   expression(`(?m)` + decorated + `GC\(\d+\) (?:[YyO]: )?Pause .*ms\r?$`),
		groups: expression(decorated + `GC\(\d+\) (?:[YyO]: )?Pause (?P<kind>[A-Z]\w*(?: [A-Z]\w*)*)` +
			`(?: (?P<reason>\(.*?\)))?(?: \d.*)? (?P<pause>\d+[.,]\d+)(?P<unit>ms)$`),
	},
	{
		keyword: "Safepoint ",
		start:   expression(`(?m)` + decorated + `Safepoint "`),
		groups:  expression(decorated + `Safepoint "(?P<reason>\w+)", .*\bTotal: (?P<pause>\d+) (?P<unit>ns)(?:,.*)?$`),
		kind:    "safepoint",
	},
	{
		keyword: stopped,
		start:   expression(`(?m)` + decorated + stopped),
		groups:  expression(decorated + stopped + `(?P<pause>\d+[.,]\d+) (?P<unit>seconds)(?:,.*)?$`),
		kind:    "safepoint",
	},
}

var goPauses = []pauseLine{{
	keyword: "gc ",
	start:   expression(`(?m)` + dated + `gc \d+ @\d`),
	groups: expression(dated + `gc \d+ @(?P<stamp>\d{1,9}\.\d+s) \d+%(?: \([^)]*\))?: ` +
		`(?P<pause>` + goTime + `)\+(?P<marking>` + goTime + `)\+(?P<second>` + goTime + `) (?P<unit>ms) clock, `),
	kind:       "sweep termination",
	secondKind: "mark termination",
}}

var v8Pauses = []pauseLine{{
	keyword: " ms: ",
	start:   expression(`(?m)` + dated + `\[\d+:[^\]\n]+\] +\d+ ms: (?:Scavenge|Mark-|Minor )`),
	groups: expression(dated + `\[\d+:[^\]]+\] +(?P<stamp>\d+ ms): (?P<kind>[A-Z][\w-]*(?: [A-Z][\w-]*)*) ` +
		`.* MB, (?P<pause>\d+\.\d+) / \d+\.\d+ (?P<unit>ms) (?:.*\) (?P<reason>[^()]*?)[; ]*)?$`),
}}

var allPauses = slices.Concat(jvmPauses, goPauses, v8Pauses)

// A line of a pause must stand in the first searchedBytes of a file to detect its format.
const searchedBytes = 64 << 10

// beginsPauses returns a [Format.detects] for logs with some kinds of pauses. It accepts a first
// line that matches an expression or has a pause, and a first line of an application if a line with
// a pause follows.
func beginsPauses(kinds []pauseLine, first string) func(h *head) bool {
	isFirst := expression(first)
	return func(h *head) bool {
		switch {
		case first != "" && isFirst().Match(h.line), hasPause(h.line, kinds):
			return true
		case logfmt.detects(h), usualColumn(h.columns, valueNames) != "", isMeasure(h.line),
			h.delimiter != 0 && h.isTable():
			return false // such a file has measurements of its own, and waiting for more of a pipe would delay them
		}
		some := func(text []byte) bool { return hasPause(text, allPauses) }
		return hasPause(h.more(searchedBytes, some), kinds)
	}
}

// hasPause reports whether a text has a line of some kinds.
func hasPause(text []byte, kinds []pauseLine) bool {
	return slices.ContainsFunc(kinds, func(l pauseLine) bool {
		return bytes.Contains(text, []byte(l.keyword)) && l.start().Match(text)
	})
}

// A pauseLog finds pauses in lines.
type pauseLog struct {
	kinds     []pauseLine
	names     []string // names of the columns in the order of places
	dates     timeParser
	nextPause pause // the second pause of the last line, without a length if there is none
}

// A pause has the fields of a row.
type pause struct{ time, length, unit, kind, reason []byte }

func openPauses(kinds []pauseLine) func(s *setup, h *head) (fieldFinder, error) {
	return func(s *setup, _ *head) (fieldFinder, error) {
		p := &pauseLog{kinds: kinds, names: s.names(), dates: timeParser{zone: s.options.Zone}}
		s.options.TimeUnit = hdrlog.Second
		for _, name := range p.names {
			if name != "" && !slices.Contains(pauseNames, name) {
				return nil, usagef("there is no column %s; the columns are %s", name, joined(pauseNames))
			}
		}
		return p, nil
	}
}

var errPause = errors.New("the line of a pause is damaged")

func (p *pauseLog) find(record []byte, places [][]byte) (skip bool, err error) {
	for n := range p.kinds {
		l := &p.kinds[n]
		if !bytes.Contains(record, []byte(l.keyword)) {
			continue
		}
		if found := l.groups().FindSubmatchIndex(record); found != nil {
			one, err := p.parse(l, func(name string) []byte {
				group := l.groups().SubexpIndex(name)
				if group < 0 || found[2*group] < 0 {
					return nil
				}
				return record[found[2*group]:found[2*group+1]]
			})
			p.setPlaces(one, places)
			return false, err
		}
		if l.start().Match(record) {
			return false, fmt.Errorf("%w: %s", errPause, quoted(record))
		}
	}
	return true, nil
}

// nextRow puts the second pause of the last line into the places. It implements [multiRow].
func (p *pauseLog) nextRow(places [][]byte) bool {
	if p.nextPause.length == nil {
		return false
	}
	p.setPlaces(p.nextPause, places)
	p.nextPause = pause{}
	return true
}

// setPlaces puts a pause into the places of its columns.
func (p *pauseLog) setPlaces(one pause, places [][]byte) {
	all := [][]byte{one.time, one.length, one.unit, one.kind, one.reason} // in the order of pauseNames
	for place, name := range p.names {
		places[place] = nil
		if n := slices.Index(pauseNames, name); n >= 0 {
			places[place] = all[n]
		}
	}
}

// parse returns the first pause of a line with these groups. It keeps the second pause for nextRow.
func (p *pauseLog) parse(l *pauseLine, group func(name string) []byte) (one pause, err error) {
	one = pause{
		length: withPoint(group("pause")),
		unit:   group("unit"),
		kind:   group("kind"),
		reason: group("reason"),
	}
	if l.kind != "" {
		one.kind = []byte(l.kind)
	}
	at, err := p.timeOf(group("stamp"), group("date"))
	if err != nil || !at.known {
		return one, err
	}
	if l.secondKind != "" {
		p.nextPause = one
		p.nextPause.kind = []byte(l.secondKind)
		p.nextPause.length = group("second")
		first, err1 := parseDecimal(one.length, 6)
		marking, err2 := parseDecimal(group("marking"), 6)
		second, err3 := parseDecimal(p.nextPause.length, 6)
		if err := cmp.Or(err1, err2, err3); err != nil {
			return one, err
		}
		if at.isDate { // the date is when the line was written, after both pauses
			at.ns -= first + marking + second
		}
		p.nextPause.time = inSeconds(at.ns + first + marking)
	}
	one.time = inSeconds(at.ns)
	return one, nil
}

// A moment is a time in nanoseconds, since the epoch if it was a date, and otherwise since the
// start of the program.
type moment struct {
	ns            int64
	known, isDate bool
}

// timeOf returns the time of a line: a date in its stamp, or else the date before the line, or else
// a time since the start of the program in its stamp.
func (p *pauseLog) timeOf(stamp, before []byte) (m moment, err error) {
	for part := range bytes.FieldsFuncSeq(stamp, func(c rune) bool { return c == '[' || c == ']' }) {
		for text := range bytes.SplitSeq(part, []byte(": ")) { // Java 8 separates a date and a time so
			if len(text) > 18 && text[4] == '-' {
				return p.dateOf(text)
			}
			text = withPoint(text)
			ns, known := parseDuration(text)
			if bytes.IndexByte(text, '.') >= 0 && !known { // Java 8 writes seconds without a unit
				ns, err = parseDecimal(text, 9)
				known = err == nil
			}
			if known && ns >= epochLeast {
				return moment{ns, true, true}, nil
			}
			if known && !m.known {
				m = moment{ns, true, false}
			}
		}
	}
	if before != nil {
		return p.dateOf(before)
	}
	return m, nil
}

func (p *pauseLog) dateOf(text []byte) (moment, error) {
	ns, err := p.dates.parseDate(text)
	return moment{ns, true, true}, err
}

// inSeconds returns the text of a number of seconds.
func inSeconds(ns int64) []byte { return fmt.Appendf(nil, "%d.%09d", ns/1e9, ns%1e9) }

// withPoint returns a number with a decimal point instead of the comma of some languages.
func withPoint(number []byte) []byte { return bytes.ReplaceAll(number, []byte(","), []byte(".")) }
