package hdrlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"hdrkit/internal/base/plaintext"
)

// sizedReader reads no more than size bytes at a time.
type sizedReader struct {
	io.Reader
	size int
}

func (s sizedReader) Read(p []byte) (int, error) { return s.Reader.Read(p[:min(len(p), s.size)]) }

// textReader returns a reader of text that is not decoded, which takes little memory.
func textReader(text io.Reader, maxLine int, o ReaderOptions) *Reader {
	r := o.NewReader(text, "log")
	r.in = text
	r.settings.maxLine = maxLine
	return r
}

// FuzzReader reads anything and compares the records with those of a naive parser. It checks that
// line numbers ascend, that errors are of a known kind, and that records are the same however the
// log is chunked.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		"#[StartTime: 1,5]\n#[Basetime: 2]\r\n1 2 3 4\n1,2,3",
		"\"EndTimestamp\"\n0,1,3,H\n1,2,3,H\n2,3,3,H\n",
		"Tag=A,0,127,1,007,2,769,HIST\n1441812279474,1000,3,H\n",
		"\"Timestamp\"1,2,3,H,4\n\"no legend\"\nTag=a\rb,0,1,2,H\n",
		"1e300,1,2,H\n1,2\n1,x,3,H\n5,-1,3,H, \n6,-0,3,H\n7,-1e300,3,H\n",
		"1,2,3,a line that is too long for the reader, a good deal\n",
		"#[Written by hdrkit]\nTag=,5,6,.5,H\n6,7,Inf,H\n#[BaseTime: 9\n",
		"1,2,3,\t \xae\n1,2,3,H\r ,\n",
		"one 1,2,3,HIST\n2024-05-01T10:00:00Z #[StartTime: 5]\n1,2,3,4,5,6,HIST\n",
		"1,2,3,HISTFAAAACB42pNpmSzMwMDAxAABzFCaEULx/7f/AGExsQAASwQDkA==2,1,1,H\n",
	} {
		f.Add([]byte(seed), 200, byte(1))
	}
	f.Fuzz(func(t *testing.T, log []byte, maxLine int, chunk byte) {
		maxLine = 1 + maxLine&0xff
		r := textReader(bytes.NewReader(log), maxLine, ReaderOptions{BatchSize: 1 << 10, Second: SecondLength})
		var got []string
		line := 0
		for rec := range r.All() {
			checkRecord(t, rec, maxLine)
			if rec.Line < line {
				t.Fatalf("line %d follows line %d", rec.Line, line)
			}
			line = rec.Line
			if rec.Kind != Notice {
				got = append(got, naiveForm(rec))
			}
		}
		if r.Err() != nil {
			t.Fatalf("a log in memory cannot be read: %v", r.Err())
		}
		if want := (&naive{maxLine: maxLine}).parse(string(log)); !slices.Equal(got, want) {
			t.Fatalf("got\n%s\nthe naive parser\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}

		whole := scan(textReader(bytes.NewReader(log), maxLine, ReaderOptions{BatchSize: 1 << 10}))
		var in io.Reader = sizedReader{bytes.NewReader(log), 1 + int(chunk%16)}
		if chunk&16 != 0 {
			in = iotest.DataErrReader(in)
		}
		if pieces := batches(textReader(in, maxLine, ReaderOptions{BatchSize: 1 + int(chunk)})); !slices.Equal(pieces, whole) {
			t.Fatalf("in pieces\n%s\nin one piece\n%s", strings.Join(pieces, "\n"), strings.Join(whole, "\n"))
		}
	})
}

var sentinels = []error{ErrMissing, ErrLine, ErrNumber, ErrTag, ErrTagTooLong, ErrTime, ErrLineTooLong, ErrCutShort, ErrExtra}

func checkRecord(t *testing.T, rec *Record, maxLine int) {
	switch rec.Kind {
	case Malformed, Notice:
		at, ok := rec.Err.(*SyntaxError)
		known := rec.Kind == Notice || slices.ContainsFunc(sentinels, func(err error) bool { return errors.Is(rec.Err, err) })
		if !ok || !known || at.Line != rec.Line || at.File != "log" || at.Field == "" {
			t.Fatalf("%+v", rec.Err)
		}
	case IntervalRecord:
		i := rec.Interval
		for _, x := range []float64{i.Start, i.Length, i.LogStart, i.Base} {
			if math.IsNaN(x) || math.Abs(x) > 2*maxTime {
				t.Fatalf("%+v", i)
			}
		}
		if i.Length < 0 {
			t.Fatalf("%+v", i)
		}
		if len(i.Payload) == 0 || !bytes.Contains(rec.Text, fieldsOf(&i)) {
			t.Fatalf("%q: %q", rec.Text, fieldsOf(&i))
		}
	case Comment, StartTime, BaseTime:
		if rec.Text[0] != '#' {
			t.Fatalf("comment %q", rec.Text)
		}
	}
	if len(rec.Text) > maxLine || rec.Kind != Malformed && rec.Kind != Notice && len(rec.Text) == 0 {
		t.Fatalf("line of %d bytes, at most %d", len(rec.Text), maxLine)
	}
}

// fieldsOf returns the fields of an interval as they stand in the log, or its payload if a Reader
// reads them otherwise.
func fieldsOf(i *Interval) []byte { return slices.Concat(i.head, i.Payload) }

// naiveForm describes a record as the naive parser does.
func naiveForm(rec *Record) string {
	if rec.Kind != Malformed {
		return say(rec)
	}
	for _, cause := range sentinels {
		if errors.Is(rec.Err, cause) {
			return malformedForm(rec.Line, rec.Err.(*SyntaxError).Field, cause)
		}
	}
	return ""
}

func malformedForm(line int, field string, cause error) string {
	return fmt.Sprintf("%d malformed %s: %v", line, field, cause)
}

// naive parses logs of lengths line by line, with the plainest means.
type naive struct {
	maxLine           int
	line              int
	said              []string
	start, base       float64
	hasStart, hasBase bool
	written           bool
}

func (p *naive) malformed(field string, cause error) {
	p.said = append(p.said, malformedForm(p.line, field, cause))
}

func (p *naive) parse(log string) []string {
	lines := strings.Split(log, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	for _, line := range lines {
		p.line++
		if len(line) > p.maxLine {
			p.malformed("line", ErrLineTooLong)
		} else if line = strings.TrimRight(line, "\r \t"); line != "" {
			p.parseLine(line)
		}
	}
	return p.said
}

// parseLine parses a line. If it is malformed, its fields may stand behind other text.
func (p *naive) parseLine(line string) {
	before := len(p.said)
	p.parseFields(line)
	malformed := len(p.said) == before+1 && strings.Contains(p.said[before], " malformed ")
	if fields := cutPrefix([]byte(line)); malformed && fields != nil {
		p.said = p.said[:before]
		p.parseFields(string(fields))
	}
}

func (p *naive) parseFields(line string) {
	switch line[0] {
	case '#':
		p.comment(line)
	case '"':
		end := strings.LastIndex(line, `"`) + 1
		rest := strings.TrimLeft(line[end:], ", \t")
		switch {
		case strings.Contains(line[:end], "Timestamp") && strings.Contains(rest, ","):
			p.said = append(p.said, fmt.Sprintf("%d legend %s", p.line, line[:end]))
			p.parseLine(rest)
		case strings.Contains(line, "Timestamp"):
			p.said = append(p.said, fmt.Sprintf("%d legend %s", p.line, line))
		default:
			p.malformed("line", ErrLine)
		}
	default:
		p.interval(line)
	}
}

var timeComment = regexp.MustCompile(`(?i)^#\[(StartTime|BaseTime): *([^ \]]*)`)

func (p *naive) comment(line string) {
	match := timeComment.FindStringSubmatch(line)
	if match == nil {
		p.written = p.written || strings.HasPrefix(line, "#[Written by hdrkit")
		p.said = append(p.said, fmt.Sprintf("%d comment %s", p.line, line))
		return
	}
	isStart := strings.EqualFold(match[1], "StartTime")
	name := map[bool]string{true: "StartTime", false: "BaseTime"}[isStart]
	seconds, ok := naiveSeconds(strings.Replace(strings.TrimRight(match[2], ","), ",", ".", 1))
	switch {
	case !ok:
		p.malformed(name, ErrNumber)
	case math.Abs(seconds) > maxTime:
		p.malformed(name, ErrTime)
	case isStart:
		p.start, p.hasStart = seconds, true
		p.said = append(p.said, fmt.Sprintf("%d start %v", p.line, seconds))
	default:
		p.base, p.hasBase = seconds, true
		p.said = append(p.said, fmt.Sprintf("%d base %v", p.line, seconds))
	}
}

var (
	decimal  = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
	dotnet   = regexp.MustCompile(`^(-?[0-9]+),([0-9]+),(-?[0-9]+),([0-9]+),(-?[0-9]+),([0-9]+),`)
	anyComma = func(c rune) bool { return c == ',' || c == ' ' }
)

func naiveSeconds(text string) (float64, bool) {
	seconds, err := strconv.ParseFloat(text, 64)
	return seconds, err == nil && decimal.MatchString(text)
}

func (p *naive) interval(line string) {
	tag := ""
	rest := line
	if strings.HasPrefix(line, "Tag=") {
		comma := strings.IndexByte(line, ',')
		if comma < 0 {
			comma = strings.IndexByte(line, ' ')
		}
		if comma < 0 {
			p.malformed("start", ErrMissing)
			return
		}
		tag, rest = line[4:comma], line[comma+1:]
		if strings.Contains(tag, "\r") {
			p.malformed("tag", ErrTag)
			return
		}
		tag = " tag=" + tag
	}

	names := []string{"start", "length", "max", "payload"}
	fields := strings.Split(strings.ReplaceAll(rest, " ", ","), ",")
	if len(fields) < 4 {
		last := len(fields) - 1
		if fields[last] == "" {
			p.malformed(names[last], ErrMissing)
		} else if _, ok := naiveSeconds(fields[last]); !ok {
			p.malformed(names[last], ErrNumber)
		} else {
			p.malformed(names[last+1], ErrMissing)
		}
		return
	}
	numbers := fields[:3]
	after := rest
	if match := dotnet.FindStringSubmatch(rest); match != nil && len(match[4]) <= maxNumber && len(match[5]) <= maxNumber && len(match[6]) <= maxNumber {
		numbers = []string{match[1] + "." + match[2], match[3] + "." + match[4], match[5] + "." + match[6]}
		after = rest[len(match[0]):]
	} else {
		for range 3 {
			after = after[strings.IndexFunc(after, anyComma)+1:]
		}
	}
	payload, extra := after, ""
	if end := strings.IndexFunc(after, anyComma); end >= 0 {
		payload, extra = after[:end], strings.Trim(after[end:], ", \t")
		if extra != "" {
			payload = payload[:payloadEnd([]byte(payload))]
		}
		payload = strings.TrimRight(payload, "\r\t")
	}

	var values [2]float64
	for n := range values {
		var ok bool
		if values[n], ok = naiveSeconds(numbers[n]); !ok {
			p.malformed(names[n], ErrNumber)
			return
		}
	}
	maxHint, err := strconv.ParseFloat(numbers[2], 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		p.malformed("max", ErrNumber)
		return
	}
	if payload == "" {
		p.malformed("payload", ErrMissing)
		return
	}
	if strings.Contains("0123456789", payload[:1]) && cutPrefix([]byte(line)) != nil {
		p.malformed("payload", ErrLine)
		return
	}
	if p.times(&values[0], &values[1]) {
		p.said = append(p.said, fmt.Sprintf("%d interval%s start=%v length=%v max=%v log=%v base=%v payload=%s",
			p.line, tag, values[0], values[1], maxHint, p.start, p.base, payload))
		if extra != "" {
			p.malformed("line", ErrExtra)
		}
	}
}

// times settles the start and the length of an interval. It reports whether they are possible.
func (p *naive) times(start, length *float64) bool {
	if *start+p.base >= millisStart && !p.written {
		*start, *length = (*start+p.base)/1000-p.base, *length/1000
	}
	base := p.base
	if !p.hasBase && p.hasStart && *start < p.start-365*24*3600 {
		base = p.start
	}
	if math.Abs(*start+base) > maxTime {
		p.malformed("start", ErrTime)
		return false
	}
	if math.Abs(*length) > maxTime || *start+base+*length > maxTime {
		p.malformed("length", ErrTime)
		return false
	}
	p.base, p.hasBase = base, true
	if !p.hasStart {
		p.start, p.hasStart = *start+base, true
	}
	if *length < 0 { // max would make 0 of -0, which is not negative
		*length = 0
	}
	return true
}

// FuzzEncoding reads a log in any encoding. The text is the same however it is chunked.
func FuzzEncoding(f *testing.F) {
	for _, encoded := range encodings(f, []byte("#[StartTime: 1]\nTag=ä,1,2,3,H\n")) {
		f.Add(encoded, byte(7))
	}
	f.Fuzz(func(t *testing.T, log []byte, chunk byte) {
		const most = 64 << 10 // a few bytes can be a great many when decompressed
		whole, err := io.ReadAll(io.LimitReader(plaintext.NewReader(bytes.NewReader(log)), most))
		if err != nil && !errors.Is(err, ErrCutShort) {
			t.Fatalf("a log in memory cannot be read: %v", err)
		}
		pieces, pieceErr := io.ReadAll(io.LimitReader(plaintext.NewReader(sizedReader{bytes.NewReader(log), 1 + int(chunk)}), most))
		// A decompressor that fails may have returned more or less of the damaged part.
		if err == nil && (pieceErr != nil || !bytes.Equal(pieces, whole)) {
			t.Fatalf("got %q, %v, in one piece %q", pieces, pieceErr, whole)
		}
	})
}

// FuzzWriter writes anything. What the Writer takes is read back as it was written.
func FuzzWriter(f *testing.F) {
	f.Add("a comment\nand more", []byte("tag"), []byte("1,2,3,H"), 5.0, 0.0)
	f.Add("[StartTime: 5]", []byte("a b"), []byte("1,2\n3,H,"), -1.5, 1e300)
	f.Fuzz(func(t *testing.T, comment string, tag, fields []byte, base, start float64) {
		var out bytes.Buffer
		w := NewWriter(&out)
		if errors.Join(w.Version(), w.Comment(comment), w.BaseTime(base), w.StartTime(start), w.Legend(), w.WriteEncoded(tag, fields), w.Flush()) != nil {
			return
		}
		r := textReader(bytes.NewReader(out.Bytes()), MaxLine, ReaderOptions{BatchSize: 1 << 10})
		intervals := 0
		for rec := range r.All() {
			switch rec.Kind {
			case Malformed, Notice:
				t.Fatalf("%v, of\n%s", rec.Err, out.String())
			case BaseTime:
				if rec.Seconds != base {
					t.Fatalf("base time %v, want %v", rec.Seconds, base)
				}
			case StartTime:
				if rec.Seconds != start {
					t.Fatalf("start time %v, want %v", rec.Seconds, start)
				}
			case IntervalRecord:
				intervals++
				if i := rec.Interval; !bytes.Equal(i.Tag, tag) || (i.Tag == nil) != (tag == nil) || !bytes.Equal(fieldsOf(&i), fields) {
					t.Fatalf("read %q, %q, want %q, %q", i.Tag, fieldsOf(&i), tag, fields)
				}
			}
		}
		if intervals != 1 {
			t.Fatalf("%d intervals", intervals)
		}
	})
}
