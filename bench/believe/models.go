package main

import (
	"math"
	"math/rand/v2"
)

// A model makes runs whose true percentiles are known.
type model struct {
	name    string
	seconds int
	// make returns the values of each second.
	make func(r *rand.Rand, seconds int) [][]float64
	// upTo returns the share of values up to x in an endless run.
	upTo func(x float64) float64
	// checked is set if the coverage of the runs shown must be from 92 to 98%.
	checked bool
	// times is how many times as many runs are made. The share of a thousand runs has an error of
	// about 1%, which is too much for a model that is that close to a limit.
	times int
}

// spread is the deviation of the logarithms of the values of one second.
const spread = 0.5

// perSecond is the usual number of values of a second.
const perSecond = 200

var models = []model{
	auto("independent", 0, 0.2, 600, true),
	auto("AR(1) 0.5, 0.2", 0.5, 0.2, 600, true),
	auto("AR(1) 0.9, 0.3", 0.9, 0.3, 600, false),
	auto("AR(1) 0.9, 0.3", 0.9, 0.3, 3600, false),
	auto("AR(1) 0.9, 0.3", 0.9, 0.3, 60, false),
	auto("AR(1) 0.98, 0.3", 0.98, 0.3, 600, false),
	auto("AR(1) 0.5, 0.2", 0.5, 0.2, 120, true),
	queue(0.5),
	queue(0.9),
	stalls("stalls of 0.2 s in 100 s", 0.2, 1),
	stalls("stalls of 1 s in 100 s", 1, 4),
	drift(),
	bursts(),
	machines(),
}

// normal is the distribution function of the standard normal distribution.
func normal(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// logNormal returns the share of values up to x, if their logarithms have a mean and a deviation.
func logNormal(x, mean, deviation float64) float64 { return normal((math.Log(x) - mean) / deviation) }

// second returns the values of a second: about n, their logarithms around a level.
func second(r *rand.Rand, n, level float64) []float64 {
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

// auto has a level that is an AR(1) process. Fewer values are recorded when latency is high, so the
// levels are weighted by exp(-level). That moves their mean by -deviation^2.
func auto(name string, correlation, deviation float64, seconds int, checked bool) model {
	return model{name, seconds, func(r *rand.Rand, seconds int) [][]float64 {
		all, level := make([][]float64, seconds), deviation*r.NormFloat64()
		for i := range all {
			all[i] = second(r, perSecond*math.Exp(-level), level)
			level = correlation*level + math.Sqrt(1-correlation*correlation)*deviation*r.NormFloat64()
		}
		return all
	}, func(x float64) float64 { return logNormal(x, -deviation*deviation, math.Hypot(deviation, spread)) }, checked, 1}
}

// queue is M/M/1: the time in the system is exponential.
func queue(load float64) model {
	const served = 200.0 // a second
	arriving := load * served
	name := map[float64]string{0.5: "M/M/1, load 0.5", 0.9: "M/M/1, load 0.9"}[load]
	return model{name, 300, func(r *rand.Rand, seconds int) [][]float64 {
		all := make([][]float64, seconds)
		waiting := 0.0
		if r.Float64() < load {
			waiting = r.ExpFloat64() / (served - arriving)
		}
		for at := r.ExpFloat64() / arriving; at < float64(seconds); {
			spent := waiting + r.ExpFloat64()/served
			all[int(at)] = append(all[int(at)], spent)
			gap := r.ExpFloat64() / arriving
			at += gap
			waiting = max(spent-gap, 0)
		}
		return all
	}, func(x float64) float64 { return -math.Expm1(-(served - arriving) * x) }, false, 1}
}

// stalls has a part of one second of a hundred in which values are ten times as large.
func stalls(name string, part float64, times int) model {
	const seldom = 0.01
	return model{name, 600, func(r *rand.Rand, seconds int) [][]float64 {
		all := make([][]float64, seconds)
		for i := range all {
			if r.Float64() < seldom {
				all[i] = append(second(r, part*perSecond, math.Log(10)), second(r, (1-part)*perSecond, 0)...)
			} else {
				all[i] = second(r, perSecond, 0)
			}
		}
		return all
	}, func(x float64) float64 {
		return (1-seldom*part)*logNormal(x, 0, spread) + seldom*part*logNormal(x, math.Log(10), spread)
	}, true, times}
}

// drift has a trend that differs from run to run. The truth is that of all runs.
func drift() model {
	const slope = 0.7
	return model{"drift", 600, func(r *rand.Rand, seconds int) [][]float64 {
		all, by := make([][]float64, seconds), slope*r.NormFloat64()
		for i := range all {
			all[i] = second(r, perSecond, by*(float64(i)/float64(seconds)-0.5))
		}
		return all
	}, func(x float64) (share float64) {
		const steps = 1000
		for i := range steps {
			at := (float64(i)+0.5)/steps - 0.5
			share += logNormal(x, 0, math.Hypot(slope*at, spread)) / steps
		}
		return share
	}, false, 1}
}

// bursts has times of a few seconds with twice as many values, which are three times as large.
func bursts() model {
	const begin, end = 1.0 / 30, 1.0 / 5
	const share = begin / (begin + end)
	return model{"bursts", 600, func(r *rand.Rand, seconds int) [][]float64 {
		all, on := make([][]float64, seconds), r.Float64() < share
		for i := range all {
			if on {
				all[i] = second(r, 2*perSecond, math.Log(3))
			} else {
				all[i] = second(r, perSecond, 0)
			}
			on = on && r.Float64() >= end || !on && r.Float64() < begin
		}
		return all
	}, func(x float64) float64 {
		const inBursts = 2 * share / (2*share + 1 - share)
		return (1-inBursts)*logNormal(x, 0, spread) + inBursts*logNormal(x, math.Log(3), spread)
	}, false, 1}
}

// machines are two that pause together in one second of twenty.
func machines() model {
	const share, own = 0.05, 0.2
	return model{"two machines, common pauses", 600, func(r *rand.Rand, seconds int) [][]float64 {
		all := make([][]float64, seconds)
		for i := range all {
			pause := 0.0
			if r.Float64() < share {
				pause = math.Log(5)
			}
			for range 2 {
				all[i] = append(all[i], second(r, perSecond/2, pause+own*r.NormFloat64())...)
			}
		}
		return all
	}, func(x float64) float64 {
		wide := math.Hypot(spread, own)
		return (1-share)*logNormal(x, 0, wide) + share*logNormal(x, math.Log(5), wide)
	}, false, 1}
}

// truth returns the true value at a percentile.
func (m *model) truth(percentile float64) float64 {
	low, high := 1e-9, 1e9
	for range 200 {
		middle := math.Sqrt(low * high)
		if m.upTo(middle) < percentile/100 {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}
