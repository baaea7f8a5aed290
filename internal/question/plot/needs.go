package plot

import (
	"slices"

	"hdrkit/internal/chart"
	"hdrkit/internal/finding"
	"hdrkit/internal/summary"
	"hdrkit/output"
)

// needs lists the data that a picture needs from the logs. A reading computes them.
type needs struct {
	overTime   bool // lines, or counts over time
	curves     bool // percentile curves
	points     points
	bands      bool          // intervals of confidence of curves
	shifts     bool          // changes of the level of series
	confidence *summary.Runs // options for intervals of confidence, nil for none
	maxima     bool          // maxima over time
	worst      int           // number of worst moments
	findings   bool
}

// content lists the parts of a picture that the function dress makes of the data.
type content struct {
	page     bool // all charts
	compares comparison
	apart    bool     // each log is drawn by itself, so that a series without a tag is a log
	added    bool     // the tags that one heat map adds up
	about    bool     // a note about an assumed unit
	periods  int      // number of periods of -fold that are added up, 0 without -fold
	same     []string // tags that count the same requests, of which only the first one is drawn
	fleet    *fleet   // a row for each log, nil for none
}

// points describes the points of a picture of load.
type points struct {
	of          pointKind
	percentiles []float64 // a point has a value for each of them
}

// A pointKind is the kind of the points in a picture of load.
type pointKind int

const (
	noPoints     pointKind = iota
	ofEachRun              // a point is a run, and a curve a tag
	ofEachRow              // a point is a row of all logs
	ofEachWindow           // a point is a window of time, and a curve a row
)

// A comparison is a way in which a picture compares logs, apart from drawing each by itself.
type comparison int

const (
	comparesNothing comparison = iota
	comparesSides              // a report compares two sides as hdrdiff does
	comparesOnPage             // a page compares two logs as hdrdiff does
	comparesCurves             // percentiles of each log are compared with those of the first log
	comparesCells              // heat maps of two logs are compared
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

// pointsOf returns the kind of the points of a picture of load, and their percentiles.
func (d *decision) pointsOf() points {
	switch {
	case d.drawn != chart.Load:
		return points{}
	case d.asked.Windows.Length > 0:
		return points{ofEachWindow, d.asked.linePercentiles()}
	case d.division == eachRun:
		return points{ofEachRun, d.asked.linePercentiles()}
	}
	return points{ofEachRow, d.asked.linePercentiles()}
}

// needsTime reports whether the picture has lines or counts over time.
func (d *decision) needsTime() bool {
	return d.asked.Page || d.drawn.OverTime() || d.pointsOf().of == ofEachWindow
}

// MaxWorst is the largest number of worst moments that a picture marks, and maxPageWorst the
// number that a page has. A page marks MaxWorst of those in its view.
const (
	MaxWorst     = 5
	maxPageWorst = 100
)

// needsOf returns what the picture needs for its type, or for all charts of a page.
func (d *decision) needsOf() needs {
	has := d.drawn.Shows
	t := needs{
		overTime: d.needsTime(),
		curves:   has.Curves,
		points:   d.pointsOf(),
		bands:    !d.asked.Page && (d.drawn.Chart.Marks == chart.Curves || d.division == twoSides),
		shifts:   has.Shifts && !d.asked.Compare && d.fewSeries(),
		maxima:   d.asked.Sums != nil,
		findings: d.division == together && !d.by.Phases() && (d.asked.Page || has.Findings && !d.hasNoFinding()),
	}
	if t.bands || t.shifts || d.comparison() == comparesOnPage {
		t.confidence = &summary.Runs{Optional: true}
	}
	if t.bands {
		t.confidence.Size = d.asked.Windows.Length
		t.confidence.Percentiles = drawnPercentiles
	}
	maxima := func(m chart.Measure) bool { return m.Name == output.Max }
	cells := d.drawn.Chart.Marks == chart.Cells
	above := cells || slices.ContainsFunc(d.measures(), maxima) // the numbers of moments stand above maxima
	if d.asked.Windows.Fold == 0 && has.Worst && above && d.division != twoSides {
		t.worst = MaxWorst
		if d.asked.Page {
			t.worst = maxPageWorst
		}
	}
	return t
}

// hasNoFinding reports whether a timeline needs no finding for its title: the user chose a title,
// or there are several logs. Findings about several logs take time: half as much again for forty
// logs.
func (d *decision) hasNoFinding() bool {
	chosen := d.asked.Looks.Title != ""
	return d.drawn == chart.Timeline && (chosen || len(d.scan.Inputs) >= finding.MinLogs)
}

// contentOf returns the content of the picture.
func (d *decision) contentOf() content {
	cells := d.drawn.Chart.Marks == chart.Cells
	return content{
		page:     d.asked.Page,
		compares: d.comparison(),
		apart:    d.division != together,
		added:    d.asked.Page || cells,
		about:    d.asked.Page || cells && d.drawn.Shows.Findings,
		fleet:    d.fleet,
	}
}

// maxShifts is the largest number of series whose shifts are marked.
const maxShifts = 4

// fewSeries reports whether there may be few enough series to mark their shifts. The reading checks
// the number again. The check here saves work for many series.
func (d *decision) fewSeries() bool {
	switch {
	case d.by.All() || d.surveyed == nil:
		return true
	case d.by.Inputs() && d.by.AddsTags():
		return len(d.scan.Inputs) <= maxShifts
	case d.surveyed.tags == 0: // the logs can be read only once
		return !d.asked.Page
	}
	return d.surveyed.tags <= maxShifts
}
