package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/clitest"
	"hdrkit/internal/question/plot"
)

// TestFarTags proves that a log of 30 KB, whose tags have two values so far apart that they take 6
// or 47 MB each as a histogram, takes little memory.
func TestFarTags(t *testing.T) {
	h, err := histogram.New(histogram.Layout{Digits: 4 + clitest.Scale()/8, Lowest: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []int64{1, 1 << 61} {
		if err := h.Record(value); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(t.TempDir(), "x.svg")
	clitest.AtMost(t, "", "hdrplot", "-j", "2", "-agg", "10", "-of", out, clitest.TagsLog(t, 20, 20, h))
}

// TestWideTags proves that a log whose histograms take 1 or 8 MB each takes little memory, and so
// does one whose intervals take 12 KB each in a page.
func TestWideTags(t *testing.T) {
	t.Parallel()
	scale := clitest.Scale()
	wide := clitest.TagsLog(t, 30, 2, clitest.WideHistogram(t, 4+scale/8, scale<<17, 1))
	many := clitest.TagsLog(t, 20, 190*scale, clitest.WideHistogram(t, 2, 46*128, 1))
	for _, test := range []struct {
		name, out, log string
		args           []string
	}{
		{"aggregated", "x.svg", wide, []string{"-agg", "10"}},
		{"page", "x.html", many, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if slow := test.name == "page"; slow && clitest.Rounds(1) == 0 {
				t.Skip("it takes a second")
			}
			out := filepath.Join(t.TempDir(), test.out)
			clitest.AtMost(t, "", "hdrplot", append(test.args, "-j", "2", "-of", out, test.log)...)
		})
	}
}

// TestManyRuns proves that a picture of load keeps figures of a run, and no counts.
func TestManyRuns(t *testing.T) {
	t.Parallel()
	scale := clitest.Scale()
	log, err := os.ReadFile(clitest.TagsLog(t, 30, 2, clitest.WideHistogram(t, 4+scale/8, scale<<17, 1)))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	args := []string{"-type", "load", "-j", "2", "-q", "-of", filepath.Join(folder, "x.svg")}
	for n := range 6 { // of at least 15 MB of counts each
		name := filepath.Join(folder, fmt.Sprintf("rate%d.hdr", n))
		if err := os.WriteFile(name, log, 0o666); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
	}
	clitest.AtMost(t, "", "hdrplot", args...)

	one, err := os.ReadFile(clitest.TagsLog(t, 1, 2, clitest.WideHistogram(t, 4+scale/8, scale<<17, 1)))
	if err != nil {
		t.Fatal(err)
	}
	for n := range 100 { // of 1 or 8 MB each, as rows by their inputs
		name := filepath.Join(folder, fmt.Sprintf("one%d.hdr", n))
		if err := os.WriteFile(name, one, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	clitest.AtMost(t, "", "hdrplot", "-type", "load", "-by", "input", "-q", "-of", filepath.Join(folder, "y.svg"), "-ip", folder, `one.*\.hdr`)
}

// TestMostTags proves that as many tags as a picture may have take little memory, or an eighth of
// them, and that more than all are refused.
func TestMostTags(t *testing.T) {
	t.Parallel()
	one := clitest.WideHistogram(t, 2, 1, 1)
	most, more := clitest.TagsLog(t, plot.MaxTags/8*clitest.Scale(), 1, one), clitest.TagsLog(t, plot.MaxTags+1, 1, one)
	all := [][]string{
		{"-of", "x.html"}, {"-of", "x.svg"},
		{"-of", "x.svg", "-type", "percentiles"}, {"-of", "x.svg", "-type", "heatmap"},
	}
	for n, args := range all {
		args[1] = filepath.Join(t.TempDir(), args[1])
		clitest.AtMost(t, "", "hdrplot", append(args, "-j", "2", most)...)
		if n >= clitest.Rounds(len(all)) {
			continue
		}
		out, err := exec.Command("hdrplot", append(args, more)...).CombinedOutput()
		if err == nil || !strings.HasPrefix(string(out), "hdrplot: more than 50,000 tags") {
			t.Errorf("%q: %v: %s", args, err, out)
		}
	}
}
