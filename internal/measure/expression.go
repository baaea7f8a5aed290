package measure

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// lines is any text whose lines match a regular expression of the user. Groups are named time,
// value, unit, ok and tag, or options name the groups. A line is written at the end of what it
// measures.
var lines = Format{
	Name:    "lines",
	columns: Columns{unit: "unit"},
	atEnd:   true,
	detects: func(*head) bool { return false }, // only -pattern or -format chooses it
	open: func(s *setup, h *head) (fieldFinder, error) {
		if !isExpression(s.options.Pattern) {
			return nil, usagef("lines need -pattern, a regular expression with groups such as (?P<time>...) and (?P<value>...)")
		}
		return expressionOf(s.options.Pattern)(s, h)
	},
}

// isExpression reports whether a pattern is a regular expression with a named group.
func isExpression(pattern string) bool {
	return strings.Contains(pattern, "(?P<") || strings.Contains(pattern, "(?<")
}

// A matcher finds fields as groups of a regular expression.
type matcher struct {
	expression *regexp.Regexp
	groups     []int // the index of each place's group, -1 for none
}

// expressionOf returns a [Format.open] for lines that match a regular expression.
func expressionOf(text string) func(s *setup, h *head) (fieldFinder, error) {
	return func(s *setup, _ *head) (fieldFinder, error) {
		e, err := regexp.Compile(text)
		if err != nil {
			return nil, usagef("-pattern: %w", err)
		}
		return newMatcher(s, e)
	}
}

func newMatcher(s *setup, e *regexp.Regexp) (fieldFinder, error) {
	has := func(name string) bool { return slices.Contains(e.SubexpNames(), name) }
	if s.options.Columns.Time == "" && has("time") && !s.options.NoTime {
		s.options.Columns.Time = "time"
	}
	if s.options.Columns.Value == "" && s.options.Columns.End == "" {
		s.options.Columns.Value = "value"
	}
	for _, name := range []string{"ok", "status"} {
		if s.options.Columns.OK == "" && has(name) {
			s.options.Columns.OK = name
		}
	}
	if s.options.Columns.Tags == nil && !s.options.NoTags && has("tag") {
		s.options.Columns.Tags = []string{"tag"}
	}
	m := &matcher{expression: e}
	for place, name := range s.names() {
		if name != "" && !has(name) && place != unitPlace {
			return nil, usagef("-pattern has no group (?P<%s>...)", name)
		}
		m.groups = append(m.groups, slices.Index(e.SubexpNames(), name))
		if name == "" {
			m.groups[place] = -1
		}
	}
	s.rowsHaveUnits = has("unit")
	return m, nil
}

func (m *matcher) find(record []byte, places [][]byte) (skip bool, err error) {
	if len(record) == 0 {
		return true, nil
	}
	found := m.expression.FindSubmatchIndex(record)
	if found == nil {
		return false, fmt.Errorf("%w: %s", errPattern, quoted(record))
	}
	for place, group := range m.groups {
		places[place] = nil
		if group >= 0 && found[2*group] >= 0 {
			places[place] = record[found[2*group]:found[2*group+1]]
		}
	}
	return false, nil
}

// logfmt is lines of keys with values: level=info path=/a duration=1.2ms. Other text may stand
// before the keys. If no key has the time, a date in this text is the time.
var logfmt = Format{
	Name:    "logfmt",
	atEnd:   true,
	detects: matches(`^([^=]* )?[\w.-]+=("([^"\\]|\\.)*"|[^ "]*)( (ns|us|µs|ms|s|sec))? +[\w.-]+=`),
	open: func(s *setup, h *head) (fieldFinder, error) {
		keys := keysOfPairs(h.line)
		if !s.options.NoTime && s.options.Columns.Time == "" {
			s.options.Columns.Time = usualColumn(keys, timeNames)
		}
		if s.options.Columns.Value == "" && s.options.Columns.End == "" {
			s.options.Columns.Value = usualColumn(keys, valueNames)
		}
		if s.options.Columns.Time == "" && !s.noTime() || s.valueColumn() == "" {
			return nil, usagef("no usual names of a time and a value: add -time KEY, or -time '' if there is none, "+
				"and -value KEY; the keys of the first line are %s", joined(keys))
		}
		if s.options.Unit == 0 {
			s.options.Unit = unitIn(s.options.Columns.Value)
		}
		return newPairs(s), nil
	},
}

// pairs finds the values of keys in a line.
type pairs struct{ places map[string][]int }

func newPairs(s *setup) *pairs {
	p := &pairs{places: make(map[string][]int)}
	for place, name := range s.names() {
		if name != "" {
			p.places[name] = append(p.places[name], place)
		}
	}
	return p
}

func (p *pairs) find(record []byte, places [][]byte) (skip bool, err error) {
	if len(record) == 0 {
		return true, nil
	}
	clear(places)
	eachPair(record, func(key, value []byte) {
		for _, place := range p.places[string(key)] {
			places[place] = value
		}
	})
	return false, nil
}

func keysOfPairs(line []byte) (keys []string) {
	eachPair(line, func(key, _ []byte) {
		if len(keys) < maxKeys {
			keys = append(keys, string(key))
		}
	})
	return keys
}

// eachPair calls found for each key of a line, with the value without quotes. A date before the
// first key has the key time.
func eachPair(line []byte, found func(key, value []byte)) {
	before := true
	for line = bytes.TrimLeft(line, " "); len(line) > 0; line = bytes.TrimLeft(line, " ") {
		end := bytes.IndexAny(line, " =")
		if end < 0 || line[end] == ' ' {
			word := line[:max(end, 0)]
			if before && len(word) > 18 && word[4] == '-' {
				found([]byte("time"), word)
			}
			if end < 0 {
				return
			}
			line = line[end:]
			continue
		}
		before = false
		key := line[:end]
		line = line[end+1:]
		value := line
		if len(line) > 0 && line[0] == '"' {
			length := stringLength(line)
			if length == 0 {
				length = len(line)
			}
			value = unquote(line[:length])
			line = line[length:]
		} else if blank := bytes.IndexByte(line, ' '); blank >= 0 {
			blank += unitAfter(line[blank:])
			value = line[:blank]
			line = line[blank:]
		} else {
			line = nil
		}
		found(key, value)
	}
}

// unquote returns the text of a string in the syntax of JSON or Go. A string in neither syntax
// keeps its backslashes, for example a string without an end.
func unquote(quoted []byte) []byte {
	if value, _, err := cutScalar(quoted); err == nil {
		return value
	}
	if text, err := strconv.Unquote(string(quoted)); err == nil {
		return []byte(text)
	}
	return bytes.TrimSuffix(quoted[1:], []byte{'"'})
}

// unitAfter returns the length of a unit behind spaces, such as the unit in time=281.7 us. It
// returns 0 if no unit follows.
func unitAfter(rest []byte) int {
	word := bytes.TrimLeft(rest, " ")
	begin := len(rest) - len(word)
	if end := bytes.IndexByte(word, ' '); end >= 0 {
		word = word[:end]
	}
	isUnit := func(l durationUnit) bool { return l.name == string(word) }
	if !slices.ContainsFunc(durationUnits, isUnit) {
		return 0
	}
	return begin + len(word)
}
