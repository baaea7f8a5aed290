package merge

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hdrkit/hdrlog/internal/logtest"
)

// TestRates: logs of steady rates have these rates together in all windows in which they run, at
// any lengths, offsets, jitter, cuts into files, windows and orders.
func TestRates(t *testing.T) {
	t.Parallel()
	for seed := range uint64(logtest.Rounds(200)) {
		random := rand.New(rand.NewPCG(seed, 7))
		type interval struct {
			input             int
			start, end, count int64
		}
		var all []interval
		first, last, rate, inputs := int64(0), int64(math.MaxInt64), int64(0), 0
		for range 1 + random.IntN(4) {
			length, own := 100+random.Int64N(12_000), 10+random.Int64N(1000) // values in a millisecond
			jitter := random.Int64N(length/4 + 1)
			at := random.Int64N(20_000)
			first, rate = max(first, at), rate+own
			end := at
			for n := range int64(60) {
				to := at + (n+1)*length + random.Int64N(jitter+1)
				all = append(all, interval{inputs, end, to, own * (to - end)})
				if end = to; random.IntN(20) == 0 {
					inputs++ // the log is cut here
				}
			}
			inputs++
			last = min(last, end)
		}
		size := 100 + random.Int64N(15_000)
		var before []WindowCount
		for range 3 {
			random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			var r Rates
			counts := map[int64]int64{}
			for _, i := range all {
				r.Add(nil, i.input, i.start, i.end, i.count, math.MinInt64, size)
				counts[WindowOf(i.start, i.end, size).Start] += i.count
			}
			var got []WindowCount
			for at := int64(0); at < last; at += size {
				own := r.Take(nil, Span{at, at + size})
				got = append(got, own)
				if at < first || at+size > last {
					continue
				}
				if v := (float64(counts[at]) + own.Moved) / float64(own.Millis); math.Abs(v/float64(rate)-1) > 1e-6 {
					t.Fatalf("seed %d: %v in [%d, %d), want %d: %+v of %d values", seed, v, at, at+size, rate, own, counts[at])
				}
			}
			for n := range before {
				if got[n] != before[n] {
					t.Fatalf("seed %d: %+v, in another order %+v", seed, got[n], before[n])
				}
			}
			before = got
		}
	}
}

// TestShares: shares are exact also where counts are huge, and inputs that do not run have no time.
func TestShares(t *testing.T) {
	t.Parallel()
	var r Rates
	r.Add([]byte("a"), 0, 5000, 15_000, math.MaxInt64, math.MinInt64, 10_000)
	r.Add([]byte("b"), 1, 30_000, 35_000, 10, math.MinInt64, 10_000)
	for _, test := range []struct {
		row  string
		at   int64
		want WindowCount
	}{
		{"a", 0, WindowCount{Moved: math.MaxInt64 / 2, Millis: 5000, Any: 5000}},
		{"a", 10_000, WindowCount{Moved: -math.MaxInt64 / 2, Millis: 5000, Any: 5000}},
		{"b", 20_000, WindowCount{}},
		{"b", 30_000, WindowCount{Millis: 5000, Any: 5000}},
		{"c", 30_000, WindowCount{Any: 5000}},
	} {
		if got := r.Take([]byte(test.row), Span{test.at, test.at + 10_000}); got != test.want {
			t.Errorf("%s at %d: %+v, want %+v", test.row, test.at, got, test.want)
		}
	}
}

// TestRatesAgain: what Rates remember of a window for its rows is what those find that remember
// nothing, whatever came between.
func TestRatesAgain(t *testing.T) {
	t.Parallel()
	for seed := range uint64(logtest.Rounds(100)) {
		random := rand.New(rand.NewPCG(seed, 8))
		var r Rates
		for step := range 60 {
			start := random.Int64N(50)
			row := []byte{byte('a' + random.IntN(3))}
			switch random.IntN(6) {
			case 0:
				r.Ran(random.IntN(5), start, start+random.Int64N(20))
			case 1:
				r.Forget(start)
			case 2, 3:
				r.Add(row, random.IntN(5), start, start+random.Int64N(20), 7, math.MinInt64, 10)
			}
			fresh := Rates{inputs: maps.Clone(r.inputs), rows: make(map[string]*rateRow)}
			for key, row := range r.rows {
				fresh.rows[key] = &rateRow{inputs: slices.Clone(row.inputs)}
				if row.crossing != nil {
					fresh.rows[key].crossing = &crossingIntervals{intervals: slices.Clone(row.crossing.intervals)}
				}
			}
			w := Span{10, 20 + 10*random.Int64N(2)}
			if got, want := r.Take(row, w), fresh.Take(row, w); got != want {
				t.Fatalf("seed %d, step %d: %+v, want %+v", seed, step, got, want)
			}
		}
	}
}
