package gate

import (
	"math"

	"hdrkit/output"
)

// leastWindows is the number of windows from which a limit of windows counts if no end is planned.
const leastWindows = 10

// leastBeyond is how many values a run must be expected to have beyond a percentile before its
// value there ends it: 10,000 values for p99.
const leastBeyond = 100

// A Stop says when limits end a run that goes on.
type Stop struct {
	// After is how many milliseconds a row must have run before a figure ends the run that may
	// still become better.
	After int64
	// Planned is the number of windows of the run, 0 if that is unknown.
	Planned int64
}

// Ends reports whether one of the verdicts ends the run. Summaries have all that was recorded so
// far, and verdicts are about them.
func (s Stop) Ends(verdicts []Verdict, summaries []*output.Summary) bool {
	rows := make(map[string]*output.Summary, len(summaries))
	for _, row := range summaries {
		rows[row.Name()] = row
	}
	for _, v := range verdicts {
		if v.Result == Fails && v.Missing == "" && s.ends(v, rows[v.Tag]) {
			return true
		}
	}
	return false
}

// ends reports whether a limit that fails for a row ends the run. No later value mends a maximum or
// a count that is too high, or a minimum that is too low. One that must be higher, or lower, may
// still become so. A limit of windows fails when too many of the planned ones did not keep it. The
// other figures may still become better: they end the run if it is long enough, and has enough
// values to tell.
func (s Stop) ends(v Verdict, row *output.Summary) bool {
	l := v.Limit
	switch {
	case l.Window > 0 && s.Planned > 0:
		bad := math.Round(float64(v.Windows) * (100 - v.Value) / 100)
		return 100*bad > (100-l.Share)*float64(s.Planned)*(1+roundoff)
	case l.Window > 0:
		return v.Windows >= leastWindows
	case l.Name == output.Max || l.Name == output.Count || l.Name == "" && l.Percentile == 100:
		return !l.AtLeast
	case l.Name == output.Min || l.Name == "" && l.Percentile == 0:
		return l.AtLeast
	case l.rare() == 0: // no value may be over
		return true
	}
	return row.Period >= s.After && float64(row.Counts().TotalCount())*l.rare() >= leastBeyond
}

// rare returns the share of values that decides about the figure: those beyond the percentile, or
// those that the limit of a share allows.
func (l *Limit) rare() float64 {
	switch l.Name {
	case "":
		return min(l.Percentile, 100-l.Percentile) / 100
	case output.Over:
		return min(l.Value, 100-l.Value) / 100
	case output.Throughput:
		return math.Inf(1)
	}
	return 1
}
