package gate

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hdrkit/internal/base/unit"
	"hdrkit/output"
)

// TestStop asks which limits end a run that goes on.
func TestStop(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		limit   string
		windows int
		want    bool
	}{
		{"max<=1", 1, true},
		{"count<=0", 1, true},
		{"min>=9", 1, true},
		{"max<=9", 1, false}, // holds
		{"max>=9", 100, false},
		{"count>=900", 100, false},
		{"min<=1", 100, false},
		{"99<=1", 21, true},
		{"99<=1", 20, false},
		{"99<=5", 100, false},
		{"50>=9", 21, true},
		{"50>=9", 19, false},
		{"mean<=1", 21, true},
		{"mean>=6", 21, true},
		{"over(4)<=10%", 21, true},
		{"over(5)>=10%", 21, true},
		{"throughput>=9", 21, true},
		{"throughput<=1", 19, false},
		{"nobody:count<=1", 100, false},
	} {
		limits, err := Parse(test.limit)
		if err != nil {
			t.Fatal(err)
		}
		f := Figures{Summaries: []*output.Summary{summaryOf("", 5, 5)}, Scale: unit.Scale{Ratio: 1}}
		w := NewLive(limits, true, 0)
		for range test.windows {
			w.Window(f.Summaries[0], f.Scale)
		}
		if got := w.Ends(Judge(limits, f)[0]); got != test.want {
			t.Errorf("%s in %d windows: %v, want %v", test.limit, test.windows, got, test.want)
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
		w := NewLive(limits, false, int64(test.planned))
		for n := range test.bad + test.good {
			value := int64(5)
			if n < test.bad {
				value = 50
			}
			w.Window(summaryOf("", value), unit.Scale{Ratio: 1})
		}
		verdicts := Judge(limits, Figures{Summaries: []*output.Summary{summaryOf("", 5)}, Scale: unit.Scale{Ratio: 1}, Watch: w})
		if got := w.Ends(verdicts[0]); got != test.want {
			t.Errorf("%+v: %v, %+v", test, got, verdicts[0])
		}
	}
}

// stopRuns is the number of runs of TestStream.
var stopRuns = flag.Int("runs", 0, "runs of TestStream, of which it prints the figures")

// A stopModel makes the excess of windows over a limit of p99 that is 5% above the truth.
type stopModel struct {
	name string
	p99  float64 // as a logarithm
	// levels returns the logarithms of the median of one window after another.
	levels func(r *rand.Rand) (next func() float64)
	spans  bool
}

// within is the deviation of the logarithms of the values of a window.
const within = 0.5

// auto has a level that is an AR(1) process. Fewer values are recorded while it is high.
func auto(correlation, deviation float64) stopModel {
	return stopModel{name: fmt.Sprintf("AR(1) %v, deviation %v", correlation, deviation), p99: -deviation*deviation + 2.3263478740408408*math.Hypot(deviation, within),
		levels: func(r *rand.Rand) func() float64 {
			next := deviation * r.NormFloat64()
			return func() float64 {
				now := next
				next = correlation*now + math.Sqrt(1-correlation*correlation)*deviation*r.NormFloat64()
				return now
			}
		}}
}

// spans is twice as slow in a fifth of spans of some windows.
func spans(length int) stopModel {
	return stopModel{name: fmt.Sprintf("good and bad spans of %d s", length), p99: 1.536809769436592, spans: true, levels: func(r *rand.Rand) func() float64 {
		left, now := 0, 0.0
		return func() float64 {
			if left == 0 {
				if now, left = 0, length; r.Float64() < 0.2 {
					now = math.Log(2)
				}
			}
			left--
			return now
		}
	}}
}

// run returns the window at which the stream fails, 0 if none, and whether the figure of all
// windows holds. From a window on, values are higher by a factor.
func (m *stopModel) run(seed uint64, windows, breach int, factor float64) (failed int, holds bool) {
	r := rand.New(rand.NewPCG(seed, 1))
	next := m.levels(r)
	var s stream
	for n := range windows {
		level := next()
		values := 200 * math.Exp(-level)
		if m.spans {
			values = 200
		}
		values += math.Sqrt(values) * r.NormFloat64()
		if n >= breach {
			level += math.Log(factor)
		}
		above := 0.0
		for range int(values) {
			if level+within*r.NormFloat64() > m.p99+math.Log(1.05) {
				above++
			}
		}
		if s.add(above - 0.01*math.Floor(values)); s.failed && failed == 0 {
			failed = n + 1
		}
	}
	return failed, s.sum <= 0
}

// TestStops prints the table of bench/confidence.md: how many runs of ten minutes stop that keep
// the limit, and how many do not that are slower from window 240 on, or from the start.
func TestStops(t *testing.T) {
	t.Parallel()
	if *stopRuns == 0 {
		t.Skip("-runs makes the table")
	}
	for _, m := range []stopModel{auto(0, 0.2), auto(0.5, 0.2), auto(0.5, 0.6), auto(0.9, 0.3), auto(0.98, 0.3), spans(30), spans(60), spans(120)} {
		good, wrong := 0, 0
		var never [3]int
		for n := range *stopRuns {
			if failed, holds := m.run(uint64(n), 600, 600, 1); holds {
				if good++; failed > 0 {
					wrong++
				}
			}
			for k, c := range []struct {
				breach int
				factor float64
			}{{240, 1.5}, {240, 3}, {0, 3}} {
				if failed, _ := m.run(uint64(n), 600, c.breach, c.factor); failed <= c.breach {
					never[k]++
				}
			}
		}
		share := func(k, of int) float64 { return 100 * float64(k) / float64(of) }
		fmt.Printf("| %s | %.1f | %.0f | %.0f | %.0f |\n", m.name, share(wrong, good), share(never[0], *stopRuns), share(never[1], *stopRuns), share(never[2], *stopRuns))
	}
}

// TestStream checks how often good runs of ten minutes stop, and how soon bad ones do. Of 2,000
// runs (-v -runs 2000), with a correlation of 0.5, 0.0% of the good ones stop, and 95% of those
// that become 50% slower stop after 96 windows if they are slow from the start, after 56, 57 and 63
// if that begins at window 100, 300 and 540. With a correlation of 0.9, 1.2% of the good ones stop,
// and few of the others: there, 50% is what chance does in a minute.
func TestStream(t *testing.T) {
	t.Parallel()
	runs := *stopRuns
	if runs == 0 {
		runs = 40
	}
	for n, m := range []stopModel{auto(0.5, 0.2), auto(0.9, 0.3)} {
		calm := n == 0
		wrong := 0
		for n := range runs {
			if failed, holds := m.run(uint64(n), 600, 600, 1); holds && failed > 0 {
				wrong++
			}
		}
		text := fmt.Sprintf("%s: %.1f%% of good runs stop;", m.name, 100*float64(wrong)/float64(runs))
		if share := float64(wrong) / float64(runs); share > 0.02+2*math.Sqrt(0.02*0.98/float64(runs)) {
			t.Errorf("%s at most 2%% are allowed", text)
		}
		for _, breach := range []int{0, 100, 300, 540} {
			var after []int
			for n := range runs {
				failed, _ := m.run(uint64(n), breach+200, breach, 1.5)
				if failed == 0 {
					failed = 1e6
				}
				after = append(after, max(failed-breach, 0))
			}
			slices.Sort(after)
			half, most := after[len(after)/2], after[len(after)*95/100]
			text += fmt.Sprintf(" breach at %d: half after %d, 95%% after %d windows;", breach, half, most)
			if calm && after[len(after)*85/100] > 90 { // few runs vary
				t.Errorf("%s too late", text)
			}
		}
		if *stopRuns > 0 {
			fmt.Println(text)
		}
	}
}
