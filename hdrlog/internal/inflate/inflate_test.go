package inflate

import (
	"bytes"
	"compress/flate"
	stdzlib "compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	stdadler "hash/adler32"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	kflate "github.com/klauspost/compress/flate"

	"hdrkit/hdrlog/internal/logtest"
)

// bodies returns deflate streams of every kind that the compressors write.
func bodies(tb testing.TB) [][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 33000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	skewed := make([]byte, 70000) // codes up to 15 bits long
	for i := range skewed {
		skewed[i] = byte(min(255, r.ExpFloat64()*8))
	}
	inputs := [][]byte{nil, {0}, []byte("hello, world"), noise, skewed, make([]byte, 100000)}
	for period := 1; period <= 9; period++ {
		inputs = append(inputs, bytes.Repeat(noise[:period], 600/period))
	}
	// The farthest match there can be is 32768 back.
	for _, distance := range []int{32767, 32768, 32769} {
		far := append([]byte(nil), noise[:distance]...)
		inputs = append(inputs, append(far, noise[:200]...))
	}
	var mixed []byte // short matches and literals, as in payloads
	for len(mixed) < 20000 {
		if at := r.IntN(len(mixed) + 1); len(mixed) > 100 && r.IntN(2) == 0 {
			mixed = append(mixed, mixed[at:min(len(mixed), at+3+r.IntN(20))]...)
		}
		mixed = append(mixed, byte(r.IntN(40)))
	}
	inputs = append(inputs, mixed)

	var all [][]byte
	for _, in := range inputs {
		for level := flate.HuffmanOnly; level <= flate.BestCompression; level++ {
			var a, b bytes.Buffer
			std, _ := flate.NewWriter(&a, level)
			klaus, _ := kflate.NewWriter(&b, level)
			for _, w := range []interface {
				io.WriteCloser
				Flush() error
			}{std, klaus} {
				w.Write(in[:len(in)/3])
				w.Flush() // an empty stored block, and a second block
				w.Write(in[len(in)/3:])
				w.Close()
			}
			all = append(all, a.Bytes(), b.Bytes())
		}
	}
	for i, p := range logtest.Streams(tb) {
		if i%20 == 0 {
			all = append(all, p[2:len(p)-4])
		}
	}
	for _, h := range handMade {
		all = append(all, h.stream())
	}
	return all
}

// wrap makes a zlib stream of a deflate stream.
func wrap(body, out []byte) []byte {
	s := append([]byte{0x78, 0xda}, body...)
	return binary.BigEndian.AppendUint32(s, stdadler.Checksum(out))
}

// plain is the plain version: what compress/flate makes of a deflate stream.
func plain(body []byte) (out []byte, used int, err error) {
	in := bytes.NewReader(body)
	out, err = io.ReadAll(io.LimitReader(flate.NewReader(in), 1<<20))
	return out, len(body) - in.Len(), err
}

func plainZlib(src []byte) ([]byte, error) {
	r, err := stdzlib.NewReader(bytes.NewReader(src))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// inflateInto inflates into a buffer of the given size, with assembly and without. It checks that
// both do the same, and that nothing outside of the buffers is read or written.
func inflateInto(t *testing.T, d *Decoder, size int, src []byte) ([]byte, int, error) {
	t.Helper()
	defer func(use bool) { useFastBMI = use }(useFastBMI)
	useFastBMI = false
	want, used, err := inflatePlain(t, d, size, src)
	if useFastBMI = hasFastBMI(); !useFastBMI || max(len(src), size) > guardSize {
		return want, used, err
	}
	guards.Do(func() {
		guardSrc, guardDst = logtest.NewGuard(t, guardSize), logtest.NewGuard(t, guardSize)
	})
	dst := guardDst(make([]byte, size))
	n, used2, err2 := d.Zlib(dst, guardSrc(src))
	if !bytes.Equal(dst[:n], want) || used != used2 || err != err2 {
		t.Fatalf("assembly: %d bytes, %d used, %v; Go: %d bytes, %d used, %v", n, used2, err2, len(want), used, err)
	}
	return want, used, err
}

const guardSize = 4 << 20

var (
	guards             sync.Once
	guardSrc, guardDst func([]byte) []byte
)

// inflatePlain is inflateInto for one of the two ways.
func inflatePlain(t *testing.T, d *Decoder, size int, src []byte) ([]byte, int, error) {
	t.Helper()
	const guard = 0xa5
	buf := bytes.Repeat([]byte{guard}, size+64)
	n, used, err := d.Zlib(buf[:size], src)
	for i, c := range buf[size:] {
		if c != guard {
			t.Fatalf("wrote %d bytes past a buffer of %d", i+1, size)
		}
	}
	if n > size || used > len(src) || err != nil && used != 0 || errors.Is(err, ErrTooLong) && n != size {
		t.Fatalf("returned %d of %d, %d of %d, %v", n, size, used, len(src), err)
	}
	sentinel := false
	for _, e := range []error{nil, ErrHeader, ErrTruncated, ErrTooLong, ErrCorrupt, ErrChecksum} {
		sentinel = sentinel || errors.Is(err, e)
	}
	if !sentinel {
		t.Fatalf("untyped error %v", err)
	}
	return buf[:n], used, err
}

// checkBody checks that a deflate stream inflates as compress/flate does it, or is refused as
// there.
func checkBody(t *testing.T, d *Decoder, body []byte) {
	t.Helper()
	want, used, err := plain(body)
	if err != nil {
		// A checksum error would say that the body was taken to be complete.
		for _, size := range []int{len(want) + 300, len(want), len(want) / 2} {
			got, _, err2 := inflateInto(t, d, size, append([]byte{0x78, 0xda}, body...))
			if err2 == nil || errors.Is(err2, ErrChecksum) {
				t.Fatalf("compress/flate says %v, we say %v", err, err2)
			}
			if m := min(len(got), len(want)); !bytes.Equal(got[:m], want[:m]) {
				t.Fatalf("other bytes before %v", err2)
			}
		}
		return
	}
	src := append(wrap(body[:used], want), "more"...)
	for _, size := range []int{len(want), len(want) + 1, len(want) + 300} {
		got, used2, err := inflateInto(t, d, size, src)
		if err != nil || used2 != used+6 || !bytes.Equal(got, want) {
			t.Fatalf("inflating %d bytes into %d: %d bytes, %d used, %v; want %d bytes, %d used",
				len(src), size, len(got), used2, err, len(want), used+6)
		}
	}
	if len(want) > 0 {
		for _, size := range []int{0, len(want) / 2, len(want) - 1} {
			got, _, err := inflateInto(t, d, size, src)
			if !errors.Is(err, ErrTooLong) || !bytes.Equal(got, want[:size]) {
				t.Fatalf("inflating %d bytes into %d: %d bytes, %v", len(want), size, len(got), err)
			}
		}
	}
}

func TestBodies(t *testing.T) {
	var d Decoder
	for _, body := range bodies(t) {
		checkBody(t, &d, body)
	}
}

func TestPayloads(t *testing.T) {
	var d Decoder
	dst := make([]byte, 1<<20)
	for i, p := range logtest.Streams(t) {
		want, err := plainZlib(p)
		if err != nil {
			t.Fatal(err)
		}
		n, used, err := d.Zlib(dst, p)
		if err != nil || used != len(p) || !bytes.Equal(dst[:n], want) {
			t.Fatalf("payload %d: %d bytes, %d used, %v", i, n, used, err)
		}
	}
}

// small returns short streams of each block type.
func small(t *testing.T) map[string][]byte {
	in := []byte("abcabcabcabcabcabd0123456789abcabcabd,.-#+*~!abcabcabd0123456789")
	in = append(in, bytes.Repeat([]byte{2, 1, 2, 5, 2, 1, 7}, 30)...)
	all := make(map[string][]byte)
	for name, level := range map[string]int{"stored": 0, "fast": 1, "huffman": -2} {
		var b bytes.Buffer
		w, _ := flate.NewWriter(&b, level)
		w.Write(in)
		w.Close()
		all[name] = wrap(b.Bytes(), in)
	}
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, 9)
	w.Write(in[:20]) // too little for a code of its own
	w.Close()
	all["fixed"] = wrap(b.Bytes(), in[:20])
	p := logtest.Streams(t)
	all["payload"] = p[len(p)-1]

	// A literal and a match of ten bytes make the pass that writes the most.
	r := rand.New(rand.NewPCG(3, 4))
	var tens []byte
	for i := range 600 {
		at := r.IntN(max(1, len(tens)-10))
		tens = append(tens, byte(i&1))
		tens = append(tens, append(tens[at:min(at+10, len(tens))], byte(2+i%50))[:min(10, 1+i)]...)
	}
	b = bytes.Buffer{}
	w, _ = flate.NewWriter(&b, 9)
	w.Write(tens)
	w.Close()
	all["tens"] = wrap(b.Bytes(), tens)
	return all
}

func TestTruncated(t *testing.T) {
	var d Decoder
	for name, src := range small(t) {
		for n := range src {
			if _, _, err := inflateInto(t, &d, 1<<16, src[:n:n]); !errors.Is(err, ErrTruncated) {
				t.Errorf("%s: %d of %d bytes: %v", name, n, len(src), err)
			}
		}
	}
}

func TestEveryBufferSize(t *testing.T) {
	var d Decoder
	for name, src := range small(t) {
		want, _, err := inflateInto(t, &d, 1<<16, src)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for size := range len(want) + 40 {
			got, _, err := inflateInto(t, &d, size, src)
			if size < len(want) {
				if !errors.Is(err, ErrTooLong) || !bytes.Equal(got, want[:size]) {
					t.Fatalf("%s into %d bytes: %d bytes, %v", name, size, len(got), err)
				}
			} else if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s into %d bytes: %d bytes, %v", name, size, len(got), err)
			}
		}
	}
}

func TestEveryByteCorrupted(t *testing.T) {
	var d Decoder
	step := 5 / logtest.Rounds(5)
	for name, src := range small(t) {
		for i := 0; i < len(src); i += step {
			for _, flip := range []byte{1, 0x90} {
				bad := bytes.Clone(src)
				bad[i] ^= flip
				if i >= 2 && i < len(src)-4 {
					checkBody(t, &d, bad[2:len(bad)-4])
				}
				// Some bits do not matter, such as those that fill up the last
				// byte.
				_, _, err := inflateInto(t, &d, 1<<16, bad)
				_, stdErr := plainZlib(bad)
				if (err == nil) != (stdErr == nil) {
					t.Errorf("%s: byte %d ^ %#x: %v, compress/zlib says %v", name, i, flip, err, stdErr)
				}
				if i >= len(src)-4 && !errors.Is(err, ErrChecksum) {
					t.Errorf("%s: byte %d ^ %#x of the checksum: %v", name, i, flip, err)
				}
			}
		}
	}
}

func TestHeader(t *testing.T) {
	var d Decoder
	body := []byte{3, 0, 0, 0, 0, 1} // an empty fixed block and its checksum
	for h := range 1 << 16 {
		src := append([]byte{byte(h >> 8), byte(h)}, body...)
		_, stdErr := stdzlib.NewReader(bytes.NewReader(src))
		_, used, err := d.Zlib(nil, src)
		if (err == nil) != (stdErr == nil) || err == nil && used != 8 || err != nil && err != ErrHeader {
			t.Fatalf("header %04x: %v, compress/zlib says %v", h, err, stdErr)
		}
	}
}

// A handMadeStream is one that no compressor writes, as fields of bits, each written from its
// lowest bit on.
type handMadeStream struct {
	name string
	want error // nil if it is accepted
	bits []field
}

type field struct{ value, bits int }

func (h handMadeStream) stream() []byte {
	var out []byte
	n := 0
	for _, f := range h.bits {
		for i := range f.bits {
			if n%8 == 0 {
				out = append(out, 0)
			}
			out[n/8] |= byte(f.value>>i&1) << (n % 8)
			n++
		}
	}
	return out
}

// dynamic begins a last block whose code lengths are written with codes of 2 bits: 00 for 0, 10 for
// 1, 01 for 2 and 11 for a repeat of the previous length or, with zeroRuns, a run of 11 to 138
// zeros (as they are read: first bit lowest).
func dynamic(nlit, ndist int, zeroRuns bool, rest ...field) []field {
	lens := [19]int{0: 2, 1: 2, 2: 2, 16: 2}
	if zeroRuns {
		lens[16], lens[18] = 0, 2
	}
	fields := []field{{1, 1}, {2, 2}, {nlit - 257, 5}, {ndist - 1, 5}, {18 - 4, 4}}
	for _, at := range lengthOrder[:18] {
		fields = append(fields, field{lens[at], 3})
	}
	return append(fields, rest...)
}

var (
	len0 = field{0, 2}
	len1 = field{2, 2}
	len2 = field{1, 2}
)

func zeros(n int) field  { return field{3 | (n-11)<<2, 9} }
func repeat(n int) field { return field{3 | (n-3)<<2, 4} }

var handMade = []handMadeStream{
	{"reserved type", ErrCorrupt, []field{{1, 1}, {3, 2}}},
	{"stored complement", ErrCorrupt, []field{{1, 1}, {0, 2}, {0, 5}, {1, 16}, {1, 16}, {0, 8}}},
	{"287 literals", ErrCorrupt, dynamic(287, 1, true)},
	{"31 distances", ErrCorrupt, dynamic(257, 31, true)},
	{"repeat of nothing", ErrCorrupt, dynamic(257, 1, false, repeat(3), field{0, 63})},
	{"run beyond the end", ErrCorrupt, dynamic(257, 1, true, len1, zeros(138), zeros(117), len1, zeros(11), field{1, 63})},
	{"only an end of block", nil, dynamic(257, 1, true, zeros(138), zeros(118), len1, len0, field{0, 1})},
	{"the other bit of a lone code", ErrCorrupt, dynamic(257, 1, true, zeros(138), zeros(118), len1, len0, field{1, 20})},
	{"lone code of two bits", ErrCorrupt, dynamic(257, 1, true, zeros(138), zeros(118), len2, len0, field{0, 20})},
	{"no code", ErrCorrupt, dynamic(257, 1, true, zeros(138), zeros(118), len0, len0, field{0, 20})},
	{"no end of block", ErrTruncated, dynamic(257, 1, true, len1, zeros(138), zeros(117), len1, len0, field{0, 90})},
	{"three codes of one bit", ErrCorrupt, dynamic(257, 1, true, len1, len1, zeros(138), zeros(116), len1, len0, field{0, 20})},
	// Literal 0 is 0, end of block is 10, length 3 is 11.
	{"lone distance code", nil, dynamic(258, 1, true, len1, zeros(138), zeros(117), len2, len2, len1,
		field{0, 1}, field{3, 2}, field{0, 1}, field{1, 2})},
	{"the other bit of a lone distance code", ErrCorrupt, dynamic(258, 1, true, len1, zeros(138), zeros(117), len2, len2, len1,
		field{0, 1}, field{3, 2}, field{1, 1}, field{1, 2}, field{0, 62})},
	{"no distance code, unused", nil, dynamic(258, 1, true, len1, zeros(138), zeros(117), len2, len2, len0,
		field{0, 1}, field{1, 2})},
	{"no distance code, used", ErrCorrupt, dynamic(258, 1, true, len1, zeros(138), zeros(117), len2, len2, len0,
		field{0, 1}, field{3, 2}, field{0, 62})},
	{"lone distance code of two bits", ErrCorrupt, dynamic(258, 1, true, len1, zeros(138), zeros(117), len2, len2, len2,
		field{0, 62})},
	{"distance before the start", ErrCorrupt, dynamic(258, 1, true, len1, zeros(138), zeros(117), len2, len2, len1,
		field{3, 2}, field{0, 1}, field{1, 2}, field{0, 62})},
	// Fixed codes: the symbol 286 is 11000110, distance 30 is 11110, literals from 0 on are
	// 00110000, ...
	{"literal 286", ErrCorrupt, []field{{1, 1}, {1, 2}, {0x0c, 8}, {0x63, 8}, {0, 62}}},
	{"distance 30", ErrCorrupt, []field{{1, 1}, {1, 2}, {0x0c, 8}, {0x40, 7}, {0x0f, 5}, {0, 62}}},
	{"distance 1", nil, []field{{1, 1}, {1, 2}, {0x0c, 8}, {0x40, 7}, {0, 5}, {0, 7}}},
}

func TestHandMade(t *testing.T) {
	var d Decoder
	for _, h := range handMade {
		body := h.stream()
		out, _, stdErr := plain(body)
		if (stdErr == nil) != (h.want == nil) {
			t.Errorf("%s: compress/flate says %v", h.name, stdErr)
		}
		checkBody(t, &d, body)
		if _, _, err := inflateInto(t, &d, 1000, wrap(body, out)); !errors.Is(err, h.want) {
			t.Errorf("%s: %v, want %v", h.name, err, h.want)
		}
	}
}

// FuzzBody compares with the plain version. Streams go without their checksum, which would hide all
// but a few.
func FuzzBody(f *testing.F) {
	for i, body := range bodies(f) {
		if len(body) < 1500 && i%3 == 0 {
			f.Add(body)
		}
	}
	var d Decoder
	f.Fuzz(func(t *testing.T, body []byte) {
		if out, _, _ := plain(body); len(out) < 1<<16 {
			checkBody(t, &d, body)
		}
	})
}

// TestDeflated compares what compressors make of random bytes, at all levels, with those bytes.
func TestDeflated(t *testing.T) {
	var d Decoder
	r := rand.New(rand.NewPCG(3, 4))
	for level := flate.HuffmanOnly; level <= flate.BestCompression; level++ {
		std, _ := flate.NewWriter(nil, level)
		klaus, _ := kflate.NewWriter(nil, level)
		for range 20 {
			in := make([]byte, r.IntN(1<<r.IntN(17)))
			different := 1 + r.IntN(256)
			for i := range in {
				in[i] = byte(r.IntN(different))
				if i > 300 && r.IntN(4) == 0 {
					in[i] = in[i-1-r.IntN(300)]
				}
			}
			for _, compress := range []interface {
				io.WriteCloser
				Reset(io.Writer)
			}{std, klaus} {
				var body bytes.Buffer
				compress.Reset(&body)
				compress.Write(in)
				compress.Close()
				got, _, err := inflateInto(t, &d, len(in), wrap(body.Bytes(), in))
				if err != nil || !bytes.Equal(got, in) {
					t.Fatalf("level %d: %d bytes, %v; want %d", level, len(got), err, len(in))
				}
			}
		}
	}
}

func ExampleDecoder_Zlib() {
	src := []byte("\x78\xda\xcb\x48\xcd\xc9\xc9\x07\x00\x06\x2c\x02\x15")
	var d Decoder
	dst := make([]byte, 3)
	n, _, err := d.Zlib(dst, src)
	fmt.Printf("%s: %v\n", dst[:n], err)
	dst = make([]byte, 100)
	n, used, err := d.Zlib(dst, src)
	fmt.Printf("%s, from %d bytes: %v\n", dst[:n], used, err)
	// Output: hel: zlib stream is longer than expected
	// hello, from 13 bytes: <nil>
}
