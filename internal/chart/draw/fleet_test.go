package draw

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"slices"
	"strings"
	"testing"

	"hdrkit/internal/chart"
	"hdrkit/output"
)

// fleetOf returns a picture of so many logs over 10 s, of which number 3 is three times as high.
func fleetOf(logs int) *chart.Picture {
	p := chart.New(chart.Fleet)
	p.Precision.Aggregate = 1000
	p.Values.Unit = "ms"
	whole := make(map[string]float64)
	for n := range logs {
		label, value := fmt.Sprintf("node%03d", n), 1.0
		if n == 3 {
			value = 3
		}
		var points []chart.Point
		for i := range 10 {
			if n != 4 || i < 5 { // which ends early
				points = append(points, chart.Point{Start: float64(1000 * i), End: float64(1000*i + 1000), Value: value})
			}
		}
		whole[label] = value + float64(logs-n)/1e4
		p.Series = append(p.Series, chart.Series{Label: label, Lines: []chart.Line{{Name: "p99", Points: points}}})
	}
	p.Fleet = p.RatiosOf("p99", whole, nil)
	return p
}

// TestFleet proves that the highest log stands at the top, with its value, and in the colour of its
// ratio, and that a time without values has the background's.
func TestFleet(t *testing.T) {
	t.Parallel()
	p := fleetOf(10)
	p.Texts.Findings = []output.Finding{{Kind: "gap", Weight: output.Warns, Sentence: "A gap."}, {Kind: "outlier", Weight: output.Warns, Sentence: "node003 is slow."}}
	var found []string
	for _, box := range texts(t, p) {
		if strings.HasPrefix(box.text, "node0") {
			found = append(found, box.text)
		}
	}
	if len(found) != 11 || found[0] != "node003 is slow." || !slices.IsSorted(found[2:]) {
		t.Errorf("%q", found)
	}
	if !slices.Contains(found, "node003  3.001 ms") || slices.Index(found, "node003  3.001 ms") != len(found)-10 {
		t.Errorf("node003 is not the first row: %q", found)
	}
	var file bytes.Buffer
	if err := WritePNG(&file, p); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&file)
	if err != nil {
		t.Fatal(err)
	}
	has := func(want chart.Colour) (dots int) {
		r, g, b, _ := want.RGBA()
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() / 2 * 2 {
				if red, green, blue, _ := img.At(x, y).RGBA(); red == r && green == g && blue == b {
					dots++
				}
			}
		}
		return dots
	}
	colours := p.Looks.Colours().Change
	high, usual := has(chart.At(colours, p.Fleet.Part(3))), has(chart.At(colours, 0.5))
	if high == 0 || math.Abs(float64(usual)/float64(high)-8.5) > 0.2 {
		t.Errorf("%d dots of the high row, and %d of the others, of which one ends after half of the time", high, usual)
	}
}

// TestManyRows proves that of very many logs those with the highest values have a row, and that as
// many have a name as there is room.
func TestManyRows(t *testing.T) {
	t.Parallel()
	p := fleetOf(maxRows + 100)
	names, notes := 0, 0
	last := math.Inf(1)
	for _, box := range texts(t, p) {
		switch {
		case box.text == "Of 500 tags, the 400 with the highest p99 have a row.":
			notes++
		case strings.HasPrefix(box.text, "node"):
			names++
			if box.top > last {
				t.Errorf("%s overlaps the name above", box.text)
			}
			last = box.bottom
		}
	}
	if names < 30 || notes != 1 {
		t.Errorf("%d names, %d notes", names, notes)
	}
}
