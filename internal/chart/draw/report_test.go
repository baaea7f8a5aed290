package draw

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/page/pagetest"
)

// TestLevels proves that a report of many tags marks percentiles on the curves that it draws, and
// on no others.
func TestLevels(t *testing.T) {
	t.Parallel()
	own := *pictures(t)["report"]
	series := own.Series[0]
	curve := series.Curve
	own.Series, own.Summary, own.Worst, own.Limits = nil, nil, nil, nil
	for n := range 30 {
		series.Label = fmt.Sprint("tag", n)
		own.Series = append(own.Series, series)
		own.Summary = append(own.Summary, chart.Summary{Label: series.Label, Max: curve.Max(), Percentiles: []float64{valueAt(&curve, 50), valueAt(&curve, 90), valueAt(&curve, 99), valueAt(&curve, 99.9), valueAt(&curve, 99.99)}})
	}
	var svg bytes.Buffer
	if err := WriteSVG(&svg, &own); err != nil {
		t.Fatal(err)
	}
	dots := regexp.MustCompile(`<path d="M[^"]*C[^"]*" style="fill:#222222`).FindAll(svg.Bytes(), -1)
	if len(dots) != 3*chart.MostTogether {
		t.Errorf("%d percentiles are marked", len(dots))
	}
}

// TestOneValue proves that a curve of one value is not one of "1 values".
func TestOneValue(t *testing.T) {
	t.Parallel()
	p := chart.New(chart.Percentiles)
	p.Series = []chart.Series{{Curve: chart.CurveOf(pagetest.HistogramOf(t, 3, []int64{5}), 1)}}
	if !slices.ContainsFunc(texts(t, p), func(box textBox) bool { return box.text == "1 value" }) {
		t.Errorf("%v", texts(t, p))
	}
}

// TestNineTags checks that a report shows a ninth tag rather than a line that says "1 more tag".
func TestNineTags(t *testing.T) {
	for tags, line := range map[int]string{9: "tag 9", 10: "2 more tags"} {
		p := *pictures(t)["report"]
		row := p.Summary[0]
		p.Summary = nil
		for n := range tags {
			row.Label = fmt.Sprint("tag ", n+1)
			p.Summary = append(p.Summary, row)
		}
		if !slices.ContainsFunc(texts(t, &p), func(box textBox) bool { return box.text == line }) {
			t.Errorf("%d tags: %q is missing", tags, line)
		}
	}
}

// TestComparedTags proves that a report of two runs has a chart of curves for each tag, with the
// maximum of its values in the title.
func TestComparedTags(t *testing.T) {
	t.Parallel()
	own := *pictures(t)["comparison"]
	for i, s := range slices.Clone(own.Series) {
		s.Label, own.Series[i].Lines = s.Group+" write", []chart.Line{{Name: "values per second", Points: []chart.Point{{Start: 0, End: 1, Value: 7}}}}
		own.Series = append(own.Series, s)
	}
	for _, tag := range []string{"read", "write"} {
		boxes := texts(t, &own)
		i := slices.IndexFunc(boxes, func(box textBox) bool { return box.text == tag && box.bottom < 300 })
		if i < 0 || boxes[i+1].text != "max 120.3 ms" {
			t.Errorf("%s: %v", tag, boxes[max(i, 0):])
		}
	}
}

// TestLowest proves that the lowest tenth of the values does not squeeze curves.
func TestLowest(t *testing.T) {
	t.Parallel()
	p := chart.New(chart.Percentiles)
	p.LogValues = true
	for _, v := range []int64{1, 1000} {
		values := append(slices.Repeat([]int64{v}, 9), slices.Repeat([]int64{500, 2000, 50_000}, 30)...)
		p.Series = []chart.Series{{Curve: chart.CurveOf(pagetest.HistogramOf(t, 3, values), 1)}}
		if boxes := texts(t, p); slices.ContainsFunc(boxes, func(box textBox) bool { return box.text == "100" }) || !slices.ContainsFunc(boxes, func(box textBox) bool { return box.text == "500" }) {
			t.Errorf("%d: %v", v, boxes)
		}
	}
}

// TestFewValues proves that the scale of a heat map of a few values says what its darkest colour
// is.
func TestFewValues(t *testing.T) {
	t.Parallel()
	p := pagetest.Collect(t, chart.Heatmap, &chart.Collector{WindowBytes: 1 << 20}, 1, func(int) (string, float64, float64, []int64) {
		return "", 0, 0.7, []int64{1e6, 1e7, 1e7}
	})
	boxes := texts(t, p)
	if !slices.ContainsFunc(boxes, func(box textBox) bool { return box.text == "2.857" }) {
		t.Errorf("%v", boxes)
	}
}
