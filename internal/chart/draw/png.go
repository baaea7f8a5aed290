package draw

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	imagedraw "image/draw"
	"image/png"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"hdrkit/internal/chart"
)

// WritePNG writes a picture as PNG.
func WritePNG(w io.Writer, p *chart.Picture) error {
	width, height := size(&p.Looks)
	background := vgimg.UseBackgroundColor(p.Looks.Colours().Background)
	canvas := pngCanvas{vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(p.Looks.DPI), background)}
	if err := paint(p, draw.New(canvas), spelledOut, false); err != nil {
		return err
	}
	// BestSpeed takes half the time of the default, and files are a tenth larger.
	var file bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&file, canvas.Image()); err != nil {
		return err
	}
	// The resolution follows the header, in dots for each metre: https://www.w3.org/TR/png/#11pHYs
	const header = 8 + 25
	dots := uint32(math.Round(float64(p.Looks.DPI) / 0.0254))
	chunk := append(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("pHYs"), dots), dots), 1)
	resolution := append(binary.BigEndian.AppendUint32(nil, uint32(len(chunk)-4)), chunk...)
	resolution = binary.BigEndian.AppendUint32(resolution, crc32.ChecksumIEEE(chunk))
	_, err := w.Write(slices.Concat(file.Bytes()[:header], resolution, file.Bytes()[header:]))
	return err
}

// A pngCanvas draws images without interpolation, which would blur them and take longer. It draws
// letters one by one, since kerning makes letters of low resolution overlap.
type pngCanvas struct{ *vgimg.Canvas }

// FillString draws a text letter by letter.
func (c pngCanvas) FillString(face font.Face, at vg.Point, str string) {
	for _, r := range str {
		c.Canvas.FillString(face, at, string(r))
		at.X += face.Width(string(r))
	}
}

// DrawImage draws an image, each dot of which becomes one dot of the canvas.
func (c pngCanvas) DrawImage(rect vg.Rectangle, img image.Image) {
	size := img.Bounds().Size()
	dots := func(l vg.Length) int { return int(math.Round(l.Dots(c.DPI()))) }
	at := image.Pt(dots(rect.Min.X), c.Image().Bounds().Dy()-dots(rect.Min.Y)-size.Y)
	imagedraw.Draw(c.Image(), image.Rectangle{at, at.Add(size)}, img, img.Bounds().Min, imagedraw.Over)
}
