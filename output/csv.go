package output

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/people"
)

// csvHeader is the header of HdrLogProcessing, including the space.
const csvHeader = "BucketStart, Count\n"

// maxBins limits the lines of [Bins]. Spreadsheets cannot read more lines.
const maxBins = 1_000_000

// RecordedValues writes a line of CSV for each recorded value with its count, byte for byte as
// HdrLogProcessing does. It truncates values to whole printed units, and adds up the counts of
// values that become equal. It does not truncate values of double histograms.
func RecordedValues(w io.Writer, s *Summary) error {
	h := s.Counts()
	label := func(v float64) string { return strconv.FormatInt(whole(v), 10) }
	if h.Double() {
		label = people.Shortest
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
		if next := label(s.Scale.Of(h.Float(bucket.High))); next != current {
			flush()
			current, count = next, 0
		}
		count += bucket.Count
	}
	flush()
	return b.Flush()
}

// Bins writes a line of CSV for each bin, with its count. All bins have the same width in printed
// units. The first bin has the lowest value and the last bin the highest value. A bin includes its
// start and excludes the start of the next bin, so the counts add up to the total count.
func Bins(w io.Writer, s *Summary, width float64) error {
	if err := checkBins(width); err != nil {
		return err
	}
	h := s.Counts()
	first := math.Floor(below(s.Scale, h, h.Min()) / width)
	if last := math.Floor(below(s.Scale, h, h.Max()) / width); !(last-first < maxBins) { // also for NaN
		return fmt.Errorf("more than %d bins of %v: use wider bins (-obs of hdrsum), or values for "+
			"the recorded ones only", maxBins, width)
	}
	return writeBins(w, h, s.Scale, func(n int) float64 { return (first + float64(n)) * width })
}

// DoublingBins writes the counts of bins that double in width. The first bin begins at 0 and has
// the given width, in printed units. Each other bin is as wide as all bins before it together.
func DoublingBins(w io.Writer, s *Summary, width float64) error {
	if err := checkBins(width); err != nil {
		return err
	}
	start := func(n int) float64 {
		if n == 0 {
			return 0
		}
		return math.Ldexp(width, n-1)
	}
	return writeBins(w, s.Counts(), s.Scale, start)
}

func checkBins(width float64) error {
	if !(width > 0) || math.IsInf(width, 1) {
		return fmt.Errorf("bins of %v: the width must be a positive number", width)
	}
	return nil
}

// writeBins writes the counts of bins that begin at start(0), start(1) and so on, up to the bin of
// the highest value. As in all formats, a slot stands for its highest value.
func writeBins(w io.Writer, h *histogram.Histogram, scale hdrlog.Scale, start func(n int) float64) error {
	b := bufio.NewWriter(w)
	b.WriteString(csvHeader)
	var bin int
	var count int64
	flush := func() {
		fmt.Fprintf(b, "%s,%d\n", people.Shortest(start(bin)), count)
		bin, count = bin+1, 0
	}
	for bucket := range h.Recorded() {
		for value := below(scale, h, bucket.High); value >= start(bin+1) && !math.IsInf(start(bin+1), 1); {
			flush()
		}
		count += bucket.Count
	}
	if h.TotalCount() > 0 {
		flush()
	}
	return b.Flush()
}

// below returns a value of h in printed units. It rounds down a value that a float64 cannot hold,
// so that 2^63-1 is not in the bin that begins at 2^63.
func below(s hdrlog.Scale, h *histogram.Histogram, v int64) float64 {
	f := h.Float(v)
	if !h.Double() && (f >= 1<<63 || int64(f) > v) {
		f = math.Nextafter(f, 0)
	}
	return s.Of(f)
}
