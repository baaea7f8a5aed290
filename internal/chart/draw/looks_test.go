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

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/collect"
	"hdrkit/internal/chart/page/pagetest"
	"hdrkit/internal/clitest"
	"hdrkit/output"
)

// TestSVGWellFormed proves that an SVG is XML, whatever stands in tags, titles, units and marks.
func TestSVGWellFormed(t *testing.T) {
	t.Parallel()
	odd := []string{"\x00\x01\x1b[31m\x7f\u0085", "\ufffe\uffff", "\xff\xfe broken \xc3", "<&>\"'", "\t\n\r", "שלום", "\U0001f600 \u200b"}
	for _, text := range odd {
		for _, kind := range chart.Types {
			c := pagetest.Timeline(100)
			c.Options.MaxWindows = 1 << 7
			p := pagetest.Collect(t, kind, c, 6, func(i int) (string, float64, float64, []int64) {
				return []string{text, "b" + text}[i%2], float64(i), 1, []int64{5, 10}
			})
			p.Looks.Title, p.Values.Unit, p.Events.Marks = text, text, []chart.Mark{{Time: 1500, Text: text}}
			for _, facets := range []bool{false, true} {
				p.Looks.Facets = facets
				var svg bytes.Buffer
				if err := WriteSVG(&svg, p); err != nil {
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
		if err := Write(io.Discard, &chart.Picture{}, format); err == nil || !strings.Contains(err.Error(), "type") {
			t.Errorf("%s: %v", format, err)
		}
		if err := Write(io.Discard, &chart.Picture{Type: chart.Timeline}, format); err == nil || !strings.Contains(err.Error(), "too small") {
			t.Errorf("%s: %v", format, err)
		}
		for _, kind := range chart.Types {
			for _, facets := range []bool{false, true} {
				if err := Write(io.Discard, &chart.Picture{Type: kind, Looks: chart.Looks{Width: 800, Height: 600, DPI: 96, Facets: facets}}, format); err != nil {
					t.Errorf("%s, %s: %v", format, kind.Name, err)
				}
			}
		}
	}
}

// TestStairs proves that a line is level for as long as each interval lasts.
func TestStairs(t *testing.T) {
	t.Parallel()
	p := pagetest.Collect(t, chart.Timeline, pagetest.Timeline(100), 12, func(i int) (string, float64, float64, []int64) {
		return "", float64(10 * i), 10, []int64{int64(1000 + 100*(i%5))}
	})
	width, height := size(&p.Looks)
	canvas := &recorder.Canvas{}
	paint(p, draw.NewCanvas(canvas, width, height), wellFormed, false)
	level := map[int]int{} // lengths in pixels, of the colour of the line
	var colour color.Color
	for _, action := range canvas.Actions {
		switch action := action.(type) {
		case *recorder.SetColor:
			colour = action.Color
		case *recorder.Stroke:
			for i := 1; colour == p.Looks.Colours().Lines[0] && i < len(action.Path); i++ {
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

// TestEndings proves that up to four lines have a label at their ends, and more have a chart for
// each tag, and a legend.
func TestEndings(t *testing.T) {
	t.Parallel()
	for _, tags := range []int{2, 3} {
		p := pagetest.Collect(t, chart.Timeline, pagetest.Timeline(99, 100), 60, func(i int) (string, float64, float64, []int64) {
			return fmt.Sprint("tag", i%tags), float64(i / tags), 1, append(slices.Repeat([]int64{10, 200}, 100), 100, 150, 180, int64(1000+i))
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
	if got := spelledOut.spell("aשb\x01é"); got != `a\u05E9b\u0001é` {
		t.Error(got)
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
	face := plainHandler.Cache().Lookup(liberation(10), 10)
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
	if err := errors.Join(WritePDF(&file, p), os.WriteFile(path, file.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
	fonts, err := exec.Command("pdffonts", path).Output()
	if !regexp.MustCompile(`(?m)^\S+ +CID TrueType +Identity-H +yes no +yes `).Match(fonts) || strings.Count(string(fonts), "\n") != 3 {
		t.Errorf("fonts %s%v", fonts, err)
	}
	text, err := exec.Command("pdftotext", path, "-").Output()
	for _, want := range []string{"Maximum latency", "read", "SLA: max ≤ 20 ms", "time since start (s)"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in %q, %v", want, text, err)
		}
	}
}

// TestMetadata proves that files say what they are, and how large a dot of a PNG is.
func TestMetadata(t *testing.T) {
	t.Parallel()
	p := chart.New(chart.Percentiles)
	p.Inputs.Sources, p.Inputs.Spans = []string{"a<b>.hdr"}, [][2]int64{{1468800401074, 1468800521000}}
	p.Series, p.Looks.DPI = []chart.Series{{Curve: chart.CurveOf(pagetest.HistogramOf(t, 3, []int64{1, 2, 3}), 1)}}, 192
	const title = "a<b>.hdr · 2016-07-18 00:06:41 to 00:08:41 UTC · 3 values"
	var picture, svg, pdf bytes.Buffer
	if err := errors.Join(WritePNG(&picture, p), WriteSVG(&svg, p), WritePDF(&pdf, p)); err != nil {
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
	p.Texts.Summary = []chart.Summary{chart.SummaryOf("read", pagetest.HistogramOf(t, 3, []int64{1, 2, 3}), 1, 0, 1, nil)}
	if want := title + "\nread: 3 values, p50 2, maximum 3"; p.Description() != want {
		t.Errorf("description %q, not %q", p.Description(), want)
	}
	if !strings.Contains(svg.String(), `<svg role="img" `) || !strings.Contains(svg.String(), "<desc>a&lt;b&gt;.hdr · ") {
		t.Error("no role or description in the SVG")
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
	if p.Looks.Title = "mine"; p.Name() != "mine" {
		t.Errorf("title %q", p.Name())
	}
	if !slices.ContainsFunc(texts(t, p), func(box textBox) bool { return box.text == title }) {
		t.Error("no caption")
	}
}

// TestHeatScale proves that the scale of colours goes from one value in a cell to the most.
func TestHeatScale(t *testing.T) {
	t.Parallel()
	p := pagetest.Collect(t, chart.Heatmap, &collect.Collector{Options: collect.Options{MaxWindows: 1 << 11}}, 50, func(i int) (string, float64, float64, []int64) {
		values := []int64{1_000_000 + int64(i)*7000}
		for range 3000 {
			values = append(values, 1000, 5000, 20_000) // lines lie over the latter two
		}
		return "", float64(i), 1, values
	})
	p.Looks.Theme = "dark"
	seen := map[color.RGBA]int{}
	var file bytes.Buffer
	if err := WritePNG(&file, p); err != nil {
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
	c := p.Looks.Colours()
	if first, last := seen[rgba(c.Heat[0])], seen[rgba(c.Heat[len(c.Heat)-1])]; first < 1000 || last < 500 {
		t.Errorf("%d dots of the first colour, %d of the last", first, last)
	}
}

// TestManyTags proves that the tags with the highest values have a chart, the highest first, as
// many as have room, and that a note says how many there are.
func TestManyTags(t *testing.T) {
	t.Parallel()
	many := pagetest.Collect(t, chart.Timeline, pagetest.Timeline(99, 100), 30*10, func(i int) (string, float64, float64, []int64) {
		return fmt.Sprintf("tag-%02d", i%30), float64(i / 30), 1, []int64{int64(1000 * (1 + i%30))}
	})
	for _, test := range []struct{ width, height, charts float64 }{{1200, 600, 24}, {400, 300, 4}} {
		p := *many
		p.Looks.Width, p.Looks.Height = test.width, test.height
		var found []string
		for _, box := range texts(t, &p) {
			if strings.HasPrefix(box.text, "tag-") {
				found = append(found, box.text)
			}
			if strings.HasPrefix(box.text, "Of ") && box.text != fmt.Sprintf("Of 30 tags, the %v with the highest maximum have a chart.", test.charts) {
				t.Error(box.text)
			}
		}
		if len(found) != int(test.charts) || found[0] != "tag-29" || found[3] != "tag-26" {
			t.Errorf("%v by %v: %q", test.width, test.height, found)
		}
	}
}

// TestReport proves that a report has one axis of time, below the heat map, and the result above.
func TestReport(t *testing.T) {
	t.Parallel()
	p := *pictures(t)["report"]
	p.Looks.Title = ""
	p.Texts.Findings = []output.Finding{{Sentence: "p99 is 3 ms."}}
	at := map[string][]textBox{}
	for _, box := range texts(t, &p) {
		at[box.text] = append(at[box.text], box)
	}
	axis, result := at["time since start (s)"], at[p.Texts.Findings[0].Sentence]
	if len(axis) != 1 || len(at["30"]) != 1 || len(result) != 1 {
		t.Fatalf("axis %v, %v; result %v", axis, at["30"], result)
	}
	if result[0].bottom < axis[0].top {
		t.Error("the result is below the charts")
	}
}

// TestWorst proves that numbers stand above the worst moments, apart where they would
// overlap, and in the facet of their tag, and that a list says what they are.
func TestWorst(t *testing.T) {
	t.Parallel()
	p := pagetest.Collect(t, chart.Timeline, pagetest.Timeline(100), 120, func(i int) (string, float64, float64, []int64) {
		return []string{"a", "b"}[i%2], float64(i / 2), 1, []int64{int64(1000 * (1 + i%7))}
	})
	p.Values.Unit = "ns"
	p.Events.Worst = []chart.Moment{
		{Start: 30_002, End: 39_998, Peak: 30_002, Value: 7000, Label: "a", Name: "a · node1"},
		{Start: 30_050, End: 30_090, Peak: 30_050, Value: 6900, Label: "b", Name: "b"},
		{Start: 500_000, End: 501_000, Peak: 500_000, Value: 1, Label: "b"}, // after the chart
	}
	at := func(p *chart.Picture) map[string]textBox {
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
	if one.text == "" || two.text == "" || max(two.left-one.left, one.left-two.left) > 3 || max(two.bottom-one.bottom, one.bottom-two.bottom) < 10 || one.left < 440 || one.left > 480 {
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
	p.Time.Absolute, p.Time.Origin, p.Looks.Facets = true, 1468800401074, true
	found = at(p)
	if one, two := found["1"], found["2"]; one.text == "" || two.left-one.left < 100 {
		t.Errorf("marks at %+v and %+v, which is one facet", one, two)
	}
	if found["1  at 00:07:11 for 10 s · 7,000 ns · a · node1"].text == "" {
		t.Errorf("list %v", slices.Sorted(maps.Keys(found)))
	}
}

func rgba(c color.Color) color.RGBA { return color.RGBAModel.Convert(c).(color.RGBA) }

// TestRunNames proves that long names of runs keep what tells them apart, and that a sentence which
// is too long for a title is a note, too.
func TestRunNames(t *testing.T) {
	t.Parallel()
	p := chart.New(chart.Load)
	p.Looks.Title = strings.Repeat("a sentence that is long ", 8)
	s := chart.Series{Lines: []chart.Line{{Name: "max"}}}
	for n := range 6 {
		s.Names = append(s.Names, fmt.Sprintf("checkout-service-load-test-2026-11-25-step-%d-with-long-name", n))
		s.Lines[0].Points = append(s.Lines[0].Points, chart.Point{Start: float64(100 * n), End: float64(100 * n), Value: float64(n)})
	}
	p.Series = []chart.Series{s}
	all := texts(t, p)
	for n := range 6 {
		if name := fmt.Sprintf("…%d…", n); !slices.ContainsFunc(all, func(box textBox) bool { return box.text == name }) {
			t.Errorf("no %s in %v", name, all)
		}
	}
	if !slices.ContainsFunc(all, func(box textBox) bool { return box.text == p.Looks.Title }) {
		t.Errorf("the whole title is not in %v", all)
	}
}

// TestManyRuns proves that a level is drawn over the dots of many runs.
func TestManyRuns(t *testing.T) {
	t.Parallel()
	p := chart.New(chart.Trend)
	line := chart.Line{Name: "max", Levels: []chart.Point{{Start: 0, End: 399, Value: 10}}}
	names := make([]string, 400)
	for n := range names {
		line.Points = append(line.Points, chart.Point{Start: float64(n), End: float64(n), Value: 10})
	}
	p.Series = []chart.Series{{Lines: []chart.Line{line}, Names: names}}
	var svg bytes.Buffer
	if err := WriteSVG(&svg, p); err != nil {
		t.Fatal(err)
	}
	dots := regexp.MustCompile(`<path d="M[^"]*C[^"]*" style="fill:[^"]*fill-opacity`).FindAllIndex(svg.Bytes(), -1)
	levels := regexp.MustCompile(`stroke-width:1.8`).FindAllIndex(svg.Bytes(), -1)
	if len(dots) < 400 || len(levels) == 0 || levels[len(levels)-1][0] < dots[len(dots)-1][0] {
		t.Errorf("%d pale dots, %d levels", len(dots), len(levels))
	}
}
