package gate

import (
	"math"

	"hdrkit/output"
)

// minBad is the least number of bad windows that end a run by a limit of windows, if the length
// of the run is not planned.
const minBad = 3

// A Stop says when limits end a run that is still going on.
type Stop struct {
	// After is the least time in milliseconds that a row has run before a figure that may still
	// become better ends the run.
	After int64
	// Planned is the planned number of windows of the run, 0 if it is unknown.
	Planned int64
}

// ends reports whether a limit that fails for a row ends the run.
//
//   - A maximum or a count that is too high ends the run at once, and so does a minimum that is too
//     low, since later values do not change this. Lower bounds of a maximum or a count, and upper
//     bounds of a minimum, never end a run.
//   - A limit of windows ends the run if too many of the planned windows did not keep it. If no
//     length is planned, it ends the run as soon as the limit allows three bad windows.
//   - Other figures may still become better. They end the run if the evidence proves that they do
//     not hold.
func (s Stop) ends(v Verdict, row *output.Summary, e *evidence) bool {
	l := v.Limit
	percentile, ranked := l.Rank()
	switch {
	case l.Window > 0 && (s.Planned > 0 || l.Share == 100):
		bad := math.Round(float64(v.Windows) * (100 - v.Value) / 100)
		return 100*bad > (100-l.Share)*float64(s.Planned)*(1+roundoff)
	case l.Window > 0:
		return float64(v.Windows)*(100-l.Share) >= 100*minBad
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
