// Command hdrhistogram-go adds up all intervals of a log with the log reader and Merge of that
// library. It is a peer of hdrsum.
package main

import (
	"bufio"
	"fmt"
	"math"
	"os"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "hdrhistogram-go:", err)
		os.Exit(1)
	}
}

func run(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	reader := hdrhistogram.NewHistogramLogReader(bufio.NewReaderSize(f, 1<<20))
	sum := hdrhistogram.New(1, math.MaxInt64/2, 3)
	var intervals, dropped int64
	for {
		h, err := reader.NextIntervalHistogram()
		if err != nil {
			return err
		}
		if h == nil {
			break
		}
		intervals++
		dropped += sum.Merge(h)
	}
	fmt.Printf("%d intervals, %d values, %d dropped\n", intervals, sum.TotalCount(), dropped)
	return nil
}
