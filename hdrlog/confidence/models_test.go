package confidence

import (
	"math"
	"math/rand/v2"
)

// A model makes runs whose true percentiles are known.
type model struct {
	name    string
	seconds int
	// second returns what makes the values of one second after another, in a run of its own.
	run func(r *rand.Rand) (second func() []float64)
	// upTo returns the share of values up to x in an endless run, mean their mean, and rate their
	// number in a second. If upTo is
	// nil, truths has the percentiles.
	upTo       func(x float64) float64
	truths     map[float64]float64
	mean, rate float64
	// least is the demanded coverage of the intervals of percentiles that are shown, 0 for none.
	least float64
}

const (
	// spread is the deviation of the logarithms of the values of one second.
	spread = 0.5
	// perSecond is the usual number of values of a second.
	perSecond = 200
)

var models = []model{
	auto("independent", 0, 0.2, 600, 0.92),
	auto("AR(1) 0.5", 0.5, 0.2, 600, 0.92),
	auto("AR(1) 0.9", 0.9, 0.3, 600, 0.92),
	auto("AR(1) 0.98", 0.98, 0.3, 600, 0),
	auto("AR(1) 0.5", 0.5, 0.2, 120, 0),
	auto("AR(1) 0.9", 0.9, 0.3, 120, 0),
	auto("AR(1) 0.9", 0.9, 0.3, 3600, 0.92),
	queue(0.7),
	heavyTail(),
	levels("good and bad minutes", 600, 60, 0.2, 2, 0),
	levels("good and bad minutes", 3600, 60, 0.2, 2, 0.89),
	levels("stalls of 1 s in 100 s", 600, 1, 0.01, 10, 0),
	levels("pauses of 1 s in 20 s", 600, 1, 0.05, 5, 0),
	periodic(),
	drift(),
}

// normal is the distribution function of the standard normal distribution.
func normal(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// logNormal returns the share of values up to x, if their logarithms have a mean and a deviation.
func logNormal(x, mean, deviation float64) float64 { return normal((math.Log(x) - mean) / deviation) }

// meanOf returns the mean of values whose logarithms have a mean and a deviation.
func meanOf(mean, deviation float64) float64 { return math.Exp(mean + deviation*deviation/2) }

// around returns the values of a second: about n, their logarithms around a level.
func around(r *rand.Rand, n, level float64) []float64 {
	values := make([]float64, poisson(r, n))
	for i := range values {
		values[i] = math.Exp(level + spread*r.NormFloat64())
	}
	return values
}

// poisson returns a number with the Poisson distribution. It counts the arrivals in a time of mean.
func poisson(r *rand.Rand, mean float64) (n int) {
	for at := r.ExpFloat64(); at < mean; at += r.ExpFloat64() {
		n++
	}
	return n
}

// level returns an AR(1) process.
func level(r *rand.Rand, correlation, deviation float64) func() float64 {
	now := deviation * r.NormFloat64()
	return func() float64 {
		defer func() {
			now = correlation*now + math.Sqrt(1-correlation*correlation)*deviation*r.NormFloat64()
		}()
		return now
	}
}

// auto has a level that is an AR(1) process. Fewer values are recorded when latency is high, so the
// levels are weighted by exp(-level). That moves their mean by -deviation^2.
func auto(name string, correlation, deviation float64, seconds int, least float64) model {
	wide := math.Hypot(deviation, spread)
	return model{name: name, seconds: seconds, least: least, mean: meanOf(-deviation*deviation, wide), rate: perSecond * meanOf(0, deviation),
		run: func(r *rand.Rand) func() []float64 {
			next := level(r, correlation, deviation)
			return func() []float64 { now := next(); return around(r, perSecond*math.Exp(-now), now) }
		},
		upTo: func(x float64) float64 { return logNormal(x, -deviation*deviation, wide) },
	}
}

// queue is M/G/1 whose service has a Pareto distribution with the exponent 2.5. The truth is that
// of 20 runs of 10 million requests.
func queue(load float64) model {
	return model{name: "M/G/1, Pareto service", seconds: 600, least: 0.92,
		run:    func(r *rand.Rand) func() []float64 { return serve(r, load) },
		truths: map[float64]float64{50: 1.789, 90: 6.204, 99: 18.25, 99.9: 64.3}, mean: 3.1, rate: perSecond,
	}
}

// serve returns the times that requests spend in the queue and in service, in units of the mean
// time of service. 200 come in a second.
func serve(r *rand.Rand, load float64) func() []float64 {
	const exponent = 2.5
	waiting := 0.0
	request := func() float64 {
		spent := waiting + math.Pow(1-r.Float64(), -1/exponent)*(exponent-1)/exponent
		waiting = max(spent-r.ExpFloat64()/load, 0)
		return spent
	}
	for range 100_000 { // until it is steady
		request()
	}
	return func() []float64 {
		values := make([]float64, poisson(r, perSecond))
		for i := range values {
			values[i] = request()
		}
		return values
	}
}

// heavyTail has values with a Pareto distribution with the exponent 1.5, around an AR(1) level.
func heavyTail() model {
	const exponent, deviation = 1.5, 0.2
	return model{name: "heavy tail", seconds: 600, least: 0.92, mean: exponent / (exponent - 1) * meanOf(0, deviation), rate: perSecond,
		run: func(r *rand.Rand) func() []float64 {
			next := level(r, 0.5, deviation)
			return func() []float64 {
				now := math.Exp(next())
				values := make([]float64, poisson(r, perSecond))
				for i := range values {
					values[i] = now * math.Pow(1-r.Float64(), -1/exponent)
				}
				return values
			}
		},
		upTo: func(x float64) (share float64) {
			const steps = 2000
			for i := range steps {
				z := (float64(i)+0.5)/steps*16 - 8
				if times := x / math.Exp(deviation*z); times > 1 {
					share += math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * 16 / steps * (1 - math.Pow(times, -exponent))
				}
			}
			return share
		},
	}
}

// levels has spans of some seconds, a share of which is some times as slow.
func levels(name string, seconds, span int, slow, times, least float64) model {
	return model{name: name, seconds: seconds, least: least, mean: meanOf(0, spread) * (1 - slow + slow*times), rate: perSecond,
		run: func(r *rand.Rand) func() []float64 {
			now, left := 0.0, r.IntN(span)
			pick := func() {
				if now = 0; r.Float64() < slow {
					now = math.Log(times)
				}
			}
			pick()
			return func() []float64 {
				if left == 0 {
					pick()
					left = span
				}
				left--
				return around(r, perSecond, now)
			}
		},
		upTo: func(x float64) float64 {
			return (1-slow)*logNormal(x, 0, spread) + slow*logNormal(x, math.Log(times), spread)
		},
	}
}

// periodic is ten times as slow for one second of thirty.
func periodic() model {
	const every, times = 30, 10
	m := levels("a pause each 30 s", 600, 1, 1.0/every, times, 0)
	m.run = func(r *rand.Rand) func() []float64 {
		at := r.IntN(every)
		return func() []float64 {
			if at++; at%every == 0 {
				return around(r, perSecond, math.Log(times))
			}
			return around(r, perSecond, 0)
		}
	}
	return m
}

// drift has a trend that differs from run to run. The truth is that of all runs.
func drift() model {
	const slope, seconds = 0.7, 600
	const steps = 500
	mean := 0.0
	for i := range steps {
		mean += meanOf(0, math.Hypot(slope*((float64(i)+0.5)/steps-0.5), spread)) / steps
	}
	return model{name: "drift", seconds: seconds, mean: mean, rate: perSecond,
		run: func(r *rand.Rand) func() []float64 {
			by, at := slope*r.NormFloat64(), 0.0
			return func() []float64 { at++; return around(r, perSecond, by*((at-0.5)/seconds-0.5)) }
		},
		upTo: func(x float64) (share float64) {
			for i := range steps {
				share += logNormal(x, 0, math.Hypot(slope*((float64(i)+0.5)/steps-0.5), spread)) / steps
			}
			return share
		},
	}
}

// truth returns the true value at a percentile.
func (m *model) truth(percentile float64) float64 {
	if m.upTo == nil {
		return m.truths[percentile]
	}
	low, high := 1e-9, 1e9
	for range 100 {
		middle := math.Sqrt(low * high)
		if m.upTo(middle) < percentile/100 {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}
