package merge

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/internal/logtest"
)

// A tally is what was added without an error.
type tally struct {
	total, over uint64 // the number of values, of 128 bits
	intervals   int64
	double      bool
	start, end  int64
	highest     float64 // the highest value
}

func (a *tally) include(b *tally) {
	var carry uint64
	a.total, carry = bits.Add64(a.total, b.total, 0)
	a.over += b.over + carry
	if a.intervals == 0 {
		a.start = b.start
		a.end = b.end
		a.double = b.double
	}
	a.start, a.end = min(a.start, b.start), max(a.end, b.end)
	a.intervals += b.intervals
	a.highest = max(a.highest, b.highest)
}

// TestNothingIsLost: whatever is added to sums and in whatever way, each value is counted or
// something returns an error, and what returns an error changes nothing.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	rounds := logtest.Rounds(1500)
	outcomes := make(map[string]int)
	for seed := range uint64(rounds) {
		random := rand.New(rand.NewPCG(seed, 11))
		pick := func(from ...int64) int64 { return from[random.IntN(len(from))] }
		// Most rounds have only values that add up.
		kinds := random.IntN(8) == 0
		huge := random.IntN(3) == 0
		far := random.IntN(3) == 0
		doubles := random.IntN(2) == 0
		small := random.IntN(2) == 0
		sums := make([]*Sum, 1+random.IntN(4))
		tallies := make([]tally, len(sums))
		for n := range sums {
			sums[n] = &Sum{counts: counts{small: small}}
		}
		last := func(n int) string {
			return fmt.Sprintf("seed %d, %d intervals, small: %v", seed, tallies[n].intervals, small)
		}
		for range 1 + random.IntN(40) {
			n := random.IntN(len(sums))
			switch random.IntN(6) {
			default:
				layout := histogram.Layout{Digits: random.IntN(4), Lowest: 1 << random.IntN(3)}
				if doubles != (kinds && random.IntN(8) == 0) {
					layout.Ratio = 1.0 / 1024
					if far {
						layout.Ratio = math.Ldexp(1, random.IntN(60)-30)
					}
				}
				h, err := histogram.New(layout)
				if err != nil {
					t.Fatal(err)
				}
				more := tally{intervals: 1, double: h.Double(), start: random.Int64N(1000)}
				more.end = more.start + random.Int64N(1000)
				for range random.IntN(20) {
					value, count := random.Int64N(pick(10, 1000, 1<<40)), 1+random.Int64N(3)
					if huge && random.IntN(10) == 0 {
						count = pick(1<<60, 1<<62)
					}
					if h.RecordN(value, count) == nil {
						more.total += uint64(count)
						more.highest = max(more.highest, h.Float(value))
					}
				}
				if random.IntN(2) == 0 {
					payload, encodeErr := new(histogram.Encoder).AppendBase64(nil, h)
					if encodeErr != nil {
						continue
					}
					err = sums[n].Add(intervalOf("", float64(more.start)/1000+0.0001, float64(more.end-more.start)/1000+0.0001, payload))
				} else {
					err = sums[n].AddHistogram(more.start, more.end, h)
				}
				check(t, last(n), err, outcomes)
				if err == nil {
					tallies[n].include(&more)
				}
			case 0:
				m := random.IntN(len(sums))
				if m == n || tallies[n].intervals+tallies[m].intervals > 1<<20 {
					continue
				}
				err := sums[n].Merge(sums[m])
				check(t, last(n), err, outcomes)
				if err == nil && tallies[m].intervals > 0 {
					tallies[n].include(&tallies[m])
				}
			case 1:
				check(t, last(n), sums[n].Compact(), outcomes)
			}
			if sums[n].Intervals() != tallies[n].intervals {
				t.Fatalf("%s: the sum has %d", last(n), sums[n].Intervals())
			}
		}
		for n, sum := range sums {
			want := &tallies[n]
			var scratch histogram.Histogram
			h, err := sum.Histogram(&scratch)
			check(t, last(n), err, outcomes)
			if err == nil && (want.over > 0 || uint64(h.TotalCount()) != want.total) {
				t.Fatalf("%s: %d values, want %d and %d times 2^64", last(n), h.TotalCount(), want.total, want.over)
			}
			if err == nil && h.Float(h.Max()) < want.highest*0.4-h.Ratio() {
				t.Fatalf("%s: the highest value is %v, want %v", last(n), h.Float(h.Max()), want.highest)
			}
			if want.intervals > 0 && (sum.Start != want.start || sum.End != want.end) {
				t.Fatalf("%s: from %d to %d, want %d to %d", last(n), sum.Start, sum.End, want.start, want.end)
			}
			if err != nil && !huge && !far && !kinds {
				t.Fatalf("%s: %v", last(n), err)
			}
			data, binaryErr := sum.MarshalBinary()
			if far && err == nil && errors.Is(binaryErr, histogram.ErrSpan) {
				continue // no payload holds such doubles
			}
			if want.intervals > 0 && (binaryErr == nil) != (err == nil) {
				t.Fatalf("%s: %v, but encoded: %v", last(n), err, binaryErr)
			}
			if want.intervals == 0 || err != nil {
				continue
			}
			var other Sum
			if err := other.UnmarshalBinary(data); err != nil {
				t.Fatalf("%s: %v", last(n), err)
			}
			again, err := other.Histogram(new(histogram.Histogram))
			if err != nil || again.TotalCount() != h.TotalCount() || other.Intervals() != want.intervals {
				t.Fatalf("%s: decoded it has %d intervals, %v", last(n), other.Intervals(), err)
			}
		}
	}
	for _, outcome := range []string{"fine", histogram.ErrKind.Error(), histogram.ErrSpan.Error(), histogram.ErrOverflow.Error()} {
		if outcomes[outcome] < 3 {
			t.Errorf("%d times: %s; the test has too few", outcomes[outcome], outcome)
		}
	}
}

// check counts an outcome. The only error is a [SumError].
func check(t *testing.T, what string, err error, outcomes map[string]int) {
	t.Helper()
	var sum *SumError
	if err == nil {
		outcomes["fine"]++
	} else if !errors.As(err, &sum) {
		t.Fatalf("%s: %v", what, err)
	}
	for _, cause := range []error{histogram.ErrKind, histogram.ErrSpan, histogram.ErrOverflow} {
		if errors.Is(err, cause) {
			outcomes[cause.Error()]++
		}
	}
}

// TestMergeOverflow: a sum whose packed counts do not add up changes no sum that is a histogram.
func TestMergeOverflow(t *testing.T) {
	t.Parallel()
	huge, err := histogram.New(histogram.Layout{Digits: 1, Lowest: 1})
	if err != nil {
		t.Fatal(err)
	}
	huge.RecordN(1000, 1<<62)
	packed := Sum{counts: counts{small: true}}
	for range 2 {
		if err := packed.AddHistogram(0, 1000, huge); err != nil {
			t.Fatal(err)
		}
	}
	s := twice(t)
	before, err := s.Histogram(new(histogram.Histogram))
	if err != nil {
		t.Fatal(err)
	}
	want := before.TotalCount()
	var sumErr *SumError
	if err := s.Merge(&packed); !errors.As(err, &sumErr) || !errors.Is(err, histogram.ErrOverflow) {
		t.Errorf("no error of a sum that overflows: %v", err)
	}
	after, err := s.Histogram(new(histogram.Histogram))
	if err != nil || after.TotalCount() != want || s.Intervals() != 2 {
		t.Errorf("%d values of %d intervals, %v, want %d of 2", after.TotalCount(), s.Intervals(), err, want)
	}
}

// TestFieldsOfTimes: times have three decimals, and a microsecond more where a reader that
// truncates would find the millisecond before.
func TestFieldsOfTimes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		start, end int64
		want       string
	}{
		{1000, 2500, "1.000,1.500,"},
		{1001, 2001, "1.001001,1.000,"},
		{-1000, -500, "-1.000,0.500,"},
	} {
		h, err := histogram.New(histogram.Layout{Digits: 1, Lowest: 1})
		if err != nil {
			t.Fatal(err)
		}
		var s Sum
		if err := s.AddHistogram(test.start, test.end, h); err != nil {
			t.Fatal(err)
		}
		text, err := s.AppendFields(nil, 0)
		if err != nil || !strings.HasPrefix(string(text), test.want) {
			t.Errorf("%s, %v, want %s", text, err, test.want)
		}
	}
}
