package trend

import (
	"fmt"
	"math"
	"slices"

	"hdrkit/hdrlog/confidence"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/gate"
	"hdrkit/output"
)

// Needed is the number of runs before the newest that a limit needs.
const Needed = 5

// chance is how often a limit takes a run for worse that is not.
const chance = 0.05

// Judge checks limits of changes on the newest run, whose values are in a scale. The runs since the
// last change before the two newest runs are what these are compared with.
//
// A run is worse if its figure is beyond the limit, and the difference from the level of those runs
// is more than chance: a one-sided t test with the deviation from run to run. A limit fails if the
// two newest runs are worse. It is undecided if only the newest is, or if runs are too few.
func Judge(t *output.Trend, limits []gate.Limit, scale unit.Scale) (verdicts []gate.Verdict) {
	for n := range limits {
		l := limits[n].Printing(scale)
		judged := false
		for i := range t.Figures {
			f := &t.Figures[i]
			if f.Figure == l.Figure && l.For(&output.Summary{Tag: f.Tag, AllTags: f.AllTags}) && (l.Tag != nil || recent(f.Points)) {
				verdicts, judged = append(verdicts, judge(f, l, scale.Name)), true
			}
		}
		if !judged && l.Tag != nil {
			verdicts = append(verdicts, gate.Verdict{Limit: l, Tag: *l.Tag, Missing: "no intervals with this tag"})
		}
	}
	return verdicts
}

// recent reports whether the newest run or one of the few before has a value. A tag that ended long
// ago is no failure of tonight.
func recent(points []confidence.RunFigure) bool {
	return slices.ContainsFunc(points[max(len(points)-1-Needed, 0):], some)
}

func some(p confidence.RunFigure) bool { return p.Value > 0 }

func judge(f *output.TrendFigure, l *gate.Limit, unit string) gate.Verdict {
	v := gate.Verdict{
		Limit:  l,
		Tag:    f.TagName(),
		Result: gate.Undecided,
		Low:    math.NaN(),
		High:   math.NaN(),
	}
	if !l.Unitless() {
		v.Unit = unit
	}
	newest := len(f.Points) - 1
	v.Value = f.Points[newest].Value
	if !some(f.Points[newest]) {
		v.Value = 0
		v.Missing = "the newest run has no values of it"
		v.Result = gate.Fails
		return v
	}
	second := newest - 1 // the run before with a value
	for second >= 0 && !some(f.Points[second]) {
		second--
	}
	base := newLevel(f.Points[:max(second, 0)])
	if base.runs < Needed { // the second newest is one of those before
		base, second = newLevel(f.Points[:newest]), -1
	}
	v.Baseline, v.Bound = base.value, l.Bound(base.value)
	ratio := v.Bound / v.Baseline
	beyond := func(p confidence.RunFigure) bool {
		return l.AtLeast && p.Value < v.Bound || !l.AtLeast && p.Value > v.Bound
	}
	if base.runs < Needed {
		v.Worse = base.runs > 0 && beyond(f.Points[newest])
		v.Missing = fmt.Sprintf("%d runs before the newest have it, and a limit needs %d", base.runs, Needed)
		return v
	}
	// worse reports whether a run is beyond the limit by more than chance: by more than what the
	// level may be, or the bound if that is stricter.
	worse := func(p confidence.RunFigure) bool {
		d := math.Log(p.Value/base.value) - min(math.Log(ratio), 0)
		if l.AtLeast {
			d = max(math.Log(ratio), 0) - math.Log(p.Value/base.value)
		}
		return beyond(p) && base.tail(d-p.Slot) <= chance
	}
	switch {
	case !beyond(f.Points[newest]):
		v.Result = gate.Holds
	case !worse(f.Points[newest]):
		v.Result, v.Note = gate.Holds, fmt.Sprintf("no more than chance, since runs vary by %.2g%%", 100*base.deviation)
	case second >= 0 && worse(f.Points[second]):
		v.Result, v.Note = gate.Fails, "the run before, too"
	default:
		v.Worse, v.Note = true, gate.Unproven+"; only the newest run, so run again"
	}
	return v
}

// A level is what the newest runs are compared with: the level since the last change, and how runs
// vary.
type level struct {
	value              float64
	at                 int // runs of the level
	deviation, freedom float64
	runs               int // of all levels
}

func newLevel(points []confidence.RunFigure) (newest level) {
	levels, deviation := Find(points)
	if len(levels) == 0 {
		return newest
	}
	for _, l := range levels {
		newest.runs += l.Runs
	}
	last := levels[len(levels)-1]
	n := float64(newest.runs)
	// The degrees of freedom of a variance from differences of neighbours (von Neumann 1941).
	newest.value = last.Value
	newest.at = last.Runs
	newest.deviation = deviation
	newest.freedom = 2 * (n - 1) * (n - 1) / (3*n - 4)
	return newest
}

// tail returns how often a run of the level is by d or more above it, on a logarithmic scale.
func (l *level) tail(d float64) float64 {
	deviation := l.deviation * math.Sqrt(1+1/float64(l.at))
	switch {
	case d <= 0:
		return 1
	case deviation == 0: // any difference is more than chance
		return 0
	}
	return confidence.Tail(d/deviation, l.freedom) / 2 // Tail counts both sides
}
