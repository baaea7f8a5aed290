package plot

import (
	"slices"

	"hdrkit/internal/chart"
	"hdrkit/internal/finding"
	"hdrkit/internal/summary"
	"hdrkit/output"
)

// takes are what a picture takes of the logs, which reading gives it.
type takes struct {
	overTime bool // lines, or counts over time
	curves   bool // percentile curves
	points   points
	bands    bool          // the confidence of curves
	shifts   bool          // changes of level
	believed *summary.Runs // windows for intervals of confidence, nil without
	maxima   bool          // over time
	worst    int           // the number of moments that are marked
	findings bool
}

// shows are what a picture shows of all that was read, which dressing makes.
type shows struct {
	page     bool // all charts
	compares comparison
	apart    bool     // logs do not add up with one another, so a series without a tag is a log
	added    bool     // tags that one heat map adds up
	about    bool     // how values got their unit, if nobody gave it
	periods  int      // of -fold, that lie over one another, 0 without
	same     []string // tags that count the same requests; only the first one is drawn
	fleet    *fleet   // a row for each log, nil without
}

// points are the points of a picture of load, instead of lines and curves.
type points struct {
	of     pointKind
	levels []float64 // the percentiles whose values they show
}

// A pointKind says what makes a point of a picture of load.
type pointKind int

const (
	noPoints     pointKind = iota
	ofEachRun              // a point is a run, and a curve a tag
	ofEachRow              // a point is a row of all logs
	ofEachWindow           // a point is a window of time, and a curve a row
)

// A comparison says how a picture compares logs beyond drawing them apart.
type comparison int

const (
	comparesNothing comparison = iota
	comparesSides              // in a report: two sides, as hdrdiff does
	comparesOnPage             // two logs on a page, as hdrdiff does
	comparesCurves             // percentiles of each log with those of the first
	comparesCells              // heat maps of two logs
)

// comparison returns how the picture compares logs.
func (d *decision) comparison() comparison {
	marks := d.drawn.Chart.Marks
	switch {
	case d.division == twoSides:
		return comparesSides
	case d.division != apart:
		return comparesNothing
	case d.asked.Page && len(d.scan.Inputs) == 2:
		return comparesOnPage
	case d.asked.Page:
		return comparesNothing
	case marks == chart.Curves:
		return comparesCurves
	case marks == chart.Cells:
		return comparesCells
	}
	return comparesNothing
}

// pointsOf returns what makes the points of the picture.
func (d *decision) pointsOf() points {
	switch {
	case d.drawn != chart.Load:
		return points{}
	case d.asked.Windows.Length > 0:
		return points{ofEachWindow, d.asked.levels()}
	case d.division == eachRun:
		return points{ofEachRun, d.asked.levels()}
	}
	return points{ofEachRow, d.asked.levels()}
}

// needsTime reports whether the picture has lines or counts over time.
func (d *decision) needsTime() bool {
	return d.asked.Page || d.drawn.OverTime() || d.pointsOf().of == ofEachWindow
}

// The number of worst moments that are marked. A page marks as many of its view.
const (
	MostWorst     = 5
	mostPageWorst = 100
)

// whatToTake returns what the picture takes: what its type shows, or all for a page.
func (d *decision) whatToTake() takes {
	has := d.drawn.Shows
	t := takes{
		overTime: d.needsTime(),
		curves:   has.Curves,
		points:   d.pointsOf(),
		bands:    !d.asked.Page && (d.drawn.Chart.Marks == chart.Curves || d.division == twoSides),
		shifts:   has.Shifts && !d.asked.Compare && d.fewSeries(),
		maxima:   d.asked.Sums != nil,
		findings: d.division == together && !d.plan.by.Phases() && (d.asked.Page || has.Findings && !d.withoutSentence()),
	}
	if t.bands || t.shifts || d.comparison() == comparesOnPage {
		t.believed = &summary.Runs{Optional: true}
	}
	if t.bands {
		t.believed.Size = d.asked.Windows.Length
		t.believed.Percentiles = drawnPercentiles
	}
	maxima := func(m chart.Measure) bool { return m.Name == output.Max }
	cells := d.drawn.Chart.Marks == chart.Cells
	above := cells || slices.ContainsFunc(d.measures(), maxima) // numbers stand above maxima
	if d.asked.Windows.Fold == 0 && has.Worst && above && d.division != twoSides {
		t.worst = MostWorst
		if d.asked.Page {
			t.worst = mostPageWorst
		}
	}
	return t
}

// withoutSentence reports whether a timeline has no finding as its title: somebody chose a title,
// or it adds up logs that the finding could be about, and which take half as much time again for
// forty.
func (d *decision) withoutSentence() bool {
	chosen := d.asked.Looks.Title != ""
	return d.drawn == chart.Timeline && (chosen || len(d.scan.Inputs) >= finding.LeastLogs)
}

// whatToShow returns what the picture shows of all that was read.
func (d *decision) whatToShow() shows {
	cells := d.drawn.Chart.Marks == chart.Cells
	return shows{
		page:     d.asked.Page,
		compares: d.comparison(),
		apart:    d.division != together,
		added:    d.asked.Page || cells,
		about:    d.asked.Page || cells && d.drawn.Shows.Findings,
		fleet:    d.fleet,
	}
}

// mostShifts is the number of series up to which their shifts are marked.
const mostShifts = 4

// fewSeries reports whether there may be few enough series to mark their shifts. Reading counts the
// series, but would add up much in vain for many.
func (d *decision) fewSeries() bool {
	switch {
	case d.plan.by.All() || d.surveyed == nil:
		return true
	case d.plan.by.Inputs() && d.plan.by.AddsTags():
		return len(d.scan.Inputs) <= mostShifts
	case d.surveyed.tags == 0: // the logs can be read only once
		return !d.asked.Page
	}
	return d.surveyed.tags <= mostShifts
}
