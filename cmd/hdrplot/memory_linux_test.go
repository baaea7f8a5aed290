package main

import (
	"path/filepath"
	"testing"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/clitest"
)

// TestFarTags proves that a log of 30 KB, whose tags have two values so far apart that they take
// 47 MB each as a histogram, takes little memory.
func TestFarTags(t *testing.T) {
	h, err := histogram.New(histogram.Layout{Digits: 5, Lowest: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []int64{1, 1 << 61} {
		if err := h.Record(value, 1); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(t.TempDir(), "x.svg")
	clitest.AtMost(t, 256, "hdrplot", "-j", "2", "-agg", "10", "-of", out, clitest.TagsLog(t, 20, 20, h))
}

// TestWideTags proves that a log of 90 KB, whose histograms take 8 MB each, takes little memory,
// and so does a log of 4 MB whose intervals take 12 KB each in a page.
func TestWideTags(t *testing.T) {
	wide := clitest.TagsLog(t, 30, 2, clitest.WideHistogram(t, 5, 1<<20, 1))
	many := clitest.TagsLog(t, 20, 1500, clitest.WideHistogram(t, 2, 46*128, 1))
	for _, test := range []struct {
		name, out, log string
		args           []string
	}{
		{"aggregated", "x.svg", wide, []string{"-agg", "10"}},
		{"moving", "x.svg", wide, []string{"-mwp", "99"}},
		{"digits", "x.html", wide, []string{"-page-digits", "5"}},
		{"page", "x.html", many, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), test.out)
			clitest.AtMost(t, 256, "hdrplot", append(test.args, "-j", "2", "-of", out, test.log)...)
		})
	}
}
