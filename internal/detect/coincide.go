package detect

import "math"

// A Slot is one of the equal parts of a run's time. Count is the number of its values, and Slow the
// number of its values above a high percentile of the run.
type Slot struct{ Count, Slow float64 }

// A Coincidence compares slow values with events of one kind, such as pauses. A slot is touched if
// such an event lies in it. Share is the share of the slow values that lie in touched slots, Chance
// the share that chance would put there, and Time the share of the slots that are touched.
type Coincidence struct{ Share, Chance, Time float64 }

const (
	// MinSlots and MinSlow are the smallest numbers of slots and of slow values for [Coincide].
	MinSlots, MinSlow = 300, 50
	// near is the number of slots before and after a slot that its usual number of slow values
	// comes from.
	near = 30
	// movedLimit is the largest allowed share of circular shifts with as many slow values in
	// touched slots, see [slotModel.shiftedShare].
	movedLimit = 0.02
	// minExcess is the smallest allowed excess over chance, as a share of all slow values.
	// minRatio is the smallest allowed ratio of the share to chance. minLeft is the smallest
	// allowed excess without the fifth of the run's time that has the largest excess.
	minExcess, minRatio, minLeft = 0.1, 1.4, 0.05
)

// Coincide reports whether more slow values lie in touched slots than chance explains.
//
// Chance comes from the untouched slots around each touched slot, adjusted to its number of values.
// So high load, a slow start, or busy times in which both slow values and events are frequent are
// no coincidence. To rule out two independent rhythms, Coincide also shifts the touched slots in
// time: few shifts may have as many slow values. docs/statistics.md says how often Coincide is
// wrong.
func Coincide(slots []Slot, touched []bool) (c Coincidence, beyond bool) {
	free := 0
	slow := 0.0
	for n, s := range slots {
		slow += s.Slow
		if !touched[n] {
			free++
		}
	}
	if len(slots) < MinSlots || slow < MinSlow || free < near || free == len(slots) {
		return c, false
	}
	t := slotModel{slots: slots, touched: touched}
	t.byRate()
	t.byNeighbours()
	c.Time = float64(len(slots)-free) / float64(len(slots))
	fifths := make([]float64, 5)
	for n, s := range slots {
		if touched[n] {
			c.Share += s.Slow / slow
			c.Chance += t.expected[n] / slow
			fifths[n*len(fifths)/len(slots)] += (s.Slow - t.expected[n]) / slow
		}
	}
	excess, most := 0.0, math.Inf(-1)
	for _, part := range fifths {
		excess += part
		most = max(most, part)
	}
	if excess < minExcess || c.Share < minRatio*c.Chance || excess-most < minLeft {
		return c, false
	}
	return c, t.shiftedShare() <= movedLimit
}

// slotModel has the slots of [Coincide], and the number of slow values that chance puts in each.
type slotModel struct {
	slots    []Slot
	touched  []bool
	expected []float64
}

// byRate sets expected by the number of values of each slot. It fits a Poisson regression to the
// untouched slots: the logarithm of the slow values is a line of the logarithm of all values. The
// penalty keeps the line flat if the numbers of values hardly differ.
func (t *slotModel) byRate() {
	logs := make([]float64, len(t.slots))
	for n, s := range t.slots {
		logs[n] = math.Log(max(s.Count, 1))
	}
	logs = centred(logs)
	var count, slow float64
	for n, s := range t.slots {
		if !t.touched[n] {
			count++
			slow += s.Slow
		}
	}
	const rounds, penalty = 25, 0.5
	start, slope := math.Log(max(slow/count, 1e-3)), 0.0
	step := func(by float64) float64 { return min(max(by, -1), 1) } // Newton's method can go too far
	for range rounds {
		// The first and second derivatives by start (a) and slope (b).
		a, b := 0.0, -penalty*slope
		aa, bb := 0.0, penalty
		ab := 0.0
		for n, s := range t.slots {
			if t.touched[n] {
				continue
			}
			x := logs[n]
			mean := math.Exp(start + slope*x)
			a += s.Slow - mean
			b += x * (s.Slow - mean)
			aa += mean
			ab += x * mean
			bb += x * x * mean
		}
		determinant := aa*bb - ab*ab
		start += step((a*bb - b*ab) / determinant)
		slope += step((b*aa - a*ab) / determinant)
	}
	t.expected = logs
	for n, x := range logs {
		t.expected[n] = math.Exp(start + slope*x)
	}
}

// byNeighbours multiplies the expected slow values of each slot by the level of the slots near it:
// their slow values divided by their expected slow values. Touched slots do not count. The slots
// before and after have the same weight, so a trend cancels. The level of the whole run counts as a
// few further slots on each side, so that few neighbours do not decide.
func (t *slotModel) byNeighbours() {
	const drawn = 2.5 // slots
	all := len(t.slots)
	slow, usual := make([]float64, all+1), make([]float64, all+1) // sums up to each slot
	for n, s := range t.slots {
		slow[n+1], usual[n+1] = slow[n], usual[n]
		if !t.touched[n] {
			slow[n+1] += s.Slow
			usual[n+1] += t.expected[n]
		}
	}
	level := slow[all] / usual[all]
	weight := drawn * Mean(t.expected)
	side := func(from, to int) float64 {
		return (slow[to] - slow[from] + level*weight) / (usual[to] - usual[from] + weight)
	}
	for n := range t.expected {
		t.expected[n] *= (side(max(n-near, 0), n) + side(n+1, min(n+1+near, all))) / 2
	}
}

// shiftedShare shifts the touched slots in time, round the end of the run, by each number of slots
// from near on. It returns the share of shifts with at least as large an excess of slow values as
// the touched slots have. The excess of a slot counts in units of its standard deviation, which is
// that of Poisson's distribution.
func (t *slotModel) shiftedShare() float64 {
	excess := make([]float64, len(t.slots))
	var places []int
	for n, s := range t.slots {
		excess[n] = (s.Slow - t.expected[n]) / math.Sqrt(t.expected[n])
		if t.touched[n] {
			places = append(places, n)
		}
	}
	// A Fourier transform would be faster for a day of slots of a second, but makes hdrkit.html 2%
	// larger.
	shifted := func(by int) (sum float64) {
		for _, n := range places {
			sum += excess[(n+by)%len(excess)]
		}
		return sum
	}
	here := shifted(0)
	alike, shifts := 1, 1
	for by := near; by < len(excess)-near; by++ {
		shifts++
		if shifted(by) >= here {
			alike++
		}
	}
	return float64(alike) / float64(shifts)
}
