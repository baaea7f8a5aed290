package picture

import (
	"fmt"
	"image"
	imagedraw "image/draw"
	"io"
	"os"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/encoding/charmap"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgpdf"
)

// WritePDF writes the picture as PDF.
func (p *Picture) WritePDF(w io.Writer) (err error) {
	// The fonts are made in temporary files; the library panics where that fails.
	dir, err := os.MkdirTemp("", "picture-*")
	if err != nil {
		return err
	}
	os.Remove(dir)
	defer func() {
		if failure := recover(); failure != nil {
			err = fmt.Errorf("PDF: %v", failure)
		}
	}()
	// The same picture gives the same file.
	fpdf.SetDefaultCreationDate(time.Unix(0, 0).UTC())
	fpdf.SetDefaultModificationDate(time.Unix(0, 0).UTC())
	fpdf.SetDefaultCatalogSort(true)
	canvas := pdfCanvas{vgpdf.New(p.size())}
	p.spelledOut().drawOnBackground(draw.New(canvas))
	_, err = canvas.WriteTo(w)
	return err
}

// A pdfCanvas mends what the canvas beneath does not do right.
type pdfCanvas struct{ *vgpdf.Canvas }

// DrawImage draws an image the right way up.
func (c pdfCanvas) DrawImage(rect vg.Rectangle, img image.Image) {
	bounds := img.Bounds()
	flipped := image.NewNRGBA(bounds)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		row := image.Rect(bounds.Min.X, y, bounds.Max.X, y+1)
		imagedraw.Draw(flipped, row, img, image.Pt(bounds.Min.X, bounds.Min.Y+bounds.Max.Y-1-y), imagedraw.Src)
	}
	c.Canvas.DrawImage(rect, flipped)
}

// FillString draws text in the encoding of the fonts, Windows-1252, and as shapes if that does not have it.
func (c pdfCanvas) FillString(face font.Face, at vg.Point, str string) {
	if encoded, err := charmap.Windows1252.NewEncoder().String(str); err == nil {
		c.Canvas.FillString(face, at, encoded)
		return
	}
	var buf sfnt.Buffer
	const em = 1000 // units that the outlines are asked in
	unit := face.Font.Size / em
	point := func(p fixed.Point26_6) vg.Point {
		return vg.Point{X: at.X + vg.Length(p.X)/64*unit, Y: at.Y - vg.Length(p.Y)/64*unit}
	}
	for _, r := range str {
		glyph, _ := face.Face.GlyphIndex(&buf, r) // 0, an empty box, where the font has none
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
