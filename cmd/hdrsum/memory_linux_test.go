package main

import (
	"testing"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/clitest"
)

// TestWideTags proves that a log of 60 KB, whose tags take 8 MB each as a histogram, takes little
// memory.
func TestWideTags(t *testing.T) {
	h, err := histogram.New(histogram.Layout{Digits: 5, Lowest: 1})
	if err != nil {
		t.Fatal(err)
	}
	for index := range 1 << 20 {
		if err := h.Record(h.Layout().LowestAt(index), 1); err != nil {
			t.Fatal(err)
		}
	}
	clitest.AtMost(t, 256, "hdrsum", "-j", "2", clitest.TagsLog(t, 40, 1, h))
}
