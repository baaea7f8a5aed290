package picture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	imagedraw "image/draw"
	"io"
	"math"

	"github.com/klauspost/compress/zlib"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// WritePNG writes the picture as PNG.
func (p *Picture) WritePNG(w io.Writer) error {
	width, height := p.size()
	options := vgimg.UseBackgroundColor(p.theme().background)
	canvas := pngCanvas{vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(p.DPI), options)}
	p.spelledOut().draw(draw.New(canvas))
	return encodePNG(w, canvas.Image().(*image.RGBA))
}

// A pngCanvas draws images dot by dot. The canvas beneath would interpolate them, which blurs and takes longer.
type pngCanvas struct{ *vgimg.Canvas }

// DrawImage draws an image that has a dot for each one of the canvas.
func (c pngCanvas) DrawImage(rect vg.Rectangle, img image.Image) {
	size := img.Bounds().Size()
	dots := func(l vg.Length) int { return int(math.Round(l.Dots(c.DPI()))) }
	at := image.Pt(dots(rect.Min.X), c.Image().Bounds().Dy()-dots(rect.Min.Y)-size.Y)
	imagedraw.Draw(c.Image(), image.Rectangle{at, at.Add(size)}, img, img.Bounds().Min, imagedraw.Over)
}

// encodePNG writes an opaque image as PNG, of which it ignores the transparency. It does not filter rows: on charts, whose
// dots mostly are those to their left, image/png takes four times as long for that, and saves nothing on heat maps and a
// tenth or two on noisy lines (BenchmarkPNG).
func encodePNG(w io.Writer, img *image.RGBA) error {
	width, height := img.Rect.Dx(), img.Rect.Dy()
	var data bytes.Buffer
	compressor := zlib.NewWriter(&data)
	row := make([]byte, 1+3*width) // the first byte tells the filter: 0, none
	for y := range height {
		dots := img.Pix[y*img.Stride:][:4*width]
		for to := row[1:]; len(dots) > 0; to, dots = to[3:], dots[4:] {
			to[0], to[1], to[2] = dots[0], dots[1], dots[2]
		}
		compressor.Write(row) // into memory, so without an error
	}
	compressor.Close()

	const bits, rgb = 8, 2
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(width)), uint32(height))
	header = append(header, bits, rgb, 0, 0, 0)
	out := bufio.NewWriter(w)
	out.WriteString("\x89PNG\r\n\x1a\n")
	writeChunk(out, "IHDR", header)
	writeChunk(out, "IDAT", data.Bytes())
	writeChunk(out, "IEND", nil)
	return out.Flush()
}

// writeChunk writes a chunk of a PNG file. The error is that of the next Flush.
func writeChunk(w *bufio.Writer, kind string, data []byte) {
	binary.Write(w, binary.BigEndian, uint32(len(data)))
	w.WriteString(kind)
	w.Write(data)
	binary.Write(w, binary.BigEndian, crc32.Update(crc32.ChecksumIEEE([]byte(kind)), crc32.IEEETable, data))
}
