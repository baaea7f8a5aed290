package chart

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// TestRatios proves that rows have the highest value first, that a cell is the ratio to the median
// of the rows of the same kind at that time, and that a time without values has none.
func TestRatios(t *testing.T) {
	t.Parallel()
	p := New(Fleet)
	p.Precision.Aggregate, p.Time.Origin = 1000, 5000
	whole, kin := make(map[string]float64), make(map[string]string)
	add := func(label, tag string, values ...float64) {
		var points []Point
		for n, v := range values {
			start := float64(1000*n + 3) // logs do not start at full seconds
			if v >= 0 {
				points = append(points, Point{start, start + 1000, v})
			}
		}
		p.Series = append(p.Series, Series{Label: label, Lines: []Line{{Name: "p99", Points: points}, {Name: RateName}}})
		whole[label], kin[label] = slices.Max(values), tag
	}
	add("a", "", 10, 10, 10)
	add("b", "", 10, 30, -1)
	add("c", "", 10, 10, 5)
	add("d", "write", 100, 200, 0)
	r := p.RatiosOf("p99", whole, kin)
	got := ""
	for _, row := range r.Rows {
		got += fmt.Sprintln(row.Label, row.Value, row.Ratios)
	}
	want := "d 200 [1 1 1]\nb 30 [1 3 NaN]\na 10 [1 1 1.3333333333333333]\nc 10 [1 1 0.6666666666666666]\n"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if r.From != 0 || r.Width != 1000 || r.Most != 4 {
		t.Errorf("from %v, width %v, most %v", r.From, r.Width, r.Most)
	}
}

// TestRatioScale proves that the scale has 1 in the middle, and that the few ratios beyond it do
// not make it longer.
func TestRatioScale(t *testing.T) {
	t.Parallel()
	row := func(times ...float64) *Ratios { return &Ratios{Rows: []RatioRow{{Ratios: times}}} }
	few := slices.Repeat([]float64{1.1}, 500)
	few[3], few[4] = 50, math.NaN()
	for name, test := range map[string]struct {
		ratios *Ratios
		most   float64
	}{
		"nothing": {row(), 2},
		"alike":   {row(1, 1.2, 0.9), 2},
		"higher":  {row(1, 3), 4},
		"lower":   {row(1, 0.2), 8},
		"zero":    {row(1, 0), 16},
		"few":     {row(few...), 2},
	} {
		if got := test.ratios.most(); got != test.most {
			t.Errorf("%s: the scale ends at %v, want %v", name, got, test.most)
		}
	}
	r := Ratios{Most: 4}
	var labels []string
	for _, tick := range r.Ticks() {
		labels = append(labels, fmt.Sprint(tick.Part, " ", tick.Label))
	}
	if want := []string{"0 1/4 or less", "0.25 1/2", "0.5 1", "0.75 2", "1 4 or more"}; !slices.Equal(labels, want) {
		t.Errorf("%q, want %q", labels, want)
	}
}
