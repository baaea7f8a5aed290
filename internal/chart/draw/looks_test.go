package draw

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/chart/page"
	"hdrkit/internal/clitest"
)

// TestSVGWellFormed proves that an SVG is XML, whatever stands in tags, titles, units and marks.
func TestSVGWellFormed(t *testing.T) {
	t.Parallel()
	odd := []string{"\x00\x01\x1b[31m\x7f\u0085", "\ufffe\uffff", "\xff\xfe broken \xc3", "<&>\"'", "\t\n\r", "שלום", "\U0001f600 \u200b"}
	for _, text := range odd {
		for _, kind := range Types {
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
		for _, kind := range Types {
			for _, facets := range []bool{false, true} {
				if err := (&Picture{Type: kind, Width: 800, Height: 600, DPI: 96, Facets: facets}).Write(io.Discard, format); err != nil {
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
	c := &Collector{WindowBytes: 1 << 20, Ratio: 1}
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
			t.Errorf("%d rows: from %.0f to %.0f values around %.0f", rows, low, high, mean)
		}
	}
}

// TestShorten compares with a function that tries all beginnings.
func TestShorten(t *testing.T) {
	t.Parallel()
	style := plain(noteSize)
	plain := func(str string, width vg.Length) string {
		if style.Width(str) <= width {
			return str
		}
		runes := []rune(str)
		for keep := len(runes) - 1; keep > 0; keep-- {
			if cut := string(runes[:keep]) + "…"; style.Width(cut) <= width {
				return cut
			}
		}
		return "…"
	}
	for _, str := range []string{"", "a", "größe", "insert-rt", "\x01\x02\x03", "日本語 timeline", strings.Repeat("iW", 200), "… of …"} {
		for width := vg.Length(-5); width < 700; width += vg.Length(17.5 / float64(clitest.Rounds(5))) {
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
		parts := p.facets()
		lines := len(p.Series)
		if len(parts) > 0 {
			lines = len(parts[0].Series)
		}
		if len(parts) != test.parts || lines != test.lines {
			t.Errorf("%d tags of %d runs: %d charts, the first with %d lines", test.tags, test.groups, len(parts), lines)
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
	if got := (speller{replaced: new(bool)}).spell("aשb\x01é"); got != `a\u05E9b\u0001é` {
		t.Error(got)
	}
}

// TestPageLimit proves that a page keeps to its size, that windows then lose nothing, and that a
// sample of them tells the size.
func TestPageLimit(t *testing.T) {
	t.Parallel()
	c := timeline(100)
	c.WindowBytes = 64 << 20
	p := collect(t, Timeline, c, 2000, func(i int) (string, float64, float64, []int64) {
		return []string{"a", "b"}[i%2], float64(i / 2), 1, latencies(int64(i), 200, 1e6)
	})
	rows := page.Rows{}
	for i, ws := range p.Windows {
		ws.addTo(&rows, i)
	}
	if about := sampled(p.Windows); about < rows.Size()*9/10 || about > rows.Size()*11/10 {
		t.Errorf("a sample says %d bytes, all take %d", about, rows.Size())
	}
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

// TestTellApart proves that labels without room keep what tells them apart, and others are whole.
func TestTellApart(t *testing.T) {
	t.Parallel()
	for room, want := range map[vg.Length][]string{
		100 * pixel: {"…1.hdr, 10", "…2.hdr, 12", "SLA: 99% ≤ 20 ms"},
		400 * pixel: {"/var/log/runs/node1.hdr, 10", "/var/log/runs/node2.hdr, 12", "SLA: 99% ≤ 20 ms"},
	} {
		all := []ending{{label: "/var/log/runs/node1.hdr, 10"}, {label: "/var/log/runs/node2.hdr, 12"}, {label: "SLA: 99% ≤ 20 ms"}}
		tellApart(plain(tickSize), all[:2], room)
		for i, e := range all {
			if e.label != want[i] {
				t.Errorf("%v: %s, not %s", room, e.label, want[i])
			}
		}
	}
}

// pdfFile returns a file, whose streams are readable, of what draw draws.
func pdfFile(t *testing.T, draw func(c *pdfCanvas)) string {
	t.Helper()
	canvas := newPDF(200, 100)
	canvas.doc.SetCompression(false)
	draw(canvas)
	var file bytes.Buffer
	if err := canvas.doc.Output(&file); err != nil {
		t.Fatal(err)
	}
	return file.String()
}

// TestPDFText proves that text is at its place, and that its font is in the file, without the
// letters that are not drawn.
func TestPDFText(t *testing.T) {
	t.Parallel()
	face := plot.DefaultTextHandler.Cache().Lookup(plain(10).Font, 10)
	var source bytes.Buffer
	if _, err := face.Face.WriteSourceTo(nil, &source); err != nil {
		t.Fatal(err)
	}
	file := pdfFile(t, func(c *pdfCanvas) { c.FillString(face, vg.Point{X: 100, Y: 50}, "ωé") })
	for _, want := range []string{"10.00 Tf", "BT 100.00 50.00 Td (\x03\xc9\x00\xe9) Tj ET", "/Subtype /CIDFontType2", "/ToUnicode"} {
		if !strings.Contains(file, want) {
			t.Errorf("no %s in the file", want)
		}
	}
	if len(file) > source.Len()/2 {
		t.Errorf("%d bytes for two letters of a font of %d", len(file), source.Len())
	}
}

// TestPDFShapes proves that pale bands are pale, that circles are round, and that images are where
// they belong.
func TestPDFShapes(t *testing.T) {
	t.Parallel()
	file := pdfFile(t, func(c *pdfCanvas) {
		c.SetColor(color.NRGBA{R: 255, A: 51})
		c.SetColor(color.Black)
		var path vg.Path
		path.Move(vg.Point{X: 1})
		path.CubeTo(vg.Point{X: 2}, vg.Point{X: 3}, vg.Point{X: 4})
		c.Fill(path)
		c.DrawImage(vg.Rectangle{Min: vg.Point{X: 10, Y: 20}, Max: vg.Point{X: 40, Y: 60}}, image.NewNRGBA(image.Rect(0, 0, 1, 1)))
	})
	for _, want := range []string{"1 0 0 rg\n/GS1 gs", "0 0 0 rg\n/GS2 gs", "/ca 0.200", "/ca 1.000", "1 0 m\n2 0 3 0 4 0 c\nf\n", "q 30.00000 0 0 40.00000 10.00000 20.00000 cm"} {
		if !strings.Contains(file, want) {
			t.Errorf("no %q in the file %.2000q", want, file)
		}
	}
}

// TestPDFTools has other programs check the fonts and find the text.
func TestPDFTools(t *testing.T) {
	clitest.RequireTools(t, "pdffonts", "pdftotext")
	p := pictures(t)["timeline"]
	path := filepath.Join(t.TempDir(), "timeline.pdf")
	var file bytes.Buffer
	if err := errors.Join(p.WritePDF(&file), os.WriteFile(path, file.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
	fonts, err := exec.Command("pdffonts", path).Output()
	if !regexp.MustCompile(`(?m)^\S+ +CID TrueType +Identity-H +yes no +yes `).Match(fonts) || strings.Count(string(fonts), "\n") != 3 {
		t.Errorf("fonts %s%v", fonts, err)
	}
	text, err := exec.Command("pdftotext", path, "-").Output()
	for _, want := range []string{"Maximum latency", "read", "SLA: 99% ≤ 15 ms", "time since start (s)"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in %q, %v", want, text, err)
		}
	}
}

// TestMetadata proves that files say what they are, and how large a dot of a PNG is.
func TestMetadata(t *testing.T) {
	t.Parallel()
	p := New(Percentiles)
	p.Sources, p.From, p.To = []string{"a<b>.hdr"}, 1468800401074, 1468800521000
	p.Curves, p.DPI = []Curve{CurveOf("", histogramOf(t, 3, []int64{1, 2, 3}), 1)}, 192
	const title = "a<b>.hdr · 2016-07-18 00:06:41 to 00:08:41 UTC · 3 values"
	var picture, svg, pdf bytes.Buffer
	if err := errors.Join(p.WritePNG(&picture), p.WriteSVG(&svg), p.WritePDF(&pdf)); err != nil {
		t.Fatal(err)
	}
	// 7,559 dots for each metre, which is 1.
	if !bytes.Contains(picture.Bytes(), []byte("\x00\x00\x00\x09pHYs\x00\x00\x1d\x87\x00\x00\x1d\x87\x01")) {
		t.Error("no resolution in the PNG")
	}
	if _, err := png.Decode(&picture); err != nil { // which checks the sum of a chunk
		t.Error(err)
	}
	if !strings.Contains(svg.String(), "<title>a&lt;b&gt;.hdr · 2016-07-18 00:06:41 to 00:08:41 UTC · 3 values</title>") {
		t.Error("no title in the SVG")
	}
	letters := "\xfe\xff"
	for _, unit := range utf16.Encode([]rune(title)) {
		letters += string([]byte{byte(unit >> 8), byte(unit)})
	}
	for _, want := range []string{"/Title (" + letters + ")", "/CreationDate (D:20160718000841)"} {
		if !strings.Contains(pdf.String(), want) {
			t.Errorf("no %q in the PDF", want)
		}
	}
	if p.Title = "mine"; p.title() != "mine" {
		t.Errorf("title %q", p.title())
	}
	if !slices.ContainsFunc(texts(t, p), func(box textBox) bool { return box.text == title }) {
		t.Error("no caption")
	}
}

// TestCaption proves which parts a caption has.
func TestCaption(t *testing.T) {
	t.Parallel()
	many := []string{"1", "2", "3", "4", "5", "6", "7"}
	lines := []Series{{Lines: []Line{{Name: "99%"}, {Name: "max"}}}}
	for want, p := range map[string]*Picture{
		"":                                    {Type: Timeline},
		"1, 2, 3, 4, 5 and 2 more · 0 values": {Type: Percentiles, Sources: many, From: 5000, To: 9000},
		"x · 2016-07-18 00:06:41 to 2016-07-19 00:06:41 UTC · 7,000,000,000 values": {Type: Percentiles, Sources: []string{"x"}, From: 1468800401000, To: 1468886801000,
			Curves: []Curve{{Count: 7e9}}},
		"x · 2 values · adds up a, b":                      {Type: Heatmap, Sources: []string{"x"}, Added: []string{"a", "b"}, Curves: []Curve{{Count: 1}, {Count: 1}}},
		"x · 0 values · p99 and maximum of 5 min windows":  {Type: Timeline, Sources: []string{"x"}, Series: lines, Span: "5 min windows"},
		"x · 0 values · values per second of 10 s windows": {Type: Throughput, Sources: []string{"x"}, Span: "10 s windows"},
	} {
		if got := p.caption(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestHeatScale proves that the scale of colours goes from one value in a cell to the most.
func TestHeatScale(t *testing.T) {
	t.Parallel()
	p := collect(t, Heatmap, &Collector{WindowBytes: 1 << 20}, 50, func(i int) (string, float64, float64, []int64) {
		values := []int64{1_000_000 + int64(i)*7000}
		for range 3000 {
			values = append(values, 1000, 5000, 20_000) // lines lie over the latter two
		}
		return "", float64(i), 1, values
	})
	p.Theme = Dark
	seen := map[color.RGBA]int{}
	var file bytes.Buffer
	if err := p.WritePNG(&file); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&file)
	if err != nil {
		t.Fatal(err)
	}
	for x := 100; x < 1000; x++ { // the chart, without the scale beside it
		for y := range 500 {
			seen[color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)]++
		}
	}
	c := p.colours()
	if seen[c.heat[0]] < 1000 || seen[c.heat[len(c.heat)-1]] < 500 {
		t.Errorf("%d dots of the first colour, %d of the last", seen[c.heat[0]], seen[c.heat[len(c.heat)-1]])
	}
}

// TestHeatLines compares the lines over a heat map with the percentiles of the values.
func TestHeatLines(t *testing.T) {
	t.Parallel()
	all := make([][]int64, 20)
	p := collect(t, Heatmap, &Collector{WindowBytes: 1 << 22}, 40, func(i int) (string, float64, float64, []int64) {
		values := latencies(int64(i), 300, 1e6*float64(1+i%5))
		all[i/2] = append(all[i/2], values...)
		return []string{"a", "b"}[i%2], float64(i / 2), 1, values
	})
	const rows = 300
	g := newGrid(0, 20_000, 1e4, 1e9, 20, rows)
	g.add(p.Windows)
	for _, share := range []float64{0.5, 0.9, 0.99} {
		for n, point := range g.line(share) {
			slices.Sort(all[n])
			want := float64(all[n][int(math.Ceil(share*float64(len(all[n]))))-1])
			if step := math.Pow(1e5, 1.0/rows) * 1.02; point.Value < want/step || point.Value > want*step || point.Start != float64(1000*n) {
				t.Errorf("%v at %v: %v, want %v", share, point.Start, point.Value, want)
			}
		}
	}
	if g := newGrid(0, 1, 1, 10, 1, 5); !math.IsNaN(g.percentile(0, 0.5)) {
		t.Error("an empty column has a percentile")
	}
}

// TestManyTags proves that the tags with the highest values have a chart, the highest first, as
// many as have room, and that a note says how many there are.
func TestManyTags(t *testing.T) {
	t.Parallel()
	many := collect(t, Timeline, timeline(99, 100), 30*10, func(i int) (string, float64, float64, []int64) {
		return fmt.Sprintf("tag-%02d", i%30), float64(i / 30), 1, []int64{int64(1000 * (1 + i%30))}
	})
	for _, test := range []struct{ width, height, charts float64 }{{1200, 600, 24}, {400, 300, 4}} {
		p := *many
		p.Width, p.Height = test.width, test.height
		var found []string
		for _, box := range texts(t, &p) {
			if strings.HasPrefix(box.text, "tag-") {
				found = append(found, box.text)
			}
			if strings.HasPrefix(box.text, "Of ") && box.text != fmt.Sprintf("Of 30 tags, the %v with the highest values have a chart.", test.charts) {
				t.Error(box.text)
			}
		}
		if len(found) != int(test.charts) || found[0] != "tag-29" || found[3] != "tag-26" {
			t.Errorf("%v by %v: %q", test.width, test.height, found)
		}
	}
}

// TestReport proves that the charts of a report share the axis of time.
func TestReport(t *testing.T) {
	t.Parallel()
	at := map[string][]float64{}
	for _, box := range texts(t, pictures(t)["report"]) {
		if box.bottom < 650 && box.left < 500 {
			at[box.text] = append(at[box.text], box.left)
		}
	}
	for _, tick := range []string{"15", "30", "45"} {
		if len(at[tick]) != 3 || slices.Max(at[tick])-slices.Min(at[tick]) > 0.01 {
			t.Errorf("%s s is at %v", tick, at[tick])
		}
	}
	if len(at["time since start (s)"]) != 1 {
		t.Errorf("%d titles of the axis of time", len(at["time since start (s)"]))
	}
}

// TestWorst proves that numbers stand above the worst moments, side by side where they would
// overlap, and in the facet of their tag, and that a list says what they are.
func TestWorst(t *testing.T) {
	t.Parallel()
	p := collect(t, Timeline, timeline(100), 120, func(i int) (string, float64, float64, []int64) {
		return []string{"a", "b"}[i%2], float64(i / 2), 1, []int64{int64(1000 * (1 + i%7))}
	})
	p.Unit = "ns"
	p.Worst = []Moment{
		{Start: 30_002, End: 39_998, Peak: 30_002, Value: 7000, Label: "a", Name: "a · node1"},
		{Start: 30_050, End: 30_090, Peak: 30_050, Value: 6900, Label: "b", Name: "b"},
		{Start: 500_000, End: 501_000, Peak: 500_000, Value: 1, Label: "b"}, // after the chart
	}
	at := func(p *Picture) map[string]textBox {
		found := map[string]textBox{}
		for _, box := range texts(t, p) {
			if box.bottom > 150 || len(box.text) > 1 {
				found[box.text] = box
			}
		}
		return found
	}
	found := at(p)
	one, two := found["1"], found["2"]
	if one.text == "" || two.text == "" || two.left-one.left < 10 || two.left-one.left > 20 || one.left < 440 || one.left > 480 {
		t.Errorf("marks at %+v and %+v", one, two)
	}
	for _, want := range []string{"1  at 30 s for 10 s · 7,000 ns · a · node1", "2  at 30.05 s for 40 ms · 6,900 ns · b", "3  at 500 s for 1 s · 1 ns"} {
		if found[want].text == "" {
			t.Errorf("no %q", want)
		}
	}
	if _, late := found["3"]; late {
		t.Error("a mark outside of the chart")
	}
	p.Absolute, p.Origin, p.Facets = true, 1468800401074, true
	found = at(p)
	if one, two := found["1"], found["2"]; one.text == "" || two.left-one.left < 100 {
		t.Errorf("marks at %+v and %+v, which is one facet", one, two)
	}
	if found["1  at 2016-07-18 00:07:11 for 10 s · 7,000 ns · a · node1"].text == "" {
		t.Errorf("list %v", slices.Sorted(maps.Keys(found)))
	}
}
