// Package measure reads single measurements: the requests that load generators and servers log, or
// tables of times and values. [Recorder] adds them up to an interval log.
//
// [Formats] are what a [Reader] reads. A format is an entry of that table. It says which columns
// have the time and the value, in which unit, whether the time is the start or the end of what was
// measured, and how a file begins. Four kinds of text serve most formats: a table (csv.go), lines
// of JSON (json.go), a JSON document with arrays (document.go) and a pattern (accesslog.go). A
// format whose records are no lines has a source that makes lines of them ([linesOf]): elements of
// a JSON array, samples of XML, binary records. Encoded histograms are a kind of their own
// ([payloads]).
//
// Times are nanoseconds since the epoch. Values are nanoseconds.
package measure

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/logline"
	"hdrkit/internal/base/writers"
)

// A Row is one measurement, or an encoded histogram of many. Its slices are views, valid until the
// next [Reader.Scan].
type Row struct {
	// Time is the start of what was measured, or its end, see [Reader.AtEnd].
	Time int64
	// Value is what was measured.
	Value int64
	// Count is how often it came.
	Count int64
	// Tag is the tag, in the spelling of the file: [AppendTag] makes one that a log can hold. It is
	// nil if there is none.
	Tag []byte
	// Failed is set if what was measured failed, and NoValue if it has no value then.
	Failed, NoValue bool
	// Part is set if the value is one more of a request that has another row.
	Part bool
	// Payload is the encoded histogram, nil if the row is one measurement. Length is then how long
	// it was recorded, and Time the start.
	Payload []byte
	Length  int64
}

// Options choose what to read. An empty option leaves the choice to the format.
type Options struct {
	// Columns are the names of columns.
	Columns Columns
	// NoTags is set if Tags is meant to be empty, and NoTime if Time is.
	NoTags, NoTime bool
	// Unit is the unit of values, TimeUnit that of times that are numbers.
	Unit, TimeUnit hdrlog.Unit
	// Zone is the zone of times without one.
	Zone *time.Location
	// Delimiter separates the columns of a table.
	Delimiter byte
	// Metric is a regular expression that matches the whole names of the metrics to read, where a
	// file has several.
	Metric string
	// Where says which rows to read.
	Where []Condition
	// Pattern is the format of an access log, as it stands in the configuration of the server.
	Pattern string
	// Above is the value of those above the highest edge of buckets.
	Above string
	// Start is the time that times are since, where they have no date.
	Start string
}

// Columns are the names of columns, of paths in JSON, or of variables of an access log.
type Columns struct {
	Time, Value string
	// End has the time of the end. The value is then the end less the time, and Value is empty.
	End string
	// Count has how often the value came. A file with counts needs no time.
	Count string
	// OK has whether what was measured succeeded. After a leading exclamation mark, the column has
	// the text of an error, which is empty if there is none.
	OK string
	// Tags are joined to the tag.
	Tags []string

	metric string // has the name of the metric
	unit   string // has the unit of the value, of that row
	whole  string // shows rows that contain others, see [transactions]
	part   string // is not empty in rows that others contain
	// label and thread show such rows by their order, see [parts].
	label, thread string
}

// A Format is a kind of file.
type Format struct {
	Name string

	columns   Columns
	unit      hdrlog.Unit // unit of values
	timeUnit  hdrlog.Unit // of times that are numbers, if their digits do not show it
	end       bool        // times are those of the end
	unordered bool        // rows are not in the order of time
	metric    string      // to read by default
	where     []Condition
	// failure matches what stands for the value of what failed.
	failure func() *regexp.Regexp

	// begins reports whether a file of the format can begin so.
	begins func(h *head) bool
	// source returns lines of records, made of a text that begins so. It is nil if the text has
	// such lines.
	source func(text io.Reader, s *setup, h *head) io.Reader
	// One of these reads the lines: open returns what finds the fields of a record, and payloads
	// what finds encoded histograms.
	open     func(s *setup, h *head) (fields, error)
	payloads func(s *setup) payloads
}

// hasHeader returns a function that reports whether the first line names columns.
func hasHeader(names ...string) func(h *head) bool {
	return func(h *head) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(h.columns, name) })
	}
}

// hasPaths returns a function that reports whether the first line is JSON with paths. A path that
// ends in a dot is that of an object. After an equal sign stands the beginning of the value.
func hasPaths(paths ...string) func(h *head) bool {
	return func(h *head) bool { return h.isJSON() && textHas(h.line, paths) }
}

// matches returns a function that reports whether a regular expression matches the first line.
func matches(text string) func(h *head) bool {
	e := expression(text)
	return func(h *head) bool { return e().Match(h.line) }
}

// expression has a regular expression compiled at its first use: most runs use none.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// beginsJSON matches a line that begins an object or an array.
var beginsJSON = expression(`^(\{|\[\s*([-{\["\]\d]|true|false|null|$))`)

// A head is the beginning of a file.
type head struct {
	*beginning
	line      []byte // the first one: it is whole, unless it is very long
	delimiter byte   // the byte that separates most columns of the line, 0 for one column
	columns   []string
}

// newHead returns the head of a file that begins so. If a delimiter is given, it separates columns.
func newHead(b *beginning, delimiter byte) *head {
	h := &head{beginning: b, line: firstLine(b.text), delimiter: delimiter}
	if delimiter == 0 {
		h.delimiter = delimiterOf(h.line)
	}
	h.columns = splitAll(h.line, h.delimiter)
	return h
}

// IsJSON reports whether a text that begins so is JSON.
func IsJSON(begin []byte) bool {
	h := head{line: firstLine(bytes.TrimSpace(begin))}
	return h.isJSON()
}

// isJSON reports whether the file is JSON, and isObject whether its first line is a JSON object. A
// line such as [2024-05-01T10:00:00Z] GET begins like an array, and is none.
func (h *head) isJSON() bool {
	w := walker{separator: '.'}
	return beginsJSON().Match(h.line) && (len(h.line) >= maxRecord || w.walk(h.line, func(_, _ []byte) {}) == nil)
}
func (h *head) isObject() bool { return h.isJSON() && h.line[0] == '{' && isValue(h.line) }

// isTable reports whether the second line has as many columns as the first one, if there is one.
func (h *head) isTable() bool {
	whole := func(text []byte) bool { return bytes.Count(text, []byte("\n")) > 1 }
	_, rest, _ := bytes.Cut(h.more(len(h.line)+maxRecord, whole), []byte("\n"))
	second := firstLine(rest)
	return len(second) == 0 || len(splitAll(second, h.delimiter)) == len(h.columns)
}

// alone reports whether nothing follows the first line. It waits for what follows.
func (h *head) alone() bool {
	more := func(text []byte) bool { return len(bytes.TrimSpace(text[len(h.line):])) > 0 }
	return !more(h.more(len(h.line)+maxRecord, more))
}

// textHas reports whether text begins as a JSON object with paths, see [hasPaths].
func textHas(text []byte, paths []string) bool {
	missing := slices.Clone(paths)
	w := walker{separator: '.'}
	w.walk(text, func(path, value []byte) {
		missing = slices.DeleteFunc(missing, func(mark string) bool {
			mark, begin, _ := strings.Cut(mark, "=")
			if strings.HasSuffix(mark, ".") {
				return beginsWith(path, mark)
			}
			return string(path) == mark && beginsWith(value, begin)
		})
	})
	return len(missing) == 0
}

// beginsWith is [bytes.HasPrefix] without an allocation.
func beginsWith(text []byte, begin string) bool {
	return len(text) >= len(begin) && string(text[:len(begin)]) == begin
}

// A setup is what a format is opened with: the options, completed by its defaults.
type setup struct {
	options Options
	format  *Format
	end     bool
	// ownOK and ownTags are set if the columns of OK and Tags are those of the format. A file may
	// lack them.
	ownOK, ownTags bool
	// timeless is set if rows have no time: then all are one interval.
	timeless bool
	// lists is set if a value may be a list of times, see [sumOf].
	lists  bool
	series []valuePath // the values of a document
	// unitBeside is set if each value has its unit beside it.
	unitBeside bool
	metrics    *regexp.Regexp
}

// optional reports whether a file may lack the column of a place.
func (s *setup) optional(place int) bool {
	return place == okPlace && s.ownOK || wholePlace <= place && place < countPlace || place >= s.tagPlace() && s.ownTags
}

// tagPlace is the place of the first tag.
func (s *setup) tagPlace() int { return wherePlace + len(s.options.Where) }

// fields find the fields of a record.
type fields interface {
	// find puts the fields in their places: time, value, success, metric, tags. A field that the
	// record does not have is nil. If skip is set, the record is no row, such as a header. The
	// error is errOpenQuote if the record goes on in the next line.
	find(record []byte, places [][]byte) (skip bool, err error)
}

// several are fields of records that may have another row.
type several interface {
	// again puts the fields of the next row of the record in their places, if there is one.
	again(places [][]byte) bool
}

// Formats are all formats. The first one that detects a file reads it.
var Formats = []Format{
	jtl, jtlXML, k6CSV, k6JSON, vegetaCSV, vegetaJSON, hey, ab, gatling, tsung, goYCSB, cockroach,
	oha, fortio, ghz, h2load, fio, pgbench, caddy, envoy, istio, haproxy, uwsgi, squid, accessLog, w3c,
	hyperfine, llm, aiperf, guidellm, jmh, locust, jsonArray, hist, ndjson, jvm, gctrace, traceGC, heroku, logfmt, csv, values, lines,
}

// Names are the names of formats.
func Names() []string {
	var names []string
	for _, f := range Formats {
		if !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

// An UnknownError says that a file has no known format. Begin is how it begins.
type UnknownError struct {
	Begin []byte
	error
}

// choose returns the format of a file that begins so. If a name is given, it is a format of that
// name.
func choose(name string, h *head) (*Format, error) {
	var named []*Format
	// The patterns of summaries take 4% of the percentiles of a minute, so they come second.
	if name == "" && IsLog(h.text) {
		return nil, errors.New("this is a HdrHistogram log already; hdrsum, hdrplot, hdrunion and hdrsplit read it")
	}
	if name == "" && !h.isJSON() && SummaryOf(h.text) != "" {
		return nil, &UnknownError{nil, errors.New("this is a summary, without measurements")}
	}
	for n := range Formats {
		f := &Formats[n]
		if name != "" && f.Name != name {
			continue
		}
		if f.begins(h) {
			return f, nil
		}
		named = append(named, f)
	}
	switch {
	case name == "":
		return nil, &UnknownError{nil, fmt.Errorf("the format is not known from the first line %s; "+
			"-pattern says where lines have a time and a value, and -format names a format of hdrrec --help", quote(firstText(h.text)))}
	case len(named) == 1: // the user named it, so its look does not matter
		return named[0], nil
	}
	return nil, fmt.Errorf("this is not %s: the first line is %s", name, quote(h.line))
}

// IsLog reports whether a file that begins so is a HdrHistogram log: it has an interval, or a line
// before these. Each may stand behind other text, also in an object of JSON for each line.
func IsLog(begin []byte) bool {
	if line := firstLine(begin); len(line) > 0 && (line[0] == '{' || line[0] == '[') && !isValue(line) {
		return false // a JSON document of several lines
	}
	// The usual size takes longer than all else, for each of many files.
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

// A refusedError says why a file cannot be read as it is taken: what was read is wrong.
type refusedError struct{ error }

// An OptionError is an error of [NewReader] that options mend.
type OptionError struct{ error }

// Unwrap returns the error.
func (e OptionError) Unwrap() error { return e.error }

// A UnitError is an [OptionError] of values whose unit is unknown.
type UnitError struct{ error }

func usagef(format string, args ...any) error { return OptionError{fmt.Errorf(format, args...)} }

// A Reader reads the rows of a file. It is not safe for concurrent use.
type Reader struct {
	name     string
	text     io.Reader
	format   *Format
	given    Options
	told     hdrlog.Unit // of values, see [Look]
	splitter splitter
	parser   rowParser
	parts    *parts // hold rows back; nil if the format has no labels
	tally    tally

	// Of the row that Scan advanced to, the line, and what is wrong with it, nil if nothing is.
	rowLine int
	bad     *hdrlog.SyntaxError
	ended   bool  // there is no other one
	failure error // error that ended the file, or of an option that matches nothing

	// at is the latest time so far, in milliseconds since the epoch. ahead is a time much later
	// than that, of one row only.
	at, ahead int64
}

// A rowParser makes rows of records.
type rowParser struct {
	setup    setup
	fields   fields
	several  several  // the fields, if a record may have several rows
	payloads payloads // instead of fields
	buckets  *buckets // nil if rows have no counts
	places   [][]byte
	clock    clock
	scale    int             // values times 10^scale are nanoseconds
	metrics  map[string]bool // by name, whether their rows are read
	other    int64           // rows that are not
	row      Row
	tag      []byte
}

// A tally is how many rows of a file are right, and how many malformed.
type tally struct {
	right, wrong int
	first        *hdrlog.SyntaxError // first line that is wrong
}

// Places of the fields of a row. Those of conditions and of tags follow.
const (
	timePlace = iota
	valuePlace
	okPlace
	metricPlace
	wholePlace
	partPlace
	labelPlace
	threadPlace
	unitPlace
	countPlace
	wherePlace
)

// NewReader returns a reader of the measurements in r, which may be compressed by gzip or zstd. It
// waits for the first lines. Errors call the file by name. Format is the name of a format, or empty
// for the one that the first lines show.
func NewReader(r io.Reader, name, format string, o Options) (*Reader, error) {
	b := beginningOf(r)
	reader := newReader(b, name)
	if len(b.text) == 0 {
		reader.Scan()
		return reader, reader.Err()
	}
	switch {
	case isExpression(o.Pattern) && format == "":
		format = lines.Name
	case o.Pattern != "" && format == "":
		format = accessLog.Name
	}
	h := newHead(b, o.Delimiter)
	f := &document
	var err error
	if !isPath(o.Columns.Value) || format != "" && format != document.Name {
		f, err = choose(format, h)
	}
	if err == nil {
		err = reader.open(f, h, o)
	}
	if unknown, ok := err.(*UnknownError); ok {
		unknown.Begin = b.more(4<<10, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return reader, nil
}

func newReader(text io.Reader, name string) *Reader {
	r := &Reader{
		name:  name,
		text:  text,
		at:    never,
		ahead: never,
	}
	r.splitter = splitter{scanner: bufio.NewScanner(text), lines: 1, parse: r.parser.parse}
	r.parser.metrics = make(map[string]bool)
	return r
}

// open prepares to read a format.
func (r *Reader) open(f *Format, h *head, o Options) (err error) {
	r.format = f
	r.given = o
	r.parser.setup = setup{options: o, format: f, end: f.end}
	s := &r.parser.setup
	switch {
	case o.Pattern != "" && f.Name != accessLog.Name && f.Name != lines.Name:
		return usagef("-pattern is for access logs and other lines, and this is %s", f.Name)
	case o.Metric != "" && f.columns.metric == "":
		return usagef("-metric is for files with a column of metrics, and this is %s", f.Name)
	case o.Start != "" && (f.open == nil || o.NoTime && o.Columns.Time == ""):
		return usagef("-start is for times since the start of a run, and this has none")
	case o.Above != "" && o.Columns.Count == "":
		return usagef("-above is for counts of buckets: add -count COLUMN")
	case o.Columns.End != "" && o.Columns.Value != "":
		return usagef("-value has the value, and -end makes it of two times: give one of them")
	}
	if err := s.complete(); err != nil {
		return err
	}
	r.splitter.most = maxRecord
	if f.open == nil {
		r.parser.payloads = f.payloads(s)
		r.splitter.most = hdrlog.MaxLine
	} else if r.parser.fields, err = f.open(s, h); err != nil {
		return err
	}
	if f.source != nil {
		r.splitter.scanner = bufio.NewScanner(f.source(r.text, s, h))
	}
	r.splitter.scanner.Split(r.splitter.split)
	r.splitter.scanner.Buffer(make([]byte, 256<<10), r.splitter.most+2)
	if r.parser.payloads != nil {
		return nil
	}
	r.parser.several, _ = r.parser.fields.(several)
	s.timeless = s.options.Columns.Time == ""
	s.lists = isUpstream(s.options.Columns.Value)
	if s.timeless && s.options.Columns.End != "" {
		return usagef("-end makes a value of two times, and -time has the first one")
	}
	if s.options.Columns.Count != "" {
		r.parser.buckets = &buckets{
			cumulative: s.options.Columns.Value == edge,
			last:       make(map[uint64]edgeCount),
			seed:       maphash.MakeSeed(),
		}
	}
	if t, ok := r.parser.fields.(*table); ok {
		r.splitter.closes = t.closes
	}
	r.parser.places = make([][]byte, s.tagPlace()+len(s.options.Columns.Tags))
	if s.options.Unit == 0 && s.options.Columns.End == "" && !s.unitBeside && !r.hasUnits(h) {
		return OptionError{UnitError{fmt.Errorf("the unit of the values in column %s is unknown: "+
			"add -in ns, -in us, -in ms or -in s", s.options.Columns.Value)}}
	}
	if f.columns.label != "" {
		r.parts = newParts()
	}
	r.parser.clock = clock{unit: s.options.TimeUnit, named: unitIn(s.options.Columns.Time), zone: s.options.Zone}
	if o.Start != "" {
		if err := r.parser.clock.since(o.Start); err != nil {
			return err
		}
	}
	if s.options.Unit != 0 {
		r.parser.scale = decimals(s.options.Unit)
	}
	if o.Above != "" {
		if r.parser.buckets.above, err = r.parser.parseValue([]byte(o.Above)); err != nil {
			return usagef("-above: %w", err)
		}
	}
	return nil
}

// complete sets what the options leave to the format.
func (s *setup) complete() error {
	f := s.format
	if !s.options.NoTime {
		s.options.Columns.Time = cmp.Or(s.options.Columns.Time, f.columns.Time)
	}
	if s.options.Columns.Value == "" && s.options.Columns.End == "" {
		s.options.Columns.Value, s.options.Columns.End = f.columns.Value, f.columns.End
	}
	if s.options.Columns.OK == "" {
		s.options.Columns.OK, s.ownOK = f.columns.OK, true
	}
	if s.options.Columns.Tags == nil && !s.options.NoTags {
		s.options.Columns.Tags, s.ownTags = f.columns.Tags, true
	}
	if s.options.Columns.metric = f.columns.metric; s.options.Columns.metric != "" {
		s.options.Metric = cmp.Or(s.options.Metric, f.metric)
		var err error
		if s.metrics, err = regexp.Compile("^(?:" + s.options.Metric + ")$"); err != nil {
			return usagef("-metric: %w", err)
		}
		// The values of different metrics do not add up.
		if regexp.QuoteMeta(s.options.Metric) != s.options.Metric && !slices.Contains(s.options.Columns.Tags, s.options.Columns.metric) {
			s.options.Columns.Tags = append([]string{s.options.Columns.metric}, s.options.Columns.Tags...)
		}
	}
	s.options.Columns.Count = cmp.Or(s.options.Columns.Count, f.columns.Count)
	s.options.Where = slices.Concat(f.where, s.options.Where)
	s.options.Unit = cmp.Or(s.options.Unit, f.unit)
	s.unitBeside = f.columns.unit != "" && f.columns.unit != seriesUnit
	s.options.TimeUnit = cmp.Or(s.options.TimeUnit, f.timeUnit)
	s.options.Zone = cmp.Or(s.options.Zone, time.UTC)
	return nil
}

// names returns the columns to find, in the order of places. Some may be empty.
func (s *setup) names() []string {
	c := &s.format.columns
	names := []string{
		s.options.Columns.Time, s.valueColumn(), strings.TrimPrefix(s.options.Columns.OK, "!"), s.options.Columns.metric,
		c.whole, c.part, c.label, c.thread, c.unit, s.options.Columns.Count,
	}
	for _, condition := range s.options.Where {
		names = append(names, condition.Column)
	}
	return append(names, s.options.Columns.Tags...)
}

// valueColumn returns the column that the value is made of.
func (s *setup) valueColumn() string { return cmp.Or(s.options.Columns.End, s.options.Columns.Value) }

// Name returns the name of the file.
func (r *Reader) Name() string { return r.name }

// Format returns the name of the format, empty for an empty file.
func (r *Reader) Format() string {
	if r.format == nil {
		return ""
	}
	return r.format.Name
}

// AtEnd reports whether times are those of the end of what was measured.
func (r *Reader) AtEnd() bool { return r.parser.setup.end }

// Unit returns the unit of the values of payloads, unknown if nothing states it.
func (r *Reader) Unit() hdrlog.Unit {
	if r.parser.payloads != nil {
		return r.parser.payloads.unit()
	}
	return hdrlog.Nanosecond
}

// Scan advances to the next row. It returns false at the end, and if reading fails.
func (r *Reader) Scan() bool {
	for {
		if r.parser.payloads != nil {
			if f, ok := r.parser.payloads.next(); ok {
				r.parser.row = f.row
				r.rowLine = r.splitter.line
				r.bad = r.malformed("payload", f.err)
				return true
			}
		}
		if r.parts != nil {
			if h := r.parts.next(); h != nil {
				r.parser.row = h.row
				r.rowLine = h.line
				r.bad = nil
				return r.tally.take(r.bad)
			}
		}
		if !r.again() && !r.splitter.scanner.Scan() {
			if r.ended {
				return false
			}
			if r.end() {
				return r.tally.take(r.bad)
			}
			continue
		}
		if r.splitter.skip {
			continue
		}
		r.rowLine = r.splitter.line
		r.bad = r.malformed(r.splitter.field, r.splitter.err)
		if errors.As(r.splitter.err, new(brokenError)) {
			r.ended = true
			return r.tally.take(r.bad)
		}
		if errors.As(r.splitter.err, new(refusedError)) {
			r.ended = true
			r.failure = fmt.Errorf("line %d: %w", r.splitter.line, r.splitter.err)
			return false
		}
		held := false
		if r.parts != nil && r.bad == nil {
			held = r.parts.take(&r.parser.row, r.splitter.line, r.parser.places[labelPlace], r.parser.places[threadPlace])
		}
		if !held {
			return r.tally.take(r.bad)
		}
	}
}

// again takes the next row of the last record, if it has one.
func (r *Reader) again() bool {
	p := &r.parser
	if p.several == nil || !p.several.again(p.places) {
		return false
	}
	r.splitter.skip, r.splitter.field, r.splitter.err = p.make()
	return true
}

// Bad returns what is wrong with the line that Scan advanced to, nil if nothing is.
func (r *Reader) Bad() *hdrlog.SyntaxError { return r.bad }

// Row returns the row that Scan advanced to, unless something is wrong with it. It is valid until
// the next one.
func (r *Reader) Row() *Row { return &r.parser.row }

// Timeless reports whether rows have no time.
func (r *Reader) Timeless() bool { return r.parser.setup.timeless }

// take counts a row, and what is wrong with it. It returns true.
func (t *tally) take(bad *hdrlog.SyntaxError) bool {
	switch {
	case bad == nil:
		t.right++
	case errors.Is(bad, errCut): // whose rest nobody knows
	default:
		t.wrong++
		t.first = cmp.Or(t.first, bad)
	}
	return true
}

// ErrMostly says that most rows of a file are malformed: figures of the others say little.
var ErrMostly = errors.New("rows can be read, so none is taken")

// judge returns an error if less than half of the rows are right, or if their counts cannot be. It
// is called at the end of the file. Text with histograms has other lines, too.
func (r *Reader) judge() error {
	switch {
	case r.parser.payloads != nil:
		return nil
	case r.tally.right >= r.tally.wrong && r.parser.buckets != nil:
		return r.parser.buckets.end()
	case r.tally.right >= r.tally.wrong:
		return nil
	}
	return fmt.Errorf("%d of %d %w; line %d: %s: %w", r.tally.right, r.tally.right+r.tally.wrong, ErrMostly, r.tally.first.Line, r.tally.first.Field,
		r.tally.first.Err)
}

// end takes the end of the file. It reports whether there is one more malformed row: the rest of a
// file that is broken.
func (r *Reader) end() (more bool) {
	r.ended = true
	if r.parts != nil {
		r.parts.flush()
	}
	if r.parser.payloads != nil {
		r.failure = r.parser.payloads.end()
	}
	if err := r.splitter.scanner.Err(); err != nil {
		r.failure = err
	}
	if errors.As(r.failure, new(refusedError)) {
		r.failure = fmt.Errorf("line %d: %w", r.splitter.line+r.splitter.lines, r.failure)
	}
	var rest brokenError
	if !errors.As(r.failure, &rest) {
		return false
	}
	r.failure = nil
	r.splitter.line += r.splitter.lines
	r.splitter.lines = 0
	r.rowLine = r.splitter.line
	r.bad = r.malformed("line", rest.error)
	return true
}

func (r *Reader) malformed(field string, err error) *hdrlog.SyntaxError {
	if err == nil {
		return nil
	}
	return &hdrlog.SyntaxError{File: r.name, Line: r.rowLine, Field: field, Err: err}
}

// parse makes a row of a record, unless it is to be skipped. It returns what is wrong with a field.
func (p *rowParser) parse(record []byte) (skip bool, field string, err error) {
	if p.payloads != nil {
		err := p.payloads.line(record)
		return err == nil, "line", err
	}
	if skip, err := p.fields.find(record, p.places); skip || err != nil {
		return skip, "line", err
	}
	return p.make()
}

// make makes a row of the fields in their places.
func (p *rowParser) make() (skip bool, field string, err error) {
	places, s := p.places, &p.setup
	wanted, field, err := s.wants(places)
	switch {
	case err != nil:
		return false, field, err
	case !wanted:
		p.other++
		return true, "", nil
	}
	if s.options.Columns.metric != "" && !p.wants(places[metricPlace]) {
		p.other++
		return true, "", nil
	}
	field, err = p.measure(places)
	switch {
	case err == errNoValue:
		p.other++
		return true, "", nil
	case err != nil:
		return false, field, err
	}
	p.name(places)
	p.row.Part = len(p.setup.series) > 1 && string(places[p.setup.tagPlace()]) != p.setup.series[0].tag
	if p.buckets != nil {
		if err := p.buckets.take(&p.row); err != nil {
			return false, s.options.Columns.Count, err
		}
	}
	return false, "", nil
}

// measure sets the time, the value, its count and the success of the row.
func (p *rowParser) measure(places [][]byte) (field string, err error) {
	s := &p.setup
	if places[timePlace] == nil && !s.timeless {
		return s.options.Columns.Time, hdrlog.ErrMissing
	}
	if places[valuePlace] == nil {
		return s.valueColumn(), hdrlog.ErrMissing
	}
	p.row.Time = 0
	if !s.timeless {
		if p.row.Time, err = p.clock.parse(places[timePlace]); err != nil {
			return s.options.Columns.Time, err
		}
	}
	p.row.Count = 1
	if s.options.Columns.Count != "" {
		if err := p.count(places[countPlace]); err != nil {
			return s.options.Columns.Count, err
		}
	}
	p.row.Failed = false
	if s.options.Columns.OK != "" && (len(places[okPlace]) > 0 || !s.ownOK) {
		if p.row.Failed, err = failed(places[okPlace], s.options.Columns.OK); err != nil {
			return s.options.Columns.OK, err
		}
	}
	p.row.NoValue = s.failsWithout(places)
	if p.row.NoValue {
		p.row.Failed = true
		return "", nil
	}
	if p.row.Value, err = p.value(places[valuePlace]); err != nil {
		return s.valueColumn(), err
	}
	return "", nil
}

// failsWithout reports whether a row is one of what failed, and has no value.
func (s *setup) failsWithout(places [][]byte) bool {
	if s.format.failure == nil || !s.format.failure().Match(places[valuePlace]) {
		return false
	}
	return s.options.Columns.OK == "" || len(places[okPlace]) > 0
}

// value returns the value of the row, of which the time is known.
func (p *rowParser) value(text []byte) (int64, error) {
	if unit := p.places[unitPlace]; len(unit) > 0 {
		return valueIn(text, unit)
	}
	if p.setup.options.Columns.End == "" {
		return p.parseValue(text)
	}
	end, err := p.clock.parse(text)
	if err == nil && end < p.row.Time {
		err = errors.New("the end is before the start")
	}
	return end - p.row.Time, err
}

// name sets the tag of the row.
func (p *rowParser) name(places [][]byte) {
	p.tag = p.tag[:0]
	some := false
	for n, part := range places[p.setup.tagPlace():] {
		if p.setup.ownTags && len(part) == 0 {
			continue
		}
		if n > 0 && (some || !p.setup.ownTags) {
			p.tag = append(p.tag, '/')
		}
		p.tag = append(p.tag, part...)
		some = some || len(part) > 0
	}
	if !some {
		p.tag = p.tag[:0]
	}
	if whole := places[wholePlace]; len(whole) > 0 && beginsWith(whole, transactions) {
		p.tag = appendTagPart(p.tag, some, writers.Transaction)
		some = true
	}
	if len(places[partPlace]) > 0 {
		p.tag = appendTagPart(p.tag, some, writers.SubResult)
		some = true
	}
	p.row.Tag = nil
	if some {
		p.row.Tag = p.tag
	}
}

// count reads how often the value of the row came.
func (p *rowParser) count(text []byte) (err error) {
	if text == nil {
		return hdrlog.ErrMissing
	}
	p.row.Count, err = decimal(text, 0)
	return err
}

// Try reads rows, and returns why nothing could be recorded of them. It is for a file that is not
// read to its end.
func (r *Reader) Try() error {
	const rows = 100_000
	some := false
	for n := 0; n < rows && r.Scan(); n++ {
		some = some || r.bad == nil
	}
	err := r.Err()
	if err == nil && (r.ended || r.tally.right < r.tally.wrong) {
		err = r.judge()
	}
	if err == nil && !some {
		err = errors.New("no row can be recorded")
		if r.tally.first != nil {
			err = r.tally.first.Err
		}
	}
	if err != nil {
		err = &fileError{r.name, err}
	}
	return err
}

// Line returns the number of the last line of the record that Scan advanced to.
func (r *Reader) Line() int { return r.rowLine }

// wants reports whether the rows of a metric are read. To match each takes an eighth of all time.
func (p *rowParser) wants(metric []byte) bool {
	wanted, known := p.metrics[string(metric)]
	if !known {
		wanted = p.setup.metrics.Match(metric)
		if len(p.metrics) < mostMetrics && len(metric) < hdrlog.MaxTag {
			p.metrics[string(metric)] = wanted
		}
	}
	return wanted
}

// None returns the error of a file of which no row is read: the options choose others.
func (r *Reader) None() error {
	if len(r.parser.metrics) == 0 {
		return errors.New("no row is one that -where chooses")
	}
	return fmt.Errorf("no row has a metric that -metric chooses; there are %s",
		strings.Join(slices.Sorted(maps.Keys(r.parser.metrics)), ", "))
}

// mostMetrics is how many names of metrics are kept.
const mostMetrics = 50

// Unended reports whether the last line is a row without an end, so that its last number may have
// been cut short.
func (r *Reader) Unended() bool {
	return r.splitter.unended && r.splitter.err == nil && r.parser.payloads == nil
}

// Err returns the error that ended reading, nil at the end of the file. A compressed file that is
// cut short is [hdrlog.ErrCutShort].
func (r *Reader) Err() error {
	return r.failure
}

// failed reports whether the field of OK says that something failed.
func failed(text []byte, column string) (bool, error) {
	if column[0] == '!' {
		return len(text) > 0, nil
	}
	if string(text) == "true" { // saves 4% of the time of JMeter's tables
		return false, nil
	}
	switch strings.ToLower(string(text)) {
	case "true", "1", "ok", "yes", "success", "passed":
		return false, nil
	case "false", "0", "ko", "no", "failure", "failed", "error", "-1", "000":
		return true, nil
	}
	status, err := decimal(text, 0) // of HTTP
	if err != nil || status < 100 || status > 999 {
		return false, fmt.Errorf("neither success nor failure: %s", quote(text))
	}
	return status >= 400, nil
}

// appendTagPart appends a part of a tag. More is set if others are there.
func appendTagPart(tag []byte, more bool, part string) []byte {
	if more {
		tag = append(tag, '/')
	}
	return append(tag, part...)
}

// AppendTag appends a tag that a log can hold, and the reference can read. Spaces, commas and line
// breaks become underscores.
func AppendTag(to, tag []byte) []byte {
	begin := len(to)
	to = append(to, tag[:min(len(tag), hdrlog.MaxTag)]...)
	for n, c := range to[begin:] {
		if c == ' ' || c == ',' || c == '\r' || c == '\n' {
			to[begin+n] = '_'
		}
	}
	return to
}

func firstLine(text []byte) []byte {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r"))
}

// firstText returns the first line that is not blank.
func firstText(text []byte) []byte { return firstLine(bytes.TrimSpace(text)) }

// quote returns text between quotes, cut short.
func quote(text []byte) string { return fmt.Sprintf("%.60q", text) }
