package mem

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"
)

// TestPlain compares the functions with encoding/binary and with indexing, at each place of a
// slice.
func TestPlain(t *testing.T) {
	const v = 0x8899aabbccddeeff
	whole := []byte("the bytes of a slice, and some before and after it")
	b := whole[5:30]
	for i := range b {
		if got := Load8(b, i); got != b[i] {
			t.Errorf("Load8 at %d: %#x", i, got)
		}
	}
	for i := range len(b) - 7 {
		if got, want := Load64(b, i), binary.LittleEndian.Uint64(b[i:]); got != want {
			t.Errorf("Load64 at %d: %#x, want %#x", i, got, want)
		}
		if got, want := LoadBig64(b, i), binary.BigEndian.Uint64(b[i:]); got != want {
			t.Errorf("LoadBig64 at %d: %#x, want %#x", i, got, want)
		}
	}
	for _, store := range []struct {
		name        string
		size        int
		plain, fast func(b []byte, i int)
	}{
		{"Store16", 2, func(b []byte, i int) { binary.LittleEndian.PutUint16(b[i:], 0xeeff) }, func(b []byte, i int) { Store16(b, i, 0xeeff) }},
		{"Store64", 8, func(b []byte, i int) { binary.LittleEndian.PutUint64(b[i:], v) }, func(b []byte, i int) { Store64(b, i, v) }},
		{"StoreBig64", 8, func(b []byte, i int) { binary.BigEndian.PutUint64(b[i:], v) }, func(b []byte, i int) { StoreBig64(b, i, v) }},
	} {
		t.Run(store.name, func(t *testing.T) {
			for i := range len(b) - store.size + 1 {
				got, want := bytes.Clone(whole), bytes.Clone(whole)
				store.fast(got[5:30], i)
				store.plain(want[5:30], i)
				if !bytes.Equal(got, want) {
					t.Errorf("at %d: %q, want %q", i, got, want)
				}
			}
		})
	}
	counts := []int64{1, 2, 3, 4}
	for i := range counts[1:3] {
		Add(counts[1:3], i, 10)
	}
	if !slices.Equal(counts, []int64{1, 12, 13, 4}) {
		t.Errorf("Add: %v", counts)
	}
	if got := String(b) + String(nil); got != string(b) {
		t.Errorf("String: %q", got)
	}
}
