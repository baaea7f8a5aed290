package draw

import (
	"io"
	"slices"
	"strings"
	"testing"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/collect"
	"hdrkit/internal/chart/page/pagetest"
	"hdrkit/internal/report"
)

// TestTimeLabels proves that the axis of a narrow picture has labels that do not overlap, and at
// least two, whatever time of the day the log begins at.
func TestTimeLabels(t *testing.T) {
	t.Parallel()
	p := pagetest.Collect(t, chart.Timeline, pagetest.Timeline(100), 360, func(i int) (string, float64, float64, []int64) {
		return []string{"a", "b", "c"}[i%3], float64(i), 1, []int64{int64(1000 * (1 + i%7))}
	})
	p.Looks.Facets = true
	for _, width := range []float64{500, 600, 900, 1200} {
		for _, origin := range []int64{1468800040_000, 1468800001_000, 1468803590_000} {
			p.Looks.Width, p.Time.Origin = width, origin
			var labels []textBox
			for _, box := range texts(t, p) {
				if strings.Count(box.text, ":") == 1 && len(box.text) == len("00:00") {
					labels = append(labels, box)
				}
			}
			if len(labels) < 6 {
				t.Errorf("%v pixels from %d: %d labels in 3 charts", width, origin, len(labels))
			}
			slices.SortFunc(labels, func(a, b textBox) int { return int(a.left - b.left) })
			for n := 1; n < len(labels); n++ {
				if labels[n-1].bottom == labels[n].bottom && labels[n].left < labels[n-1].right {
					t.Errorf("%v pixels from %d: %s overlaps %s", width, origin, labels[n-1].text, labels[n].text)
				}
			}
		}
	}
}

// TestTooSmall proves that a picture whose charts do not fit is an error, and a larger one is not.
func TestTooSmall(t *testing.T) {
	t.Parallel()
	p := *pictures(t)["comparison"]
	p.Comparison.Effects = slices.Repeat([]report.Effect{{Tag: "a", Figure: "p99", Ratio: 1.1, Low: 1, High: 1.2}}, 24)
	for height, fits := range map[float64]bool{600: false, 700: false, 1400: true} {
		p.Looks.Height = height
		if err := WriteSVG(io.Discard, &p); (err == nil) != fits {
			t.Errorf("%v pixels: %v", height, err)
		}
	}
}

// TestLabelsAboveZero proves that a low chart with zeros and many decades has two labels above
// that of zero.
func TestLabelsAboveZero(t *testing.T) {
	t.Parallel()
	p := pagetest.Collect(t, chart.Heatmap, &collect.Collector{Options: collect.Options{MaxWindows: 1 << 11}}, 60, func(i int) (string, float64, float64, []int64) {
		return []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}[i%12], float64(i / 12), 1, []int64{0, 1, 1e4, 4e8}
	})
	p.Looks.Facets = true
	p.Time.Origin = 1468800040_000 // times are no such labels
	zeros, others := 0, 0
	for _, box := range texts(t, p) {
		if box.left > 840 { // the scale of colours
			continue
		}
		switch box.text {
		case "0":
			zeros++
		case "1", "10", "100", "1k", "10k", "100k", "1M", "10M", "100M", "1,000", "10,000", "100,000":
			others++
		}
	}
	if zeros != 12 || others < 24 {
		t.Errorf("%d labels of zero and %d above it in 12 charts", zeros, others)
	}
}

// TestNarrowNines proves that a narrow axis of percentiles has labels that small ticks between them
// do not push out.
func TestNarrowNines(t *testing.T) {
	t.Parallel()
	p := *pictures(t)["report"]
	p.Looks.Width, p.Looks.Height = 700, 600
	found := 0
	for _, box := range texts(t, &p) {
		if strings.HasSuffix(box.text, "%") && (box.text == "0%" || box.text == "50%" || strings.HasPrefix(box.text, "9")) {
			found++
		}
	}
	if found < 2 {
		t.Errorf("%d labels of percentiles", found)
	}
}
