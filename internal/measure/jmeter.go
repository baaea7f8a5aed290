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

// jtl and jtlXML are what JMeter writes (-l results.jtl): CSV with a header and any delimiter, or
// XML. https://jmeter.apache.org/usermanual/listeners.html#csvlogformat has both. The time is that
// of the start, as jmeter.properties sets it (sampleresult.timestamp.start). A transaction
// controller has a row beside those of its requests, and a request may have rows of its
// sub-results, such as those of its redirects.
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

// transactions begins the response message of a transaction controller.
const transactions = "Number of samples in transaction : "

// sampleColumns are the columns of CSV that the attributes of a sample in XML are.
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

// sampleReader makes rows of a table of the samples in XML. A sample in another one is a sub-result
// of it, unless the other one is a transaction. It reads tags and no more: what servers sent, which
// stands between them, is often no XML (&#x0; of binary data), where encoding/xml gives up.
type sampleReader struct {
	text   *bufio.Reader
	tag    []byte // without its brackets
	line   int    // line ends that were read
	around []bool // the samples that are open: whether each is a transaction
	row    []string
}

func newSampleReader(text io.Reader, _ *setup, _ *head) io.Reader {
	s := &sampleReader{text: bufio.NewReader(text)}
	return &linesOf{next: s.append}
}

// isSample reports whether an element is a sample.
func isSample(name string) bool { return name == "httpSample" || name == "sample" }

// append appends the row of the next sample.
func (s *sampleReader) append(line []byte) (_ []byte, ended int, _ error) {
	for {
		err := s.nextTag()
		if err == io.EOF || err == errElement {
			return line, s.line, broken(err)
		}
		if err != nil {
			return line, s.line, err
		}
		name, attributes, _ := strings.Cut(string(s.tag), " ")
		switch {
		case name == "/testResults":
			return line, 0, io.EOF
		case isSample(name) && len(s.around) == maxDepth:
			return line, s.line, broken(errNested)
		case isSample(name):
			return s.sample(line, attributes), s.line, nil
		case name != "" && name[0] == '/' && isSample(name[1:]) && len(s.around) > 0:
			s.around = s.around[:len(s.around)-1]
		}
	}
}

var errNested = fmt.Errorf("samples are more than %d deep in others", maxDepth)

// tagBegins are the characters that begin a tag, in small letters.
const tagBegins = "abcdefghijklmnopqrstuvwxyz!/?"

// nextTag reads up to the end of the next tag. White space in it becomes spaces.
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
			return s.text.UnreadByte() // no tag
		case c == '\n':
			s.line++
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

// skip reads up to the end of a text.
func (s *sampleReader) skip(end string) error {
	last := end[len(end)-1]
	var before []byte
	for {
		part, err := s.text.ReadSlice(last)
		s.line += bytes.Count(part, []byte("\n"))
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

// noLineEnds makes spaces of line ends.
var noLineEnds = strings.NewReplacer("\n", " ", "\r", " ")

// sample appends the row of a sample. One whose attributes are malformed is a row of its text.
func (s *sampleReader) sample(lines []byte, text string) []byte {
	text, alone := strings.CutSuffix(text, "/")
	inside := len(s.around) > 0 && !s.around[len(s.around)-1]
	if !alone {
		s.around = append(s.around, false)
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
		s.around[len(s.around)-1] = strings.HasPrefix(values["rm"], transactions)
	}
	table := bytes.NewBuffer(lines)
	w := stdcsv.NewWriter(table)
	w.Write(s.row)
	w.Flush()
	return table.Bytes()
}

// Parts finds the rows of sub-results in a table, which JMeter writes before the row of their
// request or behind it: their labels are that of the request, a hyphen and a number, they have the
// same thread, and they are in its time.
type parts struct {
	requests   map[string]bool       // labels of requests that have sub-results
	recent     [recentSize]recentRow // the last rows that are no sub-results, of which noted is the number
	remembered int
	waiting    map[string][]siblings // by thread: they may be sub-results of what follows
	heldCount  int                   // how many rows wait
	bytes      int                   // size of their names
	ready      []*heldRow
}

// Siblings are rows of a thread that may be sub-results of one request.
type siblings struct {
	request string
	rows    []*heldRow
}

// brief is what is kept of a row. A map of the last row of each thread takes 15% of all time.
type recentRow struct {
	start, end    int64
	label, thread []byte
}

// recent is how many rows may stand between a request and its sub-results.
const recentSize = 64

// held is a row with its line.
type heldRow struct {
	row           Row
	line          int
	label, thread string
}

const (
	// maxHeld is how many rows may wait, and how many labels are kept.
	maxHeld = 10_000
	// maxHeldBytes is how long the names of rows that wait may be.
	maxHeldBytes = 16 << 20
)

func newParts() *parts {
	return &parts{requests: make(map[string]bool), waiting: make(map[string][]siblings)}
}

// request returns the label of the request of which a label may be a sub-result, nothing if that
// cannot be.
func request(label []byte) []byte {
	n := bytes.LastIndexByte(label, '-')
	if n <= 0 || len(label) > hdrlog.MaxTag || !isDigits(label[n+1:]) {
		return nil
	}
	return label[:n]
}

// take takes a row. It reports whether the row is held: then next returns it.
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

// note keeps a row that is no sub-result.
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

// follows reports whether the last row of the same thread is that of a request, and contains a row.
func (p *parts) follows(h *heldRow, label string) bool {
	for n := p.remembered - 1; n >= 0 && n >= p.remembered-recentSize; n-- {
		if b := &p.recent[n%recentSize]; string(b.thread) == h.thread {
			return string(b.label) == label && h.isIn(b.start, b.end)
		}
	}
	return false
}

// wait keeps a row that may be a sub-result of a request that follows.
func (p *parts) addWaiting(h *heldRow, request string) {
	all := p.waiting[h.thread]
	if last := len(all) - 1; last >= 0 && all[last].request == request {
		all[last].rows = append(all[last].rows, h)
	} else {
		all = append(all, siblings{request, []*heldRow{h}})
	}
	p.waiting[h.thread] = all
	p.heldCount++
	p.bytes += len(h.label) + len(h.thread) + len(h.row.Tag)
	if p.heldCount > maxHeld || p.bytes > maxHeldBytes {
		p.flush()
	}
}

// settle decides about the rows of a thread that wait when the next one comes, which may be a
// sub-result of a request. Each row is looked at once: many labels end in a number although nothing
// is their request.
func (p *parts) decide(h *heldRow, request string) {
	all := slices.DeleteFunc(p.waiting[h.thread], func(s siblings) bool {
		if s.request == request || strings.HasPrefix(request, s.request+"-") {
			return false // another sub-result of the same request, or of a sub-result
		}
		isIn := func(w *heldRow) bool { return w.isIn(h.row.Time, h.row.Time+h.row.Value) }
		if s.request == h.label && slices.ContainsFunc(s.rows, isIn) {
			p.addRequest(s.request)
		}
		p.release(s)
		return true
	})
	if len(all) == 0 {
		delete(p.waiting, h.thread)
		return
	}
	p.waiting[h.thread] = all
}

// release lets rows go that wait.
func (p *parts) release(s siblings) {
	for _, w := range s.rows {
		p.heldCount--
		p.bytes -= len(w.label) + len(w.thread) + len(w.row.Tag)
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

// flush lets all rows go that wait.
func (p *parts) flush() {
	for _, all := range p.waiting {
		for _, s := range all {
			p.release(s)
		}
	}
	clear(p.waiting)
	slices.SortFunc(p.ready, func(a, b *heldRow) int { return cmp.Compare(a.line, b.line) })
}

// isIn reports whether a row is in a time, but for a few milliseconds.
func (h *heldRow) isIn(start, end int64) bool {
	const few = 5e6
	return h.row.Time >= start-few && h.row.Time+h.row.Value <= end+few
}

func (h *heldRow) markSubResult() {
	h.row.Tag = appendTagPart(h.row.Tag, h.row.Tag != nil, writers.SubResult)
}

// next returns the next row, nil if there is none.
func (p *parts) next() *heldRow {
	if len(p.ready) == 0 {
		return nil
	}
	h := p.ready[0]
	p.ready = p.ready[1:]
	return h
}
