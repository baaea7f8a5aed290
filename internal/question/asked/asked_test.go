package asked

import (
	"slices"
	"testing"
)

// TestParsePercentiles: max is percentile 100, and each one counts once.
func TestParsePercentiles(t *testing.T) {
	all, err := ParsePercentiles("50, p99,100,max,50.0")
	if want := []float64{50, 99, 100}; err != nil || !slices.Equal(all, want) {
		t.Errorf("%v, not %v: %v", all, want, err)
	}
}

// TestParseFigures: each figure counts once, so that no two columns have one name.
func TestParseFigures(t *testing.T) {
	f, err := ParseFigures("50,p99,99,max,100,over(20ms),over(20ms),over(20us)")
	if want := []float64{50, 99, 100}; err != nil || !slices.Equal(f.Percentiles, want) {
		t.Errorf("%v, not %v: %v", f.Percentiles, want, err)
	}
	if len(f.Shares) != 2 {
		t.Errorf("%v", f.Shares)
	}
}
