// Command believe checks the intervals of hdrlog/confidence with runs whose true percentiles are
// known. It prints a row for each model and percentile:
//
//	go run ./believe -runs 1000
//
// "independent" is how often the textbook interval of independent values (binomial) has the truth
// in it, "covered" how often the interval that is shown has. "refused" runs are too short. "wrong"
// is the share of all runs that show an interval without the truth in it. "A/A" is the share of
// pairs of equal runs that are called different, and "+5%" to "+20%" the share of pairs with that
// change that are. "warm-up" is the share of windows that SteadyFrom leaves out, although all are
// steady (but for the drift), and "unsteady" the share of runs in which it finds no steady part.
// "shift" is the share of runs in which Shift finds one, although there is none, and "found" that
// of runs whose second part is half as slow again, and in which Shift finds that within a tenth of
// the run.
//
// Below the table stand the demands on these shares. The command ends with status 1 if one does not
// hold.
package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"sync"

	"hdrkit/hdrlog/confidence"
	"hdrkit/hdrlog/histogram"
)

// level is the nominal confidence.
const level = 95

var percentiles = []float64{50, 99, 99.9}

// changes are factors of the second run of a pair.
var changes = []float64{1, 1.05, 1.1, 1.2}

func main() {
	runs := flag.Int("runs", 1000, "number of runs of each model")
	only := flag.String("models", "", "models whose names match this expression")
	flag.Parse()
	chosen, err := regexp.Compile(*only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "believe:", err)
		os.Exit(2)
	}
	fmt.Println("| model | seconds | figure | independent | covered | width | refused | wrong | A/A | +5% | +10% | +20% | warm-up | unsteady | shift | found |")
	fmt.Println("| --- | --: | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |")
	for n := range models {
		if m := &models[n]; chosen.MatchString(m.name) {
			m.print(*runs*m.times, uint64(n))
		}
	}
	fmt.Println()
	good := true
	for _, d := range []*demand{&demands.wrong, &demands.different, &demands.covered, &demands.shift} {
		good = d.print() && good
	}
	if !good {
		os.Exit(1)
	}
}

// A demand is that a share of the runs of models is from least to most.
type demand struct {
	name        string
	least, most float64
	low, high   figure
}

// A figure is a share of the runs of a model, with the model's name. The zero value is none.
type figure struct {
	share float64
	of    string
}

var demands = struct{ wrong, different, covered, shift demand }{
	demand{name: "wrong, of all runs", most: 0.1},
	demand{name: "A/A, of all pairs", most: 0.07},
	demand{name: "covered, of the runs shown of independent values, AR(1) 0.5 and stalls", least: 0.92, most: 0.98},
	demand{name: "shift of p99, of all runs", most: 0.05},
}

// add takes in the share k/n of the runs of a model. If n is 0, there is none.
func (d *demand) add(k, n int, of string) {
	if n == 0 {
		return
	}
	f := figure{float64(k) / float64(n), of}
	if d.low.of == "" || f.share < d.low.share {
		d.low = f
	}
	if d.high.of == "" || f.share > d.high.share {
		d.high = f
	}
}

// print prints a demand with the lowest and the highest share, and reports whether it holds.
func (d *demand) print() bool {
	if d.low.of == "" {
		return true
	}
	verdict, holds := "holds", d.low.share >= d.least && d.high.share <= d.most
	if !holds {
		verdict = "DOES NOT HOLD"
	}
	fmt.Printf("%s: from %.1f%% (%s) to %.1f%% (%s). Demanded: %.0f%% to %.0f%%. %s\n",
		d.name, 100*d.low.share, d.low.of, 100*d.high.share, d.high.of, 100*d.least, 100*d.most, verdict)
	return holds
}

// A tally counts what became of the runs of a model, for one percentile.
type tally struct {
	runs, shown, covered, wrong, independent int
	width                                    float64
	different                                []int // by change
	shift, found                             int
}

// print simulates a model, prints its rows, and adds them to the demands.
func (m *model) print(runs int, seed uint64) {
	tallies := make([]tally, len(percentiles))
	truths := make([]float64, len(percentiles))
	for n, p := range percentiles {
		tallies[n].different = make([]int, len(changes))
		truths[n] = m.truth(p)
	}
	var leftOut float64
	var unsteady int
	var lock sync.Mutex
	var workers sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for pair := range next {
				r := rand.New(rand.NewPCG(seed, uint64(pair)))
				first, second := m.make(r, m.seconds), m.make(r, m.seconds)
				sum, windows := record(first, 1)
				before := confidence.NewRun(sum, windows)
				warm, steady := confidence.SteadyFrom(windows)
				var after []*confidence.Run
				for _, factor := range changes {
					sum, windows := record(second, factor)
					after = append(after, confidence.NewRun(sum, windows))
				}
				middle := m.seconds * 2 / 5
				sum2, windows2 := record(append(slices.Clone(first[:middle]), slower(first[middle:], 1.5)...), 1)
				shifted := confidence.NewRun(sum2, windows2)
				lock.Lock()
				if leftOut += float64(warm) / float64(m.seconds); !steady {
					unsteady++
				}
				lock.Unlock()
				estimates := before.Percentiles(percentiles, level)
				for n, p := range percentiles {
					a := estimates[n]
					var different []bool
					for _, run := range after {
						c := confidence.Compare(a, run.Percentile(p, level), level)
						different = append(different, c.Low > 1 || c.High < 1)
					}
					_, shift := before.Shift(p)
					at, found := shifted.Shift(p)
					lock.Lock()
					if shift {
						tallies[n].shift++
					}
					if found && max(at-middle, middle-at)*10 <= m.seconds {
						tallies[n].found++
					}
					tallies[n].add(a, truths[n]*unit, binomial(sum, p, truths[n]*unit), different)
					lock.Unlock()
				}
			}
		})
	}
	for pair := range runs {
		next <- pair
	}
	close(next)
	workers.Wait()
	for n, p := range percentiles {
		t := &tallies[n]
		part := func(k, of int) string {
			if of == 0 {
				return "-"
			}
			return fmt.Sprintf("%.1f%%", 100*float64(k)/float64(of))
		}
		width := "-"
		if t.shown > 0 {
			width = fmt.Sprintf("±%.1f%%", 100*t.width/float64(t.shown)/2)
		}
		fmt.Printf("| %s | %d | p%v | %s | %s | %s | %s | %s |", m.name, m.seconds, p,
			part(t.independent, t.runs), part(t.covered, t.shown), width, part(t.runs-t.shown, t.runs), part(t.wrong, t.runs))
		for _, k := range t.different {
			fmt.Printf(" %s |", part(k, t.runs))
		}
		fmt.Printf(" %.1f%% | %s | %s | %s |\n", 100*leftOut/float64(runs), part(unsteady, runs), part(t.shift, t.runs), part(t.found, t.runs))
		of := fmt.Sprintf("%s, p%v", m.name, p)
		demands.wrong.add(t.wrong, t.runs, of)
		demands.different.add(t.different[0], t.runs, of)
		if m.checked {
			demands.covered.add(t.covered, t.shown, of)
		}
		if p == 99 {
			demands.shift.add(t.shift, t.runs, of)
		}
	}
}

func (t *tally) add(e confidence.Estimate, truth float64, independent bool, different []bool) {
	t.runs++
	if independent {
		t.independent++
	}
	for n := range different {
		if different[n] {
			t.different[n]++
		}
	}
	if e.TooShort || math.IsNaN(e.Low) && math.IsNaN(e.High) {
		return
	}
	t.shown++
	if !math.IsNaN(e.Low) && !math.IsNaN(e.High) {
		t.width += (e.High - e.Low) / e.Value
	}
	// A slot is a thousandth wide, and its highest value stands for it.
	if e.Low > truth*1.001 || e.High < truth {
		t.wrong++
	} else {
		t.covered++
	}
}

// slower returns values times a factor.
func slower(seconds [][]float64, factor float64) (all [][]float64) {
	for _, values := range seconds {
		var second []float64
		for _, v := range values {
			second = append(second, v*factor)
		}
		all = append(all, second)
	}
	return all
}

// unit is the number of units of a histogram in a value of 1.
const unit = 1e6

// seconds of the model as a window.
type window []int64

func (w window) Count(upTo, counts []int64) (total int64, sum float64) {
	clear(counts)
	for _, v := range w {
		sum += float64(v)
		for n := len(upTo) - 1; n >= 0 && v <= upTo[n]; n-- {
			counts[n]++
		}
	}
	return int64(len(w)), sum
}

func (w window) Seconds() float64 { return 1 }

// record returns values times a factor, in windows and as their sum.
func record(seconds [][]float64, factor float64) (*histogram.Histogram, []confidence.Window) {
	sum, err := histogram.New(histogram.Layout{Lowest: 1, Digits: 3})
	if err != nil {
		panic(err)
	}
	var windows []confidence.Window
	for _, values := range seconds {
		w := make(window, len(values))
		for i, v := range values {
			w[i] = int64(v * factor * unit)
			if err := sum.Record(w[i], 1); err != nil {
				panic(err)
			}
		}
		windows = append(windows, w)
	}
	return sum, windows
}

// binomial reports whether the interval of independent values has the truth in it.
func binomial(sum *histogram.Histogram, percentile, truth float64) bool {
	p, n := percentile/100, float64(sum.TotalCount())
	h := 1.96 * math.Sqrt(n*p*(1-p))
	value := func(rank float64) float64 { return float64(sum.ValueAtPercentile(100 * rank / n)) }
	return value(n*p-h) <= truth*1.001 && (n*p+h > n || value(n*p+h) >= truth)
}
