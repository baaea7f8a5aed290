package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// A Colour has eight bits each of red, green and blue.
type Colour uint32

// RGBA implements [color.Color].
func (c Colour) RGBA() (r, g, b, a uint32) {
	return uint32(c>>16&0xff) * 0x101, uint32(c>>8&0xff) * 0x101, uint32(c&0xff) * 0x101, 0xffff
}

// MarshalText writes the colour as #rrggbb.
func (c Colour) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "#%06x", uint32(c)), nil }

// UnmarshalText reads #rrggbb.
func (c *Colour) UnmarshalText(text []byte) error {
	v, err := strconv.ParseUint(string(text[1:]), 16, 24)
	*c = Colour(v)
	return err
}

// Mixed returns a mixture of c and another colour. Share is the part of c, from 0 to 1.
func (c Colour) Mixed(share float64, other Colour) (mixed Colour) {
	for shift := 0; shift < 24; shift += 8 {
		a, b := float64(c>>shift&0xff), float64(other>>shift&0xff)
		mixed |= Colour(math.Round(share*a+(1-share)*b)) << shift
	}
	return mixed
}

// A Theme is the set of colours of a picture or page.
type Theme struct {
	Background Colour `json:"background"`
	Text       Colour `json:"text"`
	Faint      Colour `json:"faint"`
	Grid       Colour `json:"grid"`
	Band       Colour `json:"band"`
	Limit      Colour `json:"limit"`
	Holds      Colour `json:"holds"` // the verdict that limits hold
	// Lines are the colours of lines. Colour-blind readers can distinguish them. In print, dashes
	// distinguish lines.
	Lines []Colour `json:"lines"`
	// Heat is the scale from few to many values. Change is the scale from less to more, with grey
	// in the middle.
	Heat   []Colour `json:"heat"`
	Change []Colour `json:"change"`
}

// The colours of lines come from the palette of Okabe and Ito (Color Universal Design, 2008). In
// the light theme, colours that are too light for white paper are darker, and wine red replaces
// yellow: each line has a contrast of at least 3:1 against the background (TestContrast). The heat
// scales have one hue, which no line has. They begin near the colour of the background, so that
// cells with single values are pale in print and for colour-blind readers, too.
var (
	light = Theme{
		Background: 0xffffff,
		Text:       0x222222,
		Faint:      0x666666,
		Grid:       0xe4e4e4,
		Band:       0xd6d6d6,
		Limit:      0xb00020,
		Holds:      0x007f5a,
		Lines:      []Colour{0x0072b2, 0xd55e00, 0x009e73, 0xc56a9a, 0x000000, 0x605020, 0x2e95d3, 0x882255},
		Heat:       scale(64, 0xd9c3e3, 0xb58ac6, 0x8a57a3, 0x5d2f7a, 0x361250, 0x1c0530),
		Change:     scale(65, 0x00407f, 0x3a7fc1, 0x939393, 0xc8701e, 0x8a3800),
	}
	dark = Theme{
		Background: 0x15181c,
		Text:       0xe6e6e6,
		Faint:      0xa0a4aa,
		Grid:       0x30343a,
		Band:       0x454a52,
		Limit:      0xff5c6c,
		Holds:      0x2cc295,
		Lines:      []Colour{0x56b4e9, 0xff8a3d, 0x2cc295, 0xe08fbf, 0xf2f2f2, 0xe6b400, 0x4f7dff, 0xf0e442},
		Heat:       scale(64, 0x4d3560, 0x74498f, 0x9e6cb8, 0xc598da, 0xe4c9f0, 0xfbf2ff),
		Change:     scale(65, 0x9fd0ff, 0x4a90d9, 0x6a6f76, 0xd9822b, 0xffc07a),
	}
)

// Themes are the themes by name.
var Themes = map[string]*Theme{"light": &light, "dark": &dark}

// Colours returns the theme with the name in Theme, or else the light theme.
func (l *Looks) Colours() *Theme {
	if theme := Themes[l.Theme]; theme != nil {
		return theme
	}
	return &light
}

// scale returns n colours at equal distances along a scale of a few colours.
func scale(n int, along ...Colour) (all []Colour) {
	for i := range n {
		all = append(all, At(along, float64(i)/float64(n-1)))
	}
	return all
}

// At returns the colour at a place on a scale of colours. Part is the place, from 0 to 1.
func At(scale []Colour, part float64) Colour {
	at := min(max(part, 0), 1) * float64(len(scale)-1)
	i := min(int(at), len(scale)-2)
	return scale[i+1].Mixed(at-float64(i), scale[i])
}

// dashes are patterns that distinguish series in print. A pattern is the lengths in pixels of
// strokes and gaps in turn, and a pattern without lengths is a full line.
var dashes = [][]float64{{}, {9, 4}, {3, 3}, {11, 4, 3, 4}, {16, 4}, {5, 3}, {11, 3, 3, 3, 3, 3}, {1.5, 2}}

// lineStyles are the styles of common lines by name, which are the same in all charts. The maximum
// is an area, or strokes without lines between them.
var lineStyles = map[string]Style{
	"p50":    {Colour: 2, Dashes: []float64{3, 3}},
	"p90":    {Colour: 5, Dashes: []float64{11, 4, 3, 4}},
	"p95":    {Colour: 6, Dashes: []float64{5, 3}},
	"p99":    {Colour: 0, Dashes: []float64{}},
	"p99.9":  {Colour: 1, Dashes: []float64{9, 4}},
	"p99.99": {Colour: 7, Dashes: []float64{16, 4}},
	"max":    {Colour: 4, Dashes: []float64{}, Area: true},
}

// StyleOf returns the style of a line by its name. All are the names of all lines of the chart.
func StyleOf(line string, all []string) Style {
	if style, known := lineStyles[line]; known {
		return style
	}
	n := slices.Index(all, line) + 3
	return Style{Colour: n % len(light.Lines), Dashes: dashes[n%len(dashes)]}
}

// A Style is the style of a line.
type Style struct {
	Colour int // index in the Lines of the theme
	Dashes []float64
	Area   bool // the line is the upper edge of a pale area
}

// Styles returns the styles of series, by series and line. Groups has the group of each series, and
// lines the names of the lines that each series has. The lines of a single series have the styles
// of their names. Otherwise a colour means a series, or a group of several series. Dashes
// distinguish lines of the same colour.
func Styles(groups, lines []string) (all [][]Style) {
	colours := len(light.Lines)
	first, members := map[string]int{}, map[string]int{}
	for _, group := range groups {
		if _, found := first[group]; !found {
			first[group] = len(first)
		}
	}
	grouped := len(first) > 1 && len(first) < len(groups)
	for i, group := range groups {
		styles := make([]Style, max(len(lines), 1))
		colour, dash := i, i+3*(i/colours)
		if grouped {
			colour, dash = first[group], members[group]
		}
		for n := range styles {
			style := Style{Colour: colour % colours, Dashes: dashes[dash%len(dashes)]}
			if len(lines) > 1 {
				named := StyleOf(lines[n], lines)
				style.Area = named.Area
				switch {
				case len(groups) == 1:
					style = named
				case !grouped:
					style.Dashes = named.Dashes
				case n > 0 && !named.Area:
					style.Dashes = dashes[(dash*len(lines)+n)%len(dashes)]
				}
			}
			styles[n] = style
		}
		members[group]++
		all = append(all, styles)
	}
	return all
}
