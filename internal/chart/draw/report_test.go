package draw

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/collect"
	"hdrkit/internal/chart/page/pagetest"
	"hdrkit/output"
)

// TestLevels proves that a report of many tags marks percentiles on the curves that it draws, and
// on no others.
func TestLevels(t *testing.T) {
	t.Parallel()
	own := *pictures(t)["report"]
	series := own.Series[0]
	curve := series.Curve
	own.Series, own.Texts.Summary, own.Events.Worst, own.Values.Limits = nil, nil, nil, nil
	for n := range 30 {
		series.Label = fmt.Sprint("tag", n)
		own.Series = append(own.Series, series)
		row := chart.Summary{Label: series.Label, Count: 5000, Max: curve.Max()}
		for _, level := range chart.TablePercentiles {
			row.Percentiles = append(row.Percentiles, valueAt(&curve, level))
		}
		own.Texts.Summary = append(own.Texts.Summary, row)
	}
	var svg bytes.Buffer
	if err := WriteSVG(&svg, &own); err != nil {
		t.Fatal(err)
	}
	dots := levelDots.FindAll(svg.Bytes(), -1)
	if len(dots) != 3*chart.MaxTogether {
		t.Errorf("%d percentiles are marked", len(dots))
	}
}

// TestUnknownFigures proves that a report has no figures of a tag without values, and no percentile
// that no value lies above: neither in its table nor on a curve.
func TestUnknownFigures(t *testing.T) {
	t.Parallel()
	p := pagetest.Collect(t, chart.Report, &collect.Collector{Options: collect.Options{MaxWindows: 1 << 11}}, 2, func(n int) (string, float64, float64, []int64) {
		return []string{"few", "none"}[n], 0, 1, [][]int64{{5e6, 7e6, 9e6}, nil}[n]
	})
	p.Values.Unit = "ns"
	for n, values := range [][]int64{{5e6, 7e6, 9e6}, nil} {
		h := pagetest.HistogramOf(t, 3, values)
		s := &p.Series[n]
		s.Curve = chart.CurveOf(h, 1)
		p.Texts.Summary = append(p.Texts.Summary, chart.SummaryOf(s.Label, h, 1, 1, 1000, nil))
	}
	boxes := texts(t, p)
	var figures []string
	for _, heading := range []string{"p50", "p99", "p99.9", "max"} {
		n := slices.IndexFunc(boxes, func(box textBox) bool { return box.text == heading })
		figures = append(figures, boxes[n+1].text, boxes[n+2].text)
	}
	if want := []string{"7 ms", "-", "-", "-", "-", "-", "9.003 ms", "-"}; !slices.Equal(figures, want) {
		t.Errorf("%q, want %q", figures, want)
	}
	if slices.ContainsFunc(boxes, func(box textBox) bool { return strings.HasPrefix(box.text, "none,") }) {
		t.Error("a tag without values has a curve")
	}
	var svg bytes.Buffer
	if err := WriteSVG(&svg, p); err != nil {
		t.Fatal(err)
	}
	if dots := levelDots.FindAll(svg.Bytes(), -1); len(dots) != 1 {
		t.Errorf("%d percentiles are marked, want the median", len(dots))
	}
}

// levelDots are what marks the percentiles of a curve.
var levelDots = regexp.MustCompile(`<path d="M[^"]*C[^"]*" style="fill:#222222`)

// TestOneValue proves that a curve of one value is not one of "1 values".
func TestOneValue(t *testing.T) {
	t.Parallel()
	p := chart.New(chart.Percentiles)
	p.Series = []chart.Series{{Curve: chart.CurveOf(pagetest.HistogramOf(t, 3, []int64{5}), 1)}}
	if !slices.ContainsFunc(texts(t, p), func(box textBox) bool { return box.text == "1 value" }) {
		t.Errorf("%v", texts(t, p))
	}
}

// TestNineTags checks that a report shows a ninth tag rather than a line that says "1 more tag".
func TestNineTags(t *testing.T) {
	for tags, line := range map[int]string{9: "tag 9", 10: "2 more tags"} {
		p := *pictures(t)["report"]
		row := p.Texts.Summary[0]
		p.Texts.Summary = nil
		for n := range tags {
			row.Label = fmt.Sprint("tag ", n+1)
			p.Texts.Summary = append(p.Texts.Summary, row)
		}
		if !slices.ContainsFunc(texts(t, &p), func(box textBox) bool { return box.text == line }) {
			t.Errorf("%d tags: %q is missing", tags, line)
		}
	}
}

// TestComparedTags proves that a report of two runs has a chart of curves for each tag, with the
// maximum of its values in the title.
func TestComparedTags(t *testing.T) {
	t.Parallel()
	own := *pictures(t)["comparison"]
	for i, s := range slices.Clone(own.Series) {
		s.Label, own.Series[i].Lines = s.Group+" write", []chart.Line{{Name: "values per second", Points: []chart.Point{{Start: 0, End: 1, Value: 7}}}}
		own.Series = append(own.Series, s)
	}
	for _, tag := range []string{"read", "write"} {
		boxes := texts(t, &own)
		i := slices.IndexFunc(boxes, func(box textBox) bool { return box.text == tag && box.bottom < 300 })
		if i < 0 || boxes[i+1].text != "max 120.3 ms" {
			t.Errorf("%s: %v", tag, boxes[max(i, 0):])
		}
	}
}

// TestLowest proves that the lowest tenth of the values does not squeeze curves.
func TestLowest(t *testing.T) {
	t.Parallel()
	p := chart.New(chart.Percentiles)
	p.Values.Log = true
	for _, v := range []int64{1, 1000} {
		values := append(slices.Repeat([]int64{v}, 9), slices.Repeat([]int64{500, 2000, 50_000}, 30)...)
		p.Series = []chart.Series{{Curve: chart.CurveOf(pagetest.HistogramOf(t, 3, values), 1)}}
		if boxes := texts(t, p); slices.ContainsFunc(boxes, func(box textBox) bool { return box.text == "100" }) || !slices.ContainsFunc(boxes, func(box textBox) bool { return box.text == "500" }) {
			t.Errorf("%d: %v", v, boxes)
		}
	}
}

// TestFewValues proves that the scale of a heat map of a few values says what its darkest colour
// is.
func TestFewValues(t *testing.T) {
	t.Parallel()
	p := pagetest.Collect(t, chart.Heatmap, &collect.Collector{Options: collect.Options{MaxWindows: 1 << 11}}, 1, func(int) (string, float64, float64, []int64) {
		return "", 0, 0.7, []int64{1e6, 1e7, 1e7}
	})
	boxes := texts(t, p)
	for _, want := range []string{"2", "in 700 ms"} {
		if !slices.ContainsFunc(boxes, func(box textBox) bool { return box.text == want }) {
			t.Errorf("no %q: %v", want, boxes)
		}
	}
}

// TestLeads proves that a report has the figures and the curve of a tag that a sentence is about,
// however low its maximum is.
func TestLeads(t *testing.T) {
	t.Parallel()
	p := chart.New(chart.Report)
	for n := range 12 {
		label := fmt.Sprintf("tag%02d", n)
		h := pagetest.HistogramOf(t, 3, pagetest.Latencies(int64(n), 2000, 1e6*float64(n+1)))
		p.Series = append(p.Series, chart.Series{Label: label, Curve: chart.CurveOf(h, 1)})
		p.Texts.Summary = append(p.Texts.Summary, chart.SummaryOf(label, h, 1, 1, 1000, nil))
	}
	count := func(text string) (n int) {
		for _, box := range texts(t, p) {
			if strings.HasPrefix(box.text, text) {
				n++
			}
		}
		return n
	}
	if n := count("tag00"); n != 0 {
		t.Fatalf("the lowest tag stands in %d places", n)
	}
	p.Texts.Findings = []output.Finding{{Kind: "figure", Tag: "tag00", Sentence: "It is slow."}}
	if n := count("tag00"); n != 2 {
		t.Errorf("the tag of the sentence stands in %d places, want the table and the curves", n)
	}
}
