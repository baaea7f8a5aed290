package draw

import (
	"slices"

	"gonum.org/v1/plot/vg"

	"hdrkit/internal/chart"
)

// laneHeight is the height of a lane with its name.
const laneHeight = noteSize * lineSpace

// narrow is the width below which a bar is dark. A narrow bar has no name in it, and would be hard
// to see in a pale colour.
const narrow = 4 * pixel

// lanes returns the lanes above the frame, from top to bottom. Facets, and panels below others,
// have no lanes.
func (pn *panel) lanes() []chart.Lane {
	if pn.around.untitled || pn.around.laned || !pn.overTime() {
		return nil
	}
	all := pn.picture.Lanes()
	return all[:min(len(all), chart.MaxLanes)]
}

// bars returns the rectangles of spans, which are in order, from bottom to top. It merges bars that
// touch, since there may be many more spans than dots.
func (pn *panel) bars(spans [][2]float64, bottom, top vg.Length) (all []vg.Rectangle) {
	for _, span := range spans {
		if pn.X(span[0]) >= pn.frame.Max.X || pn.X(span[1]) <= pn.frame.Min.X {
			continue // a facet does not show all times of its data
		}
		from := max(pn.X(span[0]), pn.frame.Min.X)
		to := min(max(pn.X(span[1]), from+pixel), pn.frame.Max.X)
		if last := len(all) - 1; last >= 0 && from <= all[last].Max.X {
			all[last].Max.X = max(all[last].Max.X, to)
			continue
		}
		all = append(all, vg.Rectangle{Min: vg.Point{X: from, Y: bottom}, Max: vg.Point{X: to, Y: top}})
	}
	return all
}

// shades returns the rectangles behind the data during phases, and their colour.
func (pn *panel) shades() ([]vg.Rectangle, chart.Colour) {
	if !pn.overTime() {
		return nil, 0
	}
	var spans [][2]float64
	for _, lane := range pn.picture.Lanes() {
		spans = append(spans, lane.Spans...)
	}
	slices.SortFunc(spans, func(a, b [2]float64) int { return int(a[0] - b[0]) })
	return pn.bars(spans, pn.frame.Min.Y, pn.frame.Max.Y), pn.pen.Band.Mixed(0.4, pn.pen.Background)
}

// drawPhases shades phases behind the data, and draws their lanes above the frame.
func (pn *panel) drawPhases() {
	shades, colour := pn.shades()
	for _, r := range shades {
		pn.pen.fillRectangle(r, colour)
	}
	lanes := pn.lanes()
	for n, lane := range lanes {
		bottom := pn.frame.Max.Y + laneHeight*vg.Length(len(lanes)-1-n) + 3*pixel
		bars := pn.bars(lane.Spans, bottom, bottom+laneHeight-3*pixel)
		for _, bar := range bars {
			colour := pn.pen.Band
			if bar.Size().X < narrow {
				colour = pn.pen.Faint
			}
			pn.pen.fillRectangle(bar, colour)
		}
		if len(bars) > 0 {
			pn.drawLaneName(lane.Name, bars)
		}
	}
}

// drawLaneName writes the name of a lane into each bar that is wide enough. If no bar is, the name
// stands to the left of the frame, or behind the first bar with room, or over the beginning of the
// lane.
func (pn *panel) drawLaneName(name string, bars []vg.Rectangle) {
	const beside = 4 * pixel
	f, font := pn.frame, pn.pen.font(noteSize)
	name = chart.Cut(name, within(font, (f.Max.X-f.Min.X)/2))
	width := font.Width(name)
	y := bars[0].Min.Y + pixel
	named := false
	for _, bar := range bars {
		if width+2*beside <= bar.Size().X {
			pn.pen.drawText(font, (bar.Min.X+bar.Max.X-width)/2, y, name)
			named = true
		}
	}
	if !named && width+2*beside <= f.Min.X-pn.outer.Min.X {
		pn.pen.drawText(font, f.Min.X-beside-width, y, name)
		pn.around.lanesNamedLeft = true
		named = true
	}
	for n, bar := range bars {
		next := f.Max.X
		if n+1 < len(bars) {
			next = bars[n+1].Min.X
		}
		if !named && bar.Max.X+beside+width <= next {
			pn.pen.drawText(font, bar.Max.X+beside, y, name)
			named = true
		}
	}
	if !named {
		plate := vg.Rectangle{Min: vg.Point{X: f.Min.X, Y: bars[0].Min.Y}, Max: vg.Point{X: f.Min.X + width + beside, Y: bars[0].Max.Y}}
		pn.pen.fillRectangle(plate, pn.pen.Background)
		pn.pen.drawText(font, f.Min.X, y, name)
	}
}
