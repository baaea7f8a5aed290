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

// A stopModel makes the excess of windows over a limit of p99 that is 5% above the truth. Values
// are log-normal around a level that is an AR(1) process.
type stopModel struct{ correlation, deviation float64 }

// run returns the window at which the stream fails, 0 if none, and whether the figure of all
// windows holds. From a window on, values are 50% higher.
func (m stopModel) run(seed uint64, windows, breach int) (failed int, holds bool) {
	const within, perWindow, p, z = 0.5, 200, 0.99, 2.3263478740408408
	r := rand.New(rand.NewPCG(seed, 1))
	limit := -m.deviation*m.deviation + z*math.Hypot(m.deviation, within) + math.Log(1.05)
	var s stream
	level := m.deviation * r.NormFloat64()
	for n := range windows {
		now := level
		if n >= breach {
			now += math.Log(1.5)
		}
		values := perWindow * math.Exp(-level)
		values += math.Sqrt(values) * r.NormFloat64()
		above := 0.0
		for range int(values) {
			if now+within*r.NormFloat64() > limit {
				above++
			}
		}
		if s.add(above - (1-p)*math.Floor(values)); s.failed && failed == 0 {
			failed = n + 1
		}
		level = m.correlation*level + math.Sqrt(1-m.correlation*m.correlation)*m.deviation*r.NormFloat64()
	}
	return failed, s.sum <= 0
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
	for _, m := range []stopModel{{0.5, 0.2}, {0.9, 0.3}} {
		wrong := 0
		for n := range runs {
			if failed, holds := m.run(uint64(n), 600, 600); holds && failed > 0 {
				wrong++
			}
		}
		text := fmt.Sprintf("AR(1) %v: %.1f%% of good runs stop;", m.correlation, 100*float64(wrong)/float64(runs))
		if share := float64(wrong) / float64(runs); share > 0.02+2*math.Sqrt(0.02*0.98/float64(runs)) {
			t.Errorf("%s at most 2%% are allowed", text)
		}
		for _, breach := range []int{0, 100, 300, 540} {
			var after []int
			for n := range runs {
				failed, _ := m.run(uint64(n), breach+200, breach)
				if failed == 0 {
					failed = 1e6
				}
				after = append(after, max(failed-breach, 0))
			}
			slices.Sort(after)
			half, most := after[len(after)/2], after[len(after)*95/100]
			text += fmt.Sprintf(" breach at %d: half after %d, 95%% after %d windows;", breach, half, most)
			if m.correlation <= 0.5 && after[len(after)*85/100] > 90 { // few runs vary
				t.Errorf("%s too late", text)
			}
		}
		if *stopRuns > 0 {
			fmt.Println(text)
		}
	}
}
