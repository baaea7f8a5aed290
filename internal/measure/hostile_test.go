package measure

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"hdrkit/hdrlog"
)

// A repeatedText is head, then so many times part, whose % is the number of the time, then tail.
type repeatedText struct {
	head, part, tail string
	times            int
	options          Options
	most             int // MiB of memory, 48 if it is 0
}

// reader returns the text, which is made while it is read, and takes little memory itself.
func (r repeatedText) reader() io.Reader {
	left := r.times
	var rest string
	begun, ended := false, false
	return readerFunc(func(p []byte) (int, error) {
		for rest == "" {
			switch {
			case !begun:
				begun = true
				rest = r.head
			case left > 0:
				left--
				rest = strings.ReplaceAll(r.part, "%", strconv.Itoa(left))
			case !ended:
				ended = true
				rest = r.tail
			default:
				return 0, io.EOF
			}
		}
		n := copy(p, rest)
		rest = rest[n:]
		return n, nil
	})
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// These functions make parts of binary records of Gatling.
func gatlingNumber(n int) string { return string(binary.BigEndian.AppendUint32(nil, uint32(int32(n)))) }
func gatlingText(text string) string {
	return gatlingNumber(len(text)) + text + "\x00"
}

var gatlingHead = "\x00" + gatlingText("3.13.5") + gatlingText("sim.Shop") + "\x00\x00\x01\x90\x00\x00\x00\x00" +
	gatlingNumber(0) + gatlingNumber(0) + gatlingNumber(0)

// TestHostileMemory reads texts that small compressed files hold. No size in them drives memory.
func TestHostileMemory(t *testing.T) {
	const mega = 1 << 20
	long := strings.Repeat("x", mega-100)
	payload := "HISTFAAAACR42pJpmSzMwMDAwgABzFCaEUzW//9v/wEicP0WIxNgAGzZBq8="
	for name, text := range map[string]repeatedText{
		"groups of Gatling": {
			head:  gatlingHead + "\x01" + gatlingNumber(mega) + gatlingNumber(1) + gatlingText(long),
			part:  gatlingNumber(-1),
			times: mega,
		},
		"group records of Gatling": {
			head:  gatlingHead + "\x03" + gatlingNumber(mega) + gatlingNumber(1) + gatlingText(long),
			part:  gatlingNumber(-1),
			times: mega,
		},
		"lines in XML": {
			head:  "<testResults>\n<sample t=\"5\" lb=\"a\" ts=\"1718035200000\" s=\"true\"/>\n",
			part:  strings.Repeat("\n", mega),
			times: 30,
			tail:  "<sample t=\"5\" lb=\"a\" ts=\"1718035200001\" s=\"true\"/>\n</testResults>\n",
		},
		"samples in samples": {
			head:  "<testResults>\n",
			part:  strings.Repeat("<sample>", mega/8),
			times: 150,
		},
		"lines in an array": {
			head:  `[{"time":1718035200,"latency_ms":5},`,
			part:  strings.Repeat("\n", mega),
			times: 15,
			tail:  `{"time":1718035200,"latency_ms":5}]`,
		},
		"histograms of a long path": {
			head:  `{"` + long + `":["` + payload + `"`,
			part:  `,"` + payload + `"`,
			times: 1000,
			tail:  "]}",
		},
		"histograms of a document": {
			head:  `{"a":"` + payload + `"`,
			part:  "\n" + `,"a":"` + payload + `"`,
			times: 500_000,
			tail:  "}",
			most:  120,
		},
		"long keys": {
			head:  `{"a":"` + payload + `"`,
			part:  "\n" + `,"` + long + `":{"a":1`,
			times: 150,
		},
		"labels that end in numbers": {
			head:  "timeStamp,elapsed,label,success,threadName\n",
			part:  "1718035200000,5,login-1,true,t\n1718035200000,5,login-2,true,t%\n",
			times: 200_000,
		},
		"tags of buckets": {
			head:    "ms,n,tag\n",
			part:    "5,1,%" + long + "\n",
			times:   150,
			options: Options{Columns: Columns{Value: "ms", Count: "n", Tags: []string{"tag"}}, Unit: hdrlog.Millisecond},
		},
		"sub-results with long names": {
			head:  "timeStamp,elapsed,label,success,threadName\n",
			part:  "1718035200000,5," + long + "-1,true,t%\n",
			times: 150,
		},
	} {
		t.Run(name, func(t *testing.T) {
			most, size := readHostile(t, text)
			t.Logf("%d MiB of %d", most>>20, size>>20)
			if limit := cmp.Or(text.most, 48); most > uint64(limit)<<20 {
				t.Errorf("%d MiB of memory for %d MiB of text", most>>20, size>>20)
			}
		})
	}
}

// TestTooManyHistograms ends the reading of a document that has more histograms than may wait for
// their time. The histograms before are read.
func TestTooManyHistograms(t *testing.T) {
	payload := "HISTFAAAACR42pJpmSzMwMDAwgABzFCaEUzW//9v/wEicP0WIxNgAGzZBq8="
	text := repeatedText{
		head:  `{"a":"` + payload + `"`,
		part:  "\n" + `,"a":"` + payload + `"`,
		times: 200_000,
		tail:  "}\nTag=x " + payload + "\n",
	}
	r, err := NewReader(text.reader(), "f", "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	var errs []error
	rows := 0
	for r.Scan() {
		if err := r.Bad(); err != nil {
			errs = append(errs, err)
			continue
		}
		rows++
	}
	if r.Err() != nil {
		t.Error(r.Err())
	}
	if len(errs) != 1 || !errors.Is(errs[0], errWaiting) {
		t.Errorf("%d errors, the first %v", len(errs), errs[:min(len(errs), 1)])
	}
	if rows < 100_000 || rows == 200_001 {
		t.Errorf("%d rows", rows)
	}
}

// readHostile reads a text, and returns the most memory that the heap took while it did.
func readHostile(t *testing.T, text repeatedText) (most uint64, size int) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	look := func() {
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapAlloc-min(before, m.HeapAlloc))
	}
	src := text.reader()
	seen := 0
	r, err := NewReader(readerFunc(func(p []byte) (int, error) {
		n, err := src.Read(p)
		size += n
		if size-seen > 8<<20 {
			seen = size
			look()
		}
		return n, err
	}), "f", "", text.options)
	if err != nil {
		t.Fatal(err)
	}
	for r.Scan() {
	}
	look()
	return most, size
}
