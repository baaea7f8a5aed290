package draw

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/page"
)

// A Format is a file format.
type Format string

// The formats.
const (
	PNG  Format = "png"
	SVG  Format = "svg"
	PDF  Format = "pdf"
	HTML Format = "html"
)

// Write writes a picture in a format. It returns an error if the size of the picture does not suit
// its type or its data.
func Write(w io.Writer, p *chart.Picture, format Format) error {
	if err := Check(p.Type, &p.Looks); err != nil {
		return err
	}
	switch format {
	case PNG:
		return WritePNG(w, p)
	case SVG:
		return WriteSVG(w, p)
	case PDF:
		return WritePDF(w, p)
	case HTML:
		d, err := page.New(p)
		if err != nil {
			return err
		}
		return page.Write(w, d)
	}
	return fmt.Errorf("unknown format %q", format)
}

// WriteSVG writes a picture as SVG. Texts stay texts, and have the same width with any font of the
// reader, so that they do not overlap.
func WriteSVG(w io.Writer, p *chart.Picture) error {
	canvas := &svgCanvas{Canvas: vgsvg.New(size(&p.Looks))}
	if err := paint(p, draw.New(canvas), wellFormed, true); err != nil {
		return err
	}
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return err
	}
	var about bytes.Buffer // for screen readers
	about.WriteString("<title>")
	xml.EscapeText(&about, []byte(p.Name()))
	about.WriteString("</title>\n<desc>")
	xml.EscapeText(&about, []byte(p.Description()))
	about.WriteString("</desc>\n<g ")
	text := canvas.setWidths(svg.Bytes())
	text = bytes.Replace(text, []byte("<g "), about.Bytes(), 1)
	text = bytes.Replace(text, []byte("<svg "), []byte(`<svg role="img" `), 1)
	for _, mend := range [][2]string{
		{"font-family:Liberation Sans;font-variant:normal", "font-family:'Liberation Sans',Arimo,Arial,Helvetica,sans-serif"},
		{"data:image/jpg;", "data:image/png;"},
	} {
		text = bytes.ReplaceAll(text, []byte(mend[0]), []byte(mend[1]))
	}
	_, err := w.Write(text)
	return err
}

// An svgCanvas remembers the widths of its texts.
type svgCanvas struct {
	*vgsvg.Canvas
	widths []vg.Length // by text, 0 if the font lacks a letter
}

// FillString draws a text and remembers its width.
func (c *svgCanvas) FillString(face font.Face, at vg.Point, str string) {
	width := vg.Length(0)
	if strings.IndexFunc(str, func(r rune) bool { return !hasGlyph(r) }) < 0 {
		width = widthOf(str, face.Font)
	}
	c.widths = append(c.widths, width)
	c.Canvas.FillString(face, at, str)
}

// setWidths adds the widths of the texts to the text elements of an SVG file.
func (c *svgCanvas) setWidths(svg []byte) []byte {
	const begin = "<text "
	parts := bytes.Split(svg, []byte(begin))
	var out bytes.Buffer
	out.Write(parts[0])
	for n, part := range parts[1:] {
		out.WriteString(begin)
		if c.widths[n] > 0 {
			fmt.Fprintf(&out, `textLength="%.2f" lengthAdjust="spacingAndGlyphs" `, c.widths[n].Points())
		}
		out.Write(part)
	}
	return out.Bytes()
}

// Check returns an error if a picture has no type, or if its size is too small or too large for its
// type.
func Check(kind *chart.Type, p *chart.Looks) error {
	if kind == nil {
		return errors.New("the picture has no type")
	}
	if !(p.Width >= 400 && p.Height >= 300) || p.DPI < 10 {
		return fmt.Errorf("a picture of %g by %g pixels at %d dpi is too small: 400 by 300 at 10 is the least",
			p.Width, p.Height, p.DPI)
	}
	if kind == chart.Report && (p.Width < 700 || p.Height < 600) {
		return fmt.Errorf("a report of %g by %g pixels is too small: 700 by 600 is the least", p.Width, p.Height)
	}
	// A PNG of 200 million dots takes 800 MB of memory.
	if dots := p.Width * p.Height * math.Pow(float64(p.DPI)/96, 2); dots > 200e6 {
		return fmt.Errorf("a picture of %g by %g pixels at %d dpi is too large: %.0f million dots, where 200 are the most",
			p.Width, p.Height, p.DPI, dots/1e6)
	}
	return nil
}
