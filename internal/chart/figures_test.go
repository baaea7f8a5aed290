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
	p.Limits = []Limit{{Percentile: 99, Value: 300}}
	p.Worst = []Moment{{Line: "p50"}, {Line: "max"}}
	parts := p.FiguresOf()
	if len(parts) != 3 {
		t.Fatalf("%d charts", len(parts))
	}
	for n, want := range []struct{ low, high, rise float64 }{{70, 140, 18}, {440, 5500, 4100}, {150, 250, 2}} {
		part := parts[n]
		if part.Picture.Low < want.low || part.Picture.High > want.high {
			t.Errorf("chart %d from %v to %v, want a part of %v to %v", n, part.Picture.Low, part.Picture.High, want.low, want.high)
		}
		share := want.rise / (part.Picture.High - part.Picture.Low)
		if steep := share > 0.2; steep != (n < 2) {
			t.Errorf("chart %d: %v is %.0f%% of the axis", n, want.rise, 100*share)
		}
		if part.Picture.Worst[0].Elsewhere != (n != 0) || part.Picture.Worst[1].Elsewhere != (n != 1) || len(part.Picture.Limits) != n/2 {
			t.Errorf("chart %d: %+v, limits %v", n, part.Picture.Worst, part.Picture.Limits)
		}
	}
	p.High = 10
	if p.FiguresOf() != nil {
		t.Error("an axis that was asked for is not that of all")
	}
}
