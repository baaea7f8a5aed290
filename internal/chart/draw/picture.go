// Package draw draws the pictures of package chart as PNG, SVG and PDF. It divides a picture into
// panels, each with axes, marks and texts.
package draw

import (
	"fmt"
	"image/color"
	"slices"
	"sort"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hdrkit/internal/chart"
	"hdrkit/internal/report"
)

// drawHeadline draws the title. A verdict at its beginning, such as FAILS, has a coloured
// background.
func (c *pen) drawHeadline(font text.Style, x, y vg.Length, title string) {
	word, rest := report.Judged(title)
	if word == "" {
		c.drawText(font, x, y, title)
		return
	}
	const pad = 6 * pixel
	width := font.Width(word) + 2*pad
	c.fillRectangle(vg.Rectangle{Min: vg.Point{X: x, Y: y - pad}, Max: vg.Point{X: x + width, Y: y + titleSize}}, c.verdictColour(word))
	chip := font
	chip.Color = c.Background
	c.drawText(chip, x+pad, y, word)
	c.drawText(font, x+width+pad, y, strings.TrimPrefix(rest, " "))
}

// verdictColour returns the background of a verdict.
func (c *pen) verdictColour(word string) color.Color {
	switch word {
	case "FAILS":
		return c.Limit
	case "HOLDS":
		return c.Holds
	}
	return c.Faint
}

// paint draws a picture on a canvas. The handler draws its texts. If background is set, paint fills
// the background first. It returns an error if the picture is too small for its charts.
func paint(p *chart.Picture, canvas draw.Canvas, handler text.Handler, background bool) error {
	c := &pen{Canvas: canvas, Theme: p.Looks.Colours(), handler: handler, dpi: p.Looks.DPI}
	if background {
		c.SetColor(c.Background)
		c.Fill(c.Rectangle.Path())
	}
	area := draw.Crop(canvas, margin, -margin, margin, -margin).Rectangle
	notes, area := c.drawHead(p, area)
	notes = c.wrapped(notes, area.Size().X)
	maxNotes := max(2, int(area.Size().Y/2/(noteSize*lineSpace)))
	var parts []chart.Facet
	if p.Type == chart.Report {
		parts, notes = curvesOf(p, notes)
	} else {
		room := area.Size()
		room.Y -= vg.Length(min(len(notes)+1, maxNotes)) * noteSize * lineSpace
		parts, notes = c.facetsIn(room, p, notes)
	}
	if p.Fleet != nil && len(p.Fleet.Rows) > maxRows {
		notes = append(notes, p.Inputs.OnlyShown(len(p.Fleet.Rows), maxRows, p.Fleet.Line, "a row"))
	}
	notes = c.wrapped(notes, area.Size().X) // notes that were added since
	if len(notes) > maxNotes {
		more := fmt.Sprintf("and %d more lines", len(notes)-maxNotes+1)
		notes = append(notes[:maxNotes-1:maxNotes-1], more)
	}
	font := c.font(noteSize)
	font.Color = c.Faint
	for _, note := range slices.Backward(notes) {
		c.drawText(font, area.Min.X, area.Min.Y, note)
		area.Min.Y += noteSize * lineSpace
	}
	area.Min.Y += 2 * pixel
	c.drawBody(p, area, parts)
	if c.crowded {
		return fmt.Errorf("what it shows does not fit into %g by %g pixels: a larger height or width is needed", p.Looks.Width, p.Looks.Height)
	}
	return nil
}

// wrapped returns notes as lines of at most a width. A note has one line or two. If it is longer,
// it ends with an ellipsis behind a word.
func (c *pen) wrapped(notes []string, width vg.Length) (lines []string) {
	fits := within(c.font(noteSize), width)
	for _, note := range notes {
		words := strings.Split(note, " ")
		line, rest := fittingWords(words, "", fits)
		lines = append(lines, line)
		if len(rest) > 0 {
			line, _ = fittingWords(rest, " …", fits)
			lines = append(lines, line)
		}
	}
	return lines
}

// fittingWords returns as many of the words as fit into a line, at least one, and the words that
// are left. If some are left, the line ends with more. A word that does not fit is cut.
func fittingWords(words []string, more string, fits func(string) bool) (line string, left []string) {
	if line = strings.Join(words, " "); fits(line) {
		return line, nil
	}
	n := sort.Search(len(words), func(n int) bool { return !fits(strings.Join(words[:n], " ") + more) })
	n = max(n-1, 1)
	return chart.Cut(strings.Join(words[:n], " ")+more, fits), words[n:]
}

// drawHead draws the title, and below it in a report the most important finding. It returns the
// notes below the charts, with all sentences that have no room at the top, and the area that is
// left.
func (c *pen) drawHead(p *chart.Picture, area vg.Rectangle) (notes []string, left vg.Rectangle) {
	title, notes := p.Looks.Title, p.Footnotes()
	results := p.Results()
	if title == "" && len(results) > 0 {
		title, results = results[0], results[1:]
	}
	notes = slices.Concat(results, notes)
	if title != "" {
		font := c.font(titleSize)
		area.Max.Y -= titleSize
		short := chart.Cut(title, within(font, area.Size().X))
		if short != title { // the rest stands below, in small letters
			if first, rest, some := strings.Cut(title, ". "); some && chart.Cut(first+".", within(font, area.Size().X)) == first+"." {
				short, title = first+".", rest
			}
			notes = append(notes, title)
		}
		c.drawHeadline(font, area.Min.X, area.Max.Y, short)
		area.Max.Y -= titleSize * (lineSpace - 1) * 1.6
	}
	if (p.Type == chart.Report || p.Type == chart.Fleet) && len(results) > 0 { // the most important finding
		font := c.font(labelSize)
		short := chart.Cut(results[0], within(font, area.Size().X))
		area.Max.Y -= labelSize
		c.drawText(font, area.Min.X, area.Max.Y, short)
		area.Max.Y -= labelSize * (lineSpace - 1) * 1.6
		if short == results[0] {
			notes = notes[1:]
		}
	}
	return notes, area
}

// facetsIn returns the facets of a picture that fit into an area of a size. If some do not fit, it
// adds a note at the beginning of the notes.
func (c *pen) facetsIn(room vg.Point, p *chart.Picture, notes []string) ([]chart.Facet, []string) {
	parts := p.FacetsOf()
	if len(parts) > 0 {
		room.Y -= c.legendHeight(room, c.facetLegend(p, p.Describe(p.Type), parts[0].Picture))
	}
	lines := 1
	if from, to, timed := p.TimeRange(); timed {
		lines = timeLines(p, from, to)
	}
	if fit := facetsThatFit(len(parts), room, lines); fit < len(parts) {
		notes = append([]string{p.Inputs.OnlyShown(len(parts), fit, "maximum", "a chart")}, notes...)
		parts = parts[:fit]
	}
	return parts, notes
}

// curvesOf returns the facets with the percentile curves of a report that compares, and nil for
// other reports. It adds a note if some tags have no curve.
func curvesOf(p *chart.Picture, notes []string) (parts []chart.Facet, all []string) {
	tags := len(p.Series)
	if _, _, compared := p.Compared(); compared {
		curves := *p
		curves.Type = chart.Percentiles
		curves.Looks.Facets = true
		curves.Values.Low = 0
		curves.Values.High = 0
		curves.Series = slices.Clone(p.Series)
		for i := range curves.Series {
			curves.Series[i].Lines = nil // the lines are rates
		}
		parts = curves.FacetsOf()
		tags = len(parts)
		parts = parts[:min(tags, chart.MaxTogether)]
	}
	if tags > chart.MaxTogether {
		rankedBy := "maximum"
		if slices.ContainsFunc(p.Series, func(s chart.Series) bool { return p.HasSentence(s.Label) }) {
			rankedBy = "maximum, or in a sentence,"
		}
		notes = append(notes, p.Inputs.OnlyShown(tags, chart.MaxTogether, rankedBy, "a percentile curve"))
	}
	return parts, notes
}

// drawBody draws the charts of a picture, or its facets if there are any, into an area.
func (c *pen) drawBody(p *chart.Picture, area vg.Rectangle, parts []chart.Facet) {
	before, after, compared := p.Compared()
	switch {
	case p.Type == chart.Report && compared:
		c.drawComparison(p, area, before, after, parts)
	case p.Type == chart.Report:
		c.drawReport(p, area)
	case p.Type == chart.Fleet:
		c.drawFleet(p, area)
	case len(parts) > 0:
		c.drawFacets(p, area, parts)
	case len(p.LineFacets()) > 0:
		c.drawTrendFacets(p.LineFacets(), area)
	case p.Type.Chart.Marks == chart.Dots:
		drawPanels(c.runsPanel(p, p, c.drawRunsLegend(p, area)))
	case p.Type.Chart.Marks == chart.Curves:
		drawPanels(c.curvesPanel(p, p, area))
	case p.Type.Chart.Marks == chart.Cells && compared:
		c.drawDifference(p, area, before, after)
	case p.Type.Chart.Marks == chart.Cells:
		bar := area.Max.X - barWidth + 20*pixel
		area.Max.X -= barWidth
		var colours heatScale
		pn := c.heatPanel(p, p, nil, area, &colours)
		drawPanels(pn)
		c.drawHeatBar(pn.frame, bar, &colours)
	default:
		drawPanels(c.linesPanel(p, p, c.drawLinesLegend(p, area)))
	}
}

// size returns the width and the height of a picture.
func size(looks *chart.Looks) (width, height vg.Length) {
	return vg.Length(looks.Width) * pixel, vg.Length(looks.Height) * pixel
}
