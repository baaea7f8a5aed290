package output

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"

	"hdrkit/hdrlog/histogram"
)

// csvHeader is what HdrLogProcessing writes, space included.
const csvHeader = "BucketStart, Count\n"

// maxBins is the most lines of CSV that are written: more is no use to anyone, and would fill the disk.
const maxBins = 10_000_000

// CSVR writes how often each value was recorded, byte for byte as HdrLogProcessing does: values are whole numbers of
// printed units, and those that are equal so are counted together. Values of double histograms are not truncated.
func CSVR(w io.Writer, s *Summary, o *Options) error {
	h := s.Histogram
	label := func(v float64) string { return strconv.FormatInt(whole(v), 10) }
	if h.Double() {
		label = shortest
	}
	b := bufio.NewWriter(w)
	b.WriteString(csvHeader)
	var current string
	var count int64
	flush := func() {
		if count != 0 {
			fmt.Fprintf(b, "%s,%d\n", current, count)
		}
	}
	for bucket := range h.Recorded() {
		if next := label(o.scaled(h, bucket.High)); next != current {
			flush()
			current, count = next, 0
		}
		count += bucket.Count
	}
	flush()
	return b.Flush()
}

// CSV writes the counts of bins that are all BinSize wide, from the one with the lowest value to the one with the highest.
// A bin begins with its start and ends before the next, so that the counts add up to the total count.
func CSV(w io.Writer, s *Summary, o *Options) error {
	h := s.Histogram
	first := math.Floor(o.scaled(h, h.Min()) / o.BinSize)
	last := math.Floor(o.scaled(h, h.Max()) / o.BinSize)
	if !(last-first < maxBins) { // nor is it a number, where both are infinite
		return fmt.Errorf("more than %d bins of %v: ask for larger ones with -obs, or for csve", maxBins, o.BinSize)
	}
	start := func(n int) float64 { return (first + float64(n)) * o.BinSize }
	return writeBins(w, h, o, start)
}

// CSVE writes the counts of bins of which the first is BinSize wide and begins at 0, and each other one as wide as all
// before it together.
func CSVE(w io.Writer, s *Summary, o *Options) error {
	start := func(n int) float64 {
		if n == 0 {
			return 0
		}
		return math.Ldexp(o.BinSize, n-1)
	}
	return writeBins(w, s.Histogram, o, start)
}

// writeBins writes the counts of bins that begin at start(0), start(1) and so on, up to the bin of the highest value. A
// recorded value is the highest that is equivalent to it, as in all other formats.
func writeBins(w io.Writer, h *histogram.Histogram, o *Options, start func(n int) float64) error {
	b := bufio.NewWriter(w)
	b.WriteString(csvHeader)
	var bin int
	var count int64
	flush := func() {
		fmt.Fprintf(b, "%s,%d\n", shortest(start(bin)), count)
		bin, count = bin+1, 0
	}
	for bucket := range h.Recorded() {
		for value := o.scaled(h, bucket.High); value >= start(bin+1) && !math.IsInf(start(bin+1), 1); {
			flush()
		}
		count += bucket.Count
	}
	if h.TotalCount() > 0 {
		flush()
	}
	return b.Flush()
}
