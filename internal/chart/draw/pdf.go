package draw

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"strings"
	"time"

	"codeberg.org/go-pdf/fpdf"
	imagedraw "golang.org/x/image/draw"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hdrkit/internal/chart"
)

// WritePDF writes a picture as PDF. Equal pictures become equal files.
func WritePDF(w io.Writer, p *chart.Picture) error {
	canvas := newPDF(size(&p.Looks))
	vg.Initialize(canvas)
	if err := paint(p, draw.New(canvas), spelledOut, true); err != nil {
		return err
	}
	end := int64(1)
	for _, span := range p.Inputs.Spans {
		end = max(end, span[1])
	}
	canvas.doc.SetTitle(p.Name(), true)
	canvas.doc.SetCreationDate(time.UnixMilli(end).UTC()) // the end of the run, so that equal runs give equal files
	canvas.doc.SetModificationDate(time.UnixMilli(end).UTC())
	return canvas.doc.Output(w)
}

// A pdfCanvas is the page of a PDF file. It replaces vgpdf, which has only the letters of
// Windows-1252, no title, and no date that can be set. PDF and vg measure points from the lower
// left corner, and fpdf from the upper left corner.
type pdfCanvas struct {
	doc           *fpdf.Fpdf
	width, height vg.Length
	fonts         map[string]bool
	images        map[int]bool // widths in dots for which there is an image
}

func newPDF(width, height vg.Length) *pdfCanvas {
	doc := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: width.Points(), Ht: height.Points()}})
	doc.SetCatalogSort(true) // else the order of objects differs from run to run
	doc.SetAutoPageBreak(false, 0)
	doc.AddPage()
	return &pdfCanvas{
		doc:    doc,
		width:  width,
		height: height,
		fonts:  make(map[string]bool),
		images: make(map[int]bool),
	}
}

func (c *pdfCanvas) Size() (width, height vg.Length) { return c.width, c.height }

// op writes operands and their PDF operator.
func (c *pdfCanvas) op(operator string, operands ...vg.Length) {
	var b strings.Builder
	for _, v := range operands {
		b.WriteString(pdfNumber(v) + " ")
	}
	c.doc.RawWriteStr(b.String() + operator)
}

func pdfNumber(v vg.Length) string { return fmt.Sprintf("%.6g", math.Round(float64(v)*1e4)/1e4) }

func (c *pdfCanvas) SetLineWidth(width vg.Length) { c.op("w", width) }

func (c *pdfCanvas) SetLineDash(pattern []vg.Length, offset vg.Length) {
	dashes := "[ "
	for _, l := range pattern {
		dashes += pdfNumber(l) + " "
	}
	c.op(dashes + "] " + pdfNumber(offset) + " d")
}

func (c *pdfCanvas) SetColor(to color.Color) {
	if to == nil {
		to = color.Black
	}
	n := color.NRGBAModel.Convert(to).(color.NRGBA)
	parts := []vg.Length{vg.Length(n.R) / 255, vg.Length(n.G) / 255, vg.Length(n.B) / 255}
	c.op("RG", parts...)
	c.op("rg", parts...)
	c.doc.SetAlpha(float64(n.A)/255, "Normal")
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

// path writes a path. It supports no arcs, which no chart has, and all curves are cubic.
func (c *pdfCanvas) path(path vg.Path) {
	for _, part := range path {
		switch part.Type {
		case vg.MoveComp:
			c.op("m", part.Pos.X, part.Pos.Y)
		case vg.LineComp:
			c.op("l", part.Pos.X, part.Pos.Y)
		case vg.CurveComp:
			one, two := part.Control[0], part.Control[1]
			c.op("c", one.X, one.Y, two.X, two.Y, part.Pos.X, part.Pos.Y)
		case vg.CloseComp:
			c.op("h")
		}
	}
}

// FillString draws a text. The file contains only the letters of the font that texts use.
func (c *pdfCanvas) FillString(face font.Face, at vg.Point, str string) {
	if !c.fonts[face.Name()] {
		c.fonts[face.Name()] = true
		var source bytes.Buffer
		if _, err := face.Face.WriteSourceTo(nil, &source); err != nil {
			c.doc.SetError(err)
		}
		c.doc.AddUTF8FontFromBytes(face.Name(), "", source.Bytes())
	}
	c.doc.SetFont(face.Name(), "", face.Font.Size.Points())
	c.doc.Text(at.X.Points(), (c.height - at.Y).Points(), str)
}

// DrawImage draws an image. Package fpdf sorts images by width and writes images of the same width
// in random order. A second image of the same width therefore becomes wider, by repeated dots.
func (c *pdfCanvas) DrawImage(rect vg.Rectangle, img image.Image) {
	bounds := img.Bounds()
	for c.images[bounds.Dx()] {
		bounds.Max.X += img.Bounds().Dx()
	}
	c.images[bounds.Dx()] = true
	wide := image.NewNRGBA(bounds)
	imagedraw.NearestNeighbor.Scale(wide, bounds, img, img.Bounds(), imagedraw.Src, nil)
	var file bytes.Buffer
	if err := png.Encode(&file, wide); err != nil {
		c.doc.SetError(err)
	}
	name, options := fmt.Sprint(bounds.Dx()), fpdf.ImageOptions{ImageType: "png"}
	c.doc.RegisterImageOptionsReader(name, options, &file)
	size := rect.Size()
	x, y := rect.Min.X.Points(), (c.height - rect.Max.Y).Points()
	c.doc.ImageOptions(name, x, y, size.X.Points(), size.Y.Points(), false, options, 0, "")
}
