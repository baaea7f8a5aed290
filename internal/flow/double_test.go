package flow

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/clitest"
	"hdrkit/internal/loggen"
	"hdrkit/internal/scan"
)

// TestWindowsOfAnyOrder: the windows that become longer, since they are many or memory is short,
// and what is in them, depend neither on the order of inputs nor on the number of workers.
func TestWindowsOfAnyOrder(t *testing.T) {
	t.Parallel()
	doubled := 0
	for seed := range uint64(clitest.Rounds(40)) {
		random := rand.New(rand.NewPCG(seed, 44))
		var logs []scan.Input
		for range 2 + random.IntN(3) {
			logs = append(logs, inMemory(fmt.Sprint(len(logs)), logOf(random)))
		}
		limit := Doubling{MaxWindows: int64(50 + random.IntN(100)), Digits: 1}
		if random.IntN(3) == 0 {
			limit.Budget = (100 + random.IntN(300)) * cellBytes
		}
		want := doubledWindows(t, logs, limit, 1)
		for range 4 {
			random.Shuffle(len(logs), func(i, j int) { logs[i], logs[j] = logs[j], logs[i] })
			if got := doubledWindows(t, logs, limit, 1+random.IntN(4)); !slices.Equal(got, want) {
				t.Fatalf("seed %d: %d windows, %d in another order\n%.300s\n%.300s", seed, len(want), len(got), want, got)
			}
		}
		if len(want) < len(doubledWindows(t, logs, Doubling{MaxWindows: 1 << 30, Digits: 1}, 1)) {
			doubled++
		}
	}
	if doubled == 0 {
		t.Error("no windows were doubled")
	}
}

// TestLookAhead proves that a long log that is a file has the windows of a pipe, and that it begins
// with them.
func TestLookAhead(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	if err := loggen.Write(&log, loggen.Options{Seconds: 300, Rate: 3000, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "log.hdr")
	if err := os.WriteFile(path, log.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	file := scan.File(path, int64(log.Len()))
	run := &run{scan: &scan.Scan{Inputs: []scan.Input{file}}}
	if size := (&Doubling{MaxWindows: 100}).start(run).(*doublingState).workerSize.Load(); size != 4000 {
		t.Errorf("windows begin with %d ms, want 4000", size)
	}
	want := doubledWindows(t, []scan.Input{inMemory("pipe", log.Bytes())}, Doubling{MaxWindows: 100, Digits: 1}, 1)
	if got := doubledWindows(t, []scan.Input{file}, Doubling{MaxWindows: 100, Digits: 1}, 3); !slices.Equal(got, want) {
		t.Errorf("%d windows of a file, %d of a pipe\n%.300s\n%.300s", len(got), len(want), got, want)
	}
}

// TestFewIntervals proves that windows of many tags, whose intervals are handed over by themselves,
// are those of each tag alone.
func TestFewIntervals(t *testing.T) {
	t.Parallel()
	const tags = 40
	random := rand.New(rand.NewPCG(1, 2))
	var all bytes.Buffer
	var each [tags]bytes.Buffer
	writers := []*hdrlog.Writer{hdrlog.NewWriter(&all)}
	for n := range each {
		writers = append(writers, hdrlog.NewWriter(&each[n]))
	}
	for second := range 150 {
		for tag := range tags {
			h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
			h.Record(1 + random.Int64N(1<<20))
			h.Record(1 << 40) // counts of all slots take a quarter of a megabyte
			for _, w := range []*hdrlog.Writer{writers[0], writers[1+tag]} {
				w.Interval(fmt.Append(nil, "tag", tag), float64(second), 1, h)
			}
		}
	}
	var want []string
	for n, w := range writers {
		w.Flush()
		if n > 0 {
			want = append(want, doubledWindows(t, []scan.Input{inMemory("log", each[n-1].Bytes())}, Doubling{MaxWindows: 75, Digits: 1}, 1)...)
		}
	}
	slices.Sort(want)
	for workers := 1; workers <= 2; workers++ {
		if got := doubledWindows(t, []scan.Input{inMemory("log", all.Bytes())}, Doubling{MaxWindows: 75, Digits: 1}, workers); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
			t.Errorf("%d workers: %d windows, want %d", workers, len(got), len(want))
		}
	}
}

// logOf returns a log of a length of intervals with timers that are early and late.
func logOf(random *rand.Rand) []byte {
	var b bytes.Buffer
	w := hdrlog.NewWriter(&b)
	length := []float64{0.1, 0.25, 0.5, 1, 1, 2, 5, 10}[random.IntN(8)]
	at := 1000 + 10*random.Float64()
	tags := 1 + random.IntN(3)
	for range 20 + random.IntN(300) {
		own := length * (0.99 + 0.02*random.Float64())
		for tag := range tags {
			h, _ := histogram.New(histogram.Layout{Digits: 2, Lowest: 1})
			for range random.IntN(60) {
				h.Record(1 + random.Int64N(1<<(1+random.IntN(30))))
			}
			w.Interval(fmt.Append(nil, "tag", tag), at, own, h)
		}
		at += own
	}
	w.Flush()
	return b.Bytes()
}

// inMemory returns the input of a log that is in memory.
func inMemory(name string, log []byte) scan.Input {
	return scan.Input{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(log)), nil }}
}

// doubledWindows returns the windows of logs as text.
func doubledWindows(t *testing.T, inputs []scan.Input, limit Doubling, workers int) (all []string) {
	s := &scan.Scan{
		Inputs:  inputs,
		Workers: workers,
		Memory:  ledger.New(1 << 30),
		Report:  func(err *hdrlog.SyntaxError, _ bool) error { return err },
	}
	plan := limit
	plan.Account = s.Memory.Open("windows", "")
	if err := cmp.Or(Run(s, new(Rows), &plan), plan.Err); err != nil {
		t.Fatal(err)
	}
	for _, m := range plan.Windows {
		h, err := m.Histogram(new(histogram.Histogram))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s %v %+v: %v", m.Tag, m.Window, plan.Rates.Take(m.Tag, m.Window), slices.Collect(h.Recorded())))
	}
	return all
}
