package histogram

import (
	"bytes"
	"testing"

	"hdrkit/hdrlog/internal/logtest"
)

// FuzzCounts compares the loop that takes eight counts at a time, in assembly and in Go, with the
// one that takes one. Adding uses the first, taking away uses the second. So both must find the
// same total and the same error, and nothing is left.
func FuzzCounts(f *testing.F) {
	for n, text := range logPayloads(f, "*.hdr") {
		if n%20 == 0 {
			p, err := new(Decoder).Open(text)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(p.counts, p.slots)
		}
	}
	f.Add([]byte{0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x7f, 2}, 10)
	f.Add([]byte{2, 0x7f, 2, 0x7f, 2, 0x7f, 2, 0x7f, 2, 0x7f, 2, 0x7f, 2, 0x7f, 2, 0x7f, 2}, 600)
	f.Add(bytes.Repeat([]byte{0x7f, 2, 6, 0x7f, 0x7f, 0x80, 1, 4}, 30), 20000)
	guarded := logtest.NewGuard(f, 1<<20)
	f.Fuzz(func(t *testing.T, counts []byte, slots int) {
		if slots < 1 || slots > 1<<16 || len(counts) > 1<<20 {
			return
		}
		counts = guarded(counts)
		layout := Layout{Digits: 2, Lowest: 1}
		sum, err := New(layout)
		if err != nil {
			t.Fatal(err)
		}
		// So that some payloads need more slots than there are.
		sum.add(min(slots, layout.SlotsFor(1<<62))/2, 5)
		before := sum.Clone()
		p := Payload{version: 2, layout: layout, slots: min(slots, layout.SlotsFor(1<<62)), counts: counts}
		if p.makeRoom(sum) != nil {
			return
		}
		defer func(use bool) { useVectors = use }(useVectors)
		for _, useVectors = range []bool{false, hasVectors()} {
			total, err := p.accumulate(sum, 1)
			again, errAgain := p.accumulate(sum, -1)
			if total != again || (err == nil) != (errAgain == nil) || err != nil && err.Error() != errAgain.Error() {
				t.Errorf("eight at a time: %d, %v; one at a time: %d, %v", total, err, again, errAgain)
			}
		}
		if diff := difference(sum, before); diff != "" {
			t.Fatalf("what was added and taken away leaves its trace: %s", diff)
		}
	})
}
