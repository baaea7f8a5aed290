package plot

import (
	"errors"
	"math"
	"slices"

	"hdrkit/hdrlog"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/scan"
	"hdrkit/internal/table/summary"
)

// Histograms by time may take this much memory. For a heat map that is about a window for each
// column of a wide picture and each of ten tags. For a page it is a multiple of the size of the
// page, in which they are deflated.
const (
	heatBytes    = 32 << 20
	collectTimes = 6
)

// A plan says what a picture needs of the logs.
type plan struct {
	// paged is a page, which has all charts. overTime is whether there is more than sums.
	paged, overTime bool
	// total draws lines of all series together.
	total bool
	// merged is whether a line needs windows, since its intervals are of several logs or tags, and
	// thinned whether long logs get windows, since nobody chose.
	merged, thinned bool
	// worst, shifts and bands mark moments, changes of level, and the confidence of curves.
	worst, shifts, bands bool
	// changes says how the second one of two logs on a page differs from the first.
	changes bool
}

func (g *gathering) planOf(logs int) plan {
	o := g.Options
	marks := o.Type.Chart.Marks
	p := plan{paged: o.Page}
	p.overTime = marks != chart.Curves && marks != chart.Dots || p.paged || o.Type == chart.Load && o.Aggregate > 0
	p.total = marks == chart.Cells && !p.paged && !o.Compare
	p.merged = logs > 1 && !o.Compare && !g.by.Inputs() || g.by.AddsTags() || p.total
	p.thinned = !o.AggregateGiven && !p.paged && marks != chart.Curves && marks != chart.Dots
	p.worst = o.Type.Worst && !o.compareReport() && (marks == chart.Cells || // numbers stand above maxima
		slices.ContainsFunc(o.measures(), func(m chart.Measure) bool { return m.Name == "max" }))
	p.shifts = o.Type == chart.Timeline && !o.Compare
	p.changes = p.paged && o.Compare && logs == 2
	p.bands = (marks == chart.Curves || o.compareReport()) && !p.paged
	return p
}

// prepare sets up what takes the intervals of logs.
func (g *gathering) prepare(s *scan.Scan, logs []scan.Input) error {
	o, k := g.Options, &g.collector
	g.plan = g.planOf(len(logs))
	k.Ratio = g.ratio
	k.Relative = o.Compare && !g.look.Absolute
	k.Measures = o.measures()
	k.Paired = o.Type == chart.Load
	switch {
	case g.plan.paged:
		k.WindowBytes, k.Paged = collectTimes*g.look.PageSize, true
	case o.Type.Chart.Marks == chart.Cells:
		k.WindowBytes = heatBytes
	}
	if !g.plan.overTime {
		return nil
	}
	most := firstIntervals
	if g.plan.merged || g.plan.thinned {
		most = math.MaxInt
	}
	found, err := g.survey(s, logs, most)
	if err != nil {
		return err
	}
	g.tags = found.tags
	if several := found.tags > 1 && !g.by.AddsTags() || o.Compare && len(logs) > 1; several && g.plan.paged && o.Percentiles == nil {
		k.Measures = chart.LimitedMeasures(k.Measures, g.look.Limits) // others would be dropped
	}
	window, wide := o.Aggregate, int64(axis.Window(float64(max(found.to-found.from, 0))/1000, mostPoints)*1000)
	if window == 0 && g.plan.merged {
		window = found.length
	}
	if o.Aggregate == 0 && g.plan.thinned && found.points > mostPoints {
		window = max(window, wide)
	}
	k.Aggregate = window
	if g.plan.total {
		k.Totals = chart.TotalMeasures(g.look.Limits)
	}
	return nil
}

// collecting returns what the sums of logs need.
func (g *gathering) collecting() (o summary.Options) {
	o.Maxima = g.Sums != nil
	few := g.by.All() || g.tags <= mostShifts && (g.tags > 0 || !g.plan.paged)
	switch {
	case g.sides.Runs: // which have figures each
	case g.plan.bands:
		o.Runs = &summary.Runs{Size: g.Aggregate, Optional: true, Percentiles: drawnPercentiles}
	case g.plan.changes || g.plan.shifts && few:
		o.Runs = &summary.Runs{Optional: true}
	}
	if g.plan.worst {
		o.Histories = &summary.Histories{Times: true}
	}
	return o
}

// mostPoints is about the number of windows of a picture over time, if nobody chose their length.
const mostPoints = 500

// A survey says how logs lie in time, in milliseconds.
type survey struct {
	length   int64 // of the first interval, rounded, since timers are late
	from, to int64
	points   int // the most intervals of a tag and a log
	tags     int // the most of a log
}

// firstIntervals is a number of intervals that have most tags of a log.
const firstIntervals = 1000

// survey looks at the first intervals of each log that the scan selects, without their payloads.
// Pipes can be read only once, so it does not know them.
func (g *gathering) survey(s *scan.Scan, logs []scan.Input, most int) (found survey, err error) {
	found = survey{length: 1000, from: math.MaxInt64, to: math.MinInt64}
	one := *s
	one.Inputs, one.Progress = logs, nil
	first := true
	for n := range logs {
		if logs[n].Once {
			continue
		}
		log, err := one.Open(n, 0)
		if err != nil {
			return found, err
		}
		points := map[string]int{}
		for seen := 0; seen < most && log.Scan(); {
			rec := log.Record()
			if rec.Kind != hdrlog.IntervalRecord || !one.Select(n, &rec.Interval) {
				continue
			}
			seen++
			if length := rec.Interval.Length; first && length > 0 {
				first = false
				power := math.Pow(10, math.Floor(math.Log10(length))-1)
				found.length = max(int64(math.Round(math.Round(length/power)*power*1000)), 1)
			}
			start := rec.Interval.StartMillis()
			if g.collector.Relative {
				start -= hdrlog.Millis(rec.Interval.LogStart)
			}
			found.from, found.to = min(found.from, start), max(found.to, start+hdrlog.Millis(rec.Interval.Length))
			if points[string(rec.Interval.Tag)]++; len(points) > MostTags {
				break // which the reading refuses
			}
			found.points, found.tags = max(found.points, points[string(rec.Interval.Tag)]), max(found.tags, len(points))
		}
		err = errors.Join(log.Err(), log.Close())
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

// measures returns what the lines show.
func (o *Options) measures() []chart.Measure {
	switch {
	case o.Type == chart.Load:
		return append(o.Type.Measures(o.levels()), chart.PerSecond())
	case o.Type.Measures != nil:
		return o.Type.Measures(o.levels())
	case o.Page:
		return chart.Timeline.Measures(o.levels()) // for the lines of the page
	}
	return nil
}
