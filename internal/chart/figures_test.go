package chart

import (
	"math"
	"testing"
)

// TestFiguresOf proves that each figure of runs has an axis of its own, on which a rise by 18% is a
// fifth of its height or more, and that noise of a percent is none.
func TestFiguresOf(t *testing.T) {
	t.Parallel()
	line := func(name string, values ...float64) Line {
		l := Line{Name: name}
		for n, v := range values {
			l.Points = append(l.Points, Point{Start: float64(n), Value: v})
		}
		return l
	}
	p := New(Trend)
	p.Series = []Series{{Lines: []Line{
		line("p50", 100, 101, 100, 118, 118),
		line("max", 1000, 5000, math.NaN(), 1200, 900),
		line("p99", 200, 201, 200, 199, 200),
	}}}
	p.Values.Limits = []Limit{{Percentile: 99, Value: 300}}
	p.Events.Worst = []Moment{{Line: "p50"}, {Line: "max"}}
	parts := p.LineFacets()
	if len(parts) != 3 {
		t.Fatalf("%d charts", len(parts))
	}
	for n, want := range []struct{ low, high, rise float64 }{{70, 140, 18}, {440, 5500, 4100}, {150, 250, 2}} {
		part := parts[n]
		if part.Picture.Values.Low < want.low || part.Picture.Values.High > want.high {
			t.Errorf("chart %d from %v to %v, want a part of %v to %v", n, part.Picture.Values.Low, part.Picture.Values.High, want.low, want.high)
		}
		share := want.rise / (part.Picture.Values.High - part.Picture.Values.Low)
		if steep := share > 0.2; steep != (n < 2) {
			t.Errorf("chart %d: %v is %.0f%% of the axis", n, want.rise, 100*share)
		}
		if part.Picture.Events.Worst[0].Elsewhere != (n != 0) || part.Picture.Events.Worst[1].Elsewhere != (n != 1) || len(part.Picture.Values.Limits) != n/2 {
			t.Errorf("chart %d: %+v, limits %v", n, part.Picture.Events.Worst, part.Picture.Values.Limits)
		}
	}
	p.Values.High = 10
	if p.LineFacets() != nil {
		t.Error("an axis that was asked for is not that of all")
	}
}
