package chart

import (
	"cmp"
	"math"
)

// A Scale is a logarithmic scale of colours for ratios. The ratio 1 is in its middle, and the ratio
// Most at its end.
type Scale struct {
	Title string  `json:"title"`
	Most  float64 `json:"most"`
	Ticks []Tick  `json:"ticks"`
}

// A Tick is a label on a scale of colours. Part is its place, from 0 at the beginning to 1 at the
// end.
type Tick struct {
	Part  float64 `json:"part"`
	Label string  `json:"label"`
}

// maxChange is the ratio at the end of the scale of changes. Higher ratios have the same colour.
const maxChange = 8

// ChangeScale returns the scale of colours for the difference of two heat maps: the rate of values
// after, divided by the rate before.
func ChangeScale() *Scale {
	scale := &Scale{Title: "times as many per second; stripes: in one log only", Most: maxChange}
	for _, r := range []struct {
		ratio float64
		label string
	}{{1.0 / 8, "1/8 or less"}, {1.0 / 4, "1/4"}, {1.0 / 2, "1/2"}, {1, "as many"}, {2, "2"}, {4, "4"}, {8, "8 or more"}} {
		scale.Ticks = append(scale.Ticks, Tick{ChangePart(r.ratio), r.label})
	}
	return scale
}

// ChangePart returns the place of a ratio on the scale of changes, from 0 to 1.
func ChangePart(ratio float64) float64 { return ratioPart(ratio, maxChange) }

// ratioPart returns the place of a ratio, from 0 to 1, on a scale that ends at the ratio most.
func ratioPart(ratio, most float64) float64 {
	return min(max(0.5+math.Log(ratio)/math.Log(most)/2, 0), 1)
}

// Compared returns the series of two logs whose heat maps are compared. Ok is false unless there
// are exactly two groups, and all series have windows.
func (p *Picture) Compared() (before, after []Series, ok bool) {
	for _, s := range p.Series {
		switch {
		case s.Group == "" || len(s.Windows) == 0:
			return nil, nil, false
		case s.Group == p.Series[0].Group:
			before = append(before, s)
		case len(after) > 0 && s.Group != after[0].Group:
			return nil, nil, false
		default:
			after = append(after, s)
		}
	}
	return before, after, len(after) > 0
}

// Named returns the label of a series, or "untagged" if the label is empty.
func Named(label string) string { return cmp.Or(label, "untagged") }
