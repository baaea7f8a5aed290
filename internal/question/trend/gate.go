package trend

import (
	"fmt"
	"math"
	"slices"

	"hdrkit/hdrlog/confidence"
	"hdrkit/internal/gate"
	"hdrkit/internal/sides"
	"hdrkit/output"
)

// Needed is the number of runs before the newest one that a limit needs.
const Needed = 5

// The largest probability of noise for a run that looks worse, and for a limit that fails. Of
// series of thirty equal nights, a limit of +5% or +10% fails in 0.2 to 2.8%, at one night or more.
// A limit of +0% fails in 5.2 to 8.6%, since it allows no error of the level (bench/confidence.md).
const (
	looksWorse = 0.05
	proven     = 0.015
)

// ChangeLimits are limits of changes, and the runs that they look at.
type ChangeLimits struct {
	Limits []gate.Limit
	// Accepted is the index of the first run that limits look at. Earlier changes are accepted.
	Accepted int
	// When returns the name of a run with its date, and Name the name without it.
	When, Name func(run int) string
}

// Judge checks limits of changes, for the level of today and for the newest run.
//
// The level of today is that of the runs since the last change. It is compared with the best
// earlier level of [Needed] runs or more. A limit fails as long as the difference is beyond the
// limit and more than noise, by a one-sided t test with the deviation from run to run. So a limit
// fails after a change until somebody accepts the change.
//
// The newest run is compared in the same way with the level of the runs before the two newest ones.
// A limit fails if both of the two newest runs are worse. It is undecided if only the newest run is
// worse, or if runs are too few.
func Judge(t *sides.Trend, o ChangeLimits) (verdicts []gate.Verdict) {
	for n := range o.Limits {
		l := o.Limits[n].Printing(t.Scale)
		judged, ended := false, false
		for i := range t.Figures {
			f := &t.Figures[i]
			tag := &output.Summary{Tag: f.Tag, AllTags: f.AllTags}
			if f.Figure != l.Figure || !l.For(tag) {
				continue
			}
			named := l.Tag != nil && *l.Tag == tag.Name()
			if !named && !recent(f.Points) {
				ended = true
				continue
			}
			verdicts = append(verdicts, o.judge(f, l, t.Scale.Unit))
			judged = true
		}
		if !judged && l.Tag != nil {
			v := gate.NewVerdict(l, *l.Tag)
			v.Missing = "no intervals with this tag"
			if ended {
				v.Missing = fmt.Sprintf("the newest %d runs have no values of it", Needed+1)
			}
			verdicts = append(verdicts, v)
		}
	}
	return verdicts
}

// judge checks a limit of a figure. The verdict is about the level of today if this is worse,
// otherwise about the newest run. Values are in the unit in.
func (o *ChangeLimits) judge(f *sides.TrendFigure, l *gate.Limit, in string) gate.Verdict {
	points := f.Points[min(o.Accepted, len(f.Points)-1):]
	v := newest(f, l, points)
	if !l.Unitless() {
		v.Unit = in
	}
	if v.Missing == "" || v.Result == output.Undecided {
		o.today(&v, points)
	}
	return v
}

// today judges the level of today. If the level is beyond the limit, its verdict takes the place of
// v, the verdict about the newest run. A limit that v fails by proof is not taken back.
func (o *ChangeLimits) today(v *gate.Verdict, points []confidence.RunFigure) {
	l := v.Limit
	levels, deviation := Find(points)
	best := -1
	for n, level := range levels[:max(len(levels)-1, 0)] {
		if level.Runs >= Needed && (best < 0 || l.AtLeast == (level.Value > levels[best].Value)) {
			best = n
		}
	}
	if best < 0 {
		return
	}
	last, base := levels[len(levels)-1], levels[best]
	bound := l.Bound(base.Value)
	if l.AtLeast && last.Value >= bound || !l.AtLeast && last.Value <= bound {
		return
	}
	between := newLevel(levels, deviation)
	isProven := between.tail(math.Abs(math.Log(last.Value/bound)), 1/float64(last.Runs)+1/float64(base.Runs)) <= proven
	if v.Result == output.Fails && !isProven {
		return
	}
	v.Value = last.Value
	v.Relative.Baseline = base.Value
	v.Bound = bound
	v.Missing = ""
	v.Relative.Worse = !isProven
	side := "above"
	if l.AtLeast {
		side = "below"
	}
	v.Note = fmt.Sprintf("%s its level until %s. To accept it: -accept %s",
		side, o.When(o.Accepted+base.To-1), o.Name(o.Accepted+last.From))
	v.Result = output.Fails
	if !isProven {
		v.Result = output.Undecided
		v.Note = gate.Unproven + "; " + v.Note
	}
}

// recent reports whether one of the newest runs has a value. A tag that ended long ago fails no
// limit, unless a limit names the tag.
func recent(points []confidence.RunFigure) bool {
	return slices.ContainsFunc(points[max(len(points)-1-Needed, 0):], hasValue)
}

// hasValue reports whether a point is no gap.
func hasValue(p confidence.RunFigure) bool { return p.Value > 0 }

// newest returns the verdict about the newest run.
func newest(f *sides.TrendFigure, l *gate.Limit, points []confidence.RunFigure) gate.Verdict {
	v := gate.NewVerdict(l, f.TagName())
	newest := points[len(points)-1]
	if !hasValue(newest) {
		v.Missing = "the newest run has no values of it"
		return v
	}
	v.Result = output.Undecided
	base, second := levelBefore(points)
	v.Relative.Baseline, v.Bound = base.value, l.Bound(base.value)
	if base.runs < Needed {
		v.Relative.Worse = base.runs > 0 && beyond(&v, newest)
		v.Missing = fmt.Sprintf("%d runs before the newest have it, and a limit needs %d", base.runs, Needed)
		return v
	}
	v.Value = newest.Value
	switch {
	case !beyond(&v, newest):
		v.Result = output.Holds
	case !worse(&v, base, newest, looksWorse):
		v.Result = output.Holds
		v.Note = fmt.Sprintf("no more than noise, since runs vary by %.2g%%", 100*base.deviation)
	case hasValue(second) && worse(&v, base, newest, proven) && worse(&v, base, second, proven):
		v.Result, v.Note = output.Fails, "the run before, too"
	default:
		v.Relative.Worse, v.Note = true, gate.Unproven+"; only the newest run, so run again"
	}
	return v
}

// levelBefore returns the level of the runs before the two newest runs with a value, and the second
// newest run with a value. If too few runs are before that run, it counts as part of the level, and
// second has no value.
func levelBefore(points []confidence.RunFigure) (base level, second confidence.RunFigure) {
	newest := len(points) - 1
	at := newest - 1
	for at >= 0 && !hasValue(points[at]) {
		at--
	}
	if base = newLevel(Find(points[:max(at, 0)])); base.runs < Needed {
		return newLevel(Find(points[:newest])), second
	}
	return base, points[at]
}

// beyond reports whether the value of a run is beyond the bound of a verdict.
func beyond(v *gate.Verdict, p confidence.RunFigure) bool {
	return v.Limit.AtLeast && p.Value < v.Bound || !v.Limit.AtLeast && p.Value > v.Bound
}

// worse reports whether the value of a run is beyond the bound by more than noise. The difference
// counts from the level, or from the bound if the bound allows less than the level. Noise is the
// largest probability that chance makes the difference.
func worse(v *gate.Verdict, base level, p confidence.RunFigure, noise float64) bool {
	allowed := math.Log(v.Bound / v.Relative.Baseline)
	d := math.Log(p.Value/base.value) - min(allowed, 0)
	if v.Limit.AtLeast {
		d = max(allowed, 0) - math.Log(p.Value/base.value)
	}
	return beyond(v, p) && base.tail(d-p.Slot, 1+1/float64(base.at)) <= noise
}

// A level is the level that the newest runs are compared with, and the variation between runs.
type level struct {
	value     float64
	at        int     // number of runs of the level
	deviation float64 // standard deviation of the logarithm between runs
	freedom   float64 // degrees of freedom of deviation
	runs      int     // number of runs of all levels
}

// newLevel returns the newest of levels. It has no runs if there are no levels.
func newLevel(levels []sides.TrendLevel, deviation float64) (newest level) {
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

// tail returns the probability that noise makes a difference of logarithms of d or more. The
// variance of the difference is times the variance of a run.
func (l *level) tail(d, times float64) float64 {
	deviation := l.deviation * math.Sqrt(times)
	switch {
	case d <= 0:
		return 1
	case deviation == 0: // any difference is more than noise
		return 0
	}
	return confidence.Tail(d/deviation, l.freedom) / 2 // Tail counts both sides
}
