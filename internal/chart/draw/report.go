package draw

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
)

// apart is the distance between the charts in a report.
const apart = 10 * pixel

// maxFigures is the largest number of series in the table of a report.
const maxFigures = 8

// drawReport draws a report of one run: the table of series, throughput and a heat map over the
// same axis of time, and below them percentile curves and the list of the worst moments.
func (c *pen) drawReport(p *chart.Picture, area vg.Rectangle) {
	area.Max.Y -= c.drawFigures(p, area) + apart
	size := area.Size()
	rows := vg.Length(0) // the height of the rows of logs
	if p.Fleet != nil {
		rows = min(vg.Length(chart.FleetHeight(len(p.Fleet.Rows)))*pixel, size.Y*0.5)
		size.Y -= rows
	}

	bottom := area
	bottom.Max.Y = area.Min.Y + size.Y*0.36
	area.Min.Y = bottom.Max.Y + apart

	outer := area
	outer.Max.X -= barWidth
	outer.Min.Y = outer.Max.Y - max((area.Size().Y-rows)*0.22, 60*pixel) -
		laneHeight*vg.Length(min(len(p.Lanes()), chart.MaxLanes))
	rates := ratesOf(p)
	thin := c.linesPanel(rates, rates, outer)
	thin.around.inner = true
	thin.x.low, thin.x.high, _ = p.TimeRange()

	outer.Max.Y = outer.Min.Y - 4*pixel
	outer.Min.Y = area.Min.Y
	if p.Fleet != nil {
		outer.Min.Y += rows + tickSize*lineSpace + labelSize*lineSpace
	}
	unmarked := *p
	unmarked.Events.Marks = nil // the panel above has the marks
	var colours heatScale
	heat := c.heatPanel(&unmarked, &unmarked, nil, outer, &colours)
	heat.around.laned = true
	heatPaint := heat.content.paint
	heat.content.paint = func() {
		heatPaint()
		heat.drawFindings(p.Texts.Findings)
	}
	panels := []*panel{thin, heat}
	if p.Fleet != nil {
		outer.Max.Y = outer.Min.Y - 4*pixel
		outer.Min.Y = area.Min.Y
		logs := c.fleetPanel(&unmarked, outer)
		logs.around.laned = true
		panels = append(panels, logs)
		heat.around.inner = true
	}
	drawPanels(panels...)
	if p.Fleet != nil {
		c.drawFleetBar(p.Fleet, panels[2].frame, area.Max.X-barWidth+20*pixel)
	}
	c.drawHeatBar(heat.frame, area.Max.X-barWidth+20*pixel, &colours)

	c.drawBelow(p, bottom)
}

// drawBelow draws the lowest part of a report: percentile curves, and the list of the worst
// moments.
func (c *pen) drawBelow(p *chart.Picture, area vg.Rectangle) {
	curves := *p
	curves.Values.Low = 0
	curves.Values.High = 0
	moments := area
	moments.Min.X += area.Size().X * 0.56
	if len(p.Moments()) > 0 {
		area.Max.X = moments.Min.X - 2*apart
	}
	pn := c.curvesPanel(&curves, &curves, area)
	paint := pn.content.paint
	pn.content.paint = func() {
		paint()
		pn.drawPercentiles()
	}
	drawPanels(pn)
	c.drawMoments(p, moments)
}

// ratesOf returns the picture with the throughput of a report.
func ratesOf(p *chart.Picture) *chart.Picture {
	rates := *p
	rates.Type = chart.Throughput
	rates.Values = chart.ValueAxis{Unit: p.Values.Unit}
	rates.Events.Worst = nil
	rates.Series = nil
	if n := len(p.Total.Lines); n > 0 {
		rates.Series = []chart.Series{{Lines: p.Total.Lines[n-1:]}}
	}
	return &rates
}

// drawComparison draws a report that compares: figures before and after, changes with intervals,
// heat maps with their difference, and the percentile curves of each tag.
func (c *pen) drawComparison(p *chart.Picture, area vg.Rectangle, before, after []chart.Series, tags []chart.Facet) {
	var columns []column
	for n, texts := range p.Comparison.Changes {
		columns = append(columns, column{heading: texts[0], texts: texts[1:], left: n < 2})
	}
	if len(columns) > 0 {
		least := []string{"min", "period", "p99.999", "p90", "count", "p99.99"}
		columns = c.columnsThatFit(columns, noteSize, area.Size().X, area.Size().X, least...)
		area.Max.Y -= c.drawTable(area, noteSize, columns) + apart
	}
	if height := c.drawForest(p, area); height > 0 {
		area.Max.Y -= height + apart
	}
	bottom := area
	bottom.Max.Y = area.Min.Y + area.Size().Y*0.34
	area.Min.Y = bottom.Max.Y + apart
	c.drawDifference(p, area, before, after)
	curves := *tags[0].Picture
	curves.Series = nil
	if len(tags) == 1 {
		drawPanels(c.curvesPanel(tags[0].Picture, tags[0].Picture, bottom))
		return
	}
	for _, tag := range tags {
		curves.Series = append(curves.Series, tag.Picture.Series...)
	}
	c.drawFacets(&curves, bottom, tags)
}

// drawPercentiles marks the percentiles of the table on each curve.
func (pn *panel) drawPercentiles() {
	font := pn.pen.font(noteSize)
	for n, percentile := range chart.TablePercentiles {
		if percentile != 50 && percentile != 99 && percentile != 99.9 || axis.Nines(percentile) > pn.x.high {
			continue
		}
		at := pn.X(axis.Nines(percentile))
		priority := func(s *chart.Summary) float64 { return priorityOf(pn.picture, s.Label, s.Max) }
		shown, _ := chart.Highest(pn.picture.Texts.Summary, priority, chart.MaxTogether) // the series with curves
		for _, s := range shown {
			if !s.Knows(percentile) {
				continue
			}
			v := s.Percentiles[n]
			pn.pen.fillDot(pn.pen.Text, 2.5*pixel, vg.Point{X: at, Y: pn.inside(v)})
			if len(pn.picture.Texts.Summary) == 1 {
				// A rising curve leaves room below and to the right of a point.
				label := axis.Value(pn.what.Unit, v)
				x := min(at+5*pixel, pn.frame.Max.X-font.Width(label))
				pn.pen.drawText(font, x, max(pn.inside(v)-noteSize, pn.frame.Min.Y+pixel), label)
			}
		}
	}
}

// A column is a column of a table: a heading, and a text for each row.
type column struct {
	heading string
	texts   []string
	left    bool   // texts are aligned to the left
	failing []bool // by row: the text says that a limit fails. nil if no text does
}

const columnGap = 18 * pixel

// columnsThatFit drops columns with the given headings, one after the other, until the rest fits
// into a width. Columns wider than most count as most, since the table can cut their texts.
func (c *pen) columnsThatFit(columns []column, size, width, most vg.Length, least ...string) []column {
	font := c.font(size)
	for _, heading := range least {
		all := -columnGap
		for _, col := range columns {
			widest := vg.Length(0)
			for _, str := range append(slices.Clone(col.texts), col.heading) {
				widest = max(widest, font.Width(str))
			}
			all += min(widest, most) + columnGap
		}
		if all <= width {
			break
		}
		columns = slices.DeleteFunc(columns, func(col column) bool { return col.heading == heading })
	}
	return columns
}

// drawTable draws columns at the upper edge of an area, and returns their height. If they are too
// wide, it cuts the texts of the widest left-aligned column.
func (c *pen) drawTable(area vg.Rectangle, size vg.Length, columns []column) (height vg.Length) {
	const gap = columnGap
	font, head := c.font(size), c.font(size)
	head.Color = c.Faint
	widths, all := make([]vg.Length, len(columns)), vg.Length(0)
	for i, col := range columns {
		for _, str := range append(slices.Clone(col.texts), col.heading) {
			widths[i] = max(widths[i], font.Width(str))
		}
		all += widths[i] + gap
	}
	widest := 0
	for i := range columns {
		if columns[i].left && widths[i] > widths[widest] {
			widest = i
		}
	}
	if over := all - gap - area.Size().X; over > 0 {
		widths[widest] = max(widths[widest]-over, 60*pixel)
	}
	x, rows := area.Min.X, 0
	for i, col := range columns {
		fits := within(font, widths[i])
		at := x
		cells := chart.Distinct(col.texts, fits)
		if !col.left {
			font.XAlign, head.XAlign = text.XRight, text.XRight
			at += widths[i]
			cells = col.texts
		}
		y := area.Max.Y - size
		c.drawText(head, at, y, chart.Cut(col.heading, fits))
		for n, str := range cells {
			y -= size * lineSpace
			cell := font
			if col.failing != nil && col.failing[n] {
				cell.Color = c.Limit
			}
			c.drawText(cell, at, y, str)
		}
		rows = max(rows, len(cells))
		font.XAlign, head.XAlign = text.XLeft, text.XLeft
		x += widths[i] + gap
	}
	return size + vg.Length(rows)*size*lineSpace
}

// priorityOf returns the priority with which a report shows a series: its highest value, or
// infinity if a sentence of the report is about the series.
func priorityOf(p *chart.Picture, label string, highest float64) float64 {
	if p.HasSentence(label) {
		return math.Inf(1)
	}
	return highest
}

// drawFigures draws the table of series, in descending order of [priorityOf], and returns its
// height.
func (c *pen) drawFigures(p *chart.Picture, area vg.Rectangle) vg.Length {
	shown := slices.Clone(p.Texts.Summary)
	slices.SortStableFunc(shown, func(a, b chart.Summary) int {
		return cmp.Compare(priorityOf(p, b.Label, b.Max), priorityOf(p, a.Label, a.Max))
	})
	more := len(shown) - maxFigures
	if more == 1 { // the line with the number would be as high as the row
		more = 0
	}
	shown = shown[:len(shown)-max(more, 0)]
	tags := column{left: true}
	columns := []column{{heading: "values"}, {heading: "per second"}}
	for _, s := range shown {
		tags.texts = append(tags.texts, chart.Named(s.Label))
		columns[0].texts = append(columns[0].texts, axis.Value("", float64(s.Count)))
		columns[1].texts = append(columns[1].texts, axis.Value("", s.PerSecond))
	}
	value := func(heading string, percentile float64, of func(s *chart.Summary) float64) {
		col := column{heading: heading}
		for i := range shown {
			text := "-"
			if shown[i].Knows(percentile) {
				text = axis.Value(p.Values.Unit, of(&shown[i]))
			}
			col.texts = append(col.texts, text)
		}
		columns = append(columns, col)
	}
	for n, level := range chart.TablePercentiles {
		if level == 50 || level == 99 || level == 99.9 {
			value(fmt.Sprint("p", level), level, func(s *chart.Summary) float64 { return s.Percentiles[n] })
		}
	}
	value("max", 100, func(s *chart.Summary) float64 { return s.Max })
	for n, l := range p.Values.Limits {
		col := column{heading: l.Name() + " ≤ " + axis.Handy(axis.Spelled(p.Values.Unit), l.Value)}
		for _, s := range shown {
			fails := s.Limited[n] > l.Value
			text := fmt.Sprintf("%s, %.0f%% spare", axis.Value(p.Values.Unit, s.Limited[n]), math.Floor(100*(1-s.Limited[n]/l.Value)))
			if fails {
				text = "fails: " + axis.Value(p.Values.Unit, s.Limited[n])
			} else if s.Count == 0 {
				text = "-"
			}
			col.texts = append(col.texts, text)
			col.failing = append(col.failing, fails)
		}
		columns = append(columns, col)
	}
	height := c.drawTable(area, labelSize, append([]column{tags}, columns...))
	if more > 0 {
		font := c.font(noteSize)
		font.Color = c.Faint
		height += noteSize * lineSpace
		c.drawText(font, area.Min.X, area.Max.Y-height, chart.Counted(int64(more), "more "+cmp.Or(p.Inputs.SeriesWord, "tag")))
	}
	return height
}

// drawMoments draws the list of the worst moments into an area. It leaves out empty columns.
func (c *pen) drawMoments(p *chart.Picture, area vg.Rectangle) {
	all := p.Moments()
	if len(all) == 0 {
		return
	}
	font := c.font(labelSize)
	c.drawText(font, area.Min.X, area.Max.Y-labelSize, "worst moments")
	area.Max.Y -= labelSize * 1.7
	const share = "values then"
	columns := []column{
		{},
		{heading: "at"},
		{heading: "peak at"},
		{heading: "for"},
		{heading: "max"},
		{heading: share},
		{heading: "of", left: true},
	}
	for _, m := range all {
		number := ""
		if m.Number > 0 {
			number = fmt.Sprint(m.Number)
		}
		for i, str := range []string{number, m.At, m.PeakAt, m.Length, m.Peak, m.Share, m.Name} {
			columns[i].texts = append(columns[i].texts, str)
		}
	}
	columns = slices.DeleteFunc(columns, func(col column) bool {
		return !slices.ContainsFunc(col.texts, func(str string) bool { return str != "" })
	})
	columns = c.columnsThatFit(columns, noteSize, area.Size().X, 90*pixel, share, "at")
	c.drawTable(area, noteSize, columns)
}
