package summary

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/clitest"
	"hdrkit/internal/scan"
)

// TestConstantRates: the windows of logs of a constant rate have that rate, with timers that are
// early and late, whatever log comes first, and so have the runs.
func TestConstantRates(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(4, 4))
	for n := range clitest.Rounds(10) {
		s := &scan.Scan{Workers: 2, Report: func(err *hdrlog.SyntaxError, _ bool) error { return err }}
		length, rate, begin := 4000+random.Int64N(2)*2000, int64(0), int64(1_000_000+125*random.IntN(30))
		for range 1 + random.IntN(3) {
			var b bytes.Buffer
			w := hdrlog.NewWriter(&b)
			own, end := 1+random.Int64N(5), begin // values in a millisecond
			rate += own
			for i := range int64(60) {
				to := begin + (i+1)*length
				if i < 59 { // all end together
					to += 125 * (random.Int64N(3) - 1) // exact in binary
				}
				h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
				if err != nil {
					t.Fatal(err)
				}
				if err := h.RecordN(100, own*(to-end)); err != nil {
					t.Fatal(err)
				}
				w.Interval(nil, float64(end)/1000, float64(to-end)/1000, h)
				end = to
			}
			w.Flush()
			text := b.Bytes()
			s.Inputs = append(s.Inputs, scan.Input{Name: "log", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }})
		}
		before := ""
		for range 3 {
			random.Shuffle(len(s.Inputs), func(i, j int) { s.Inputs[i], s.Inputs[j] = s.Inputs[j], s.Inputs[i] })
			runs := new(Runs)
			r, err := Collect(s, Options{Runs: runs})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Believe(runs, nil, 95, 2); err != nil {
				t.Fatal(err)
			}
			got := r.Summaries[0].Confidence.Rate
			if math.Abs(got.Value/float64(1000*rate)-1) > 0.001 || got.High-got.Low > 0.001*got.Value {
				t.Errorf("round %d: %+v, want %d", n, got, 1000*rate)
			}
			if text := fmt.Sprint(got.Value, got.Low, got.High, got.Windows); before != "" && text != before {
				t.Errorf("round %d: %s, in another order %s", n, text, before)
			} else {
				before = text
			}
		}
	}
}
