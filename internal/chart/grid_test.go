package chart_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/collect"
	"hdrkit/internal/chart/page/pagetest"
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

// TestGrid proves that a heat map shows every value, where it was.
func TestGrid(t *testing.T) {
	t.Parallel()
	c := &collect.Collector{Options: collect.Options{MaxWindows: 1 << 11, Ratio: 1}}
	p := pagetest.Collect(t, chart.Heatmap, c, 100, func(i int) (string, float64, float64, []int64) {
		return "", float64(i), 1, append(pagetest.Latencies(int64(i), 50, 1e5), 0)
	})
	g := &chart.Grid{To: 100_000, Low: 100, High: 1e8, Columns: 50, Rows: 120}
	g.Fill(p.Series)
	sum := 0.0
	for column := range g.Columns {
		cells := g.Rate[column*(g.Rows+1) : (column+1)*(g.Rows+1)]
		if math.Abs(cells[0]-1) > 1e-9 {
			t.Errorf("column %d: %v zeros a second", column, cells[0])
		}
		for _, rate := range cells {
			sum += rate * 100 / float64(g.Columns)
		}
	}
	if math.Abs(sum-5100) > 1e-6 {
		t.Errorf("%v values, want 5100", sum)
	}
	for n := range p.Series {
		p.Series[n].Runs = 4
	}
	mean := *g
	mean.Fill(p.Series)
	for n, rate := range mean.Rate {
		if math.Abs(4*rate-g.Rate[n]) > 1e-9 {
			t.Fatalf("cell %d: the mean of four runs is %v, and all have %v", n, rate, g.Rate[n])
		}
	}
	if row := g.Row(1e5); math.Abs(row-60) > 1e-9 {
		t.Errorf("1e5 is in row %v", row)
	}
}
