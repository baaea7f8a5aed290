package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/clitest"
)

// TestGrowing: hdrrec writes an interval of a pipe when its time is over, although the pipe has
// nothing new and stays open. What comes after that is in later intervals.
func TestGrowing(t *testing.T) {
	t.Parallel()
	rows, pipe := io.Pipe()
	p := clitest.Start(t, rows, "hdrrec", "-", "-in", "ms", "-q")
	counts := func() (counts []int64) {
		text := p.Stdout()
		r := hdrlog.NewReader(strings.NewReader(text[:strings.LastIndex(text, "\n")+1]), "stdout")
		for i, err := range r.Intervals() {
			h := new(histogram.Histogram)
			if err == nil {
				err = new(histogram.Decoder).Decode(h, i.Payload)
			}
			if err != nil {
				t.Fatal(err)
			}
			counts = append(counts, int64(h.TotalCount()))
		}
		return counts
	}
	fmt.Fprint(pipe, "timestamp,latency\n")
	write := func() {
		now := time.Now().UnixMilli()
		// All rows at once, so that no time passes between them.
		fmt.Fprintf(pipe, "%d,%d\n%[1]d,%d\n%[1]d,%d\n", now, 10, 11, 12)
	}
	write()
	p.Await("an interval", func() bool { return slices.Equal(counts(), []int64{3}) })
	write()
	pipe.Close()
	p.Ends(0)
	if got := counts(); !slices.Equal(got, []int64{3, 3}) {
		t.Errorf("%v: %s", got, p.Stderr())
	}
}
