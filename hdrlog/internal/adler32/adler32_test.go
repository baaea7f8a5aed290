package adler32

import (
	"bytes"
	stdadler "hash/adler32"
	"math/rand/v2"
	"testing"
)

func TestChecksum(t *testing.T) {
	p := bytes.Repeat([]byte{0xff}, 1<<20+1000)
	for _, n := range []int{0, 1, 7, 8, 9, 175, 176, 177, 183, 184, 5551, 5552, 5553, 1 << 20, 1<<20 + 1, len(p)} {
		if got, want := Checksum(p[:n]), stdadler.Checksum(p[:n]); got != want {
			t.Errorf("%d bytes of ff: %08x, want %08x", n, got, want)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range p[:4000] {
		p[i] = byte(r.Uint32())
	}
	for n := range 2000 {
		if got, want := Checksum(p[n:][:n]), stdadler.Checksum(p[n:][:n]); got != want {
			t.Errorf("%d bytes: %08x, want %08x", n, got, want)
		}
	}
}

func BenchmarkChecksum(b *testing.B) {
	p := make([]byte, 3157) // the mean length of a payload
	for i := range p {
		p[i] = byte(i)
	}
	run := func(name string, sum func([]byte) uint32) {
		b.Run("impl="+name, func(b *testing.B) {
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				sum(p)
			}
		})
	}
	run("hdrkit", Checksum)
	run("std", stdadler.Checksum)
}
