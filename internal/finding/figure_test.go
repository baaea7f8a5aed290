package finding

import (
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/output"
)

// TestTied proves that a row is called the highest only if the figure of the next one is lower than
// chance makes it.
func TestTied(t *testing.T) {
	t.Parallel()
	rows := func(tag string, factor float64, values int) *output.Summary {
		h, err := histogram.New(histogram.Layout{Lowest: 1, Digits: 3})
		if err != nil {
			t.Fatal(err)
		}
		for n := range values {
			h.Record(int64(factor * float64(10_000+n)))
		}
		s := &output.Summary{Tag: []byte(tag), Histogram: h}
		s.Scale = hdrlog.Scale{Ratio: 1, Unit: "ms"}
		return s
	}
	row := func(tag string, factor float64) *output.Summary { return rows(tag, factor, 10_000) }
	for second, want := range map[float64]string{0.998: "among the highest", 0.95: "1.1 times the next highest", 0.4: "2.5 times the next highest"} {
		r := &Run{Summaries: []*output.Summary{row("read", second), row("write", 1)}}
		if got := analyse(r).figure()[0].Sentence; !strings.HasSuffix(got, ", "+want+".") || !strings.HasPrefix(got, "p99 of write") {
			t.Errorf("%v times: %s, want %s", second, got, want)
		}
	}
	// A table shows a higher p99 of a row that has too few values for one.
	for factor, want := range map[float64]string{3: ", the highest of those with enough values.", 0.1: ", the highest."} {
		r := &Run{Summaries: []*output.Summary{row("read", 1), rows("rare", factor, 500)}}
		if got := analyse(r).figure()[0].Sentence; !strings.HasSuffix(got, want) || !strings.HasPrefix(got, "p99 of read") {
			t.Errorf("%v times: %s, want %s", factor, got, want)
		}
	}
}
