// Package sidestest makes pairs of sides for tests.
package sidestest

import (
	"testing"

	"hdrkit/hdrlog/confidence"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/sides"
	"hdrkit/output"
)

// Pair returns a pair of three runs a side, whose figures vary by a part, which is the spread. The
// figures after are those before times a factor, which is 1 if it is not given.
func Pair(t *testing.T, tag string, factors map[float64]float64, spread float64) sides.Pair {
	t.Helper()
	h, err := histogram.New(histogram.Layout{Lowest: 1, Digits: 3})
	if err != nil {
		t.Fatal(err)
	}
	h.RecordN(1000, 99_000)
	h.RecordN(2000, 1000)
	s := &output.Summary{Tag: []byte(tag), Histogram: h, Period: 60_000}
	after := *s
	c := sides.CompareRuns(sides.Pair{Before: s, After: &after}, []*output.Summary{s, s, s},
		[]*output.Summary{&after, &after, &after}, nil, 95)
	change := func(value, factor float64) *sides.FigureChange {
		if factor == 0 {
			factor = 1
		}
		var before, after []confidence.RunFigure
		for _, by := range []float64{1 - spread, 1, 1 + spread} {
			before = append(before, confidence.RunFigure{Value: value * by})
			after = append(after, confidence.RunFigure{Value: value * by * factor})
		}
		return &sides.FigureChange{Comparison: confidence.CompareRuns(before, after, 95)}
	}
	for _, p := range []float64{50, 90, 99} {
		c.Percentiles[p] = change(1000+p, factors[p])
	}
	c.Percentiles[99.9] = &sides.FigureChange{Comparison: confidence.CompareRuns(nil, nil, 95)}
	c.Rate, c.Mean = change(100, factors[Rate]), change(1000, factors[Mean])
	return sides.Pair{Tag: []byte(tag), Before: s, After: &after, Change: c}
}

// Keys of factors for figures that are no percentiles.
const (
	Rate = -1
	Mean = -2
)
