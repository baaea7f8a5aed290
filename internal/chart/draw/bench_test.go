package draw

import (
	"bytes"
	"testing"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/collect"
	"hdrkit/internal/chart/page/pagetest"
)

// BenchmarkWindows gathers the intervals of 2,000 seconds of six tags in the memory of a page.
func BenchmarkWindows(b *testing.B) {
	const n = 12000
	tags := []string{"a", "b", "c", "d", "e", "f"}
	gather := &collect.Collector{Options: collect.Options{MaxWindows: 1, Ratio: 1}}
	intervals := make([]collect.Interval, n)
	for i := range intervals {
		h := pagetest.HistogramOf(b, 3, pagetest.Latencies(int64(i%60), 1500, 1e6))
		pagetest.Measure(gather, float64(i/len(tags)), 1, h, &intervals[i])
	}
	for b.Loop() {
		c := &collect.Collector{Options: collect.Options{MaxWindows: 1 << 13, Ratio: 1}}
		for i := range intervals {
			if err := c.Add("", tags[i%len(tags)], &intervals[i]); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := c.Picture(chart.New(chart.Heatmap), 0, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/n, "µs/interval")
}

// BenchmarkPNG draws noisy lines and a heat map of the default size and writes them as PNG.
func BenchmarkPNG(b *testing.B) {
	for _, kind := range []*chart.Type{chart.Timeline, chart.Heatmap} {
		c := pagetest.Timeline(100)
		c.Options.MaxWindows = 1 << 11
		p := pagetest.Collect(b, kind, c, 4000, func(i int) (string, float64, float64, []int64) {
			return []string{"a", "b"}[i%2], float64(i), 1, pagetest.Latencies(int64(i), 30, 1e6)
		})
		b.Run(kind.Name, func(b *testing.B) {
			var file bytes.Buffer
			for b.Loop() {
				file.Reset()
				if err := WritePNG(&file, p); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(file.Len()), "bytes")
		})
	}
}
