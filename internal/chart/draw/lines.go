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

// areaShare is the opacity of the area below maxima.
const areaShare = 0.12

// linesPanel returns a panel with the lines over time of p, on axes for the lines of whole.
func (c *pen) linesPanel(p, whole *chart.Picture, outer vg.Rectangle) *panel {
	pn := c.newPanel(p.Type, p, whole, outer)
	isFacet := p != whole
	groups, names := chart.GroupsAndLines(p.Series)
	styles := chart.Styles(groups, names)
	pn.content.values = func(add func(float64)) { addLines(whole.Series, add) }
	if !p.Type.Chart.Rate {
		pn.around.across = p.LineLimits()
	}
	if !isFacet {
		pn.around.headroom = noteSize + 10*pixel
		pn.around.endings = c.lineEndings(p.Series, styles)
	}
	if len(p.Events.Worst) > 0 {
		pn.around.headroom = max(pn.around.headroom, 2*numberRadius+6*pixel)
	}
	pn.content.paint = func() {
		if pn.what.ShadeBreaches {
			pn.drawBreaches(p.Series)
		}
		pn.drawLines(styles)
		marked := len(pn.picture.Events.Worst) > 0 && slices.Contains(names, "max") // then a list has the maximum
		if marked {
			pn.drawNumbers(p.HasSeries)
		}
		if top, line, ok := highest(p.Series); ok && !isFacet && !marked {
			pn.drawHighestLabel(top.Middle(), top.Value, pn.highestText(line, top.Value))
		}
	}
	return pn
}

// addLines calls add with the values of all lines.
func addLines(series []chart.Series, add func(float64)) {
	for _, s := range series {
		for _, line := range s.Lines {
			for _, point := range line.Points {
				add(point.Value)
			}
		}
	}
}

// drawLines draws the areas of all series, and then their lines. The highest series comes first, so
// that it does not hide others.
func (pn *panel) drawLines(styles [][]chart.Style) {
	width := (pn.x.high - pn.x.low) / float64(max(pn.pen.dots(pn.frame.Max.X-pn.frame.Min.X), 50))
	order := make([]int, len(pn.picture.Series))
	for i := range order {
		order[i] = i
	}
	byMax := func(a, b int) int { return cmp.Compare(pn.picture.Series[b].Max(), pn.picture.Series[a].Max()) }
	slices.SortStableFunc(order, byMax)
	for _, areas := range []bool{true, false} {
		for _, i := range order {
			for n, line := range pn.picture.Series[i].Lines {
				if st := pn.pen.styleOf(styles[i][n]); st.area == areas {
					pn.drawLine(st, chart.Stretches(line.Points, width))
				}
			}
		}
	}
	var all []chart.Line
	for _, series := range pn.picture.Series {
		all = append(all, series.Lines...)
	}
	pn.drawBeyond(all)
}

// lineEndings returns the labels at the right ends of lines. It returns none for many lines, which
// have a legend, nor for a single line. Equal lines of a series share a label.
func (c *pen) lineEndings(series []chart.Series, styles [][]chart.Style) (endings []ending) {
	if len(series) == 0 || len(series)*len(series[0].Lines) > chart.MaxTogether {
		return nil
	}
	if len(series) == 1 && len(series[0].Lines) == 1 && series[0].Label == "" {
		return nil
	}
	for i, s := range series {
		first := len(endings)
		for n, line := range s.Lines {
			name := line.Name
			switch {
			case len(series) == 1 && s.Label == "":
			case len(s.Lines) == 1:
				name = chart.Named(s.Label)
			default:
				name = chart.Named(s.Label) + " " + name
			}
			if n > 0 && len(endings) > first && slices.EqualFunc(line.Points, s.Lines[n-1].Points, isSame) {
				endings[len(endings)-1].label += ", " + line.Name
				continue
			}
			for _, p := range slices.Backward(line.Points) {
				if !math.IsNaN(p.Value) {
					endings = append(endings, ending{value: p.Value, label: name, style: c.styleOf(styles[i][n])})
					break
				}
			}
		}
	}
	return endings
}

// isSame reports whether two points are equal, or both have no value.
func isSame(a, b chart.Point) bool {
	return a == b || math.IsNaN(a.Value) && math.IsNaN(b.Value)
}

// drawLinesLegend draws a legend if there are too many lines for labels at their ends. It returns
// the area that is left.
func (c *pen) drawLinesLegend(p *chart.Picture, area vg.Rectangle) vg.Rectangle {
	groups, names := chart.GroupsAndLines(p.Series)
	styles := chart.Styles(groups, names)
	if len(c.lineEndings(p.Series, styles)) > 0 || len(p.Series) < 2 {
		return area
	}
	var labels []string
	for _, series := range p.Series {
		labels = append(labels, chart.Named(series.Label))
	}
	return c.drawLegend(area, c.entries(labels, styles, names))
}

// entries returns the entries of a legend: one for each label, and one for each name of a measure
// if there are several. Labels and styles are by series.
func (c *pen) entries(labels []string, styles [][]chart.Style, names []string) (entries []entry) {
	for i, label := range labels {
		plain := len(labels) == 1 && len(names) > 1
		entries = append(entries, entry{label: label, style: c.styleOf(styles[i][0]), plain: plain})
	}
	for n, name := range names {
		if len(names) == 1 {
			break
		}
		st := c.styleOf(styles[0][n])
		if len(labels) > 1 {
			st.colour = c.Faint
		}
		entries = append(entries, entry{label: name, style: st})
	}
	return entries
}

// highest returns the highest point of all lines, and the name of its line. It prefers the line of
// maxima to an equally high percentile. Ok is false without points.
func highest(series []chart.Series) (top chart.Point, name string, ok bool) {
	for _, s := range series {
		for _, line := range s.Lines {
			for _, p := range line.Points {
				if p.Value > top.Value || p.Value == top.Value && (!ok || name != "max" && line.Name == "max") {
					top = p
					name = line.Name
					ok = true
				}
			}
		}
	}
	return top, name, ok
}

// highestText returns the text for the highest value, such as "max 5 ms" or "highest p99 5 ms".
func (pn *panel) highestText(line string, v float64) string {
	name := "max"
	if strings.HasPrefix(line, "p") {
		name = "highest " + line
	}
	if pn.what.Rate {
		return name + " " + axis.Short(math.Round(v)) + "/s"
	}
	return name + " " + axis.Value(pn.what.Unit, v)
}

// drawLine draws the stretches of a line as steps, each as wide as its interval. Vertical lines
// between steps are pale, since they would fill the chart of a noisy line. Maxima have an area
// below them, and no lines between their steps.
func (pn *panel) drawLine(st style, stretches [][]chart.Point) {
	points := 0
	for _, stretch := range stretches {
		points += len(stretch)
	}
	f := pn.frame
	dense := points > int((f.Max.X-f.Min.X)/pixel)
	for _, stretch := range stretches {
		path := stepPath(stretch, pn.X, pn.inside)
		switch {
		case st.area:
			below := append(slices.Clone(path), vg.Point{X: path[len(path)-1].X, Y: f.Min.Y}, vg.Point{X: path[0].X, Y: f.Min.Y})
			pn.pen.FillPolygon(pale(st.colour, areaShare), below)
			pn.pen.strokeParts(st, 1.2*pixel, path)
		case dense:
			pn.pen.stroke(st, 1.1*pixel, path...)
		default:
			pn.pen.strokeParts(style{colour: pale(st.colour, 0.45)}, pixel, path[1:len(path)-1])
			if wide := 12 * pixel; len(st.dashes) > 0 && vg.Length(points)*wide < f.Max.X-f.Min.X {
				pn.pen.stroke(st, 1.8*pixel, path...) // wide steps: dashes may continue from step to step
			} else {
				pn.pen.strokeParts(st, 1.8*pixel, path)
			}
		}
	}
}

// stepPath returns the path of a stretch as steps, with two places for each point. Functions x and
// y return the places of times and values.
func stepPath(stretch []chart.Point, x, y func(float64) vg.Length) (path []vg.Point) {
	const least = 3 * pixel // width of a stretch, so that readers can see a single interval
	for _, p := range stretch {
		from, at := x(p.Start), y(p.Value)
		if n := len(path); n > 0 {
			from = max(from, path[n-1].X)
			path[n-1].X = from
		}
		path = append(path, vg.Point{X: from, Y: at}, vg.Point{X: max(x(p.End), from), Y: at})
	}
	last := &path[len(path)-1]
	last.X = max(last.X, path[0].X+least)
	return path
}
