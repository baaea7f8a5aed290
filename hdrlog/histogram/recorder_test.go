package histogram_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/internal/logtest"
)

func newRecorder(t testing.TB, layout histogram.Layout) *histogram.Recorder {
	t.Helper()
	r, err := histogram.NewRecorder(layout)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Many goroutines record while two take intervals. All intervals add up to the recorded values,
// slot by slot.
func TestRecorderLosesNothing(t *testing.T) {
	t.Parallel()
	const goroutines = 8
	each := logtest.Rounds(40000)
	for _, layout := range []histogram.Layout{{Digits: 3}, {Digits: 0}, {Digits: 5, Lowest: 1000}} {
		t.Run(fmt.Sprintf("digits=%d", layout.Digits), func(t *testing.T) {
			t.Parallel()
			r := newRecorder(t, layout)
			var recording, taking sync.WaitGroup
			var done atomic.Bool
			recorded := make([]histogram.Histogram, goroutines)
			for n := range recorded {
				if err := recorded[n].Reset(layout); err != nil {
					t.Fatal(err)
				}
				recording.Go(func() {
					value := int64(n)
					for range each {
						value = (value*6364136223846793005 + 1442695040888963407) & math.MaxInt64
						v := value >> (value % 63)
						if err := errors.Join(r.Record(v), recorded[n].Record(v)); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			taken := make([]histogram.Histogram, 2)
			intervals := make([]int, len(taken))
			for n := range taken {
				taking.Go(func() {
					var h histogram.Histogram
					for last := false; !last; intervals[n]++ {
						last = done.Load()
						if err := errors.Join(r.Take(&h), taken[n].Add(&h)); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			recording.Wait()
			done.Store(true)
			taking.Wait()

			var got, want histogram.Histogram
			for n := range recorded {
				if err := want.Add(&recorded[n]); err != nil {
					t.Fatal(err)
				}
			}
			for n := range taken {
				if err := got.Add(&taken[n]); err != nil {
					t.Fatal(err)
				}
			}
			equal(t, &got, &want)
			if intervals[0] < 1 || intervals[1] < 1 {
				t.Errorf("%v intervals", intervals)
			}
		})
	}
}

// One goroutine records a single value while another one takes it all the time, so that they meet
// at one counter.
func TestRecorderOneCounter(t *testing.T) {
	t.Parallel()
	// Taking that loses values, as a Load and a Store would, loses about one in a million.
	times := logtest.Rounds(1 << 22)
	r := newRecorder(t, histogram.Layout{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range times {
			if err := r.Record(1); err != nil {
				t.Error(err)
			}
		}
	}()
	var h histogram.Histogram
	var taken int64
	for last := false; !last; taken += h.TotalCount() {
		select {
		case <-done:
			last = true
		default:
		}
		if err := r.Take(&h); err != nil {
			t.Fatal(err)
		}
	}
	if taken != int64(times) {
		t.Errorf("%d values of %d", taken, times)
	}
}

// Take returns the values recorded since the last Take. The next Take returns an empty histogram.
func TestRecorderTake(t *testing.T) {
	layout := histogram.Layout{Digits: 3, Ratio: 0.25}
	r := newRecorder(t, layout)
	want := newDouble(t, layout)
	var h histogram.Histogram
	record(t, want, 7, 1) // 1.9 is between 7 and 8 quarters
	record(t, want, math.MaxInt64, 5)
	record(t, want, 0, 2)
	for _, err := range []error{r.RecordFloat(1.9), r.RecordN(math.MaxInt64, 5), r.RecordN(0, 2), r.RecordN(1000, 0), r.Take(&h)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	equal(t, &h, want)
	if err := r.Take(&h); err != nil {
		t.Fatal(err)
	}
	equal(t, &h, newDouble(t, layout))
}

// TestRecorderMemory: memory grows with the processors, however often a sync.Pool forgets which
// shard belongs to which one.
func TestRecorderMemory(t *testing.T) {
	if got := newRecorder(t, histogram.Layout{Digits: 3}).Shards(); got > runtime.GOMAXPROCS(0) {
		t.Errorf("%d shards for %d processors", got, runtime.GOMAXPROCS(0))
	}
}

func TestRecorderErrors(t *testing.T) {
	if _, err := histogram.NewRecorder(histogram.Layout{Digits: 6}); !errors.Is(err, histogram.ErrLayout) {
		t.Errorf("six digits: %v", err)
	}
	integers, doubles := newRecorder(t, histogram.Layout{Digits: 3}), newRecorder(t, histogram.Layout{Digits: 3, Ratio: 0.5})
	h, double := newHistogram(t, 3, 1), newDouble(t, histogram.Layout{Digits: 3, Ratio: 0.5})
	var zero histogram.Recorder
	var none histogram.Histogram
	for _, test := range []struct {
		name string
		err  error
		want error
		text string
	}{
		{"negative", integers.Record(-1), histogram.ErrRange, "value out of range: value -1, count 1"},
		{"negative count", integers.RecordN(1, -1), histogram.ErrRange, "value out of range: value 1, count -1"},
		{"large count", integers.RecordN(1, 1<<31), histogram.ErrRange, "value out of range: value 1, count 2147483648"},
		{"integers", integers.RecordFloat(1.5), histogram.ErrKind, "integer and double histograms do not add up: a histogram of integers takes no 1.5"},
		{"negative float", doubles.RecordFloat(-1.5), histogram.ErrRange, "value out of range: value -1.5 with a ratio of 0.5"},
		{"not a number", doubles.RecordFloat(math.NaN()), histogram.ErrRange, "value out of range: value NaN with a ratio of 0.5"},
		{"too large", doubles.RecordFloat(1 << 62), histogram.ErrRange, "value out of range: value 4.611686018427388e+18 with a ratio of 0.5"},
		{"zero Recorder", zero.Record(1), histogram.ErrLayout, "impossible histogram layout: there is none; use New, NewRecorder or Reset"},
		{"zero Recorder, float", zero.RecordFloat(1), histogram.ErrLayout, "impossible histogram layout: there is none; use New, NewRecorder or Reset"},
		{"histogram of integers", h.RecordFloat(1.5), histogram.ErrKind, "integer and double histograms do not add up: a histogram of integers takes no 1.5"},
		{"histogram, infinite", double.RecordFloat(math.Inf(1)), histogram.ErrRange, "value out of range: value +Inf with a ratio of 0.5"},
		{"zero Histogram", none.RecordFloat(1), histogram.ErrLayout, "impossible histogram layout: there is none; use New, NewRecorder or Reset"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if !errors.Is(test.err, test.want) || test.err.Error() != test.text {
				t.Errorf("got %v, want %s", test.err, test.text)
			}
		})
	}
	for _, r := range []*histogram.Recorder{integers, doubles, &zero} {
		if err := r.Take(h); err != nil || h.TotalCount() != 0 {
			t.Errorf("%v, %d values recorded", err, h.TotalCount())
		}
	}
}

// Recording takes no memory once its slots exist.
func TestRecorderAllocs(t *testing.T) {
	r := newRecorder(t, histogram.Layout{Digits: 3})
	h := new(histogram.Histogram)
	if n := testing.AllocsPerRun(1000, func() {
		if err := r.Record(123456); err != nil {
			t.Error(err)
		}
	}); n > 0.01 {
		t.Errorf("%v allocations", n)
	}
	if err := r.Take(h); err != nil || h.CountBetween(123456, 123456) != 1001 {
		t.Errorf("%v, %d values", err, h.TotalCount())
	}
}

// BenchmarkRecorder records values from 1 to 16,777,215 with several goroutines. bench/README.md
// has the results.
func BenchmarkRecorder(b *testing.B) {
	run := func(b *testing.B, goroutines int, record func(value int64) error) {
		var all sync.WaitGroup
		b.ResetTimer()
		for n := range goroutines {
			all.Go(func() {
				value := int64(n + 1)
				for range b.N / goroutines {
					if err := record(value); err != nil {
						b.Error(err)
						return
					}
					value = (value*5 + 1) & 0xffffff
				}
			})
		}
		all.Wait()
	}
	for _, goroutines := range []int{1, 2, 8} {
		b.Run(fmt.Sprintf("impl=mutex/goroutines=%d", goroutines), func(b *testing.B) {
			var mu sync.Mutex
			h := newHistogram(b, 3, 1)
			run(b, goroutines, func(value int64) error {
				mu.Lock()
				defer mu.Unlock()
				return h.Record(value)
			})
		})
		b.Run(fmt.Sprintf("impl=Recorder/goroutines=%d", goroutines), func(b *testing.B) {
			run(b, goroutines, newRecorder(b, histogram.Layout{Digits: 3}).Record)
		})
	}
}

// BenchmarkTake records a hundred values and takes them.
func BenchmarkTake(b *testing.B) {
	r := newRecorder(b, histogram.Layout{Digits: 3})
	var h histogram.Histogram
	for b.Loop() {
		for n := range int64(100) {
			if err := r.Record(1e6 + n*n*1000); err != nil {
				b.Fatal(err)
			}
		}
		if err := r.Take(&h); err != nil {
			b.Fatal(err)
		}
	}
}
