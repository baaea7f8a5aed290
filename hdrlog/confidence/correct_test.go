package confidence

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog/internal/logtest"
)

// holm is the correction that Hochberg's took the place of: it goes on from the smallest P as long
// as they are small enough.
func holm(p []float64, level float64) (significant []bool) {
	sorted := slices.DeleteFunc(slices.Sorted(slices.Values(p)), math.IsNaN)
	most := -1.0
	for n, v := range sorted {
		if v*float64(len(sorted)-n) > 1-level/100 {
			break
		}
		most = v
	}
	for _, v := range p {
		significant = append(significant, v <= most)
	}
	return significant
}

// A found counts comparisons of several figures: those in which one differs, and the figures that
// do.
type found struct{ any, figures, of, all int }

func (f *found) add(significant []bool, p []float64) {
	n := 0
	for i, s := range significant {
		if s {
			n++
		}
		if !math.IsNaN(p[i]) {
			f.all++
		}
	}
	f.figures += n
	f.of++
	if n > 0 {
		f.any++
	}
}

// TestHochberg counts how many comparisons of equal sides have a difference, and how many of the
// figures are found if all changed, by the corrections of Holm and Hochberg: of several runs whose
// figures move together, and of one run against one of the models. With -runs, it prints the table
// of bench/confidence.md.
func TestHochberg(t *testing.T) {
	runs := logtest.Rounds(300)
	if *manyRuns > 0 {
		runs = *manyRuns
		fmt.Println("| runs a side | figures | dependence | equal | +10% | +20% |\n| --- | --: | --: | --: | --: | --: |")
	}
	for _, side := range []int{3, 5} {
		for _, figures := range []int{6, 8, 24} {
			for _, dependence := range []float64{0, 0.95} {
				var equal [2]found
				text := ""
				for _, factor := range []float64{1, 1.1, 1.2} {
					var both [2]found
					for n := range runs {
						r := rand.New(rand.NewPCG(4600+*seed+uint64(side), uint64(n)))
						p := sidesOf(r, side, figures, dependence, factor)
						both[0].add(holm(p, 95), p)
						both[1].add(Significant(p, 95), p)
					}
					if factor == 1 {
						equal = both
						text += fmt.Sprintf(" | %s, %s", share(both[0].any, runs), share(both[1].any, runs))
					} else {
						text += fmt.Sprintf(" | %s, %s", share(both[0].figures, both[0].all), share(both[1].figures, both[1].all))
					}
				}
				if *manyRuns > 0 {
					fmt.Printf("| %d | %d | %v%s |\n", side, figures, dependence, text)
				}
				if most := 0.05 + 3*math.Sqrt(0.05/float64(runs)); float64(equal[1].any) > most*float64(runs) {
					t.Errorf("%d runs a side, %d figures, dependence %v: %d of %d equal sides differ", side, figures, dependence, equal[1].any, runs)
				}
			}
		}
	}
}

// sidesOf returns the P of figures of two sides of runs, which vary by 4%. The figures of a run
// depend on each other. Those of the second side are higher by a factor.
func sidesOf(r *rand.Rand, side, figures int, dependence, factor float64) (p []float64) {
	const deviation = 0.04
	var common [2][]float64
	for s := range common {
		for range side {
			common[s] = append(common[s], r.NormFloat64())
		}
	}
	for range figures {
		var sides [2][]RunFigure
		for s, times := range []float64{1, factor} {
			for n := range side {
				z := math.Sqrt(dependence)*common[s][n] + math.Sqrt(1-dependence)*r.NormFloat64()
				sides[s] = append(sides[s], RunFigure{Value: times * math.Exp(deviation*z)})
			}
		}
		p = append(p, CompareRuns(sides[0], sides[1], 95).P)
	}
	return p
}

// TestHochbergOfRuns does the same with one run against one of the models: the percentiles that
// hdrdiff compares, and the rate, of two tags.
func TestHochbergOfRuns(t *testing.T) {
	runs, lengths := 6, []int{120}
	if *manyRuns > 0 {
		runs, lengths = *manyRuns, []int{120, 600}
		fmt.Println("| model | seconds | equal | +10% | +20% |\n| --- |" + strings.Repeat(" --: |", 4))
	}
	some := regexp.MustCompile(*someModels)
	percentiles := []float64{50, 90, 99, 99.9}
	for _, m := range pairModels {
		if !some.MatchString(m.name) {
			continue
		}
		for _, m.seconds = range lengths {
			var all [3][2]found
			for n := range runs {
				r := rand.New(rand.NewPCG(4600+*seed+uint64(m.seconds), uint64(n)))
				var p [3][]float64
				for range 2 { // tags
					before, after := m.record(r), m.record(r)
					olds, news := before.Percentiles(percentiles, 95), after.Percentiles(percentiles, 95)
					for i, factor := range []float64{1, 1.1, 1.2} {
						for k := range olds {
							p[i] = append(p[i], Compare(olds[k], news[k].Times(factor), 95).P)
						}
					}
					p[0] = append(p[0], Compare(before.Rate(95), after.Rate(95), 95).P)
				}
				for i := range all {
					all[i][0].add(holm(p[i], 95), p[i])
					all[i][1].add(Significant(p[i], 95), p[i])
				}
			}
			if *manyRuns > 0 {
				fmt.Printf("| %s | %d | %s, %s |", m.name, m.seconds, share(all[0][0].any, runs), share(all[0][1].any, runs))
				for _, both := range all[1:] {
					fmt.Printf(" %s, %s |", share(both[0].figures, both[0].all), share(both[1].figures, both[1].all))
				}
				fmt.Println()
			}
			most := 0.08
			if m.name == "AR(1) 0.98" { // longer than the runs: one figure in 16 differs by itself
				most = 0.2
			}
			if most += 3 * math.Sqrt(most/float64(runs)); float64(all[0][1].any) > most*float64(runs) {
				t.Errorf("%s, %d s: %d of %d equal pairs differ", m.name, m.seconds, all[0][1].any, runs)
			}
		}
	}
}
