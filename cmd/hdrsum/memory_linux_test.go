package main

import (
	"testing"

	"hdrkit/internal/clitest"
)

// TestWideTags proves that logs of 60 KB to 2 MB, whose histograms take 8 MB each, take little
// memory.
func TestWideTags(t *testing.T) {
	small := clitest.WideHistogram(t, 5, 1<<20, 1)
	large := clitest.WideHistogram(t, 5, 1<<20, 1<<40) // 6 MB for a payload, inflated
	for _, test := range []struct {
		name string
		log  string
		args []string
	}{
		{"plain", clitest.TagsLog(t, 40, 1, small), nil},
		{"moving", clitest.TagsLog(t, 60, 2, small), []string{"-st", "timeline", "-mwp", "99"}},
		{"largeMoving", clitest.TagsLog(t, 30, 2, large), []string{"-st", "timeline", "-mwp", "99"}},
		{"corrected", clitest.TagsLog(t, 30, 1, small), []string{"-co", "1000"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			clitest.AtMost(t, 256, "hdrsum", append(test.args, "-j", "2", test.log)...)
		})
	}
}

// TestManyTags proves that a log of 6 MB takes little memory, although each line has a tag of its
// own.
func TestManyTags(t *testing.T) {
	log := clitest.TagsLog(t, 100_000, 1, clitest.WideHistogram(t, 2, 1, 1))
	clitest.AtMost(t, 256, "hdrsum", "-j", "2", "-st", "json", log)
}
