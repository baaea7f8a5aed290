package confidence

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"hdrkit/internal/clitest"
)

// fading returns the loads of a run of a model whose values are slower at its begin: amplitude
// times as slow, which fades with a time constant in seconds.
func fading(m *model, r *rand.Rand, seconds int, amplitude, constant float64) (all []Load) {
	second := m.run(r)
	for i := range seconds {
		l := Load{Seconds: 1}
		slow := 1 + (amplitude-1)*math.Exp(-float64(i)/constant)
		for _, v := range second() {
			l.Count++
			l.Sum += v * slow
		}
		all = append(all, l)
	}
	return all
}

// within reports whether the true p99 of what is left from a second on is within a tenth of the
// p99 at the end, if values are log-normal.
func within(from, seconds int, amplitude, constant float64) bool {
	slow := func(i int) float64 { return math.Log(1 + (amplitude-1)*math.Exp(-float64(i)/constant)) }
	upTo := func(x float64) (share float64) {
		for i := from; i < seconds; i++ {
			share += normal((x - slow(i)) / spread)
		}
		return share / float64(seconds-from)
	}
	end := slow(seconds-1) + 2.326*spread
	return upTo(end+math.Log(0.9)) <= 0.99 && upTo(end+math.Log(1.1)) >= 0.99
}

// TestDecay measures how often a warm-up that fades is found: the true p99 of what is left is
// within a tenth of the p99 at the end; and how often a steady run loses its begin.
func TestDecay(t *testing.T) {
	runs := max(clitest.Rounds(100), 20)
	for _, m := range []model{auto("independent", 0, 0.2, 300, 0), auto("AR(1) 0.5", 0.5, 0.2, 300, 0), auto("AR(1) 0.9", 0.9, 0.1, 300, 0)} {
		for _, amplitude := range []float64{2, 4} {
			worst := ""
			least := runs
			for _, constant := range []float64{5, 10, 20, 40, 60} {
				found := 0
				for n := range runs {
					r := rand.New(rand.NewPCG(uint64(n), uint64(constant)))
					cut, ok := SteadyFrom(fading(&m, r, 300, amplitude, constant))
					if ok && within(cut, 300, amplitude, constant) {
						found++
					}
				}
				worst += fmt.Sprintf(" %v s: %.0f%%", constant, 100*float64(found)/float64(runs))
				least = min(least, found)
			}
			t.Logf("%s, %v times:%s", m.name, amplitude, worst)
			if wanted := map[float64]int{2: runs * 7 / 10, 4: runs * 8 / 10}[amplitude]; least < wanted { // 83 and 87% of 60 runs
				t.Errorf("%s, %v times: only %d of %d", m.name, amplitude, least, runs)
			}
		}
	}
	for _, m := range models {
		if m.name == "drift" {
			continue
		}
		cut := 0
		for n := range runs {
			if from, ok := SteadyFrom(fading(&m, rand.New(rand.NewPCG(uint64(n), 9)), m.seconds, 1, 1)); from > 0 || !ok {
				cut++
			}
		}
		t.Logf("%s, %d s: %d of %d cut", m.name, m.seconds, cut, runs)
		// Runs with few independent parts of the time: their begin differs from the rest by chance.
		few := m.name == "AR(1) 0.98" || m.name == "AR(1) 0.9" && m.seconds < 600 || m.name == "good and bad minutes"
		if cut > runs/10 && !few {
			t.Errorf("%s, %d s: %d of %d steady runs are cut", m.name, m.seconds, cut, runs)
		}
	}
}
