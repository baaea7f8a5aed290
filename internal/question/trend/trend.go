// Package trend finds how figures change over many runs: when the level of a figure changed, and
// whether the newest run is worse than the runs since the change.
//
// It finds changes by PELT (Killick, Fearnhead and Eckley 2012), with the squared error of the
// natural logarithm of the figure. Neighbouring runs may resemble each other, for example if the
// host changes now and then. So the penalty of a change grows with the correlation of neighbouring
// runs of one level. TestResembling measures how many changes this finds.
package trend

import (
	"math"
	"slices"

	"hdrkit/hdrlog/confidence"
	"hdrkit/internal/sides"
)

// Rules for changes. TestSimulated measures how many changes they find.
const (
	least   = 2    // least number of runs of a level
	penalty = 10   // penalty of a change, in variances between runs
	step    = 0.05 // least change of a level, as a part of the level

	maxCorrelation = 0.9 // largest correlation of neighbouring runs
)

// A series has the points of a figure, without gaps.
type series struct {
	logs  []float64 // logarithms of the values
	runs  []int     // the run of each value
	slots float64   // mean variance of a value within its slot
}

// newSeries returns the series of points. A value that is not above 0 is a gap.
func newSeries(points []confidence.RunFigure) (s series) {
	slots := 0.0
	for n, p := range points {
		if p.Value > 0 && !math.IsInf(p.Value, 0) {
			s.logs, s.runs = append(s.logs, math.Log(p.Value)), append(s.runs, n)
			slots += p.Slot * p.Slot / 12
		}
	}
	if n := float64(len(s.logs)); n > 0 {
		s.slots = slots / n
	}
	return s
}

// variance returns the variance between runs: half of the mean squared difference of two runs of
// one level. The two runs have a distance of apart runs. Starts has the starts of levels. The
// variance is at least that of a value within its slot.
func (s *series) variance(starts []int, apart int) float64 {
	squares := 0.0
	n := 0.0
	for k := apart; k < len(s.logs); k++ {
		inside := func(start int) bool { return k-apart < start && start <= k }
		if !slices.ContainsFunc(starts, inside) {
			difference := s.logs[k] - s.logs[k-apart]
			squares += difference * difference
			n++
		}
	}
	return max(s.slots, squares/max(n, 1)/2)
}

// correlation returns the correlation of neighbouring runs, from 0 to maxCorrelation. If runs are
// an AR(1) process, the variance at a distance of two runs is larger by this part.
func (s *series) correlation(starts []int) float64 {
	neighbours := s.variance(starts, 1)
	if neighbours == 0 {
		return 0
	}
	return min(max(s.variance(starts, 2)/neighbours-1, 0), maxCorrelation)
}

// Find returns the levels of a figure, and the standard deviation of its logarithm between runs.
// There is no level if all points are gaps.
func Find(points []confidence.RunFigure) (levels []sides.TrendLevel, deviation float64) {
	s := newSeries(points)
	if len(s.logs) == 0 {
		return nil, 0
	}
	starts, variance := s.starts()
	deviation = math.Sqrt(variance)
	starts = append(starts, len(s.logs))
	squared := newFit(s.logs)
	for k, from := range starts[:len(starts)-1] {
		to := starts[k+1]
		earliest, latest := from, from
		if k > 0 {
			earliest, latest = squared.startRange(starts[k-1], from, to, deviation)
		}
		above := 0.0 // mean difference from the first run, so that equal runs have exactly their level
		for _, v := range s.logs[from:to] {
			above += (v - s.logs[from]) / float64(to-from)
		}
		level := sides.TrendLevel{
			To:    len(points),
			Runs:  to - from,
			Value: points[s.runs[from]].Value * math.Exp(above),
		}
		if from > 0 {
			level.From = s.runs[from]
			level.Earliest = s.runs[earliest]
			level.Latest = s.runs[latest]
		}
		if to < len(s.runs) {
			level.To = s.runs[to]
		}
		levels = append(levels, level)
	}
	return levels, deviation
}

// starts returns the starts of levels, and the variance between runs. It takes into account that
// neighbouring runs may resemble each other.
func (s *series) starts() (starts []int, variance float64) {
	starts, variance = s.independentStarts()
	if r := s.correlation(starts); r > 0 {
		variance /= 1 - r
		starts = dropSmall(s.logs, pelt(s.logs, penalty*variance*(1+r)/(1-r)))
	}
	return starts, variance
}

// independentStarts returns the starts of levels, and the variance between runs, as if neighbouring
// runs did not resemble each other.
func (s *series) independentStarts() (starts []int, variance float64) {
	starts = []int{0}
	for {
		// The variance is that without the known steps, since a large step would hide a smaller
		// one. Of +10% at night 10 and +100% at night 28 of 30 nights that vary by 3%, this finds
		// both in 99% of cases instead of 2%.
		variance = s.variance(starts, 1)
		more := dropSmall(s.logs, pelt(s.logs, penalty*variance))
		if len(more) <= len(starts) {
			return starts, variance
		}
		starts = more
	}
}

// coverage is the probability that a range of runs contains the run at which a level really
// changed. TestWhere measures it.
const coverage = 0.9

// startRange returns the range of runs in which a level really starts. From is the start of the
// level before, at the start that was found, and to the end of the level. The probability of a run
// is that of its squared errors, if deviations have a normal distribution.
func (f *fit) startRange(from, at, to int, deviation float64) (earliest, latest int) {
	if deviation == 0 {
		return at, at
	}
	weights := make([]float64, to)
	sum := 0.0
	found := f.errors(from, at) + f.errors(at, to)
	for k := from + 1; k < to; k++ {
		more := f.errors(from, k) + f.errors(k, to) - found
		weights[k] = math.Exp(-more / (2 * deviation * deviation))
		sum += weights[k]
	}
	earliest, latest = at, at
	for inside := weights[at]; inside < coverage*sum; {
		before, after := -1.0, -1.0
		if earliest > from+1 {
			before = weights[earliest-1]
		}
		if latest < to-1 {
			after = weights[latest+1]
		}
		if before < 0 && after < 0 {
			break
		}
		if before >= after {
			earliest--
			inside += before
		} else {
			latest++
			inside += after
		}
	}
	return earliest, latest
}

// A fit computes the squared errors of a range of values around the mean of the range. It has sums
// of the values and of their squares up to each index.
type fit struct{ sums, squares []float64 }

func newFit(values []float64) (f fit) {
	n := len(values)
	f.sums = make([]float64, n+1)
	f.squares = make([]float64, n+1)
	middle := mean(values) // subtracted, since squares of small numbers keep more digits
	for k, v := range values {
		v -= middle
		f.sums[k+1] = f.sums[k] + v
		f.squares[k+1] = f.squares[k] + v*v
	}
	return f
}

// errors returns the squared errors of the values from index from to before index to.
func (f *fit) errors(from, to int) float64 {
	d := f.sums[to] - f.sums[from]
	return max(0, f.squares[to]-f.squares[from]-d*d/float64(to-from))
}

// pelt divides values into segments, so that the sum of squared errors and of a cost for each
// segment is smallest. It returns the starts of the segments. The first start is 0.
func pelt(values []float64, cost float64) []int {
	n := len(values)
	squared := newFit(values)
	best, last := make([]float64, n+1), make([]int, n+1)
	best[0] = -cost
	candidates := []int{0}
	for to := 1; to <= n; to++ {
		best[to] = math.Inf(1)
		for _, from := range candidates {
			if to-from < least && n >= least {
				continue
			}
			if c := best[from] + squared.errors(from, to) + cost; c < best[to] {
				best[to], last[to] = c, from
			}
		}
		// Drop starts that can never become the best one: those that are worse than a segment that
		// starts least runs before to, even without its cost.
		kept := candidates[:0]
		for _, from := range candidates {
			if to-from < 2*least || best[from]+squared.errors(from, to-least) <= best[to-least] {
				kept = append(kept, from)
			}
		}
		candidates = append(kept, to)
	}
	var starts []int
	for to := n; to > 0; to = last[to] {
		starts = append([]int{last[to]}, starts...)
	}
	return starts
}

// dropSmall removes starts of levels that differ by less than step from the level before, the
// smallest difference first.
func dropSmall(values []float64, starts []int) []int {
	for {
		smallest, at := math.Inf(1), 0
		for k := 1; k < len(starts); k++ {
			end := len(values)
			if k+1 < len(starts) {
				end = starts[k+1]
			}
			d := mean(values[starts[k]:end]) - mean(values[starts[k-1]:starts[k]])
			if change := math.Abs(math.Expm1(d)); change < smallest {
				smallest, at = change, k
			}
		}
		if at == 0 || smallest >= step {
			return starts
		}
		starts = append(starts[:at], starts[at+1:]...)
	}
}

// mean returns the mean of values.
func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
