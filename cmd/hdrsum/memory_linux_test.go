package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/clitest"
)

// TestWideTags proves that small logs whose histograms are large take no more memory than -memory
// allows, or are refused.
func TestWideTags(t *testing.T) {
	t.Parallel()
	scale := clitest.Scale()
	digits, width := 4+scale/8, scale<<17
	small := clitest.WideHistogram(t, digits, width, 1)
	large := clitest.WideHistogram(t, digits, width, 1<<40) // 0.8 MB for a payload, inflated, or 6
	full := clitest.WideHistogram(t, digits, 5*width, 1<<40)
	sparse, far := new(histogram.Histogram), new(histogram.Histogram)
	for _, h := range []*histogram.Histogram{sparse, far} {
		if err := h.Reset(histogram.Layout{Digits: digits}); err != nil {
			t.Fatal(err)
		}
	}
	for slot := 0; slot < 5*width; slot += 97 {
		sparse.Record(sparse.Layout().LowestAt(slot))
	}
	far.Record(1)
	far.Record(1 << 61)
	moving := ""
	if scale > 1 {
		moving = "tags, with their windows, take " // a sum of two intervals is a histogram of 24 MB
	}
	for _, test := range []struct {
		name            string
		tags, intervals int
		h               *histogram.Histogram
		args            []string
		refused         string
	}{
		{"plain", 40, 1, small, nil, ""},
		{"moving", 30, 2, small, []string{"-st", "timeline", "-mwp", "99"}, ""},
		{"largeMoving", 15, 2, large, []string{"-st", "timeline", "-mwp", "99"}, moving},
		{"corrected", 30, 1, small, []string{"-in", "ns", "-co", "1us"}, ""},
		{"far", 250 * scale, 2, far, nil, ""},
		{"farMoving", 40 * scale, 2, far, []string{"-st", "timeline", "-mwp", "99"}, ""},
		{"farCorrected", 100, 1, far, []string{"-in", "ns", "-co", "1us"}, "tags take "},
		{"sparse", 40, 2, sparse, []string{"-st", "json"}, ""},
		{"full", 20, 2, full, nil, " take "}, // tags or, in CI, decoders
	} {
		t.Run(test.name, func(t *testing.T) {
			if slow := test.name == "largeMoving" || test.name == "full"; slow && clitest.Rounds(1) == 0 {
				t.Skip("it takes a second")
			}
			clitest.AtMost(t, test.refused, "hdrsum", append(test.args, "-j", "2", clitest.TagsLog(t, test.tags, test.intervals, test.h))...)
		})
	}
}

// TestManyTags proves that logs of 6 and 10 MB, or the larger of them an eighth, take no more
// memory than -memory allows, although each line has a tag of its own.
func TestManyTags(t *testing.T) {
	t.Parallel()
	one := clitest.WideHistogram(t, 2, 1, 1)
	if clitest.Rounds(1) > 0 {
		clitest.AtMost(t, "", "hdrsum", "-j", "2", "-st", "json", clitest.TagsLog(t, 12_500*clitest.Scale(), 1, one))
	}
	clitest.AtMost(t, "", "hdrsum", "-j", "2", "-st", "table", clitest.TagsLog(t, 16_900*clitest.Scale(), 1, one))
}

// TestManyVerdicts proves that the verdicts about many limits of many tags are charged: they take
// more than the rows.
func TestManyVerdicts(t *testing.T) {
	t.Parallel()
	var limits []string
	for n := range 16 {
		limits = append(limits, fmt.Sprintf("p%d<=1000", 50+n))
	}
	log := clitest.TagsLog(t, 3_000*clitest.Scale(), 1, clitest.WideHistogram(t, 2, 1, 1))
	clitest.AtMost(t, "verdicts about limits take ", "hdrsum", "-j", "2", "-sla", strings.Join(limits, ","), log)
	clitest.AtMost(t, "", "hdrsum", "-j", "2", "-st", "json", "-sla", limits[0], log)
}

// TestZstdWindows proves that the windows of zstd count, and give their memory back.
func TestZstdWindows(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w, err := zstd.NewWriter(&log, zstd.WithWindowSize(clitest.Scale()<<24), zstd.WithSingleSegment(false), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(clitest.TagsLog(t, 1, 100, clitest.WideHistogram(t, 2, 1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	w.Write(text)
	w.Flush() // so that the frame has no size, but a window
	w.Write(bytes.Repeat([]byte("#\n"), clitest.Scale()<<17))
	w.Close()
	var paths []string
	for n := range 6 {
		path := filepath.Join(t.TempDir(), fmt.Sprint(n, ".hdr.zst"))
		if err := os.WriteFile(path, log.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	clitest.AtMost(t, "", "hdrsum", paths...) // one after another
	clitest.AtMost(t, "logs with zstd windows take ", "hdrsum", append([]string{"-st", "timeline"}, paths...)...)
}
