package draw

import (
	"bytes"
	"image/png"
	"slices"
	"testing"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/page/pagetest"
)

// phased returns a picture of a type, of 100 s, with phases.
func phased(t *testing.T, of *chart.Type, phases ...chart.Phase) *chart.Picture {
	t.Helper()
	p := pagetest.Collect(t, of, pagetest.Timeline(99, 100), 100, func(i int) (string, float64, float64, []int64) {
		return "a", float64(i), 1, []int64{1000, 2000, 3000}
	})
	p.Events.Phases = phases
	return p
}

// TestPhases: the name of a phase stands in each bar that has room, or behind one, or over the
// beginning of its lane, and no two texts overlap. Phases outside of the picture have no lane.
func TestPhases(t *testing.T) {
	t.Parallel()
	var many []chart.Phase
	for at := int64(0); at < 100_000; at += 2000 {
		many = append(many, chart.Phase{Start: at, End: at + 300, Name: "many"})
	}
	phases := append([]chart.Phase{
		{Start: 10_000, End: 30_000, Name: "wide"},
		{Start: 60_000, End: 80_000, Name: "wide"},
		{Start: 40_000, End: 40_100, Name: "short"},
		{Start: 200_000, End: 300_000, Name: "later"},
	}, many...)
	for _, of := range []*chart.Type{chart.Timeline, chart.Heatmap, chart.Throughput} {
		p := phased(t, of, phases...)
		p.Events.Marks = []chart.Mark{{Time: 20_000, Text: "deploy"}}
		counts := make(map[string]int)
		all := texts(t, p)
		for n, box := range all {
			counts[box.text]++
			for _, other := range all[:n] {
				if box.left < other.right && other.left < box.right && box.bottom < other.top-2 && other.bottom < box.top-2 {
					t.Errorf("%s: %q and %q overlap", of.Name, box.text, other.text)
				}
			}
		}
		for name, want := range map[string]int{"wide": 2, "short": 1, "many": 1, "later": 0, "deploy": 1} {
			if counts[name] != want {
				t.Errorf("%s: %q stands %d times, not %d", of.Name, name, counts[name], want)
			}
		}
		lanes := p.Lanes()
		if len(lanes) != 3 || lanes[0].Name != "wide" || len(lanes[2].Spans) != 50 {
			t.Errorf("%s: %d lanes", of.Name, len(lanes))
		}
	}
}

// TestPhasesUnnamed: phases without a lane are in the legend: those behind the first ones, and all
// of small charts.
func TestPhasesUnnamed(t *testing.T) {
	t.Parallel()
	var phases []chart.Phase
	for n, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		at := int64(n) * 10_000
		phases = append(phases, chart.Phase{Start: at, End: at + 9000, Name: name})
	}
	for facets, want := range map[bool]string{false: "Grey, too: f, g.", true: "Grey: a, b, c, d, e and 2 more."} {
		p := phased(t, chart.Timeline, phases...)
		p.Looks.Facets = facets
		if !slices.Contains(p.Footnotes(), want) {
			t.Errorf("facets %t: %q", facets, p.Footnotes())
		}
	}
}

// TestPhasesShade: what is behind the data is darker during a phase, also in a heat map.
func TestPhasesShade(t *testing.T) {
	t.Parallel()
	for _, of := range []*chart.Type{chart.Timeline, chart.Heatmap} {
		shades := make(map[bool]int)
		for _, with := range []bool{false, true} {
			p := phased(t, of, []chart.Phase{{Start: 50_000, End: 90_000, Name: "slow"}}[:map[bool]int{true: 1}[with]]...)
			var b bytes.Buffer
			if err := Write(&b, p, PNG); err != nil {
				t.Fatal(err)
			}
			picture, err := png.Decode(&b)
			if err != nil {
				t.Fatal(err)
			}
			r, g, bl, _ := p.Looks.Colours().Band.Mixed(0.4, p.Looks.Colours().Background).RGBA()
			for x := range picture.Bounds().Max.X {
				for y := range picture.Bounds().Max.Y {
					if r1, g1, b1, _ := picture.At(x, y).RGBA(); r1 == r && g1 == g && b1 == bl {
						shades[with]++
					}
				}
			}
		}
		if shades[true] < shades[false]+20_000 {
			t.Errorf("%s: %v dots are shaded", of.Name, shades)
		}
	}
}
