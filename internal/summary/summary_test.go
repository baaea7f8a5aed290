package summary

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/flow"
	"hdrkit/internal/scan"
	"hdrkit/output"
	"hdrkit/tags"
)

// newScan returns a scan of logs, which fails the test for a malformed line.
func newScan(t *testing.T, workers int, paths ...string) *scan.Scan {
	s := &scan.Scan{Workers: workers, Report: func(err *hdrlog.SyntaxError, malformed bool) error {
		if malformed {
			t.Error(err)
		}
		return nil
	}}
	for _, path := range paths {
		s.Inputs = append(s.Inputs, scan.File(path, 0))
	}
	return s
}

// describe returns a result as text.
func describe(r *Result) string {
	var b strings.Builder
	for _, s := range r.Summaries {
		fmt.Fprintf(&b, "%q %d intervals from %d to %d, %+v:", s.Tag, s.Intervals, s.Start, s.End, s.Counts().Layout())
		for bucket := range s.Counts().Recorded() {
			fmt.Fprintf(&b, " %v", bucket)
		}
		fmt.Fprintln(&b)
	}
	for _, mode := range Modes {
		fmt.Fprintln(&b, mode, r.Period(mode))
	}
	return b.String()
}

// TestWorkers proves that the result is the same however many workers add up.
func TestWorkers(t *testing.T) {
	logs, err := filepath.Glob("../../testdata/logs/*.hdr")
	if err != nil || len(logs) < 20 {
		t.Fatalf("%d logs: %v", len(logs), err)
	}
	var want string
	for _, workers := range []int{1, 2, 3, 8} {
		s := newScan(t, workers, logs...)
		s.Selection.Tags, _ = tags.NewFilter(nil, []string{"ratio"})
		result, err := Collect(s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := describe(result); workers == 1 {
			want = got
		} else if got != want {
			t.Errorf("%d workers:\n%s\none:\n%s", workers, got, want)
		}
	}
}

// TestKindsDoNotMix proves that which interval is named does not depend on how many workers there
// are.
func TestKindsDoNotMix(t *testing.T) {
	for _, workers := range []int{1, 4} {
		s := newScan(t, workers, "../../testdata/logs/double.hdr")
		s.Rows.By, _ = tags.ParseBy("all")
		_, err := Collect(s, Options{})
		want := "tag default: integer and double histograms do not add up: " +
			"integers at ../../testdata/logs/double.hdr:7, doubles at ../../testdata/logs/double.hdr:6"
		if err == nil || err.Error() != want {
			t.Errorf("%d workers: %v, want %s", workers, err, want)
		}
	}
}

// logOf returns a log of intervals with a value each.
func logOf(t *testing.T, layouts []histogram.Layout, values []int64) string {
	t.Helper()
	var log strings.Builder
	w := hdrlog.NewWriter(&log)
	for n, layout := range layouts {
		h, err := histogram.New(layout)
		if err != nil {
			t.Fatal(err)
		}
		h.Record(values[n])
		if err := w.Interval([]byte("t"), float64(n), 1, h); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	return log.String()
}

// TestSpan proves that doubles which do not fit one sum are one error, however many workers there
// are and wherever the intervals stand.
func TestSpan(t *testing.T) {
	t.Parallel()
	large, small := histogram.Layout{Digits: 3, Lowest: 1, Ratio: 1 << 30}, histogram.Layout{Digits: 3, Lowest: 1, Ratio: 1.0 / (1 << 40)}
	for _, workers := range []int{1, 2, 5} {
		for _, cut := range []int{1, 500, 999} {
			t.Run(fmt.Sprintf("%d workers, %d large ones", workers, cut), func(t *testing.T) {
				t.Parallel()
				layouts, values := make([]histogram.Layout, 1000), make([]int64, 1000)
				for n := range layouts {
					layouts[n], values[n] = large, int64(1000+n%7)
					if n >= cut {
						layouts[n] = small
					}
				}
				s := newScan(t, workers)
				s.Inputs = []scan.Input{scan.Stdin(strings.NewReader(logOf(t, layouts, values)))}
				_, err := Collect(s, Options{})
				if !errors.Is(err, histogram.ErrSpan) || !strings.HasPrefix(err.Error(), "tag t: ") {
					t.Error(err)
				}
			})
		}
	}
}

// TestLowest proves that a sum has the lowest lowest discernible value of its intervals, however
// many workers there are and whichever comes first.
func TestLowest(t *testing.T) {
	t.Parallel()
	layout := func(lowest int64) histogram.Layout { return histogram.Layout{Digits: 3, Lowest: lowest} }
	for _, workers := range []int{1, 3} {
		for _, lowest := range [][]int64{{1000}, {1000, 1000}, {1000, 16}, {16, 1000}, {1000, 20000, 300}, {1, 1000}} {
			t.Run(fmt.Sprint(workers, lowest), func(t *testing.T) {
				t.Parallel()
				var layouts []histogram.Layout
				var values []int64
				for _, l := range lowest {
					layouts, values = append(layouts, layout(l)), append(values, 5000)
				}
				s := newScan(t, workers)
				s.Inputs = []scan.Input{scan.Stdin(strings.NewReader(logOf(t, layouts, values)))}
				result, err := Collect(s, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if h := result.Summaries[0].Counts(); h.Layout() != layout(slices.Min(lowest)) || h.Max() < 4608 {
					t.Errorf("%+v, highest value %d", h.Layout(), h.Max())
				}
			})
		}
	}
}

// TestManyTags proves that a tag of a few small intervals takes little memory, and little address
// space.
func TestManyTags(t *testing.T) {
	const tags = 20000
	var log strings.Builder
	for n := range tags {
		fmt.Fprintf(&log, "Tag=%d,0,1,0,HISTFAAAACB42pNpmSzMwMDAxAABzFCaEULx/7f/AGExsQAASwQDkA==\n", n)
	}
	s := newScan(t, 2)
	s.Inputs = []scan.Input{scan.Stdin(strings.NewReader(log.String()))}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	result, err := Collect(s, Options{})
	runtime.ReadMemStats(&after)
	if err != nil || len(result.Summaries) != tags {
		t.Fatal(err)
	}
	// With 12 GB of address space, 200,000 tags must fit.
	if each := (after.Sys - before.Sys) / tags; each > 40<<10 {
		t.Errorf("%d bytes a tag", each)
	}
	runtime.KeepAlive(result)
}

// TestManySparseTags proves that counts of many tags stay packed, although a histogram of each
// would be small enough for a few tags.
func TestManySparseTags(t *testing.T) {
	const tags = 4000
	h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	for _, value := range []int64{10, 20_000_000} {
		err = cmp.Or(err, h.Record(value))
	}
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	w := hdrlog.NewWriter(&log)
	for n := range 3 * tags {
		if err := w.Interval(fmt.Append(nil, n%tags), float64(n/tags), 1, h); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	s := newScan(t, 2)
	s.Inputs = []scan.Input{scan.Stdin(&log)}
	s.Memory = ledger.New(300 << 20)
	if _, err := Collect(s, Options{}); err != nil {
		t.Error(err)
	}
}

// TestOverflow proves that a sum that exceeds an int64 is an error.
func TestOverflow(t *testing.T) {
	var log strings.Builder
	w := hdrlog.NewWriter(&log)
	h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	if err := h.RecordN(7, math.MaxInt64-1); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		if err := w.Interval([]byte("t"), float64(n), 1, h); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	for _, workers := range []int{1, 4} {
		s := newScan(t, workers)
		s.Inputs = []scan.Input{scan.Stdin(strings.NewReader(log.String()))}
		_, err := Collect(s, Options{})
		if err == nil || err.Error() != "tag t: total count exceeds the largest int64" {
			t.Errorf("%d workers: %v", workers, err)
		}
	}
}

// TestDoubleFacts compares the sum of double histograms with the reference's, within the precision
// of three digits.
func TestDoubleFacts(t *testing.T) {
	s := newScan(t, 1, "../../testdata/logs/double.hdr")
	s.Selection.Tags, _ = tags.NewFilter([]string{"ratio"}, nil)
	result, err := Collect(s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := result.Summaries[0].Counts()
	text, err := os.ReadFile("../../testdata/expected/double.facts")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
		want, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		var got float64
		switch name {
		case "count":
			got = float64(h.TotalCount())
		case "min":
			got = h.Float(h.Min())
		case "max":
			got = h.Float(h.Max())
		case "mean":
			got = h.Mean()
		case "stddev":
			got = h.StdDev()
		default:
			p, err := strconv.ParseFloat(strings.TrimPrefix(name, "p"), 64)
			if err != nil {
				t.Fatal(err)
			}
			got = h.Float(h.ValueAtPercentile(p))
		}
		if math.Abs(got-want) > want/1000 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
		seen++
	}
	if seen < 9 {
		t.Errorf("%d facts only", seen)
	}
}

// TestReaderFacts compares what is read of logs that are not part of this repository with what the
// reference reads.
func TestReaderFacts(t *testing.T) {
	const dir = "../../../shared/reference"
	text, err := os.ReadFile(dir + "/reader-facts.tsv")
	if err != nil {
		t.Skipf("skipped: the real logs are not here: %v", err)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if strings.HasPrefix(line, "#") {
			continue
		}
		rows++
		t.Run(f[0]+" "+f[1]+" "+f[2], func(t *testing.T) {
			got := readFacts(t, dir+"/real-logs/"+f[0], strings.Trim(f[1], "-"), strings.Trim(f[2], "-"))
			for n, want := range f[3:] {
				if want != "-" && got[n] != want {
					t.Errorf("fact %d is %s, want %s", n, got[n], want)
				}
			}
		})
	}
	if rows < 13 {
		t.Errorf("%d rows only", rows)
	}
}

// readFacts returns the intervals in a range, their total count, p99.9 and maximum in a histogram
// of three digits, and the log's start. As in the reference, the counts of a coarser slot go to its
// lowest value.
func readFacts(t *testing.T, path, from, to string) []string {
	var r scan.Range
	for text, bound := range map[string]**scan.Bound{from: &r.From, to: &r.To} {
		if seconds, err := strconv.ParseFloat(text, 64); err == nil {
			*bound = &scan.Bound{Seconds: seconds}
		}
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	var decoder histogram.Decoder
	var counts histogram.Histogram
	var intervals int
	var start float64
	reader := hdrlog.NewReader(f, path)
	for reader.Scan() {
		record := reader.Record()
		if record.Kind != hdrlog.IntervalRecord || !r.Contains(&record.Interval, 0) {
			continue
		}
		intervals++
		start = record.Interval.LogStart
		if err := decoder.Decode(&counts, record.Interval.Payload); err != nil {
			t.Fatal(err)
		}
		for bucket := range counts.Recorded() {
			if err := sum.RecordN(bucket.Low, bucket.Count); err != nil {
				t.Fatal(err)
			}
		}
	}
	if reader.Err() != nil {
		t.Fatal(reader.Err())
	}
	return []string{strconv.Itoa(intervals), strconv.FormatInt(sum.TotalCount(), 10),
		strconv.FormatInt(sum.ValueAtPercentile(99.9), 10), strconv.FormatInt(sum.Max(), 10),
		strconv.FormatFloat(start, 'f', -1, 64)}
}

func TestPeriod(t *testing.T) {
	type spans = []merge.InputSpan // of tags
	span := func(input int, start, end int64) merge.InputSpan {
		return merge.InputSpan{Input: input, Span: merge.Span{Start: start, End: end}}
	}
	for _, test := range []struct {
		name                    string
		spans                   spans
		covered, sum, reference int64
		rows                    []int64
	}{
		{"one", spans{span(0, 5, 15)}, 10, 10, 10, []int64{10}},
		{"tags of an input", spans{span(0, 0, 10), span(0, 3, 15)}, 15, 12, 12, []int64{15, 15}},
		{"one tag after another", spans{span(0, 0, 100), span(0, 100, 160)}, 160, 100, 100, []int64{160, 160}},
		{"side by side", spans{span(0, 0, 10), span(1, 2, 12)}, 12, 20, 12, []int64{10, 10}},
		{"one within the other", spans{span(0, 0, 10), span(1, 2, 4)}, 10, 12, 10, []int64{10, 2}},
		{"touching", spans{span(0, 0, 10), span(1, 10, 20)}, 20, 20, 20, []int64{10, 10}},
		{"far apart, later first", spans{span(0, 100, 110), span(1, 0, 5)}, 15, 15, 15, []int64{10, 5}},
		{"as long, the earlier counts", spans{span(0, 5, 10), span(0, 0, 5), span(1, 0, 5)}, 10, 10, 5, []int64{10, 10, 5}},
	} {
		r := Result{Lengths: 77, ran: make(map[int]merge.Span)}
		for _, span := range test.spans {
			r.sums = append(r.sums, &flow.Row{Spans: merge.InputSpans{All: spans{span}}})
			r.Summaries = append(r.Summaries, new(output.Summary))
			ran, known := r.ran[span.Input]
			if !known {
				ran = merge.Span{Start: span.Start, End: span.End}
			}
			r.ran[span.Input] = merge.Span{Start: min(ran.Start, span.Start), End: max(ran.End, span.End)}
		}
		for mode, want := range map[string]int64{"covered": test.covered, "sum": test.sum, "intervals": 77} {
			if got := r.Period(mode); got != want {
				t.Errorf("%s: %s %d, want %d", test.name, mode, got, want)
			}
		}
		r.SetPeriods("covered")
		for n, want := range test.rows {
			if got := r.Summaries[n].Period; got != want {
				t.Errorf("%s: row %d: %d, want %d", test.name, n, got, want)
			}
		}
		r.SetReferencePeriods("covered")
		for n, s := range r.Summaries {
			if s.Period != test.reference {
				t.Errorf("%s: row %d: %d as in the reference, want %d", test.name, n, s.Period, test.reference)
			}
		}
	}
}

// TestObserve proves that intervals are observed whole and in order, whoever decodes them.
func TestObserve(t *testing.T) {
	observe := func(workers int) (seen []string) {
		s := newScan(t, workers, "../../testdata/logs/node1.hdr", "../../testdata/logs/mixed-precision.hdr")
		s.Rows.By, _ = tags.ParseBy("all")
		_, err := Collect(s, Options{}, &flow.Intervals{Counts: true, Emit: func(r *flow.Result) error {
			h, err := r.Sum.Histogram(new(histogram.Histogram))
			seen = append(seen, fmt.Sprint(r.Visit.Name, r.Visit.Line, string(r.Visit.Tag), h.TotalCount(), h.Layout()))
			return err
		}})
		if err != nil {
			t.Fatal(err)
		}
		return seen
	}
	one, four := observe(1), observe(4)
	if len(one) != 72+9 || !reflect.DeepEqual(one, four) {
		t.Errorf("one worker: %d %v\nfour: %d %v", len(one), one, len(four), four)
	}
}

// TestReadError proves that an input that cannot be read on is an error.
func TestReadError(t *testing.T) {
	for _, workers := range []int{1, 4} {
		s := newScan(t, workers)
		s.Inputs = []scan.Input{scan.Stdin(io.MultiReader(strings.NewReader("#x\n"), failing{}))}
		if _, err := Collect(s, Options{}); err == nil || err.Error() != "-: it broke" {
			t.Errorf("%v", err)
		}
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, fmt.Errorf("it broke") }

// TestMaxima: sums have their maxima over time if these are wanted, of which the highest is that of
// all values.
func TestMaxima(t *testing.T) {
	for _, wanted := range []bool{true, false} {
		result, err := Collect(newScan(t, 2, "../../testdata/logs/node1.hdr"), Options{Maxima: wanted})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range result.Summaries {
			if !wanted && s.Maxima.Values == nil {
				continue
			}
			highest := 0.0
			for _, v := range s.Maxima.Values {
				if v > highest { // a time without values has none
					highest = v
				}
			}
			if wanted != (highest == s.Counts().MaxFloat()) {
				t.Errorf("maxima wanted: %v: %s has maxima up to %v, and values up to %v", wanted, s.Name(), highest, s.Counts().MaxFloat())
			}
		}
	}
}
