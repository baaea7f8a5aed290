package detect

import "math"

// A Slot is what was recorded in one of the equal parts of a time: the number of values, and how
// many of them are slow.
type Slot struct{ Count, Slow float64 }

// A Coincidence says how many of the slow values lie in slots that something touches: a share of
// all of them, and the share that would lie there if these slots were like those around them. Time
// is the share of the slots.
type Coincidence struct{ Share, Chance, Time float64 }

const (
	// LeastSlots is the least number of slots that tell what comes together, and LeastSlow that of
	// slow values.
	LeastSlots, LeastSlow = 300, 50
	// near is the number of slots on each side that say how many slow values are usual in one.
	near = 30
	// movedLimit is the largest share of circular shifts of the touched slots that have as many
	// slow values there.
	movedLimit = 0.02
	// leastExcess is the least excess over chance as a share of all slow values, leastRatio that as
	// a ratio, and leastLeft the least one without the fifth of the time that has most.
	leastExcess, leastRatio, leastLeft = 0.1, 1.4, 0.05
)

// Coincide reports whether more slow values than by chance lie in touched slots.
//
// Chance is what the slots around a touched one say that nothing touches, at its rate. So neither
// load, nor a fade, nor bursts of both make a coincidence. Against rhythms, the touched slots are
// shifted round the whole time: few of the shifts may have as many slow values. docs/statistics.md
// has how often that is wrong.
func Coincide(slots []Slot, touched []bool) (c Coincidence, beyond bool) {
	free := 0
	slow := 0.0
	for n, s := range slots {
		slow += s.Slow
		if !touched[n] {
			free++
		}
	}
	if len(slots) < LeastSlots || slow < LeastSlow || free < near || free == len(slots) {
		return c, false
	}
	t := together{slots: slots, touched: touched}
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
	if excess < leastExcess || c.Share < leastRatio*c.Chance || excess-most < leastLeft {
		return c, false
	}
	return c, t.moved() <= movedLimit
}

// A together looks for slow values in touched slots.
type together struct {
	slots    []Slot
	touched  []bool
	expected []float64 // slow values of each slot
}

// byRate sets what is expected of each slot by the number of its values: the exponential of a
// parabola of its logarithm, as a Poisson regression fits it to the slots that nothing touches. A
// penalty keeps the two slopes small where rates hardly differ.
func (t *together) byRate() {
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
	const rounds, bound, close = 25, 12, 1e-6
	b := [3]float64{math.Log(max(slow/count, 1e-3)), 0, 0}
	penalty := [3]float64{1e-6, 0.5, 5}
	value := func(x float64) float64 {
		return math.Exp(min(max(b[0]+x*(b[1]+x*b[2]), -bound), bound))
	}
	for range rounds {
		var gradient [3]float64
		var hessian [3][3]float64
		for n, s := range t.slots {
			if t.touched[n] {
				continue
			}
			terms := [3]float64{1, logs[n], logs[n] * logs[n]}
			mean := value(logs[n])
			for i := range terms {
				gradient[i] += terms[i] * (s.Slow - mean)
				for j := range terms {
					hessian[i][j] += terms[i] * terms[j] * mean
				}
			}
		}
		for i := range b {
			gradient[i] -= penalty[i] * b[i]
			hessian[i][i] += penalty[i]
		}
		step := solve(hessian, gradient)
		largest := 0.0
		for i := range b {
			b[i] += min(max(step[i], -1), 1)
			largest = max(largest, math.Abs(step[i]))
		}
		if largest < close {
			break
		}
	}
	t.expected = logs
	for n, x := range logs {
		t.expected[n] = value(x)
	}
}

// solve solves three linear equations whose matrix is symmetric and positive, by Gauss's method.
func solve(a [3][3]float64, b [3]float64) (x [3]float64) {
	for i := range a {
		for j := i + 1; j < len(a); j++ {
			factor := a[j][i] / a[i][i]
			for k := i; k < len(a); k++ {
				a[j][k] -= factor * a[i][k]
			}
			b[j] -= factor * b[i]
		}
	}
	for i := len(a) - 1; i >= 0; i-- {
		x[i] = b[i]
		for k := i + 1; k < len(a); k++ {
			x[i] -= a[i][k] * x[k]
		}
		x[i] /= a[i][i]
	}
	return x
}

// byNeighbours multiplies what is expected of each slot by the level around it: the slow values of
// the slots near it, beside what is expected of them by their rate. Only those count that nothing
// touches. Both sides weigh the same, so that a slope cancels, and each is drawn to the level of
// the whole time by the weight of a few slots.
func (t *together) byNeighbours() {
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

// moved returns the share of circular shifts of the touched slots, by at least near slots, whose
// excess of slow values is at least the real one. Of each slot the excess counts by its usual
// deviation.
func (t *together) moved() float64 {
	var over, squares float64
	for n, s := range t.slots {
		e := t.expected[n]
		if !t.touched[n] {
			over += (s.Slow-e)*(s.Slow-e) - e
			squares += e * e
		}
	}
	dispersion := max(over, 0) / squares
	excess := make([]float64, len(t.slots))
	var places []int
	for n, s := range t.slots {
		e := t.expected[n]
		excess[n] = (s.Slow - e) / math.Sqrt(e+dispersion*e*e)
		if t.touched[n] {
			places = append(places, n)
		}
	}
	// A Fourier transform would be faster for a day of a second each, and makes hdrkit.html 2%
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
