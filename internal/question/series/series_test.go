package series

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/clitest"
	"hdrkit/internal/scan"
	"hdrkit/output"
	"hdrkit/tags"
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
	err := Run(s, o, func(r *output.Row, at scan.Visit, why error) error {
		if why != nil {
			late = append(late, fmt.Sprintf("%s:%d: %v", at.Name, at.Line, why))
			return nil
		}
		row := *r
		row.Percentiles = append([]output.PercentileValue(nil), r.Percentiles...)
		rows = append(rows, row)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows, late
}

// every returns options for windows of seconds, or for rows of intervals if seconds is 0, with all
// figures.
func every(seconds float64) *Options {
	return &Options{Window: int64(seconds * 1000), Percentiles: []float64{0, 50, 99, 99.9}}
}

// TestAggregate compares rows of windows with sums of what each log has in them.
func TestAggregate(t *testing.T) {
	logs, _ := filepath.Glob(filepath.Join(clitest.Root(), "testdata", "logs", "*.hdr"))
	windows := []float64{0.5, 2.5, 10, 1000}
	if clitest.Rounds(1) == 0 {
		windows = windows[1:3]
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
				r.Stats.Moved = 0 // TestRates has it
				if want := output.StatsOf(h, o.Percentiles, output.Stats{}); !reflect.DeepEqual(r.Stats, want) {
					t.Errorf("%s, %v s, %s: %+v, want %+v", path, seconds, key, r.Stats, want)
				}
				if r.Length != seconds || r.End-r.Start != int64(seconds*1000) {
					t.Errorf("%s, %v s, %s: from %d to %d", path, seconds, key, r.Start, r.End)
				}
				compared++
			}
		}
	}
	if compared < 200*len(windows) {
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
		i := &r.Interval
		start := merge.WindowOf(i.StartMillis(), i.EndMillis(), int64(seconds*1000)).Start
		key := fmt.Sprintf("%016d %s %t", start, i.Tag, i.Tag != nil)
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

// TestLate: a window stays open for as long as an interval is, whatever its tag, and what comes
// later is reported.
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
	if len(late) != 1 || len(rows) != 3 {
		t.Fatalf("%+v", rows)
	}
	for n, want := range []int64{3, 9, 12} {
		total := rows[n].Total
		if total.Count != want || total.Sum != float64(want)/3*(rows[0].Mean*3) {
			t.Errorf("row %d: total %+v, want %d values", n, total, want)
		}
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

// TestRates: logs of a steady rate that begin at different times have that rate together in windows
// of any length.
func TestRates(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		s := &scan.Scan{Workers: 1, Report: func(err *hdrlog.SyntaxError, _ bool) error { return err }}
		logs, window := 1+random.IntN(5), int64(300+random.IntN(5000))
		for n := range logs {
			begin, text := 1000+0.001*float64(n+10*random.IntN(100)), ""
			for second := range 20 {
				text += interval("", float64(second), 1)
			}
			s.Inputs = append(s.Inputs, in(strconv.Itoa(n), fmt.Sprintf("#[StartTime: %.3f (seconds since epoch)]\n#[BaseTime: %.3f (seconds since epoch)]\n", begin, begin)+text))
		}
		err := Run(s, &Options{Window: window}, func(r *output.Row, _ scan.Visit, _ error) error {
			if r.Start < 1001_100 || r.End > 1020_000 {
				return nil // not all logs are there
			}
			rate := (float64(r.Count) + r.Stats.Moved) / r.Covered / 3
			if math.Abs(rate/float64(logs)-1) > 1e-6 {
				t.Errorf("%d logs, windows of %d ms: %v times the rate of one, at %d", logs, window, rate, r.Start)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestCut: a log that is cut into files at any lines has the same rows as the whole log.
func TestCut(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	series := func(o *Options, inputs ...scan.Input) (rows []output.Row) {
		s := &scan.Scan{Inputs: inputs, Workers: 2, Report: func(*hdrlog.SyntaxError, bool) error { return nil }} // a part may be too short to prove that it has lengths
		err := Run(s, o, func(r *output.Row, _ scan.Visit, _ error) error {
			rows = append(rows, *r)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	for range clitest.Rounds(20) {
		length, jitter, cut := 0.25+random.Float64()*4, random.Float64()/20, random.Float64()/2
		text, whole, start, end := head, head, 0.0, 0.0
		var parts []scan.Input
		for n := range 60 {
			to := math.Round(8*(start+length+random.Float64()*jitter)) / 8 // read exactly
			line := interval("", end, to-end)
			if whole += line; n > 0 && random.Float64() < cut {
				parts, text = append(parts, in(strconv.Itoa(n), text)), fmt.Sprintf("#[StartTime: %.3f (seconds since epoch)]\n#[BaseTime: 1000.000 (seconds since epoch)]\n", 1000+end)
			}
			text += line
			start, end = start+length, to
		}
		o := &Options{Window: 500 + random.Int64N(20_000)}
		want, got := series(o, in("whole", whole)), series(o, append(parts, in("last", text))...)
		for n := range want {
			w, g := &want[n], &got[n]
			if len(want) != len(got) || w.Start != g.Start || w.Count != g.Count || math.Abs(rateOf(g)/rateOf(w)-1) > 1e-5 || w.Relative != g.Relative {
				t.Fatalf("%d files, %d rows of %d, row %d: %+v, want %+v", len(parts)+1, len(got), len(want), n, g, w)
			}
		}
	}
}

func rateOf(r *output.Row) float64 { return (float64(r.Count) + r.Stats.Moved) / r.Covered }

// TestAmongOthers: a log has the same rows and the same late lines alone and among others.
func TestAmongOthers(t *testing.T) {
	t.Parallel()
	for seed := range uint64(clitest.Rounds(40)) {
		random := rand.New(rand.NewPCG(seed, 9))
		var logs []scan.Input
		for n := range 2 + random.IntN(3) {
			text, at, length := head, 10*random.Float64(), 0.1+2*random.Float64()
			for range 50 {
				text += interval(string(rune('a'+n)), max(at+4*(random.Float64()-0.5), 0), length)
				if at += length; random.IntN(10) == 0 {
					at += 20 * random.Float64()
				}
			}
			logs = append(logs, in(strconv.Itoa(n), text))
		}
		window := 500 + random.Int64N(10_000)
		run := func(inputs ...scan.Input) map[string][]string {
			got := make(map[string][]string)
			s := &scan.Scan{Inputs: inputs, Workers: 1 + random.IntN(3), Report: func(err *hdrlog.SyntaxError, _ bool) error { return err }}
			err := Run(s, &Options{Window: window}, func(r *output.Row, at scan.Visit, late error) error {
				row := fmt.Sprint(r.Start, " ", r.Count, " ", r.Covered, " ", r.Stats.Moved)
				if late != nil {
					row = fmt.Sprint(at.Line, " ", late)
				}
				got[string(r.Tag)] = append(got[string(r.Tag)], row)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, rows := range got {
				slices.Sort(rows) // what is late may come earlier or later among the rows
			}
			return got
		}
		among := run(logs...)
		for n, log := range logs {
			tag := string(rune('a' + n))
			if alone := run(log)[tag]; !reflect.DeepEqual(alone, among[tag]) {
				t.Fatalf("seed %d, log %d alone:\n%s\namong others:\n%s", seed, n, strings.Join(alone, "\n"), strings.Join(among[tag], "\n"))
			}
		}
	}
}

// TestMixedKinds: integers and doubles of a tag do not add up, which a row for each interval need
// not do.
func TestMixedKinds(t *testing.T) {
	run := func(o *Options) error {
		s := &scan.Scan{Inputs: []scan.Input{scan.File(filepath.Join(clitest.Root(), "testdata", "logs", "double.hdr"), 0)}, Workers: 1,
			Report: func(*hdrlog.SyntaxError, bool) error { return nil }}
		s.Rows.By, _ = tags.ParseBy("all")
		return Run(s, o, func(*output.Row, scan.Visit, error) error { return nil })
	}
	for _, o := range []*Options{{Window: 10_000}, {Moving: 10_000, MovingPercentile: 99}} {
		err := run(o)
		if err == nil || !strings.HasSuffix(err.Error(), "double.hdr:6") ||
			!strings.HasPrefix(err.Error(), "tag default: integer and double histograms do not add up: integers at ") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if err := run(new(Options)); err != nil {
		t.Error(err)
	}
}

// in returns the input in a text.
func in(name, text string) scan.Input {
	return scan.Input{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

// rows returns the rows of some logs as start, tag and count, and what was late.
func rows(t *testing.T, o *Options, inputs ...scan.Input) (got []string) {
	t.Helper()
	s := &scan.Scan{Inputs: inputs, Workers: 2, Report: func(err *hdrlog.SyntaxError, _ bool) error { return err }}
	err := Run(s, o, func(r *output.Row, at scan.Visit, late error) error {
		if late != nil {
			got = append(got, "late")
		}
		got = append(got, fmt.Sprintf("%d %s %d", r.Start/1000, r.Tag, r.Count))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestInputs: several inputs are merged by time.
func TestInputs(t *testing.T) {
	t.Parallel()
	a := in("a", head+interval("x", 0, 1)+interval("x", 5, 1)+interval("x", 12, 1)+interval("x", 25, 1))
	b := in("b", head+interval("x", 3, 1)+interval("y", 13, 1)+interval("x", 14, 1)+interval("x", 26, 1))
	for _, test := range []struct {
		name   string
		window int64
		want   string
	}{
		{"windows", 10000, "1000 x 9; 1010 x 6; 1010 y 3; 1020 x 6"},
		{"intervals", 0, "1000 x 3; 1003 x 3; 1005 x 3; 1012 x 3; 1013 y 3; 1014 x 3; 1025 x 3; 1026 x 3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, inputs := range [][]scan.Input{{a, b}, {b, a}} {
				if got := strings.Join(rows(t, &Options{Window: test.window}, inputs...), "; "); got != test.want {
					t.Errorf("%s, want %s", got, test.want)
				}
			}
		})
	}
}

// TestFailures: what a row cannot be made of is an error, wherever it is found.
func TestFailures(t *testing.T) {
	t.Parallel()
	payload := func(l histogram.Layout, value, count int64) string {
		h, err := histogram.New(l)
		if err != nil {
			t.Fatal(err)
		}
		h.RecordN(value, count)
		text, err := new(histogram.Encoder).AppendBase64(nil, h)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	line := func(start int, payload string) string { return fmt.Sprintf("Tag=t,%d,1,0,%s\n", start, payload) }
	integers := histogram.Layout{Digits: 3, Lowest: 1}
	many := payload(integers, 7, 1<<62)
	large := payload(histogram.Layout{Digits: 3, Lowest: 1, Ratio: 1 << 30}, 1000, 1)
	small := payload(histogram.Layout{Digits: 3, Lowest: 1, Ratio: 1.0 / (1 << 40)}, 1000, 1)
	window, moving := &Options{Window: 10000}, &Options{Moving: 60000, MovingPercentile: 99}
	const overflow, span = "tag t: total count exceeds the largest int64",
		"log:4: tag t: values lie too far apart for one double histogram: 1.073741824e+12 beside multiples of 9.094947017729282e-13"
	for _, test := range []struct {
		name string
		o    *Options
		log  string
		want string
	}{
		{"counts of a window", window, line(0, many) + line(1, many), overflow},
		{"counts of two windows", window, line(0, many) + line(11, many) + line(22, three), "log:5: " + overflow},
		{"counts at the end", window, line(0, many) + line(11, many), "log:4: " + overflow},
		{"counts of late intervals", window, line(0, many) + line(22, three) + line(1, many), "log:5: " + overflow},
		{"counts of intervals", &Options{}, line(0, many) + line(1, many), "log:4: " + overflow},
		{"counts of a moving window", moving, line(0, many) + line(1, many), "log:4: " + overflow},
		{"doubles in a window", window, line(0, large) + line(1, small), strings.TrimPrefix(span, "log:4: ")},
		{"doubles in a moving window", moving, line(0, large) + line(1, small), span},
		{"doubles in a moving window of windows", &Options{Window: 10000, Moving: 60000}, line(0, large) + line(15, small), span},
		{"both kinds in a window", window, line(0, large) + line(1, three),
			"tag t: integer and double histograms do not add up: integers at log:4, doubles at log:3"},
		{"both kinds in different windows", window, line(0, large) + line(31, three),
			"tag t: integer and double histograms do not add up: integers at log:4, doubles at log:3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, workers := range []int{1, 3} {
				s := &scan.Scan{Inputs: []scan.Input{in("log", head+test.log)}, Workers: workers, Report: func(err *hdrlog.SyntaxError, _ bool) error { return err }}
				if err := Run(s, test.o, func(*output.Row, scan.Visit, error) error { return nil }); err == nil || err.Error() != test.want {
					t.Errorf("%v, want %s", err, test.want)
				}
			}
		})
	}
}

// TestSinkErrors: the first error of a sink ends the series, whichever row it refuses.
func TestSinkErrors(t *testing.T) {
	t.Parallel()
	log := head + interval("a", 0, 1) + interval("b", 0, 1) + interval("a", 22, 1) + interval("a", 1, 1) + interval("a", 44, 1)
	refused := errors.New("refused")
	for _, o := range []*Options{{Window: 10000}, {}} {
		for refuse := range 5 {
			s := &scan.Scan{Inputs: []scan.Input{in("log", log)}, Workers: 1, Report: func(err *hdrlog.SyntaxError, _ bool) error { return err }}
			n := 0
			err := Run(s, o, func(*output.Row, scan.Visit, error) error {
				if n++; n > refuse {
					return refused
				}
				return nil
			})
			if err != refused || n != refuse+1 {
				t.Errorf("window %d: %v after %d rows, want %d", o.Window, err, n, refuse+1)
			}
		}
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
		t.Skip("skipped: it takes long")
	}
	for _, o := range []*Options{
		every(0),
		every(10),
		{Moving: 60000, MovingPercentile: 99},
	} {
		log := &endless{length: 8000}
		log.line.WriteString(head)
		s := &scan.Scan{Inputs: []scan.Input{scan.Stdin(log)}, Workers: 1, Report: func(*hdrlog.SyntaxError, bool) error { return nil }}
		// What was read ahead differs from one row to the next.
		early, late := uint64(0), uint64(math.MaxUint64)
		err := Run(s, o, func(r *output.Row, _ scan.Visit, _ error) error {
			switch r.Relative {
			case 1000, 1050, 1100, 1150, 1200:
				early = max(early, clitest.InUse())
			case 7000, 7050, 7100, 7150, 7200:
				late = min(late, clitest.InUse())
			}
			return nil
		})
		if err != nil || early == 0 || late == math.MaxUint64 {
			t.Fatal(err)
		}
		if late > early+256<<10 {
			t.Errorf("%+v: %d bytes after 1000 s, %d after 7000 s", o, early, late)
		}
	}
}
