package plot

import (
	"math"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
)

// measures returns what the lines show.
func (d *decision) measures() []chart.Measure {
	switch {
	case d.fleet != nil:
		return append(chart.Fleet.Measures([]float64{d.fleet.percentile}), chart.PerSecond())
	case d.drawn.Measures != nil:
		return d.drawn.Measures(d.levels())
	case d.Page:
		return chart.Timeline.Measures(d.levels()) // for the lines of the page
	}
	return nil
}

// The largest number of windows with counts. For a heat map that is two for each column of a wide
// picture and each of ten tags, and more than MostTags. For a page it is what may fit: a window
// takes rowBytes of the page or more.
const (
	heatWindows = 1 << 16
	rowBytes    = 1 << 8
)

// setLines sets what the collector of lines and counts over time does.
func (d *decision) setLines() error {
	lines := &d.lines
	lines.Ratio = d.scale.Divisor()
	lines.Relative = d.relative()
	lines.Measures = d.measures()
	lines.Paired = d.takes.points.of == ofEachWindow
	switch {
	case d.Page:
		lines.MostWindows = d.look.PageSize / rowBytes
		lines.Paged = true
	case d.drawn.Chart.Marks == chart.Cells:
		lines.MostWindows = heatWindows
	}
	switch {
	case d.surveyed != nil:
		d.setWindows()
	case d.takes.overTime:
		return d.fold()
	}
	return nil
}

// relative reports whether logs lie over one another.
func (d *decision) relative() bool { return d.Compare && !d.look.Absolute }

// mostPoints is about the number of windows of a picture over time, if nobody chose their length.
const mostPoints = 500

// surveyLogs looks at the logs of a picture over time: at all of it if that decides how long
// windows are.
func (d *decision) surveyLogs() (err error) {
	if !d.needsTime() || d.Windows.Fold != 0 {
		return nil
	}
	most := firstIntervals
	if !d.Page && (d.merges() || d.thinned()) {
		most = math.MaxInt
	}
	d.surveyed, err = d.survey(most)
	return err
}

// setWindows sets the length of windows, and the lines that depend on how many series there are.
func (d *decision) setWindows() {
	count := len(d.scan.Inputs)
	several := d.surveyed.tags > 1 && !d.by.AddsTags() || d.Compare && count > 1
	if several && d.Page && d.Percentiles == nil {
		d.lines.Measures = chart.LimitedMeasures(d.lines.Measures, d.look.Limits) // others would be dropped
	}
	if d.merges() && count > 1 {
		for _, log := range d.scan.Inputs {
			d.look.Logs = append(d.look.Logs, d.labels[log.Name])
		}
	}
	d.lines.Aggregate = d.windowLength()
	if d.totals() {
		d.lines.Totals = chart.TotalMeasures(d.look.Limits)
	}
}

// windowLength returns the length of windows in milliseconds, 0 if each interval stays as it is.
func (d *decision) windowLength() int64 {
	length := d.Windows.Length
	if length == 0 && d.merges() {
		length = d.surveyed.length
	}
	if d.Windows.Length == 0 && d.thinned() && d.surveyed.points > mostPoints {
		seconds := float64(max(d.surveyed.to-d.surveyed.from, 0)) / 1000
		length = max(length, int64(axis.Window(seconds, mostPoints)*1000))
	}
	return length
}

// thinned reports whether long logs get windows, since nobody chose.
func (d *decision) thinned() bool { return !d.Windows.Given && !d.Page && d.drawn != chart.Load }

// totals reports whether lines are of all series together.
func (d *decision) totals() bool { return d.drawn.Chart.Marks == chart.Cells && !d.Page && !d.Compare }

// merges reports whether lines need windows, since their intervals are of several logs or tags.
func (d *decision) merges() bool {
	logs := len(d.scan.Inputs) > 1 && !d.Compare && !d.by.Inputs()
	return logs || d.by.AddsTags() || d.totals()
}
