package detect

import (
	"cmp"
	"maps"
	"math"
	"math/cmplx"
	"slices"
)

// A Rhythm is a series of beats at regular times, at most of which maxima have a spike.
type Rhythm struct {
	// Period is the time between two beats in milliseconds. First is the time of the first beat in
	// milliseconds since the epoch.
	Period, First float64
	// Found is the number of beats that have a spike. Expected is the number of beats from the
	// first to the last beat with a spike.
	Found, Expected int
}

const (
	// minBeats is the smallest number of beats with a spike in a rhythm.
	minBeats = 10
	// maxSpikes limits the number of spikes, and so the time of the search. The highest spikes
	// count.
	maxSpikes = 128
	// overtone is the smallest strength of a longer period, as a share of the largest strength,
	// with which the longer period is preferred.
	overtone = 0.9
	// offBeat is the largest distance of a spike from its beat, as a share of the period.
	offBeat = 0.25
)

// A spike is a maximum that is higher than the maxima before and after it. Its time is in
// milliseconds since the epoch. Its weight is the square of the logarithm of its ratio to the 0.9
// quantile of all maxima.
type spike struct{ time, weight float64 }

// Beats looks for a rhythm in the spikes of maxima. Higher spikes have more weight, so small spikes
// between the beats do not hide them. The strength of a period is from Rayleigh's test: each
// spike is an arrow on a clock whose hand turns once in a period, and the strength is the length of
// the sum of the arrows. Beats tries only periods for which at least half of the beats can have a
// spike. Tries is the number of series in which the caller looks for a rhythm.
func Beats(intervals []Interval, tries int) (r Rhythm, found bool) {
	spikes, length := spikesOf(intervals)
	if len(spikes) < minBeats {
		return r, false
	}
	var sum, squares float64
	for _, s := range spikes {
		sum += s.weight
		squares += s.weight * s.weight
	}
	span := spikes[len(spikes)-1].time - spikes[0].time
	count := sum * sum / squares // effective number of spikes, as in Spread
	shortest, longest := max(span/(2*count), 4*length), span/(minBeats-1)
	step := 0.1 / span // turns the last spike by a tenth of a turn
	arrows, turns := make([]complex128, len(spikes)), make([]complex128, len(spikes))
	for n, s := range spikes {
		angle := 2 * math.Pi * (s.time - spikes[0].time)
		arrows[n], turns[n] = cmplx.Rect(s.weight, angle/longest), cmplx.Rect(1, angle*step)
	}
	var clocks []complex128
	best := 0.0
	for f := 1 / longest; f <= 1/shortest; f += step {
		var arrow complex128
		for n, a := range arrows {
			arrow += a
			arrows[n] = a * turns[n]
		}
		clocks = append(clocks, arrow)
		best = max(best, cmplx.Abs(arrow))
	}
	// Half of the true period is nearly as strong, so take the longest period that is strong
	// enough.
	for n, arrow := range clocks {
		after := clocks[min(n+1, len(clocks)-1)]
		if cmplx.Abs(arrow) >= overtone*best && cmplx.Abs(arrow) >= cmplx.Abs(after) {
			f := 1/longest + float64(n)*step
			r.Period = 1 / f
			r.First = spikes[0].time + cmplx.Phase(arrow)/(2*math.Pi*f)
			break
		}
	}
	places := (1/shortest - 1/longest) * span
	chance := math.Pow(1-square(best/sum), count-1)
	if !(longest > shortest) || chance*places*float64(tries) > limit {
		return r, false
	}
	r.count(spikes, sum/count)
	return r, r.Found >= minBeats && 2*r.Found >= r.Expected
}

// spikesOf returns the highest spikes in the order of time, and the median length of an interval in
// milliseconds.
func spikesOf(intervals []Interval) (spikes []spike, length float64) {
	maxima, lengths := make([]float64, 0, len(intervals)), make([]float64, 0, len(intervals))
	for _, i := range intervals {
		if i.Count > 0 {
			maxima = append(maxima, i.Max)
		}
		lengths = append(lengths, float64(i.End-i.Start))
	}
	slices.Sort(maxima)
	length = Median(lengths)
	if len(maxima) == 0 {
		return nil, length
	}
	usual := maxima[len(maxima)*9/10]
	for n, i := range intervals {
		before, after := max(n-1, 0), min(n+1, len(intervals)-1)
		if i.Max > usual && i.Max >= intervals[before].Max && i.Max > intervals[after].Max {
			spikes = append(spikes, spike{float64(i.Start), square(math.Log(i.Max / usual))})
		}
	}
	if len(spikes) > maxSpikes {
		slices.SortFunc(spikes, func(a, b spike) int { return cmp.Compare(b.weight, a.weight) })
		spikes = spikes[:maxSpikes]
		slices.SortFunc(spikes, func(a, b spike) int { return cmp.Compare(a.time, b.time) })
	}
	return spikes, length
}

// count counts the beats that have a spike with at least half of a weight. It then fits the period
// and the first beat to these spikes by least squares, and counts again.
func (r *Rhythm) count(spikes []spike, weight float64) {
	for range 2 {
		seen := make(map[int]float64) // times by beat
		for _, s := range spikes {
			beat := int(math.Round((s.time - r.First) / r.Period))
			if math.Abs(s.time-r.First-float64(beat)*r.Period) <= offBeat*r.Period && 2*s.weight >= weight {
				seen[beat] = s.time
			}
		}
		r.Found = len(seen)
		first, last := math.MaxInt, math.MinInt
		var x, y, xx, xy float64
		for _, beat := range slices.Sorted(maps.Keys(seen)) { // sums round by their order
			t := seen[beat]
			first, last = min(first, beat), max(last, beat)
			b := float64(beat)
			x += b
			y += t - r.First
			xx += b * b
			xy += b * (t - r.First)
		}
		r.Expected = last - first + 1
		n := float64(len(seen))
		if spread := n*xx - x*x; spread > 0 {
			period := (n*xy - x*y) / spread
			r.First += (y-period*x)/n + period*float64(first)
			r.Period = period
		}
	}
}

func square(x float64) float64 { return x * x }
