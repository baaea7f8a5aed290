package merge_test

import (
	"fmt"
	"log"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
)

// Three logs of machines that ran side by side, merged by the minute.
func Example() {
	minutes := merge.NewWindows(60_000)
	for _, name := range []string{"node1.hdr", "node2.hdr", "node3.hdr"} {
		r, err := hdrlog.Open("../../testdata/logs/" + name)
		if err != nil {
			log.Fatal(err)
		}
		defer r.Close()
		for r.Scan() {
			if record := r.Record(); record.Kind == hdrlog.Malformed {
				log.Print(record.Err)
			} else if record.Kind == hdrlog.IntervalRecord && string(record.Interval.Tag) == "insert-rt" {
				if err := minutes.Add(&record.Interval); err != nil {
					log.Printf("%s:%d: %v", name, record.Line, err)
				}
			}
		}
		if r.Err() != nil {
			log.Fatal(r.Err())
		}
	}
	var scratch histogram.Histogram
	for m := range minutes.All() {
		h, err := m.Histogram(&scratch)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d %-10s %3d intervals %6d values, 99%% are at most %d\n",
			m.Window.Start/1000, m.Tag, m.Intervals(), h.TotalCount(), h.ValueAtPercentile(99))
	}
	// Output:
	// 1468800360 insert-rt    6 intervals   2799 values, 99% are at most 4681727
	// 1468800420 insert-rt   18 intervals   7891 values, 99% are at most 69992447
	// 1468800480 insert-rt   12 intervals   5394 values, 99% are at most 182845439
}

// A pipeline adds up intervals in any grouping, and sends sums from one machine to another as
// bytes.
func ExampleSum() {
	r, err := hdrlog.Open("../../testdata/logs/node1.hdr")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	var all merge.Sum
	for r.Scan() {
		if record := r.Record(); record.Kind == hdrlog.IntervalRecord {
			var one, received merge.Sum
			if err := one.Add(&record.Interval); err != nil {
				log.Fatal(err)
			}
			sent, err := one.MarshalBinary()
			if err != nil {
				log.Fatal(err)
			}
			if err := received.UnmarshalBinary(sent); err != nil {
				log.Fatal(err)
			}
			if err := all.Merge(&received); err != nil {
				log.Fatal(err)
			}
		}
	}
	h, err := all.Histogram(new(histogram.Histogram))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(all.Intervals(), "intervals,", h.TotalCount(), "values,", (all.End-all.Start)/1000, "s")
	// Output:
	// 72 intervals, 132330 values, 120 s
}
