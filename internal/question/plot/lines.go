package plot

import (
	"math"

	"hdrkit/hdrlog"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/chart/collect"
)

// measures returns the measures of the lines, nil for a picture without lines.
func (d *decision) measures() []chart.Measure {
	switch {
	case d.fleet != nil:
		return append(chart.Fleet.Measures([]float64{d.fleet.percentile}), chart.PerSecond())
	case d.drawn.Measures != nil:
		return d.drawn.Measures(d.asked.linePercentiles())
	case d.asked.Page:
		return chart.Timeline.Measures(d.asked.linePercentiles()) // for the lines of the page
	}
	return nil
}

const (
	// heatWindows is the largest number of windows with counts of a heat map. It is larger than
	// MaxTags, and has room for two windows for each column of a wide picture with ten tags.
	heatWindows = 1 << 16
	// rowBytes is a lower bound for the size of a window in a page, which limits their number.
	rowBytes = 1 << 8
)

// linesOf returns the options of the collector of lines and counts over time, but for folding.
func (d *decision) linesOf(scale hdrlog.Scale, limits []chart.Limit) collect.Options {
	lines := collect.Options{
		Ratio:    scale.Divisor(),
		Relative: d.isRelative(),
		Measures: d.measures(),
		Paired:   d.pointsOf().of == ofEachWindow,
	}
	switch {
	case d.asked.Page:
		lines.MaxWindows = d.asked.Looks.PageSize / rowBytes
		lines.Paged = true
	case d.drawn.Chart.Marks == chart.Cells:
		lines.MaxWindows = heatWindows
	}
	if d.surveyed == nil {
		return lines
	}
	compared := d.asked.Compare && len(d.scan.Inputs) > 1
	several := d.surveyed.tags > 1 && !d.by.AddsTags() || compared
	if several && d.asked.Page && d.asked.Percentiles == nil {
		lines.Measures = chart.LimitedMeasures(lines.Measures, limits, compared) // DropLines would drop the others
	}
	lines.Aggregate = d.windowLength()
	lines.Ordered = d.surveyed.ordered && !d.isRelative()
	if d.hasTotals() {
		lines.Totals = chart.TotalMeasures(limits)
	}
	return lines
}

// sourceLabels returns the labels of the logs whose windows are merged, nil if there is only one.
func (d *decision) sourceLabels() (all []string) {
	if d.surveyed == nil || !d.mustMerge() || len(d.scan.Inputs) < 2 {
		return nil
	}
	for _, log := range d.scan.Inputs {
		all = append(all, d.labels[log.Name])
	}
	return all
}

// isRelative reports whether times count from the start of each log, so that logs lie over one
// another.
func (d *decision) isRelative() bool { return d.asked.Compare && !d.asked.Axes.Time.Absolute }

// maxPoints is the approximate number of windows of a picture over time, if the user did not
// choose their length.
const maxPoints = 500

// surveyLogs surveys the logs of a picture over time. It reads all intervals if the length of
// windows depends on them, and otherwise the first intervals of each log.
func (d *decision) surveyLogs() (*survey, error) {
	if !d.needsTime() || d.asked.Windows.Fold != 0 {
		return nil, nil
	}
	most := firstIntervals
	if !d.asked.Page && (d.asked.Windows.Length > 0 || d.mustMerge() || d.canThin()) {
		most = math.MaxInt
	}
	return d.survey(most)
}

// windowLength returns the length of windows in milliseconds, 0 if intervals are not merged.
func (d *decision) windowLength() int64 {
	length := d.asked.Windows.Length
	if length == 0 && d.mustMerge() {
		length = d.surveyed.length
	}
	if d.asked.Windows.Length == 0 && d.canThin() && d.surveyed.points > maxPoints {
		seconds := float64(max(d.surveyed.to-d.surveyed.from, 0)) / 1000
		length = max(length, int64(axis.Window(seconds, maxPoints)*1000))
	}
	return length
}

// canThin reports whether intervals of long logs may be merged into windows: if the user did not
// choose windows, and the picture is neither a page nor a picture of load.
func (d *decision) canThin() bool {
	return !d.asked.Windows.Given && !d.asked.Page && d.drawn != chart.Load
}

// hasTotals reports whether the picture has lines of all series together.
func (d *decision) hasTotals() bool {
	return d.drawn.Chart.Marks == chart.Cells && !d.asked.Page && !d.asked.Compare
}

// mustMerge reports whether lines need windows, since they show several logs or tags together.
func (d *decision) mustMerge() bool {
	logs := len(d.scan.Inputs) > 1 && !d.asked.Compare && !d.by.Inputs()
	return logs || d.by.AddsTags() || d.hasTotals()
}
