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
