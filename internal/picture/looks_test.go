package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"hdrkit/hdrlog/histogram"
)

// TestSVGWellFormed proves that an SVG is XML, whatever stands in tags, titles, units and marks.
func TestSVGWellFormed(t *testing.T) {
	t.Parallel()
	odd := []string{"\x00\x01\x1b[31m\x7f\u0085", "\ufffe\uffff", "\xff\xfe broken \xc3", "<&>\"'", "\t\n\r", "שלום", "\U0001f600 \u200b"}
	for _, text := range odd {
		for _, kind := range []*Type{Timeline, Percentiles, Heatmap, Throughput} {
			c := timeline(100)
			c.WindowBytes = 1 << 16
			p := collect(t, kind, c, 6, func(i int) (string, float64, float64, []int64) {
				return []string{text, "b" + text}[i%2], float64(i), 1, []int64{5, 10}
			})
			p.Title, p.Unit, p.Marks = text, text, []Mark{{1500, text}}
			for _, facets := range []bool{false, true} {
				p.Facets = facets
				var svg bytes.Buffer
				if err := p.WriteSVG(&svg); err != nil {
					t.Fatal(err)
				}
				decoder := xml.NewDecoder(&svg)
				for {
					if _, err := decoder.Token(); err == io.EOF {
						break
					} else if err != nil {
						t.Fatalf("%s, %q: %v", kind.Name, text, err)
					}
				}
			}
		}
	}
}

// TestZeroPicture proves that a picture that lacks something says so.
func TestZeroPicture(t *testing.T) {
	t.Parallel()
	for _, format := range []Format{PNG, SVG, PDF, HTML} {
		if err := (&Picture{}).Write(io.Discard, format); err == nil || !strings.Contains(err.Error(), "type") {
			t.Errorf("%s: %v", format, err)
		}
		if err := (&Picture{Type: Timeline}).Write(io.Discard, format); err == nil || !strings.Contains(err.Error(), "too small") {
			t.Errorf("%s: %v", format, err)
		}
		for _, kind := range []*Type{Timeline, Percentiles, Heatmap, Throughput} {
			for _, facets := range []bool{false, true} {
				if err := (&Picture{Type: kind, Width: 400, Height: 300, DPI: 96, Facets: facets}).Write(io.Discard, format); err != nil {
					t.Errorf("%s, %s: %v", format, kind.Name, err)
				}
			}
		}
	}
}

// TestEvenRows proves that a heat map of values that are spread evenly over its rows is even from
// row to row.
func TestEvenRows(t *testing.T) {
	t.Parallel()
	h := histogramOf(t, 3, nil)
	for v := 1e3; v < 1e6; v *= 1.0002 {
		if err := h.Record(int64(v), 1); err != nil {
			t.Fatal(err)
		}
	}
	for _, digits := range []int{2, 3} {
		c := &Collector{WindowBytes: 1 << 20, Ratio: 1, Digits: digits}
		var interval Interval
		measure(c, 0, 1, h, &interval)
		if err := c.Add("", "", &interval); err != nil {
			t.Fatal(err)
		}
		p, err := c.Picture(Heatmap, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, rows := range []int{70, 130, 177} {
			g := newGrid(0, 1000, 1e3, 1e6, 1, rows)
			g.add(p.Windows)
			inner := g.rate[2:rows] // all rows but that of zeros, and the first and the last
			mean := 0.0
			for _, rate := range inner {
				mean += rate / float64(len(inner))
			}
			if low, high := slices.Min(inner), slices.Max(inner); low < 0.95*mean || high > 1.05*mean {
				t.Errorf("%d digits, %d rows: from %.0f to %.0f values around %.0f", digits, rows, low, high, mean)
			}
		}
	}
}

// TestShorten compares with a function that tries all beginnings.
func TestShorten(t *testing.T) {
	t.Parallel()
	style := textStyle(noteSize)
	plain := func(str string, width vg.Length) string {
		if textWidth(style, str) <= width {
			return str
		}
		runes := []rune(str)
		for keep := len(runes) - 1; keep > 0; keep-- {
			if cut := string(runes[:keep]) + "…"; textWidth(style, cut) <= width {
				return cut
			}
		}
		return "…"
	}
	for _, str := range []string{"", "a", "größe", "insert-rt", "\x01\x02\x03", "日本語 timeline", strings.Repeat("iW", 200), "… of …"} {
		for width := vg.Length(-5); width < 700; width += 3.5 {
			if got, want := shorten(style, str, width), plain(str, width); got != want {
				t.Fatalf("%q to %v: %q, want %q", str, width, got, want)
			}
		}
	}
	if got := shorten(style, strings.Repeat("\x01", 10_000_000), 100); len(got) > 100 {
		t.Errorf("%d bytes", len(got))
	}
}

func TestWithoutAffixes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ labels, want []string }{
		{[]string{"com.example.shop.read.latency", "com.example.shop.write.latency"}, []string{"…read…", "…write…"}},
		{[]string{"read", "write"}, []string{"read", "write"}},
		{[]string{"same", "same"}, []string{"same", "same"}},
		{[]string{"endpoint-1", "endpoint-12"}, []string{"…1", "…12"}},
		{[]string{"alone in the legend"}, []string{"alone in the legend"}},
		{[]string{"日本語のタグ-甲", "日本語のタグ-乙"}, []string{"…甲", "…乙"}},
	} {
		if got := withoutAffixes(slices.Clone(test.labels)); !slices.Equal(got, test.want) {
			t.Errorf("%q: %q, want %q", test.labels, got, test.want)
		}
	}
}

// TestStyles proves that several lines of one series differ in colour, and that runs keep theirs.
func TestStyles(t *testing.T) {
	t.Parallel()
	c := themes[Light]
	one := c.stylesFor([]string{""}, 4)
	seen := map[int]bool{}
	for line := range 4 {
		seen[one.of(0, line).index] = true
	}
	if len(seen) != 4 {
		t.Errorf("%d colours for four lines", len(seen))
	}
	runs := c.stylesFor([]string{"before", "before", "after", "after"}, 1)
	for i, want := range []int{0, 0, 1, 1} {
		if got := runs.of(i, 0); got.index != want || (got.dashes != nil) != (i%2 == 1) {
			t.Errorf("series %d: colour %d, dashes %v", i, got.index, got.dashes)
		}
	}
}

// TestSteep proves that few high values make the axis logarithmic, and that nothing else does.
func TestSteep(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		values func(i int) int64
		change func(p *Picture)
		want   bool
	}{
		"even":        {func(i int) int64 { return 1000 + int64(i) }, nil, false},
		"49 times":    {func(i int) int64 { return 1000 + 48_000*int64(i/99) }, nil, false},
		"51 times":    {func(i int) int64 { return 1000 + 50_000*int64(i/99) }, nil, true},
		"fixed ends":  {func(i int) int64 { return 1000 + 50_000*int64(i/99) }, func(p *Picture) { p.High = 1e6 }, false},
		"throughput":  {func(i int) int64 { return 1000 + 50_000*int64(i/99) }, func(p *Picture) { p.Type = Throughput }, false},
		"no interval": {nil, func(p *Picture) { p.Series = nil }, false},
	} {
		p := collect(t, Timeline, timeline(99, 100), 100, func(i int) (string, float64, float64, []int64) {
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

// TestRatio compares ratios with those of the percentiles.
func TestRatio(t *testing.T) {
	t.Parallel()
	before, after := histogramOf(t, 3, latencies(1, 5000, 1e6)), histogramOf(t, 3, latencies(2, 3000, 3e6))
	ratio := RatioOf("x", CurveOf("", after, 1), CurveOf("", before, 1))
	for _, p := range []float64{50, 90, 99, 100} {
		want := float64(after.ValueAtPercentile(p)) / float64(before.ValueAtPercentile(p))
		if got := ratio.at(p); math.Abs(got/want-1) > 0.05 {
			t.Errorf("%v%%: %v, want about %v", p, got, want)
		}
	}
	if ratio.Count != 3000 {
		t.Errorf("%d values", ratio.Count)
	}
	if empty := RatioOf("", Curve{}, CurveOf("", before, 1)); empty.Count != 0 {
		t.Errorf("%+v", empty)
	}
}

// TestStairs proves that a line is level for as long as each interval lasts.
func TestStairs(t *testing.T) {
	t.Parallel()
	p := collect(t, Timeline, timeline(100), 12, func(i int) (string, float64, float64, []int64) {
		return "", float64(10 * i), 10, []int64{int64(1000 + 100*(i%5))}
	})
	width, height := p.size()
	canvas := &recorder.Canvas{}
	p.draw(draw.NewCanvas(canvas, width, height))
	level := map[int]int{} // lengths in pixels, of the colour of the line
	var colour color.Color
	for _, action := range canvas.Actions {
		switch action := action.(type) {
		case *recorder.SetColor:
			colour = action.Color
		case *recorder.Stroke:
			for i := 1; colour == p.colours().lines[0] && i < len(action.Path); i++ {
				if a, b := action.Path[i-1].Pos, action.Path[i].Pos; action.Path[i].Type == vg.LineComp && a.Y == b.Y {
					level[int(math.Round(float64((b.X-a.X)/pixel)))]++
				}
			}
		}
	}
	if len(level) > 2 || slices.Max(slices.Collect(maps.Values(level))) < 6 || slices.Min(slices.Collect(maps.Keys(level))) < 80 {
		t.Errorf("lengths in pixels %v of twelve intervals", level)
	}
}

// TestTogether proves how many lines share a chart, and that runs share the charts of their tags
// if these do not become too full.
func TestTogether(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ groups, tags, parts, lines int }{
		{1, 8, 0, 8}, {1, 9, 9, 1}, {3, 2, 0, 6}, {3, 6, 6, 3}, {9, 1, 9, 1}, {10, 2, 20, 1},
	} {
		p := New(Timeline)
		for g := range test.groups {
			for tag := range test.tags {
				group := fmt.Sprint("node", g)
				p.Series = append(p.Series, Series{Label: fmt.Sprint(group, " tag", tag), Group: group, Lines: []Line{{Name: "max"}}})
			}
		}
		parts, tags := p.facets()
		lines := len(p.Series)
		if len(parts) > 0 {
			lines = len(parts[0].Series)
		}
		if len(parts) != test.parts || len(tags) != test.parts || lines != test.lines {
			t.Errorf("%d tags of %d runs: %d charts %q, the first with %d lines", test.tags, test.groups, len(parts), tags, lines)
		}
	}
}

// TestEndings proves that up to eight lines have a label at their ends, and more have a legend.
func TestEndings(t *testing.T) {
	t.Parallel()
	for _, tags := range []int{2, 3} {
		p := collect(t, Timeline, timeline(50, 99, 100), 60, func(i int) (string, float64, float64, []int64) {
			return fmt.Sprint("tag", i%tags), float64(i / tags), 1, []int64{int64(1000 + i)}
		})
		found := map[string]bool{}
		for _, box := range texts(t, p) {
			found[box.text] = box.left > 700 // to the right
		}
		legend, known := found["p99"]
		if tags == 2 && (!found["tag0 p99"] || !found["tag1 max"] || known) || tags == 3 && (found["tag0 p99"] || !known || legend) {
			t.Errorf("%d tags: %v", tags, found)
		}
	}
}

// TestLetters proves that letters which PNG and PDF cannot set are spelled out.
func TestLetters(t *testing.T) {
	t.Parallel()
	p := New(Timeline)
	p.Title = "aשb\x01é"
	if got := p.spelledOut().Title; got != `a\u05E9b\u0001é` {
		t.Error(got)
	}
}

// TestPageLimit proves that a page keeps to its size, and that windows then lose nothing.
func TestPageLimit(t *testing.T) {
	t.Parallel()
	c := timeline(100)
	c.WindowBytes = 64 << 20
	p := collect(t, Timeline, c, 2000, func(i int) (string, float64, float64, []int64) {
		return []string{"a", "b"}[i%2], float64(i / 2), 1, latencies(int64(i), 200, 1e6)
	})
	for _, limit := range []int{1 << 20, 100_000, 20_000} {
		p.PageSize = limit
		d, err := p.Page()
		if err != nil {
			t.Fatal(err)
		}
		if size := d.Rows.Size(); size > limit {
			t.Errorf("%d bytes, the limit is %d", size, limit)
		}
		if (d.Window > 0) != (limit < 1<<20) {
			t.Errorf("limit %d: windows of %d ms", limit, d.Window)
		}
	}
}

// TestCollectorKinds proves that a picture names the series whose histograms do not add up.
func TestCollectorKinds(t *testing.T) {
	t.Parallel()
	double, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1, Ratio: 0.25})
	if err != nil {
		t.Fatal(err)
	}
	c := &Collector{WindowBytes: 1 << 20, Ratio: 1}
	for i, h := range []*histogram.Histogram{histogramOf(t, 3, []int64{1}), double} {
		var interval Interval
		measure(c, float64(i), 1, h, &interval)
		if err := c.Add("", "read", &interval); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Picture(Heatmap, 0, nil); !errors.Is(err, histogram.ErrKind) || !strings.HasPrefix(err.Error(), "read: ") {
		t.Errorf("%v", err)
	}
}

// TestPDFText proves that the letters of a PDF follow one another, and that its text can be
// searched.
func TestPDFText(t *testing.T) {
	t.Parallel()
	var canvas pdfCanvas
	face := plot.DefaultTextHandler.Cache().Lookup(textStyle(10).Font, 10)
	canvas.FillString(face, vg.Point{X: 100, Y: 50}, "lé")
	text := canvas.content.String()
	if !strings.Contains(text, "BT 3 Tr /F1 10 Tf 100 50 Td <6ce9> Tj ET") {
		t.Errorf("no text in %q", text)
	}
	last := 0.0
	for _, found := range regexp.MustCompile(`(?m)^(\S+) (\S+) m$`).FindAllStringSubmatch(text, -1) {
		x, err := strconv.ParseFloat(found[1], 64)
		if err != nil || x < 100 || x > 110 {
			t.Errorf("a letter at %s", found[1])
		}
		last = x
	}
	if last < 102 {
		t.Errorf("the last letter is at %v", last)
	}
}
