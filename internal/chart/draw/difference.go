package draw

import (
	"cmp"
	"image/color"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/recorder"

	"hdrkit/internal/chart/page"
)

// changeSize is the width and height of a cell of a difference in pixels. Cells of [cellSize] have
// so few values that chance alone makes most of them differ.
const changeSize = 9

// mostChange is the ratio at the end of the scale of colours. Higher ones have the same colour.
const mostChange = 8

// difference draws the heat maps of two logs, and how many times as many values per second the
// second one has in each cell, one below the other on the same axes.
func (s *sheet) difference(before, after []WindowSeries) {
	const apart = 6 * pixel
	area := s.area
	labels := 60 * pixel
	for _, e := range s.withLimits(nil, s.Limits) {
		labels = min(max(labels, s.endingText().Width(e.label)+leader+12*pixel), area.Size().X/4)
	}
	right := area.Max.X - barWidth - labels
	var bounds heatBounds
	charts := func(canvas vg.Canvas) (rooms []vg.Rectangle) {
		heading := s.textStyle(labelSize)
		heading.Color = s.colours.text
		groups := [2]string{before[0].Group, after[0].Group}
		top := area.Max.Y
		for i, title := range []string{"before: " + groups[0], "after: " + groups[1], "after / before"} {
			part := *s.Picture
			part.Windows = [][]WindowSeries{before, after, after}[i]
			own := newSheet(&part, area)
			own.area.Canvas, own.whole, own.bounds = canvas, s.Picture, &bounds
			own.area.Max.Y = top
			top -= area.Size().Y / 3
			own.area.Min.Y = top + apart
			own.left, own.right, own.last = area.Min.X+80*pixel, right, i == 2
			if i == 2 {
				own.before, own.area.Min.Y = before, top
			}
			own.area.Max.Y -= labelSize * lineSpace
			own.text(heading, own.left, own.area.Max.Y, shorten(heading, title, area.Max.X-own.left))
			own.area.Max.Y -= 4 * pixel
			rooms = append(rooms, own.area.Rectangle)
			own.heatmap()
		}
		return rooms
	}
	charts(&recorder.Canvas{}) // to find the bounds of the scale, which the first two share
	bounds.known = true
	rooms := charts(area.Canvas)
	if bounds.most == 0 {
		return
	}
	x := right + labels
	rooms[0].Min.Y = rooms[1].Min.Y
	s.drawColourBar(rooms[0], x, s.heatBar(bounds.least, bounds.most))
	bar := colourBar{at: s.changeAt, title: [2]string{"times as many", "per second"}}
	for _, tick := range changeScale("", "as many").Ticks {
		bar.ticks = append(bar.ticks, barTick{tick.Part, tick.Label})
	}
	// Below the bar: how cells look that have values on one side only.
	rows := rooms[2]
	rows.Max.Y = rows.Min.Y + 2*tickSize*lineSpace
	style := s.textStyle(tickSize)
	style.Color, style.YAlign = s.colours.text, text.YCenter
	for i, only := range []string{"only before", "only after"} {
		y := rows.Min.Y + tickSize*lineSpace*(vg.Length(i)+0.5)
		for n := vg.Length(-2); n < 2; n++ {
			low := y + n*stripe*pixel
			s.plate(s.area, vg.Rectangle{Min: vg.Point{X: x, Y: low}, Max: vg.Point{X: x + 16*pixel, Y: low + pixel}}, s.changeAt(float64(i)))
		}
		s.area.FillText(style, vg.Point{X: x + 24*pixel, Y: y}, only)
	}
	rooms[2].Min.Y = rows.Max.Y + tickSize
	s.drawColourBar(rooms[2], x, bar)
}

// changeRatios are the ratios that the scale of colours names.
var changeRatios = []struct {
	ratio float64
	label string
}{{1.0 / 8, "1/8 or less"}, {1.0 / 4, "1/4"}, {1.0 / 2, "1/2"}, {1, ""}, {2, "2"}, {4, "4"}, {8, "8 or more"}}

// changeScale describes the scale of colours for a page. Same names the ratio 1.
func changeScale(title, same string) *page.Scale {
	scale := &page.Scale{Title: title, Most: mostChange}
	for _, r := range changeRatios {
		scale.Ticks = append(scale.Ticks, page.Tick{Part: changePart(r.ratio), Label: cmp.Or(r.label, same)})
	}
	return scale
}

// changePart returns the place of a ratio on the scale of colours, from 0 to 1.
func changePart(ratio float64) float64 {
	return min(max(0.5+math.Log(ratio)/math.Log(mostChange)/2, 0), 1)
}

// changes returns the looks of cells whose rate is after and was before. A cell that has values on
// one side only has stripes in the colour of that end of the scale.
func (c *colours) changes(before, after []float64) []cell {
	cells := make([]cell, len(after))
	for i, rate := range after {
		switch {
		case rate > 0 && before[i] > 0:
			cells[i] = cell{colour: color.NRGBA(c.changeAt(changePart(rate / before[i])))}
		case rate > 0:
			cells[i] = cell{color.NRGBA(c.changeAt(1)), true}
		case before[i] > 0:
			cells[i] = cell{color.NRGBA(c.changeAt(0)), true}
		}
	}
	return cells
}

// stripe is the distance of the stripes of a cell that has values on one side only, in pixels. Each
// stripe is a pixel high.
const stripe = 3

// compared returns the windows of logs that are compared, if they are two.
func (p *Picture) compared() (before, after []WindowSeries, ok bool) {
	for _, ws := range p.Windows {
		switch {
		case ws.Group == "":
			return nil, nil, false
		case ws.Group == p.Windows[0].Group:
			before = append(before, ws)
		case len(after) > 0 && ws.Group != after[0].Group:
			return nil, nil, false
		default:
			after = append(after, ws)
		}
	}
	return before, after, len(after) > 0
}
