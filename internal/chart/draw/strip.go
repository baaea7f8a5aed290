package draw

import (
	"fmt"
	"image"
	imagedraw "image/draw"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"hdrkit/internal/chart/page"
)

// A strip has a row for each log: the ratio of its 99th percentile to that of the median log, by
// window. A slow machine is a row of another colour.
type strip struct {
	windows []Point // their times, in order; those without values are empty
	rows    []stripRow
	logs    int // those without a row, too
}

type stripRow struct {
	label  string
	ratios []float64 // NaN where the log has no values
}

// Sizes of a strip. More logs than mostRows are too many to read.
const (
	mostRows    = 12
	stripRoom   = 14 * pixel // above the strip
	stripHead   = labelSize * 1.5
	stripHeight = 15 * pixel // of a row
)

// strip returns the strip of the logs, or nil if few windows have values of several. It has at most
// so many rows: those that differ most from the median.
func (p *Picture) strip(most int) *strip {
	if len(p.Nodes) < 2 || most < 2 {
		return nil
	}
	width := float64(p.NodeWindow)
	at := func(point Point) int { return int(math.Floor((point.middle() + float64(p.Origin)) / width)) }
	first, last := math.MaxInt, math.MinInt
	for _, node := range p.Nodes {
		for _, point := range node.Lines[0].Points {
			first, last = min(first, at(point)), max(last, at(point))
		}
	}
	if first > last {
		return nil
	}
	st := &strip{logs: len(p.Nodes)}
	windows := make([][]float64, last-first+1) // the percentiles of all logs
	st.windows = slices.Repeat([]Point{{Start: math.Inf(1), End: math.Inf(-1)}}, len(windows))
	for _, node := range p.Nodes {
		row := stripRow{label: node.Label, ratios: slices.Repeat([]float64{math.NaN()}, len(windows))}
		for _, point := range node.Lines[0].Points {
			if n := at(point) - first; point.Value > 0 {
				w := &st.windows[n]
				w.Start, w.End = min(w.Start, point.Start), max(w.End, point.End)
				row.ratios[n] = point.Value
				windows[n] = append(windows[n], point.Value)
			}
		}
		st.rows = append(st.rows, row)
	}
	recorded, several := 0, 0
	for n, values := range windows {
		w := &st.windows[n]
		if len(values) == 0 {
			w.Start = float64(first+n)*width - float64(p.Origin)
			w.End = w.Start
		} else if n > 0 && w.Start-st.windows[n-1].End < width/2 { // timers are late
			st.windows[n-1].End = w.Start
		}
		recorded += min(len(values), 1)
		several += min(len(values)/2, 1)
	}
	if 2*several < recorded || several == 0 { // such as the parts of one log
		return nil
	}
	differ := map[string]float64{}
	for i := range st.rows {
		sum, count := 0.0, 0.0
		for n, v := range st.rows[i].ratios {
			if v > 0 {
				st.rows[i].ratios[n] = v / middle(windows[n])
				sum += math.Abs(math.Log(st.rows[i].ratios[n]))
				count++
			}
		}
		differ[st.rows[i].label] = sum / max(count, 1)
	}
	st.rows, _ = split(st.rows, func(row *stripRow) float64 { return differ[row.label] }, most)
	return st
}

// middle returns the median. That of an even number of values is the geometric mean of the two in
// the middle, so that two logs differ from it by the same factor.
func middle(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return math.Sqrt(values[(n-1)/2] * values[n/2])
}

// reserveStrip keeps room for the strip below the chart. It returns nil if there is none.
func (s *sheet) reserveStrip() *strip {
	if s.Facets || s.right > 0 {
		return nil
	}
	st := s.strip(min(mostRows, int((s.area.Size().Y/3-stripRoom-stripHead)/stripHeight)))
	if st != nil {
		s.area.Min.Y += stripRoom + stripHead + stripHeight*vg.Length(len(st.rows)) + 4*pixel
	}
	return st
}

// title says what the strip shows.
func (st *strip) title() string {
	title := "p99 of each log / median log"
	if rest := st.logs - len(st.rows); rest > 0 {
		title += fmt.Sprintf("; the %d of %d logs that differ most", len(st.rows), st.logs)
	}
	return title
}

// addTo adds the strip to the data of a page.
func (st *strip) addTo(out *page.Data) {
	out.Strip, out.Change = new(page.Strip), changeScale(st.title(), "1")
	for _, w := range st.windows {
		out.Strip.Starts, out.Strip.Ends = append(out.Strip.Starts, int64(w.Start)), append(out.Strip.Ends, int64(w.End))
	}
	var labels []string
	for _, row := range st.rows {
		own := page.StripRow{Label: row.label, Ratios: make([]float32, len(row.ratios))}
		for n, ratio := range row.ratios {
			if ratio > 0 {
				rounded, _ := strconv.ParseFloat(strconv.FormatFloat(ratio, 'g', 3, 64), 32)
				own.Ratios[n] = float32(rounded)
			}
		}
		labels, out.Strip.Rows = append(labels, row.label), append(out.Strip.Rows, own)
	}
	for n, short := range withoutAffixes(labels) {
		out.Strip.Rows[n].Short = short
	}
}

// width returns the width of the names.
func (st *strip) width(style text.Style) (width vg.Length) {
	for _, row := range st.rows {
		width = max(width, style.Width(row.label))
	}
	return width
}

// drawStrip draws a strip below the chart, which has the times from and to at left and right. Names
// stand where there is more room: at the left up to the edge, or at the right up to end.
func (s *sheet) drawStrip(st *strip, left, right, end vg.Length, from, to float64) {
	top := s.area.Min.Y - stripRoom
	style := s.textStyle(noteSize)
	style.Color, style.YAlign = s.colours.text, text.YCenter
	head := st.title()
	const bar, gap, steps = 120 * pixel, 6 * pixel, 48
	low, high := changeRatios[0].label, changeRatios[len(changeRatios)-1].label
	room := right - left - bar - 4*gap - style.Width(low) - style.Width(high)
	x, y := left, top-stripHead/2
	write := func(str string) {
		s.area.FillText(style, vg.Point{X: x, Y: y}, str)
		x += style.Width(str) + gap
	}
	write(shorten(style, head, room))
	x += 2 * gap
	write(low)
	for i := range steps {
		r := vg.Rectangle{Min: vg.Point{X: x + bar*vg.Length(i)/steps, Y: y - 5*pixel}, Max: vg.Point{X: x + bar*vg.Length(i+1)/steps, Y: y + 5*pixel}}
		if i < steps-1 {
			r.Max.X += 0.5 * pixel // no seams
		}
		s.plate(s.area, r, s.changeAt((float64(i)+0.5)/steps))
	}
	x += bar + gap
	write(high)

	dots := func(l vg.Length) int { return max(int(math.Round(float64(l/pixel)*float64(s.DPI)/96)), 1) }
	c := s.area
	c.Max = vg.Point{X: right, Y: top - stripHead}
	c.Min = vg.Point{X: left, Y: c.Max.Y - stripHeight*vg.Length(len(st.rows))}
	img := image.NewNRGBA(image.Rect(0, 0, dots(right-left), dots(stripHeight)*len(st.rows)))
	imagedraw.Draw(img, img.Rect, image.NewUniform(s.background), image.Point{}, imagedraw.Src)
	var labels []string
	for n, row := range st.rows {
		labels = append(labels, row.label)
		at := 0
		for x := range img.Rect.Max.X {
			time := from + (to-from)*(float64(x)+0.5)/float64(img.Rect.Max.X)
			for at+1 < len(st.windows) && st.windows[at+1].Start <= time {
				at++
			}
			if w := st.windows[at]; time < w.Start || time >= w.End || math.IsNaN(row.ratios[at]) {
				continue
			}
			column := image.Rect(x, n*dots(stripHeight), x+1, (n+1)*dots(stripHeight)-dots(pixel))
			imagedraw.Draw(img, column, image.NewUniform(s.changeAt(changePart(row.ratios[at]))), image.Point{}, imagedraw.Src)
		}
	}
	c.DrawImage(c.Rectangle, img)
	x, width := right+gap, end-right-gap
	if outside := left - s.area.Min.X - gap; outside > width {
		x, width, style.XAlign = left-gap, outside, text.XRight
	}
	if st.width(style) > width {
		labels = withoutAffixes(labels)
	}
	for n, label := range labels {
		s.area.FillText(style, vg.Point{X: x, Y: c.Max.Y - stripHeight*(vg.Length(n)+0.5)}, shorten(style, label, width))
	}
}
