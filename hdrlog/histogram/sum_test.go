package histogram

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
)

// randomAny returns a histogram of a random layout, most often the first, with counts close
// together and few far apart.
func randomAny(t testing.TB, r *rand.Rand, ratio float64) *Histogram {
	layouts := []Layout{{Digits: 3}, {Digits: 3}, {Digits: 3}, {Digits: 2, Lowest: 1000}, {Digits: 4}}
	layout := layouts[r.IntN(len(layouts))]
	if ratio != 0 {
		layout.Ratio = math.Ldexp(ratio, r.IntN(3))
	}
	h := newHistogram(t, layout)
	for range r.IntN(400) {
		value := r.Int64N(10000)
		if r.IntN(2000) == 0 {
			value = r.Int64() >> (10 + r.IntN(50))
		}
		record(t, h, value, 1+r.Int64N(1<<r.IntN(20)))
	}
	return h
}

// TestSum compares a Sum with a Histogram after each adding and taking away.
func TestSum(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	var (
		encoder              Encoder
		decoder              Decoder
		sum, roomy           Sum
		scratch              Histogram
		dense, turned, tries int
	)
	for round := range 60 {
		sum, roomy = roomy, sum // take turns, so that both are reused
		sum.Reset()
		sum.Spare = round % 2 << 10
		var want Histogram
		ratio := float64(round / 2 % 2)
		for range 1 + r.IntN(30) {
			h := randomAny(t, r, ratio)
			var packed Packed
			packed.Pack(h, MaxDigits)
			wasDense := sum.isDense
			var err error
			switch r.IntN(4) {
			case 0:
				err = sum.Add(h)
			case 1:
				err = sum.AddPacked(packed)
			default:
				text, encodeErr := encoder.AppendBase64(nil, h)
				if encodeErr != nil {
					continue
				}
				p, openErr := decoder.Open(text)
				if openErr != nil {
					t.Fatal(openErr)
				}
				if err = p.Pack(&packed); err != nil {
					t.Fatal(err)
				}
				if h, err = p.Histogram(); err != nil {
					t.Fatal(err)
				}
				err = sum.AddPayload(p)
			}
			wantErr := want.Add(h)
			if (err == nil) != (wantErr == nil) || wantErr != nil && !errors.Is(err, ErrSpan) {
				t.Fatalf("got %v, want %v", err, wantErr)
			}
			if diff := difference(sum.Histogram(&scratch), &want); diff != "" {
				t.Fatal(diff)
			}
			var again Packed
			sum.Pack(&again)
			if diff := difference(again.Histogram(), &want); diff != "" {
				t.Fatal(diff)
			}
			if sum.TotalCount() != want.TotalCount() || sum.Layout() != want.Layout() || sum.Double() != want.Double() {
				t.Fatalf("%d values in %+v", sum.TotalCount(), sum.Layout())
			}
			tries++
			if sum.isDense {
				dense++
			}
			if wasDense && !sum.isDense {
				turned++
			}
		}
	}
	if dense < tries/20 || dense > tries*19/20 || turned == 0 {
		t.Errorf("of %d sums %d were dense, and %d became packed again", tries, dense, turned)
	}
}

func TestSumErrors(t *testing.T) {
	pack := func(layout Layout, value, n int64) (p Packed) {
		h := newHistogram(t, layout)
		record(t, h, value, n)
		p.Pack(h, MaxDigits)
		return p
	}
	layout := Layout{Digits: 3}
	for name, sum := range map[string]*Sum{"packed": {}, "dense": {spent: 1 << 20}} {
		t.Run(name, func(t *testing.T) {
			if err := sum.AddPacked(pack(layout, 1<<40, math.MaxInt64-1)); err != nil {
				t.Fatal(err)
			}
			for _, test := range []struct {
				name string
				err  error
				want error
			}{
				{"overflow", sum.AddPacked(pack(layout, 7, 2)), ErrOverflow},
				{"kind", sum.AddPacked(pack(Layout{Digits: 3, Ratio: 1}, 7, 2)), ErrKind},
			} {
				if !errors.Is(test.err, test.want) {
					t.Errorf("%s: got %v, want %v", test.name, test.err, test.want)
				}
			}
			if sum.TotalCount() != math.MaxInt64-1 || sum.isDense != (name == "dense") {
				t.Errorf("%d values, dense: %t", sum.TotalCount(), sum.isDense)
			}
		})
	}
}

// TestSumReset uses a large sum again.
func TestSumReset(t *testing.T) {
	sum := Sum{Spare: 1 << 20}
	h := newHistogram(t, Layout{Digits: 5})
	record(t, h, 1, 1)
	record(t, h, 100_000, 1)
	for range 2 {
		if err := sum.Add(h); err != nil {
			t.Fatal(err)
		}
		if diff := difference(sum.Histogram(new(Histogram)), h); diff != "" || !sum.isDense {
			t.Errorf("dense: %v, %s", sum.isDense, diff)
		}
		sum.Reset()
	}
}

// TestSumMemory adds payloads of two counts far apart. A Histogram takes 49 MB for one.
func TestSumMemory(t *testing.T) {
	h := newHistogram(t, Layout{Digits: 5})
	record(t, h, 1, 1)
	record(t, h, math.MaxInt64, 1)
	var encoder Encoder
	text, err := encoder.AppendBase64(nil, h)
	if err != nil {
		t.Fatal(err)
	}
	h = nil
	var decoder Decoder
	p, err := decoder.Open(text)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	sums := make([]Sum, 20)
	for range 100 {
		for n := range sums {
			if err := sums[n].AddPayload(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 1<<20 {
		t.Errorf("%d sums took %d bytes for a payload of %d characters", len(sums), taken, len(text))
	}
	if sums[0].TotalCount() != 200 {
		t.Errorf("%d values", sums[0].TotalCount())
	}
}

// BenchmarkSum adds the payloads of a log to a sum.
func BenchmarkSum(b *testing.B) {
	benchPayloads(b, "node1", func(b *testing.B, texts [][]byte) {
		add := func(b *testing.B, add func(p *Payload) error) {
			var d Decoder
			for n := 0; b.Loop(); n++ {
				p, err := d.Open(texts[n%len(texts)])
				if err != nil {
					b.Fatal(err)
				}
				if err := add(p); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.Run("to=Histogram", func(b *testing.B) {
			var h Histogram
			add(b, func(p *Payload) error { return p.AddTo(&h) })
		})
		b.Run("to=Sum", func(b *testing.B) {
			var s Sum
			add(b, s.AddPayload)
		})
		b.Run("to=a Sum that begins anew after 8", func(b *testing.B) {
			var s Sum
			n := 0
			add(b, func(p *Payload) error {
				if n++; n%8 == 0 {
					s.Reset()
				}
				return s.AddPayload(p)
			})
		})
		b.Run("to=a Sum with memory to spare that begins anew after 8", func(b *testing.B) {
			s := Sum{Spare: 1 << 19}
			n := 0
			add(b, func(p *Payload) error {
				if n++; n%8 == 0 {
					s.Reset()
				}
				return s.AddPayload(p)
			})
		})
		b.Run("to=Packed", func(b *testing.B) {
			var s Packed
			add(b, func(p *Payload) error { return p.Pack(&s) })
		})
	})
}
