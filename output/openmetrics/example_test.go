package openmetrics_test

import (
	"log"
	"os"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/output"
	"hdrkit/output/openmetrics"
)

// A point for a second of a log whose values are nanoseconds.
func Example() {
	h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range []int64{1_200_000, 1_500_000, 20_000_000} {
		if err := h.Record(v); err != nil {
			log.Fatal(err)
		}
	}
	row := &output.Row{
		Tag:     []byte("read"),
		Start:   1468800401000,
		End:     1468800402000,
		Length:  1, // seconds
		Covered: 1,
		Scale:   hdrlog.Scale{Ratio: 1e9, Unit: "s"},
		Stats:   output.StatsOf(h, []float64{50, 99}, output.Stats{}),
	}
	if err := row.Total.Add(&row.Stats); err != nil {
		log.Fatal(err)
	}
	points, err := openmetrics.New(os.Stdout, "latency_seconds")
	if err != nil {
		log.Fatal(err)
	}
	if err := points.Row(row); err != nil {
		log.Fatal(err)
	}
	if err := points.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// # HELP latency_seconds Values recorded in HdrHistogram intervals, by tag.
	// # TYPE latency_seconds summary
	// # UNIT latency_seconds seconds
	// latency_seconds{tag="read",quantile="0.5"} 0.001500159 1.468800402e+09
	// latency_seconds{tag="read",quantile="0.99"} 0.020004863 1.468800402e+09
	// latency_seconds{tag="read",quantile="1.0"} 0.020004863 1.468800402e+09
	// latency_seconds_sum{tag="read"} 0.022695936 1.468800402e+09
	// latency_seconds_count{tag="read"} 3 1.468800402e+09
	// # EOF
}
