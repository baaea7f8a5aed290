package histogram_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"hdrkit/hdrlog/histogram"
)

var packedLayouts = []histogram.Layout{
	{Digits: 3, Lowest: 1}, {Digits: 2, Lowest: 1}, {Digits: 3, Lowest: 1000}, {Digits: 4, Lowest: 1}, {Digits: 1, Lowest: 1}, {Digits: 0, Lowest: 1},
}

// TestPacked compares packing, adding and refining with the same on histograms.
func TestPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var one, spare histogram.Packed // reused, so that they have memory of earlier rounds
	unpacked := make([]histogram.Histogram, 1)
	rounds := 200
	if testing.Short() {
		rounds = 20
	}
	for range rounds {
		a, b := randomHistogram(t, r), randomHistogram(t, r)
		one.Pack(a, histogram.MaxDigits)
		one.Unpack(&unpacked[0])
		samePacked(t, "unpacked", &unpacked[0], a)
		samePacked(t, "new", one.Histogram(), a)
		spare.Copy(one)
		samePacked(t, "copied", spare.Histogram(), a)
		slots := 0
		for index, n := range one.Slots() {
			slots++
			if n < 1 || n != a.Count(index) {
				t.Fatalf("slot %d holds %d", index, n)
			}
		}
		if slots != len(slices.Collect(a.Recorded())) {
			t.Fatalf("%d slots", slots)
		}

		want := a.Clone()
		if err := want.Add(b); err != nil {
			t.Fatal(err)
		}
		var other histogram.Packed
		other.Pack(b, histogram.MaxDigits)
		sum, err := one.Plus(other)
		if err != nil {
			t.Fatal(err)
		}
		samePacked(t, "sum", sum.Histogram(), want)
		finer, err := one.As(want.Layout())
		if err != nil {
			t.Fatal(err)
		}
		h := finer.Histogram()
		if err := want.Subtract(b); err != nil {
			t.Fatal(err)
		}
		samePacked(t, "finer", h, want)
		if err := finer.AddTo(h); err != nil {
			t.Fatal(err)
		}
		if err := want.Add(want.Clone()); err != nil {
			t.Fatal(err)
		}
		samePacked(t, "added", h, want)

		for digits := range a.Layout().Digits + 1 {
			layout := a.Layout()
			layout.Digits = digits
			coarser, err := histogram.New(layout)
			if err != nil {
				t.Fatal(err)
			}
			for bucket := range a.Recorded() {
				if err := coarser.Record(bucket.Low, bucket.Count); err != nil {
					t.Fatal(err)
				}
			}
			one.Pack(a, layout.Digits)
			samePacked(t, "coarser", one.Histogram(), coarser)
		}
	}
}

func TestPackedErrors(t *testing.T) {
	pack := func(layout histogram.Layout, value, n int64) (p histogram.Packed) {
		h, err := histogram.New(layout)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Record(value, n); err != nil {
			t.Fatal(err)
		}
		p.Pack(h, layout.Digits)
		return p
	}
	full := pack(packedLayouts[0], 1, math.MaxInt64)
	if _, err := full.Plus(pack(packedLayouts[0], 100, 1)); !errors.Is(err, histogram.ErrOverflow) {
		t.Errorf("in different slots: %v", err)
	}
	if _, err := full.Plus(full); !errors.Is(err, histogram.ErrOverflow) {
		t.Errorf("%v", err)
	}
	double := histogram.Layout{Digits: 3, Lowest: 1, Ratio: 0.5}
	if _, err := full.Plus(pack(double, 1, 1)); !errors.Is(err, histogram.ErrKind) {
		t.Errorf("%v", err)
	}
	if _, err := full.As(double); !errors.Is(err, histogram.ErrKind) {
		t.Errorf("%v", err)
	}
}

// randomHistogram returns a histogram with small and large counts: runs of adjacent slots, and
// single slots far apart.
func randomHistogram(t testing.TB, r *rand.Rand) *histogram.Histogram {
	h, err := histogram.New(packedLayouts[r.IntN(len(packedLayouts))])
	if err != nil {
		t.Fatal(err)
	}
	for range r.IntN(200) {
		value := r.Int64() >> r.IntN(64)
		for range 1 + r.IntN(20) {
			if err := h.Record(value, 1+r.Int64N(1<<r.IntN(40))); err != nil {
				t.Fatal(err)
			}
			// The next slot.
			value = max(h.Layout().HighestAt(h.Layout().IndexOf(value)), value-1)
			if value < math.MaxInt64 {
				value++
			}
		}
	}
	return h
}

func samePacked(t *testing.T, what string, got, want *histogram.Histogram) {
	t.Helper()
	g, w := slices.Collect(got.Recorded()), slices.Collect(want.Recorded())
	if got.Layout() != want.Layout() || got.TotalCount() != want.TotalCount() || !reflect.DeepEqual(g, w) {
		t.Fatalf("%s: %+v %v, want %+v %v", what, got.Layout(), g, want.Layout(), w)
	}
}

// BenchmarkPack packs a histogram of a thousand slots between 100 µs and 100 ms, like a second of
// cassandra-stress.
func BenchmarkPack(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	if err != nil {
		b.Fatal(err)
	}
	for range 2000 {
		if err := h.Record(int64(1e5*math.Exp(r.ExpFloat64())), 1); err != nil {
			b.Fatal(err)
		}
	}
	for _, digits := range []int{3, 2} {
		b.Run(map[int]string{3: "digits=3", 2: "digits=2"}[digits], func(b *testing.B) {
			var p histogram.Packed
			for b.Loop() {
				p.Pack(h, digits)
			}
		})
	}
}
