package report_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/internal/report"
	"hdrkit/internal/sides"
	"hdrkit/internal/sides/sidestest"
)

// TestEffects proves that changes come in the order of tags and percentiles, the rate last, and
// that of too many the surest stay.
func TestEffects(t *testing.T) {
	t.Parallel()
	pairs := []sides.Pair{
		sidestest.Pair(t, "read", map[float64]float64{50: 1.2, sidestest.Rate: 0.5}, 0.01),
		sidestest.Pair(t, "write", map[float64]float64{99: 0.6}, 0.01),
	}
	for _, p := range pairs {
		p.Before.Scale = hdrlog.Scale{Ratio: 1000, Unit: "us"}
		p.After.Scale = hdrlog.Scale{Ratio: 1000, Unit: "us"}
	}
	pairs = slices.Insert(pairs, 0, sides.Pair{Tag: []byte("gone"), Before: pairs[0].Before}) // no change
	sides.Correct(pairs, []float64{50, 90, 99, 99.9})
	table := &report.Table{Percentiles: []float64{50, 90, 99, 99.9}}
	for most, want := range map[int][]string{
		20: {"read p50 worse +20% (+17..+23)", "read p90 ~+0.0% (-2.2..+2.3)", "read p99 ~+0.0% (-2.2..+2.3)", "read throughput worse -50.0% (-51.1..-48.9)",
			"write p50 ~+0.0% (-2.2..+2.3)", "write p90 ~+0.0% (-2.2..+2.3)", "write p99 better -40.0% (-41.3..-38.6)", "write throughput ~+0.0% (-2.2..+2.3)"},
		3: {"read p50 worse +20% (+17..+23)", "read throughput worse -50.0% (-51.1..-48.9)", "write p99 better -40.0% (-41.3..-38.6)"},
	} {
		effects, all := table.Effects(pairs, most)
		var got []string
		for _, e := range effects {
			word := ""
			if e.Proven && e.Worse {
				word = "worse "
			} else if e.Proven {
				word = "better "
			}
			got = append(got, strings.TrimSpace(fmt.Sprint(e.Tag, " ", e.Figure, " ", word, e.Text)))
		}
		if !slices.Equal(got, want) || all != 8 {
			t.Errorf("%d: %d: %q, want %q", most, all, got, want)
		}
	}
}

// TestSigns: a cell agrees with the headline.
func TestSigns(t *testing.T) {
	t.Parallel()
	pairs := []sides.Pair{sidestest.Pair(t, "read", map[float64]float64{50: 1.1}, 0.04)}
	sides.Correct(pairs, []float64{50, 90, 99, 99.9})
	table := &report.Table{Percentiles: []float64{50, 90, 99.9}, Tests: true}
	_, rows := table.Changes(pairs[0])
	want := []string{"+0.0%", "~+0% (-9..+9) p=1 n=3+3", "+0.0%", "?+0.0%", "~+0% (-9..+9) p=1 n=3+3", "!+10% (+0..+20) p=0.043 n=3+3", "~+0% (-9..+9) p=1 n=3+3", "-", "?+0.0%"}
	for n, text := range rows[2] {
		if text != want[n] {
			t.Errorf("cell %d: %q, want %q", n, text, want[n])
		}
	}
}
