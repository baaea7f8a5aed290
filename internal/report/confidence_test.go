package report

import (
	"math"
	"testing"

	"hdrkit/hdrlog/confidence"
	"hdrkit/output"
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
		c := FigureChange{Comparison: confidence.Comparison{Ratio: test.ratio, Low: test.low, High: test.high}, Significant: test.significant}
		if got, _ := c.Text(); got != test.want {
			t.Errorf("%v in [%v, %v] is %q, want %q", test.ratio, test.low, test.high, got, test.want)
		}
	}
}

// TestNext: the text of a verdict says what such runs prove beyond a bound, and what more would.
func TestNext(t *testing.T) {
	t.Parallel()
	runs := func(values ...float64) (all []confidence.RunFigure) {
		for _, v := range values {
			all = append(all, confidence.RunFigure{Value: v})
		}
		return all
	}
	several := &Change{level: 95, Before: make([]*output.Summary, 3), After: make([]*output.Summary, 3)}
	calm := confidence.CompareRuns(runs(10, 10.1, 10.2), runs(11, 11.2, 11.1), 95)
	single := calm
	single.Seconds = 120
	for _, test := range []struct {
		c       *Change
		of      confidence.Comparison
		bound   float64
		atLeast bool
		want    string
	}{
		{several, calm, 1.1, false, "3 + 3 runs like these prove +13.2%; 6 + 6 would prove +11.9%"},
		{several, calm, 0.9, true, "3 + 3 runs like these prove -12.6%; 6 + 6 would prove -11.5%"},
		{&Change{level: 95}, single, 1.1, false, "Runs as long as these prove +13.2%; four times as long, +11.6%"},
	} {
		if got := test.c.Next(test.of, test.bound, test.atLeast); got != test.want {
			t.Errorf("bound %v: %q, want %q", test.bound, got, test.want)
		}
	}
}
