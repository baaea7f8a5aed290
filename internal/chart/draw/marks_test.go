package draw

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/chart/page/pagetest"
)

// TestNumbers proves for random moments, also crowded ones and those at the edges, that each number
// stands at its moment, that none hides another, and that none hides a value that is marked.
func TestNumbers(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewSource(3))
	for round := range 200 {
		const seconds = 240
		p := pagetest.Collect(t, chart.Timeline, pagetest.Timeline(99, 100), seconds, func(i int) (string, float64, float64, []int64) {
			return "a", float64(i), 1, []int64{1000, 2000, 3000}
		})
		crowd := random.Intn(seconds)
		for range 1 + random.Intn(5) {
			at := int64(random.Intn(seconds))
			if round%2 == 0 {
				at = min(max(int64(crowd+random.Intn(8)), 0), seconds-1)
			}
			p.Events.Worst = append(p.Events.Worst, chart.Moment{Start: 1000 * at, End: 1000*at + 1000, Peak: 1000 * at, Value: float64(1000 + random.Intn(2000)), Label: "a"})
		}
		width, height := size(&p.Looks)
		canvas := &textCanvas{}
		c := &pen{Canvas: draw.NewCanvas(canvas, width, height), Theme: p.Looks.Colours(), handler: wellFormed, dpi: p.Looks.DPI}
		pn := c.linesPanel(p, p, vg.Rectangle{Max: vg.Point{X: width, Y: height}})
		pn.content.paint = func() { pn.drawNumbers(p.HasSeries) }
		drawPanels(pn)
		boxes := map[string]textBox{}
		for _, box := range canvas.boxes {
			if box.bottom > float64(pn.frame.Min.Y) && box.left > float64(pn.frame.Min.X)-20 { // no tick
				boxes[box.text] = box
			}
		}
		var centers [][2]float64
		for i, m := range p.Events.Worst {
			box, found := boxes[fmt.Sprint(i+1)]
			if !found {
				t.Fatalf("round %d: no number %d", round, i+1)
			}
			x, y := (box.left+box.right)/2, (box.bottom+box.top)/2
			if off := math.Abs(x - float64(pn.X(float64(m.Peak)))); off > 0.02*float64(pn.frame.Max.X-pn.frame.Min.X) {
				t.Errorf("round %d: number %d is %v points from its moment", round, i+1, off)
			}
			if x < float64(pn.frame.Min.X+numberRadius)-0.1 || x > float64(pn.frame.Max.X-numberRadius)+0.1 {
				t.Errorf("round %d: number %d at %v leaves the frame", round, i+1, x)
			}
			for j, other := range p.Events.Worst {
				dx, dy := math.Abs(x-float64(pn.X(float64(other.Peak)))), math.Abs(y-float64(pn.Y(other.Value)))
				if near := float64(numberRadius); dx < near && dy < near {
					t.Errorf("round %d: number %d hides the value of %d", round, i+1, j+1)
				}
			}
			for j, other := range centers {
				if near := float64(2 * numberRadius); math.Abs(x-other[0]) < near && math.Abs(y-other[1]) < near {
					t.Errorf("round %d: numbers %d and %d overlap", round, j+1, i+1)
				}
			}
			centers = append(centers, [2]float64{x, y})
		}
	}
}

// TestCut proves that an axis that ends below values says how high they are, once for each run.
func TestCut(t *testing.T) {
	t.Parallel()
	p := pagetest.Collect(t, chart.Timeline, pagetest.Timeline(100), 60, func(i int) (string, float64, float64, []int64) {
		high := map[int]int64{10: 40, 11: 119, 12: 70, 40: 55}[i]
		return "", float64(i), 1, []int64{max(high, 5)}
	})
	p.Values.Unit, p.Values.High = axis.Fixed("ms"), 20
	var cut []string
	for _, box := range texts(t, p) {
		if value, ok := strings.CutSuffix(box.text, " ms"); ok {
			cut = append(cut, value)
		}
	}
	if !slices.Equal(cut, []string{"119", "55"}) {
		t.Errorf("marked as cut: %q", cut)
	}
}
