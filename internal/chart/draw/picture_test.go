package draw

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/chart/page/pagetest"
	"hdrkit/internal/clitest"
)

var update = flag.Bool("update", false, "write the golden files again")

// collect returns the picture of intervals made by step, which returns an interval's series and its
// values.
func collect(t testing.TB, kind *Type, c *Collector, intervals int, step func(i int) (label string, start, length float64, values []int64)) *Picture {
	t.Helper()
	if c.Ratio == 0 {
		c.Ratio = 1
	}
	sums := map[string]*histogram.Histogram{}
	var labels []string
	var interval Interval
	h := histogramOf(t, 3, nil)
	for i := range intervals {
		label, start, length, values := step(i)
		h.Reset(h.Layout())
		for _, v := range values {
			if err := h.Record(v, 1); err != nil {
				t.Fatal(err)
			}
		}
		measure(c, start, length, h, &interval)
		if err := c.Add("", label, &interval); err != nil {
			t.Fatal(err)
		}
		if sums[label] == nil {
			sums[label] = histogramOf(t, 3, nil)
			labels = append(labels, label)
		}
		if err := sums[label].Add(h); err != nil {
			t.Fatal(err)
		}
	}
	p, err := c.Picture(kind, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, label := range labels {
		p.Curves = append(p.Curves, CurveOf(label, sums[label], c.Ratio))
	}
	return p
}

// measure takes from an interval what c needs. Start and length are in seconds.
func measure(c *Collector, start, length float64, h *histogram.Histogram, into *Interval) {
	plain, err := h.AppendBinary(nil)
	if err != nil {
		panic(err)
	}
	i := &hdrlog.Interval{Start: start, Length: length, Payload: base64.StdEncoding.AppendEncode(nil, plain)}
	if err := into.Sum().Add(i); err != nil {
		panic(err)
	}
	c.Measure(i, h, into)
}

func histogramOf(t testing.TB, digits int, values []int64) *histogram.Histogram {
	t.Helper()
	h, err := histogram.New(histogram.Layout{Digits: digits, Lowest: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		if err := h.Record(v, 1); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func timeline(percentiles ...float64) *Collector {
	c := &Collector{}
	for _, p := range percentiles {
		c.Measures = append(c.Measures, AtPercentile(p))
	}
	return c
}

// latencies returns n values around scale, the same for the same seed.
func latencies(seed int64, n int, scale float64) (values []int64) {
	r := rand.New(rand.NewSource(seed))
	for range n {
		values = append(values, int64(scale*math.Exp(r.NormFloat64())))
	}
	return values
}

var made map[string]*Picture

// pictures are what the golden files show: each type of chart, and the extremes.
func pictures(t testing.TB) map[string]*Picture {
	if made == nil {
		made = makePictures(t)
	}
	return made
}

func makePictures(t testing.TB) map[string]*Picture {
	tags := []string{"read", "write", "scan"}
	steady := func(i int) (string, float64, float64, []int64) {
		n := i % len(tags)
		return tags[n], float64(i / len(tags)), 1, latencies(int64(i), 40, 1e6*float64(n+1))
	}
	all := map[string]*Picture{}
	add := func(name string, p *Picture, change func(p *Picture)) {
		p.Unit = "ns"
		if change != nil {
			change(p)
		}
		all[name] = p
	}
	add("timeline", collect(t, Timeline, timeline(100), 180, steady), func(p *Picture) {
		p.Title = "Maximum latency"
		p.Limits = []Limit{{0, 20e6}, {99, 15e6}}
	})
	add("levels", collect(t, Timeline, timeline(100, 99, 50), 180, steady), func(p *Picture) { p.LogValues = true })
	add("aggregated", collect(t, Timeline, &Collector{Measures: []Measure{AtPercentile(100)}, Aggregate: 5000}, 180, steady), nil)
	busy := func(i int) (string, float64, float64, []int64) {
		label, start, length, _ := steady(i)
		return label, start, length, latencies(int64(i), 2000*(1+i%3)+i*10, 1e6)
	}
	add("throughput", collect(t, Throughput, &Collector{Measures: []Measure{PerSecond()}}, 180, busy), func(p *Picture) {
		p.Absolute, p.Origin, p.Theme = true, 1468800390394, Dark
	})
	add("percentiles", collect(t, Percentiles, &Collector{}, 180, steady), func(p *Picture) {
		p.Limits = []Limit{{99, 20e6}, {99.9, 30e6}}
	})
	add("heatmap", collect(t, Heatmap, &Collector{WindowBytes: 1 << 20}, 180, steady), nil)
	add("difference", collect(t, Heatmap, &Collector{WindowBytes: 1 << 20}, 180, func(i int) (string, float64, float64, []int64) {
		label := []string{"before read", "after read"}[i%2]
		return label, float64(i / 2), 1, latencies(int64(i), 100+i, 1e6*float64(1+i/120*(i%2)))
	}), func(p *Picture) {
		for i := range p.Windows {
			p.Windows[i].Group = []string{"before", "after"}[i]
		}
		p.Height, p.Limits, p.Marks = 900, []Limit{{99, 15e6}}, []Mark{{60_000, "deploy"}}
	})
	add("gaps", collect(t, Timeline, timeline(100), 60, func(i int) (string, float64, float64, []int64) {
		start := float64(i)
		if i >= 20 {
			start += 15
		}
		if i == 40 {
			return "", start, 1, nil // an empty interval
		}
		if i > 50 {
			start += 10 * float64(i-50) // each by itself
		}
		return "", start, 1, latencies(int64(i), 10, 1e6)
	}), nil)
	add("one", collect(t, Timeline, timeline(100), 1, func(i int) (string, float64, float64, []int64) {
		return "", 3, 10, []int64{1000000}
	}), nil)
	for _, kind := range []*Type{Timeline, Percentiles, Heatmap, Throughput, Report} {
		c := timeline(100)
		c.WindowBytes = 1 << 20
		if kind == Report {
			c.Measures = ReportMeasures()
		}
		add("empty-"+kind.Name, collect(t, kind, c, 3, func(i int) (string, float64, float64, []int64) {
			return "", float64(i), 1, nil
		}), func(p *Picture) {
			if kind == Report {
				p.Total = p.Series[0]
				p.Series[0].Lines = p.Total.Lines[3:]
			}
		})
	}
	zeros := func(i int) (string, float64, float64, []int64) {
		return "", float64(i), 1, []int64{0, int64(i%4) * 1000, int64(i%4) * 700}
	}
	add("zeros-log", collect(t, Timeline, timeline(100), 30, zeros), func(p *Picture) { p.LogValues = true })
	add("zeros-heatmap", collect(t, Heatmap, &Collector{WindowBytes: 1 << 20}, 30, zeros), nil)
	wide := func(i int) (string, float64, float64, []int64) { return "", float64(i), 1, []int64{1 << i} }
	add("wide-log", collect(t, Timeline, timeline(100), 63, wide), func(p *Picture) { p.LogValues = true })
	add("wide-unitless", collect(t, Timeline, timeline(100), 63, wide), func(p *Picture) { p.Unit = "" })
	add("years", collect(t, Timeline, timeline(100), 5*365, func(i int) (string, float64, float64, []int64) {
		return "", float64(i) * 86400, 86400, latencies(int64(i), 3, 1e6)
	}), func(p *Picture) { p.Absolute, p.Origin = true, 1468800390394 })
	add("facets", collect(t, Timeline, timeline(100, 99), 180, steady), func(p *Picture) {
		p.Facets, p.Marks, p.Limits = true, []Mark{{20_000, "deploy"}}, []Limit{{0, 12e6}}
	})
	add("facets-percentiles", collect(t, Percentiles, &Collector{}, 180, steady), func(p *Picture) {
		p.Facets, p.Limits = true, []Limit{{99, 8e6}, {99.9, 12e6}}
		for i := range p.Curves { // as if they were of two runs
			p.Curves[i].Group = []string{"before", "after"}[i%2]
			p.Curves[i].Label = p.Curves[i].Group + " " + []string{"read", "write"}[i/2]
		}
	})
	add("facets-heatmap", collect(t, Heatmap, &Collector{WindowBytes: 1 << 20}, 180, steady), func(p *Picture) { p.Facets = true })
	add("marks", collect(t, Timeline, timeline(100), 180, steady), func(p *Picture) {
		p.Marks = []Mark{{10_000, "first"}, {11_000, "second, which is close to it"}, {12_000, "third"}, {59_500, "the last one"}, {99_000, "outside"}}
		p.Low, p.High = 1e6, 25e6
	})
	add("ratio", &Picture{Type: Percentiles, Width: 1200, Height: 600, DPI: 96, ValueName: "after / before", Baseline: 1, Curves: []Curve{
		RatioOf("read", CurveOf("", histogramOf(t, 3, latencies(1, 1000, 1e6)), 1), CurveOf("", histogramOf(t, 3, latencies(2, 1000, 1.5e6)), 1)),
	}}, func(p *Picture) { p.Unit = "" })
	many := func(i int) (string, float64, float64, []int64) {
		return fmt.Sprintf("endpoint-%03d", i%150), float64(i / 150), 1, latencies(int64(i), 5, 1e6)
	}
	add("many", collect(t, Timeline, timeline(100), 150*20, many), nil)
	add("facets-many", collect(t, Timeline, timeline(100), 150*20, many), func(p *Picture) { p.Facets, p.Height = true, 900 })
	report := collect(t, Report, &Collector{Measures: Report.Measures(nil), Aggregate: 5000, WindowBytes: 1 << 20}, 180, steady)
	report.Total = collect(t, Report, &Collector{Measures: ReportMeasures(), Aggregate: 5000}, 180, func(i int) (string, float64, float64, []int64) {
		_, start, length, values := steady(i)
		return "", start, length, values
	}).Series[0]
	add("report", report, func(p *Picture) { p.Height, p.Sources, p.Limits = 900, []string{"steady.hdr"}, []Limit{{99, 15e6}} })
	strip := func(p *Picture) {
		for i := range 3 {
			node := Series{Label: fmt.Sprintf("machine-%d.example.com", i), Lines: []Line{{Name: "99%"}}}
			for n := range 12 {
				node.Lines[0].Points = append(node.Lines[0].Points, Point{float64(5000 * n), float64(5000*n + 5000), 1e6 + 4e5*float64(i*n)})
			}
			p.Nodes = append(p.Nodes, node)
		}
		p.NodeWindow, p.Height = 5000, 900
	}
	add("strip", collect(t, Timeline, timeline(100, 99), 180, steady), strip)
	withStrip := *report
	add("report-strip", &withStrip, strip)
	add("many-percentiles", collect(t, Percentiles, &Collector{}, 150*20, many), nil)
	return all
}

// TestGolden compares the drawings with those that were looked at. Run it with -update to draw them
// anew, and look.
func TestGolden(t *testing.T) {
	t.Parallel()
	for name, p := range pictures(t) {
		t.Run(name, func(t *testing.T) {
			var svg bytes.Buffer
			if err := p.WriteSVG(&svg); err != nil {
				t.Fatal(err)
			}
			got := withoutImages(t, svg.Bytes())
			path := filepath.Join("testdata", name+".svg")
			if *update {
				if err := os.WriteFile(path, got, 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs; run with -update and look at it", path)
			}
		})
	}
}

var inlineImage = regexp.MustCompile(`data:image/png;base64,[^"]*`)

// withoutImages replaces images by their size and a sum of their pixels: how well Go compresses
// them may change.
func withoutImages(t *testing.T, svg []byte) []byte {
	return inlineImage.ReplaceAllFunc(svg, func(data []byte) []byte {
		img, err := png.Decode(base64Reader(data[len("data:image/png;base64,"):]))
		if err != nil {
			t.Fatal(err)
		}
		sum := uint64(14695981039346656037) // FNV-1a
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
				for _, b := range []uint8{c.R, c.G, c.B, c.A} {
					sum = (sum ^ uint64(b)) * 1099511628211
				}
			}
		}
		return fmt.Appendf(nil, "%v, pixels %x", img.Bounds().Size(), sum)
	})
}

// TestTextInside proves that no text is cut: each piece lies inside the picture, and no two
// overlap, at the default size and the smallest.
func TestTextInside(t *testing.T) {
	t.Parallel()
	for name, p := range pictures(t) {
		testTextInside(t, name, p)
		small := *p
		if small.Width, small.Height = 400, 300; p.Type == Report {
			small.Width, small.Height = 800, 600
		} else if name == "difference" {
			small.Width, small.Height = 600, 450
		}
		if err := small.Check(); err != nil {
			t.Fatal(err)
		}
		testTextInside(t, name+", small", &small)
	}
}

func testTextInside(t *testing.T, name string, p *Picture) {
	{
		boxes := texts(t, p)
		if len(boxes) < 5 {
			t.Errorf("%s: only %d texts", name, len(boxes))
		}
		for _, box := range boxes {
			if box.left < 0 || box.right > p.Width*0.75 || box.bottom < 0 || box.top > p.Height*0.75 {
				t.Errorf("%s: %q is cut: %+v", name, box.text, box)
			}
		}
		for i, a := range boxes {
			for _, b := range boxes[i+1:] {
				const slop = 0.5 // points: boxes have room around the letters
				if a.left < b.right-slop && b.left < a.right-slop && a.bottom < b.top-slop && b.bottom < a.top-slop {
					t.Errorf("%s: %q and %q overlap: %+v %+v", name, a.text, b.text, a, b)
				}
			}
		}
	}
}

// TestLimitsWhole proves that the service levels in a legend can be read in the smallest picture,
// too.
func TestLimitsWhole(t *testing.T) {
	t.Parallel()
	c := &Collector{}
	p := collect(t, Percentiles, c, 8*20, func(i int) (string, float64, float64, []int64) {
		return fmt.Sprintf("a-tag-of-some-length-%d", i%8), float64(i / 8), 1, latencies(int64(i), 20, 1e6)
	})
	p.Limits = []Limit{{99, 60e6}, {99.9, 320e6}}
	p.Width, p.Height = 400, 300
	found := false
	for _, box := range texts(t, p) {
		found = found || box.text == "SLA: 99% ≤ 60M, 99.9% ≤ 320M"
	}
	if !found {
		t.Error("the service levels are not in the legend")
	}
	testTextInside(t, "limits", p)
}

// TestFormats proves that every picture comes out in every format, readable, and twice the same.
func TestFormats(t *testing.T) {
	t.Parallel()
	for name, p := range pictures(t) {
		if clitest.Rounds(1) == 0 && name != "timeline" && name != "heatmap" {
			continue
		}
		for _, format := range []Format{PNG, SVG, PDF, HTML} {
			var first, second bytes.Buffer
			if err := errors.Join(p.Write(&first, format), p.Write(&second, format)); err != nil {
				t.Errorf("%s: %s: %v", name, format, err)
			}
			if !bytes.Equal(first.Bytes(), second.Bytes()) {
				t.Errorf("%s: %s: two runs differ", name, format)
			}
			if err := readable(first.Bytes(), format, p); err != nil {
				t.Errorf("%s: %s: %v", name, format, err)
			}
		}
	}
	if err := New(Timeline).Write(io.Discard, "gif"); err == nil {
		t.Error("gif is written")
	}
}

func readable(file []byte, format Format, p *Picture) error {
	switch format {
	case PNG:
		img, err := png.Decode(bytes.NewReader(file))
		if err == nil && (img.Bounds().Dx() != int(p.Width) || img.Bounds().Dy() != int(p.Height)) {
			err = fmt.Errorf("size %v", img.Bounds())
		}
		return err
	case SVG:
		return xml.Unmarshal(file, new(struct{}))
	case PDF:
		if !bytes.HasPrefix(file, []byte("%PDF-")) || !bytes.HasSuffix(bytes.TrimSpace(file), []byte("%%EOF")) {
			return fmt.Errorf("no PDF: %.20q", file)
		}
	case HTML:
		if bytes.Contains(file, []byte("{{")) || !bytes.HasSuffix(bytes.TrimSpace(file), []byte("</html>")) {
			return errors.New("not filled in")
		}
	}
	return nil
}

// TestSize proves that the dots of a PNG are those asked for.
func TestSize(t *testing.T) {
	t.Parallel()
	p := collect(t, Timeline, timeline(100), 5, func(i int) (string, float64, float64, []int64) {
		return "", float64(i), 1, []int64{int64(i)}
	})
	p.Width, p.Height, p.DPI = 801, 333, 240
	var file bytes.Buffer
	if err := p.WritePNG(&file); err != nil {
		t.Fatal(err)
	}
	img, err := png.DecodeConfig(&file)
	if err != nil || img.Width != 2003 || img.Height != 833 { // 801 and 333 times 2.5
		t.Errorf("%d by %d, %v", img.Width, img.Height, err)
	}
	for _, bad := range []Picture{{Width: 10, Height: 600, DPI: 96}, {Width: 1e6, Height: 1e6, DPI: 96}, {Width: math.NaN(), Height: 600, DPI: 96}, {Width: 1200, Height: 600, DPI: 0}} {
		if bad.Check() == nil {
			t.Errorf("%v by %v at %v is let through", bad.Width, bad.Height, bad.DPI)
		}
	}
}

// TestSharpImages proves that the dots of an image become dots of a PNG, and no mixture of them,
// wherever it stands.
func TestSharpImages(t *testing.T) {
	t.Parallel()
	cells := image.NewNRGBA(image.Rect(0, 0, 20, 10))
	for i := range 200 {
		if (i+i/20)%3 > 0 { // the rest is transparent
			cells.SetNRGBA(i%20, i/20, color.NRGBA{uint8(i), uint8(255 * ((i + i/20) % 2)), 0, 255})
		}
	}
	canvas := pngCanvas{vgimg.NewWith(vgimg.UseWH(50*pixel, 40*pixel), vgimg.UseDPI(96))}
	min := vg.Point{X: 5.3 * pixel, Y: 8.6 * pixel} // from the left lower corner
	canvas.DrawImage(vg.Rectangle{Min: min, Max: vg.Point{X: min.X + 20*pixel, Y: min.Y + 10*pixel}}, cells)
	for y := range 40 {
		for x := range 50 {
			want := color.RGBA{255, 255, 255, 255}
			if c := cells.NRGBAAt(x-5, y-(40-9-10)); c.A > 0 {
				want = color.RGBA(c)
			}
			if got := canvas.Image().At(x, y); got != want {
				t.Errorf("%d,%d: %v, want %v", x, y, got, want)
			}
		}
	}
}

// TestSpike proves that the highest value of a million intervals is in the picture, and a page,
// though most are not.
func TestSpike(t *testing.T) {
	t.Parallel()
	const intervals, at, spike = 1_000_000, 777_777, 987_654_321
	c := timeline(100)
	c.Ratio = 1
	var quiet, loud Interval
	measure(c, 0, 1, histogramOf(t, 3, []int64{1000, 2000}), &quiet)
	measure(c, 0, 1, histogramOf(t, 3, []int64{spike}), &loud)
	for i := range intervals {
		interval := quiet
		if i == at {
			interval = loud
		}
		interval.window.Start, interval.window.Begin, interval.window.End = int64(1000*i), int64(1000*i), int64(1000*i+1000)
		interval.values = []float64{interval.values[0] + float64(i%7)}
		if err := c.Add("", "", &interval); err != nil {
			t.Fatal(err)
		}
	}
	p, err := c.Picture(Timeline, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	thin := runs(p.Series[0].Lines[0].Points, intervals)
	if len(thin) != 1 || len(thin[0]) > 4*1001 {
		t.Fatalf("%d runs, %d points", len(thin), len(thin[0]))
	}
	highest, lowest := thin[0][0], thin[0][0]
	for _, point := range thin[0] {
		if point.Value > highest.Value {
			highest = point
		}
		if point.Value < lowest.Value {
			lowest = point
		}
	}
	if highest.Start != 1000*at || highest.Value < spike || lowest.Value != quiet.values[0] {
		t.Errorf("highest %+v, lowest %+v", highest, lowest)
	}
	var html bytes.Buffer
	if err := p.WriteHTML(&html); err != nil {
		t.Fatal(err)
	}
	line, found := pagetest.Read(t, html.Bytes()).Lines[0][0], false
	for i, v := range line.V {
		found = found || v >= spike && line.S[i] == 1000*at
	}
	if !found || len(line.V) > 4*(pageColumns+1) {
		t.Errorf("page: found %v in %d points", found, len(line.V))
	}
	var svg bytes.Buffer
	p.Unit = "ns"
	if err := p.WriteSVG(&svg); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(svg.String(), ">1,000</text>") {
		t.Error("the axis does not reach the spike")
	}
}

// TestRuns proves that a gap in the log is one in the line.
func TestRuns(t *testing.T) {
	t.Parallel()
	var points []Point
	add := func(start, end, value float64) { points = append(points, Point{start, end, value}) }
	for i := range 10 {
		add(float64(i), float64(i+1), 5)
	}
	add(10, 11, math.NaN()) // empty
	add(11, 12, 6)
	add(12.1, 13.1, 7) // late, but not by half an interval
	add(20, 21, 8)
	got := runs(points, 0.001)
	if len(got) != 3 || len(got[0]) != 10 || len(got[1]) != 2 || len(got[2]) != 1 {
		t.Errorf("%v", got)
	}
	if got := runs(points, 100); len(got) != 1 {
		t.Errorf("gaps too narrow to be seen: %v", got)
	}
	instants := []Point{{0, 0, 1}, {1, 1, 2}, {2, 2, 3}, {9, 9, 4}}
	if got := runs(instants, 0.001); len(got) != 2 || len(got[0]) != 3 {
		t.Errorf("intervals without length: %v", got)
	}
}

// TestCurveEnds proves that a curve ends at its maximum, halfway into the share of its last value.
func TestCurveEnds(t *testing.T) {
	t.Parallel()
	curve := CurveOf("", histogramOf(t, 3, latencies(1, 1000, 1e6)), 1e6)
	points := curve.points()
	last := points[len(points)-1]
	if want := math.Log10(2000); math.Abs(last.Start-want) > 1e-12 || last.Value != curve.max() {
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
	for name, theme := range themes {
		for kind, m := range dichromacies {
			for i, a := range theme.lines {
				for j, b := range append(theme.lines[i+1:len(theme.lines):len(theme.lines)], theme.background) {
					if d := distance(m, a, b); d < 9 {
						t.Errorf("%s, %s: colours %d and %d are only %.1f apart", name, kind, i, i+1+j, d)
					}
				}
			}
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

// TestContrast proves that each line, and each cell of a heat map that has a count, stands out from
// the background.
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
	for name, theme := range themes {
		check := func(kind string, c color.Color) {
			a, b := luminance(c)+0.05, luminance(theme.background)+0.05
			if ratio := max(a, b) / min(a, b); ratio < 3 {
				t.Errorf("%s: the contrast of %s %v is %.2f", name, kind, c, ratio)
			}
		}
		for _, c := range append(slices.Clone(theme.lines), theme.limit, theme.text, theme.faint) {
			check("line", c)
		}
		for i := range 101 {
			check("cell", theme.heatAt(float64(i)/100))
			check("change", theme.changeAt(float64(i)/100))
		}
	}
}
