package output

import (
	"math"
	"math/rand/v2"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/clitest"
)

// TestFigureOf: figures of counts whose percentiles were not asked for have no value.
func TestFigureOf(t *testing.T) {
	s := someRow(nil, 50, 99).Stats
	for text, has := range map[string]bool{"p50": true, "p99": true, "p90": false, "max": true, "over(3)": false} {
		f, err := ParseFigure(text)
		if err != nil {
			t.Fatal(err)
		}
		if v := f.Of(&s, 1).Float(); math.IsNaN(v) == has {
			t.Errorf("%s: %v", text, v)
		}
	}
}

// TestFiguresDocumented: the documents list the figures with a name.
func TestFiguresDocumented(t *testing.T) {
	for _, figure := range named {
		clitest.Documented(t, "limits.md", figure.name)
	}
}

// TestShareOver compares shares with those of the recorded values, each as the slot has it.
func TestShareOver(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		h, err := histogram.New(histogram.Layout{Digits: 1 + random.IntN(3), Lowest: 1})
		if err != nil {
			t.Fatal(err)
		}
		var values []int64
		for range 1 + random.IntN(100) {
			values = append(values, random.Int64N(1<<random.IntN(30)+1))
			if err := h.Record(values[len(values)-1]); err != nil {
				t.Fatal(err)
			}
		}
		f, err := ParseFigure([]string{"over(3)", "over(2us)", "over(0.01ms)", "over(0)"}[random.IntN(4)])
		if err != nil {
			t.Fatal(err)
		}
		// Values are in microseconds, of which one unit is factor, and print in units of 10.
		factor := []float64{0, 1, 1000}[random.IntN(3)]
		scale := hdrlog.Scale{Ratio: 10, In: hdrlog.Microsecond}
		above := map[string]float64{"": f.Above * 10, "us": f.Above, "ms": f.Above * 1000}[f.Unit] / max(factor, 1)
		want, layout := 0.0, h.Layout()
		for _, v := range values {
			if float64(layout.LowestAt(layout.IndexOf(v))) > above {
				want++
			}
		}
		want *= 100 / float64(len(values))
		if got := f.Share(h, scale.Times(factor)); math.Abs(got-want) > 1e-9 {
			t.Fatalf("%v of %v with a factor of %v: %v%%, want %v%%", f, values, factor, got, want)
		}
	}
}
