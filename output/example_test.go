package output_test

import (
	"log"
	"math"
	"os"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/output"
)

// latencies returns a histogram of three latencies in nanoseconds.
func latencies() *histogram.Histogram {
	h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range []int64{1_200_000, 1_500_000, 20_000_000} {
		if err := h.Record(v); err != nil {
			log.Fatal(err)
		}
	}
	return h
}

// The table of hdrsum for a log, as CSV.
func Example() {
	reader, err := hdrlog.Open("../testdata/logs/node1.hdr")
	if err != nil {
		log.Fatal(err)
	}
	defer reader.Close()
	sum := &output.Summary{Histogram: new(histogram.Histogram), AllTags: true, Start: math.MaxInt64}
	var decoder histogram.Decoder
	for record := range reader.All() {
		if record.Kind != hdrlog.IntervalRecord {
			continue
		}
		i := &record.Interval
		if err := decoder.AddTo(sum.Histogram, i.Payload); err != nil {
			log.Fatal(err)
		}
		sum.Intervals++
		sum.Start, sum.End = min(sum.Start, i.StartMillis()), max(sum.End, i.EndMillis())
	}
	if err := reader.Err(); err != nil {
		log.Fatal(err)
	}
	sum.Period = sum.End - sum.Start
	sum.Scale = hdrlog.Scale{Ratio: 1e6, Unit: "ms"}
	if err := output.SummaryCSV(os.Stdout, sum, []float64{50, 99}, nil, true); err != nil {
		log.Fatal(err)
	}
	// Output:
	// tag,period,count,per_second,min_ms,mean_ms,p50_ms,p99_ms,max_ms
	// ,120.000,132330,1102.75,0,3.794626892473362,0.665087,51.478527,355.991551
}

func ExamplePercentiles() {
	s := &output.Summary{Tag: []byte("insert-rt"), Histogram: latencies(), Intervals: 1, Period: 2000}
	s.Scale = hdrlog.Scale{Ratio: 1e6, Unit: "ms"}
	if err := output.Percentiles(os.Stdout, s, []float64{50, 99}, nil); err != nil {
		log.Fatal(err)
	}
	// Output:
	// insert-rt.TotalCount=3
	// insert-rt.Period(ms)=2000
	// insert-rt.Throughput(ops/sec)=1.50
	// insert-rt.Min=1.199
	// insert-rt.Mean=7.565
	// insert-rt.StdDev=8.791
	// insert-rt.50.000ptile=1.500
	// insert-rt.99.000ptile=20.005
	// insert-rt.Max=20.005
}

func ExampleTimeline() {
	row := &output.Row{
		Tag: []byte("insert-rt"), Start: 1468800401000, End: 1468800403000,
		Scale:    hdrlog.Scale{Ratio: 1e6, Unit: "ms"},
		Relative: 1, Length: 2, Covered: 2, // seconds
		Stats: output.StatsOf(latencies(), []float64{50}, output.Stats{}),
	}
	timeline := output.Timeline(os.Stdout, nil)
	if err := timeline.Row(row); err != nil {
		log.Fatal(err)
	}
	if err := timeline.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// start,relative_start,length,tag,count,per_second,min,mean,p50,max
	// 2016-07-18T00:06:41.000Z,1.000,2.000,insert-rt,3,1.5,1.199104,7.565312,1.500159,20.004863
}
