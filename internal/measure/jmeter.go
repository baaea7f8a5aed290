package measure

import (
	"bufio"
	"bytes"
	"cmp"
	stdcsv "encoding/csv"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/writers"
)

// jtl and jtlXML are what JMeter writes with -l results.jtl: CSV with a header and any delimiter,
// or XML; see the [manual]. Times are starts of requests, as the default of
// sampleresult.timestamp.start says. A transaction controller has a row beside the rows of its
// requests. A request may have rows of sub-results, for example of its redirects.
//
// [manual]: https://jmeter.apache.org/usermanual/listeners.html#csvlogformat
var (
	jtl = Format{
		Name: "jtl",
		columns: Columns{
			Time:        "timeStamp",
			Value:       "elapsed",
			OK:          "success",
			Tags:        []string{"label"},
			transaction: "responseMessage",
			label:       "label",
			thread:      "threadName",
		},
		unit:    hdrlog.Millisecond,
		detects: hasHeader("timeStamp", "elapsed"),
		open:    openTable,
	}
	jtlXML = Format{
		Name: "jtl",
		columns: Columns{
			Time:        "timeStamp",
			Value:       "elapsed",
			OK:          "success",
			Tags:        []string{"label"},
			transaction: "responseMessage",
			subResult:   "subResult",
		},
		unit: hdrlog.Millisecond,
		detects: func(h *head) bool {
			begin := []byte("<testResults")
			return len(h.line) > 0 && h.line[0] == '<' &&
				bytes.Contains(h.more(4<<10, func(text []byte) bool { return bytes.Contains(text, begin) }), begin)
		},
		source: newSampleReader,
		open: func(s *setup, h *head) (fieldFinder, error) {
			h.delimiter = ','
			h.columns = sampleNames()
			return newTable(s, h, h.columns, nil)
		},
	}
)

// transactions is the beginning of a transaction controller's response message.
const transactions = "Number of samples in transaction : "

// sampleColumns are the attributes of a sample in XML, with the columns of CSV that have the same
// content. The last column has no attribute.
var sampleColumns = []struct{ attribute, column string }{
	{"ts", "timeStamp"}, {"t", "elapsed"}, {"lb", "label"}, {"rc", "responseCode"},
	{"rm", "responseMessage"}, {"tn", "threadName"}, {"dt", "dataType"}, {"s", "success"},
	{"by", "bytes"}, {"sby", "sentBytes"}, {"ng", "grpThreads"}, {"na", "allThreads"},
	{"lt", "Latency"}, {"it", "IdleTime"}, {"ct", "Connect"}, {"hn", "Hostname"},
	{"", "subResult"},
}

func sampleNames() (names []string) {
	for _, c := range sampleColumns {
		names = append(names, c.column)
	}
	return names
}

// A sampleReader makes a row of each sample in XML. A sample inside another one is its sub-result,
// unless the outer sample is a transaction. The sampleReader parses tags only. The text between
// tags is what servers sent, and often not XML (for example &#x0; in binary data). There
// encoding/xml ends with an error.
type sampleReader struct {
	text        *bufio.Reader
	tag         []byte // the current tag without its brackets
	endedLines  int    // number of line ends that were read
	openSamples []bool // for each open sample, whether it is a transaction
	row         []string
}

func newSampleReader(text io.Reader, _ *setup, _ *head) io.Reader {
	s := &sampleReader{text: bufio.NewReader(text)}
	return &linesOf{next: s.append}
}

// isSample reports whether the name of an element is the name of samples.
func isSample(name string) bool { return name == "httpSample" || name == "sample" }

// append appends the row of the next sample. It is the function next of a [linesOf].
func (s *sampleReader) append(line []byte) (_ []byte, ended int, _ error) {
	for {
		err := s.nextTag()
		if err == io.EOF || err == errElement {
			return line, s.endedLines, broken(err)
		}
		if err != nil {
			return line, s.endedLines, err
		}
		name, attributes, _ := strings.Cut(string(s.tag), " ")
		switch {
		case name == "/testResults":
			return line, 0, io.EOF
		case isSample(name) && len(s.openSamples) == maxDepth:
			return line, s.endedLines, broken(errNested)
		case isSample(name):
			return s.sample(line, attributes), s.endedLines, nil
		case name != "" && name[0] == '/' && isSample(name[1:]) && len(s.openSamples) > 0:
			s.openSamples = s.openSamples[:len(s.openSamples)-1]
		}
	}
}

var errNested = fmt.Errorf("samples are more than %d deep in others", maxDepth)

// tagBegins are the characters after the bracket of a tag, in lower case.
const tagBegins = "abcdefghijklmnopqrstuvwxyz!/?"

// nextTag reads to the end of the next tag. White space in the tag becomes spaces.
func (s *sampleReader) nextTag() error {
	if err := s.skip("<"); err != nil {
		return err
	}
	s.tag = s.tag[:0]
	quote := byte(0)
	for {
		c, err := s.text.ReadByte()
		if err != nil {
			return err
		}
		switch {
		case len(s.tag) == 0 && bytes.IndexByte([]byte(tagBegins), c|0x20) < 0:
			return s.text.UnreadByte() // the bracket is no tag
		case c == '\n':
			s.endedLines++
			c = ' '
		case c == '\r', c == '\t':
			c = ' '
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && c == '>':
			return nil
		case quote == 0 && (c == '"' || c == '\'') && s.tag[0] != '!':
			quote = c
		}
		if s.tag = append(s.tag, c); len(s.tag) > maxElement {
			return errElement
		}
		switch string(s.tag) {
		case "!--":
			return s.skip("-->")
		case "![CDATA[":
			return s.skip("]]>")
		}
	}
}

// skip reads to the end of the next occurrence of a text.
func (s *sampleReader) skip(end string) error {
	last := end[len(end)-1]
	var before []byte
	for {
		part, err := s.text.ReadSlice(last)
		s.endedLines += bytes.Count(part, []byte("\n"))
		before = append(before, part[max(0, len(part)-len(end)):]...)
		switch {
		case err == nil && bytes.HasSuffix(before, []byte(end)):
			return nil
		case err != nil && err != bufio.ErrBufferFull:
			return err
		}
		before = append(before[:0], before[max(0, len(before)-len(end)):]...)
	}
}

// noLineEnds replaces line ends by spaces.
var noLineEnds = strings.NewReplacer("\n", " ", "\r", " ")

// sample appends the row of a sample. If the sample's attributes are malformed, the row is the text
// of the tag.
func (s *sampleReader) sample(lines []byte, text string) []byte {
	text, alone := strings.CutSuffix(text, "/")
	inside := len(s.openSamples) > 0 && !s.openSamples[len(s.openSamples)-1]
	if !alone {
		s.openSamples = append(s.openSamples, false)
	}
	values := make(map[string]string)
	for rest := strings.TrimSpace(text); rest != ""; {
		name, value, ok := strings.Cut(rest, "=")
		value = strings.TrimSpace(value)
		if !ok || value == "" || value[0] != '"' && value[0] != '\'' {
			return append(append(append(lines, '<'), s.tag...), ">\n"...)
		}
		value, rest, _ = strings.Cut(value[1:], value[:1])
		values[strings.TrimSpace(name)] = html.UnescapeString(value)
		rest = strings.TrimSpace(rest)
	}
	s.row = s.row[:0]
	for _, c := range sampleColumns {
		s.row = append(s.row, noLineEnds.Replace(values[c.attribute]))
	}
	if inside {
		s.row[len(s.row)-1] = "true"
	}
	if !alone {
		s.openSamples[len(s.openSamples)-1] = strings.HasPrefix(values["rm"], transactions)
	}
	table := bytes.NewBuffer(lines)
	w := stdcsv.NewWriter(table)
	w.Write(s.row)
	w.Flush()
	return table.Bytes()
}

// parts finds the rows of sub-results in a table. JMeter writes them before or after the row of
// their request. The label of a sub-result is the label of the request, a hyphen and a number. Both
// rows have the same thread, and the time of the sub-result lies in the time of the request.
type parts struct {
	requests   map[string]bool       // labels of requests with sub-results
	recent     [recentSize]recentRow // the last rows that are no sub-results, a ring buffer
	remembered int
	waiting    map[string][]siblings // rows that may be sub-results of a request that follows, by thread
	heldCount  int                   // number of rows in waiting
	nameBytes  int                   // memory of their names
	ready      []*heldRow
}

// siblings are rows of a thread that may be sub-results of one request.
type siblings struct {
	request string
	rows    []*heldRow
}

// A recentRow is one of the last rows of a file, in a ring buffer. It may be a request with
// sub-results. A map of the last row of each thread would take 15% of the time.
type recentRow struct {
	start, end    int64
	label, thread []byte
}

// recentSize is the largest number of rows between a request and its sub-results.
const recentSize = 64

// A heldRow is a row that [parts] keeps until it is known whether the row is a sub-result.
type heldRow struct {
	row           Row
	line          int
	label, thread string
}

const (
	// maxHeld is the largest number of rows in waiting, and the largest number of labels in
	// requests.
	maxHeld = 10_000
	// maxHeldBytes is the most memory for the names of rows that wait.
	maxHeldBytes = 16 << 20
)

func newParts() *parts {
	return &parts{requests: make(map[string]bool), waiting: make(map[string][]siblings)}
}

// request returns the label of the request whose sub-result a label may be. It returns nil for a
// label without a hyphen and a number at its end.
func request(label []byte) []byte {
	n := bytes.LastIndexByte(label, '-')
	if n <= 0 || len(label) > hdrlog.MaxTag || !isDigits(label[n+1:]) {
		return nil
	}
	return label[:n]
}

// hold gets each row of the file. It returns true if it holds the row back; next returns the row
// later.
func (p *parts) hold(row *Row, line int, label, thread []byte) bool {
	of := string(request(label))
	if len(thread) > hdrlog.MaxTag || of == "" && p.waiting[string(thread)] == nil {
		p.remember(row, label, thread)
		return false
	}
	h := &heldRow{row: *row, line: line, label: string(label), thread: string(thread)}
	h.row.Tag = bytes.Clone(row.Tag)
	p.decide(h, of)
	if of != "" && !p.requests[of] && p.follows(h, of) {
		p.addRequest(of)
	}
	switch {
	case of == "":
		p.remember(row, label, thread)
	case p.requests[of]:
		h.markSubResult()
	default:
		p.addWaiting(h, of)
		return true
	}
	p.ready = append(p.ready, h)
	return true
}

// remember adds a row that is no sub-result to recent.
func (p *parts) remember(row *Row, label, thread []byte) {
	if len(label)+len(thread) > hdrlog.MaxTag {
		return
	}
	b := &p.recent[p.remembered%recentSize]
	b.start = row.Time
	b.end = row.Time + row.Value
	b.label = append(b.label[:0], label...)
	b.thread = append(b.thread[:0], thread...)
	p.remembered++
}

// follows reports whether the last row of h's thread is the request label, and h lies within its
// time.
func (p *parts) follows(h *heldRow, label string) bool {
	for n := p.remembered - 1; n >= 0 && n >= p.remembered-recentSize; n-- {
		if b := &p.recent[n%recentSize]; string(b.thread) == h.thread {
			return string(b.label) == label && h.isIn(b.start, b.end)
		}
	}
	return false
}

// addWaiting adds a row that may be a sub-result of a request that follows.
func (p *parts) addWaiting(h *heldRow, request string) {
	all := p.waiting[h.thread]
	if last := len(all) - 1; last >= 0 && all[last].request == request {
		all[last].rows = append(all[last].rows, h)
	} else {
		all = append(all, siblings{request, []*heldRow{h}})
	}
	p.waiting[h.thread] = all
	p.heldCount++
	p.nameBytes += len(h.label) + len(h.thread) + len(h.row.Tag)
	if p.heldCount > maxHeld || p.nameBytes > maxHeldBytes {
		p.flush()
	}
}

// decide decides about the waiting rows of a thread when its next row h comes. request is the
// request whose sub-result h may be, or empty. A waiting row is looked at only once, since many
// labels end in a number without a request.
func (p *parts) decide(h *heldRow, request string) {
	all := slices.DeleteFunc(p.waiting[h.thread], func(s siblings) bool {
		if s.request == request || strings.HasPrefix(request, s.request+"-") {
			return false // h may be another sub-result of the same request, or of a sub-result
		}
		isIn := func(w *heldRow) bool { return w.isIn(h.row.Time, h.row.Time+h.row.Value) }
		if s.request == h.label && slices.ContainsFunc(s.rows, isIn) {
			p.addRequest(s.request)
		}
		p.makeReady(s)
		return true
	})
	if len(all) == 0 {
		delete(p.waiting, h.thread)
		return
	}
	p.waiting[h.thread] = all
}

// makeReady makes waiting rows ready.
func (p *parts) makeReady(s siblings) {
	for _, w := range s.rows {
		p.heldCount--
		p.nameBytes -= len(w.label) + len(w.thread) + len(w.row.Tag)
		if p.requests[s.request] {
			w.markSubResult()
		}
	}
	p.ready = append(p.ready, s.rows...)
}

func (p *parts) addRequest(label string) {
	if len(p.requests) < maxHeld {
		p.requests[label] = true
	}
}

// flush makes all waiting rows ready.
func (p *parts) flush() {
	for _, all := range p.waiting {
		for _, s := range all {
			p.makeReady(s)
		}
	}
	clear(p.waiting)
	slices.SortFunc(p.ready, func(a, b *heldRow) int { return cmp.Compare(a.line, b.line) })
}

// isIn reports whether a row starts and ends between two times, give or take a few milliseconds.
func (h *heldRow) isIn(start, end int64) bool {
	const tolerance = 5e6
	return h.row.Time >= start-tolerance && h.row.Time+h.row.Value <= end+tolerance
}

func (h *heldRow) markSubResult() {
	h.row.Tag = appendTagPart(h.row.Tag, h.row.Tag != nil, writers.SubResult)
}

// next returns the next row that is ready, nil if none is.
func (p *parts) next() *heldRow {
	if len(p.ready) == 0 {
		return nil
	}
	h := p.ready[0]
	p.ready = p.ready[1:]
	return h
}
