package draw

import (
	"bytes"
	"fmt"
	"regexp"
	"testing"

	"hdrkit/internal/chart"
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
