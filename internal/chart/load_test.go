package chart

import (
	"slices"
	"strings"
	"testing"
)

// TestLoadResults says up to which measured rate a limit holds, for rates that rise, and that have
// no order.
func TestLoadResults(t *testing.T) {
	for _, test := range []struct {
		rates, values []float64
		limit         float64
		names, want   string
	}{
		{[]float64{1000, 2000, 3000}, []float64{1, 2, 9}, 5, "abc", "p99 ≤ 5 ms holds up to 2,000/s (b) and fails from 3,000/s (c) on"},
		{[]float64{1000, 2000, 3000}, []float64{1, 2, 5}, 5, "abc", "p99 ≤ 5 ms holds at all rates, up to 3,000/s (c)"},
		{[]float64{1000, 2000, 3000}, []float64{6, 7, 9}, 5, "abc", "p99 ≤ 5 ms holds at no rate, from 1,000/s (a) on"},
		{[]float64{1000, 2000, 3000}, []float64{1, 7, 4}, 5, "abc", "p99 ≤ 5 ms holds up to 1,000/s (a) and fails from 2,000/s (b), but holds again at 3,000/s (c)"},
		{[]float64{1000, 2000, 3000}, []float64{8, 1, 2}, 5, "abc", "p99 ≤ 5 ms fails from 1,000/s (a), but holds again at 2,000/s (b)"},
		// A server that has too much load, whatever the order of runs is.
		{[]float64{1000, 3000, 2000}, []float64{1, 2, 90}, 5, "acb", "p99 ≤ 5 ms holds up to 1,000/s (a) and fails from 2,000/s (b), but holds again at 3,000/s (c)"},
		{[]float64{2000, 1000, 3000}, []float64{90, 1, 2}, 5, "bac", "p99 ≤ 5 ms holds up to 1,000/s (a) and fails from 2,000/s (b), but holds again at 3,000/s (c)"},
		{[]float64{1000, 3000, 2000}, []float64{1, 2, 90}, 0, "acb", "the highest rate is 3,000/s (c)"},
		// Runs in no order of load have that of rates.
		{[]float64{3000, 1000, 2000}, []float64{9, 1, 2}, 5, "cab", "p99 ≤ 5 ms holds up to 2,000/s (b) and fails from 3,000/s (c) on"},
		// Two runs of one rate are one load: it fails if one of them does.
		{[]float64{1000, 2010, 1990, 3000}, []float64{1, 2, 9, 12}, 5, "abcd", "p99 ≤ 5 ms holds up to 1,000/s (a) and fails from 2,000/s (c) on"},
		{[]float64{1000, 2010, 1990, 3000}, []float64{1, 9, 2, 4}, 5, "abcd", "p99 ≤ 5 ms holds up to 1,000/s (a) and fails from 2,000/s (b), but holds again at 3,000/s (d)"},
		{[]float64{1000, 2050, 2000, 3000}, []float64{1, 9, 2, 12}, 5, "abcd", "p99 ≤ 5 ms holds up to 2,000/s (c) and fails from 2,050/s (b) on"},
		// Windows over time, whose rates go up and down a little: the lowest rate that fails
		// counts.
		{[]float64{1011, 1157, 1131, 1148, 1199, 1190}, []float64{4, 12, 13, 14, 15, 16}, 5, "", "p99 ≤ 5 ms holds up to 1,011/s and fails from 1,131/s on"},
		{[]float64{1000, 1100, 1090, 1150, 1120}, []float64{1, 2, 3, 9, 4}, 5, "", "p99 ≤ 5 ms holds up to 1,120/s and fails from 1,150/s on"},
		{[]float64{1000, 1100, 1090, 1150, 1120}, []float64{1, 2, 9, 9, 4}, 5, "", "p99 ≤ 5 ms holds up to 1,000/s and fails from 1,090/s, but holds again at 1,100/s"},
		// Several windows have one rate.
		{[]float64{100, 100, 200, 200, 200}, []float64{1, 2, 3, 9, 4}, 5, "", "p99 ≤ 5 ms holds up to 100/s and fails from 200/s on"},
		{[]float64{100, 100}, []float64{9, 2}, 5, "", "p99 ≤ 5 ms fails from 100/s on"},
	} {
		p := &Picture{Type: Load, Values: ValueAxis{Unit: "ms"}, Series: []Series{{Lines: []Line{{Name: "p99"}}, Names: strings.Split(test.names, "")}}}
		for n, rate := range test.rates {
			p.Series[0].Lines[0].Points = append(p.Series[0].Lines[0].Points, Point{rate, rate, test.values[n]})
		}
		if test.names == "" {
			p.Series[0].Names = make([]string, len(test.rates))
		}
		if test.limit > 0 {
			p.Values.Limits = []Limit{{Percentile: 99, Value: test.limit}}
		}
		p.SortByRate()
		if got := p.Results(); !slices.Equal(got, []string{test.want}) {
			t.Errorf("%v %v: %q, want %q", test.rates, test.values, got, test.want)
		}
	}
}

// TestLoadUntagged names untagged values where others have tags.
func TestLoadUntagged(t *testing.T) {
	line := Line{Name: "p99", Points: []Point{{1000, 1000, 1}, {2000, 2000, 9}}}
	p := &Picture{
		Type:   Load,
		Values: ValueAxis{Unit: "ms", Limits: []Limit{{Percentile: 99, Value: 5}}},
		Series: []Series{{Lines: []Line{line}}},
	}
	for _, test := range []struct{ label, want string }{
		{"", "p99 ≤ 5 ms holds up to 1,000/s and fails from 2,000/s on"},
		{"A", "p99 of untagged ≤ 5 ms holds up to 1,000/s and fails from 2,000/s on"},
	} {
		if test.label != "" {
			p.Series = append(p.Series, Series{Label: test.label, Lines: []Line{line}})
		}
		if got := p.Results()[0]; got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestJoined proves that a line joins runs, and not windows over time.
func TestJoined(t *testing.T) {
	runs, windows := Series{Names: []string{"a", ""}}, Series{Names: make([]string, 2)}
	if !runs.IsJoined() || windows.IsJoined() {
		t.Errorf("runs %v, windows %v", runs.IsJoined(), windows.IsJoined())
	}
}
