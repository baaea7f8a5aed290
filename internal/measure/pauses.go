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

// These are the logs of garbage collectors. A row is a pause: a time in which no thread of the
// program runs. What a collector does while the program runs is none. Lines of an application may
// stand between those of the collector: they are no rows, and no fault.
//
// A date may stand before a line, as docker logs -t and kubectl logs --timestamps put it there.
// Then it is the time, unless the line has a date of its own.
var (
	// jvm is what -Xlog of OpenJDK writes: https://openjdk.org/jeps/158. Decorations in brackets
	// may have the date, the time since the start of the program, or both. A line is written at the
	// end of its pause. Safepoints have lines of their own. Java 8 writes those with
	// -XX:+PrintGCApplicationStoppedTime, and its lines of collections are not read.
	jvm = Format{
		Name:    "jvm",
		columns: pauseColumns,
		atEnd:   true,
		detects: beginsPauses(jvmPauses, `^(\[[^\]]*\])*\[(gc|safepoint)( *|,[^\]]*)\]`),
		open:    openPauses(jvmPauses),
	}
	// gctrace is what programs in Go write with GODEBUG=gctrace=1:
	// https://pkg.go.dev/runtime#hdr-Environment_Variables. A line is a collection: the first and
	// the third time of its clock are pauses. Times are those of their starts, since the start of
	// the program.
	gctrace = Format{
		Name:    "gctrace",
		columns: pauseColumns,
		detects: beginsPauses(goPauses, ""),
		open:    openPauses(goPauses),
	}
	// traceGC is what V8 writes with --trace-gc: https://nodejs.org/en/learn/diagnostics/memory/using-gc-traces.
	// A line is written at the end of its pause. Steps of marking before the pause are not in the
	// value: the line has only their sum.
	traceGC = Format{
		Name:    "trace-gc",
		columns: pauseColumns,
		atEnd:   true,
		detects: beginsPauses(v8Pauses, ""),
		open:    openPauses(v8Pauses),
	}
)

// pauseColumns are columns of [pauseNames].
var pauseColumns = Columns{Time: "time", Value: "pause", Tags: []string{"kind"}, unit: "unit"}

// pauseNames are the columns of all logs of garbage collectors.
var pauseNames = []string{"time", "pause", "unit", "kind", "reason"}

// A pauseLine is a kind of line that has a pause.
type pauseLine struct {
	// mark is in each such line. Lines without it are skipped: to match the expression takes ten
	// times as long.
	mark string
	// begins matches each such line, also if the rest is damaged. A collection that only starts has
	// no ms at its end, so a line that is cut before its ms is skipped like one.
	start func() *regexp.Regexp
	// whole has a group for each column. Group stamp has when it was, in place of the time, and
	// group date what stands before the line. If there is a group second, that is another pause: it
	// begins when the one before has ended, and marking has taken its time.
	whole func() *regexp.Regexp
	// kind is that of pauses without a group for it, and secondKind that of second.
	kind, secondKind string
}

const (
	// dated matches what may stand before a line.
	dated = `^(?:(?P<date>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) )?`
	// decorated matches decorations, or what Java 8 has in their place.
	decorated = dated + `(?P<stamp>(?:\[[^\]\n]*\])+ |(?:\d{4}-\d\d-\d\dT[\d:.,+-]*: )?(?:\d+[.,]\d+: )?)`
	stopped   = `Total time for which application threads were stopped: `
	goTime    = `\d{1,9}(?:\.\d+)?`
)

// jvmPauses are lines of collections, of safepoints, and of safepoints before Java 13.
var jvmPauses = []pauseLine{
	{
		mark:  "Pause ",
		start: expression(`(?m)` + decorated + `GC\(\d+\) (?:[YyO]: )?Pause .*ms\r?$`),
		whole: expression(decorated + `GC\(\d+\) (?:[YyO]: )?Pause (?P<kind>[A-Z]\w*(?: [A-Z]\w*)*)` +
			`(?: (?P<reason>\(.*?\)))?(?: \d.*)? (?P<pause>\d+[.,]\d+)(?P<unit>ms)$`),
	},
	{
		mark:  "Safepoint ",
		start: expression(`(?m)` + decorated + `Safepoint "`),
		whole: expression(decorated + `Safepoint "(?P<reason>\w+)", .*\bTotal: (?P<pause>\d+) (?P<unit>ns)(?:,.*)?$`),
		kind:  "safepoint",
	},
	{
		mark:  stopped,
		start: expression(`(?m)` + decorated + stopped),
		whole: expression(decorated + stopped + `(?P<pause>\d+[.,]\d+) (?P<unit>seconds)(?:,.*)?$`),
		kind:  "safepoint",
	},
}

var goPauses = []pauseLine{{
	mark:  "gc ",
	start: expression(`(?m)` + dated + `gc \d+ @\d`),
	whole: expression(dated + `gc \d+ @(?P<stamp>\d{1,9}\.\d+s) \d+%(?: \([^)]*\))?: ` +
		`(?P<pause>` + goTime + `)\+(?P<marking>` + goTime + `)\+(?P<second>` + goTime + `) (?P<unit>ms) clock, `),
	kind:       "sweep termination",
	secondKind: "mark termination",
}}

var v8Pauses = []pauseLine{{
	mark:  " ms: ",
	start: expression(`(?m)` + dated + `\[\d+:[^\]\n]+\] +\d+ ms: (?:Scavenge|Mark-|Minor )`),
	whole: expression(dated + `\[\d+:[^\]]+\] +(?P<stamp>\d+ ms): (?P<kind>[A-Z][\w-]*(?: [A-Z][\w-]*)*) ` +
		`.* MB, (?P<pause>\d+\.\d+) / \d+\.\d+ (?P<unit>ms) (?:.*\) (?P<reason>[^()]*?)[; ]*)?$`),
}}

var allPauses = slices.Concat(jvmPauses, goPauses, v8Pauses)

// amongFirst is how many bytes at the beginning of a file have a line of a pause, or the format is
// not known without an option.
const searchedBytes = 64 << 10

// beginsPauses returns a function that reports whether the first line matches an expression, or is
// that of a pause, or one of an application with such a line behind it.
func beginsPauses(kinds []pauseLine, first string) func(h *head) bool {
	isFirst := expression(first)
	return func(h *head) bool {
		switch {
		case first != "" && isFirst().Match(h.line), hasPause(h.line, kinds):
			return true
		case logfmt.detects(h), usualColumn(h.columns, valueNames) != "", isMeasure(h.line),
			h.delimiter != 0 && h.isTable():
			return false // waiting for more of a pipe would hold up its rows
		}
		some := func(text []byte) bool { return hasPause(text, allPauses) }
		return hasPause(h.more(searchedBytes, some), kinds)
	}
}

// hasPause reports whether a text has a line that begins as one of some kinds.
func hasPause(text []byte, kinds []pauseLine) bool {
	return slices.ContainsFunc(kinds, func(l pauseLine) bool {
		return bytes.Contains(text, []byte(l.mark)) && l.start().Match(text)
	})
}

// A pauseLog finds pauses in lines.
type pauseLog struct {
	kinds     []pauseLine
	names     []string // of places
	dates     timeParser
	nextPause pause // of the last line, without a length if there is none
}

// A onePause has the fields of a pause.
type pause struct{ time, length, unit, kind, reason []byte }

func openPauses(kinds []pauseLine) func(s *setup, h *head) (fieldFinder, error) {
	return func(s *setup, _ *head) (fieldFinder, error) {
		p := &pauseLog{kinds: kinds, names: s.names(), dates: timeParser{zone: s.options.Zone}}
		s.options.TimeUnit = hdrlog.Second
		for _, name := range p.names {
			if name != "" && !slices.Contains(pauseNames, name) {
				return nil, usagef("there is no column %s; the columns are %s", name, list(pauseNames))
			}
		}
		return p, nil
	}
}

var errPause = errors.New("the line of a pause is damaged")

func (p *pauseLog) find(record []byte, places [][]byte) (skip bool, err error) {
	for n := range p.kinds {
		l := &p.kinds[n]
		if !bytes.Contains(record, []byte(l.mark)) {
			continue
		}
		if found := l.whole().FindSubmatchIndex(record); found != nil {
			one, err := p.parse(l, func(name string) []byte {
				group := l.whole().SubexpIndex(name)
				if group < 0 || found[2*group] < 0 {
					return nil
				}
				return record[found[2*group]:found[2*group+1]]
			})
			p.put(one, places)
			return false, err
		}
		if l.start().Match(record) {
			return false, fmt.Errorf("%w: %s", errPause, quote(record))
		}
	}
	return true, nil
}

// again puts the other pause of the last line in the places. It returns false if there is none.
func (p *pauseLog) nextRow(places [][]byte) bool {
	if p.nextPause.length == nil {
		return false
	}
	p.put(p.nextPause, places)
	p.nextPause = pause{}
	return true
}

// put puts a pause in the places of its columns.
func (p *pauseLog) put(one pause, places [][]byte) {
	all := [][]byte{one.time, one.length, one.unit, one.kind, one.reason} // as pauseNames
	for place, name := range p.names {
		places[place] = nil
		if n := slices.Index(pauseNames, name); n >= 0 {
			places[place] = all[n]
		}
	}
}

// take returns the pause of a line that has such groups. It keeps a second pause of the line for
// the next call of again.
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
	at, err := p.moment(group("stamp"), group("date"))
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
		if at.isDate { // of the line, which is written at the end
			at.ns -= first + marking + second
		}
		p.nextPause.time = inSeconds(at.ns + first + marking)
	}
	one.time = inSeconds(at.ns)
	return one, nil
}

// A moment is a time in nanoseconds: since the epoch if it was a date, else since the start of the
// program.
type moment struct {
	ns            int64
	known, isDate bool
}

// moment returns the time of a line: a date in its stamp, or else the one before the line, or else
// a time since the start of the program in its stamp.
func (p *pauseLog) moment(stamp, before []byte) (m moment, err error) {
	for part := range bytes.FieldsFuncSeq(stamp, func(c rune) bool { return c == '[' || c == ']' }) {
		for text := range bytes.SplitSeq(part, []byte(": ")) { // as Java 8 has them
			if len(text) > 18 && text[4] == '-' {
				return p.dated(text)
			}
			text = withPoint(text)
			ns, known := parseDuration(text)
			if bytes.IndexByte(text, '.') >= 0 && !known { // seconds, of Java 8
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
		return p.dated(before)
	}
	return m, nil
}

// dated returns the time of a date.
func (p *pauseLog) dated(text []byte) (moment, error) {
	ns, err := p.dates.parseDate(text)
	return moment{ns, true, true}, err
}

// inSeconds returns nanoseconds as seconds.
func inSeconds(ns int64) []byte { return fmt.Appendf(nil, "%d.%09d", ns/1e9, ns%1e9) }

// withPoint returns a number with a point, where the language of the system has a comma.
func withPoint(number []byte) []byte { return bytes.ReplaceAll(number, []byte(","), []byte(".")) }
