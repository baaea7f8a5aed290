package gate

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/output"
)

// TestStop asks which limits end a run that goes on: of some values of 5, in some seconds.
func TestStop(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		limit   string
		values  int
		seconds int64
		want    bool
	}{
		{"max<=1", 1, 1, true},
		{"100<=1", 1, 1, true},
		{"count<=0", 1, 1, true},
		{"min>=9", 1, 1, true},
		{"0>=9", 1, 1, true},
		{"max<=9", 1, 1, false}, // holds
		{"max>=9", 100_000, 3600, false},
		{"count>=900000", 100_000, 3600, false},
		{"min<=1", 100_000, 3600, false},
		{"99<=1", 10_000, 60, true},
		{"99<=1", 9_999, 60, false}, // it takes 10,000 values
		{"99<=1", 10_000, 59, false},
		{"99<=5", 100_000, 60, false}, // holds
		{"50>=9", 200, 60, true},
		{"50>=9", 199, 60, false},
		{"1>=9", 10_000, 60, true},
		{"1>=9", 9_999, 60, false},
		{"mean<=1", 100, 60, true},
		{"mean>=6", 99, 60, false},
		{"over(4)<=10%", 1000, 60, true},
		{"over(4)<=10%", 999, 60, false},
		{"over(4)<=0%", 1, 1, true},
		{"over(5)>=100%", 1, 1, true},
		{"throughput>=9", 1, 60, true},
		{"throughput<=1", 1000, 59, false},
		{"nobody:count<=1", 1000, 60, false},
	} {
		limits, err := Parse(test.limit)
		if err != nil {
			t.Fatal(err)
		}
		s := summaryOf("")
		s.Period = 1000 * test.seconds
		if err := s.Histogram.RecordN(5, int64(test.values)); err != nil {
			t.Fatal(err)
		}
		f := Figures{Summaries: []*output.Summary{s}}
		if got := (Stop{After: 60_000}).Ends(Judge(limits, f), f.Summaries); got != test.want {
			t.Errorf("%s of %d values in %d s: %v, want %v", test.limit, test.values, test.seconds, got, test.want)
		}
	}
}

// TestStopWindows asks when too many windows did not keep a limit.
func TestStopWindows(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		share              string
		bad, good, planned int
		want               bool
	}{
		{"99", 1, 0, 100, false}, // one of 100 may
		{"99", 2, 0, 100, true},
		{"99", 2, 50, 200, false},
		{"99", 3, 50, 200, true},
		{"99", 1, 0, 99, true},
		{"100", 1, 0, 1000, true},
		{"99.9", 1, 0, 1000, false},
		{"90", 1, 8, 0, false}, // too few, if no end is known
		{"90", 2, 8, 0, true},
		{"90", 1, 9, 0, false}, // it holds
	} {
		limits, err := Parse("max<=10 in " + test.share + "% of 1s")
		if err != nil {
			t.Fatal(err)
		}
		w := NewLive(limits, func([]byte) (hdrlog.Scale, error) { return summaryOf("", 5).Scale, nil })
		for n := range test.bad + test.good {
			value := int64(5)
			if n < test.bad {
				value = 50
			}
			if err := w.Check(1000, summaryOf("", value)); err != nil {
				t.Fatal(err)
			}
		}
		all := []*output.Summary{summaryOf("", 5)}
		verdicts := Judge(limits, Figures{Summaries: all, Watch: w})
		if got := (Stop{Planned: int64(test.planned)}).Ends(verdicts, all); got != test.want {
			t.Errorf("%+v: %v, %+v", test, got, verdicts[0])
		}
	}
}

var manyRuns = flag.Int("runs", 0, "runs of each row of TestStops, for the table of bench/confidence.md")

// TestStops counts runs of ten minutes that -abort ends although all of their values keep a limit
// of p99 that is 5, 20 or 50% above the truth. The median of a second is an AR(1) process.
func TestStops(t *testing.T) {
	t.Parallel()
	runs := 15
	if *manyRuns > 0 {
		runs = *manyRuns
		fmt.Println("| model | limit 5% above | 20% | 50% |\n| --- | --: | --: | --: |")
	}
	for _, m := range []struct{ correlation, deviation float64 }{{0, 0.2}, {0.5, 0.2}, {0.9, 0.3}, {0.98, 0.3}} {
		row := fmt.Sprintf("| AR(1) %v, deviation %v |", m.correlation, m.deviation)
		for _, margin := range []float64{1.05, 1.2, 1.5} {
			good, ended := 0, 0
			for n := range runs {
				if end, keeps := stopAt(m.correlation, m.deviation, margin, uint64(n)); keeps {
					good++
					if end < 600 {
						ended++
					}
				}
			}
			row += fmt.Sprintf(" %.0f |", 100*float64(ended)/float64(good))
			if m.correlation <= 0.5 && margin > 1.05 && ended > runs/20 {
				t.Errorf("%s limit %v: %d of %d good runs end", row, margin, ended, good)
			}
		}
		if *manyRuns > 0 {
			fmt.Println(row)
		}
	}
}

// stopAt returns the second at which a run of 600 ends whose limit is above the true p99 by a
// factor, and whether all of its values keep the limit.
func stopAt(correlation, deviation, margin float64, seed uint64) (end int, keeps bool) {
	const inside, rate = 0.5, 200 // the deviation of the logarithms of the values of a second
	p99 := -deviation*deviation + 2.3263478740408408*math.Hypot(deviation, inside)
	r := rand.New(rand.NewPCG(seed, 1))
	level := deviation * r.NormFloat64()
	values, above := 0, 0
	end = 600
	for second := range 600 {
		for range int(rate * math.Exp(-level)) {
			values++
			if level+inside*r.NormFloat64() > p99+math.Log(margin) {
				above++
			}
		}
		if end == 600 && second >= 59 && values >= 10_000 && above*100 > values {
			end = second + 1
		}
		level = correlation*level + math.Sqrt(1-correlation*correlation)*deviation*r.NormFloat64()
	}
	return end, above*100 <= values
}
