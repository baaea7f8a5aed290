package draw

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
	"hdrkit/output"
)

// markRows returns the number of rows of texts of marks above the frame.
func (pn *panel) markRows() int {
	switch {
	case !pn.overTime():
		return 0
	case pn.around.untitled:
		return min(len(pn.picture.Events.Marks), 2)
	}
	return min(len(pn.picture.Events.Marks), 3)
}

// drawMarks draws a vertical line for each mark, and its text above the frame in the first row with
// room. A text without room is left out.
func (pn *panel) drawMarks() {
	const row = noteSize * lineSpace
	f, font := pn.frame, pn.pen.font(noteSize)
	free := make([]vg.Length, pn.markRows()) // the end of the last text in each row, from below
	for i := range free {
		free[i] = f.Min.X - 1
	}
	marks := slices.Clone(pn.picture.Events.Marks)
	slices.SortStableFunc(marks, func(a, b chart.Mark) int { return cmp.Compare(a.Time, b.Time) })
	for _, m := range marks {
		at := pn.X(float64(m.Time))
		if !pn.hasX(at) {
			continue
		}
		top := f.Max.Y + laneHeight*vg.Length(len(pn.lanes()))
		label := chart.Cut(m.Text, within(font, (f.Max.X-f.Min.X)*2/3))
		left := min(at, f.Max.X-font.Width(label))
		for i := range free {
			if free[i] < left {
				top += row * vg.Length(i)
				pn.pen.drawText(font, left, top+2*pixel, label)
				free[i] = left + font.Width(label) + 8*pixel
				break
			}
		}
		pn.pen.stroke(style{colour: pn.pen.Faint}, pixel, vg.Point{X: at, Y: f.Min.Y}, vg.Point{X: at, Y: top})
	}
}

// numberRadius is the radius of the circle around the number of a moment.
const numberRadius = 8 * pixel

// drawNumbers draws the numbers of the worst moments above their maxima, within the frame. A number
// that has no room there stands higher or lower, and a line leads to the maximum. Has reports
// whether the panel shows the series with a label.
func (pn *panel) drawNumbers(has func(label string) bool) {
	const near = numberRadius + 3*pixel
	f, font := pn.frame, pn.pen.font(noteSize)
	font.Color = pn.pen.Background
	font.XAlign = text.XCenter
	font.YAlign = text.YCenter
	var places, taken []vg.Point // places of maxima, and of numbers
	for _, m := range pn.picture.Events.Worst {
		places = append(places, vg.Point{X: pn.X(float64(m.Peak)), Y: pn.inside(m.Value)})
	}
	free := func(at vg.Point) bool {
		apart := func(p vg.Point, least vg.Length) bool {
			return max(p.X-at.X, at.X-p.X) >= least || max(p.Y-at.Y, at.Y-p.Y) >= least
		}
		for i, p := range places {
			if has(pn.picture.Events.Worst[i].Label) && !pn.picture.Events.Worst[i].Elsewhere && !apart(p, numberRadius+2*pixel) {
				return false
			}
		}
		for _, p := range taken {
			if !apart(p, 2*numberRadius+pixel) {
				return false
			}
		}
		return at.Y <= f.Max.Y-numberRadius && at.Y >= f.Min.Y+numberRadius
	}
	for i, m := range pn.picture.Events.Worst {
		place := places[i]
		if !has(m.Label) || m.Elsewhere || !pn.hasX(place.X) {
			continue
		}
		x := min(max(place.X, f.Min.X+numberRadius), f.Max.X-numberRadius)
		at := vg.Point{X: x, Y: place.Y + near}
		for step := vg.Length(0); step < f.Max.Y-f.Min.Y; step += 2 * pixel {
			if up := (vg.Point{X: x, Y: place.Y + near + step}); free(up) {
				at = up
				break
			}
			if down := (vg.Point{X: x, Y: place.Y - near - step}); free(down) {
				at = down
				break
			}
		}
		if at.Y != place.Y+near {
			pn.pen.stroke(style{colour: pn.pen.Text}, pixel, at, place)
		}
		taken = append(taken, at)
		pn.pen.fillDot(pn.pen.Text, numberRadius, at)
		pn.pen.drawText(font, at.X, at.Y, fmt.Sprint(i+1))
	}
}

// drawBreaches shades the times in which a line of the series is above its limit.
func (pn *panel) drawBreaches(series []chart.Series) {
	f := pn.frame
	for _, span := range chart.Breaches(series, pn.picture.Values.Limits) {
		from, to := pn.X(span.Start), max(pn.X(span.End), pn.X(span.Start)+pixel)
		time := vg.Rectangle{
			Min: vg.Point{X: max(from, f.Min.X), Y: f.Min.Y},
			Max: vg.Point{X: min(to, f.Max.X), Y: f.Max.Y},
		}
		pn.pen.fillRectangle(time, pale(pn.pen.Limit, 0.14))
	}
}

// drawBeyond marks values above the end of a fixed axis: an arrow for each continuous time with
// such values, and the highest value where there is room.
func (pn *panel) drawBeyond(lines []chart.Line) {
	if pn.what.High == 0 {
		return
	}
	f, font := pn.frame, pn.pen.font(noteSize)
	end := f.Min.X - 1 // end of the previous text
	var all []chart.Point
	for _, line := range lines {
		for _, p := range line.Points {
			if p.Value > pn.what.High {
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, func(a, b chart.Point) int { return cmp.Compare(a.Start, b.Start) })
	for i := 0; i < len(all); {
		top := all[i]
		for last := top.End; i < len(all) && all[i].Start <= last; i++ {
			last = max(last, all[i].End)
			if all[i].Value > top.Value {
				top = all[i]
			}
		}
		at := pn.X(top.Middle())
		if !pn.hasX(at) {
			continue
		}
		y := f.Max.Y
		pn.pen.FillPolygon(pn.pen.Text, []vg.Point{{X: at, Y: y}, {X: at - 5*pixel, Y: y - 8*pixel}, {X: at + 5*pixel, Y: y - 8*pixel}})
		label := axis.Value(pn.what.Unit, top.Value)
		left := min(at+8*pixel, f.Max.X-font.Width(label))
		if left > end {
			pn.pen.drawText(font, left, y-noteSize, label)
			end = left + font.Width(label) + 6*pixel
		}
	}
}

// drawHighestLabel writes a text above the highest point, into the headroom. It writes nothing if a
// fixed axis ends below the point.
func (pn *panel) drawHighestLabel(x, value float64, label string) {
	at := pn.X(x)
	y := pn.Y(value)
	f := pn.frame
	if !pn.hasX(at) || y < f.Min.Y || y > f.Max.Y-pn.around.headroom/2 {
		return // the point is outside
	}
	font := pn.pen.font(noteSize)
	width := font.Width(label)
	pn.pen.drawText(font, min(max(at-width/2, f.Min.X+2*pixel), f.Max.X-width), y+4*pixel, label)
}

// drawFindings hatches gaps, which are times without values, and draws the beats of a rhythm on the
// axis of time.
func (pn *panel) drawFindings(findings []output.Finding) {
	at := func(ms int64) vg.Length { return pn.X(float64(ms - pn.picture.Time.Origin)) }
	for n := range findings {
		f := &findings[n]
		if f.Start == nil || f.End == nil {
			continue
		}
		switch f.Kind {
		case "gap":
			pn.drawHatch(at(*f.Start), at(*f.End))
		case "rhythm":
			pn.drawBeats(float64(*f.Start), float64(*f.End), float64(f.Figures["periodMs"]))
		}
	}
}

// drawHatch draws diagonal lines over the frame between two horizontal places.
func (pn *panel) drawHatch(left, right vg.Length) {
	const apart = 8 * pixel
	f := pn.frame
	left, right = max(left, f.Min.X), min(right, f.Max.X)
	height := f.Max.Y - f.Min.Y
	for x := left - height; x < right; x += apart {
		from, to := vg.Point{X: x, Y: f.Min.Y}, vg.Point{X: x + height, Y: f.Max.Y}
		if from.X < left {
			from = vg.Point{X: left, Y: f.Min.Y + left - x}
		}
		if to.X > right {
			to = vg.Point{X: right, Y: f.Min.Y + right - x}
		}
		if from.X < to.X {
			pn.pen.stroke(style{colour: pn.pen.Faint}, pixel/2, from, to)
		}
	}
}

// drawBeats draws a triangle on the axis of time for each beat of a rhythm. First, last and period
// are in milliseconds. It draws nothing if triangles would touch.
func (pn *panel) drawBeats(first, last, period float64) {
	const size = 3 * pixel
	if !(period > 0) || pn.X(period)-pn.X(0) < 3*size {
		return
	}
	y := pn.frame.Min.Y
	for at := first; at <= last+period/2; at += period {
		x := pn.X(at - float64(pn.picture.Time.Origin))
		if pn.hasX(x) {
			pn.pen.FillPolygon(pn.pen.Text, []vg.Point{{X: x - size, Y: y}, {X: x + size, Y: y}, {X: x, Y: y + 2*size}})
		}
	}
}
