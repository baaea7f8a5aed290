package draw

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"gonum.org/v1/plot/vg"

	"hdrkit/internal/chart"
)

// TestLanes: phases have the lanes and bars of the golden file, which the tests of the page's
// script read, too. Bars are in pixels.
func TestLanes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../testdata/phases.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Name            string
		From, To, Width float64
		Phases          []chart.Phase
		Lanes           []struct {
			Name string
			Bars [][2]float64
		}
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, test := range all {
		p := chart.New(chart.Timeline)
		p.Time.Absolute = true // otherwise the axis may begin at 0
		p.Series = []chart.Series{{Lines: []chart.Line{{Points: []chart.Point{{Start: test.From, End: test.To}}}}}}
		p.Events.Phases = test.Phases
		pn := &panel{
			picture: p,
			what:    chart.Timeline.Chart,
			frame:   vg.Rectangle{Max: vg.Point{X: vg.Length(test.Width) * pixel, Y: 100 * pixel}},
			x:       ruler{low: test.From, high: test.To},
		}
		lanes := pn.lanes()
		if len(lanes) != len(test.Lanes) {
			t.Errorf("%s: %d lanes, want %d", test.Name, len(lanes), len(test.Lanes))
			continue
		}
		for n, want := range test.Lanes {
			bars := pn.bars(lanes[n].Spans, 0, pixel)
			if lanes[n].Name != want.Name || len(bars) != len(want.Bars) {
				t.Errorf("%s: lane %d is %s, with %d bars", test.Name, n, lanes[n].Name, len(bars))
				continue
			}
			for i, bar := range bars {
				left, right := float64(bar.Min.X/pixel), float64(bar.Max.X/pixel)
				if math.Abs(left-want.Bars[i][0]) > 1e-6 || math.Abs(right-want.Bars[i][1]) > 1e-6 {
					t.Errorf("%s: %s has a bar from %v to %v, want %v", test.Name, want.Name, left, right, want.Bars[i])
				}
			}
		}
	}
}
