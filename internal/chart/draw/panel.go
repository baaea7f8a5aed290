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

// A panel is a chart with its axes. A picture is a list of them.
type panel struct {
	pen     *pen
	picture *chart.Picture // the picture that the panel shows
	what    chart.Chart
	outer   vg.Rectangle // the frame and all around it
	frame   vg.Rectangle // between the axes
	x, y    ruler
	scale   axis.Scale // of values, on a linear axis

	around  surroundings
	content content
}

// surroundings are what stands around the frame of a panel.
type surroundings struct {
	// title and aside stand above the frame.
	title, aside string
	// inner says that another panel below has the labels of the horizontal axis, and untitled that
	// several panels share the titles of their axes.
	inner, untitled bool
	// laned says that a panel above has the lanes of phases.
	laned bool
	// across are limits that are lines from side to side, and endings are labels at the right edge.
	across  []chart.Limit
	endings []ending
	// headroom is kept free above the highest value.
	headroom vg.Length
	// What is kept free around the frame.
	left, right, top, bottom vg.Length
}

// content is what stands between the axes of a panel.
type content struct {
	values   func(add func(v float64)) // calls add with all values
	ruler    func(height vg.Length)    // sets up the vertical axis, nil if that is one of values
	recorded bool                      // there are some
	least    vg.Length                 // height of the frame, 0 for leastFrame
	// horizontal sets up the horizontal axis, nil if the marks say which it is.
	horizontal func()
	prepare    func() // computes what paint draws, once the frame is known
	paint      func() // draws; neither is called without values
}

// newPanel returns a chart of a type for p, on axes for all of whole.
func (c *pen) newPanel(t *chart.Type, p, whole *chart.Picture, outer vg.Rectangle) *panel {
	pn := &panel{pen: c, picture: p, what: whole.Describe(t), outer: outer}
	pn.what.Low, pn.what.High = p.Values.Low, p.Values.High
	pn.x.high = 1000
	if from, to, timed := whole.TimeRange(); timed {
		pn.x.low, pn.x.high = from, to
	}
	return pn
}

// A ruler is an axis. Values on a logarithmic one that are 0 stand at zero.
type ruler struct {
	low, high    float64
	log          bool
	lowest, zero float64
	ticks        []axis.Tick
	title        string
}

// part returns the place of a value, from 0 to 1.
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

// X returns the place of a time or a percentile, and Y that of a value.
func (pn *panel) X(v float64) vg.Length {
	return pn.frame.Min.X + pn.x.part(v)*(pn.frame.Max.X-pn.frame.Min.X)
}
func (pn *panel) Y(v float64) vg.Length {
	return pn.frame.Min.Y + pn.y.part(v)*(pn.frame.Max.Y-pn.frame.Min.Y)
}

// inside returns the place of a value, or the edge next to it.
func (pn *panel) inside(v float64) vg.Length {
	return min(max(pn.Y(v), pn.frame.Min.Y), pn.frame.Max.Y)
}

// overTime reports whether the horizontal axis has times.
func (pn *panel) overTime() bool {
	return slices.Contains([]string{chart.Lines, chart.Cells, chart.Rows}, pn.what.Marks) ||
		pn.picture.Type == chart.Trend && pn.picture.Time.Absolute
}

// has reports whether a place lies between left and right.
func (pn *panel) has(x vg.Length) bool {
	return x >= pn.frame.Min.X-pixel/2 && x <= pn.frame.Max.X+pixel/2
}

// leastFrame is the least width and height of a frame in which a reader sees something.
const leastFrame = 20 * pixel

// drawPanels draws panels with the same left and right edges.
func drawPanels(panels ...*panel) {
	left, right := vg.Length(0), vg.Length(0)
	for _, pn := range panels {
		pn.measure()
		left, right = max(left, pn.around.left), max(right, pn.around.right)
	}
	for _, pn := range panels {
		pn.frame = vg.Rectangle{
			Min: vg.Point{X: pn.outer.Min.X + left, Y: pn.outer.Min.Y + pn.around.bottom},
			Max: vg.Point{X: pn.outer.Max.X - right, Y: pn.outer.Max.Y - pn.around.top},
		}
		pn.around.left, pn.around.right = left, right
		size := pn.frame.Size()
		pn.pen.crowded = pn.pen.crowded || size.X < leastFrame || size.Y < cmp.Or(pn.content.least, leastFrame)
		if pn.content.prepare != nil && pn.content.recorded {
			pn.content.prepare()
		}
	}
	for _, pn := range panels {
		pn.draw()
	}
}

// most returns how many ticks fit along a length.
func most(length vg.Length, apart float64) int { return max(int(float64(length/pixel)/apart), 2) }

// measure finds out how much room is needed around the frame.
func (pn *panel) measure() {
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
	pn.content.recorded = values.zero || values.high > 0
	if !pn.what.Rate {
		for _, l := range pn.picture.Values.Limits {
			values.add(l.Value)
		}
	}
	height := pn.outer.Max.Y - pn.outer.Min.Y - pn.around.top - pn.around.bottom
	if pn.content.ruler != nil {
		pn.content.ruler(height)
	} else {
		pn.valueRuler(values, height)
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
	lowest float64 // above zero
	high   float64
	zero   bool // there are zeros
}

func (r *valueRange) add(v float64) {
	switch {
	case math.IsNaN(v):
	case v <= 0:
		r.zero = true
	default:
		r.lowest, r.high = math.Min(r.lowest, v), math.Max(r.high, v)
	}
}

// valueRuler sets up the vertical axis. It ends a little beyond the values, so that no line lies on
// the frame.
func (pn *panel) valueRuler(values valueRange, height vg.Length) {
	const apart, beyond = 34, 0.015 // of the ticks in pixels, and of the axis
	r, ticks := &pn.y, most(height, apart)
	low, high := pn.what.Low, pn.what.High
	if high > 0 {
		values.high = high
	}
	share := beyond + float64(pn.around.headroom/max(height, pixel))
	pn.scale = axis.ScaleFor(pn.what.Unit, values.high)
	r.title, r.log = axis.Scale{Unit: axis.FixedName(pn.what.Unit)}.Titled(pn.what.Name), pn.what.Log
	if !r.log {
		r.ticks, r.high = pn.scale.Linear(low, values.high, high > 0, ticks)
		r.title = pn.scale.Titled(pn.what.Name)
		size := r.high - low
		r.low, r.high = low-beyond*size, r.high+share*size
		return
	}
	if values.high <= 0 {
		values.lowest, values.high = 1, 10 // nothing but zeros
	}
	if low > 0 {
		values.lowest, values.zero = low, false
	}
	var to float64
	r.ticks, r.lowest, to = axis.Log(pn.what.Unit, values.lowest, values.high, low > 0 || high > 0, ticks)
	crowded := values.zero && 0.07*height < tickSize*lineSpace // no room for 0 and the lowest label
	if crowded && labels(r.ticks) == 2 {
		r.ticks, _, _ = axis.Log(pn.what.Unit, values.lowest, values.high, low > 0 || high > 0, 2*ticks)
	}
	r.zero = r.lowest
	if values.zero {
		// Zero is below the other values, at a distance that no value can have.
		r.zero /= math.Pow(to/r.lowest, 0.08)
		if crowded && labels(r.ticks) > 1 {
			r.ticks[0].Label = ""
		}
		r.ticks = append([]axis.Tick{{Value: r.zero, Label: "0"}}, r.ticks...)
	}
	size := to / r.zero
	r.low, r.high = r.zero/math.Pow(size, beyond), to*math.Pow(size, share)
}

// labels returns how many ticks have a label.
func labels(ticks []axis.Tick) (count int) {
	for _, tick := range ticks {
		if tick.Label != "" {
			count++
		}
	}
	return count
}

// timeLines returns the number of lines of labels of the axis of times: the time of the day, and
// below it the time since the start, and the date if there are several. A log without dates has the
// time since its start alone.
func (pn *panel) timeLines() int {
	if !pn.overTime() {
		return 1
	}
	return timeLines(pn.picture, pn.x.low, pn.x.high)
}

func timeLines(p *chart.Picture, from, to float64) int {
	switch {
	case !p.Time.Dated():
		return 1
	case p.Time.Absolute || !p.Time.SeveralDays(from, to):
		return 2
	}
	return 3
}

// timeRuler sets up the horizontal axis of times.
func (pn *panel) timeRuler() {
	width := pn.frame.Max.X - pn.frame.Min.X
	r := &pn.x
	from, to := r.low/1000, r.high/1000
	r.ticks, r.title = axis.Relative(from, to, most(width, 80))
	if pn.timeLines() > 1 {
		r.ticks, r.title = axis.Clock(from, to, float64(pn.picture.Time.Origin)/1000, pn.picture.Time.Location(), !pn.picture.Time.Absolute, most(width, 100))
	}
	if pn.picture.Time.Fold > 0 {
		r.title = strings.Replace(r.title, "since start", "in the period", 1)
	}
	for i := range r.ticks {
		r.ticks[i].Value *= 1000
	}
}

// draw draws the panel.
func (pn *panel) draw() {
	switch {
	case pn.content.horizontal != nil:
		pn.content.horizontal()
	case pn.what.Marks == chart.Curves:
		width := float64((pn.frame.Max.X - pn.frame.Min.X) / pixel)
		pn.x.ticks, pn.x.title = axis.NinesTicks(pn.x.high, 64*pn.x.high/width), "percentile"
	case pn.what.Marks == chart.Dots:
		pn.runsRuler()
	default:
		pn.timeRuler()
	}
	pn.drawTitle()
	pn.drawPhases()
	grid, f := style{colour: pn.pen.Grid}, pn.frame
	for _, t := range pn.x.ticks {
		if at := pn.X(t.Value); t.Label != "" && pn.has(at) {
			pn.pen.stroke(grid, pixel, vg.Point{X: at, Y: f.Min.Y}, vg.Point{X: at, Y: f.Max.Y})
		}
	}
	for _, t := range pn.y.ticks {
		if at := pn.Y(t.Value); t.Label != "" && at <= f.Max.Y {
			pn.pen.stroke(grid, pixel, vg.Point{X: f.Min.X, Y: at}, vg.Point{X: f.Max.X, Y: at})
		}
	}
	if pn.content.recorded {
		pn.content.paint()
	} else {
		pn.message(pn.what.Empty)
	}
	pn.drawEndings()
	if pn.overTime() {
		pn.drawMarks()
	}
	pn.drawAxes()
}

func (pn *panel) drawTitle() {
	if pn.around.title == "" {
		return
	}
	font, width := pn.pen.font(labelSize), pn.outer.Max.X-pn.outer.Min.X
	y := pn.outer.Max.Y - labelSize
	pn.pen.put(font, pn.frame.Min.X, y, pn.around.title)
	x := pn.frame.Min.X + font.Width(pn.around.title) + 12*pixel
	font.Color = pn.pen.Faint
	if x+font.Width(pn.around.aside) <= pn.outer.Min.X+width {
		pn.pen.put(font, x, y, pn.around.aside)
	}
}

// drawAxes draws the axes around the frame.
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
			pn.pen.put(tick, f.Min.X-8*pixel, at, t.Label)
		}
	}
	if !pn.around.untitled && pn.y.title != "" {
		title.Rotation = math.Pi / 2
		title.XAlign = text.XCenter
		title.YAlign = text.YTop
		height := pn.outer.Max.Y - pn.outer.Min.Y - pn.around.bottom/2
		pn.pen.put(title, pn.outer.Min.X, (f.Min.Y+f.Max.Y)/2, fitting(title, pn.y.title, height))
		title.Rotation = 0
	}
	if pn.around.inner {
		return
	}
	tick.XAlign, tick.YAlign = text.XCenter, text.YTop
	end := pn.outer.Min.X - f.Size().X // of the label before
	for _, t := range pn.x.ticks {
		at := pn.X(t.Value)
		if !pn.has(at) {
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
				pn.pen.put(tick, at, f.Min.Y-8*pixel-tickSize*lineSpace*vg.Length(n), line)
			}
		}
	}
	if !pn.around.untitled {
		title.XAlign, title.YAlign = text.XCenter, text.YBottom
		pn.pen.put(title, (f.Min.X+f.Max.X)/2, pn.outer.Min.Y, pn.x.title)
	}
}

// fitting returns the title of an axis, such as "maximum of each interval (ms)". If it is wider
// than width, it lacks the words from "of" on, and "per second" is "/s".
func fitting(style text.Style, title string, width vg.Length) string {
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

// message writes a text in the middle of an empty chart.
func (pn *panel) message(str string) {
	font := pn.pen.font(labelSize)
	font.Color = pn.pen.Faint
	font.XAlign = text.XCenter
	font.YAlign = text.YCenter
	f := pn.frame
	x, y := font.Width(str)/2+labelSize, labelSize // the grid leaves so much free around it
	center := vg.Point{X: (f.Min.X + f.Max.X) / 2, Y: (f.Min.Y + f.Max.Y) / 2}
	pn.pen.plate(vg.Rectangle{Min: center.Add(vg.Point{X: -x, Y: -y}), Max: center.Add(vg.Point{X: x, Y: y})}, pn.pen.Background)
	pn.pen.put(font, center.X, center.Y, str)
}

// An ending is a label to the right of the chart, at the end of a line.
type ending struct {
	value float64
	label string
	style style
	short string // the label where there is no room for it, if it is not empty
}

// leader is the length of the line that leads to an ending's label.
const leader = 22 * pixel

func (c *pen) limitStyle() style { return style{colour: c.Limit, dashes: lengths([]float64{7, 4})} }

// breach is the colour of shades: that of limits, as light as the background allows.
func (c *pen) breach() chart.Colour { return c.Limit.Mixed(0.14, c.Background) }

// drawEndings draws the lines of limits, and the labels of all that reaches the right edge. Labels
// that would overlap move apart, and lines lead to them.
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
		pn.pen.put(font, x+leader+2*pixel, places[i], e.label)
	}
}
