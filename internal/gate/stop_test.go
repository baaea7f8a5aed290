package gate

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/output"
)

// endsAt returns the first second at which limits end a run whose windows of a second have so many
// values of 5 each, 0 if they do not within so many seconds.
func endsAt(t *testing.T, limit string, stop Stop, values, seconds int) int {
	t.Helper()
	limits, err := Parse(limit)
	if err != nil {
		t.Fatal(err)
	}
	all := summaryOf("")
	w := NewLive(limits, &stop, func([]byte) (hdrlog.Scale, error) { return all.Scale, nil })
	for second := 1; second <= seconds; second++ {
		window := summaryOf("")
		window.Period = 1000
		if err := window.Histogram.RecordN(5, int64(values)); err != nil {
			t.Fatal(err)
		}
		if err := all.Histogram.Add(window.Histogram); err != nil {
			t.Fatal(err)
		}
		all.Period += 1000
		if err := w.Check(1000, window); err != nil {
			t.Fatal(err)
		}
		f := Measured{Summaries: []*output.Summary{all}, Watch: w}
		if w.Ends(Judge(limits, f), f.Summaries) {
			return second
		}
	}
	return 0
}

// TestStop asks when limits end a run that goes on.
func TestStop(t *testing.T) {
	t.Parallel()
	for limit, want := range map[string]int{
		"max<=1":         1,
		"100<=1":         1,
		"count<=0":       1,
		"min>=9":         1,
		"0>=9":           1,
		"over(4)<=0%":    1,
		"over(5)>=100%":  1,
		"max<=9":         0, // holds
		"max>=9":         0,
		"count>=900000":  0,
		"min<=1":         0,
		"99<=1":          60,
		"99<=5":          0,
		"50>=9":          60,
		"1>=9":           60,
		"over(4)<=10%":   60,
		"over(5)>=10%":   60,
		"throughput>=11": 60,
		"throughput<=9":  60,
		"mean<=1":        0, // its rarest values decide
		"nobody:99<=1":   0,
	} {
		if got := endsAt(t, limit, Stop{After: 60_000}, 10, 70); got != want {
			t.Errorf("%s ends a run of 70 s at %d, want %d", limit, got, want)
		}
	}
}

// TestStopNothing: a run ends if nothing came for a time and a rate must be higher.
func TestStopNothing(t *testing.T) {
	t.Parallel()
	limits, err := Parse("throughput>=1")
	if err != nil {
		t.Fatal(err)
	}
	for seconds, want := range map[int64]bool{69: false, 70: true} {
		all := summaryOf("", 5, 5)
		w := NewLive(limits, &Stop{After: 60_000}, func([]byte) (hdrlog.Scale, error) { return all.Scale, nil })
		window := *all
		window.Period = 10_000
		if err := w.Check(10_000, &window); err != nil {
			t.Fatal(err)
		}
		all.Period = 1000 * seconds
		f := Measured{Summaries: []*output.Summary{all}, Watch: w}
		if got := w.Ends(Judge(limits, f), f.Summaries); got != want {
			t.Errorf("nothing for %d s: %v, want %v", seconds-10, got, want)
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
		{"90", 4, 25, 0, false}, // too few, if no end is known
		{"90", 4, 26, 0, true},
		{"90", 3, 27, 0, false}, // it holds
		{"100", 1, 0, 0, true},
	} {
		limits, err := Parse("max<=10 in " + test.share + "% of 1s")
		if err != nil {
			t.Fatal(err)
		}
		stop := &Stop{Planned: int64(test.planned)}
		w := NewLive(limits, stop, func([]byte) (hdrlog.Scale, error) { return summaryOf("", 5).Scale, nil })
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
		verdicts := Judge(limits, Measured{Summaries: all, Watch: w})
		if got := w.Ends(verdicts, all); got != test.want {
			t.Errorf("%+v: %v, %+v", test, got, verdicts[0])
		}
	}
}

var manyRuns = flag.Int("runs", 0, "runs of each row of TestStops, for the table of bench/confidence.md")

// TestStops counts runs of ten minutes that -abort ends: good ones, whose p99 is 5% below the
// limit, and bad ones, whose p99 is twice the limit. The median of a second is an AR(1) process.
func TestStops(t *testing.T) {
	t.Parallel()
	runs := 25
	if *manyRuns > 0 {
		runs = *manyRuns
		fmt.Println("| model | p99 is 5% below | at the limit | 50% above | twice |\n| --- | --: | --: | --: | --: |")
	}
	for _, m := range []struct {
		correlation, deviation float64
		most, least            float64 // percent of good and of bad runs that end
	}{
		{0, 0.2, 2, 100},
		{0.5, 0.2, 2, 100},
		{0.9, 0.3, 4, 98},
		{0.98, 0.3, 12, 90},
	} {
		row := fmt.Sprintf("| AR(1) %v, deviation %v |", m.correlation, m.deviation)
		for _, p99 := range []float64{1 / 1.05, 1, 1.5, 2} {
			ended := 0
			for n := range runs {
				if endsRun(m.correlation, m.deviation, p99, uint64(n)) {
					ended++
				}
			}
			percent := 100 * float64(ended) / float64(runs)
			row += fmt.Sprintf(" %.1f |", percent)
			if p99 < 1 && percent > m.most || p99 == 2 && percent < m.least {
				t.Errorf("%s of p99 %v: %.1f%% of runs end", row, p99, percent)
			}
		}
		if *manyRuns > 0 {
			fmt.Println(row)
		}
	}
}

// endsRun reports whether a run of ten minutes ends whose true p99 is so many times the limit.
func endsRun(correlation, deviation, p99 float64, run uint64) bool {
	const inside, rate = 0.5, 200 // the deviation of the logarithms of the values of a second
	limit := -deviation*deviation + 2.3263478740408408*math.Hypot(deviation, inside) - math.Log(p99)
	r := rand.New(rand.NewPCG(run, *seed))
	level := deviation * r.NormFloat64()
	var e evidence
	for range 600 {
		window := tally{to: math.Floor(rate * math.Exp(-level))}
		for range int(window.to) {
			if level+inside*r.NormFloat64() > limit {
				window.of++
			}
		}
		e.add(window, 1000)
		e.look(bound{value: 0.01}, 60_000, 1)
		level = correlation*level + math.Sqrt(1-correlation*correlation)*deviation*r.NormFloat64()
	}
	return e.proven
}

// TestStopLate: what ends a run is the same however many windows came before: also after those that
// are kept by themselves.
func TestStopLate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		above int // of 100 values a second
		want  bool
	}{{8, true}, {3, false}} {
		limits, err := Parse("over(10)<=5%")
		if err != nil {
			t.Fatal(err)
		}
		for _, seconds := range []int64{100, 200, 500} {
			stop := &Stop{After: 1000 * seconds} // the first look
			w := NewLive(limits, stop, func([]byte) (hdrlog.Scale, error) { return summaryOf("", 5).Scale, nil })
			var values []int64
			for n := range seconds {
				second := slices.Repeat([]int64{5}, 100)
				for k := range test.above + int(n%3) - 1 {
					second[k] = 50
				}
				values = append(values, second...)
				if err := w.Check(1000, summaryOf("", second...)); err != nil {
					t.Fatal(err)
				}
			}
			all := []*output.Summary{summaryOf("", values...)}
			all[0].Period = 1000 * seconds
			if got := w.Ends(Judge(limits, Measured{Summaries: all, Watch: w}), all); got != test.want {
				t.Errorf("%d%% above after %d s: %v", test.above, seconds, got)
			}
		}
	}
}
