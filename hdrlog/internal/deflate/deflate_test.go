package deflate

import (
	"bytes"
	stdzlib "compress/zlib"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zlib"

	"hdrkit/hdrlog/internal/inflate"
	"hdrkit/hdrlog/internal/logtest"
)

// payloads returns the content of the zlib streams of logs.
func payloads(tb testing.TB) (all [][]byte) {
	var d inflate.Decoder
	buf := make([]byte, 1<<20)
	for _, stream := range logtest.Streams(tb) {
		n, _, err := d.Zlib(buf, stream)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, bytes.Clone(buf[:n]))
	}
	return all
}

// A klauspost is the plain version.
type klauspost struct {
	out bytes.Buffer
	w   *zlib.Writer
}

func (k *klauspost) compress(tb testing.TB, raw []byte) []byte {
	k.out.Reset()
	if k.w == nil {
		var err error
		if k.w, err = zlib.NewWriterLevel(&k.out, zlib.HuffmanOnly); err != nil {
			tb.Fatal(err)
		}
	}
	k.w.Reset(&k.out)
	if _, err := k.w.Write(raw); err != nil {
		tb.Fatal(err)
	}
	if err := k.w.Close(); err != nil {
		tb.Fatal(err)
	}
	return k.out.Bytes()
}

// A checker compresses input and checks the stream.
type checker struct {
	anySize bool // a stream may be longer than that of klauspost
	w       Writer
	d       inflate.Decoder
	plain   klauspost
}

func (c *checker) check(t *testing.T, raw []byte) []byte {
	t.Helper()
	before := bytes.Clone(raw)
	prefix := []byte("before")
	dst := c.w.AppendZlib(prefix, raw)
	if !bytes.HasPrefix(dst, prefix) || !bytes.Equal(raw, before) {
		t.Fatalf("%d bytes: what stands before is changed, or the input", len(raw))
	}
	packed := dst[len(prefix):]

	r, err := stdzlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatalf("%d bytes: %v", len(raw), err)
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, raw) {
		t.Fatalf("%d bytes: compress/zlib reads %d, %v", len(raw), len(got), err)
	}
	got := make([]byte, len(raw))
	n, used, err := c.d.Zlib(got, packed)
	if err != nil || used != len(packed) || !bytes.Equal(got[:n], raw) {
		t.Fatalf("%d bytes: inflate reads %d of %d bytes, used %d, %v", len(raw), n, len(packed), used, err)
	}

	plain := len(c.plain.compress(t, raw))
	if parts := len(raw) / maxBlock; parts > 0 {
		plain += plain/500 + 64*parts // each block has a head, where klauspost may use a code again
	}
	if len(packed) > plain && !c.anySize {
		t.Fatalf("%d bytes of %d, where klauspost/compress takes %d", len(packed), len(raw), plain)
	}
	if len(packed) > maxSize(len(raw)) {
		t.Fatalf("%d bytes of %d, but stored they take %d", len(packed), len(raw), maxSize(len(raw)))
	}
	return packed
}

func noise(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	return p
}

// repeated returns counts[i] bytes of value i, shuffled.
func repeated(counts []int) []byte {
	var p []byte
	for i, n := range counts {
		p = append(p, bytes.Repeat([]byte{byte(i)}, n)...)
	}
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(p), func(i, j int) { p[i], p[j] = p[j], p[i] })
	return p
}

func fibonacci(n int) []int {
	counts := []int{1, 1}
	for len(counts) < n {
		counts = append(counts, counts[len(counts)-1]+counts[len(counts)-2])
	}
	return counts
}

func allBytes(times int) []byte {
	counts := make([]int, 256)
	for i := range counts {
		counts[i] = times
	}
	return repeated(counts)
}

// dense returns bytes like the counts of a histogram of five digits with many values: most slots
// have counts.
func dense(n int) []byte {
	r := rand.New(rand.NewPCG(5, 6))
	p := make([]byte, n)
	for i := range p {
		mean := 40 * float64(n-i) / float64(n)
		p[i] = byte(2 * min(63, int(r.ExpFloat64()*mean)))
	}
	return p
}

func TestAppendZlib(t *testing.T) {
	var c checker
	for _, test := range []struct {
		name string
		raw  []byte
		want int // size, or 0
	}{
		// Header and checksum take 6 bytes, an empty fixed block takes 10 bits.
		{"empty", nil, 8},
		{"one byte", []byte{7}, 9},
		{"a byte of 9 bits", []byte{200}, 9},
		{"two bytes", []byte{1, 2}, 10},
		// 1 bit for each byte, and the head.
		{"one symbol", make([]byte, 8000), 6 + 1000 + 12},
		{"one symbol, several blocks", make([]byte, 200000), 0},
		{"all bytes once", allBytes(1), 6 + 5 + 256},
		{"all bytes alike", allBytes(20), 6 + 5 + 20*256},
		{"all bytes alike, large", allBytes(1000), 6 + 8*5 + 256000},
		{"noise", noise(3000), 6 + 5 + 3000},
		{"noise of a whole stored block", noise(maxBlock), 6 + 5 + maxBlock},
		{"noise and one more", noise(maxBlock + 1), 6 + 5 + maxBlock + 1 + 2},
		{"noise, large", noise(300000), 6 + 10*5 + 300000},
		{"noise, then one symbol", append(noise(maxBlock), make([]byte, 3*maxBlock)...), 0},
		{"one symbol, then noise", append(make([]byte, 3*maxBlock), noise(maxBlock)...), 0},
		{"Fibonacci counts, 15 bits", repeated(fibonacci(15)), 0},
		{"Fibonacci counts, 20 bits", repeated(fibonacci(20)), 0},
		{"Fibonacci counts, 25 bits", repeated(fibonacci(25)), 0},
		{"Fibonacci counts, 30 bits", repeated(fibonacci(30)), 0},
		{"dense", dense(4000), 0},
		{"dense, large", dense(1 << 20), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			packed := c.check(t, test.raw)
			if test.want != 0 && len(packed) != test.want {
				t.Errorf("%d bytes, want %d", len(packed), test.want)
			}
		})
	}
}

func TestLogs(t *testing.T) {
	var c checker
	for _, raw := range payloads(t) {
		c.check(t, raw)
	}
}

// TestRandom compresses input that needs codes of all shapes.
func TestRandom(t *testing.T) {
	var c checker
	r := rand.New(rand.NewPCG(7, 8))
	sizes := 0
	for range 2000 {
		n := r.IntN(1 << (1 + r.IntN(13)))
		if r.IntN(100) == 0 {
			n = r.IntN(4 * maxBlock)
		}
		raw := make([]byte, n)
		scale, step, base := powerOfTwo(r), byte(1+r.IntN(3)), byte(r.IntN(256))
		for i := range raw {
			raw[i] = base + step*byte(min(255, r.ExpFloat64()*scale))
			if r.IntN(n) == 0 {
				scale, base = powerOfTwo(r), byte(r.IntN(256))
			}
		}
		sizes += len(c.check(t, raw))
	}
	t.Logf("%d bytes", sizes)
}

func powerOfTwo(r *rand.Rand) float64 { return float64(uint(1) << r.IntN(9)) }

// TestAllocations checks that a used writer takes memory for the stream only, and none if dst has
// room for it.
func TestAllocations(t *testing.T) {
	var w Writer
	var dst []byte
	for _, raw := range [][]byte{nil, dense(4000), noise(2000), repeated(fibonacci(25)), dense(300000)} {
		dst = w.AppendZlib(dst[:0], raw)
		if n := testing.AllocsPerRun(10, func() { dst = w.AppendZlib(dst[:0], raw) }); n != 0 {
			t.Errorf("%d bytes: %v allocations", len(raw), n)
		}
	}
}

// Of several optimal codes, only trying finds the one with the shortest head. For payloads of logs,
// the stream of klauspost is never shorter. For input of the fuzzer, it may be shorter by a few
// bytes.
var fuzzChecker = checker{anySize: true}

func FuzzAppendZlib(f *testing.F) {
	for i, raw := range payloads(f) {
		if i%50 == 0 {
			f.Add(raw, uint8(0))
		}
	}
	f.Add([]byte{}, uint8(0))
	f.Add(noise(300), uint8(9))
	f.Add(repeated(fibonacci(18)), uint8(3))
	// Repeats turn small input into large, up to several parts.
	f.Fuzz(func(t *testing.T, raw []byte, repeats uint8) {
		fuzzChecker.check(t, bytes.Repeat(raw, 1+min(int(repeats), 4*maxBlock/(1+len(raw)))))
	})
}

func BenchmarkAppendZlib(b *testing.B) {
	for _, input := range []struct {
		name string
		raws [][]byte
	}{
		{"logs", payloads(b)},
		{"dense-4K", [][]byte{dense(4 << 10)}},
		{"dense-1M", [][]byte{dense(1 << 20)}},
	} {
		total := 0
		for _, raw := range input.raws {
			total += len(raw)
		}
		run := func(name string, compress func(raw []byte) []byte) {
			b.Run("input="+input.name+"/impl="+name, func(b *testing.B) {
				b.SetBytes(int64(total / len(input.raws)))
				b.ReportAllocs()
				size := 0
				for n := 0; b.Loop(); n++ {
					size += len(compress(input.raws[n%len(input.raws)]))
				}
				b.ReportMetric(float64(size)/float64(b.N), "B/payload")
			})
		}
		var w Writer
		var dst []byte
		run("hdrkit", func(raw []byte) []byte {
			dst = w.AppendZlib(dst[:0], raw)
			return dst
		})
		var k klauspost
		run("klauspost", func(raw []byte) []byte { return k.compress(b, raw) })
	}
}
