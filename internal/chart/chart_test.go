package chart_test

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/collect"
	"hdrkit/internal/chart/page/pagetest"
)

// TestEvenRows proves that a heat map of values that are spread evenly over its rows is even from
// row to row.
func TestEvenRows(t *testing.T) {
	t.Parallel()
	h := pagetest.HistogramOf(t, 3, nil)
	for v := 1e3; v < 1e6; v *= 1.0002 {
		if err := h.Record(int64(v)); err != nil {
			t.Fatal(err)
		}
	}
	c := &collect.Collector{Options: collect.Options{MaxWindows: 1 << 11, Ratio: 1}}
	var interval collect.Interval
	pagetest.Measure(c, 0, 1, h, &interval)
	if err := c.Add("", "", &interval); err != nil {
		t.Fatal(err)
	}
	p, err := c.Picture(chart.New(chart.Heatmap), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range []int{70, 130, 177} {
		g := &chart.Grid{From: 0, To: 1000, Low: 1e3, High: 1e6, Columns: 1, Rows: rows}
		g.Fill(p.Series)
		inner := g.Rate[2:rows] // all rows but that of zeros, and the first and the last
		mean := 0.0
		for _, rate := range inner {
			mean += rate / float64(len(inner))
		}
		if low, high := slices.Min(inner), slices.Max(inner); low < 0.95*mean || high > 1.05*mean {
			t.Errorf("%d rows: from %.0f to %.0f values around %.0f", rows, low, high, mean)
		}
	}
}

// TestSteep proves that few high values make the axis logarithmic, and that nothing else does.
func TestSteep(t *testing.T) {
	t.Parallel()
	low := chart.Series{Lines: []chart.Line{{Name: "max", Points: []chart.Point{{0, 1, 10}}}}, Curve: chart.Curve{Count: 2, Steps: []chart.Step{{50, 10}, {100, 12}}}}
	for name, test := range map[string]struct {
		values func(i int) int64
		change func(p *chart.Picture)
		want   bool
	}{
		"even":        {func(i int) int64 { return 1000 + int64(i) }, nil, false},
		"49 times":    {func(i int) int64 { return 1000 + 48_000*int64(i/99) }, nil, false},
		"51 times":    {func(i int) int64 { return 1000 + 50_000*int64(i/99) }, nil, true},
		"fixed ends":  {func(i int) int64 { return 1000 + 50_000*int64(i/99) }, func(p *chart.Picture) { p.Values.High = 1e6 }, false},
		"throughput":  {func(i int) int64 { return 1000 + 50_000*int64(i/99) }, func(p *chart.Picture) { p.Type = chart.Throughput }, false},
		"no interval": {nil, func(p *chart.Picture) { p.Series = nil }, false},
		"low series":  {func(i int) int64 { return 1000 + 48_000*int64(i/99) }, func(p *chart.Picture) { p.Series = append(p.Series, low) }, true},
		"low curve":   {func(int) int64 { return 1000 }, func(p *chart.Picture) { p.Type, p.Series = chart.Percentiles, append(p.Series, low) }, true},
	} {
		p := pagetest.Collect(t, chart.Timeline, pagetest.Timeline(99, 100), 100, func(i int) (string, float64, float64, []int64) {
			if test.values == nil {
				return "", float64(i), 1, nil
			}
			return "", float64(i), 1, []int64{test.values(i)}
		})
		if test.change != nil {
			test.change(p)
		}
		if p.Steep() != test.want {
			t.Errorf("%s: %v", name, !test.want)
		}
	}
}

// TestTogether proves how many lines share a chart, and that runs share the charts of their tags
// if these do not become too full.
func TestTogether(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ groups, tags, parts, lines int }{
		{1, 4, 0, 4}, {1, 5, 5, 1}, {2, 2, 2, 2}, {3, 2, 2, 3}, {3, 6, 6, 3}, {5, 1, 5, 1}, {10, 2, 20, 1},
	} {
		p := chart.New(chart.Timeline)
		for g := range test.groups {
			for tag := range test.tags {
				group := fmt.Sprint("node", g)
				p.Series = append(p.Series, chart.Series{Label: fmt.Sprint(group, " tag", tag), Group: group, Lines: []chart.Line{{Name: "max"}}})
			}
		}
		parts := p.FacetsOf()
		lines := len(p.Series)
		if len(parts) > 0 {
			lines = len(parts[0].Picture.Series)
		}
		if len(parts) != test.parts || lines != test.lines {
			t.Errorf("%d tags of %d runs: %d charts, the first with %d lines", test.tags, test.groups, len(parts), lines)
		}
	}
}

// TestCaption proves which parts a caption has.
func TestCaption(t *testing.T) {
	t.Parallel()
	many := []string{"1", "2", "3", "4", "5", "6", "7"}
	lines := []chart.Series{{Lines: []chart.Line{{Name: "p99"}, {Name: "max"}}}}
	for want, p := range map[string]*chart.Picture{
		"":                                    {Type: chart.Timeline},
		"1, 2, 3, 4, 5 and 2 more · 0 values": {Type: chart.Percentiles, Inputs: chart.Inputs{Sources: many, Spans: [][2]int64{{5000, 9000}}}},
		"x · 2016-07-18 00:06:41 to 2016-07-19 00:06:41 UTC · 7,000,000,000 values": {Type: chart.Percentiles, Inputs: chart.Inputs{Sources: []string{"x"}, Spans: [][2]int64{{1468800401000, 1468886801000}}},
			Series: []chart.Series{{Curve: chart.Curve{Count: 7e9}}}},
		"x · 2 values · adds up a, b": {Type: chart.Heatmap, Inputs: chart.Inputs{Sources: []string{"x"}, Added: []string{"a", "b"}}, Series: []chart.Series{{Curve: chart.Curve{Count: 1}}, {Curve: chart.Curve{Count: 1}}}},
		"x · 0 values · p99 of 5 min windows · adds up a, b": {Type: chart.Heatmap, Inputs: chart.Inputs{Sources: []string{"x"}, Added: []string{"a", "b"}, Span: "5 min windows"},
			Total: chart.Series{Lines: []chart.Line{{Name: "p99"}, {Name: chart.RateName}}}},
		"x · 0 values · p99 and maximum of 5 min windows":  {Type: chart.Timeline, Inputs: chart.Inputs{Sources: []string{"x"}, Span: "5 min windows"}, Series: lines},
		"x · 0 values · values per second of 10 s windows": {Type: chart.Throughput, Inputs: chart.Inputs{Sources: []string{"x"}, Span: "10 s windows"}},
	} {
		if got := p.Caption(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestShare proves how a list prints the share of the values of a moment.
func TestShare(t *testing.T) {
	t.Parallel()
	for share, want := range map[float64]string{1: "100%", 0.999: "100%", 0.526: "53%", 0.001: "0.1%", 0: ""} {
		p := chart.New(chart.Heatmap)
		p.Events.Worst = []chart.Moment{{End: 1000, Value: 5, Share: share}}
		if got := p.Moments()[0].Share; got != want {
			t.Errorf("%v: %s, want %s", share, got, want)
		}
	}
}

// TestRuns proves that a gap in the log is one in the line.
func TestRuns(t *testing.T) {
	t.Parallel()
	var points []chart.Point
	add := func(start, end, value float64) { points = append(points, chart.Point{start, end, value}) }
	for i := range 10 {
		add(float64(i), float64(i+1), 5)
	}
	add(10, 11, math.NaN()) // empty
	add(11, 12, 6)
	add(12.1, 13.1, 7) // late, but not by half an interval
	add(20, 21, 8)
	got := chart.Stretches(points, 0.001)
	if len(got) != 3 || len(got[0]) != 10 || len(got[1]) != 2 || len(got[2]) != 1 {
		t.Errorf("%v", got)
	}
	if got := chart.Stretches(points, 100); len(got) != 1 {
		t.Errorf("gaps too narrow to be seen: %v", got)
	}
	instants := []chart.Point{{0, 0, 1}, {1, 1, 2}, {2, 2, 3}, {9, 9, 4}}
	if got := chart.Stretches(instants, 0.001); len(got) != 2 || len(got[0]) != 3 {
		t.Errorf("intervals without length: %v", got)
	}
}

// TestCurveEnds proves that a curve ends at its maximum, halfway into the share of its last value.
func TestCurveEnds(t *testing.T) {
	t.Parallel()
	curve := chart.CurveOf(pagetest.HistogramOf(t, 3, pagetest.Latencies(1, 1000, 1e6)), 1e6)
	points := curve.Points()
	last := points[len(points)-1]
	if want := math.Log10(2000); math.Abs(last.Start-want) > 1e-12 || last.Value != curve.Max() {
		t.Errorf("ends at %v, want %v", last, want)
	}
	for i := 1; i < len(points); i++ {
		if points[i].Start < points[i-1].Start || points[i].Value < points[i-1].Value {
			t.Fatalf("goes back at %d: %v", i, points[i])
		}
	}
}

// TestPalette proves that the colours of lines differ for people who do not see red, green or blue
// as others do, and from the background.
func TestPalette(t *testing.T) {
	t.Parallel()
	for name, theme := range chart.Themes {
		for kind, m := range dichromacies {
			for i, a := range theme.Lines {
				for j, b := range append(theme.Lines[i+1:len(theme.Lines):len(theme.Lines)], theme.Background) {
					if d := distance(m, a, b); d < 9 {
						t.Errorf("%s, %s: colours %d and %d are only %.1f apart", name, kind, i, i+1+j, d)
					}
				}
			}
		}
	}
}

// TestContrast proves that each line and text stands out from the background, and that the colours
// of a heat map go away from it.
func TestContrast(t *testing.T) {
	t.Parallel()
	luminance := func(c color.Color) float64 {
		r, g, b, _ := c.RGBA()
		sum := 0.0
		for i, v := range []uint32{r, g, b} {
			s := float64(v) / 0xffff
			if s <= 0.04045 {
				s /= 12.92
			} else {
				s = math.Pow((s+0.055)/1.055, 2.4)
			}
			sum += s * []float64{0.2126, 0.7152, 0.0722}[i]
		}
		return sum
	}
	for name, theme := range chart.Themes {
		check := func(kind string, c color.Color) {
			least := 3.0
			if kind == "text" {
				least = 4.5
			}
			a, b := luminance(c)+0.05, luminance(theme.Background)+0.05
			if ratio := max(a, b) / min(a, b); ratio < least {
				t.Errorf("%s: the contrast of %s %v is %.2f", name, kind, c, ratio)
			}
		}
		for _, c := range theme.Lines {
			check("line", c)
		}
		for _, c := range []chart.Colour{theme.Limit, theme.Holds, theme.Text, theme.Faint} {
			check("text", c)
		}
		for i := range 101 {
			a, b := luminance(chart.At(theme.Heat, float64(i)/100)), luminance(chart.At(theme.Heat, float64(i+1)/100))
			if i < 100 && (a > b) != (luminance(theme.Background) > 0.5) {
				t.Errorf("%s: the heat map's colour %d is nearer to the background than the one before", name, i+1)
			}
			check("change", chart.At(theme.Change, float64(i)/100))
		}
	}
}

// TestDistinct proves that labels fit and differ, whatever room they have, and stay whole if all
// fit.
func TestDistinct(t *testing.T) {
	t.Parallel()
	var services, machines, odd []string
	for i := range 9 {
		services = append(services, fmt.Sprintf("com.example.platform.checkout.payments.v2.PaymentService/Get%c", 'A'+i))
		machines = append(machines, fmt.Sprintf("node%d.hdr", i))
		odd = append(odd, strings.Repeat("x", 50)+strings.Repeat("y", i)+strings.Repeat("x", 50))
	}
	for _, labels := range [][]string{services, machines, odd, {"one"}, {"same", "same", "other"}, {"größe-甲", "größe-乙"}} {
		for room := 5; room < 130; room++ {
			got := chart.Distinct(labels, func(str string) bool { return len([]rune(str)) <= room })
			for i := range got {
				if len([]rune(got[i])) > room {
					t.Errorf("%q does not fit into %d", got[i], room)
				}
				for j := range got {
					if (got[i] == got[j]) != (labels[i] == labels[j]) {
						t.Errorf("%q and %q become %q and %q", labels[i], labels[j], got[i], got[j])
					}
				}
			}
			if slices.Max(lengths(labels)) <= room && !slices.Equal(got, labels) {
				t.Errorf("%d: %q become %q", room, labels, got)
			}
		}
	}
	if got := chart.Distinct(machines, func(str string) bool { return len([]rune(str)) <= 8 }); got[3] != "node3…" {
		t.Errorf("%q", got)
	}
}

func lengths(labels []string) (all []int) {
	for _, label := range labels {
		all = append(all, len([]rune(label)))
	}
	return all
}

// TestStyles proves that a percentile has one look in all pictures, and that runs keep their
// colours.
func TestStyles(t *testing.T) {
	t.Parallel()
	names := []string{"p50", "p99", "p99.9", "max"}
	seen := map[int]bool{}
	for n, style := range chart.Styles([]string{""}, names)[0] {
		seen[style.Colour] = true
		if style.Area != (names[n] == "max") {
			t.Errorf("%s: area %v", names[n], style.Area)
		}
		for _, all := range [][]chart.Style{chart.Styles([]string{"", ""}, names)[1], chart.Styles([]string{"", ""}, []string{"max", "p99.9", "p99", "p50"})[0]} {
			same := slices.ContainsFunc(all, func(other chart.Style) bool {
				return other.Area == style.Area && slices.Equal(other.Dashes, style.Dashes)
			})
			if !same {
				t.Errorf("%s: no line of two series has dashes %v", names[n], style.Dashes)
			}
		}
	}
	if len(seen) != 4 {
		t.Errorf("%d colours for four lines", len(seen))
	}
	for i, style := range chart.Styles([]string{"before", "before", "after", "after"}, nil) {
		if style[0].Colour != i/2 || len(style[0].Dashes) > 0 != (i%2 == 1) {
			t.Errorf("series %d: %+v", i, style[0])
		}
	}
}

// dichromacies simulate colour blindness in linear RGB: Viénot, Brettel and Mollon (1999), and for
// blue the likes of it.
var dichromacies = map[string][3][3]float64{
	"normal":       {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}},
	"deuteranopia": {{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}},
}

// distance returns how far apart two colours are to such an eye: 2.3 is just noticeable.
func distance(m [3][3]float64, a, b color.Color) float64 {
	la, lb := lab(m, a), lab(m, b)
	return math.Sqrt((la[0]-lb[0])*(la[0]-lb[0]) + (la[1]-lb[1])*(la[1]-lb[1]) + (la[2]-lb[2])*(la[2]-lb[2]))
}

func lab(m [3][3]float64, c color.Color) [3]float64 {
	r, g, b, _ := c.RGBA()
	var linear [3]float64
	for i, v := range []uint32{r, g, b} {
		s := float64(v) / 0xffff
		if linear[i] = s / 12.92; s > 0.04045 {
			linear[i] = math.Pow((s+0.055)/1.055, 2.4)
		}
	}
	var seen [3]float64
	for i := range seen {
		seen[i] = math.Max(m[i][0]*linear[0]+m[i][1]*linear[1]+m[i][2]*linear[2], 0)
	}
	f := func(v float64) float64 {
		if v > 0.008856 {
			return math.Cbrt(v)
		}
		return 7.787*v + 16.0/116
	}
	x := f((0.4124*seen[0] + 0.3576*seen[1] + 0.1805*seen[2]) / 0.9505)
	y := f(0.2126*seen[0] + 0.7152*seen[1] + 0.0722*seen[2])
	z := f((0.0193*seen[0] + 0.1192*seen[1] + 0.9505*seen[2]) / 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// TestLimitOfLines checks that a limit for all values names the lines that are shaded above it.
func TestLimitOfLines(t *testing.T) {
	p := chart.New(chart.Timeline)
	p.Values.Unit, p.Values.Limits = "ms", []chart.Limit{{Value: 10}}
	for names, want := range map[string]string{"p99": "SLA: p99 ≤ 10 ms", "p99,max": "SLA: max ≤ 10 ms"} {
		p.Series = []chart.Series{{}}
		for _, name := range strings.Split(names, ",") {
			p.Series[0].Lines = append(p.Series[0].Lines, chart.Line{Name: name})
		}
		if got := p.LabelledLimits()[0].Label; got != want {
			t.Errorf("%s: %q, want %q", names, got, want)
		}
	}
}

// TestLineLimits proves that a limit is drawn where a line shows its figure, and that this line
// stays where there is room for one.
func TestLineLimits(t *testing.T) {
	for _, test := range []struct {
		limits []chart.Limit
		lines  string // that are kept
		drawn  int    // limits, of the lines that are kept
	}{
		{nil, "max", 0},
		{[]chart.Limit{{Percentile: 99, Value: 10}}, "p99", 1},
		{[]chart.Limit{{Percentile: 99, Value: 10}, {Value: 20}}, "p99,max", 2},
		{[]chart.Limit{{Percentile: 99.9, Value: 10}}, "max", 0},
		{[]chart.Limit{{Percentile: 50, Value: 1}, {Percentile: 99.9, Value: 10}}, "p50", 1},
	} {
		p := chart.New(chart.Timeline)
		p.Values.Limits = test.limits
		for range 2 {
			p.Series = append(p.Series, chart.Series{Lines: []chart.Line{{Name: "p50"}, {Name: "p99"}, {Name: "max"}}})
		}
		p.DropLines(true)
		for _, s := range p.Series {
			_, lines := chart.GroupsAndLines([]chart.Series{s})
			if got := strings.Join(lines, ","); got != test.lines {
				t.Errorf("%v: the lines are %s, want %s", test.limits, got, test.lines)
			}
		}
		if got := p.LineLimits(); len(got) != test.drawn {
			t.Errorf("%v: %d limits are drawn, want %d", test.limits, len(got), test.drawn)
		}
	}
}
