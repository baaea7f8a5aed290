package picture

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"slices"
	"unicode/utf16"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// WritePDF writes the picture as PDF. The same picture gives the same file.
func (p *Picture) WritePDF(w io.Writer) error {
	width, height := p.size()
	canvas := &pdfCanvas{width: width, height: height, title: p.title()}
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
	title         string
	content       bytes.Buffer
	images        []string // as objects
	glyphs        []pdfGlyph
	codes         map[rune]int // indexes of glyphs
	opacities     []uint8      // that colours have, in 255ths
}

// A pdfGlyph is a letter of a Type 3 font, whose units are thousandths of the size.
type pdfGlyph struct {
	letter rune
	width  string
	shape  string // as operators
}

// fontLetters is the number of letters that a Type 3 font can have.
const fontLetters = 256

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
	n := color.NRGBAModel.Convert(to).(color.NRGBA)
	parts := []vg.Length{vg.Length(n.R) / 255, vg.Length(n.G) / 255, vg.Length(n.B) / 255}
	c.op("RG", parts...)
	c.op("rg", parts...)
	if n.A < 255 || len(c.opacities) > 0 {
		if !slices.Contains(c.opacities, n.A) {
			c.opacities = append(c.opacities, n.A)
		}
		c.op(fmt.Sprintf("/A%d gs", n.A))
	}
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

// FillString draws text in Type 3 fonts, which have the letters that the picture needs.
func (c *pdfCanvas) FillString(face font.Face, at vg.Point, str string) {
	fmt.Fprintf(&c.content, "BT %s %s Td ", pdfNumber(float64(at.X)), pdfNumber(float64(at.Y)))
	last := -1
	for _, r := range str {
		code := c.code(face, r)
		if n := code / fontLetters; n != last {
			fmt.Fprintf(&c.content, "/F%d %s Tf ", n, pdfNumber(float64(face.Font.Size)))
			last = n
		}
		fmt.Fprintf(&c.content, "<%02x> Tj ", code%fontLetters)
	}
	c.op("ET")
}

// code returns the index of a letter.
func (c *pdfCanvas) code(face font.Face, r rune) int {
	if code, known := c.codes[r]; known {
		return code
	}
	const em = 1000
	var buf sfnt.Buffer
	glyph, _ := face.Face.GlyphIndex(&buf, r) // 0, an empty box, if the font has none
	advance, _ := face.Face.GlyphAdvance(&buf, glyph, fixed.I(em), 0)
	segments, _ := face.Face.LoadGlyph(&buf, glyph, fixed.I(em), nil) // nothing is drawn then
	point := func(p fixed.Point26_6) vg.Point { return vg.Point{X: vg.Length(p.X) / 64, Y: -vg.Length(p.Y) / 64} }
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
	shape := pdfCanvas{}
	width := vg.Length(advance) / 64
	shape.op("d1", width, 0, -em, -em, 2*em, 2*em) // a box that holds every letter
	shape.Fill(path)
	if c.codes == nil {
		c.codes = map[rune]int{}
	}
	c.codes[r] = len(c.glyphs)
	c.glyphs = append(c.glyphs, pdfGlyph{r, pdfNumber(float64(width)), shape.content.String()})
	return c.codes[r]
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
	var objects []string
	add := func(object string) (reference string) {
		objects = append(objects, object)
		return fmt.Sprintf("%d 0 R ", len(objects))
	}
	fonts, images, states := "", "", ""
	for n := 0; n*fontLetters < len(c.glyphs); n++ {
		fonts += fmt.Sprintf("/F%d %s", n, add(pdfFont(c.glyphs[n*fontLetters:min(len(c.glyphs), (n+1)*fontLetters)], add)))
	}
	for n, image := range c.images {
		images += fmt.Sprintf("/I%d %s", n+1, add(image))
	}
	for _, a := range c.opacities {
		states += fmt.Sprintf("/A%d << /ca %s >> ", a, pdfNumber(float64(a)/255))
	}
	content := add(pdfStream("", c.content.Bytes()))
	page := add(fmt.Sprintf("<< /Type /Page /Parent %d 0 R /MediaBox [0 0 %s %s] /Contents %s/Resources << /Font << %s>> /XObject << %s>> /ExtGState << %s>> >> >>",
		len(objects)+2, pdfNumber(float64(c.width)), pdfNumber(float64(c.height)), content, fonts, images, states))
	pages := add("<< /Type /Pages /Kids [" + page + "] /Count 1 >>")
	root := add("<< /Type /Catalog /Pages " + pages + ">>")
	info := add("<< /Title <feff" + pdfLetters(c.title) + "> >>")
	var out bytes.Buffer
	out.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	table := ""
	for n, object := range objects {
		table += fmt.Sprintf("%010d 00000 n \n", out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", n+1, object)
	}
	start := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root %s/Info %s>>\nstartxref\n%d\n%%%%EOF\n",
		len(objects)+1, table, len(objects)+1, root, info, start)
	return out.Bytes()
}

// pdfLetters returns text in UTF-16, as hexadecimal digits.
func pdfLetters(text string) (digits string) {
	for _, unit := range utf16.Encode([]rune(text)) {
		digits += fmt.Sprintf("%04x", unit)
	}
	return digits
}

// pdfFont returns a font of letters, whose shapes it adds. A table says which letters they are, so
// that text can be searched and copied.
func pdfFont(glyphs []pdfGlyph, add func(object string) (reference string)) string {
	names, widths, shapes, letters := "", "", "", ""
	for n, g := range glyphs {
		names += fmt.Sprintf("/g%d ", n)
		widths += g.width + " "
		shapes += fmt.Sprintf("/g%d %s", n, add(pdfStream("", []byte(g.shape))))
		// A block has at most 100 letters, so each has its own.
		letters += fmt.Sprintf("1 beginbfchar <%02x> <%s> endbfchar\n", n, pdfLetters(string(g.letter)))
	}
	unicode := add(pdfStream("", []byte("/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def /CMapName /Letters def\n"+
		"1 begincodespacerange <00> <ff> endcodespacerange\n"+letters+"endcmap CMapName currentdict /CMap defineresource pop end end")))
	return fmt.Sprintf("<< /Type /Font /Subtype /Type3 /FontBBox [0 0 0 0] /FontMatrix [0.001 0 0 0.001 0 0] /FirstChar 0 /LastChar %d /Widths [ %s] "+
		"/CharProcs << %s>> /Encoding << /Type /Encoding /Differences [0 %s] >> /ToUnicode %s/Resources << >> >>", len(glyphs)-1, widths, shapes, names, unicode)
}
