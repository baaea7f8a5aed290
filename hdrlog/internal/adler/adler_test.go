package adler

import (
	"bytes"
	"hash/adler32"
	"math/rand/v2"
	"testing"

	"hdrkit/hdrlog/internal/logtest"
)

// TestInside: no byte behind the text is read.
func TestInside(t *testing.T) {
	guarded := logtest.NewGuard(t, 1<<14)
	for n := range 1 << 13 {
		p := guarded(make([]byte, n))
		if got, want := Checksum(p), adler32.Checksum(p); got != want {
			t.Fatalf("%d bytes: %#x, want %#x", n, got, want)
		}
	}
}

// TestChecksum compares with hash/adler32 at all lengths and alignments of a few blocks, and for
// long texts of the highest bytes.
func TestChecksum(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	p := make([]byte, 300)
	for i := range p {
		p[i] = byte(random.Uint32())
	}
	check := func(p []byte) {
		t.Helper()
		if got, want := Checksum(p), adler32.Checksum(p); got != want {
			t.Fatalf("%d bytes: %#x, want %#x", len(p), got, want)
		}
	}
	for begin := range 40 {
		for end := begin; end <= len(p); end++ {
			check(p[begin:end])
		}
	}
	high := bytes.Repeat([]byte{0xff}, 1<<20)
	for n := range 400 {
		check(high[:len(high)-31*n])
		check(high[:block*maxBlocks-200+n])
	}
}

func FuzzChecksum(f *testing.F) {
	f.Add([]byte("abc"), uint16(0))
	f.Add([]byte{0xff}, uint16(60000))
	f.Add([]byte{0, 1, 2, 0xfe}, uint16(9))
	f.Fuzz(func(t *testing.T, p []byte, times uint16) {
		p = bytes.Repeat(p, int(times)%max(1, 1<<18/max(len(p), 1))+1)
		if got, want := Checksum(p), adler32.Checksum(p); got != want {
			t.Errorf("%d bytes: %#x, want %#x", len(p), got, want)
		}
	})
}

func BenchmarkChecksum(b *testing.B) {
	p := make([]byte, 4<<10)
	defer func(v bool) { useVectors = v }(useVectors)
	for _, name := range []string{"plain", "vectors"} {
		b.Run("impl="+name, func(b *testing.B) {
			useVectors = name == "vectors" && hasVectors()
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				Checksum(p)
			}
		})
	}
}
