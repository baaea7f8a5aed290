package sides

import (
	"testing"

	"hdrkit/hdrlog/confidence"
	"hdrkit/output"
)

// TestNext: the text of a verdict says what such runs prove beyond a bound, and what more would.
func TestNext(t *testing.T) {
	t.Parallel()
	runs := func(values ...float64) (all []confidence.RunFigure) {
		for _, v := range values {
			all = append(all, confidence.RunFigure{Value: v})
		}
		return all
	}
	several := &Change{Level: 95, Before: make([]*output.Summary, 3), After: make([]*output.Summary, 3)}
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
		{&Change{Level: 95}, single, 1.1, false, "Runs as long as these prove +13.2%; four times as long, +11.6%"},
	} {
		if got := test.c.Next(test.of, test.bound, test.atLeast); got != test.want {
			t.Errorf("bound %v: %q, want %q", test.bound, got, test.want)
		}
	}
}
