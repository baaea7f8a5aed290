package draw

import (
	"math"
	"strings"
	"testing"

	"hdrkit/internal/chart"
	"hdrkit/internal/report"
)

// TestEffectTicks proves that an axis of changes has its middle at no change, has room for all
// intervals that end, and has labels that do not depend on rounding.
func TestEffectTicks(t *testing.T) {
	t.Parallel()
	for want, effects := range map[string][]report.Effect{
		"-15% -10% -5% 0% +5% +10% +15% +20%":           {{Ratio: 1.1, Low: 1.05, High: 1.12, Proven: true}},
		"-80% -50% 0% ×2 ×5":                            {{Ratio: 1, Low: 0.2, High: 5}},
		"-40% -20% 0% +20% +40% +60% +80% +100%":        {{Ratio: 0.6, Low: 0.5, High: 0.7, Proven: true}},
		"-90% -80% -50% 0% ×2 ×5 ×10":                   {{Ratio: 10, Low: 8, High: math.Inf(1), Proven: true}},
		"-98% -95% -90% -80% -50% 0% ×2 ×5 ×10 ×20 ×50": {{Ratio: 1e9, Low: 1, High: math.Inf(1), Proven: true}},
	} {
		low, high := effectRange(effects)
		var labels []string
		for _, tick := range effectTicks(low, high, 9) {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, " "); got != want || math.Abs(low*high-1) > 1e-9 {
			t.Errorf("%v: %q from %v to %v, want %q", effects, got, low, high, want)
		}
	}
}

// TestForest proves that a report of two logs has a row for each change, in order, above the heat
// maps.
func TestForest(t *testing.T) {
	t.Parallel()
	p := *pictures(t)["comparison"]
	p.Looks.Height += chart.ForestHeight(2)
	p.Comparison.Effects = []report.Effect{
		{Tag: "read", Figure: "p50", Ratio: 1, Low: 0.9, High: 1.1, Text: "~0%"},
		{Tag: "write", Figure: "p99", Ratio: 1.9, Low: 1.8, High: 2, Proven: true, Worse: true, Text: "+90.0%"},
	}
	places := map[string]float64{}
	for _, box := range texts(t, &p) {
		places[box.text] = box.bottom
	}
	order := []string{"read  p50", "write  p99", "0%", "before"}
	for n, text := range order {
		if places[text] == 0 || n > 0 && places[text] >= places[order[n-1]] {
			t.Errorf("%q is at %v", text, places[text])
		}
	}
	for _, row := range [][2]string{{"read  p50", "~0%"}, {"write  p99", "+90.0%"}} {
		if math.Abs(places[row[0]]-places[row[1]]) > 3 {
			t.Errorf("%q are not beside each other", row)
		}
	}
}
