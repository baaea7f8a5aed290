package report

import (
	"math"
	"testing"

	"hdrkit/hdrlog/confidence"
	"hdrkit/internal/sides"
)

func TestChangeText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		ratio, low, high float64
		significant      bool
		want             string
	}{
		{1.2, 1.17, 1.23, true, "+20% (+17..+23)"},
		{0.98, 0.97, 0.99, true, "-2.0% (-3.0..-1.0)"},
		{1.17, 0.97, 1.3, false, "~+17% (-3..+30)"},
		{1.0001, 0.8, 1.2, false, "~+0% (-20..+20)"},
		{0.9999, 0.8, 1.2, false, "~+0% (-20..+20)"},
		{1.7, 1.05, math.Inf(1), true, "+70% (+5..no end)"},
		{0.7, 0, 0.95, true, "-30% (-100..-5)"},
		{1.7, 0.95, math.Inf(1), false, "~+70% (-5..no end)"},
		{1, math.NaN(), math.NaN(), false, ""},
		{0.0004, 0.0003, 0.0005, true, "-99.96% (-99.97..-99.95)"}, // something is left
		{0.004, 0.001, 0.06, true, "-99.6% (-99.9..-94.0)"},
		{0.01, 0.001, 0.06, true, "-99.0% (-99.9..-94.0)"},
	} {
		c := sides.FigureChange{Comparison: confidence.Comparison{Ratio: test.ratio, Low: test.low, High: test.high}, Significant: test.significant}
		if got, _ := changeText(&c); got != test.want {
			t.Errorf("%v in [%v, %v] is %q, want %q", test.ratio, test.low, test.high, got, test.want)
		}
	}
}
