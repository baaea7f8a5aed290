package merge_test

import (
	"fmt"
	"log"
	"maps"
	"slices"

	"hdrkit/hdrlog"
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
	for m := range minutes.All() {
		h, err := m.Histogram(nil)
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

// The 99th percentile of each tag. A tag may have integers or doubles. docs/library.md shows this
// function.
func ExampleSum_tags() {
	reader, err := hdrlog.Open("../../testdata/logs/node1.hdr") // or a .gz or .zst file
	if err != nil {
		log.Fatal(err)
	}
	defer reader.Close()
	sums := make(map[string]*merge.Sum)
	for interval, err := range reader.Intervals() {
		if err == nil {
			tag := string(interval.Tag) // empty if the interval has none
			if sums[tag] == nil {
				sums[tag] = new(merge.Sum)
			}
			err = sums[tag].Add(interval)
		}
		if err != nil {
			log.Print(err) // a malformed line, for example; the next one is read
		}
	}
	for _, tag := range slices.Sorted(maps.Keys(sums)) {
		h, err := sums[tag].Histogram(nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s p99 %v\n", tag, h.Float(h.ValueAtPercentile(99)))
	}
	// Output:
	// insert-rt p99 3.3030143e+07
	// insert-st p99 5.574655e+06
	// insert-wt p99 2.1200895e+07
	// simple1-rt p99 1.40902399e+08
	// simple1-st p99 1.34873087e+08
	// simple1-wt p99 3.2997375e+07
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
	h, err := all.Histogram(nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(all.Intervals(), "intervals,", h.TotalCount(), "values,", (all.End-all.Start)/1000, "s")
	// Output:
	// 72 intervals, 132330 values, 120 s
}
