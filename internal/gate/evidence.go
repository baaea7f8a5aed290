package gate

import (
	"math"

	"hdrkit/hdrlog/confidence"
	"hdrkit/output"
)

// wrongEnds is the share of runs that are ended although they keep their limits, over all looks,
// rows and limits. More runs end if each second depends on the second before by 0.98: TestStops has
// a table.
const wrongEnds = 0.02

// maxParts is the largest number of parts of an evidence.
const maxParts = 128

// An evidence collects the windows of a row for a limit whose figure may still become better. To
// test it at each window until it looks bad would find chance. So the first test comes after a
// least time, and the next one each time that the time has doubled. Each test may be wrong in half
// of the cases that earlier tests have left of wrongEnds.
type evidence struct {
	of, to []float64 // sums of tallies, one for each part
	each   int       // number of windows in a full part
	last   int       // number of windows in the last part
	millis int64     // length of all windows
	looks  int       // number of tests so far
	proven bool      // chance does not explain that the limit does not hold
}

// A tally has the counts of a window for a limit: for example, of has the values above the limit,
// and to has all values.
type tally struct{ of, to float64 }

// A bound is the largest ratio of tallies that a limit allows, or the smallest ratio if least is
// set.
type bound struct {
	value float64
	least bool
}

// tally returns the tally of a window of a row, and the bound that the limit sets. Known is false
// if later values cannot bring the figure back within the limit, or if its chance is unknown.
func (l *Limit) tally(s *output.Summary) (t tally, b bound, known bool) {
	t.to = float64(s.Counts().TotalCount())
	switch {
	case l.Window > 0 || l.Change != nil:
		return t, b, false
	case l.Name == output.Throughput:
		t = tally{t.to, float64(s.Period) / 1000}
		b = bound{l.Value, l.AtLeast}
	case l.Name == output.Over:
		t.of = float64(l.Over(l.Above, s))
		b = bound{l.Value / 100, l.AtLeast}
	case l.Name != "":
		return t, b, false
	case l.AtLeast:
		t.of = float64(l.under(s))
		b.value = l.Percentile / 100
	default:
		t.of = float64(l.Over(l.Value, s))
		b.value = 1 - l.Percentile/100
	}
	return t, b, b.value > 0
}

// add adds a window of a length in milliseconds.
func (e *evidence) add(t tally, millis int64) {
	if e.last == e.each {
		if len(e.of) == maxParts {
			e.halve()
		}
		e.of = append(e.of, 0)
		e.to = append(e.to, 0)
		e.last = 0
	}
	e.each = max(e.each, 1)
	e.last++
	e.of[len(e.of)-1] += t.of
	e.to[len(e.to)-1] += t.to
	e.millis += millis
}

// halve joins each two neighbouring parts.
func (e *evidence) halve() {
	half := len(e.of) / 2
	for n := range half {
		e.of[n] = e.of[2*n] + e.of[2*n+1]
		e.to[n] = e.to[2*n] + e.to[2*n+1]
	}
	e.of = e.of[:half]
	e.to = e.to[:half]
	e.each *= 2
}

// look tests whether the limit does not hold beyond chance, if a test is due. The first test is due
// after a number of milliseconds. Tests is the number of limits of all rows.
func (e *evidence) look(b bound, after int64, tests int) {
	if e.proven || e.millis < max(after, 1)<<e.looks {
		return
	}
	e.looks++
	above, below := confidence.RatioTails(e.of, e.to, b.value)
	chance := above
	if b.least {
		chance = below
	}
	e.proven = chance <= math.Ldexp(wrongEnds, -e.looks)/float64(tests)
}
