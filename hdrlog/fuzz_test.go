package hdrlog

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// sizedReader reads no more than size bytes at a time.
type sizedReader struct {
	io.Reader
	size int
}

func (s sizedReader) Read(p []byte) (int, error) { return s.Reader.Read(p[:min(len(p), s.size)]) }

// FuzzReader reads anything. Whatever it is, line numbers ascend, errors are of a known kind and the records are the
// same however it is chunked.
func FuzzReader(f *testing.F) {
	for _, name := range []string{"logs/tiny-values.hdr", "logs/all-empty.hdr", "dialects/c-hiccup.hlog", "dialects/js-writer.hlog"} {
		for _, encoded := range encodings(f, readLog(f, name)) {
			f.Add(encoded, 64)
		}
	}
	f.Add([]byte("\"EndTimestamp\"\n0,1,3,H\n1,2,3,H\nTag=A,0,127,1,007,2,769,HIST\n1441812279474,1000,3,H\n"), 1)
	f.Add([]byte("#[StartTime: 1,5]\n#[Basetime: 2]\r\n1 2 3 4\n1,2,3"), 10)
	// Each cause of a malformed line.
	f.Add([]byte("\"not a legend\"\nTag=a\rb,0,1,2,H\n1e300,1,2,H\n1,2\n1,x,3,H\n1,2,3,a line that is too long for the reader, a good deal\n"), 64)
	f.Add([]byte("1e300,1,3,H\n5,-1,3,H,more\n6,-2,3,H, \n7,-1e300,3,H\n"), 64)
	f.Fuzz(func(t *testing.T, log []byte, maxLine int) {
		maxLine = 1 + maxLine&0xfff
		const most = 256 << 10 // a few bytes can be a great many when decompressed
		if n, _ := io.Copy(io.Discard, io.LimitReader(&decoder{src: bytes.NewReader(log)}, most)); n == most {
			return
		}
		reader := func(in io.Reader) *Reader {
			r := NewReader(in, "log")
			r.SetMaxLine(maxLine)
			return r
		}
		r := reader(bytes.NewReader(log))
		var want []string
		line := 0
		for r.Scan() {
			rec := r.Record()
			want = append(want, say(rec))
			checkRecord(t, rec, maxLine)
			if rec.Line < line || rec.Line == line && rec.Kind != Notice && rec.Kind != Malformed && !bytes.Contains(log, []byte("\"")) {
				t.Fatalf("line %d follows line %d", rec.Line, line)
			}
			line = rec.Line
		}
		if r.Err() != nil {
			t.Fatalf("a log in memory cannot be read: %v", r.Err())
		}
		// Where a compressed log is cut in a line that is too long, either may be found first.
		want = withoutCut(want)
		for _, in := range []io.Reader{
			iotest.OneByteReader(bytes.NewReader(log)),
			sizedReader{bytes.NewReader(log), 7},
			iotest.DataErrReader(bytes.NewReader(log)),
		} {
			if got := withoutCut(batches(reader(in))); !slices.Equal(got, want) {
				t.Fatalf("got %q, in one piece %q", got, want)
			}
		}
	})
}

func withoutCut(said []string) []string {
	cut := false
	for len(said) > 0 && (strings.HasSuffix(said[len(said)-1], "bytes") && cut || strings.Contains(said[len(said)-1], ErrCutShort.Error())) {
		said, cut = said[:len(said)-1], true
	}
	return said
}

func checkRecord(t *testing.T, rec *Record, maxLine int) {
	switch rec.Kind {
	case Malformed:
		known := false
		for _, err := range []error{ErrMissing, ErrLine, ErrNumber, ErrTag, ErrTime, ErrLineTooLong, ErrCutShort, ErrExtra} {
			known = known || errors.Is(rec.Err, err)
		}
		at := rec.Err.(*SyntaxError)
		if !known || at.Line != rec.Line || at.File != "log" || at.Field == "" {
			t.Fatalf("%+v", rec.Err)
		}
	case Notice:
		if rec.Err == nil || rec.Err.(*SyntaxError).Line != rec.Line {
			t.Fatalf("%+v", rec)
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
		if len(i.Payload) == 0 || !bytes.Contains(i.Fields, i.Payload) || !bytes.Contains(rec.Text, i.Fields) {
			t.Fatalf("%q: %q in %q", rec.Text, i.Payload, i.Fields)
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
