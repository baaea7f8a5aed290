package picture

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/encoding/charmap"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// WritePDF writes the picture as PDF. The same picture gives the same file.
func (p *Picture) WritePDF(w io.Writer) error {
	width, height := p.size()
	canvas := &pdfCanvas{width: width, height: height}
	vg.Initialize(canvas)
	p.spelledOut().drawOnBackground(draw.New(canvas))
	_, err := w.Write(canvas.file())
	return err
}

// A pdfCanvas is the page of a PDF file:
// https://opensource.adobe.com/dc-acrobat-sdk-docs/pdfstandards/PDF32000_2008.pdf. PDF counts from
// the left lower corner, in points, as vg does.
type pdfCanvas struct {
	width, height vg.Length
	content       bytes.Buffer
	images        []string // as objects
}

func (c *pdfCanvas) Size() (width, height vg.Length) { return c.width, c.height }

// op writes an operator after its operands.
func (c *pdfCanvas) op(operator string, operands ...vg.Length) {
	for _, v := range operands {
		c.content.WriteString(pdfNumber(float64(v)) + " ")
	}
	c.content.WriteString(operator + "\n")
}

func pdfNumber(v float64) string { return fmt.Sprintf("%.6g", math.Round(v*1e4)/1e4) }

func (c *pdfCanvas) SetLineWidth(width vg.Length) { c.op("w", width) }

func (c *pdfCanvas) SetLineDash(pattern []vg.Length, offset vg.Length) {
	c.content.WriteString("[ ")
	for _, l := range pattern {
		c.content.WriteString(pdfNumber(float64(l)) + " ")
	}
	c.op("] " + pdfNumber(float64(offset)) + " d")
}

func (c *pdfCanvas) SetColor(to color.Color) {
	if to == nil {
		to = color.Black
	}
	r, g, b, _ := to.RGBA()
	parts := []vg.Length{vg.Length(r) / 0xffff, vg.Length(g) / 0xffff, vg.Length(b) / 0xffff}
	c.op("RG", parts...)
	c.op("rg", parts...)
}

func (c *pdfCanvas) Rotate(radians float64) {
	sin, cos := math.Sincos(radians)
	c.op("cm", vg.Length(cos), vg.Length(sin), vg.Length(-sin), vg.Length(cos), 0, 0)
}

func (c *pdfCanvas) Translate(by vg.Point) { c.op("cm", 1, 0, 0, 1, by.X, by.Y) }
func (c *pdfCanvas) Scale(x, y float64)    { c.op("cm", vg.Length(x), 0, 0, vg.Length(y), 0, 0) }
func (c *pdfCanvas) Push()                 { c.op("q") }
func (c *pdfCanvas) Pop()                  { c.op("Q") }
func (c *pdfCanvas) Stroke(path vg.Path)   { c.path(path); c.op("S") }
func (c *pdfCanvas) Fill(path vg.Path)     { c.path(path); c.op("f") }

// path writes a path. The charts have no arcs.
func (c *pdfCanvas) path(path vg.Path) {
	var at vg.Point
	for _, part := range path {
		switch part.Type {
		case vg.MoveComp:
			c.op("m", part.Pos.X, part.Pos.Y)
		case vg.LineComp:
			c.op("l", part.Pos.X, part.Pos.Y)
		case vg.CurveComp:
			one, two := part.Control[0], part.Control[len(part.Control)-1]
			if len(part.Control) == 1 { // a quadratic curve, as a cubic one
				one, two = at.Add(one.Sub(at).Scale(2.0/3)), part.Pos.Add(two.Sub(part.Pos).Scale(2.0/3))
			}
			c.op("c", one.X, one.Y, two.X, two.Y, part.Pos.X, part.Pos.Y)
		case vg.CloseComp:
			c.op("h")
		}
		at = part.Pos
	}
}

// FillString draws text as shapes, so that it looks the same everywhere. Below them it is text that
// cannot be seen, to search and to copy: in Helvetica, whose letters are as wide as those of
// Liberation Sans.
func (c *pdfCanvas) FillString(face font.Face, at vg.Point, str string) {
	if encoded, err := charmap.Windows1252.NewEncoder().String(str); err == nil {
		fmt.Fprintf(&c.content, "BT 3 Tr /F1 %s Tf %s %s Td <%x> Tj ET\n", pdfNumber(float64(face.Font.Size)), pdfNumber(float64(at.X)), pdfNumber(float64(at.Y)), encoded)
	}
	var buf sfnt.Buffer
	const em = 1000 // units in which the outlines are
	unit := face.Font.Size / em
	point := func(p fixed.Point26_6) vg.Point {
		return vg.Point{X: at.X + vg.Length(p.X)/64*unit, Y: at.Y - vg.Length(p.Y)/64*unit}
	}
	for _, r := range str {
		glyph, _ := face.Face.GlyphIndex(&buf, r) // 0, an empty box, if the font has none
		segments, err := face.Face.LoadGlyph(&buf, glyph, fixed.I(em), nil)
		if err != nil {
			continue
		}
		var path vg.Path
		for _, s := range segments {
			switch s.Op {
			case sfnt.SegmentOpMoveTo:
				path.Move(point(s.Args[0]))
			case sfnt.SegmentOpLineTo:
				path.Line(point(s.Args[0]))
			case sfnt.SegmentOpQuadTo:
				path.QuadTo(point(s.Args[0]), point(s.Args[1]))
			case sfnt.SegmentOpCubeTo:
				path.CubeTo(point(s.Args[0]), point(s.Args[1]), point(s.Args[2]))
			}
		}
		c.Fill(path)
		advance, _ := face.Face.GlyphAdvance(&buf, glyph, fixed.I(em), 0)
		at.X += vg.Length(advance) / 64 * unit
	}
}

// DrawImage draws an opaque image.
func (c *pdfCanvas) DrawImage(rect vg.Rectangle, img image.Image) {
	bounds := img.Bounds()
	var dots []byte
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			r, g, b, _ := img.At(x, y).RGBA()
			dots = append(dots, byte(r>>8), byte(g>>8), byte(b>>8))
		}
	}
	c.images = append(c.images, pdfStream(fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceRGB /BitsPerComponent 8 ",
		bounds.Dx(), bounds.Dy()), dots))
	c.op("q")
	size := rect.Size()
	c.op("cm", size.X, 0, 0, size.Y, rect.Min.X, rect.Min.Y)
	c.op(fmt.Sprintf("/I%d Do", len(c.images)))
	c.op("Q")
}

// pdfStream returns a stream with the entries of its dictionary, deflated.
func pdfStream(entries string, data []byte) string {
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	w.Write(data) // to memory, which does not fail
	w.Close()
	return fmt.Sprintf("<< %s/Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream", entries, packed.Len(), packed.Bytes())
}

// file returns the file: its objects, and a table of where they are.
func (c *pdfCanvas) file() []byte {
	const before = 5 // objects before the images
	images := ""
	for n := range c.images {
		images += fmt.Sprintf("/I%d %d 0 R ", n+1, before+n+1)
	}
	objects := append([]string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %s %s] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> /XObject << %s>> >> >>",
			pdfNumber(float64(c.width)), pdfNumber(float64(c.height)), images),
		pdfStream("", c.content.Bytes()),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
	}, c.images...)
	var out bytes.Buffer
	out.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	table := ""
	for n, object := range objects {
		table += fmt.Sprintf("%010d 00000 n \n", out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", n+1, object)
	}
	start := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, table, len(objects)+1, start)
	return out.Bytes()
}
