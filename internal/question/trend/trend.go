// Package trend finds out how figures change over many runs: when the level of a figure changed,
// and whether the newest run is worse than the runs since then.
//
// Changes are found by PELT (Killick, Fearnhead and Eckley 2012) with squared error on the natural
// logarithm of the figure. A run may resemble the run before, such as on hosts that change. So the
// penalty of a change grows with the correlation of neighbours within the levels that are found
// without it. TestResembling says what that finds.
package trend

import (
	"math"
	"slices"

	"hdrkit/hdrlog/confidence"
	"hdrkit/internal/sides"
)

// How changes are found. TestSimulated says what that finds.
const (
	least   = 2    // runs of a level
	penalty = 10   // of a change, in variances between runs
	step    = 0.05 // smaller changes of a level are not reported

	mostCorrelation = 0.9 // largest correlation of runs that follow each other
)

// A series is the points of a figure that are no gaps.
type series struct {
	logs  []float64
	runs  []int // of each of them
	slots float64
}

// newSeries takes the logarithms of points. What is not above 0 is a gap.
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

// variance returns the variance between runs of levels that start at starts, if runs do not
// resemble each other: half the mean squared difference of runs of one level that are so many runs
// apart. A value may lie anywhere in its slot, so it is not below that of slots.
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

// correlation returns how much a run resembles the one before, from 0 to mostCorrelation. If runs
// are an AR(1), differences of runs that are two apart are larger by it.
func (s *series) correlation(starts []int) float64 {
	neighbours := s.variance(starts, 1)
	if neighbours == 0 {
		return 0
	}
	return min(max(s.variance(starts, 2)/neighbours-1, 0), mostCorrelation)
}

// Find returns the levels of a figure, and the deviation of its logarithm from one run to the next.
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
			earliest, latest = squared.where(starts[k-1], from, to, deviation)
		}
		above := 0.0 // the first run, so that the level of equal runs is exactly theirs
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

// starts returns where levels start, and the variance between runs. Runs may resemble the runs
// before them.
func (s *series) starts() (starts []int, variance float64) {
	starts, variance = s.unlikeStarts()
	if r := s.correlation(starts); r > 0 {
		variance /= 1 - r
		starts = large(s.logs, pelt(s.logs, penalty*variance*(1+r)/(1-r)))
	}
	return starts, variance
}

// unlikeStarts returns the same if no run resembles the run before.
func (s *series) unlikeStarts() (starts []int, variance float64) {
	starts = []int{0}
	for {
		// Without the steps that are found, since a large one would hide a smaller one: of +10% at
		// night 10 and +100% at night 28 of 30 that vary by 3%, both are found in 99% instead of
		// 2%.
		variance = s.variance(starts, 1)
		more := large(s.logs, pelt(s.logs, penalty*variance))
		if len(more) <= len(starts) {
			return starts, variance
		}
		starts = more
	}
}

// sure is how often the range of runs has the one at which a level really changed. TestWhere says
// how often it does.
const sure = 0.9

// where returns the range of the first run of a level. It is at, between the start of the level
// before and the end of the level itself. The probability of a run is that of its squared errors,
// if deviations are normal.
func (f *fit) where(from, at, to int, deviation float64) (earliest, latest int) {
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
	for inside := weights[at]; inside < sure*sum; {
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

// A fit knows the squared errors of any stretch of values around its mean.
type fit struct{ sums, squares []float64 }

func newFit(values []float64) (f fit) {
	n := len(values)
	f.sums = make([]float64, n+1)
	f.squares = make([]float64, n+1)
	middle := mean(values) // squares of small numbers keep their digits
	for k, v := range values {
		v -= middle
		f.sums[k+1] = f.sums[k] + v
		f.squares[k+1] = f.squares[k] + v*v
	}
	return f
}

// errors returns the squared errors of the values from one to before another.
func (f *fit) errors(from, to int) float64 {
	d := f.sums[to] - f.sums[from]
	return max(0, f.squares[to]-f.squares[from]-d*d/float64(to-from))
}

// pelt returns where the segments start whose squared errors, with cost for each segment, have the
// smallest sum. The first starts at 0.
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
		// A start that is worse than to, even without the cost of a segment, never wins later. It
		// stays for the next runs, where a segment cannot start at to yet.
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

// large leaves out the starts of segments whose level differs by less than step from the one
// before, the smallest difference first.
func large(values []float64, starts []int) []int {
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

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
