package histogram

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"hdrkit/hdrlog/internal/logtest"
)

// TestMaxAndCount compares the maximum and the number of values of payloads with those of the
// histograms that they are decoded to, before and after they are.
func TestMaxAndCount(t *testing.T) {
	t.Parallel()
	compare := func(name string, p *Payload, h *Histogram) {
		t.Helper()
		for _, next := range []int{p.end, 0} {
			p.end = next
			if got, count, err := p.MaxAndCount(); err != nil || got != h.Max() || count != h.TotalCount() {
				t.Errorf("%s: %d values up to %d, %v, want %d and %d", name, count, got, err, h.TotalCount(), h.Max())
			}
		}
	}
	compared := 0
	for _, pattern := range []string{"dialects/*payload*", "dialects/*rust*", "dialects/*hiccup*", "logs/*.hdr"} {
		paths, err := filepath.Glob("../../testdata/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			for _, text := range logtest.Payloads(t, path) {
				var d, other Decoder
				p, err := d.Open(text)
				if err != nil {
					continue
				}
				var h Histogram
				if err := other.Decode(&h, text); err != nil {
					continue
				}
				if err := p.AddTo(new(Histogram)); err != nil {
					t.Error(err)
				}
				compare(path, p, &h)
				compared++
			}
		}
	}
	if compared < 100 {
		t.Errorf("compared only %d payloads", compared)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range logtest.Rounds(20000) {
		var d Decoder
		layout := Layout{Digits: random.IntN(4), Lowest: 1}
		p := &Payload{version: 2, layout: layout, decoder: &d, counts: randomCounts(random)}
		p.slots = layout.SlotsFor(1 << (8 + random.IntN(50)))
		sum, err := New(layout)
		if err != nil {
			t.Fatal(err)
		}
		if p.AddTo(sum) == nil {
			compare("random counts", p, sum)
		}
	}
}
