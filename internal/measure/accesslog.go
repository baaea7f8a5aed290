package measure

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"

	"hdrkit/hdrlog"
)

// accessLog is the log of nginx or Apache with a pattern from the server's configuration: see
// [nginx] and [Apache]. The pattern must have the duration of the request. Times are ends of
// requests in nginx, and starts in Apache.
//
// [nginx]: https://nginx.org/en/docs/http/ngx_http_log_module.html
// [Apache]: https://httpd.apache.org/docs/2.4/mod/mod_log_config.html
var accessLog = Format{
	Name:    "accesslog",
	columns: Columns{OK: "status"},
	detects: func(h *head) bool { return commonLine().Match(h.line) },
	open:    openAccessLog,
}

// commonLine matches the beginning of a line in the formats common and combined.
var commonLine = expression(`^\S+ \S+ .*\[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [-+]\d{4}\] "`)

// endsInTime matches the end of a line in a format to whose end $request_time was added.
var endsInTime = expression(`" \d+\.\d{3}$`)

// nginxTimed is nginx's format combined with $request_time at its end.
const nginxTimed = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $request_time`

func openAccessLog(s *setup, h *head) (fieldFinder, error) {
	if s.options.Pattern == "" {
		if !endsInTime().Match(h.line) {
			return nil, usagef("-pattern says what the fields of an access log are: the log_format " +
				"of nginx or the LogFormat of Apache, " +
				"with the time of a request, such as $request_time or %%D")
		}
		s.options.Pattern = nginxTimed
	}
	p, err := parsePattern(s.options.Pattern)
	if err != nil {
		return nil, err
	}
	if s.options.Columns.Time == "" && !s.options.NoTime {
		s.options.Columns.Time = p.firstVariable(isTime)
	}
	if s.options.Columns.Value == "" && s.options.Columns.End == "" {
		for _, finest := range durationVariables {
			s.options.Columns.Value = cmp.Or(s.options.Columns.Value, p.firstVariable(func(name string) bool { return name == finest }))
		}
	}
	switch {
	case s.options.Columns.Time == "" && !s.noTime():
		return nil, usagef("-pattern has no time such as $time_local, $msec or %%t; -time '' says that there is none")
	case s.valueColumn() == "":
		return nil, usagef("-pattern has no time that a request took, such as $request_time or %%D")
	}
	s.atEnd = !strings.HasPrefix(s.options.Columns.Time, "%") || strings.HasPrefix(s.options.Columns.Time, "%{end:")
	if s.options.Unit == 0 {
		s.options.Unit = variableUnit(s.options.Columns.Value)
	}
	return p, p.bindAll(s)
}

// patternOf returns a [Format.open] for a log whose lines have a pattern.
func patternOf(text string) func(s *setup, h *head) (fieldFinder, error) {
	return func(s *setup, _ *head) (fieldFinder, error) {
		p, err := parsePattern(text)
		if err != nil {
			return nil, err
		}
		return p, p.bindAll(s)
	}
}

// durationVariables are the variables that have the duration of a request. Variables with a finer
// unit come first.
var durationVariables = []string{"%D", "%{us}T", "%{ms}T", "request_time", "%T", "%{s}T"}

// isTime reports whether a variable is a time of the clock, and not a duration.
func isTime(name string) bool {
	return name == "msec" || name == "time_iso8601" || name == "time_local" || name[0] == '%' && strings.HasSuffix(name, "t")
}

// variableUnit returns the unit of a variable that is a duration, and 0 for other variables.
func variableUnit(name string) hdrlog.Unit {
	switch {
	case name == "%D", name == "%{us}T":
		return hdrlog.Microsecond
	case name == "%{ms}T":
		return hdrlog.Millisecond
	case name == "%T", name == "%{s}T", strings.HasSuffix(strings.TrimPrefix(name, "$"), "_time"):
		return hdrlog.Second
	}
	return 0
}

// A pattern finds the variables of a line. It is made of a log format such as "$remote_addr
// [$time_local] $request_time".
type pattern struct {
	begin []byte // text before the first variable
	items []patternItem
}

// bindAll gives each place its variable. The error names a variable that the pattern lacks.
func (p *pattern) bindAll(s *setup) error {
	for place, name := range s.names() {
		if name != "" && !p.bind(place, name) && !s.isOptional(place) {
			return usagef("-pattern has no %s", name)
		}
	}
	return nil
}

// An patternItem is a variable, and the text between the variable and the next one. In nginx,
// variables about upstream servers are lists with one element for each server: 0.036, 0.010 :
// 0.002.
type patternItem struct {
	name     string // request_time, %D
	list     bool
	after    []byte
	bindings []binding
}

// A binding puts the value of a variable into a place. derive, if it is not nil, makes the field
// from the value.
type binding struct {
	place  int
	derive func(value []byte) []byte
}

// variable matches a variable of nginx or of Apache, and %% for a percent sign.
var variable = expression(`\$\{\w+\}|\$\w+|%%|%[<>!0-9,]*(\{[^}]*\})?(\^t[io]|[A-Za-z])`)

func parsePattern(text string) (*pattern, error) {
	text = strings.ReplaceAll(text, `\"`, `"`) // the configuration of Apache has backslashes before quotes
	p := &pattern{}
	literal := &p.begin
	for len(text) > 0 {
		at := variable().FindStringIndex(text)
		if at == nil {
			at = []int{len(text), len(text)}
		}
		*literal = append(*literal, text[:at[0]]...)
		name := text[at[0]:at[1]]
		text = text[at[1]:]
		switch {
		case name == "":
			continue
		case name == "%%":
			*literal = append(*literal, '%')
			continue
		case name[0] == '%':
			name = withoutConditions(name)
		default:
			name = strings.Trim(name, "${}")
		}
		if len(p.items) > 0 && len(*literal) == 0 {
			return nil, usagef("-pattern has nothing between %s and %s", p.items[len(p.items)-1].name, name)
		}
		p.items = append(p.items, patternItem{name: name, list: strings.HasPrefix(name, "upstream_")})
		literal = &p.items[len(p.items)-1].after
	}
	return p, nil
}

// withoutConditions returns a directive of Apache without conditions: %D of %>400D.
func withoutConditions(name string) string { return "%" + strings.TrimLeft(name[1:], "<>!0123456789,") }

// firstVariable returns the first variable for which wanted returns true, empty if there is none.
func (p *pattern) firstVariable(wanted func(name string) bool) string {
	for _, item := range p.items {
		if wanted(item.name) {
			return item.name
		}
	}
	return ""
}

// aliases are names that options may use for a variable, or for what derive makes of the variable.
// If several aliases have a name, the first one whose variable the pattern has counts.
var aliases = []struct {
	name, variable string
	derive         func(value []byte) []byte
}{
	{"status", "%s", nil},
	{"method", "request_method", nil},
	{"method", "%m", nil},
	{"method", "request", methodOf},
	{"method", "%r", methodOf},
	{"path", "uri", nil},
	{"path", "%U", nil},
	{"path", "request", pathOf},
	{"path", "%r", pathOf},
	{"path", "request_uri", withoutQuery},
	{"host", "server_name", nil},
	{"host", "%v", nil},
	{"end", "stamp", secondsOf},
	{"operation", "direction", operationOf},
}

// secondsOf returns the seconds since 1970 of a text with seconds, a space and microseconds:
// 1700000000.000123 of "1700000000 123".
func secondsOf(stamp []byte) []byte {
	seconds, rest, _ := bytes.Cut(stamp, []byte(" "))
	micros, _, _ := bytes.Cut(rest, []byte(" "))
	return fmt.Appendf(nil, "%s.%06s", seconds, micros)
}

// operationOf returns the name of the operation that a data direction of fio stands for.
func operationOf(direction []byte) []byte {
	switch string(direction) {
	case "0":
		return []byte("read")
	case "1":
		return []byte("write")
	case "2":
		return []byte("trim")
	}
	return direction
}

// methodOf returns the method of a request line such as GET /path?query HTTP/1.1.
func methodOf(request []byte) []byte {
	method, _, _ := bytes.Cut(request, []byte(" "))
	return method
}

// pathOf returns the path of a request line, without the query.
func pathOf(request []byte) []byte {
	_, path, _ := bytes.Cut(request, []byte(" "))
	path, _, _ = bytes.Cut(path, []byte(" "))
	return withoutQuery(path)
}

func withoutQuery(uri []byte) []byte {
	path, _, _ := bytes.Cut(uri, []byte("?"))
	return path
}

// bind lets a place get a variable. It returns false if the pattern has neither the variable nor an
// alias.
func (p *pattern) bind(place int, name string) bool {
	add := func(name string, derive func([]byte) []byte) bool {
		for n := range p.items {
			if p.items[n].name == name {
				p.items[n].bindings = append(p.items[n].bindings, binding{place, derive})
				return true
			}
		}
		return false
	}
	if name = strings.TrimPrefix(name, "$"); strings.HasPrefix(name, "%") {
		name = withoutConditions(name)
	}
	if add(name, nil) {
		return true
	}
	for _, alias := range aliases {
		if alias.name == name && add(alias.variable, alias.derive) {
			return true
		}
	}
	return false
}

var errPattern = errors.New("the line does not fit the pattern")

func (p *pattern) find(record []byte, places [][]byte) (skip bool, err error) {
	if len(record) == 0 {
		return true, nil
	}
	rest, ok := bytes.CutPrefix(record, p.begin)
	before := p.begin
	for n := 0; n < len(p.items) && ok; n++ {
		item := &p.items[n]
		if bytes.HasSuffix(before, []byte(" ")) {
			rest = bytes.TrimLeft(rest, " ") // several spaces count as one
		}
		before = item.after
		end := len(rest)
		if len(item.after) > 0 {
			if end = item.end(rest); end < 0 {
				return false, fmt.Errorf("%w: no %s after %s", errPattern, quoted(item.after), item.name)
			}
		}
		value := rest[:end]
		rest = rest[end+len(item.after):]
		for _, b := range item.bindings {
			places[b.place] = value
			if b.derive != nil {
				places[b.place] = b.derive(value)
			}
			if b.place == timePlace {
				places[b.place] = bytes.Trim(places[b.place], "[]") // Apache's %t has brackets
			}
		}
	}
	if !ok || len(rest) > 0 {
		return false, errPattern
	}
	return false, nil
}

// end returns the index in text of the item's text after the variable, -1 if text lacks it. These
// belong to the variable: a quote behind a backslash, the space between a time and its zone, and
// separators of a list's elements.
func (i *patternItem) end(text []byte) int {
	from := 0
	switch {
	case i.name == "%t" && len(text) > 0 && text[0] == '[':
		from = bytes.IndexByte(text, ']') + 1
	case i.name == "time_local":
		from = bytes.IndexByte(text, ' ') + 1
	}
	for ; ; from++ {
		n := bytes.Index(text[from:], i.after)
		if n < 0 {
			return -1
		}
		from += n
		backslashes := from - len(bytes.TrimRight(text[:from], `\`))
		switch {
		case i.after[0] == '"' && backslashes%2 == 1:
		case i.list && i.separates(text, from):
		default:
			return from
		}
	}
}

// separates reports whether the byte at an index belongs to a separator of elements: ", " or " : ".
func (i *patternItem) separates(text []byte, at int) bool {
	if bytes.HasPrefix(text[at:], []byte(", ")) || bytes.HasPrefix(text[at:], []byte(" : ")) {
		return true
	}
	before := text[:at]
	return text[at] == ' ' && (bytes.HasSuffix(before, []byte(",")) || bytes.HasSuffix(before, []byte(" :")))
}
