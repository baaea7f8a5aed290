package chart_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"hdrkit/internal/chart"
)

// TestRanIn: logs run as long in the columns of a heat map as the golden file says, which the page
// reads, too.
func TestRanIn(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/ran.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Name     string
		From, To float64
		Columns  int
		Ran      map[string][][2]int64
		Lengths  []float64
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, test := range all {
		var series []chart.Series
		for group := range test.Ran {
			series = append(series, chart.Series{Group: group})
		}
		g := chart.Grid{From: test.From, To: test.To, Columns: test.Columns, Ran: test.Ran}
		if got := g.RanIn(series); !slices.Equal(got, test.Lengths) {
			t.Errorf("%s: %v, want %v", test.Name, got, test.Lengths)
		}
	}
}
