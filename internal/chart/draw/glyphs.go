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

// hasGlyph reports whether PNG and PDF can show the letter r: the font has it, and its script runs
// from left to right.
func hasGlyph(r rune) bool {
	if r < 0x7f {
		return true
	}
	// PNG and PDF set all letters from left to right.
	if properties, _ := bidi.LookupRune(r); properties.Class() == bidi.R || properties.Class() == bidi.AL {
		return false
	}
	var buf sfnt.Buffer
	face := plainHandler.Cache().Lookup(liberation(labelSize), labelSize)
	glyph, err := face.Face.GlyphIndex(&buf, r)
	return err == nil && glyph != 0
}

// HasCodes reports whether a picture in a format shows codes in place of letters that the font
// lacks. Only PNG and PDF do, since they have a single font.
func HasCodes(p *chart.Picture, format Format) bool {
	if format != PNG && format != PDF {
		return false
	}
	lacks := func(name string) bool {
		return strings.IndexFunc(name, func(r rune) bool { return !hasGlyph(r) }) >= 0
	}
	named := func(s chart.Series) bool { return lacks(s.Label) }
	return lacks(p.Looks.Title) || lacks(p.Caption()) || slices.ContainsFunc(p.Series, named)
}

// widthOf returns the width of a text without kerning. For a letter that the font lacks it assumes
// the height of the font, which is an upper bound.
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

// A speller is a text handler that replaces letters that a format cannot show. Spell returns the
// text with the replacements.
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

// spelledOut replaces letters that the font lacks by \uXXXX, for PNG and PDF. Otherwise the labels
// of different series could look the same.
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

// wellFormed replaces letters that XML does not allow, for SVG. The reader has other fonts for
// letters that the font lacks.
var wellFormed = speller{plainHandler, func(txt string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' || r == 0xfffe || r == 0xffff {
			return utf8.RuneError
		}
		return r // for bytes that are not UTF-8, r is utf8.RuneError
	}, txt)
}}
