package draw

import (
	"encoding/base64"
	"image"
	"io"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"hdrkit/internal/chart"
)

func base64Reader(text []byte) io.Reader {
	return base64.NewDecoder(base64.StdEncoding, strings.NewReader(string(text)))
}

// A textBox is where a text stands, in points from the left lower corner.
type textBox struct {
	text                     string
	left, right, bottom, top float64
}

// texts draws the picture and returns its texts.
func texts(t *testing.T, p *chart.Picture) []textBox { return textsBy(t, p, wellFormed) }

func textsBy(t *testing.T, p *chart.Picture, handler text.Handler) []textBox {
	t.Helper()
	width, height := size(&p.Looks)
	canvas := &textCanvas{}
	paint(p, draw.NewCanvas(canvas, width, height), handler, false)
	return canvas.boxes
}

// A textCanvas notes where text goes. It knows the turns and moves that charts make: one quarter
// turn.
type textCanvas struct {
	recorder.Canvas
	boxes   []textBox
	offset  vg.Point
	rotated bool
	stack   []textCanvas
}

func (c *textCanvas) Push() {
	c.stack = append(c.stack, textCanvas{offset: c.offset, rotated: c.rotated})
}
func (c *textCanvas) Rotate(float64)                      { c.rotated = true }
func (c *textCanvas) DrawImage(vg.Rectangle, image.Image) {}
func (c *textCanvas) Translate(p vg.Point)                { c.offset = c.offset.Add(p) }
func (c *textCanvas) Pop() {
	last := c.stack[len(c.stack)-1]
	c.offset, c.rotated, c.stack = last.offset, last.rotated, c.stack[:len(c.stack)-1]
}

func (c *textCanvas) FillString(face font.Face, at vg.Point, str string) {
	width := float64(face.Width(str))
	extents := face.Extents()
	ascent, descent := float64(extents.Ascent)*0.8, float64(extents.Descent)
	x, y := float64(at.X+c.offset.X), float64(at.Y+c.offset.Y)
	box := textBox{str, x, x + width, y - descent, y + ascent}
	if c.rotated {
		x, y = float64(c.offset.X-at.Y), float64(c.offset.Y+at.X)
		box = textBox{str, x - ascent, x + descent, y, y + width}
	}
	c.boxes = append(c.boxes, box)
}

// valueAt returns the value of a curve at a percentile.
func valueAt(c *chart.Curve, percentile float64) float64 {
	n := slices.IndexFunc(c.Steps, func(s chart.Step) bool { return s.Percentile >= percentile })
	return c.Steps[n].Value
}
