package draw

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
)

// curvesPanel returns a chart of percentile curves: those of p, on axes for all of whole.
func (c *pen) curvesPanel(p, whole *chart.Picture, outer vg.Rectangle) *panel {
	pn := c.newPanel(chart.Percentiles, p, whole, outer)
	facet := p != whole
	highest := func(s *chart.Series) float64 { return leading(p, s.Label, s.Curve.Max()) }
	shown, _ := chart.Highest(chart.WithValues(p.Series), highest, chart.MostTogether)
	groups, _ := chart.GroupsOf(shown)
	styles := chart.Styles(groups, nil)
	on := whole.Series
	if !facet {
		on = shown
	}
	pn.x.low, pn.x.high = 0, 2
	for _, s := range on {
		pn.x.high = max(pn.x.high, s.Curve.End(), s.Corrected.End())
	}
	pn.content.values = func(add func(float64)) {
		for _, s := range on {
			addCurve(&s.Curve, add)
			addCurve(&s.Corrected, add)
		}
	}
	var steps []chart.Limit
	for _, l := range p.Labelled() {
		if l.Percentile > 0 {
			steps = append(steps, l)
		} else {
			pn.around.across = append(pn.around.across, l)
		}
	}
	if !facet {
		pn.around.headroom = noteSize + 8*pixel
		pn.around.endings = c.curveEndings(shown, styles, len(p.Series) > 1)
	}
	pn.content.paint = func() {
		pn.drawExcess(shown, steps)
		for i := range shown {
			pn.drawConfidence(c.styled(styles[i][0]), shown[i].Curve.Band)
		}
		for i := range shown {
			pn.drawCurve(c.styled(styles[i][0]), shown[i].Curve.Points(), !facet)
		}
		for i := range shown {
			pn.drawCorrected(c.corrected(styles[i][0]), &shown[i].Corrected)
		}
		pn.drawSteps(steps)
		if !facet && len(shown) > 0 {
			byMax := func(a, b chart.Series) int { return cmp.Compare(a.Curve.Max(), b.Curve.Max()) }
			top := slices.MaxFunc(shown, byMax).Curve
			pn.labelHighest(top.End(), top.Max(), pn.highestText("", top.Max()))
		}
	}
	return pn
}

// curveEndings returns what stands at the ends of curves.
func (c *pen) curveEndings(shown []chart.Series, styles [][]chart.Style, named bool) (endings []ending) {
	for i, s := range shown {
		label := chart.Counted(s.Curve.Count, "value")
		if s.Label != "" || named {
			label = chart.Named(s.Label) + ", " + label
		}
		endings = append(endings, ending{
			value: s.Curve.Max(),
			label: label,
			style: c.styled(styles[i][0]),
			short: chart.Named(s.Label),
		})
		if s.Corrected.Count > 0 {
			endings = append(endings, ending{
				value: s.Corrected.Max(),
				label: withDue,
				style: c.corrected(styles[i][0]),
				short: "corrected",
			})
		}
	}
	return endings
}

// addCurve calls add with the values of a curve and its band that the axis has room for.
func addCurve(curve *chart.Curve, add func(float64)) {
	for _, step := range curve.Steps {
		if step.Percentile >= chart.LeastShown {
			add(step.Value)
		}
	}
	for _, b := range curve.Band {
		if b.Percentile >= chart.LeastShown {
			add(b.Low)
			add(b.High)
		}
	}
}

// drawExcess shades what lies between a curve and the step of its percentile below.
func (pn *panel) drawExcess(series []chart.Series, steps []chart.Limit) {
	for _, s := range series {
		from := 0.0
		for _, l := range steps {
			to, limit := axis.Nines(l.Percentile), pn.inside(l.Value)
			var area []vg.Point
			for _, p := range s.Curve.Points() {
				if p.Value > l.Value && p.Start >= from && p.Start <= to {
					area = append(area, vg.Point{X: pn.X(p.Start), Y: pn.inside(p.Value)})
				}
			}
			if n := len(area); n > 0 {
				right := vg.Point{X: max(area[n-1].X, area[0].X+pixel), Y: limit}
				pn.pen.FillPolygon(pn.pen.breach(), append(area, right, vg.Point{X: area[0].X, Y: limit}))
			}
			from = to
		}
	}
}

// drawConfidence draws the intervals of a curve as a pale band, in parts of one opacity. It fades
// where few values are left.
func (pn *panel) drawConfidence(st style, band []chart.Bound) {
	const share, shades = 0.22, 10 // opacity, and how many steps it fades in
	shade := func(b chart.Bound) float64 { return math.Ceil(shades * min(b.Above/chart.FewAbove, 1)) }
	for len(band) > 1 {
		n := 2
		for n < min(len(band), strokeAtOnce) && shade(band[n]) == shade(band[1]) {
			n++
		}
		var lows, highs []vg.Point
		for _, b := range band[:n] {
			at := pn.X(axis.Nines(b.Percentile))
			lows = append(lows, vg.Point{X: at, Y: pn.inside(b.Low)})
			highs = append(highs, vg.Point{X: at, Y: pn.inside(b.High)})
		}
		slices.Reverse(highs)
		pn.pen.FillPolygon(pale(st.colour, share*shade(band[1])/shades), append(lows, highs...))
		band = band[n-1:]
	}
}

// drawCurve draws a curve, with a dot at its maximum, from which a line leads to its label.
func (pn *panel) drawCurve(st style, points []chart.Point, labelled bool) {
	if len(points) == 0 {
		return
	}
	path := pn.curvePath(points)
	pn.pen.stroke(st, 1.8*pixel, path...)
	end := path[len(path)-1]
	pn.pen.dot(st.colour, 3*pixel, end)
	if labelled {
		dotted := style{colour: pale(st.colour, 0.45), dashes: []vg.Length{1, 3}}
		pn.pen.stroke(dotted, pixel, end, vg.Point{X: pn.frame.Max.X, Y: end.Y})
	}
}

// curvePath returns where a curve runs. It comes up from the edge where its values are lower than
// the axis shows.
func (pn *panel) curvePath(points []chart.Point) (path []vg.Point) {
	for n, p := range points {
		if !pn.y.shows(p.Value) && n < len(points)-1 {
			continue
		}
		if len(path) == 0 && n > 0 {
			path = append(path, vg.Point{X: pn.X(p.Start), Y: pn.frame.Min.Y})
		}
		path = append(path, vg.Point{X: pn.X(p.Start), Y: pn.inside(p.Value)})
	}
	return path
}

// withDue is the name of the curve with the values that were due.
const withDue = "with those that were due"

// corrected returns the style of the curve of a series with the values that were due.
func (c *pen) corrected(s chart.Style) style {
	return style{colour: c.Lines[s.Colour], dashes: lengths([]float64{5, 4})}
}

// drawCorrected draws the curve with the values that were due, and the value that a sentence names.
func (pn *panel) drawCorrected(st style, curve *chart.Curve) {
	path := pn.curvePath(curve.Points())
	pn.pen.stroke(st, 1.8*pixel, path...)
	if named := curve.Named; named.Percentile > 0 {
		at := vg.Point{X: pn.X(axis.Nines(named.Percentile)), Y: pn.inside(named.Value)}
		pn.pen.dot(st.colour, 3*pixel, at)
		font := pn.pen.font(noteSize)
		label := axis.Value(pn.what.Unit, named.Value)
		pn.pen.put(font, max(at.X-font.Width(label)-5*pixel, pn.frame.Min.X+2*pixel), at.Y+2*pixel, label)
	}
}

// drawSteps draws the limit of each percentile up to that percentile, with its label.
func (pn *panel) drawSteps(steps []chart.Limit) {
	f, font := pn.frame, pn.pen.font(noteSize)
	var path []vg.Point
	at := f.Min.X
	for _, l := range steps {
		to, height := f.Max.X, pn.Y(l.Value)
		if l.Percentile > 0 && l.Percentile < 100 {
			to = min(pn.X(axis.Nines(l.Percentile)), f.Max.X)
		}
		path = append(path, vg.Point{X: at, Y: height}, vg.Point{X: to, Y: height})
		if !pn.around.untitled && height <= f.Max.Y {
			font.Color = pn.pen.Limit
			for _, label := range []string{l.Label, strings.TrimPrefix(l.Label, "SLA: "), l.Name()} {
				if font.Width(label) <= to-at-6*pixel {
					pn.pen.put(font, at+4*pixel, height+3*pixel, label)
					break
				}
			}
		}
		at = to
	}
	pn.pen.stroke(pn.pen.limitStyle(), 1.6*pixel, path...)
}
