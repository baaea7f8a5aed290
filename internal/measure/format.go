package measure

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/logline"
)

// A Format describes the files that a program writes: how to detect them, and how to read rows.
type Format struct {
	Name string

	columns   Columns
	unit      hdrlog.Unit // unit of values
	timeUnit  hdrlog.Unit // unit of times that are numbers, 0 if their number of digits shows it
	atEnd     bool        // times are ends of measurements, not starts
	unordered bool        // rows are not in the order of their times
	metric    string      // the metric to read if no option names one
	where     []Condition // the rows to read have these values
	// failedValue matches the text that stands in place of the value of a failed request.
	failedValue func() *regexp.Regexp

	// detects reports whether a file with this beginning has the format.
	detects func(h *head) bool
	// source returns a text with one record a line, made of the file's text. It is nil if the file
	// has one record a line already.
	source func(text io.Reader, s *setup, h *head) io.Reader
	// A format has one of these: open returns what finds the fields of a record, and payloads what
	// finds encoded histograms. open also completes the setup by what the beginning shows.
	open     func(s *setup, h *head) (fieldFinder, error)
	payloads func(s *setup) payloadFinder
}

// hasHeader returns a function that reports whether the first line names columns.
func hasHeader(names ...string) func(h *head) bool {
	return func(h *head) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(h.columns, name) })
	}
}

// hasPaths returns a function that reports whether the first line is JSON that has all paths. A
// path that ends in a dot is the path of an object. PATH=TEXT also says how the value begins.
func hasPaths(paths ...string) func(h *head) bool {
	return func(h *head) bool { return h.isJSON() && textHas(h.line, paths) }
}

// matches returns a function that reports whether a regular expression matches the first line.
func matches(text string) func(h *head) bool {
	e := expression(text)
	return func(h *head) bool { return e().Match(h.line) }
}

// expression returns a function that compiles a regular expression at its first call. Most runs
// need none of the expressions in this package.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// A head is the beginning of a file, of which formats detect their own.
type head struct {
	*beginning
	line      []byte // the first line, whole unless it is longer than maxRecord
	delimiter byte   // the byte between the columns of the line, 0 if the line has one column
	columns   []string
}

// newHead returns the head of a file. If delimiter is 0, the first line shows the delimiter.
func newHead(b *beginning, delimiter byte) *head {
	h := &head{beginning: b, line: firstLine(b.text), delimiter: delimiter}
	if delimiter == 0 {
		h.delimiter = delimiterOf(h.line)
	}
	h.columns = splitAll(h.line, h.delimiter)
	return h
}

// IsJSON reports whether a text with this beginning is JSON.
func IsJSON(begin []byte) bool {
	h := head{line: firstLine(bytes.TrimSpace(begin))}
	return h.isJSON()
}

// beginsJSON matches a line that begins an object or an array.
var beginsJSON = expression(`^(\{|\[\s*([-{\["\]\d]|true|false|null|$))`)

// isJSON reports whether the first line is JSON. The line [2024-05-01T10:00:00Z] GET / is not,
// although it begins like an array.
func (h *head) isJSON() bool {
	w := walker{separator: '.'}
	return beginsJSON().Match(h.line) && (len(h.line) >= maxRecord || w.walk(h.line, func(_, _ []byte) {}) == nil)
}

// isObject reports whether the first line is a whole JSON object.
func (h *head) isObject() bool { return h.isJSON() && h.line[0] == '{' && isValue(h.line) }

// isTable reports whether the second line has as many columns as the first line. A file of one line
// is a table, too.
func (h *head) isTable() bool {
	whole := func(text []byte) bool { return bytes.Count(text, []byte("\n")) > 1 }
	_, rest, _ := bytes.Cut(h.more(len(h.line)+maxRecord, whole), []byte("\n"))
	second := firstLine(rest)
	return len(second) == 0 || len(splitAll(second, h.delimiter)) == len(h.columns)
}

// isOnlyLine reports whether nothing follows the first line. In a pipe, it waits for more text.
func (h *head) isOnlyLine() bool {
	more := func(text []byte) bool { return len(bytes.TrimSpace(text[len(h.line):])) > 0 }
	return !more(h.more(len(h.line)+maxRecord, more))
}

// textHas reports whether text begins with JSON that has all paths, see [hasPaths].
func textHas(text []byte, paths []string) bool {
	missing := slices.Clone(paths)
	w := walker{separator: '.'}
	w.walk(text, func(path, value []byte) {
		missing = slices.DeleteFunc(missing, func(wanted string) bool {
			wanted, begin, _ := strings.Cut(wanted, "=")
			if strings.HasSuffix(wanted, ".") {
				return beginsWith(path, wanted)
			}
			return string(path) == wanted && beginsWith(value, begin)
		})
	})
	return len(missing) == 0
}

// beginsWith is [bytes.HasPrefix] for a string, without an allocation.
func beginsWith(text []byte, begin string) bool {
	return len(text) >= len(begin) && string(text[:len(begin)]) == begin
}

// Names returns the names of all formats. Formats that are variants of one another share a name.
func Names() []string {
	var names []string
	for _, f := range Formats {
		if !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

// An UnknownError says that no format detects a file. Begin is the beginning of the file's text.
type UnknownError struct {
	Begin []byte
	error
}

// choose returns the format of a file with this head. If name is not empty, the format has that
// name.
func choose(name string, h *head) (*Format, error) {
	var named []*Format
	if name == "" && IsLog(h.text) {
		return nil, errors.New("this is a HdrHistogram log already; hdrsum, hdrplot, hdrunion and hdrsplit read it")
	}
	// SummaryOf matches many expressions, so it comes after IsLog. For a log of one minute, it
	// would take 4% of the time in which hdrsum prints the percentiles.
	if name == "" && !h.isJSON() && SummaryOf(h.text) != "" {
		return nil, &UnknownError{nil, errors.New("this is a summary, without measurements")}
	}
	for n := range Formats {
		f := &Formats[n]
		if name != "" && f.Name != name {
			continue
		}
		if f.detects(h) {
			return f, nil
		}
		named = append(named, f)
	}
	switch {
	case name == "":
		return nil, &UnknownError{nil, fmt.Errorf("the format is not known from the first line %s; "+
			"-pattern says where lines have a time and a value, and -format names a format of hdrrec --help", quoted(firstNonBlankLine(h.text)))}
	case len(named) == 1: // the user knows better than detects
		return named[0], nil
	}
	return nil, fmt.Errorf("this is not %s: the first line is %s", name, quoted(h.line))
}

// IsLog reports whether a file with this beginning is a HdrHistogram log: it has an interval, or a
// line of a log's header. Each line may follow other text, also as a JSON object with the text.
func IsLog(begin []byte) bool {
	if line := firstLine(begin); len(line) > 0 && (line[0] == '{' || line[0] == '[') && !isValue(line) {
		return false // a JSON document of several lines
	}
	// A batch of the usual size would take longer than all else, for each of many files.
	r := hdrlog.ReaderOptions{BatchSize: 1 << 10}.NewReader(bytes.NewReader(begin), "")
	for record := range r.All() {
		switch {
		case record.Kind == hdrlog.StartTime, record.Kind == hdrlog.BaseTime,
			record.Kind == hdrlog.Legend && bytes.Contains(record.Text, []byte("Interval")),
			logline.IsVersion(record.Text), bytes.HasPrefix(record.Interval.Payload, []byte("HIST")):
			return true
		}
	}
	return false
}

// firstLine returns the first line without its end.
func firstLine(text []byte) []byte {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r"))
}

// firstNonBlankLine returns the first line that is not blank.
func firstNonBlankLine(text []byte) []byte { return firstLine(bytes.TrimSpace(text)) }

// quoted returns at most 60 characters of text, in quotes.
func quoted(text []byte) string { return fmt.Sprintf("%.60q", text) }
