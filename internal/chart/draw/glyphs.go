package draw

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/text/unicode/bidi"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
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
	face := plot.DefaultTextHandler.Cache().Lookup(textStyle(labelSize).Font, labelSize)
	glyph, err := face.Face.GlyphIndex(&buf, r)
	return err == nil && glyph != 0
}

// textWidth returns the width of a text. A letter that the font lacks comes from another font in an
// SVG, and is at most as wide as high.
func textWidth(style text.Style, str string) vg.Length {
	lacking := vg.Length(0)
	known := strings.Map(func(r rune) rune {
		if hasGlyph(r) {
			return r
		}
		lacking++
		return -1
	}, str)
	return style.Width(known) + lacking*style.Font.Size
}

// spelledOut returns the picture for a format that has only the letters of the font. Other letters
// become \uXXXX, and a note says so: without them, series could look the same.
func (p *Picture) spelledOut() *Picture {
	out, replaced := *p, false
	spell := func(str string) string {
		var b strings.Builder
		for _, r := range str {
			if hasGlyph(r) && !unicode.IsControl(r) {
				b.WriteRune(r)
			} else {
				fmt.Fprintf(&b, `\u%04X`, r)
				replaced = true
			}
		}
		return b.String()
	}
	out.Title, out.Unit, out.ValueName = spell(p.Title), spell(p.Unit), spell(p.ValueName)
	out.Series, out.Curves, out.Windows, out.Marks = slices.Clone(p.Series), slices.Clone(p.Curves), slices.Clone(p.Windows), slices.Clone(p.Marks)
	out.Sources, out.Added = slices.Clone(p.Sources), slices.Clone(p.Added)
	for _, names := range [][]string{out.Sources, out.Added} {
		for i := range names {
			names[i] = spell(names[i])
		}
	}
	out.Worst = slices.Clone(p.Worst)
	for i := range out.Worst {
		out.Worst[i].Label, out.Worst[i].Name = spell(out.Worst[i].Label), spell(out.Worst[i].Name)
	}
	for i := range out.Series {
		out.Series[i].Label, out.Series[i].Group = spell(out.Series[i].Label), spell(out.Series[i].Group)
	}
	for i := range out.Curves {
		out.Curves[i].Label, out.Curves[i].Group = spell(out.Curves[i].Label), spell(out.Curves[i].Group)
	}
	for i := range out.Windows {
		out.Windows[i].Label, out.Windows[i].Group = spell(out.Windows[i].Label), spell(out.Windows[i].Group)
	}
	for i := range out.Marks {
		out.Marks[i].Text = spell(out.Marks[i].Text)
	}
	if replaced {
		out.Notes = append(slices.Clone(p.Notes), `Letters that the font does not have are shown as \u and their number; in SVG and HTML they are themselves.`)
	}
	return &out
}
