package draw

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
)

// A panel is a chart with its axes. A picture has one panel or several. Functions such as
// linesPanel make panels, and drawPanels draws them.
type panel struct {
	pen     *pen
	picture *chart.Picture // has the data of the panel
	what    chart.Chart
	outer   vg.Rectangle // the frame with its labels and titles
	frame   vg.Rectangle // the area between the axes
	x, y    ruler
	scale   axis.Scale // of a linear axis of values

	around  surroundings
	content content
}

// surroundings are the texts around the frame of a panel, and the room for them.
type surroundings struct {
	// title and aside stand above the frame.
	title, aside string
	// inner says that a panel below has the labels of the horizontal axis. untitled says that
	// several panels share one title for each axis.
	inner, untitled bool
	// laned says that a panel above has the lanes of phases. lanesNamedLeft says that the name of a
	// lane stands to the left of the frame, where the title of the vertical axis must not be.
	laned, lanesNamedLeft bool
	// across are limits that are drawn as horizontal lines. endings are labels at the right edge.
	across  []chart.Limit
	endings []ending
	// headroom is the free height above the highest value.
	headroom vg.Length
	// left, right, top and bottom are the room around the frame.
	left, right, top, bottom vg.Length
}

// content has the functions that draw what stands between the axes of a panel.
type content struct {
	values    func(add func(v float64)) // calls add with all values
	hasValues bool
	least     vg.Length // the least height of the frame, 0 for minFrame
	// ruler sets up the vertical axis. It is nil for an axis of values.
	ruler func(height vg.Length)
	// horizontal sets up the horizontal axis. It is nil if the kind of marks decides the axis.
	horizontal func()
	// prepare computes what paint draws, once the frame is known. Panels without values call
	// neither.
	prepare func()
	paint   func()
}

// newPanel returns a panel of a type with the data of p. Its axes have room for the data of whole,
// which differs from p in a facet.
func (c *pen) newPanel(t *chart.Type, p, whole *chart.Picture, outer vg.Rectangle) *panel {
	pn := &panel{pen: c, picture: p, what: whole.Describe(t), outer: outer}
	pn.what.Low, pn.what.High = p.Values.Low, p.Values.High
	pn.x.high = 1000
	if from, to, timed := whole.TimeRange(); timed {
		pn.x.low, pn.x.high = from, to
	}
	return pn
}

// A ruler is an axis from low to high. On a logarithmic axis, values of 0 stand at the place of
// zero, below the lowest value.
type ruler struct {
	low, high    float64
	log          bool
	lowest, zero float64
	ticks        []axis.Tick
	title        string
}

// part returns the place of a value on the axis, from 0 at its beginning to 1 at its end.
func (r *ruler) part(v float64) vg.Length {
	if r.log {
		return vg.Length(math.Log(math.Max(v, r.zero)/r.low) / math.Log(r.high/r.low))
	}
	return vg.Length((v - r.low) / (r.high - r.low))
}

// shows reports whether the axis reaches down to a value.
func (r *ruler) shows(v float64) bool {
	const roundoff = 1e-9
	return !r.log || v >= r.lowest*(1-roundoff) || v <= 0 && r.zero < r.lowest
}

// X returns the horizontal place of a time, percentile or rate.
func (pn *panel) X(v float64) vg.Length {
	return pn.frame.Min.X + pn.x.part(v)*(pn.frame.Max.X-pn.frame.Min.X)
}

// Y returns the vertical place of a value.
func (pn *panel) Y(v float64) vg.Length {
	return pn.frame.Min.Y + pn.y.part(v)*(pn.frame.Max.Y-pn.frame.Min.Y)
}

// inside returns the vertical place of a value, moved to the edge of the frame if it is outside.
func (pn *panel) inside(v float64) vg.Length {
	return min(max(pn.Y(v), pn.frame.Min.Y), pn.frame.Max.Y)
}

// overTime reports whether the horizontal axis has times.
func (pn *panel) overTime() bool {
	return slices.Contains([]string{chart.Lines, chart.Cells, chart.Rows}, pn.what.Marks) ||
		pn.picture.Type == chart.Trend && pn.picture.Time.Absolute
}

// hasX reports whether a horizontal place lies within the frame.
func (pn *panel) hasX(x vg.Length) bool {
	return x >= pn.frame.Min.X-pixel/2 && x <= pn.frame.Max.X+pixel/2
}

// minFrame is the smallest width and height of a frame in which readers can see anything.
const minFrame = 20 * pixel

// drawPanels draws panels. All frames get the same left and right edges.
func drawPanels(panels ...*panel) {
	left, right := vg.Length(0), vg.Length(0)
	for _, pn := range panels {
		pn.measureSurroundings()
		left, right = max(left, pn.around.left), max(right, pn.around.right)
	}
	for _, pn := range panels {
		pn.frame = vg.Rectangle{
			Min: vg.Point{X: pn.outer.Min.X + left, Y: pn.outer.Min.Y + pn.around.bottom},
			Max: vg.Point{X: pn.outer.Max.X - right, Y: pn.outer.Max.Y - pn.around.top},
		}
		pn.around.left, pn.around.right = left, right
		size := pn.frame.Size()
		pn.pen.crowded = pn.pen.crowded || size.X < minFrame || size.Y < cmp.Or(pn.content.least, minFrame)
		if pn.content.prepare != nil && pn.content.hasValues {
			pn.content.prepare()
		}
	}
	for _, pn := range panels {
		pn.draw()
	}
}

// ticksIn returns the number of ticks, at least two, that fit along a length. Apart is the distance
// of ticks in pixels.
func ticksIn(length vg.Length, apart float64) int { return max(int(float64(length/pixel)/apart), 2) }

// measureSurroundings computes the room around the frame and sets up the vertical axis.
func (pn *panel) measureSurroundings() {
	if pn.around.title != "" {
		pn.around.top += labelSize + 6*pixel
	}
	pn.around.top += noteSize*lineSpace*vg.Length(pn.markRows()) + laneHeight*vg.Length(len(pn.lanes()))
	pn.around.bottom = 4 * pixel
	if !pn.around.inner {
		pn.around.bottom = tickSize*lineSpace*vg.Length(pn.timeLines()) + 8*pixel
		if !pn.around.untitled {
			pn.around.bottom += labelSize * lineSpace
		}
	}
	values := valueRange{lowest: math.Inf(1)}
	pn.content.values(values.add)
	pn.content.hasValues = values.zeros || values.highest > 0
	if !pn.what.Rate {
		for _, l := range pn.picture.Values.Limits {
			values.add(l.Value)
		}
	}
	height := pn.outer.Max.Y - pn.outer.Min.Y - pn.around.top - pn.around.bottom
	if pn.content.ruler != nil {
		pn.content.ruler(height)
	} else {
		pn.setValueRuler(values, height)
	}
	for _, l := range pn.around.across {
		if !pn.around.untitled { // the legend of facets has them
			pn.around.endings = append(pn.around.endings, ending{
				value: l.Value,
				label: l.Label,
				style: pn.pen.limitStyle(),
				short: strings.TrimPrefix(l.Label, "SLA: "),
			})
		}
	}
	for _, t := range pn.y.ticks {
		pn.around.left = max(pn.around.left, pn.pen.font(tickSize).Width(t.Label)+11*pixel)
	}
	if !pn.around.untitled && pn.y.title != "" {
		pn.around.left += labelSize * lineSpace
	}
	pn.around.right = max(pn.around.right, 8*pixel)
	for _, e := range pn.around.endings {
		pn.around.right = max(pn.around.right, min(pn.pen.font(tickSize).Width(e.label)+leader+6*pixel, pn.outer.Size().X/3))
	}
}

// A valueRange is the range of values that an axis must show.
type valueRange struct {
	lowest  float64 // of the values above zero
	highest float64
	zeros   bool // there are zeros
}

func (r *valueRange) add(v float64) {
	switch {
	case math.IsNaN(v):
	case v <= 0:
		r.zeros = true
	default:
		r.lowest, r.highest = math.Min(r.lowest, v), math.Max(r.highest, v)
	}
}

// setValueRuler sets up the vertical axis of values. The axis ends a little beyond the values, so
// that no line lies on the frame.
func (pn *panel) setValueRuler(values valueRange, height vg.Length) {
	const apart, beyond = 34, 0.015 // distance of ticks in pixels, and part of the axis behind its ends
	r, ticks := &pn.y, ticksIn(height, apart)
	low, high := pn.what.Low, pn.what.High
	if high > 0 {
		values.highest = high
	}
	share := beyond + float64(pn.around.headroom/max(height, pixel))
	pn.scale = axis.ScaleFor(pn.what.Unit, values.highest)
	r.title, r.log = axis.Scale{Unit: axis.FixedName(pn.what.Unit)}.Titled(pn.what.Name), pn.what.Log
	if !r.log {
		r.ticks, r.high = pn.scale.Linear(low, values.highest, high > 0, ticks)
		r.title = pn.scale.Titled(pn.what.Name)
		size := r.high - low
		r.low, r.high = low-beyond*size, r.high+share*size
		return
	}
	if values.highest <= 0 {
		values.lowest, values.highest = 1, 10 // nothing but zeros
	}
	if low > 0 {
		values.lowest, values.zeros = low, false
	}
	var to float64
	r.ticks, r.lowest, to = axis.Log(pn.what.Unit, values.lowest, values.highest, low > 0 || high > 0, ticks)
	crowded := values.zeros && 0.07*height < tickSize*lineSpace // no room for 0 and the lowest label
	if crowded && countLabels(r.ticks) == 2 {
		r.ticks, _, _ = axis.Log(pn.what.Unit, values.lowest, values.highest, low > 0 || high > 0, 2*ticks)
	}
	r.zero = r.lowest
	if values.zeros {
		// The place of zero is below all other values.
		r.zero /= math.Pow(to/r.lowest, 0.08)
		if crowded && countLabels(r.ticks) > 1 {
			r.ticks[0].Label = ""
		}
		r.ticks = append([]axis.Tick{{Value: r.zero, Label: "0"}}, r.ticks...)
	}
	size := to / r.zero
	r.low, r.high = r.zero/math.Pow(size, beyond), to*math.Pow(size, share)
}

// countLabels returns the number of ticks with labels.
func countLabels(ticks []axis.Tick) (count int) {
	for _, tick := range ticks {
		if tick.Label != "" {
			count++
		}
	}
	return count
}

// timeLines returns the number of lines in a label of the time axis. A label has the clock time,
// the time since the start, and the date if there are several dates. Without dates it has only the
// time since the start.
func (pn *panel) timeLines() int {
	if !pn.overTime() {
		return 1
	}
	return timeLines(pn.picture, pn.x.low, pn.x.high)
}

// timeLines returns the number of lines in a label of an axis of times between two times.
func timeLines(p *chart.Picture, from, to float64) int {
	switch {
	case !p.Time.Dated():
		return 1
	case p.Time.Absolute || !p.Time.SeveralDays(from, to):
		return 2
	}
	return 3
}

// setTimeRuler sets up the horizontal axis for times.
func (pn *panel) setTimeRuler() {
	width := pn.frame.Max.X - pn.frame.Min.X
	r := &pn.x
	from, to := r.low/1000, r.high/1000
	r.ticks, r.title = axis.Relative(from, to, ticksIn(width, 80))
	if pn.timeLines() > 1 {
		t := &pn.picture.Time
		r.ticks, r.title = axis.Clock(from, to, float64(t.Origin)/1000, t.Location(), !t.Absolute, ticksIn(width, 100))
	}
	if pn.picture.Time.Fold > 0 {
		r.title = strings.Replace(r.title, "since start", "in the period", 1)
	}
	for i := range r.ticks {
		r.ticks[i].Value *= 1000
	}
}

// draw draws the panel, once its frame and its vertical axis are known.
func (pn *panel) draw() {
	switch {
	case pn.content.horizontal != nil:
		pn.content.horizontal()
	case pn.what.Marks == chart.Curves:
		width := float64((pn.frame.Max.X - pn.frame.Min.X) / pixel)
		pn.x.ticks, pn.x.title = axis.NinesTicks(pn.x.high, 64*pn.x.high/width), "percentile"
	case pn.what.Marks == chart.Dots:
		pn.setRunsRuler()
	default:
		pn.setTimeRuler()
	}
	pn.drawTitle()
	pn.drawPhases()
	grid, f := style{colour: pn.pen.Grid}, pn.frame
	for _, t := range pn.x.ticks {
		if at := pn.X(t.Value); t.Label != "" && pn.hasX(at) {
			pn.pen.stroke(grid, pixel, vg.Point{X: at, Y: f.Min.Y}, vg.Point{X: at, Y: f.Max.Y})
		}
	}
	for _, t := range pn.y.ticks {
		if at := pn.Y(t.Value); t.Label != "" && at <= f.Max.Y {
			pn.pen.stroke(grid, pixel, vg.Point{X: f.Min.X, Y: at}, vg.Point{X: f.Max.X, Y: at})
		}
	}
	if pn.content.hasValues {
		pn.content.paint()
	} else {
		pn.drawMessage(pn.what.Empty)
	}
	pn.drawEndings()
	if pn.overTime() {
		pn.drawMarks()
	}
	pn.drawAxes()
}

// drawTitle draws the title above the frame, and the text pn.around.aside to the right of the title
// if it fits there.
func (pn *panel) drawTitle() {
	if pn.around.title == "" {
		return
	}
	font, width := pn.pen.font(labelSize), pn.outer.Max.X-pn.outer.Min.X
	y := pn.outer.Max.Y - labelSize
	pn.pen.drawText(font, pn.frame.Min.X, y, pn.around.title)
	x := pn.frame.Min.X + font.Width(pn.around.title) + 12*pixel
	font.Color = pn.pen.Faint
	if x+font.Width(pn.around.aside) <= pn.outer.Min.X+width {
		pn.pen.drawText(font, x, y, pn.around.aside)
	}
}

// drawAxes draws the axes with their ticks, labels and titles. Labels that would overlap are left
// out.
func (pn *panel) drawAxes() {
	f, line := pn.frame, style{colour: pn.pen.Faint}
	pn.pen.stroke(line, pixel, vg.Point{X: f.Min.X, Y: f.Max.Y}, f.Min, vg.Point{X: f.Max.X, Y: f.Min.Y})
	tick, title := pn.pen.font(tickSize), pn.pen.font(labelSize)
	tick.XAlign, tick.YAlign = text.XRight, text.YCenter
	for _, t := range pn.y.ticks {
		if at := pn.Y(t.Value); at >= f.Min.Y-pixel/2 && at <= f.Max.Y+pixel/2 {
			length := 6 * pixel
			if t.Label == "" {
				length /= 2
			}
			pn.pen.stroke(line, pixel, vg.Point{X: f.Min.X - length, Y: at}, vg.Point{X: f.Min.X, Y: at})
			pn.pen.drawText(tick, f.Min.X-8*pixel, at, t.Label)
		}
	}
	if !pn.around.untitled && pn.y.title != "" {
		title.Rotation = math.Pi / 2
		title.XAlign = text.XCenter
		title.YAlign = text.YTop
		height := pn.outer.Max.Y - pn.outer.Min.Y - pn.around.bottom/2
		if pn.around.lanesNamedLeft {
			height = f.Size().Y
		}
		pn.pen.drawText(title, pn.outer.Min.X, (f.Min.Y+f.Max.Y)/2, fittingTitle(title, pn.y.title, height))
		title.Rotation = 0
	}
	if pn.around.inner {
		return
	}
	tick.XAlign, tick.YAlign = text.XCenter, text.YTop
	end := pn.outer.Min.X - f.Size().X // end of the previous label
	for _, t := range pn.x.ticks {
		at := pn.X(t.Value)
		if !pn.hasX(at) {
			continue
		}
		length := 6 * pixel
		if t.Label == "" {
			length /= 2
		}
		pn.pen.stroke(line, pixel, vg.Point{X: at, Y: f.Min.Y - length}, vg.Point{X: at, Y: f.Min.Y})
		half := tick.Width(t.Label) / 2
		if t.Label != "" && at+half <= pn.outer.Max.X+margin-2*pixel && at-half > end {
			end = at + half + 3*pixel
			for n, line := range strings.Split(t.Label, "\n") {
				pn.pen.drawText(tick, at, f.Min.Y-8*pixel-tickSize*lineSpace*vg.Length(n), line)
			}
		}
	}
	if !pn.around.untitled {
		title.XAlign, title.YAlign = text.XCenter, text.YBottom
		pn.pen.drawText(title, (f.Min.X+f.Max.X)/2, pn.outer.Min.Y, pn.x.title)
	}
}

// fittingTitle shortens the title of an axis, such as "maximum of each interval (ms)", to a width.
// It drops the words from "of" on, and then replaces "per second" by "/s".
func fittingTitle(style text.Style, title string, width vg.Length) string {
	fits := within(style, width)
	if begin, rest, found := strings.Cut(title, " of "); found && !fits(title) {
		title = begin
		if i := strings.LastIndex(rest, " ("); i >= 0 {
			title += rest[i:]
		}
	}
	if !fits(title) {
		title = strings.Replace(title, " per second", "/s", 1)
	}
	return chart.Cut(title, fits)
}

// drawMessage writes a text in the middle of an empty chart.
func (pn *panel) drawMessage(str string) {
	font := pn.pen.font(labelSize)
	font.Color = pn.pen.Faint
	font.XAlign = text.XCenter
	font.YAlign = text.YCenter
	f := pn.frame
	x, y := font.Width(str)/2+labelSize, labelSize // half the size of the area without grid lines
	center := vg.Point{X: (f.Min.X + f.Max.X) / 2, Y: (f.Min.Y + f.Max.Y) / 2}
	pn.pen.fillRectangle(vg.Rectangle{Min: center.Add(vg.Point{X: -x, Y: -y}), Max: center.Add(vg.Point{X: x, Y: y})}, pn.pen.Background)
	pn.pen.drawText(font, center.X, center.Y, str)
}

// An ending is a label to the right of the chart, at the end of a line.
type ending struct {
	value float64
	label string
	style style
	short string // replaces a label that does not fit; empty for none
}

// leader is the length of the line from the frame to the label of an ending.
const leader = 22 * pixel

// limitStyle returns the style of the lines of limits.
func (c *pen) limitStyle() style { return style{colour: c.Limit, dashes: lengths([]float64{7, 4})} }

// breachColour returns the colour of areas above a limit: a light colour of limits.
func (c *pen) breachColour() chart.Colour { return c.Limit.Mixed(0.14, c.Background) }

// drawEndings draws the lines of limits, and the labels at the right edge. Labels that would
// overlap move apart, and lines lead to them.
func (pn *panel) drawEndings() {
	const row = tickSize * lineSpace
	f := pn.frame
	for _, l := range pn.around.across {
		if at := pn.Y(l.Value); at <= f.Max.Y {
			pn.pen.stroke(pn.pen.limitStyle(), 1.3*pixel, vg.Point{X: f.Min.X, Y: at}, vg.Point{X: f.Max.X, Y: at})
		}
	}
	font, room := pn.pen.font(tickSize), pn.around.right-leader-4*pixel
	font.YAlign = text.YCenter
	var labels []string
	for i := range pn.around.endings {
		e := &pn.around.endings[i]
		if e.short != "" && font.Width(e.label) > room {
			e.label = e.short
		}
		labels = append(labels, e.label)
	}
	for i, label := range chart.Distinct(labels, within(font, room)) {
		pn.around.endings[i].label = label
	}
	slices.SortStableFunc(pn.around.endings, func(a, b ending) int { return cmp.Compare(a.value, b.value) })
	places := make([]vg.Length, len(pn.around.endings))
	for i, e := range pn.around.endings {
		places[i] = pn.inside(e.value)
		if i > 0 {
			places[i] = max(places[i], places[i-1]+row)
		}
	}
	highest := f.Max.Y
	for i := len(places) - 1; i >= 0; i-- {
		places[i] = min(places[i], highest)
		highest = places[i] - row
	}
	for i, e := range pn.around.endings {
		x, from := f.Max.X, pn.inside(e.value)
		pn.pen.stroke(e.style, 1.3*pixel,
			vg.Point{X: x, Y: from},
			vg.Point{X: x + 6*pixel, Y: from},
			vg.Point{X: x + leader - 8*pixel, Y: places[i]},
			vg.Point{X: x + leader - 2*pixel, Y: places[i]},
		)
		pn.pen.drawText(font, x+leader+2*pixel, places[i], e.label)
	}
}
