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
		return d.drawn.Measures(d.asked.levels())
	case d.asked.Page:
		return chart.Timeline.Measures(d.asked.levels()) // for the lines of the page
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
	lines := &d.plan.lines
	lines.Ratio = d.plan.scale.Divisor()
	lines.Relative = d.relative()
	lines.Measures = d.measures()
	lines.Paired = d.plan.takes.points.of == ofEachWindow
	switch {
	case d.asked.Page:
		lines.MostWindows = d.plan.look.Looks.PageSize / rowBytes
		lines.Paged = true
	case d.drawn.Chart.Marks == chart.Cells:
		lines.MostWindows = heatWindows
	}
	switch {
	case d.surveyed != nil:
		d.setWindows()
	case d.plan.takes.overTime:
		return d.fold()
	}
	return nil
}

// relative reports whether logs lie over one another.
func (d *decision) relative() bool { return d.asked.Compare && !d.plan.look.Time.Absolute }

// mostPoints is about the number of windows of a picture over time, if nobody chose their length.
const mostPoints = 500

// surveyLogs looks at the logs of a picture over time: at all of it if that decides how long
// windows are.
func (d *decision) surveyLogs() (err error) {
	if !d.needsTime() || d.asked.Windows.Fold != 0 {
		return nil
	}
	most := firstIntervals
	if !d.asked.Page && (d.asked.Windows.Length > 0 || d.merges() || d.thinned()) {
		most = math.MaxInt
	}
	d.surveyed, err = d.survey(most)
	return err
}

// setWindows sets the length of windows, and the lines that depend on how many series there are.
func (d *decision) setWindows() {
	count := len(d.scan.Inputs)
	compared := d.asked.Compare && count > 1
	several := d.surveyed.tags > 1 && !d.plan.by.AddsTags() || compared
	if several && d.asked.Page && d.asked.Percentiles == nil {
		d.plan.lines.Measures = chart.LimitedMeasures(d.plan.lines.Measures, d.plan.look.Values.Limits, compared) // others would be dropped
	}
	if d.merges() && count > 1 {
		for _, log := range d.scan.Inputs {
			d.plan.look.Inputs.Logs = append(d.plan.look.Inputs.Logs, d.plan.labels[log.Name])
		}
	}
	d.plan.lines.Aggregate = d.windowLength()
	d.plan.lines.Ordered = d.surveyed.ordered && !d.relative()
	if d.totals() {
		d.plan.lines.Totals = chart.TotalMeasures(d.plan.look.Values.Limits)
	}
}

// windowLength returns the length of windows in milliseconds, 0 if each interval stays as it is.
func (d *decision) windowLength() int64 {
	length := d.asked.Windows.Length
	if length == 0 && d.merges() {
		length = d.surveyed.length
	}
	if d.asked.Windows.Length == 0 && d.thinned() && d.surveyed.points > mostPoints {
		seconds := float64(max(d.surveyed.to-d.surveyed.from, 0)) / 1000
		length = max(length, int64(axis.Window(seconds, mostPoints)*1000))
	}
	return length
}

// thinned reports whether long logs get windows: if the user chose none, and the picture is neither
// a page nor one of load.
func (d *decision) thinned() bool {
	return !d.asked.Windows.Given && !d.asked.Page && d.drawn != chart.Load
}

// totals reports whether lines are of all series together.
func (d *decision) totals() bool {
	return d.drawn.Chart.Marks == chart.Cells && !d.asked.Page && !d.asked.Compare
}

// merges reports whether lines need windows, since their intervals are of several logs or tags.
func (d *decision) merges() bool {
	logs := len(d.scan.Inputs) > 1 && !d.asked.Compare && !d.plan.by.Inputs()
	return logs || d.plan.by.AddsTags() || d.totals()
}
