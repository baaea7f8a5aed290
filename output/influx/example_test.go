package influx_test

import (
	"fmt"
	"log"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/output"
	"hdrkit/output/influx"
)

// A point for a second of a log whose values are nanoseconds. It is one line, which has a line for
// each field here.
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
		Scale:   hdrlog.Scale{Ratio: 1e6, Unit: "ms"},
		Stats:   output.StatsOf(h, []float64{50, 99}, output.Stats{}),
	}
	if err := row.Total.Add(&row.Stats); err != nil {
		log.Fatal(err)
	}
	var line strings.Builder
	points, err := influx.New(&line, "latency_ms")
	if err != nil {
		log.Fatal(err)
	}
	if err := points.Row(row); err != nil {
		log.Fatal(err)
	}
	if err := points.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Print(strings.ReplaceAll(line.String(), ",", ",\n\t"))
	// Output:
	// latency_ms,
	//	tag=read length=1,
	//	count=3i,
	//	per_second=3,
	//	min=1.199104,
	//	mean=7.565312,
	//	p50=1.500159,
	//	p99=20.004863,
	//	max=20.004863 1468800402000000000
}
