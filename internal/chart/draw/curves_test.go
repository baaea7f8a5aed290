package draw

import (
	"testing"

	"gonum.org/v1/plot/vg"

	"hdrkit/internal/chart"
)

// TestFoot: a curve comes up from the edge where its values are lower than the axis shows, and does
// not stand at its lowest value.
func TestFoot(t *testing.T) {
	t.Parallel()
	pn := new(panel)
	pn.frame.Max = vg.Point{X: 100, Y: 100}
	pn.x.high = 1
	pn.y = ruler{low: 0.9, high: 1000, log: true, lowest: 1, zero: 1}
	points := []chart.Point{{Start: 0, Value: 0.01}, {Start: 0.08, Value: 0.01}, {Start: 0.08, Value: 1}, {Start: 1, Value: 10}}
	path := pn.curvePath(points)
	if len(path) != 3 || path[0] != (vg.Point{X: 8, Y: 0}) || path[1].X != 8 || path[1].Y <= 0 || path[2].X != 100 {
		t.Errorf("%v", path)
	}
	pn.y.zero = 0.5 // the axis has a place for zeros
	points[0].Value = 0
	points[1].Value = 0
	if path := pn.curvePath(points); len(path) != len(points) || path[0].X != 0 {
		t.Errorf("with zeros: %v", path)
	}
}
