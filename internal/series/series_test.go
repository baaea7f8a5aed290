package series

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/clitest"
	"hdrkit/internal/scan"
	"hdrkit/output"
)

// collect returns the rows of a log and what was late.
func collect(t *testing.T, log io.Reader, workers int, o *Options) (rows []output.Row, late []string) {
	t.Helper()
	s := &scan.Scan{
		Inputs: []scan.Input{scan.Stdin(log)}, Workers: workers,
		Report: func(err *hdrlog.SyntaxError, malformed bool) error {
			if malformed {
				return err
			}
			return nil
		},
	}
	err := Run(s, o, func(r *output.Row, at Place, why error) error {
		if why != nil {
			late = append(late, fmt.Sprintf("%s:%d: %v", at.Name, at.Line, why))
			return nil
		}
		row := *r
		row.Percentiles = append([]output.PercentileValue(nil), r.Percentiles...)
		row.Buckets = append([]int64(nil), r.Buckets...)
		row.Total.Buckets = append([]int64(nil), r.Total.Buckets...)
		rows = append(rows, row)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows, late
}

// every returns options for windows of seconds, or for rows of intervals if seconds is 0, with all figures.
func every(seconds float64) *Options {
	return &Options{Aggregate: seconds, Percentiles: []float64{0, 50, 99, 99.9}, Buckets: true}
}

// TestAggregate compares rows of windows with sums of what each log has in them.
func TestAggregate(t *testing.T) {
	logs, _ := filepath.Glob(filepath.Join(clitest.Root(), "testdata", "logs", "*.hdr"))
	windows := []float64{0.5, 2.5, 10, 1000}
	if testing.Short() {
		windows = windows[1:2]
	}
	compared := 0
	for _, path := range logs {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, seconds := range windows {
			o := every(seconds)
			rows, late := collect(t, bytes.NewReader(text), 1, o)
			again, _ := collect(t, bytes.NewReader(text), 3, o)
			if !reflect.DeepEqual(rows, again) {
				t.Errorf("%s, %v s: depends on workers", path, seconds)
			}
			if len(late) > 0 {
				continue // TestLate has them
			}
			sums := sums(t, text, seconds)
			if len(rows) != len(sums) {
				t.Errorf("%s, %v s: %d rows, want %d", path, seconds, len(rows), len(sums))
			}
			var last string
			for _, r := range rows {
				key := fmt.Sprintf("%016d %s %t", r.Start, r.Tag, r.Tag != nil)
				if key <= last {
					t.Errorf("%s, %v s: %s follows %s", path, seconds, key, last)
				}
				last = key
				h := sums[key]
				if h == nil {
					t.Errorf("%s, %v s: a row %s", path, seconds, key)
					continue
				}
				if want := output.StatsOf(h, o.Percentiles, o.Buckets, output.Stats{}); !reflect.DeepEqual(r.Stats, want) {
					t.Errorf("%s, %v s, %s: %+v, want %+v", path, seconds, key, r.Stats, want)
				}
				if r.Length != seconds || r.End-r.Start != int64(seconds*1000) {
					t.Errorf("%s, %v s, %s: from %d to %d", path, seconds, key, r.Start, r.End)
				}
				compared++
			}
		}
	}
	if compared < 200*len(windows) && !testing.Short() {
		t.Errorf("compared %d rows only", compared)
	}
}

// sums adds up the intervals of a log by window and tag.
func sums(t *testing.T, text []byte, seconds float64) map[string]*histogram.Histogram {
	t.Helper()
	sums := make(map[string]*histogram.Histogram)
	var decoder histogram.Decoder
	reader := hdrlog.NewReader(bytes.NewReader(text), "log")
	for reader.Scan() {
		r := reader.Record()
		if r.Kind != hdrlog.IntervalRecord {
			continue
		}
		p, err := decoder.Open(r.Interval.Payload)
		if err != nil {
			t.Fatal(err)
		}
		start := math.Floor((r.Interval.Absolute()+r.Interval.Length/2)/seconds) * seconds
		key := fmt.Sprintf("%016d %s %t", int64(math.Round(start*1000)), r.Interval.Tag, r.Interval.Tag != nil)
		if sums[key] == nil {
			if sums[key], err = histogram.New(p.Layout()); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.AddTo(sums[key]); err != nil {
			t.Fatal(err)
		}
	}
	return sums
}

// three is the payload of a histogram that counts three values.
const three = "HISTFAAAACB42pNpmSzMwMDAxAABzFCaEULx/7f/AGExsQAASwQDkA=="

// interval returns a line.
func interval(tag string, start, length float64) string {
	if tag != "" {
		tag = "Tag=" + tag + ","
	}
	return fmt.Sprintf("%s%.3f,%.3f,0.000,%s\n", tag, start, length, three)
}

const head = "#[StartTime: 1000.000 (seconds since epoch)]\n#[BaseTime: 1000.000 (seconds since epoch)]\n"

// TestLate: a window stays open for as long as an interval is, whatever its tag, and what comes later is told of.
func TestLate(t *testing.T) {
	log := head + interval("a", 0, 1) + interval("a", 9, 1) +
		interval("b", 10, 1) + interval("a", 8, 1) + // in time
		interval("b", 11, 1) + interval("a", 7, 1) + interval("c", 12, 1) // late, and of a new window
	rows, late := collect(t, strings.NewReader(log), 1, every(10))
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%s %d %d of %d", r.Tag, r.Start, r.Count, r.Total.Count))
	}
	want := []string{"a 1000000 9 of 9", "b 1010000 6 of 6", "c 1010000 3 of 3"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("rows %q, want %q", got, want)
	}
	wantLate := []string{"-:8: too late for its window of 10 s, at 1970-01-01T00:16:40Z, which is written already; hdrunion puts logs in order"}
	if !reflect.DeepEqual(late, wantLate) {
		t.Errorf("late %q, want %q", late, wantLate)
	}
}

// TestTotals: what is late counts in the next row of its tag.
func TestTotals(t *testing.T) {
	log := head + interval("a", 0, 1) + interval("a", 11, 1) + interval("a", 1, 1) + interval("a", 22, 1)
	rows, late := collect(t, strings.NewReader(log), 1, every(10))
	if len(late) != 1 || len(rows) != 3 || rows[0].Total.Count != 3 || rows[1].Total.Count != 9 || rows[2].Total.Count != 12 {
		t.Errorf("%+v", rows)
	}
}

// TestCovered: rates are of the time that was recorded, not of the window.
func TestCovered(t *testing.T) {
	log := head + interval("", 4, 1) + interval("", 5, 1.5)
	rows, _ := collect(t, strings.NewReader(log), 1, every(10))
	if len(rows) != 1 || math.Abs(rows[0].Covered-2.5) > 1e-9 || rows[0].Relative != 0 {
		t.Errorf("%+v", rows)
	}
}

// TestMixedKinds: integers and doubles of a tag do not add up.
func TestMixedKinds(t *testing.T) {
	s := &scan.Scan{Inputs: []scan.Input{scan.File(filepath.Join(clitest.Root(), "testdata", "logs", "double.hdr"), 0)}, Workers: 1,
		Report: func(*hdrlog.SyntaxError, bool) error { return nil }}
	err := Run(s, &Options{Aggregate: 10, IgnoreTags: true}, func(*output.Row, Place, error) error { return nil })
	if err == nil || !strings.HasSuffix(err.Error(), "double.hdr:7: tag default: integer and double histograms do not add up") {
		t.Error(err)
	}
}

// endless is a log of intervals of a second, three tags in each.
type endless struct {
	line    bytes.Buffer
	seconds int
	length  int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.line.Len() == 0 {
		if e.seconds == e.length {
			return 0, io.EOF
		}
		for _, tag := range []string{"a", "b", "c"} {
			e.line.WriteString(interval(tag, float64(e.seconds), 1))
		}
		e.seconds++
	}
	return e.line.Read(p)
}

// TestMemory: what is kept does not grow with the log.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped, for it takes long")
	}
	for _, o := range []*Options{
		every(0),
		every(10),
		{Moving: 60000, MovingPercentile: 99},
	} {
		log := &endless{length: 20000}
		log.line.WriteString(head)
		s := &scan.Scan{Inputs: []scan.Input{scan.Stdin(log)}, Workers: 1, Report: func(*hdrlog.SyntaxError, bool) error { return nil }}
		var early, late uint64
		err := Run(s, o, func(r *output.Row, _ Place, _ error) error {
			if r.Relative == 1000 || r.Relative == 19000 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				if r.Relative == 1000 {
					early = m.HeapAlloc
				} else {
					late = m.HeapAlloc
				}
			}
			return nil
		})
		if err != nil || early == 0 || late == 0 {
			t.Fatal(err)
		}
		if late > early+256<<10 {
			t.Errorf("%+v: %d bytes after 1000 s, %d after 19000 s", o, early, late)
		}
	}
}
