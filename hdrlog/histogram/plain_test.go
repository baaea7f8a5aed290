package histogram

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// TestAppendBinary compares AppendBinary of histograms with AppendBinary of their payloads, and
// opens it.
func TestAppendBinary(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, ratio := range []float64{0, 1, 1.0 / 1024} {
		for digits := range 6 {
			for values := range 4 {
				h := newHistogram(t, Layout{Digits: digits, Lowest: 1, Ratio: ratio})
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
				want, err := p.AppendBinary([]byte("before"))
				if err != nil {
					t.Fatal(err)
				}
				got, err := h.AppendBinary([]byte("before"))
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

	far := newHistogram(t, Layout{Digits: 0, Lowest: 1, Ratio: 1})
	record(t, far, 1, 1)
	record(t, far, math.MaxInt64, 1)
	if got, err := far.AppendBinary([]byte("before")); !errors.Is(err, ErrSpan) || string(got) != "before" {
		t.Errorf("values that lie too far apart: %q, %v", got, err)
	}
}
