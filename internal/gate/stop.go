package gate

import (
	"math"

	"hdrkit/hdrlog/confidence"
	"hdrkit/internal/base/unit"
	"hdrkit/output"
)

// leastWindows is the number of windows from which a limit of windows counts if no end is planned.
const leastWindows = 10

// Ends reports whether a verdict about all that was recorded so far ends a run that goes on. No
// later value mends a maximum or a count that is too high, or a minimum that is too low. One that
// must be higher, or lower, may still become so. A limit of windows fails when too many of the
// planned ones did not keep it. The other figures fail if those of a recent stretch of windows do,
// see [stream].
func (w *Watch) Ends(v Verdict) bool {
	l := v.Limit
	switch {
	case v.Result != Fails || v.Missing != "":
		return false
	case l.Window > 0 && w.planned > 0:
		bad := math.Round(float64(v.Windows) * (100 - v.Value) / 100)
		return 100*bad > (100-l.Share)*float64(w.planned)*(1+roundoff)
	case l.Window > 0:
		return v.Windows >= leastWindows
	case l.Name == "max" || l.Name == "count":
		return !l.AtLeast
	case l.Name == "min":
		return l.AtLeast
	}
	h := w.rows[rowOf{l, v.Tag}]
	return h != nil && h.stream.failed
}

// excess returns by how many values, or by what sum of values, a window exceeds what the limit
// allows. The limit fails for several windows if the sum is above zero.
func (l *Limit) excess(s *output.Summary, scale unit.Scale) float64 {
	n := float64(s.Counts().TotalCount())
	switch {
	case l.Name == "" && l.AtLeast:
		return float64(l.under(s, scale)) - l.Percentile/100*n
	case l.Name == "":
		return float64(l.Over(l.Value, s, scale)) - (1-l.Percentile/100)*n
	}
	of := n // over and the mean
	if l.Name == "throughput" {
		of = float64(s.Period) / 1000
	} else if l.Name == output.Over {
		of = n / 100
	}
	excess := (l.Of(s, scale) - l.Value) * of
	if l.AtLeast {
		return -excess
	}
	return excess
}

// A stream is how much each of a run's windows exceeds a limit. It fails if the figure of all of
// them does, and if that of a recent stretch does so clearly that chance is no explanation
// (Student's t). Neighbouring windows have something in common: how much, the windows before the
// stretch say, and the stretch itself.
//
// It looks after every third window, and allows itself an error of 5% / k after k windows.
// TestStream says what that comes to.
//
// If a breach had to stand out from how stretches of 20 windows of the run vary (Student's t, 2%),
// 1 to 2% of good runs whose minutes are good and bad would end instead of 18 to 38%. But 25 to 41%
// of those that are three times as slow from the start would never end, and none in two minutes.
type stream struct {
	excess []float64 // of the latest windows
	sum    float64   // of all
	seen   int
	failed bool
}

const (
	lookEach  = 3 // windows
	lookAlpha = 0.05
	// keptWindows is the number of windows that are kept, and leastHistory what must lie before a
	// stretch to say how much windows have in common. Without it, four tell as much as one at most.
	keptWindows, leastHistory, leastTime = 600, 60, 4
)

// stretches are numbers of windows.
var stretches = []int{20, 40, 60}

func (s *stream) add(excess float64) {
	if s.excess = append(s.excess, excess); len(s.excess) > keptWindows {
		s.excess = s.excess[1:]
	}
	s.sum += excess
	s.seen++
	if s.seen < stretches[0] || s.seen%lookEach > 0 || !(s.sum > 0) {
		return
	}
	for _, length := range stretches {
		if at := len(s.excess) - length; at >= 0 {
			s.failed = s.failed || exceeds(s.excess[:at], s.excess[at:], lookAlpha/float64(s.seen))
		}
	}
}

// exceeds reports whether the mean of a stretch is above zero, with a probability of alpha that
// this is chance.
func exceeds(before, stretch []float64, alpha float64) bool {
	n := float64(len(stretch))
	mean, deviation, time := spread(stretch)
	freedom := n/max(time, leastTime) - 1
	if len(before) >= leastHistory {
		_, deviationBefore, timeBefore := spread(before)
		freedom = max(n/max(time, timeBefore)-1, float64(len(before))/timeBefore-1)
		deviation, time = max(deviation, deviationBefore), max(time, timeBefore)
	} else {
		time = max(time, leastTime)
	}
	if deviation == 0 {
		return mean > 0
	}
	return mean > 0 && confidence.Tail(mean/(deviation*math.Sqrt(time/n)), max(freedom, 1))/2 < alpha
}

// spread returns the mean of numbers, their standard deviation, and how many of them tell as much
// as an independent one.
func spread(x []float64) (mean, deviation, time float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	residuals := make([]float64, len(x))
	for i, v := range x {
		residuals[i] = v - mean
		deviation += residuals[i] * residuals[i]
	}
	return mean, math.Sqrt(deviation / float64(len(x)-1)), confidence.AutocorrelationTime(residuals)
}
