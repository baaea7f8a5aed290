package detect

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var (
	coincideRounds = flag.Int("coincide", 150, "how many runs of each world TestCoincide makes")
	coincideSeed   = flag.Uint64("coincide-seed", 1, "the seed of TestCoincide")
)

// A togetherWorld makes what is recorded in a run of so many seconds, without what something
// causes: how high the load and the slow values are in each second, and how many things happen.
type togetherWorld func(r *rand.Rand, seconds int, often float64) (load, slow, things []float64)

// level returns a series around 1 whose logarithms are those of an autoregression.
func level(r *rand.Rand, n int, rho, deviation float64) []float64 {
	all := make([]float64, n)
	z := r.NormFloat64()
	for i := range all {
		z = rho*z + math.Sqrt(1-rho*rho)*r.NormFloat64()
		all[i] = math.Exp(deviation * z)
	}
	return all
}

// constant returns a number so many times.
func constant(v float64, n int) []float64 { return slices.Repeat([]float64{v}, n) }

// times returns the products of two series.
func times(a, b []float64) []float64 {
	all := slices.Clone(a)
	for i := range all {
		all[i] *= b[i]
	}
	return all
}

// beats returns a series that is low but for one second in each period.
func beats(n int, period, phase, low, high float64) []float64 {
	all := constant(low, n)
	for at := phase; at < float64(n); at += period {
		all[int(at)] = high
	}
	return all
}

// bursts returns a series that is high for a few seconds now and then.
func bursts(r *rand.Rand, n, every, most int, low, high float64) []float64 {
	all := constant(low, n)
	for range max(3, n/every) {
		at := r.IntN(n)
		for i := at; i < min(at+1+r.IntN(most), n); i++ {
			all[i] = high
		}
	}
	return all
}

// fading returns a series that falls along a line.
func fading(n int) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = 3 - 2.7*float64(i)/float64(n)
	}
	return all
}

var togetherWorlds = map[string]togetherWorld{
	"independent": func(r *rand.Rand, n int, often float64) (load, slow, things []float64) {
		load = level(r, n, 0.9, 0.3)
		return load, load, constant(often, n)
	},
	"rhythms": func(r *rand.Rand, n int, often float64) (load, slow, things []float64) {
		one, other := 5+85*r.Float64(), 5+85*r.Float64()
		return constant(1, n), beats(n, one, one*r.Float64(), 0.2, 40), beats(n, other, other*r.Float64(), 0, -1)
	},
	"one rhythm, out of phase": func(r *rand.Rand, n int, often float64) (load, slow, things []float64) {
		period := 8 + 82*r.Float64()
		phase := period * r.Float64()
		after := math.Mod(phase+3+(period-6)*r.Float64(), period)
		return constant(1, n), beats(n, period, phase, 0.2, 40), beats(n, period, after, 0, -1)
	},
	"load drives both": func(r *rand.Rand, n int, often float64) (load, slow, things []float64) {
		load = level(r, n, 0.9, 0.5)
		return load, times(load, load), times(load, constant(often, n))
	},
	"slow load drives both": func(r *rand.Rand, n int, often float64) (load, slow, things []float64) {
		load = level(r, n, 0.98, 0.5)
		return load, times(load, load), times(load, constant(often, n))
	},
	"both fade": func(r *rand.Rand, n int, often float64) (load, slow, things []float64) {
		return constant(1, n), times(fading(n), level(r, n, 0.9, 0.3)), times(fading(n), constant(often, n))
	},
	"bursts": func(r *rand.Rand, n int, often float64) (load, slow, things []float64) {
		return constant(1, n), bursts(r, n, 120, 14, 0.1, 30), bursts(r, n, 200, 18, 0.01, 0.5)
	},
	"AR 0.9": func(r *rand.Rand, n int, often float64) (load, slow, things []float64) {
		return constant(1, n), level(r, n, 0.9, 1), times(level(r, n, 0.9, 1), constant(often, n))
	},
	"AR 0.95": func(r *rand.Rand, n int, often float64) (load, slow, things []float64) {
		return constant(1, n), level(r, n, 0.95, 1), times(level(r, n, 0.95, 1), constant(often, n))
	},
}

// Of these the documents say how often a coincidence is wrong, or not found.
var hardWorlds = map[string]togetherWorld{
	"hidden load drives both": func(r *rand.Rand, n int, often float64) (load, slow, things []float64) {
		hidden := level(r, n, 0.9, 0.5)
		return constant(1, n), times(hidden, hidden), times(hidden, constant(often, n))
	},
	"round period": func(r *rand.Rand, n int, often float64) (load, slow, things []float64) {
		period := []float64{5, 10, 15, 20, 30}[r.IntN(5)]
		return constant(1, n), constant(1, n), beats(n, period, period*r.Float64(), 0, -1)
	},
}

// poisson returns a number with Poisson's distribution.
func poisson(r *rand.Rand, mean float64) float64 {
	if mean > 50 {
		return max(math.Round(mean+math.Sqrt(mean)*r.NormFloat64()), 0)
	}
	n, p, limit := 0.0, r.Float64(), math.Exp(-mean)
	for p > limit {
		p *= r.Float64()
		n++
	}
	return n
}

// run makes a run of a world in which things cause a share of the slow values. It returns false if
// too little happens.
func (w togetherWorld) run(r *rand.Rand, seconds int, share float64) (slots []Slot, touched []bool, ok bool) {
	rare := math.Log(max(10/float64(seconds), 0.01))
	often := math.Exp(rare + (math.Log(0.2)-rare)*r.Float64())
	rate := []float64{200, 500, 1000}[r.IntN(3)]
	total := max(50, rate/1000*float64(seconds))
	load, slow, things := w(r, seconds, often)
	slots, touched = make([]Slot, seconds), make([]bool, seconds)
	usual := Mean(slow)
	for i := range slots {
		slots[i].Count = poisson(r, rate*load[i])
		slots[i].Slow = poisson(r, slow[i]/usual*total*(1-share)/float64(seconds))
	}
	length := math.Exp(math.Log(0.02) + math.Log(30)*r.Float64())
	var at, lengths []float64
	sum := 0.0
	for i, often := range things {
		count := poisson(r, max(min(often, 3), 0))
		if often < 0 { // one for sure
			count = 1
		}
		for range int(count) {
			lasts := length * math.Exp(0.4*r.NormFloat64())
			at, lengths = append(at, float64(i)+r.Float64()), append(lengths, lasts)
			sum += lasts
		}
	}
	for n, start := range at {
		for i := int(start); i <= min(int(start+2*lengths[n]), seconds-1); i++ {
			touched[i] = true
		}
		for range int(poisson(r, total*share*lengths[n]/sum)) {
			slots[min(int(start+lengths[n]*r.Float64()), seconds-1)].Slow++
		}
	}
	all := 0.0
	for _, s := range slots {
		all += s.Slow
	}
	return slots, touched, len(at) >= 8 && all >= MinSlow
}

// TestCoincide: of worlds in which nothing is caused, at most one in fifty has a coincidence, and
// of those in which a fifth or half of the slow values is, most have. The table of
// docs/statistics.md is that of -coincide 2000 -coincide-seed 2026 -v.
func TestCoincide(t *testing.T) {
	t.Parallel()
	worlds := maps.Clone(togetherWorlds)
	if testing.Verbose() {
		maps.Copy(worlds, hardWorlds)
	}
	for _, seconds := range []int{300, 900} {
		for name, world := range worlds {
			for _, share := range []float64{0, 0.2, 0.5} {
				causes := slices.Contains([]string{"independent", "slow load drives both", "bursts", "round period"}, name)
				if share > 0 && !causes {
					continue
				}
				r := rand.New(rand.NewPCG(*coincideSeed, uint64(seconds)))
				found, rounds := 0, 0
				off := 0.0
				for rounds < *coincideRounds {
					slots, touched, ok := world.run(r, seconds, share)
					if !ok {
						continue
					}
					rounds++
					if c, beyond := Coincide(slots, touched); beyond {
						found++
						off += c.Share - c.Chance - share
					}
				}
				part := float64(found) / float64(rounds)
				what := fmt.Sprintf("%s, %d s, a share of %v: %.1f%%, its size off by %.3f", name, seconds, share, 100*part,
					off/max(float64(found), 1))
				t.Log(what)
				if hardWorlds[name] != nil {
					continue
				}
				noise := 3 * math.Sqrt(0.02/float64(rounds))
				switch {
				case share == 0 && part > 0.02+noise,
					share == 0.2 && part < 0.7-noise,
					share == 0.5 && part < 0.95-noise,
					share > 0 && math.Abs(off/float64(found)) > 0.05:
					t.Error(what)
				}
			}
		}
	}
}
