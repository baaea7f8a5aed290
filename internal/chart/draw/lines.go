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

// areaShare is the opacity of the area below a line of maxima.
const areaShare = 0.12

// linesPanel returns a chart of lines over time: those of p, on axes for all of whole.
func (c *pen) linesPanel(p, whole *chart.Picture, outer vg.Rectangle) *panel {
	pn := c.newPanel(p.Type, p, whole, outer)
	facet := p != whole
	groups, names := chart.GroupsOf(p.Series)
	styles := chart.Styles(groups, names)
	pn.content.values = func(add func(float64)) { addLines(whole.Series, add) }
	if !p.Type.Chart.Rate {
		pn.around.across = p.LineLimits()
	}
	if !facet {
		pn.around.headroom = noteSize + 10*pixel
		pn.around.endings = c.lineEndings(p.Series, styles)
	}
	if len(p.Events.Worst) > 0 {
		pn.around.headroom = max(pn.around.headroom, 2*numberRadius+6*pixel)
	}
	pn.content.paint = func() {
		if pn.what.Breaches {
			pn.drawBreaches(p.Series)
		}
		pn.drawLines(styles)
		marked := len(pn.picture.Events.Worst) > 0 && slices.Contains(names, "max") // the list below has the maximum
		if marked {
			pn.drawNumbers(p.Has)
		}
		if top, line, ok := highest(p.Series); ok && !facet && !marked {
			pn.labelHighest(top.Middle(), top.Value, pn.highestText(line, top.Value))
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

// drawLines draws the lines of all series, in front of their areas. The highest series comes first,
// so that it hides no other.
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
				if st := pn.pen.styled(styles[i][n]); st.area == areas {
					pn.drawLine(st, chart.Runs(line.Points, width))
				}
			}
		}
	}
	var all []chart.Line
	for _, series := range pn.picture.Series {
		all = append(all, series.Lines...)
	}
	pn.drawCut(all)
}

// lineEndings returns the labels for the right ends of the lines, if they are few. Lines that end
// together and coincide have one label.
func (c *pen) lineEndings(series []chart.Series, styles [][]chart.Style) (endings []ending) {
	if len(series) == 0 || len(series)*len(series[0].Lines) > chart.MostTogether {
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
			if n > 0 && len(endings) > first && slices.EqualFunc(line.Points, s.Lines[n-1].Points, same) {
				endings[len(endings)-1].label += ", " + line.Name
				continue
			}
			for _, p := range slices.Backward(line.Points) {
				if !math.IsNaN(p.Value) {
					endings = append(endings, ending{value: p.Value, label: name, style: c.styled(styles[i][n])})
					break
				}
			}
		}
	}
	return endings
}

func same(a, b chart.Point) bool {
	return a == b || math.IsNaN(a.Value) && math.IsNaN(b.Value)
}

// linesLegend draws a legend of lines that are too many for labels at their ends. It returns the
// area that is left.
func (c *pen) linesLegend(p *chart.Picture, area vg.Rectangle) vg.Rectangle {
	groups, names := chart.GroupsOf(p.Series)
	styles := chart.Styles(groups, names)
	if len(c.lineEndings(p.Series, styles)) > 0 || len(p.Series) < 2 {
		return area
	}
	var labels []string
	for _, series := range p.Series {
		labels = append(labels, chart.Named(series.Label))
	}
	return c.legend(area, c.entries(labels, styles, names))
}

// entries returns an entry for each label of series, and one for each measure if there are several.
func (c *pen) entries(labels []string, styles [][]chart.Style, names []string) (entries []entry) {
	for i, label := range labels {
		plain := len(labels) == 1 && len(names) > 1
		entries = append(entries, entry{label: label, style: c.styled(styles[i][0]), plain: plain})
	}
	for n, name := range names {
		if len(names) == 1 {
			break
		}
		st := c.styled(styles[0][n])
		if len(labels) > 1 {
			st.colour = c.Faint
		}
		entries = append(entries, entry{label: name, style: st})
	}
	return entries
}

// highest returns the highest point of the lines of series, and the name of its line: a maximum
// rather than a percentile that is as high.
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

// highestText returns the text at the highest point of a line, or at the end of a curve.
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

// drawLine draws a line as steps, each as wide as its interval. Between steps the line is pale:
// otherwise a noisy line would be a wall. Maxima have an area below them, and their steps are not
// joined.
func (pn *panel) drawLine(st style, runs [][]chart.Point) {
	points := 0
	for _, run := range runs {
		points += len(run)
	}
	f := pn.frame
	dense := points > int((f.Max.X-f.Min.X)/pixel)
	for _, run := range runs {
		path := stepPath(run, pn.X, pn.inside)
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
				pn.pen.stroke(st, 1.8*pixel, path...) // steps may be shorter than a dash
			} else {
				pn.pen.strokeParts(st, 1.8*pixel, path)
			}
		}
	}
}

// stepPath returns a run of points as steps: two points for each.
func stepPath(run []chart.Point, x, y func(float64) vg.Length) (path []vg.Point) {
	const least = 3 * pixel // of an interval between gaps, so that it can be seen
	for _, p := range run {
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
