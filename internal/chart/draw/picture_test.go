package draw

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/chart/collect"
	"hdrkit/internal/chart/page/pagetest"
	"hdrkit/internal/clitest"
	"hdrkit/output"
)

var update = flag.Bool("update", false, "write the golden files again")

var made map[string]*chart.Picture

// pictures are what the golden files show: each type of chart, and the extremes.
func pictures(t testing.TB) map[string]*chart.Picture {
	if made == nil {
		made = makePictures(t)
	}
	return made
}

func makePictures(t testing.TB) map[string]*chart.Picture {
	tags := []string{"read", "write", "scan"}
	steady := func(i int) (string, float64, float64, []int64) {
		n := i % len(tags)
		return tags[n], float64(i / len(tags)), 1, pagetest.Latencies(int64(i), 40, 1e6*float64(n+1))
	}
	all := map[string]*chart.Picture{}
	add := func(name string, p *chart.Picture, change func(p *chart.Picture)) {
		p.Values.Unit = "ns"
		if change != nil {
			change(p)
		}
		all[name] = p
	}
	add("timeline", pagetest.Collect(t, chart.Timeline, pagetest.Timeline(100), 180, steady), func(p *chart.Picture) {
		p.Looks.Title = "Maximum latency"
		p.Values.Limits = []chart.Limit{{Percentile: 0, Value: 20e6}, {Percentile: 99, Value: 15e6}}
	})
	add("levels", pagetest.Collect(t, chart.Timeline, pagetest.Timeline(100, 99, 50), 180, steady), func(p *chart.Picture) { p.Values.Log = true })
	add("aggregated", pagetest.Collect(t, chart.Timeline, &collect.Collector{Options: collect.Options{Measures: []chart.Measure{chart.AtPercentile(100)}, Aggregate: 5000}}, 180, steady), nil)
	busy := func(i int) (string, float64, float64, []int64) {
		label, start, length, _ := steady(i)
		return label, start, length, pagetest.Latencies(int64(i), 2000*(1+i%3)+i*10, 1e6)
	}
	add("throughput", pagetest.Collect(t, chart.Throughput, &collect.Collector{Options: collect.Options{Measures: []chart.Measure{chart.PerSecond()}}}, 180, busy), func(p *chart.Picture) {
		p.Time.Absolute, p.Time.Origin, p.Looks.Theme = true, 1468800390394, "dark"
	})
	add("percentiles", pagetest.Collect(t, chart.Percentiles, &collect.Collector{}, 180, steady), func(p *chart.Picture) {
		p.Values.Limits = []chart.Limit{{Percentile: 99, Value: 20e6}, {Percentile: 99.9, Value: 30e6}}
	})
	add("heatmap", pagetest.Collect(t, chart.Heatmap, &collect.Collector{Options: collect.Options{MaxWindows: 1 << 11}}, 180, steady), nil)
	add("difference", pagetest.Collect(t, chart.Heatmap, &collect.Collector{Options: collect.Options{MaxWindows: 1 << 11}}, 180, func(i int) (string, float64, float64, []int64) {
		label := []string{"before read", "after read"}[i%2]
		return label, float64(i / 2), 1, pagetest.Latencies(int64(i), 100+i, 1e6*float64(1+i/120*(i%2)))
	}), func(p *chart.Picture) {
		for i := range p.Series {
			p.Series[i].Group = []string{"before", "after"}[i]
		}
		p.Looks.Height, p.Values.Limits, p.Events.Marks = 900, []chart.Limit{{Percentile: 99, Value: 15e6}}, []chart.Mark{{Time: 60_000, Text: "deploy"}}
	})
	own := *all["difference"]
	own.Type, own.Looks.Height, own.Looks.Title, own.Events.Marks = chart.Report, 1200, "p99 of read rose by 90% (80..100): 15.2 to 28.9 ms. Of 4 figures 1 changed.", nil
	own.Comparison.Changes = [][]string{{"", "read", "", ""}, {"", "before", "after", "change"}, {"count", "18,000", "18,100", "+0.6%"}, {"p50", "1.2", "1.2", "~"}, {"p99", "15.2", "28.9", "+90% (80..100)"}}
	all["comparison"] = &own
	add("gaps", pagetest.Collect(t, chart.Timeline, pagetest.Timeline(100), 60, func(i int) (string, float64, float64, []int64) {
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
		return "", start, 1, pagetest.Latencies(int64(i), 10, 1e6)
	}), nil)
	add("one", pagetest.Collect(t, chart.Timeline, pagetest.Timeline(100), 1, func(i int) (string, float64, float64, []int64) {
		return "", 3, 10, []int64{1000000}
	}), nil)
	for _, kind := range []*chart.Type{chart.Timeline, chart.Percentiles, chart.Heatmap, chart.Throughput, chart.Report} {
		c := pagetest.Timeline(100)
		c.Options.MaxWindows = 1 << 11
		if kind == chart.Report {
			c.Options.Measures = chart.TotalMeasures(nil)
		}
		add("empty-"+kind.Name, pagetest.Collect(t, kind, c, 3, func(i int) (string, float64, float64, []int64) {
			return "", float64(i), 1, nil
		}), func(p *chart.Picture) {
			if kind == chart.Report {
				p.Total = p.Series[0]
				p.Series[0].Lines = p.Total.Lines[3:]
			}
		})
	}
	zeros := func(i int) (string, float64, float64, []int64) {
		return "", float64(i), 1, []int64{0, int64(i%4) * 1000, int64(i%4) * 700}
	}
	add("zeros-log", pagetest.Collect(t, chart.Timeline, pagetest.Timeline(100), 30, zeros), func(p *chart.Picture) { p.Values.Log = true })
	add("zeros-heatmap", pagetest.Collect(t, chart.Heatmap, &collect.Collector{Options: collect.Options{MaxWindows: 1 << 11}}, 30, zeros), nil)
	wide := func(i int) (string, float64, float64, []int64) { return "", float64(i), 1, []int64{1 << i} }
	add("wide-log", pagetest.Collect(t, chart.Timeline, pagetest.Timeline(100), 63, wide), func(p *chart.Picture) { p.Values.Log = true })
	add("wide-unitless", pagetest.Collect(t, chart.Timeline, pagetest.Timeline(100), 63, wide), func(p *chart.Picture) { p.Values.Unit = "" })
	add("years", pagetest.Collect(t, chart.Timeline, pagetest.Timeline(100), 5*365, func(i int) (string, float64, float64, []int64) {
		return "", float64(i) * 86400, 86400, pagetest.Latencies(int64(i), 3, 1e6)
	}), func(p *chart.Picture) { p.Time.Absolute, p.Time.Origin = true, 1468800390394 })
	add("facets", pagetest.Collect(t, chart.Timeline, pagetest.Timeline(100, 99), 180, steady), func(p *chart.Picture) {
		p.Looks.Facets, p.Events.Marks, p.Values.Limits = true, []chart.Mark{{Time: 20_000, Text: "deploy"}}, []chart.Limit{{Percentile: 0, Value: 12e6}}
	})
	add("facets-percentiles", pagetest.Collect(t, chart.Percentiles, &collect.Collector{}, 180, steady), func(p *chart.Picture) {
		p.Looks.Facets, p.Values.Limits = true, []chart.Limit{{Percentile: 99, Value: 8e6}, {Percentile: 99.9, Value: 12e6}}
		for i := range p.Series { // as if they were of two runs
			p.Series[i].Group = []string{"before", "after"}[i%2]
			p.Series[i].Label = p.Series[i].Group + " " + []string{"read", "write"}[i/2]
		}
	})
	add("facets-heatmap", pagetest.Collect(t, chart.Heatmap, &collect.Collector{Options: collect.Options{MaxWindows: 1 << 11}}, 180, steady), func(p *chart.Picture) { p.Looks.Facets = true })
	add("marks", pagetest.Collect(t, chart.Timeline, pagetest.Timeline(100), 180, steady), func(p *chart.Picture) {
		p.Events.Marks = []chart.Mark{{Time: 10_000, Text: "first"}, {Time: 11_000, Text: "second, which is close to it"}, {Time: 12_000, Text: "third"}, {Time: 59_500, Text: "the last one"}, {Time: 99_000, Text: "outside"}}
		p.Values.Low, p.Values.High = 1e6, 25e6
	})
	many := func(i int) (string, float64, float64, []int64) {
		return fmt.Sprintf("endpoint-%03d", i%150), float64(i / 150), 1, pagetest.Latencies(int64(i), 5, 1e6)
	}
	add("many", pagetest.Collect(t, chart.Timeline, pagetest.Timeline(100), 150*20, many), nil)
	add("facets-many", pagetest.Collect(t, chart.Timeline, pagetest.Timeline(100), 150*20, many), func(p *chart.Picture) { p.Looks.Facets, p.Looks.Height = true, 900 })
	report := pagetest.Collect(t, chart.Report, &collect.Collector{Options: collect.Options{Measures: chart.Report.Measures(nil), Aggregate: 5000, MaxWindows: 1 << 11}}, 180, steady)
	report.Total = pagetest.Collect(t, chart.Report, &collect.Collector{Options: collect.Options{Measures: chart.TotalMeasures(nil), Aggregate: 5000}}, 180, func(i int) (string, float64, float64, []int64) {
		_, start, length, values := steady(i)
		return "", start, length, values
	}).Series[0]
	for _, s := range report.Series {
		c := s.Curve
		report.Texts.Summary = append(report.Texts.Summary, chart.Summary{Label: s.Label, Count: c.Count, PerSecond: 40, Max: c.Max(), Percentiles: []float64{valueAt(&c, 50), valueAt(&c, 90), valueAt(&c, 99), valueAt(&c, 99.9), valueAt(&c, 99.99)}, Limited: []float64{valueAt(&c, 99)}})
	}
	report.Events.Worst = []chart.Moment{{Start: 12_000, End: 14_000, Peak: 12_000, Value: 20e6, Label: "scan", Name: "scan"}}
	add("report", report, func(p *chart.Picture) {
		p.Looks.Height, p.Inputs.Sources, p.Values.Limits = 900, []string{"steady.hdr"}, []chart.Limit{{Percentile: 99, Value: 15e6}}
	})
	loads := chart.New(chart.Load)
	loads.Inputs.Sources = []string{"run1.hdr to run6.hdr"}
	for n, tag := range []string{"read", "write"} {
		s := chart.Series{Label: tag}
		for l, name := range []string{"p50", "p99"} {
			line := chart.Line{Name: name}
			for i, rate := range []float64{1000, 3000, 5000, 7000, 8500, 7600} {
				line.Points = append(line.Points, chart.Point{Start: rate, End: rate, Value: 1e6 * float64(n+1) * float64(1+9*l) / (1 - float64(min(i, 5))/5.5)})
			}
			s.Lines = append(s.Lines, line)
		}
		s.Names = []string{"run1", "run2", "run3", "run4", "run5", "run6"}
		loads.Series = append(loads.Series, s)
	}
	add("load", loads, func(p *chart.Picture) { p.Values.Limits = []chart.Limit{{Percentile: 99, Value: 60e6}} })
	add("many-percentiles", pagetest.Collect(t, chart.Percentiles, &collect.Collector{}, 150*20, many), nil)
	return all
}

// golden are the pictures that are compared with files.
var golden = []string{"timeline", "levels", "throughput", "percentiles", "heatmap", "difference", "gaps", "facets", "facets-heatmap", "marks", "report", "comparison", "load"}

// TestGolden compares the drawings with those that were looked at. Run it with -update to draw them
// anew, and look.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, name := range golden {
		p := pictures(t)[name]
		t.Run(name, func(t *testing.T) {
			var svg bytes.Buffer
			if err := WriteSVG(&svg, p); err != nil {
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
		if small.Looks.Width, small.Looks.Height = 400, 300; p.Type == chart.Report {
			small.Looks.Width, small.Looks.Height = 700, 600
		} else if name == "difference" {
			small.Looks.Width, small.Looks.Height = 600, 450
		}
		if err := Check(small.Type, &small.Looks); err != nil {
			t.Fatal(err)
		}
		testTextInside(t, name+", small", &small)
	}
}

func testTextInside(t *testing.T, name string, p *chart.Picture) {
	{
		boxes := texts(t, p)
		if len(boxes) < 5 {
			t.Errorf("%s: only %d texts", name, len(boxes))
		}
		for _, box := range boxes {
			if box.left < 0 || box.right > p.Looks.Width*0.75 || box.bottom < 0 || box.top > p.Looks.Height*0.75 {
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
	c := &collect.Collector{}
	p := pagetest.Collect(t, chart.Percentiles, c, 8*20, func(i int) (string, float64, float64, []int64) {
		return fmt.Sprintf("a-tag-of-some-length-%d", i%8), float64(i / 8), 1, pagetest.Latencies(int64(i), 20, 1e6)
	})
	p.Values.Limits = []chart.Limit{{Percentile: 99, Value: 60e6}, {Percentile: 99.9, Value: 320e6}}
	p.Looks.Width, p.Looks.Height = 400, 300
	found := false
	for _, box := range texts(t, p) {
		found = found || box.text == "SLA: p99 ≤ 60M"
	}
	if !found {
		t.Error("the service levels are not in the legend")
	}
	testTextInside(t, "limits", p)
}

// TestCrowded proves that a legend of very many lines leaves room for charts in the smallest
// picture.
func TestCrowded(t *testing.T) {
	t.Parallel()
	many := make([]float64, 37)
	var limits []chart.Limit
	for n := range many {
		many[n] = 50 + float64(n)
	}
	for n := range 300 {
		limits = append(limits, chart.Limit{Percentile: 99, Value: float64(n+1) * 1e6})
	}
	for name, test := range map[string]struct {
		c      *collect.Collector
		limits []chart.Limit
	}{
		"percentiles": {pagetest.Timeline(many...), nil},
		"limits":      {pagetest.Timeline(99), limits},
	} {
		p := pagetest.Collect(t, chart.Timeline, test.c, 8*20, func(i int) (string, float64, float64, []int64) {
			return fmt.Sprintf("a-tag-of-some-length-%d", i%8), float64(i / 8), 1, pagetest.Latencies(int64(i), 20, 1e6)
		})
		p.Values.Limits = test.limits
		p.Looks.Width, p.Looks.Height = 400, 300
		p.Texts.Notes = slices.Repeat([]string{"a note"}, 100)
		more := false
		for _, box := range texts(t, p) {
			more = more || strings.HasPrefix(box.text, "and ") && strings.HasSuffix(box.text, " more")
		}
		if !more {
			t.Errorf("%s: the legend does not say how many more there are", name)
		}
		testTextInside(t, name, p)
	}
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
			if err := errors.Join(Write(&first, p, format), Write(&second, p, format)); err != nil {
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
	if err := Write(io.Discard, chart.New(chart.Timeline), "gif"); err == nil {
		t.Error("gif is written")
	}
}

func readable(file []byte, format Format, p *chart.Picture) error {
	switch format {
	case PNG:
		img, err := png.Decode(bytes.NewReader(file))
		if err == nil && (img.Bounds().Dx() != int(p.Looks.Width) || img.Bounds().Dy() != int(p.Looks.Height)) {
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
	p := pagetest.Collect(t, chart.Timeline, pagetest.Timeline(100), 5, func(i int) (string, float64, float64, []int64) {
		return "", float64(i), 1, []int64{int64(i)}
	})
	p.Looks.Width, p.Looks.Height, p.Looks.DPI = 801, 333, 240
	var file bytes.Buffer
	if err := WritePNG(&file, p); err != nil {
		t.Fatal(err)
	}
	img, err := png.DecodeConfig(&file)
	if err != nil || img.Width != 2003 || img.Height != 833 { // 801 and 333 times 2.5
		t.Errorf("%d by %d, %v", img.Width, img.Height, err)
	}
	for _, bad := range []chart.Looks{{Width: 10, Height: 600, DPI: 96}, {Width: 1e6, Height: 1e6, DPI: 96}, {Width: math.NaN(), Height: 600, DPI: 96}, {Width: 1200, Height: 600, DPI: 0}} {
		if Check(chart.Timeline, &bad) == nil {
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

// TestCorrected proves that the curve with the values that were due ends at a label of its own, and
// that a dot with its value stands at the percentile that a sentence names.
func TestCorrected(t *testing.T) {
	t.Parallel()
	p := *pictures(t)["percentiles"]
	p.Series = slices.Clone(p.Series[:1])
	curve := p.Series[0].Curve
	p.Series[0].Corrected = chart.Curve{
		Count: 2 * curve.Count,
		Steps: []chart.Step{{Percentile: 50, Value: curve.Max() / 2}, {Percentile: 100, Value: curve.Max()}},
		Named: chart.Step{Percentile: 50, Value: curve.Max() / 2},
	}
	p.Texts.Findings = []output.Finding{{Kind: "omission", Sentence: "Requests waited."}, {Kind: "gap", Sentence: "A gap."}}
	found := make(map[string]textBox)
	for _, box := range texts(t, &p) {
		found[box.text] = box
	}
	value := axis.Value("ns", curve.Max()/2)
	for _, text := range []string{withDue, value, "Requests waited."} {
		if found[text].top == 0 {
			t.Errorf("no text %q", text)
		}
	}
	if at := found[value].right; at >= found["90%"].left {
		t.Errorf("the value of p50 ends at %v", at)
	}
	if found["A gap."].top != 0 {
		t.Error("there is a sentence about something else")
	}
	axes := p
	axes.Series = slices.Clone(p.Series)
	axes.Series[0].Corrected = chart.Curve{}
	for _, box := range texts(t, &axes) {
		if box.text == withDue || box.text == value {
			t.Errorf("%q without a curve", box.text)
		}
	}
}
