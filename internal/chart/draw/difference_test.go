package draw

import (
	"image/color"
	"math"
	"math/rand"
	"testing"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/collect"
	"hdrkit/internal/chart/page/pagetest"
)

// TestChanges compares the cells of a difference with the ratios of the numbers of raw values. The
// intervals of one log are longer than those of the other.
func TestChanges(t *testing.T) {
	t.Parallel()
	const columns, rows, low, high = 12, 25, 1e3, 1e9
	c := &collect.Collector{Options: collect.Options{MaxWindows: 1 << 11, Ratio: 1}}
	random := rand.New(rand.NewSource(5))
	counts := [2][columns * (rows + 1)]float64{}
	for side, length := range []int{1, 2} { // a column has two seconds
		for start := 0; start < 2*columns; start += length {
			var values []int64
			for range random.Intn(60) {
				// The middle of a row, or 0, which has a row of its own.
				row, v := 0, 0.0
				if random.Intn(20) > 0 {
					row = 1 + int(random.ExpFloat64()*4)%rows
					v = low * math.Pow(high/low, (float64(row)-0.5)/rows)
				}
				values = append(values, int64(v))
				counts[side][start/2*(rows+1)+row]++
			}
			var interval collect.Interval
			pagetest.Measure(c, float64(start), float64(length), pagetest.HistogramOf(t, 3, values), &interval)
			group := []string{"before", "after"}[side]
			if err := c.Add(group, group+" read", &interval); err != nil {
				t.Fatal(err)
			}
		}
	}
	p, err := c.Picture(chart.New(chart.Heatmap), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := p.Compared()
	if !ok || len(before) != 1 || len(after) != 1 || after[0].Tag() != "read" {
		t.Fatalf("%d and %d series", len(before), len(after))
	}
	a := chart.Grid{To: 2000 * columns, Low: low, High: high, Columns: columns, Rows: rows}
	b := a
	a.Fill(before)
	b.Fill(after)
	look := &pen{Theme: chart.Themes["light"]}
	kinds := map[string]int{}
	for i, cell := range look.changeCells(a.Rate, b.Rate) {
		before, after := counts[0][i], counts[1][i]
		kind, at := "both", 0.0
		switch {
		case before == 0 && after == 0:
			kind = "none"
		case before == 0:
			kind, at = "after", 1
		case after == 0:
			kind, at = "before", 0
		default:
			at = 0.5 + math.Log2(after/before)/6 // eight times is the end of the scale
		}
		kinds[kind]++
		want := color.NRGBA{}
		if kind != "none" {
			want = pale(chart.At(look.Change, at), 1)
		}
		near := func(a, b uint8) bool { return max(a, b)-min(a, b) <= 1 }
		got := cell.colour
		if !near(got.R, want.R) || !near(got.G, want.G) || !near(got.B, want.B) || got.A != want.A || cell.striped != (kind == "before" || kind == "after") {
			t.Errorf("cell %d, %v values before and %v after: %+v, want %v", i, before, after, cell, want)
		}
	}
	for _, kind := range []string{"both", "none", "before", "after"} {
		if kinds[kind] < 10 {
			t.Errorf("only %d cells with values in %s", kinds[kind], kind)
		}
	}
}

// TestDifferenceMarks proves that each log has its worst moments, and the difference none.
func TestDifferenceMarks(t *testing.T) {
	t.Parallel()
	p := *pictures(t)["difference"]
	p.Events.Worst = []chart.Moment{{Start: 1000, End: 2000, Peak: 1000, Value: 5e6, Label: "after read"}, {Start: 9000, End: 10_000, Peak: 9000, Value: 4e6, Label: "before read"}}
	at := map[string][]float64{}
	for _, box := range texts(t, &p) {
		at[box.text] = append(at[box.text], box.bottom)
	}
	heights := map[string]float64{}
	for _, title := range []string{"before", "after", "after / before"} {
		if len(at[title]) != 1 {
			t.Fatalf("no title %q", title)
		}
		heights[title] = at[title][0]
	}
	if one := at["1"]; len(one) != 1 || one[0] > heights["after"] || one[0] < heights["after / before"] {
		t.Errorf("the first mark is at %v, the titles at %v", one, heights)
	}
	if two := at["2"]; len(two) != 3 || two[0] > heights["before"] || two[0] < heights["after"] { // and in both scales
		t.Errorf("the second mark is at %v, the titles at %v", two, heights)
	}
	// A small picture has room for the titles of both scales.
	p.Looks.Width, p.Looks.Height = 600, 330
	boxes := map[string]textBox{}
	for _, box := range texts(t, &p) {
		boxes[box.text] = box
	}
	if title, chart := boxes["times as many"], boxes["after / before"]; title.text == "" || title.bottom > chart.bottom+4 {
		t.Errorf("the title of the scale %+v is above its chart %+v", title, chart)
	}
}
