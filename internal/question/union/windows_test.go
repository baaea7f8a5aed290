package union_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/clitest"
	"hdrkit/internal/question/series"
	"hdrkit/internal/question/union"
	"hdrkit/internal/scan"
	"hdrkit/output"
)

// rowsOf returns the rows of some logs: their window, tag and figures. If layouts are mixed, that
// is without the minimum and percentile 0, which a union does not know then.
func rowsOf(t *testing.T, mixed bool, window, size int64, inputs ...scan.Input) (all []string) {
	t.Helper()
	o := &series.Options{Window: window, Percentiles: []float64{0, 50, 99, 99.9}}
	if mixed {
		o.Percentiles = o.Percentiles[1:]
	}
	s := newScan(inputs...)
	err := series.Run(s, o, func(r *output.Row, v scan.Visit, late error) error {
		if late != nil {
			t.Errorf("%s: %v", v.Place, late)
		}
		if r.Stats.Moved = 0; mixed { // a union does not know it
			r.Stats.Min = output.Value{}
		}
		all = append(all, fmt.Sprintf("%v %q %t %+v", merge.WindowOf(r.Start, r.End, size), r.Tag, r.Tag == nil, r.Stats))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestGridAndWindows: the rows of a union on a grid are those of the logs merged into windows, for
// any intervals.
func TestGridAndWindows(t *testing.T) {
	t.Parallel()
	for seed := range uint64(clitest.Rounds(60)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 9))
			size := []int64{1, 7, 100, 1000, 10000}[random.IntN(5)]
			var logs []scan.Input
			mixed := seed%3 > 0
			for n := range 1 + random.IntN(3) {
				logs = append(logs, text(fmt.Sprint("log", n), steadyLog(t, random, mixed)))
			}
			united := text("union", write(t, newScan(logs...), union.Options{Grid: size}))
			of, direct := rowsOf(t, mixed, 0, size, united), rowsOf(t, mixed, size, size, logs...)
			if a, b := strings.Join(of, "\n"), strings.Join(direct, "\n"); a != b {
				t.Errorf("windows of %d ms: of the union\n%s\nof the logs\n%s", size, a, b)
			}
		})
	}
}

// steadyLog returns a log of successive intervals of a tag or two, of lengths that differ, none of
// which is late for its window. Mixed ones have any layouts.
func steadyLog(t *testing.T, random *rand.Rand, mixed bool) string {
	t.Helper()
	var log strings.Builder
	start := 1468800000 + float64(random.IntN(20000))/1000
	for range 1 + random.IntN(60) {
		length := []float64{0.0005, 0.001, 0.5, 0.9999, 1, 1.0004}[random.IntN(6)]
		layout := histogram.Layout{Digits: 3, Lowest: 4}
		if mixed {
			layout = histogram.Layout{Digits: 1 + random.IntN(4), Lowest: 1 << random.IntN(5)}
		}
		h, err := histogram.New(layout)
		if err != nil {
			t.Fatal(err)
		}
		for range random.IntN(10) {
			h.RecordN(random.Int64N(1<<random.IntN(40)), 1+random.Int64N(5))
		}
		payload, err := new(histogram.Encoder).AppendBase64(nil, h)
		if err != nil {
			t.Fatal(err)
		}
		for _, tag := range []string{"", "Tag=b,", "Tag=a,"}[:1+random.IntN(3)] {
			fmt.Fprintf(&log, "%s%.4f,%.4f,1.000,%s\n", tag, start, length, payload)
		}
		start += length
	}
	return "#[BaseTime: 0.000 (seconds since epoch)]\n" + log.String()
}

// nestedLog returns a log of a few tags, each with successive intervals of a length of its own, so
// that many windows are open at a time and close late.
func nestedLog(t *testing.T, random *rand.Rand) string {
	t.Helper()
	h, err := histogram.New(histogram.Layout{Digits: 1, Lowest: 1})
	if err != nil {
		t.Fatal(err)
	}
	type moment struct {
		tag           []byte
		start, length int64
	}
	var moments []moment
	for _, tag := range []string{"a", "b", "c", "d"}[:1+random.IntN(4)] {
		length := []int64{0, 1, 200, 1000, 10_000}[random.IntN(5)]
		start := []int64{0, 200, 1000, 1001}[random.IntN(4)]
		for range 1 + random.IntN(30) {
			moments = append(moments, moment{[]byte(tag), start, length})
			start += max(length, 50) + []int64{0, 0, 1, length}[random.IntN(4)]
		}
	}
	slices.SortStableFunc(moments, func(a, b moment) int { return cmp.Compare(a.start, b.start) })
	var log strings.Builder
	w := hdrlog.NewWriter(&log)
	w.Version()
	for _, m := range moments {
		if err := w.Interval(m.tag, float64(m.start)/1000, float64(m.length)/1000, h); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	return log.String()
}

// TestOrder: the intervals of a union are in the order that docs/hdrunion.md states, for any
// intervals and by all rules.
func TestOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(clitest.Rounds(300)) {
		random := rand.New(rand.NewPCG(seed, 10))
		var inputs []scan.Input
		for n := range 1 + random.IntN(3) {
			log := nestedLog(t, random)
			if random.IntN(4) == 0 {
				log = randomLog(t, random, false)
			}
			inputs = append(inputs, text(fmt.Sprint("log", n), log))
		}
		s := newScan(inputs...)
		if random.IntN(10) == 0 && seed%2 == 0 {
			s = ignoringTags(t, s)
		}
		o := union.Options{Relative: random.IntN(3) == 0}
		switch random.IntN(3) {
		case 0:
			o.Target = []int64{1, 3000, 30_000}[random.IntN(3)]
		case 1:
			o.Grid = []int64{1, 700, 10_000}[random.IntN(3)]
		}
		var log strings.Builder
		if _, err := union.Write(&log, s, o); errors.Is(err, histogram.ErrKind) {
			continue // integers and doubles
		} else if err != nil {
			t.Fatal(err)
		}
		all := recordsOf(t, log.String())
		for n := range all {
			before, after := &all[max(n-1, 0)], &all[n]
			key := func(i *hdrlog.Interval) int64 {
				if o.Grid > 0 {
					return merge.WindowOf(i.StartMillis(), i.EndMillis(), o.Grid).Start
				}
				return i.StartMillis()
			}
			if cmp.Or(cmp.Compare(key(before), key(after)), bytes.Compare(before.Tag, after.Tag)) > 0 {
				t.Fatalf("seed %d, %+v: %q at %d is before %q at %d in\n%s", seed, o, before.Tag, before.StartMillis(), after.Tag, after.StartMillis(), log.String())
			}
		}
	}
}

// TestVersions: whatever the encoding of the logs, the union has compressed payloads of version 2
// with their counts, times and MAX. Payloads that are so already stay as they are.
func TestVersions(t *testing.T) {
	t.Parallel()
	passed, encoded := 0, 0
	for _, path := range logs(t) {
		before := readable(t, path)
		log := write(t, newScan(file(t, path, "")), union.Options{})
		if overlap(before) {
			continue // some are joined
		}
		same(t, intervals(t, log), before)
		old := make(map[string]bool)
		for _, i := range records(t, path) {
			old[string(i.Payload)] = true
		}
		for _, i := range recordsOf(t, log) {
			p, err := new(histogram.Decoder).Open(i.Payload)
			if err != nil {
				t.Fatal(err)
			}
			if _, compressed, _ := histogram.Peek(i.Payload); !compressed || p.Version() != 2 {
				t.Errorf("%s: version %d, compressed %t", path, p.Version(), compressed)
			}
			if old[string(i.Payload)] {
				passed++
			} else {
				encoded++
			}
		}
	}
	if passed < 1000 || encoded < 10 {
		t.Errorf("%d payloads passed and %d were encoded", passed, encoded)
	}
}

// records returns the intervals of a log file, and recordsOf those of a log.
func records(t *testing.T, path string) []hdrlog.Interval {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return recordsOf(t, string(text))
}

func recordsOf(t *testing.T, log string) (all []hdrlog.Interval) {
	t.Helper()
	r := hdrlog.NewReader(strings.NewReader(log), "log")
	for r.Scan() {
		if r.Record().Kind == hdrlog.IntervalRecord {
			all = append(all, r.Record().Clone().Interval)
		}
	}
	return all
}

// TestPipes: a writer that fills several pipes by turns, and waits for each, is not held up.
func TestPipes(t *testing.T) {
	t.Parallel()
	const pipes, lines = 7, 300
	random := rand.New(rand.NewPCG(1, 1))
	logs := make([]string, pipes)
	var inputs, files []scan.Input
	var writers []*io.PipeWriter
	for n := range pipes {
		for len(logs[n]) < 20<<10 {
			logs[n] += randomLog(t, random, false)
		}
		r, w := io.Pipe()
		writers = append(writers, w)
		name := fmt.Sprint("log", n)
		inputs = append(inputs, scan.Input{Name: name, Once: true, Open: func() (io.ReadCloser, error) { return r, nil }})
		files = append(files, text(name, logs[n]))
	}
	go func() {
		for at := 0; ; at += 100 {
			open := false
			for n, w := range writers {
				if at < len(logs[n]) {
					io.WriteString(w, logs[n][at:min(at+100, len(logs[n]))])
					open = true
				} else {
					w.Close()
				}
			}
			if !open {
				return
			}
		}
	}()
	o := union.Options{Grid: 1000}
	if write(t, newScan(inputs...), o) != write(t, newScan(files...), o) {
		t.Error("the union of pipes differs from that of files")
	}
}

// TestBrokenPipe: a pipe that cannot be read ends the union, although another one goes on.
func TestBrokenPipe(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	defer w.Close()
	broken := scan.Input{Name: "broken", Once: true, Open: func() (io.ReadCloser, error) { return nil, errors.New("it broke") }}
	endless := scan.Input{Name: "endless", Once: true, Open: func() (io.ReadCloser, error) { return r, nil }}
	if _, err := union.Write(io.Discard, newScan(endless, broken), union.Options{}); err == nil || err.Error() != "it broke" {
		t.Error(err)
	}
}

// TestSpan: doubles that do not fit one interval are one error, which names both places, however
// many workers there are and whichever stands first.
func TestSpan(t *testing.T) {
	t.Parallel()
	line := func(start int, ratio float64) string {
		h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1, Ratio: ratio})
		if err != nil {
			t.Fatal(err)
		}
		h.Record(1000)
		payload, err := new(histogram.Encoder).AppendBase64(nil, h)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("Tag=t,%d,1,0,%s\n", start, payload)
	}
	large, small := line(1, 1<<30), line(2, 1.0/(1<<40))
	for _, test := range []struct {
		name, log string
		o         union.Options
		want      string
	}{
		{"large first", large + small, union.Options{Grid: 10000}, "joined with log:1: values lie too far apart for one double histogram: 1.073741824e+12 beside multiples of 9.094947017729282e-13"},
		{"small first", small + large, union.Options{Grid: 10000}, "joined with log:2: values lie too far apart for one double histogram: 1.073741824e+12 beside multiples of 9.094947017729282e-13"},
		{"many before", strings.Repeat(large, 100) + small, union.Options{Grid: 10000}, "joined with log:1: values lie too far apart for one double histogram: 1.073741824e+12 beside multiples of 9.094947017729282e-13"},
		{"other rules", large + small, union.Options{Target: 10000}, "joined with log:1: values lie too far apart for one double histogram: 1.073741824e+12 beside multiples of 9.094947017729282e-13"},
		{"in different windows", large + small, union.Options{Grid: 1000}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, workers := range []int{1, 3} {
				s := newScan(text("log", test.log))
				s.Workers = workers
				_, err := union.Write(io.Discard, s, test.o)
				if test.want == "" {
					if err != nil {
						t.Error(err)
					}
				} else if !errors.Is(err, histogram.ErrSpan) || !strings.HasPrefix(err.Error(), "tag t: ") || !strings.HasSuffix(err.Error(), test.want) {
					t.Errorf("%v, want %s", err, test.want)
				}
			}
		})
	}
}
