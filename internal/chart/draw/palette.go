package draw

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
)

// colours are the colours of a theme. Lines differ in colour, also for colour-blind readers, and in
// dashes, for print.
type colours struct {
	background, text, faint, grid, band, limit color.Color
	lines                                      []color.Color
	heat                                       []color.RGBA // from few to many
	change                                     []color.RGBA // from less to more: grey in the middle
}

func rgb(hex uint32) color.RGBA {
	return color.RGBA{uint8(hex >> 16), uint8(hex >> 8), uint8(hex), 255}
}

func rgbs(hex ...uint32) (all []color.RGBA) {
	for _, h := range hex {
		all = append(all, rgb(h))
	}
	return all
}

func anyColours(all []color.RGBA) (list []color.Color) {
	for _, c := range all {
		list = append(list, c)
	}
	return list
}

// The lines come from the palette of Okabe and Ito (Color Universal Design, 2008). Colours that are
// too light for white paper are darker here, and yellow is wine red: each line and each colour of a
// heat map has a contrast of at least 3:1 against the background (TestContrast). The heat scales go
// in one direction of lightness, so that they can be printed grey.
var themes = map[Theme]colours{
	Light: {
		background: rgb(0xffffff), text: rgb(0x222222), faint: rgb(0x666666), grid: rgb(0xe4e4e4), band: rgb(0xd6d6d6),
		limit:  rgb(0xb00020),
		lines:  anyColours(rgbs(0x0072b2, 0xd55e00, 0x009e73, 0xc56a9a, 0x000000, 0x605020, 0x2e95d3, 0x882255)),
		heat:   rgbs(0x6a9a3a, 0x2f9180, 0x2b7f9c, 0x35609f, 0x44337f, 0x33124f, 0x1a0526),
		change: rgbs(0x00407f, 0x3a7fc1, 0x939393, 0xc8701e, 0x8a3800),
	},
	Dark: {
		background: rgb(0x15181c), text: rgb(0xe6e6e6), faint: rgb(0xa0a4aa), grid: rgb(0x30343a), band: rgb(0x454a52),
		limit:  rgb(0xff5c6c),
		lines:  anyColours(rgbs(0x56b4e9, 0xff8a3d, 0x2cc295, 0xe08fbf, 0xf2f2f2, 0xe6b400, 0x4f7dff, 0xf0e442)),
		heat:   rgbs(0x5b62c4, 0x2b89a8, 0x3fafa0, 0x7bcc8c, 0xc7e69b, 0xf6f2c0),
		change: rgbs(0x9fd0ff, 0x4a90d9, 0x6a6f76, 0xd9822b, 0xffc07a),
	},
}

// colours returns the colours of the picture's theme.
func (p *Picture) colours() colours {
	if theme, ok := themes[p.Theme]; ok {
		return theme
	}
	return themes[Light]
}

// dashes are lengths, in points, of strokes and gaps.
var dashes = [][]vg.Length{
	nil,
	{7, 3},
	{2, 2},
	{8, 3, 2, 3},
	{12, 3},
	{4, 2},
	{8, 2, 2, 2, 2, 2},
	{1, 1.5},
}

// A style is how a line is drawn. From the ninth line on, when the colours begin anew, lines have
// other dashes than those of the same colour before, and marks on them.
type style struct {
	colour color.Color
	index  int // of the colour
	dashes []vg.Length
	marked bool
}

// A stylist knows the style of each line of each series.
type stylist struct {
	*colours
	lines int // of each series
	// place is the index of the colour of each series, and among that of the dashes.
	place []struct{ colour, among int }
	// grouped is set if several series share a colour.
	grouped bool
}

// stylesFor returns the styles of series in groups, each with so many lines. One series has a
// colour for each of its lines. Series of several groups have the colour of their group. Otherwise
// each series has its own. Dashes distinguish lines of one colour.
func (c *colours) stylesFor(groups []string, lines int) *stylist {
	st := &stylist{colours: c, lines: lines}
	first, members := map[string]int{}, map[string]int{}
	for _, group := range groups {
		if _, found := first[group]; !found {
			first[group] = len(first)
		}
	}
	st.grouped = len(first) > 1 && len(first) < len(groups)
	for i, group := range groups {
		place := struct{ colour, among int }{i, i + 3*(i/len(c.lines))}
		if st.grouped {
			place.colour, place.among = first[group], members[group]
			members[group]++
		}
		st.place = append(st.place, place)
	}
	return st
}

func (s *stylist) of(series, line int) style {
	colour, dash := s.place[series].colour, s.place[series].among
	switch {
	case len(s.place) == 1:
		colour, dash = line, line
	case s.lines > 1 && s.grouped:
		dash = dash*s.lines + line
	case s.lines > 1:
		dash = line // as the legend has it
	}
	n := colour % len(s.colours.lines)
	return style{s.colours.lines[n], n, dashes[dash%len(dashes)], colour >= len(s.colours.lines)}
}

// heatAt returns the colour of a heat map at a part of the scale, from 0 to 1.
func (c *colours) heatAt(part float64) color.RGBA { return along(c.heat, part) }

// changeAt is the same for a scale of ratios.
func (c *colours) changeAt(part float64) color.RGBA { return along(c.change, part) }

// along returns the colour at a part of a scale.
func along(scale []color.RGBA, part float64) color.RGBA {
	at := math.Min(math.Max(part, 0), 1) * float64(len(scale)-1)
	i := min(int(at), len(scale)-2)
	low, high, f := scale[i], scale[i+1], at-float64(i)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + (float64(b)-float64(a))*f)) }
	return color.RGBA{mix(low.R, high.R), mix(low.G, high.G), mix(low.B, high.B), 255}
}
