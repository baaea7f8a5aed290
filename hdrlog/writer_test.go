package hdrlog

import (
	"bytes"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/logline"
)

var update = flag.Bool("update", false, "write what is tested to testdata")

func newSum(t testing.TB) *histogram.Histogram {
	t.Helper()
	return newHistogram(t, histogram.Layout{Digits: 3, Lowest: 1})
}

func newHistogram(t testing.TB, layout histogram.Layout, values ...int64) *histogram.Histogram {
	t.Helper()
	h, err := histogram.New(layout)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range values {
		if err := h.Record(value); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func decodePayload(t testing.TB, text []byte) *histogram.Histogram {
	t.Helper()
	var decoder histogram.Decoder
	h := new(histogram.Histogram)
	if err := decoder.Decode(h, text); err != nil {
		t.Fatal(err)
	}
	return h
}

func sameCounts(a, b *histogram.Histogram) bool {
	return a.Layout() == b.Layout() && a.TotalCount() == b.TotalCount() &&
		slices.Equal(slices.Collect(a.Recorded()), slices.Collect(b.Recorded()))
}

// TestWriter writes all that a Writer can write. The reference's HistogramLogReader reads the
// golden file with the same tags, times and histograms.
func TestWriter(t *testing.T) {
	three := histogram.Layout{Digits: 3, Lowest: 1}
	intervals := []struct {
		tag           []byte
		start, length float64
		h             *histogram.Histogram
		fields        string // what stands before the payload
	}{
		{nil, 0.127, 1.007, newHistogram(t, three, 1_000_000, 2_500_000), "0.127,1.007,2.501,"},
		{[]byte("insert-rt"), 1.134, 0.9994, newHistogram(t, three), "1.134,0.999,0.000,"},
		{[]byte("ä/b=c"), -0.0001, 1e-9, newHistogram(t, histogram.Layout{Digits: 5, Lowest: 1000}, math.MaxInt64), "0.000,0.000,9223372036854.775,"},
		{[]byte{}, -1.5, 2, newHistogram(t, histogram.Layout{Digits: 0, Lowest: 1}, 0, 1), "-1.500,2.000,0.000,"},
		{[]byte("double"), 1e6, 10, newHistogram(t, histogram.Layout{Digits: 2, Lowest: 1, Ratio: 0.25}, 400, 4000), "1000000.000,10.000,0.001,"},
	}
	var out bytes.Buffer
	w := NewWriter(&out)
	write := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write(w.Comment("[Logged by a test]\r\nof the writer"))
	write(w.Version())
	write(w.BaseTime(1441812279.474))
	write(w.StartTime(1441812279))
	write(w.Legend())
	for _, i := range intervals {
		write(w.Interval(i.tag, i.start, i.length, i.h))
	}
	write(w.WriteEncoded([]byte("copied"), []byte("1,2,3,HIST")))
	write(w.Flush())

	const golden = "testdata/written.hdr"
	if *update {
		write(os.WriteFile(golden, out.Bytes(), 0o644))
	}
	want := strings.Split(string(mustRead(t, golden)), "\n")
	got := strings.Split(out.String(), "\n")
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d", len(got), len(want))
	}
	for n := range got {
		// How well a payload is compressed is not for this test to say.
		if i := strings.LastIndex(got[n], ",HISTF"); i >= 0 {
			got[n], want[n] = got[n][:i], want[n][:i]
		}
		if i := strings.LastIndex(got[n], ",DHIST"); i >= 0 {
			got[n], want[n] = got[n][:i], want[n][:i]
		}
		if got[n] != want[n] {
			t.Errorf("line %d\ngot  %s\nwant %s", n+1, got[n], want[n])
		}
	}

	r := NewReader(&out, "log")
	n := 0
	for r.Scan() {
		rec := r.Record()
		switch rec.Kind {
		case Malformed, Notice:
			t.Error(rec.Err)
		case BaseTime:
			if rec.Seconds != 1441812279.474 {
				t.Errorf("base time %v", rec.Seconds)
			}
		case IntervalRecord:
			if n == len(intervals) {
				if string(fieldsOf(&rec.Interval)) != "1,2,3,HIST" {
					t.Errorf("copied %q", fieldsOf(&rec.Interval))
				}
				continue
			}
			want, got := intervals[n], rec.Interval
			if !bytes.Equal(got.Tag, want.tag) || (got.Tag == nil) != (want.tag == nil) || !bytes.HasPrefix(got.head, []byte(want.fields)) ||
				math.Abs(got.Start-want.start) > 0.0005 || math.Abs(got.Length-want.length) > 0.0006 {
				t.Errorf("interval %d: tag %q, %s", n, got.Tag, got.head)
			}
			if h := decodePayload(t, got.Payload); !sameCounts(h, want.h) {
				t.Errorf("interval %d: %d values, %+v", n, h.TotalCount(), h.Layout())
			}
			n++
		}
	}
	if n != len(intervals) {
		t.Errorf("%d intervals", n)
	}
}

// A log that is read and written has the same intervals.
func TestRewrite(t *testing.T) {
	names, err := filepath.Glob("../testdata/logs/*.hdr")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		var again, copied bytes.Buffer
		w, fields := NewWriter(&again), NewWriter(&copied)
		var histograms []*histogram.Histogram
		fields.Version()
		fields.Flush()
		copied.Reset()
		r := NewReader(bytes.NewReader(mustRead(t, name)), "log")
		for r.Scan() {
			rec := r.Record()
			i := &rec.Interval
			switch rec.Kind {
			case StartTime:
				w.StartTime(rec.Seconds)
			case BaseTime:
				w.BaseTime(rec.Seconds)
			case IntervalRecord:
				h := decodePayload(t, i.Payload)
				histograms = append(histograms, h)
				if err := w.Interval(i.Tag, i.Start, i.Length, h); err != nil {
					t.Fatal(err)
				}
			}
			if rec.Kind == IntervalRecord {
				fields.WriteEncoded(i.Tag, fieldsOf(i))
			} else {
				fields.Flush()
				copied.Write(rec.Text)
				copied.WriteByte('\n')
			}
		}
		w.Flush()
		fields.Flush()
		if !bytes.Equal(copied.Bytes(), mustRead(t, name)) {
			t.Errorf("%s: a copy differs", name)
		}
		r = NewReader(bytes.NewReader(mustRead(t, name)), "log")
		s := NewReader(&again, "again")
		for n := 0; n < len(histograms); n++ {
			want, got := nextInterval(r), nextInterval(s)
			if want == nil || got == nil {
				t.Fatalf("%s: interval %d is missing", name, n)
			}
			if !bytes.Equal(got.Tag, want.Tag) || got.StartMillis() != logline.Millis(want.Absolute()) || got.EndMillis()-got.StartMillis() != logline.Millis(want.Length) || got.LogStart != want.LogStart || got.Base != want.Base {
				t.Errorf("%s: interval %d is %+v, want %+v", name, n, got, want)
			}
			if !sameCounts(decodePayload(t, got.Payload), histograms[n]) {
				t.Errorf("%s: interval %d has other counts", name, n)
			}
		}
	}
}

func nextInterval(r *Reader) *Interval {
	for r.Scan() {
		if r.Record().Kind == IntervalRecord {
			return &r.Record().Interval
		}
	}
	return nil
}

func TestSeconds(t *testing.T) {
	for _, test := range []struct {
		seconds float64
		want    string
	}{
		{0, "0.000"}, {1441812279.474, "1441812279.474"}, {1441812279, "1441812279.000"}, {0.5, "0.500"},
		{-1.25, "-1.250"}, {0.0001, "0.0001"}, {1e20, "100000000000000000000.000"}, {1.0 / 3, "0.3333333333333333"},
	} {
		if got := formatSeconds(test.seconds); got != test.want {
			t.Errorf("%v is %s, want %s", test.seconds, got, test.want)
		}
	}
}

// TestWriterInfiniteMax: values of doubles may lie above all that MAX can say, which is a hint
// only.
func TestWriterInfiniteMax(t *testing.T) {
	h := newHistogram(t, histogram.Layout{Digits: 1, Lowest: 1, Ratio: 1e300}, 1, 1<<60)
	var out bytes.Buffer
	w := NewWriter(&out)
	if err := errors.Join(w.Interval(nil, 0, 1, h), w.Flush()); err != nil {
		t.Fatal(err)
	}
	line := out.String()[strings.LastIndexByte(strings.TrimSpace(out.String()), '\n')+1:]
	if !strings.HasPrefix(line, "0.000,1.000,0.000,") {
		t.Errorf("%.40s", line)
	}
}

// What a Reader would complain about or read differently is an error, of which nothing but whole
// lines is written, and what comes later is. An error of writing is kept: no later call succeeds.
func TestWriterErrors(t *testing.T) {
	h := newSum(t)
	wide := newHistogram(t, histogram.Layout{Digits: 0, Lowest: 1, Ratio: 1}, 1, math.MaxInt64)
	interval := func(tag string, start, length float64) func(*Writer) error {
		return func(w *Writer) error { return w.Interval([]byte(tag), start, length, h) }
	}
	fields := func(text string) func(*Writer) error {
		return func(w *Writer) error { return w.WriteEncoded(nil, []byte(text)) }
	}
	comment := func(text string) func(*Writer) error {
		return func(w *Writer) error { return w.Comment(text) }
	}
	for _, test := range []struct {
		name  string
		write func(*Writer) error
		is    error
		want  string
	}{
		{"a comma in a tag", interval("a,b", 0, 1), ErrTag, `tag contains a comma, a space or a line break: "a,b"`},
		{"a space in a tag", interval("a b", 0, 1), ErrTag, `tag contains a comma, a space or a line break: "a b"`},
		{"a newline in a tag", interval("a\nb", 0, 1), ErrTag, `tag contains a comma, a space or a line break: "a\nb"`},
		{"a carriage return in a tag", interval("a\rb", 0, 1), ErrTag, `tag contains a comma, a space or a line break: "a\rb"`},
		{"a long tag", interval(strings.Repeat("t", MaxTag+1), 0, 1), ErrTagTooLong, `tag is too long: over 4096 bytes: "tttttttttttttttttttttttttttttttttttttttt"...`},
		{"a negative length", interval("a", 0, -1), ErrNegative, "the length is negative: -1"},
		{"no start", interval("a", math.NaN(), 1), ErrNumber, "not a number: start NaN"},
		{"no length", interval("a", 0, math.NaN()), ErrNumber, "not a number: length NaN"},
		{"an infinite start", interval("a", math.Inf(1), 1), ErrTime, ""},
		{"a far start", interval("a", 1e13, 1), ErrTime, ""},
		{"a long length", interval("a", 0, 1e13), ErrTime, ""},
		{"a far end", interval("a", 1e12, 1e12), ErrTime, ""},
		{"a start far from the base", func(w *Writer) error { w.BaseTime(1e12); return w.Interval(nil, 1e12, 1, h) }, ErrTime, ""},
		{"no histogram", func(w *Writer) error { return w.Interval(nil, 0, 1, nil) }, ErrNoHistogram, "no histogram"},
		{"a range that no payload has", func(w *Writer) error { return w.Interval(nil, 0, 1, wide) }, histogram.ErrSpan, ""},
		{"rubbish", fields("rubbish\n1,2"), ErrMissing, "max: field is missing"},
		{"too few fields", fields("1,2,3"), ErrMissing, "payload: field is missing"},
		{"too many fields", fields("1,2,3,H,4"), ErrExtra, `text follows the interval: "1,2,3,H,4"`},
		{"a comma at the end", fields("1,2,3,H,"), ErrExtra, ""},
		{"a newline at the end", fields("1,2,3,H\n"), ErrExtra, ""},
		{"a carriage return at the end", fields("1,2,3,H\r"), ErrExtra, ""},
		{"a tag in the fields", fields("Tag=a,1,2,3,H"), ErrExtra, ""},
		{"decimal commas", fields("1,0,2,0,3,0,H"), ErrNumber, ""},
		{"a length below zero", fields("1,-2,3,H"), ErrNegative, "the length is negative: -2"},
		{"a comment that is a start time", comment("[StartTime: 5]"), ErrComment, `the comment reads as a time: "#[StartTime: 5]"`},
		{"a later line that is a base time", comment("c\n[basetime: x]"), ErrComment, ""},
		{"a long comment", comment(strings.Repeat("c", MaxLine)), ErrLineTooLong, ""},
		{"no start time", func(w *Writer) error { return w.StartTime(math.NaN()) }, ErrNumber, "not a number: start time NaN"},
		{"no base time", func(w *Writer) error { return w.BaseTime(math.NaN()) }, ErrNumber, "not a number: base time NaN"},
		{"an infinite base time", func(w *Writer) error { return w.BaseTime(math.Inf(-1)) }, ErrTime, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			w := NewWriter(&out)
			err := test.write(w)
			if !errors.Is(err, test.is) || test.want != "" && err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
			err = errors.Join(w.Flush(), w.BaseTime(0))
			for line := range strings.Lines(out.String()) {
				if line[0] != '#' || line[len(line)-1] != '\n' {
					t.Errorf("%q is written", line)
				}
			}
			out.Reset()
			if err = errors.Join(err, w.WriteEncoded(nil, []byte("1,2,3,H")), w.Flush()); err != nil || !strings.HasSuffix(out.String(), "\n1,2,3,H\n") {
				t.Errorf("after the error: %v, %q", err, out.String())
			}
		})
	}

	t.Run("a broken pipe", func(t *testing.T) {
		broken := errors.New("broken pipe")
		w := NewWriter(writerFunc(func([]byte) (int, error) { return 0, broken }))
		var err error
		for n := 0; err == nil && n < 1000; n++ {
			err = w.Comment(strings.Repeat("c", 1000))
		}
		expectKept(t, w, broken, h)
	})
	t.Run("the zero value", func(t *testing.T) { expectKept(t, new(Writer), errNoOutput, h) })
	t.Run("no output", func(t *testing.T) { expectKept(t, NewWriter(nil), errNoOutput, h) })
}

// expectKept expects all calls of a writer to return an error.
func expectKept(t *testing.T, w *Writer, want error, h *histogram.Histogram) {
	t.Helper()
	for name, err := range map[string]error{
		"Legend": w.Legend(), "Interval": w.Interval(nil, 0, 1, h), "Version": w.Version(), "StartTime": w.StartTime(1),
		"BaseTime": w.BaseTime(1), "WriteEncoded": w.WriteEncoded(nil, []byte("1,2,3,H")), "Comment": w.Comment("c"), "Flush": w.Flush(),
	} {
		if !errors.Is(err, want) {
			t.Errorf("%s after an error: %v", name, err)
		}
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestWriterAllocs(t *testing.T) {
	h := newHistogram(t, histogram.Layout{Digits: 3, Lowest: 1}, 1, 1000, 1_000_000)
	w := NewWriter(writerFunc(func(p []byte) (int, error) { return len(p), nil }))
	if cost := testing.AllocsPerRun(100, func() {
		if err := w.Interval([]byte("tag"), 1, 1, h); err != nil {
			t.Fatal(err)
		}
	}); cost > 20 {
		t.Errorf("%v allocations for an interval", cost)
	}
}
