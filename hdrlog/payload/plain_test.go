package payload

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"hdrkit/hdrlog/histogram"
)

// TestAppendPlain opens what AppendPlain makes of histograms, and compares it with what the payload that an encoder makes of
// them appends.
func TestAppendPlain(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, ratio := range []float64{0, 1, 1.0 / 1024} {
		for digits := range 6 {
			for values := range 4 {
				h := newHistogram(t, histogram.Layout{Digits: digits, Lowest: 1, Ratio: ratio})
				for range values * values {
					record(t, h, 1<<20+random.Int64N(1<<20), 1+random.Int64N(300))
				}
				var e Encoder
				packed, err := e.Encode(h)
				if err != nil {
					t.Fatal(err)
				}
				var d Decoder
				p, err := d.OpenBinary(packed)
				if err != nil {
					t.Fatal(err)
				}
				want := p.AppendPlain([]byte("before"))
				got, err := AppendPlain([]byte("before"), h)
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%+v: %q, %v, want %q", h.Layout(), got, err, want)
					continue
				}
				again := open(t, got[len("before"):])
				if difference := difference(again, open(t, packed)); difference != "" {
					t.Errorf("%+v: %s", h.Layout(), difference)
				}
			}
		}
	}

	far := newHistogram(t, histogram.Layout{Digits: 0, Lowest: 1, Ratio: 1})
	record(t, far, 1, 1)
	record(t, far, math.MaxInt64, 1)
	if got, err := AppendPlain([]byte("before"), far); !errors.Is(err, histogram.ErrRange) || string(got) != "before" {
		t.Errorf("values that lie too far apart: %q, %v", got, err)
	}
}
