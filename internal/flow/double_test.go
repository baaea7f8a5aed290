package flow

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/clitest"
	"hdrkit/internal/scan"
)

// TestWindowsOfAnyOrder: the windows that become longer, since they are many, and what is in them,
// depend neither on the order of inputs nor on the number of workers.
func TestWindowsOfAnyOrder(t *testing.T) {
	t.Parallel()
	doubled := 0
	for seed := range uint64(clitest.Rounds(40)) {
		random := rand.New(rand.NewPCG(seed, 44))
		var logs [][]byte
		for range 2 + random.IntN(3) {
			logs = append(logs, logOf(random))
		}
		most := int64(50 + random.IntN(100))
		want := doubledWindows(t, logs, most, 1)
		for range 4 {
			random.Shuffle(len(logs), func(i, j int) { logs[i], logs[j] = logs[j], logs[i] })
			if got := doubledWindows(t, logs, most, 1+random.IntN(4)); !slices.Equal(got, want) {
				t.Fatalf("seed %d: %d windows, %d in another order\n%.300s\n%.300s", seed, len(want), len(got), want, got)
			}
		}
		if len(want) < len(doubledWindows(t, logs, 1<<30, 1)) {
			doubled++
		}
	}
	if doubled == 0 {
		t.Error("no windows were doubled")
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
				h.Record(1+random.Int64N(1<<(1+random.IntN(30))), 1)
			}
			w.Interval(fmt.Append(nil, "tag", tag), at, own, h)
		}
		at += own
	}
	w.Flush()
	return b.Bytes()
}

// doubledWindows returns the windows of logs as text.
func doubledWindows(t *testing.T, logs [][]byte, most int64, workers int) (all []string) {
	s := &scan.Scan{Workers: workers, Memory: ledger.New(1 << 30), Report: func(err *hdrlog.SyntaxError, _ bool) error { return err }}
	for n, log := range logs {
		s.Inputs = append(s.Inputs, scan.Input{Name: fmt.Sprint(n), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(log)), nil }})
	}
	plan := Plan{Most: most, Digits: 1, Account: s.Memory.Open("windows", "")}
	if err := cmp.Or(Run(s, &plan), plan.Err); err != nil {
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
