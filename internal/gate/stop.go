package gate

import (
	"math"

	"hdrkit/output"
)

// leastBad is the number of bad windows from which on a limit of windows ends a run whose end is
// not planned.
const leastBad = 3

// A Stop says when limits end a run that goes on.
type Stop struct {
	// After is how many milliseconds a row must have run before a figure ends the run that may
	// still become better.
	After int64
	// Planned is the number of windows of the run, 0 if that is unknown.
	Planned int64
}

// ends reports whether a limit that fails for a row ends the run. No later value mends a maximum or
// a count that is too high, or a minimum that is too low. One that must be higher, or lower, may
// still become so. A limit of windows fails when too many of the planned ones did not keep it, or,
// if no end is planned, when so many have come that three should not have kept it. The other
// figures may still become better: they end the run if windows prove it.
func (s Stop) ends(v Verdict, row *output.Summary, e *evidence) bool {
	l := v.Limit
	percentile, ranked := l.Rank()
	switch {
	case l.Window > 0 && (s.Planned > 0 || l.Share == 100):
		bad := math.Round(float64(v.Windows) * (100 - v.Value) / 100)
		return 100*bad > (100-l.Share)*float64(s.Planned)*(1+roundoff)
	case l.Window > 0:
		return float64(v.Windows)*(100-l.Share) >= 100*leastBad
	case ranked && percentile == 100 || l.Name == output.Count:
		return !l.AtLeast
	case ranked && percentile == 0:
		return l.AtLeast
	case l.Name == output.Over && (l.Value == 0 || l.Value == 100): // one value decides
		return true
	case l.Name == output.Throughput && l.AtLeast && row.Period-e.millis >= max(s.After, 1): // nothing came
		return true
	}
	return e.proven
}
