package draw

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/text/unicode/bidi"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"hdrkit/internal/chart"
)

// hasGlyph reports whether the font has the letter r.
func hasGlyph(r rune) bool {
	if r < 0x7f {
		return true
	}
	// The formats that ask for glyphs set letters from left to right.
	if properties, _ := bidi.LookupRune(r); properties.Class() == bidi.R || properties.Class() == bidi.AL {
		return false
	}
	var buf sfnt.Buffer
	face := plainHandler.Cache().Lookup(liberation(labelSize), labelSize)
	glyph, err := face.Face.GlyphIndex(&buf, r)
	return err == nil && glyph != 0
}

// A foreign is a text handler for formats in which a letter that the font lacks comes from another
// font. It is at most as wide as high.
type foreign struct{ text.Handler }

func (h foreign) Box(txt string, f font.Font) (width, height, depth vg.Length) {
	_, height, depth = h.Handler.Box("", f)
	return widthOf(h.Handler, txt, f), height, depth
}

// widthOf returns the width of a text whose letters stand side by side: kerning moves dots below
// letters of low resolution.
func widthOf(handler text.Handler, txt string, f font.Font) (width vg.Length) {
	face := handler.Cache().Lookup(f, f.Size)
	for _, r := range txt {
		if hasGlyph(r) {
			width += face.Width(string(r))
		} else {
			width += f.Size
		}
	}
	return width
}

// A speller is a text handler for formats that have only the letters of the font. Other letters
// become \uXXXX: without them, series could look the same.
type speller struct {
	text.Handler
	replaced *bool
}

func (h speller) Box(txt string, f font.Font) (width, height, depth vg.Length) {
	_, height, depth = h.Handler.Box("", f)
	return widthOf(h.Handler, h.spell(txt), f), height, depth
}

func (h speller) Draw(c vg.Canvas, txt string, style text.Style, at vg.Point) {
	h.Handler.Draw(c, h.spell(txt), style, at)
}

func (h speller) spell(txt string) string {
	var b strings.Builder
	for _, r := range txt {
		if r == '\n' || hasGlyph(r) && !unicode.IsControl(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u%04X`, r)
			*h.replaced = true
		}
	}
	return b.String()
}

// spelledOut draws a picture with a speller. If that replaces letters, it draws the picture again
// with a note.
func spelledOut(p *chart.Picture, draw func(p *chart.Picture, handler text.Handler)) {
	own, replaced := *p, false
	handler := speller{plainHandler, &replaced}
	if draw(&own, handler); replaced {
		own.Notes = append(slices.Clone(p.Notes), `Letters that the font does not have are shown as \u and their number; in SVG and HTML they are themselves.`)
		draw(&own, handler)
	}
}
