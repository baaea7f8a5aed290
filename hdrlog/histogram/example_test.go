package histogram_test

import (
	"fmt"
	"log"
	"sync"

	"hdrkit/hdrlog/histogram"
)

func Example() {
	// Three significant digits: values up to 2047 exactly, larger ones to within a thousandth.
	h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	if err != nil {
		log.Fatal(err)
	}
	for microseconds := int64(1); microseconds <= 10_000; microseconds++ {
		if err := h.Record(microseconds); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(h.TotalCount(), "values from", h.Min(), "to", h.Max())
	fmt.Printf("mean %.1f, standard deviation %.1f\n", h.Mean(), h.StdDev())
	for _, percentile := range []float64{50, 90, 99, 99.9} {
		fmt.Printf("%v%% are at or below %d\n", percentile, h.ValueAtPercentile(percentile))
	}
	// Output:
	// 10000 values from 1 to 10007
	// mean 5000.9, standard deviation 2886.9
	// 50% are at or below 5003
	// 90% are at or below 9007
	// 99% are at or below 9903
	// 99.9% are at or below 9991
}

func ExampleHistogram_Percentiles() {
	h, err := histogram.New(histogram.Layout{Digits: 2, Lowest: 1})
	if err != nil {
		log.Fatal(err)
	}
	for value := range int64(16) {
		if err := h.Record(value); err != nil {
			log.Fatal(err)
		}
	}
	for step := range h.Percentiles(1) {
		fmt.Printf("%6.2f%%: %2d values up to %2d\n", step.Percentile, step.TotalCount, step.Value)
	}
	// Output:
	//   0.00%:  1 values up to  0
	//  50.00%:  8 values up to  7
	//  75.00%: 12 values up to 11
	//  87.50%: 14 values up to 13
	//  93.75%: 15 values up to 14
	//  96.88%: 16 values up to 15
	// 100.00%: 16 values up to 15
}

// A sum is as fine as the finest of its histograms.
func ExampleHistogram_Add() {
	coarse, err := histogram.New(histogram.Layout{Digits: 1, Lowest: 1})
	if err != nil {
		log.Fatal(err)
	}
	fine, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	if err != nil {
		log.Fatal(err)
	}
	coarse.Record(1000)
	fine.Record(1000)
	if err := coarse.Add(fine); err != nil {
		log.Fatal(err)
	}
	fmt.Println(coarse.Layout().Digits, "digits")
	for bucket := range coarse.Recorded() {
		fmt.Printf("%d to %d: %d\n", bucket.Low, bucket.High, bucket.Count)
	}
	// Output:
	// 3 digits
	// 1000 to 1000: 1
	// 1023 to 1023: 1
}

// Many goroutines record. Take begins the next interval.
func ExampleRecorder() {
	recorder, err := histogram.NewRecorder(histogram.Layout{Digits: 3})
	if err != nil {
		log.Fatal(err)
	}
	var all sync.WaitGroup
	for n := range int64(100) {
		all.Go(func() {
			if err := recorder.Record(n); err != nil {
				log.Print(err)
			}
		})
	}
	all.Wait()
	var interval histogram.Histogram
	for range 2 {
		if err := recorder.Take(&interval); err != nil {
			log.Fatal(err)
		}
		fmt.Println(interval.TotalCount(), "values up to", interval.Max())
	}
	// Output:
	// 100 values up to 99
	// 0 values up to 0
}

// A double histogram holds float64 values, here in seconds, as multiples of its ratio.
func ExampleHistogram_RecordFloat() {
	h, err := histogram.New(histogram.Layout{Digits: 3, Ratio: 1.0 / (1 << 20)})
	if err != nil {
		log.Fatal(err)
	}
	for _, seconds := range []float64{0.0125, 0.5, 2.25} {
		if err := h.RecordFloat(seconds); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Printf("%.3f\n", h.Float(h.ValueAtPercentile(50)))
	// Output: 0.500
}
