package finding

import (
	"testing"

	"hdrkit/internal/detect"
)

// TestAlike: a figure moves about as a level does if it moves at least half and at most twice as
// far, in the same direction.
func TestAlike(t *testing.T) {
	for moved, want := range map[float64]bool{0.49: false, 0.5: true, 1: true, 2: true, 2.1: false, -1: false, 0: false} {
		if alike(moved, 1) != want || alike(-3*moved, -3) != want {
			t.Errorf("%v beside 1: %v", moved, !want)
		}
	}
}

// TestBroad: a percentile moves with its values if those at twice and half its distance from the
// end move at least half as far.
func TestBroad(t *testing.T) {
	for _, test := range []struct {
		moved levels
		want  bool
	}{
		{levels{seen: 1, near: 1, nearer: 1}, true},
		{levels{seen: 1, near: 0.5, nearer: 2}, true},
		{levels{seen: 1, near: 0.4, nearer: 1}, false},
		{levels{seen: 1, near: 1, nearer: 0.4}, false},
		{levels{seen: -1, near: -0.6, nearer: -0.7}, true},
		{levels{seen: -1, near: 0.6, nearer: -0.7}, false},
	} {
		if test.moved.isBroad() != test.want {
			t.Errorf("%+v: %v", test.moved, !test.want)
		}
	}
}

// TestFollowsLoad: maxima are no level of their own if the rate grows as they do.
func TestFollowsLoad(t *testing.T) {
	intervals := []detect.Interval{{Start: 0, End: 1000, Count: 100}, {Start: 1000, End: 2000, Count: 300}, {Start: 2000, End: 3000, Count: 100}}
	for times, want := range map[float64]bool{2: true, 3: true, 3.1: false} {
		if got := followsLoad(intervals, detect.Higher{Start: 1000, End: 2000, Times: times}); got != want {
			t.Errorf("%v times as high at three times the rate: %v", times, got)
		}
	}
}

// TestOutside: intervals that begin in other phases do not count.
func TestOutside(t *testing.T) {
	intervals := []detect.Interval{{Start: 0}, {Start: 10}, {Start: 19}, {Start: 20}, {Start: 30}}
	got := intervalsOutside(intervals, []detect.Span{{From: 1, To: 2}}, []int64{0, 10, 20, 30})
	if len(got) != 3 || got[0].Start != 0 || got[1].Start != 20 || got[2].Start != 30 {
		t.Errorf("%v", got)
	}
}

// TestEffectiveWindows: equal counts are as many as they are, and one large one is one.
func TestEffectiveWindows(t *testing.T) {
	for want, counts := range map[float64][]float64{4: {5, 5, 5, 5}, 1: {0, 7, 0}, 0: {0, 0}, 2: {3, 3, 0, 0}} {
		if got := detect.Spread(counts); got != want {
			t.Errorf("%v: %v, want %v", counts, got, want)
		}
	}
}

// TestCeiling: values take the maximum as requests do that time out, if there are ten of them, at
// most a tenth of all, and more than are nearly as high.
func TestCeiling(t *testing.T) {
	for _, test := range []struct {
		name   string
		values map[int64]int64 // counts by value
		want   int64
	}{
		{"timeouts", map[int64]int64{1000: 990, 30_000: 10}, 10},
		{"nine", map[int64]int64{1000: 991, 30_000: 9}, 0},
		{"a tenth", map[int64]int64{1000: 900, 30_000: 100}, 100},
		{"more than a tenth", map[int64]int64{1000: 900, 30_000: 101}, 0},
		{"as many are above the half", map[int64]int64{1000: 900, 16_000: 20, 30_000: 20}, 0},
		{"fewer are", map[int64]int64{1000: 900, 16_000: 19, 30_000: 20}, 20},
		{"below the half", map[int64]int64{1000: 900, 14_000: 40, 30_000: 20}, 20},
		{"within a percent", map[int64]int64{1000: 900, 29_800: 10, 30_000: 5}, 15},
		{"beyond a percent", map[int64]int64{1000: 900, 29_000: 10, 30_000: 5}, 0},
	} {
		if got := ceiling(rowOf(t, "a", test.values).Counts()); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

// TestSlow: logs are slower than the others if they are so beyond chance, and by more than the
// others are apart: at most a quarter of all.
func TestSlow(t *testing.T) {
	log := func(name string, mean, spread float64) besideOthers {
		b := besideOthers{mean: mean}
		b.Input = name
		b.Intervals = []detect.Interval{{Start: 0, End: 1000}, {Start: 1000, End: 2000}}
		for n := range 50 {
			b.above = append(b.above, mean+spread*float64(n*7%5-2))
		}
		return b
	}
	for _, test := range []struct {
		name string
		logs []besideOthers
		want int
	}{
		{"one", []besideOthers{log("a", 0, 0.1), log("b", 0.1, 0.1), log("c", 1, 0.1), log("d", 0.05, 0.1)}, 1},
		{"the others are as far apart", []besideOthers{log("a", 0, 0.1), log("b", 0.6, 0.1), log("c", 1, 0.1)}, 0},
		{"within chance", []besideOthers{log("a", 0, 9), log("b", 0.1, 9), log("c", 1, 9)}, 0},
		{"two logs", []besideOthers{log("a", 0, 0.1), log("c", 1, 0.1)}, 0},
		{"two of eight", []besideOthers{
			log("a", 0, 0.1), log("b", 0.1, 0.1), log("c", 1, 0.1), log("d", 0.05, 0.1), log("e", 1.1, 0.1), log("f", 0, 0.1),
			log("g", 0.1, 0.1), log("h", 0, 0.1),
		}, 2},
	} {
		if got := slowOf(test.logs, 1); len(got) != test.want {
			t.Errorf("%s: %+v, want %d", test.name, got, test.want)
		}
	}
}
