package draw

import (
	"gonum.org/v1/plot/vg"

	"hdrkit/internal/chart/page"
)

// Report is one picture of a run: throughput, percentiles and a heat map over time, and percentile
// curves beside them.
var Report = &Type{
	Name:     "report",
	Options:  []string{"agg", "linear", "time", "mark", "tz"},
	Measures: Throughput.Measures,
	steep:    true,
	Chart:    page.Chart{Marks: page.Cells, Name: "value", Log: true, Empty: Heatmap.Chart.Empty, EmptyView: Heatmap.Chart.EmptyView},
	Worst:    true,
	draw:     (*sheet).report,
}

// ReportMeasures are the lines of [Picture.Total]. The last one is the throughput.
func ReportMeasures() []Measure {
	return append(Timeline.Measures([]float64{50, 99, 100}), PerSecond())
}

// report draws the charts of a report. Those over time have the same axis.
func (s *sheet) report() {
	const labels, apart = 175 * pixel, 10 * pixel
	st := s.reserveStrip()
	area := s.area
	size := area.Size()
	middle := area.Min.X + size.X*0.6
	left, right := area.Min.X+80*pixel, middle-labels
	rates := s.Series
	if len(rates) > mostTogether-1 {
		rates = nil // the total alone
	}
	lines := s.Total.Lines
	if len(lines) == 0 { // nothing was measured
		lines = make([]Line, len(ReportMeasures()))
	}
	total := Series{Label: "total", Lines: lines[len(lines)-1:]}
	if len(rates) != 1 {
		rates = append(rates[:len(rates):len(rates)], total)
	}
	windows, _ := s.windowRange()
	times := append(windows, total)
	top := area.Max.Y
	draw := func(t *Type, share float64, last bool, change func(p *Picture)) {
		part := *s.Picture
		part.Type = t
		change(&part)
		own := newSheet(&part, area)
		own.area.Max.Y, own.area.Max.X = top, middle
		top -= size.Y * vg.Length(share)
		own.area.Min.Y = top
		if !last {
			own.area.Min.Y += apart
		}
		own.left, own.right, own.last, own.times = left, right, last, times
		t.draw(own)
	}
	draw(Throughput, 0.24, false, func(p *Picture) { p.Series, p.Limits, p.Low, p.High, p.LogValues = rates, nil, 0, 0, false })
	draw(Timeline, 0.38, false, func(p *Picture) { p.Series = []Series{{Lines: lines[:len(lines)-1]}} })
	draw(Heatmap, 0.38, true, func(p *Picture) { p.Series = nil })

	if from, to, ok := timeRange(times); ok && st != nil {
		from, to = roomy(from, to, s.Absolute)
		s.drawStrip(st, left, right, middle, from, to)
	}

	curves := *s.Picture
	curves.Type = Percentiles
	curves.Curves, _ = split(curves.Curves, (*Curve).max, mostTogether)
	own := newSheet(&curves, area)
	own.area.Min.X = middle + apart
	own.percentiles()
}
