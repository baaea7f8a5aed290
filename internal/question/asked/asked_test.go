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
