package histogram_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"hdrkit/hdrlog/histogram"
)

// The files in testdata hold answers of the reference, HdrHistogram 2.2.2. They also say how to
// make the histograms. A line has fields separated by tabs. The first one is the kind:
//
//	at           percentiles to ask for
//	histogram    begins a histogram: digits and lowest value, or in double.tsv its payload
//	record       a value and a count
//	plain        the plain payload of the histogram
//	sum          begins the sum of the histograms since the last sum: digits and lowest value, or the
//	             exact mean
//	facts        total count, minimum, maximum, and the bits of mean and standard deviation
//	percentiles  values at the percentiles
//	between      low, high and the count between them
//	steps        ticks, the number of steps of the percentile iteration, their hash, and whether it
//	             ends, stalls or fails
//	recorded     the number of slots with a count, and their hash
//
// levels.tsv has ticks, the number of levels below 100%, their hash and the bits of the last one.

// readLines calls line with the fields of each line of a file.
func readLines(t *testing.T, name string, line func(fields []string)) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		line(strings.Split(scanner.Text(), "\t"))
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
}

func integer(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func float(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// fnv adds the bytes of v, lowest first, to an FNV-1a hash.
func fnv(hash, v uint64) uint64 {
	for i := range 8 {
		hash ^= v >> (8 * i) & 0xff
		hash *= 0x100000001b3
	}
	return hash
}

const fnvStart = 0xcbf29ce484222325

func TestStatistics(t *testing.T) {
	var (
		h       *histogram.Histogram
		since   []*histogram.Histogram
		at      []float64
		asked   int
		sums    int
		stalled int
	)
	readLines(t, "testdata/statistics.tsv", func(fields []string) {
		args := fields[1:]
		where := func() string { return fmt.Sprintf("%+v, %d values: %s", h.Layout(), h.TotalCount(), fields) }
		switch fields[0] {
		case "at":
			for _, arg := range args {
				at = append(at, float(t, arg))
			}
			return
		case "histogram":
			h = newHistogram(t, int(integer(t, args[0])), integer(t, args[1]))
			since = append(since, h)
			return
		case "record":
			if err := h.RecordN(integer(t, args[0]), integer(t, args[1])); err != nil {
				t.Fatal(err)
			}
			return
		case "plain":
			since = nil
			return
		case "sum":
			want := histogram.Layout{Digits: int(integer(t, args[0])), Lowest: integer(t, args[1])}
			sum, other := since[0].Clone(), since[1].Clone()
			if err := sum.Add(since[1]); err != nil {
				t.Fatal(err)
			}
			if err := other.Add(since[0]); err != nil {
				t.Fatal(err)
			}
			if sum.Layout() != want || other.Layout() != want {
				t.Errorf("sum has layouts %+v and %+v, want %+v", sum.Layout(), other.Layout(), want)
			}
			equal(t, sum, other) // The order of adding does not matter.
			// The counts of a coarser slot go to its highest value, and to its lowest one in the
			// reference.
			h = newHistogram(t, want.Digits, want.Lowest)
			highest := newHistogram(t, want.Digits, want.Lowest)
			for _, part := range since {
				for bucket := range part.Recorded() {
					record(t, h, bucket.Low, bucket.Count)
					record(t, highest, bucket.High, bucket.Count)
				}
			}
			equal(t, sum, highest)
			since = nil
			sums++
			return
		}
		asked++
		var got []string
		switch fields[0] {
		case "facts":
			got = []string{fmt.Sprint(h.TotalCount()), fmt.Sprint(h.Min()), fmt.Sprint(h.Max()), bits(h.Mean()), bits(h.StdDev())}
		case "percentiles":
			for i, percentile := range at {
				if args[i] == "0" && percentile >= 100 {
					// The reference looks for more values than there are.
					args[i] = fmt.Sprint(h.Max())
				}
				got = append(got, fmt.Sprint(h.ValueAtPercentile(percentile)))
			}
		case "between":
			got = []string{args[0], args[1], fmt.Sprint(h.CountBetween(integer(t, args[0]), integer(t, args[1])))}
		case "steps":
			want := int(integer(t, args[1]))
			got = []string{args[0], "", "", args[3]}
			n, hash := 0, uint64(fnvStart)
			for step := range h.Percentiles(int(integer(t, args[0]))) {
				if n == want && args[3] != "ends" {
					// The reference stops here.
					if step.Percentile != 100 || step.TotalCount != h.TotalCount() || step.Value != h.Max() {
						t.Errorf("%s: step after the last of the reference is %+v, want 100%%", where(), step)
					}
					stalled++
					break
				}
				hash = fnv(fnv(fnv(hash, uint64(step.Value)), math.Float64bits(step.Percentile)), uint64(step.TotalCount))
				n++
			}
			got[1], got[2] = fmt.Sprint(n), fmt.Sprintf("%x", hash)
		case "recorded":
			n, hash := 0, uint64(fnvStart)
			for bucket := range h.Recorded() {
				hash = fnv(fnv(fnv(hash, uint64(bucket.Low)), uint64(bucket.High)), uint64(bucket.Count))
				n++
			}
			got = []string{fmt.Sprint(n), fmt.Sprintf("%x", hash)}
		default:
			t.Fatalf("unknown line: %s", fields)
		}
		if strings.Join(got, "\t") != strings.Join(args, "\t") {
			t.Errorf("%s\ngot %s", where(), got)
		}
	})
	if asked < 800 || sums != 14 || stalled == 0 {
		t.Errorf("asked %d questions, added %d sums, %d iterations stall: is testdata whole?", asked, sums, stalled)
	}
}

func bits(x float64) string { return fmt.Sprintf("%x", math.Float64bits(x)) }

// The levels of the percentile iteration come from logarithms. Java and Go compute them
// differently. All levels up to the one where the reference stalls or fails are equal, bit for bit.
func TestPercentileLevels(t *testing.T) {
	h := newHistogram(t, 3, 1)
	record(t, h, 1, math.MaxInt64-1)
	record(t, h, 2, 1)
	readLines(t, "testdata/levels.tsv", func(fields []string) {
		n, hash, last := 0, uint64(fnvStart), 0.0
		for step := range h.Percentiles(int(integer(t, fields[0]))) {
			if step.Percentile == 100 {
				break
			}
			last = step.Percentile
			hash = fnv(hash, math.Float64bits(last))
			n++
		}
		if got := []string{fields[0], fmt.Sprint(n), fmt.Sprintf("%x", hash), bits(last)}; strings.Join(got, " ") != strings.Join(fields, " ") {
			t.Errorf("ticks, levels, hash, last: got %s, want %s", got, fields)
		}
	})
}

func TestDouble(t *testing.T) {
	var (
		h, sum   *histogram.Histogram
		at       []float64
		decoder  histogram.Decoder
		merged   bool
		mean     float64
		asked    int
		coarsest int // digits of the parts of a sum
	)
	// All answers are equal, except for the maximum: the reference returns the last float64
	// below the next slot. A sum may have another conversion ratio, and takes the highest value
	// of a coarser slot, not its lowest.
	near := func(what string, got, want float64) {
		t.Helper()
		tolerance := 1e-15
		if merged {
			tolerance = math.Pow(10, -float64(coarsest)) * 1.001
		}
		if math.Abs(got-want) > tolerance*math.Abs(want) {
			t.Errorf("%+v: %s is %v, want %v", h.Layout(), what, got, want)
		}
	}
	readLines(t, "testdata/double.tsv", func(fields []string) {
		args := fields[1:]
		switch fields[0] {
		case "at":
			for _, arg := range args {
				at = append(at, float(t, arg))
			}
		case "histogram":
			packed, err := base64.StdEncoding.DecodeString(args[0])
			if err != nil {
				t.Fatal(err)
			}
			p, err := decoder.OpenBinary(packed)
			if err != nil {
				t.Fatal(err)
			}
			if h, err = p.Histogram(); err != nil {
				t.Fatal(err)
			}
			if sum == nil || merged {
				sum, coarsest = newDouble(t, p.Layout()), histogram.MaxDigits
			}
			coarsest = min(coarsest, p.Layout().Digits)
			if err := p.AddTo(sum); err != nil {
				t.Fatal(err)
			}
			merged = false
		case "sum":
			h, merged, mean = sum, true, float(t, args[0])
		case "facts":
			if !h.Double() {
				t.Error("not a double histogram")
			}
			if got := fmt.Sprint(h.TotalCount()); got != args[0] {
				t.Errorf("total count %s, want %s", got, args[0])
			}
			near("minimum", h.Float(h.Min()), float(t, args[1]))
			if got, want := h.Float(h.Max()), math.Nextafter((float64(h.Max())+1)*h.Ratio(), 0); merged {
				near("maximum", want, float(t, args[2]))
			} else if want != float(t, args[2]) {
				t.Errorf("maximum is %v, below the next slot %v, want %s", got, want, args[2])
			}
			near("mean", h.Mean(), float(t, args[3]))
			if merged {
				near("mean against the exact one", h.Mean(), mean)
			}
			near("standard deviation", h.StdDev(), float(t, args[4]))
			asked++
		case "percentiles":
			for i, percentile := range at {
				near(fmt.Sprintf("%v%%", percentile), h.Float(h.ValueAtPercentile(percentile)), float(t, args[i]))
			}
		}
	})
	if asked != 72 {
		t.Errorf("%d double histograms and sums, want 72", asked)
	}
}
