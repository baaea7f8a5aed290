package draw

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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

// Spells reports whether a picture in a format has codes in place of letters: PNG and PDF have
// those of one font only.
func Spells(p *chart.Picture, format Format) bool {
	if format != PNG && format != PDF {
		return false
	}
	lacks := func(name string) bool {
		return strings.IndexFunc(name, func(r rune) bool { return !hasGlyph(r) }) >= 0
	}
	named := func(s chart.Series) bool { return lacks(s.Label) }
	return lacks(p.Looks.Title) || lacks(p.Caption()) || slices.ContainsFunc(p.Series, named)
}

// widthOf returns the width of a text whose letters stand side by side: kerning moves dots below
// letters of low resolution. A letter that the font lacks is at most as wide as high.
func widthOf(txt string, f font.Font) (width vg.Length) {
	face := plainHandler.Cache().Lookup(f, f.Size)
	for _, r := range txt {
		if hasGlyph(r) {
			width += face.Width(string(r))
		} else {
			width += f.Size
		}
	}
	return width
}

// A speller is a text handler that replaces the letters that a format cannot have.
type speller struct {
	text.Handler
	spell func(txt string) string
}

func (h speller) Box(txt string, f font.Font) (width, height, depth vg.Length) {
	_, height, depth = h.Handler.Box("", f)
	return widthOf(h.spell(txt), f), height, depth
}

func (h speller) Draw(c vg.Canvas, txt string, style text.Style, at vg.Point) {
	h.Handler.Draw(c, h.spell(txt), style, at)
}

// spelledOut replaces letters that the font lacks by \uXXXX, for formats that have no others:
// without them, series could look the same.
var spelledOut = speller{plainHandler, func(txt string) string {
	var b strings.Builder
	for _, r := range txt {
		if r == '\n' || hasGlyph(r) && !unicode.IsControl(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	return b.String()
}}

// wellFormed replaces what XML cannot hold. Letters that the font lacks come from another font.
var wellFormed = speller{plainHandler, func(txt string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' || r == 0xfffe || r == 0xffff {
			return utf8.RuneError
		}
		return r // the error for what is not UTF-8
	}, txt)
}}
