package trend

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hdrkit/hdrlog/confidence"
	"hdrkit/internal/gate"
	"hdrkit/internal/sides"
	"hdrkit/output"
)

var (
	manySeries = flag.Int("series", 0, "series of each row of TestNights and TestWhere, for the tables of bench/confidence.md")
	seed       = flag.Uint64("seed", 0, "other series are simulated for each seed")
)

// seriesOf returns the number of series, and whether a table is printed.
func seriesOf(t *testing.T, head string) (series int, table bool) {
	t.Helper()
	if *manySeries == 0 {
		return 200, false
	}
	fmt.Println(head)
	return *manySeries, true
}

// A night is what a limit makes of so many series in a night.
type night struct{ failed, open int }

// gateNights checks a limit each night after 18 nights: those are higher by a ratio. It returns how
// many of the series failed in some night, too.
func gateNights(t *testing.T, limit string, ratio, sd float64, series, after int) (nights []night, any int) {
	t.Helper()
	const before = 18
	limits, err := gate.Parse(limit)
	if err != nil {
		t.Fatal(err)
	}
	nights = make([]night, after)
	for n := range series {
		r := rand.New(rand.NewPCG(77+*seed, uint64(n)))
		var points []confidence.RunFigure
		for range before {
			points = append(points, confidence.RunFigure{Value: 6.2 * math.Exp(sd*r.NormFloat64())})
		}
		failed := false
		for k := range after {
			points = append(points, confidence.RunFigure{Value: ratio * 6.2 * math.Exp(sd*r.NormFloat64())})
			f := sides.TrendFigure{Figure: limits[0].Figure, Points: points}
			switch Judge(&sides.Trend{Scale: inMilliseconds, Figures: []sides.TrendFigure{f}}, limitsOf(limits))[0].Result {
			case output.Fails:
				nights[k].failed++
				failed = true
			case output.Undecided:
				nights[k].open++
			}
		}
		if failed {
			any++
		}
	}
	return nights, any
}

// TestNights checks limits each night: in the ten nights after a rise, which they do not forget,
// and in thirty equal nights.
func TestNights(t *testing.T) {
	series, table := seriesOf(t, "| limit | deviation | a night: fail | look worse | in thirty: fail |\n| --- | --: | --: | --: | --: |")
	percent := func(n int) float64 { return 100 * float64(n) / float64(series) }
	for _, limit := range []string{"p99<=+0%", "p99<=+5%", "p99<=+10%"} {
		for _, sd := range []float64{0.03, 0.06} {
			nights, any := gateNights(t, limit, 1, sd, series, 30)
			failed, open := 0, 0
			for _, n := range nights {
				failed, open = failed+n.failed, open+n.open
			}
			if table {
				fmt.Printf("| `%s` | %.0f%% | %.2f | %.1f | %.1f |\n", limit, 100*sd, percent(failed)/30, percent(open)/30, percent(any))
			}
			most := 1.0              // percent of nights
			if limit == "p99<=+0%" { // has no room for a change of the level that is none
				most = 2
			}
			if percent(failed)/30 > most || percent(any) > 5*most+3*math.Sqrt(5*95/float64(series)) {
				t.Errorf("%s at %v: %.2f%% of equal nights fail, and %.1f%% of thirty", limit, sd, percent(failed)/30, percent(any))
			}
		}
	}
	if table {
		fmt.Println("\n| limit | rise | deviation | night 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 |\n| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |")
	}
	for _, c := range []struct {
		limit     string
		ratio, sd float64
	}{
		{"p99<=+5%", 1.1, 0.03}, {"p99<=+5%", 1.15, 0.03}, {"p99<=+5%", 1.2, 0.03}, {"p99<=+10%", 1.15, 0.03}, {"p99<=+10%", 1.2, 0.03},
		{"p99<=+5%", 1.1, 0.06}, {"p99<=+5%", 1.15, 0.06}, {"p99<=+5%", 1.2, 0.06}, {"p99<=+10%", 1.2, 0.06}, {"p99<=+10%", 1.3, 0.06},
	} {
		nights, _ := gateNights(t, c.limit, c.ratio, c.sd, series, 10)
		if table {
			fmt.Printf("| `%s` | +%.0f%% | %.0f%% |", c.limit, 100*(c.ratio-1), 100*c.sd)
			for _, n := range nights {
				fmt.Printf(" %.0f |", percent(n.failed))
			}
			fmt.Println()
		}
		limits, _ := gate.Parse(c.limit)
		clear := c.ratio-1-limits[0].Change.Percent/100 >= 3*c.sd
		for k, n := range nights[2:] {
			if clear && percent(n.failed) < 90 {
				t.Errorf("%s, x%v at %v: %.0f%% fail in night %d", c.limit, c.ratio, c.sd, percent(n.failed), k+3)
			}
		}
	}
}

// TestWhere counts how often the range of a date has the night at which the level changed, of the
// changes that are found.
func TestWhere(t *testing.T) {
	series, table := seriesOf(t, "| rise | deviation | at night | found | right | nights of the range |\n| --: | --: | --: | --: | --: | --: |")
	for _, c := range []struct{ ratio, sd float64 }{{1.1, 0.03}, {1.2, 0.03}, {1.1, 0.06}, {1.2, 0.06}} {
		for _, at := range []int{4, 15, 25} {
			found, right, wide := 0, 0, 0
			for n := range series {
				r := rand.New(rand.NewPCG(78+*seed, uint64(n)))
				levels, _ := Find(nights(r, c.sd, c.ratio, at, 30))
				if len(levels) != 2 {
					continue
				}
				found++
				wide += levels[1].Latest - levels[1].Earliest + 1
				if levels[1].Earliest <= at && at <= levels[1].Latest {
					right++
				}
			}
			of := float64(found)
			if table {
				fmt.Printf("| +%.0f%% | %.0f%% | %d | %.0f | %.0f | %.1f |\n", 100*(c.ratio-1), 100*c.sd, at+1, 100*of/float64(series), 100*float64(right)/of, float64(wide)/of)
			}
			if float64(right)/of < 0.85-2*math.Sqrt(0.13/of) {
				t.Errorf("x%v at %v, night %d: %d of %d ranges are right", c.ratio, c.sd, at, right, found)
			}
		}
	}
}

// TestRange: a level that begins little by little begins in a range of runs, whose ends change
// places if the runs are in reverse.
func TestRange(t *testing.T) {
	for _, test := range []struct {
		values           []float64
		earliest, latest int
	}{
		{[]float64{4, 4.1, 3.9, 4, 4.1, 3.9, 4.4, 4.6, 4.8, 4.9, 4.7, 4.8}, 6, 7},
		{[]float64{4, 4.2, 3.9, 4, 4.2, 3.9, 4.3, 4.5, 5, 4.9, 4.7, 5}, 6, 8},
		{[]float64{4, 4.2, 3.9, 4, 4.2, 4.3, 4.6, 4.5, 5, 4.9, 4.7, 5}, 5, 8},
		{[]float64{4, 4.1, 3.9, 4, 4.1, 3.9, 8, 8.1, 7.9, 8, 8.1, 7.9}, 6, 6},
	} {
		reverse := slices.Clone(test.values)
		slices.Reverse(reverse)
		there, _ := Find(points(test.values...))
		back, _ := Find(points(reverse...))
		if len(there) != 2 || there[1].Earliest != test.earliest || there[1].Latest != test.latest {
			t.Errorf("%v: %+v, want %d to %d", test.values, there, test.earliest, test.latest)
		}
		n := len(reverse)
		if len(back) != 2 || back[1].Earliest != n-test.latest || back[1].Latest != n-test.earliest {
			t.Errorf("%v: %+v, want %d to %d", reverse, back, n-test.latest, n-test.earliest)
		}
	}
}
