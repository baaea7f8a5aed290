package merge

import (
	"math"
	"math/rand/v2"
	"testing"

	"hdrkit/hdrlog/internal/logtest"
)

// TestCovered proves that logs of steady rates have those rates together in windows of many kinds,
// in whatever order their intervals come.
func TestCovered(t *testing.T) {
	t.Parallel()
	type log struct{ length, begin, jitter int64 } // milliseconds
	many := func(n int, l log) (all []log) {
		random := rand.New(rand.NewPCG(1, 1))
		for range n {
			all = append(all, log{l.length, random.Int64N(l.length), l.jitter})
		}
		return all
	}
	for _, test := range []struct {
		name   string
		logs   []log
		window int64
		within float64
	}{
		{"one log", many(1, log{length: 1000}), 10000, 0},
		{"one log of 4 s intervals", many(1, log{length: 4000}), 10000, 0},
		{"one log of 7 s intervals", many(1, log{length: 7000}), 10000, 0},
		{"1 s in 1.5 s", many(1, log{length: 1000}), 1500, 0},
		{"intervals longer than the window", many(1, log{length: 60000}), 10000, 0},
		{"a timer that is early and late", many(1, log{length: 1000, jitter: 20}), 10000, 0.005},
		{"7 s with jitter", many(1, log{length: 7000, jitter: 20}), 10000, 0.005},
		{"two logs", many(2, log{length: 1000}), 10000, 0.005},
		{"twenty logs", many(20, log{length: 1000}), 10000, 0.005},
		{"twenty logs with jitter", many(20, log{length: 1000, jitter: 20}), 10000, 0.01},
		{"two logs side by side", []log{{length: 1000}, {length: 1000}}, 1000, 0},
		{"10 s beside 1 s", []log{{length: 10000}, {length: 1000}}, 10000, 0.005},
		{"twenty logs of intervals as long as the window", many(20, log{length: 1000}), 1000, 0.06},
	} {
		var all [][2]int64
		for _, l := range test.logs {
			random := rand.New(rand.NewPCG(2, 2))
			end := l.begin
			for at := l.begin; at < 1_000_000; at += l.length {
				from, to := end, at+l.length
				if l.jitter > 0 {
					from, to = at+random.Int64N(l.jitter), to+random.Int64N(l.jitter)
				}
				all, end = append(all, [2]int64{from, to}), to
			}
		}
		orders := rand.New(rand.NewPCG(3, 3))
		before := map[Window]int64{}
		for range logtest.Rounds(4) {
			orders.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			rates, windows := 0.0, 0
			type one struct {
				Covered
				start, end int64
				values     int64
			}
			open := map[Window]*one{}
			for _, i := range all {
				w := WindowOf(i[0], i[1], test.window)
				if open[w] == nil {
					open[w] = &one{start: math.MaxInt64}
				}
				o := open[w]
				o.Add(i[0], i[1])
				o.start, o.end, o.values = min(o.start, i[0]), max(o.end, i[1]), o.values+i[1]-i[0]
			}
			for w, o := range open {
				if w.Start < 100_000 || w.End > 900_000 {
					continue
				}
				covered := o.Millis(o.end-o.start, test.window)
				if was, ok := before[w]; ok && was != covered {
					t.Errorf("%s: %d ms or %d ms at %d, by the order of intervals", test.name, was, covered, w.Start)
				}
				before[w] = covered
				rates, windows = rates+float64(o.values)/float64(covered), windows+1
			}
			if rate := rates / float64(windows) / float64(len(test.logs)); math.Abs(rate-1) > test.within+1e-9 {
				t.Errorf("%s: %v times the rate", test.name, rate)
			}
		}
	}
}
