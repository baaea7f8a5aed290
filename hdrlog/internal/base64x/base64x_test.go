package base64x

import (
	"bytes"
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"

	"hdrkit/hdrlog/internal/logtest"
)

// plain is the plain version.
func plain(src []byte) ([]byte, bool) {
	if bytes.ContainsAny(src, "\r\n") {
		return nil, false
	}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding} {
		if out, err := encoding.DecodeString(string(src)); err == nil {
			return out, true
		}
	}
	return nil, false
}

func check(t *testing.T, src []byte) {
	t.Helper()
	want, ok := plain(src)
	for _, more := range []int{0, 100} {
		buf := bytes.Repeat([]byte{0xa5}, DecodedLen(len(src))+more+8)
		dst, guard := buf[:len(buf)-8], buf[len(buf)-8:]
		n, err := Decode(dst, src)
		if !bytes.Equal(guard, bytes.Repeat([]byte{0xa5}, 8)) {
			t.Fatalf("%q: wrote past a buffer of %d", src, len(dst))
		}
		if (err == nil) != ok || ok && !bytes.Equal(dst[:n], want) {
			t.Fatalf("%q: got %x, %v; want %x, %v", src, dst[:n], err, want, ok)
		}
		if err == nil {
			continue
		}
		// All before the offset is valid, and the byte at the offset is not.
		at := int(err.(CorruptError))
		if at > len(src) {
			t.Fatalf("%q: error at %d", src, at)
		}
		good := strings.TrimRight(string(src[:at]), "=")
		if i := strings.IndexFunc(good, func(r rune) bool { return !strings.ContainsRune(alphabet, r) }); i >= 0 {
			t.Fatalf("%q: error at %d, but byte %d is the first", src, at, i)
		}
		if at < len(src) && src[at] != '=' && strings.IndexByte(alphabet, src[at]) >= 0 {
			t.Fatalf("%q: error at %d, which is valid", src, at)
		}
	}
}

func TestDecode(t *testing.T) {
	for _, src := range logtest.Texts(t) {
		check(t, src)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 100 {
		in := make([]byte, n)
		for i := range in {
			in[i] = byte(r.Uint32())
		}
		std := base64.StdEncoding.AppendEncode(nil, in)
		check(t, std)
		check(t, base64.RawStdEncoding.AppendEncode(nil, in))
		for i := range std {
			check(t, std[:i])
			bad := bytes.Clone(std)
			for _, c := range []byte("=-_ \n\r\x00\xff") {
				bad[i] = c
				check(t, bad)
			}
		}
	}
	for c := range 256 { // at each place in the fast loop
		for i := range 8 {
			src := []byte("AAAAAAAAAAAAAAAA")
			src[i] = byte(c)
			check(t, src)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, test := range []struct {
		src  string
		want int // offset, or -1
	}{
		{"", -1}, {"QUJD", -1}, {"QUI=", -1}, {"QUI", -1}, {"QQ==", -1}, {"QQ", -1},
		{"QR==", -1}, // bits to spare
		{"Q", 1}, {"QUJDQ", 5}, {"QQ=", 2}, {"Q===", 1}, {"====", 0}, {"=", 0},
		{"QQ==QQ==", 2}, {"QUI=QUI", 3}, {"QUJDQUJD\n", 8}, {"QUJDQUJD QUJDQUJD", 8}, {"QUJD-UJDQUJDQUJD", 4},
	} {
		_, err := Decode(make([]byte, 100), []byte(test.src))
		if test.want < 0 && err != nil || test.want >= 0 && err != CorruptError(test.want) {
			t.Errorf("%q: %v, want %d", test.src, err, test.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for i, src := range logtest.Texts(f) {
		if i%50 == 0 {
			f.Add(src)
		}
	}
	f.Add([]byte("QQ=="))
	f.Fuzz(func(t *testing.T, src []byte) { check(t, src) })
}

func BenchmarkDecode(b *testing.B) {
	all := logtest.Texts(b)
	total := 0
	for _, src := range all {
		total += len(src)
	}
	dst := make([]byte, 1<<20)
	run := func(name string, decode func(dst, src []byte) (int, error)) {
		b.Run("impl="+name, func(b *testing.B) {
			b.SetBytes(int64(total))
			for b.Loop() {
				for _, src := range all {
					if _, err := decode(dst, src); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
	run("hdrkit", Decode)
	run("std", base64.StdEncoding.Decode)
}

func checkEncode(t *testing.T, src []byte) {
	t.Helper()
	prefix := []byte("before")
	want := base64.StdEncoding.AppendEncode(prefix, src)
	if got := AppendEncode(prefix, src); !bytes.Equal(got, want) {
		t.Fatalf("%x:\ngot  %s\nwant %s", src, got, want)
	}
	// With exactly enough room, and something after it.
	buf := append(bytes.Clone(want), "after"...)
	AppendEncode(buf[:len(prefix):len(want)], src)
	if got := string(buf[len(want):]); got != "after" {
		t.Fatalf("%x: wrote past the end: %q", src, got)
	}
}

func TestAppendEncode(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 1000 {
		src := make([]byte, n)
		for i := range src {
			src[i] = byte(r.Uint32())
		}
		checkEncode(t, src)
	}
}

func FuzzAppendEncode(f *testing.F) {
	f.Add([]byte("A"))
	f.Add([]byte("payload"))
	f.Add(bytes.Repeat([]byte("payload"), 20))
	f.Fuzz(func(t *testing.T, src []byte) { checkEncode(t, src) })
}

func BenchmarkAppendEncode(b *testing.B) {
	var all [][]byte
	total := 0
	for _, text := range logtest.Texts(b) {
		src, err := base64.StdEncoding.DecodeString(string(text))
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, src)
		total += len(src)
	}
	var dst []byte
	run := func(name string, encode func(dst, src []byte) []byte) {
		b.Run("impl="+name, func(b *testing.B) {
			b.SetBytes(int64(total))
			for b.Loop() {
				for _, src := range all {
					dst = encode(dst[:0], src)
				}
			}
		})
	}
	run("hdrkit", AppendEncode)
	run("std", base64.StdEncoding.AppendEncode)
}
