package histogram

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zlib"

	"hdrkit/hdrlog/internal/logtest"
)

// logPayloads returns the payloads of a log, or of all logs whose name fits the pattern.
func logPayloads(t testing.TB, pattern string) [][]byte {
	t.Helper()
	return logtest.Payloads(t, "../../testdata/logs/"+pattern)
}

// A header stands before the counts. By default, highest is the largest int64, ratio is 1, and
// length is the true one.
type header struct {
	version         int
	word            int // bytes per count in versions 0 and 1
	digits          int32
	lowest, highest int64
	ratio           float64
	length          int32 // length of the counts in the header, if it is wrong
	cookie          uint32
}

// plain encodes a header and appends encoded counts.
func (h header) plain(counts []byte) []byte {
	word := uint32(wordV2)
	if h.version < 2 {
		word = uint32(h.word) << 4
	}
	cookie := [3]uint32{cookieV0, cookieV1, cookieV2}[h.version] | word
	if h.cookie != 0 {
		cookie = h.cookie
	}
	if h.highest == 0 {
		h.highest = math.MaxInt64
	}
	if h.ratio == 0 {
		h.ratio = 1
	}
	if h.length == 0 {
		h.length = int32(len(counts))
	}
	raw := binary.BigEndian.AppendUint32(nil, cookie)
	if h.version > 0 {
		raw = binary.BigEndian.AppendUint32(raw, uint32(h.length))
		raw = binary.BigEndian.AppendUint32(raw, 0)
	}
	raw = binary.BigEndian.AppendUint32(raw, uint32(h.digits))
	raw = binary.BigEndian.AppendUint64(raw, uint64(h.lowest))
	raw = binary.BigEndian.AppendUint64(raw, uint64(h.highest))
	if h.version == 0 {
		raw = binary.BigEndian.AppendUint64(raw, uint64(h.total(counts)))
	} else {
		raw = binary.BigEndian.AppendUint64(raw, math.Float64bits(h.ratio))
	}
	return append(raw, counts...)
}

// total returns the sum of counts that are words.
func (h header) total(counts []byte) (total int64) {
	for ; h.word > 0 && len(counts) >= h.word; counts = counts[h.word:] {
		var word [8]byte
		if counts[0] >= 0x80 {
			word = [8]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
		}
		copy(word[8-h.word:], counts)
		total += int64(binary.BigEndian.Uint64(word[:]))
	}
	return total
}

// words encodes counts as versions 0 and 1 do.
func words(size int, counts ...int64) []byte {
	var encoded []byte
	for _, n := range counts {
		var word [8]byte
		binary.BigEndian.PutUint64(word[:], uint64(n))
		encoded = append(encoded, word[8-size:]...)
	}
	return encoded
}

// zigZags encodes counts as version 2 does. A negative number is a run of empty slots.
func zigZags(counts ...int64) []byte {
	var encoded []byte
	for _, n := range counts {
		encoded = appendZigZag(encoded, n)
	}
	return encoded
}

var (
	deflated bytes.Buffer
	deflater = zlib.NewWriter(&deflated)
)

// compress makes a compressed payload of a plain one.
func compress(plain []byte) []byte {
	deflated.Reset()
	deflater.Reset(&deflated)
	deflater.Write(plain)
	deflater.Close()
	cookie := uint32(cookieV2Compressed)
	if len(plain) >= 4 && isCompressed(binary.BigEndian.Uint32(plain)+1) {
		cookie = binary.BigEndian.Uint32(plain) + 1
	}
	return wrap(cookie, deflated.Bytes())
}

func wrap(cookie uint32, deflated []byte) []byte {
	packed := binary.BigEndian.AppendUint32(nil, cookie)
	packed = binary.BigEndian.AppendUint32(packed, uint32(len(deflated)))
	return append(packed, deflated...)
}

// double puts the header of a double histogram before an integer histogram.
func double(digits int32, inner []byte) []byte {
	cookie := uint32(cookieDouble)
	if isCompressed(binary.BigEndian.Uint32(inner)) {
		cookie = cookieDoubleComp
	}
	packed := binary.BigEndian.AppendUint32(nil, cookie)
	packed = binary.BigEndian.AppendUint32(packed, uint32(digits))
	packed = binary.BigEndian.AppendUint64(packed, 2)
	return append(packed, inner...)
}

func newHistogram(t testing.TB, layout Layout) *Histogram {
	t.Helper()
	h, err := New(layout)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func record(t testing.TB, h *Histogram, value, n int64) {
	t.Helper()
	if err := h.RecordN(value, n); err != nil {
		t.Fatal(err)
	}
}

// difference describes how two histograms differ. It is empty if they are equal.
func difference(got, want *Histogram) string {
	if got.Layout() != want.Layout() || got.TotalCount() != want.TotalCount() {
		return fmt.Sprintf("got %+v with %d values, want %+v with %d", got.Layout(), got.TotalCount(), want.Layout(), want.TotalCount())
	}
	var buckets []Bucket
	for bucket := range want.Recorded() {
		buckets = append(buckets, bucket)
	}
	n := 0
	for bucket := range got.Recorded() {
		if n == len(buckets) || bucket != buckets[n] {
			return fmt.Sprintf("bucket %d is %+v", n, bucket)
		}
		n++
	}
	if n != len(buckets) {
		return fmt.Sprintf("%d buckets, want %d", n, len(buckets))
	}
	return ""
}

func open(t testing.TB, packed []byte) *Histogram {
	t.Helper()
	var d Decoder
	p, err := d.OpenBinary(packed)
	if err != nil {
		t.Fatal(err)
	}
	h, err := p.Histogram()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Each payload of the logs decodes. Its counts, encoded again, decode to the same.
func TestLogs(t *testing.T) {
	var (
		decoder Decoder
		encoder Encoder
		text    []byte
	)
	payloads := logPayloads(t, "*.hdr")
	for _, payload := range payloads {
		p, err := decoder.Open(payload)
		if err != nil {
			t.Fatalf("%.60s: %v", payload, err)
		}
		if p.version != 2 {
			t.Errorf("%.60s: version %d", payload, p.version)
		}
		h, err := p.Histogram()
		if err != nil {
			t.Fatalf("%.60s: %v", payload, err)
		}
		if text, err = encoder.AppendBase64(text[:0], h); err != nil {
			t.Fatalf("%.60s: %v", payload, err)
		}
		again, err := decoder.Open(text)
		if err != nil {
			t.Fatalf("%.60s: encoded again: %v", payload, err)
		}
		sum := newHistogram(t, again.layout)
		if err := again.AddTo(sum); err != nil {
			t.Fatalf("%.60s: encoded again: %v", payload, err)
		}
		if diff := difference(sum, h); diff != "" {
			t.Errorf("%.60s: encoded again: %s", payload, diff)
		}
	}
	if len(payloads) < 800 {
		t.Errorf("only %d payloads", len(payloads))
	}
}

// All versions decode to the same counts: plain and compressed, integer and double.
func TestVersions(t *testing.T) {
	for digits := range int32(6) {
		for _, lowest := range []int64{1, 1000} {
			layout := Layout{Digits: int(digits), Lowest: lowest}
			want := newHistogram(t, layout)
			counts := []int64{3, 0, 5, 0, 0, 0, 1, 32767}
			for i, n := range counts {
				record(t, want, layout.LowestAt(i), n)
			}
			head := header{digits: digits, lowest: lowest}
			for _, version := range []struct{ version, word int }{{0, 2}, {0, 4}, {0, 8}, {1, 2}, {1, 4}, {1, 8}, {2, 0}} {
				head.version, head.word = version.version, version.word
				plain := head.plain(zigZags(3, 0, 5, -3, 1, 32767))
				if version.version < 2 {
					plain = head.plain(words(version.word, counts...))
				}
				for _, packed := range [][]byte{plain, compress(plain)} {
					var d Decoder
					p, err := d.OpenBinary(packed)
					if err != nil {
						t.Fatalf("%+v: %v", head, err)
					}
					if p.version != version.version || p.layout != layout || p.highest != math.MaxInt64 {
						t.Errorf("%+v: version %d, %+v up to %d", head, p.version, p.layout, p.highest)
					}
					got, err := p.Histogram()
					if err != nil {
						t.Fatalf("%+v: %v", head, err)
					}
					if diff := difference(got, want); diff != "" {
						t.Errorf("%+v: %s", head, diff)
					}
					if version.version == 0 {
						continue
					}
					got = open(t, double(digits, packed))
					if !got.Double() || got.Ratio() != 1 || got.TotalCount() != want.TotalCount() || got.Max() != want.Max() {
						t.Errorf("%+v: double: ratio %v, %d values up to %d", head, got.Ratio(), got.TotalCount(), got.Max())
					}
				}
			}
		}
	}
}

// Counts of all lengths from one to nine bytes.
func TestZigZag(t *testing.T) {
	for shift := range 63 {
		for _, n := range []int64{1<<shift - 1, 1 << shift, 1<<shift + 1} {
			encoded := zigZags(n)
			var v uint64
			size := 1
			if v = uint64(encoded[0]); v >= 0x80 {
				v, size = decodeLEB128(encoded)
			}
			if size != len(encoded) || v != uint64(n)<<1 || size > maxWordV2 {
				t.Errorf("%d: %d of %d bytes, %#x", n, size, len(encoded), v)
			}
			for short := range encoded {
				if _, size := decodeLEB128(encoded[:short]); size != 0 {
					t.Errorf("%d: %d of %d bytes are enough", n, size, len(encoded))
				}
			}
			h := open(t, header{version: 2, digits: 3, lowest: 1}.plain(append(zigZags(0), encoded...)))
			if h.TotalCount() != n || h.CountBetween(1, 1) != n {
				t.Errorf("%d decodes to %d", n, h.TotalCount())
			}
		}
	}
	if got := zigZags(math.MaxInt64); !bytes.Equal(got, []byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}) {
		t.Errorf("the largest int64 is % x", got)
	}
}

// The normalizing index offset changes no count. One beyond the slots is an error. HdrHistogram
// 2.1.11 (Java) does the same with each of these offsets.
func TestNormalizingOffset(t *testing.T) {
	head := header{version: 2, digits: 3, lowest: 1, highest: 4000} // 3072 slots
	for _, version := range []int{1, 2} {
		head.version, head.word = version, 2
		plain := head.plain(zigZags(-10, 7))
		if version == 1 {
			plain = head.plain(words(2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7))
		}
		for _, offset := range []int32{0, 5, -5, 1234, -1234, 3072} {
			binary.BigEndian.PutUint32(plain[8:], uint32(offset))
			if h := open(t, plain); h.CountBetween(10, 10) != 7 || h.TotalCount() != 7 {
				t.Errorf("version %d, offset %d: min %d, %d values", version, offset, h.Min(), h.TotalCount())
			}
		}
		for _, offset := range []int32{4096, 100000, -100000, 1 << 30, math.MinInt32} {
			binary.BigEndian.PutUint32(plain[8:], uint32(offset))
			_, err := new(Decoder).OpenBinary(plain)
			want := fmt.Sprintf("impossible header: normalizing index offset %d with 3072 slots", offset)
			if !errors.Is(err, ErrHeader) || err.Error() != want {
				t.Errorf("version %d: got %v, want %s", version, err, want)
			}
		}
	}
}

// TestErrors pins the text of each error, of opening and of adding.
func TestErrors(t *testing.T) {
	v2 := header{version: 2, digits: 3, lowest: 1}
	small := header{version: 2, digits: 1, lowest: 1, highest: 31} // 32 slots
	whole := compress(v2.plain(zigZags(1, 2, 3)))
	damaged := func(at int) []byte {
		packed := bytes.Clone(whole)
		packed[(at+len(packed))%len(packed)] ^= 1
		return packed
	}
	v0 := header{version: 0, word: 4, digits: 3, lowest: 1}.plain(words(4, 1, 2, 3))
	zeros := make([]byte, 1<<20)
	short := compress(header{version: 2, digits: 5, lowest: 1, length: 50 << 20}.plain(zeros))
	for _, test := range []struct {
		name   string
		packed []byte
		want   error
		text   string
	}{
		{"nothing", nil, ErrTruncated, "payload is cut short: 0 bytes do not hold a header"},
		{"seven bytes", whole[:7], ErrTruncated, "payload is cut short: 7 bytes do not hold a header"},
		{"no cookie", []byte("12345678"), ErrHeader, "impossible header: no histogram has cookie 0x31323334"},
		{"plain header cut short", v2.plain(nil)[:39], ErrTruncated, "payload is cut short: 39 bytes do not hold a header"},
		{"version 0 header cut short", header{version: 0, word: 8, digits: 3, lowest: 1}.plain(nil)[:31], ErrTruncated, "payload is cut short: 31 bytes do not hold a header"},
		{"counts cut short", v2.plain(zigZags(1, 2, 3))[:42], ErrTruncated, "payload is cut short: 42 of 43 bytes"},
		{"compressed cut short", whole[:len(whole)-1], ErrTruncated, fmt.Sprintf("payload is cut short: %d of %d compressed bytes", len(whole)-9, len(whole)-8)},
		{"compressed length of 4 GB", wrap(cookieV2Compressed, nil)[:4:4], ErrTruncated, "payload is cut short: 4 bytes do not hold a header"},
		{"compressed length negative", append(wrap(cookieV2Compressed, nil)[:4:4], 0xff, 0xff, 0xff, 0xff), ErrTruncated, "payload is cut short: 0 of 4294967295 compressed bytes"},
		{"zlib stream cut short", wrap(cookieV2Compressed, whole[8:len(whole)-4]), ErrTruncated, "payload is cut short: the compressed stream is not whole"},
		{"zlib stream empty", wrap(cookieV2Compressed, nil), ErrTruncated, "payload is cut short: the compressed stream is not whole"},
		{"zlib header", damaged(8), ErrCorrupt, "payload is corrupt: not a zlib header"},
		{"checksum", damaged(-1), ErrChecksum, "checksum mismatch"},
		{"compressed header cut short", compress(v2.plain(nil)[:39]), ErrTruncated, "payload is cut short: 39 bytes do not hold a header"},
		{"compressed nothing", compress(v2.plain(nil)[:2:2]), ErrTruncated, "payload is cut short: 2 bytes do not hold a header"},
		{"compressed in compressed", compress(header{version: 2, digits: 3, lowest: 1, cookie: cookieV2Compressed}.plain(nil)), ErrHeader, "impossible header: no histogram has cookie 0x1c849304"},

		{"digits", header{version: 2, digits: 6, lowest: 1}.plain(nil), ErrHeader, "impossible header: 6 significant digits, not 0 to 5"},
		{"negative digits", header{version: 2, digits: -1, lowest: 1}.plain(nil), ErrHeader, "impossible header: -1 significant digits, not 0 to 5"},
		{"lowest", header{version: 2, digits: 3, lowest: 0}.plain(nil), ErrHeader, "impossible header: lowest discernible value 0 is below 1"},
		{"lowest too high", header{version: 2, digits: 3, lowest: 1 << 52}.plain(nil), ErrHeader, "impossible header: lowest discernible value 4503599627370496 leaves no room for 3 significant digits"},
		{"highest", header{version: 2, digits: 3, lowest: 10, highest: 19}.plain(nil), ErrHeader, "impossible header: highest trackable value 19 is below twice the lowest, 10"},
		{"highest negative", header{version: 2, digits: 3, lowest: 1, highest: -1}.plain(nil), ErrHeader, "impossible header: highest trackable value -1 is below twice the lowest, 1"},
		{"length negative", header{version: 2, digits: 3, lowest: 1, length: -1}.plain(nil), ErrHeader, "impossible header: -1 bytes of counts for 55296 slots"},
		{"length beyond the slots", header{version: 2, digits: 1, lowest: 1, highest: 31, length: 289}.plain(nil), ErrHeader, "impossible header: 289 bytes of counts for 32 slots"},
		{"words beyond the slots", header{version: 1, word: 2, digits: 1, lowest: 1, highest: 31}.plain(words(2, make([]int64, 33)...)), ErrHeader, "impossible header: 66 bytes of counts for 32 slots"},
		{"word size", header{version: 1, word: 6, digits: 3, lowest: 1}.plain(nil), ErrHeader, "impossible header: counts of 6 bytes"},
		{"word size 0", header{version: 0, word: 0, digits: 3, lowest: 1}.plain(nil), ErrHeader, "impossible header: counts of 0 bytes"},
		{"half a word", header{version: 1, word: 4, digits: 3, lowest: 1}.plain(words(2, 1, 2, 3)), ErrTruncated, "payload is cut short: 6 bytes of counts of 4 bytes"},
		{"half a word of version 0", header{version: 0, word: 8, digits: 3, lowest: 1}.plain(words(2, 1)), ErrTruncated, "payload is cut short: 2 bytes of counts of 8 bytes"},
		{"words of version 0 beyond the slots", header{version: 0, word: 2, digits: 1, lowest: 1, highest: 31}.plain(words(2, make([]int64, 33)...)), ErrTooLong, "payload is longer than its header allows: 98 bytes, not 96"},
		{"longer than the header says", append(v2.plain(zigZags(1)), 0), ErrTooLong, "payload is longer than its header allows: 42 bytes, not 41"},
		{"compressed, longer than the header says", compress(append(v2.plain(zigZags(1)), 0)), ErrTooLong, "payload is longer than its header allows: 42 bytes, not 41"},
		{"a megabyte longer", compress(append(v2.plain(zigZags(1)), zeros...)), ErrTooLong, "payload is longer than its header allows: more than 65536 bytes, not 41"},
		{"length that the stream cannot hold", short, ErrTruncated, fmt.Sprintf("payload is cut short: %d compressed bytes do not hold 52428840", len(short)-8)},

		{"bytes after the compressed length", append(bytes.Clone(whole), 0), ErrTooLong, fmt.Sprintf("payload is longer than its header allows: %d compressed bytes, not %d", len(whole)-7, len(whole)-8)},
		{"a payload after the compressed length", append(bytes.Clone(whole), whole...), ErrTooLong, fmt.Sprintf("payload is longer than its header allows: %d compressed bytes, not %d", 2*len(whole)-8, len(whole)-8)},
		{"bytes after the compressed stream", wrap(cookieV2Compressed, append(bytes.Clone(whole[8:]), 1, 2, 3)), ErrTooLong, "payload is longer than its header allows: 3 bytes follow the compressed stream"},
		{"bytes after the stream of a double", double(3, wrap(cookieV2Compressed, append(bytes.Clone(whole[8:]), 0))), ErrTooLong, "payload is longer than its header allows: 1 bytes follow the compressed stream"},
		{"version 0 cut at a word", v0[:len(v0)-4], ErrTruncated, "payload is cut short: 3 of 6 values"},
		{"version 0 with a negative total", append(append(bytes.Clone(v0[:24]), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), v0[32:]...), ErrHeader, "impossible header: a total of -1 values"},
		{"version 0 without a count", v0[:32], ErrTruncated, "payload is cut short: 0 of 6 values"},
		{"version 0 with a count too many", append(bytes.Clone(v0), 0, 0, 0, 5), ErrCorrupt, "payload is corrupt: 11 values, not 6"},

		{"double header cut short", double(3, v2.plain(nil))[:23], ErrTruncated, "payload is cut short: 23 bytes do not hold a double histogram's header"},
		{"compressed in a plain double", append(double(3, v2.plain(nil))[:16:16], whole...), ErrHeader, "impossible header: double histogram around cookie 0x1c849314"},
		{"plain in a compressed double", append(double(3, whole)[:16:16], v2.plain(nil)...), ErrHeader, "impossible header: double histogram around cookie 0x1c849313"},
		{"digits of a double", double(2, v2.plain(nil)), ErrHeader, "impossible header: 2 significant digits around 3"},
		{"version 0 in a double", double(3, header{version: 0, word: 8, digits: 3, lowest: 1}.plain(nil)), ErrHeader, "impossible header: a double histogram around version 0"},
		{"ratio", double(3, header{version: 2, digits: 3, lowest: 1, ratio: -1}.plain(nil)), ErrHeader, "impossible header: conversion ratio -1"},
		{"ratio NaN", double(3, header{version: 2, digits: 3, lowest: 1, ratio: math.NaN()}.plain(nil)), ErrHeader, "impossible header: conversion ratio NaN"},
		{"ratio infinite", double(3, header{version: 2, digits: 3, lowest: 1, ratio: math.Inf(1)}.plain(nil)), ErrHeader, "impossible header: conversion ratio +Inf"},
		{"double in a double", double(3, double(3, v2.plain(nil))), ErrHeader, "impossible header: no histogram has cookie 0xc72124e"},

		{"run past the end", small.plain(zigZags(1, -32)), ErrCorrupt, "payload is corrupt: a run of 32 empty slots at slot 1 of 32"},
		{"longest run", small.plain(bytes.Repeat([]byte{0xff}, 9)), ErrCorrupt, "payload is corrupt: a run of 9223372036854775808 empty slots at slot 0 of 32"},
		{"count past the end", small.plain(zigZags(-32, 1)), ErrCorrupt, "payload is corrupt: more counts than the header's 32 slots"},
		{"empty slot past the end", small.plain(zigZags(-32, 0)), ErrCorrupt, "payload is corrupt: more counts than the header's 32 slots"},
		{"last count cut short", v2.plain([]byte{2, 0x80}), ErrTruncated, "payload is cut short: the last count is cut short"},
		{"overflow", v2.plain(zigZags(math.MaxInt64, 1)), ErrOverflow, "total count exceeds the largest int64"},
		{"overflow around zero", v2.plain(zigZags(math.MaxInt64, math.MaxInt64, 2, 5)), ErrOverflow, "total count exceeds the largest int64"},
		{"negative count of 2 bytes", header{version: 1, word: 2, digits: 3, lowest: 1}.plain(words(2, 1, 0, -1)), ErrNegativeCount, "negative count: -1 at slot 2"},
		{"negative count of 4 bytes", header{version: 0, word: 4, digits: 3, lowest: 1}.plain(words(4, 1, math.MaxInt32, math.MinInt32)), ErrNegativeCount, "negative count: -2147483648 at slot 2"},
		{"negative count of 8 bytes", header{version: 1, word: 8, digits: 3, lowest: 1}.plain(words(8, math.MinInt64)), ErrNegativeCount, "negative count: -9223372036854775808 at slot 0"},
		{"overflow of words", header{version: 1, word: 8, digits: 3, lowest: 1}.plain(words(8, math.MaxInt64, 1)), ErrOverflow, "total count exceeds the largest int64"},
	} {
		t.Run(test.name, func(t *testing.T) {
			// Add to a sum of the same layout, which may have more slots than the
			// payload, and to others.
			for _, digits := range []int{1, 3, 4} {
				sum := newHistogram(t, Layout{Digits: digits, Lowest: 1})
				record(t, sum, 5, 1)
				record(t, sum, 1<<40, 2)
				before := sum.Clone()
				var d Decoder
				err := decodeInto(&d, sum, test.packed)
				if !errors.Is(err, test.want) || err.Error() != test.text {
					t.Errorf("got %v, want %s", err, test.text)
				}
				if diff := difference(sum, before); diff != "" {
					t.Errorf("the sum is changed: %s", diff)
				}
			}
		})
	}
}

func decodeInto(d *Decoder, sum *Histogram, packed []byte) error {
	p, err := d.OpenBinary(packed)
	if err != nil {
		return err
	}
	return p.AddTo(sum)
}

func TestBase64(t *testing.T) {
	plain := header{version: 2, digits: 3, lowest: 1}.plain(zigZags(1, 2, 3)) // 43 bytes
	text := base64.StdEncoding.EncodeToString(plain)
	for _, test := range []struct {
		text string
		want string
	}{
		{text, ""},
		{strings.TrimRight(text, "="), ""}, // as the Python library may write it
		{text + "=", "bad base64: byte 59 of 61"},
		{text[:10] + "!" + text[11:], "bad base64: byte 11 of 60"},
		{text[:10] + "=" + text[11:], "bad base64: byte 11 of 60"},
		{text[:10] + "-" + text[11:], "bad base64: byte 11 of 60"},
		{text[:57], "bad base64: it ends after 57 bytes"},
		{text[:56], "payload is cut short: 42 of 43 bytes"},
		{text[:4], "payload is cut short: 3 bytes do not hold a header"},
		{"", "payload is cut short: 0 bytes do not hold a header"},
		{"=", "bad base64: byte 1 of 1"},
		{"A", "bad base64: it ends after 1 bytes"},
		{"A===", "bad base64: byte 2 of 4"},
		{text[:59] + "\r", "bad base64: byte 59 of 60"},
		{text[:10] + "\n" + text[11:], "bad base64: byte 11 of 60"},
		{text[:10] + "\r\n" + text[10:], "bad base64: byte 11 of 62"},
		{text[:10] + "\n" + text[10:], "bad base64: byte 11 of 61"},
		{text[:10] + "!" + text[10:20] + "\n" + text[20:], "bad base64: byte 11 of 62"},
	} {
		var d Decoder
		_, err := d.Open([]byte(test.text))
		if got := fmt.Sprint(err); err != nil && got != test.want || err == nil && test.want != "" {
			t.Errorf("%s: got %v, want %q", test.text, err, test.want)
		}
		if strings.HasPrefix(test.want, "bad base64") && !errors.Is(err, ErrBase64) {
			t.Errorf("%s: %v is not ErrBase64", test.text, err)
		}
	}
}

// A payload that is cut short is an error. One with a changed byte is an error or decodes to
// something. Neither changes the sum or the next payload of the decoder.
func TestDamage(t *testing.T) {
	var d Decoder
	names := []string{"digits1.hdr", "double.hdr", "digits5.hdr"}
	if logtest.Rounds(1) == 0 {
		names = names[:2]
	}
	for _, name := range names {
		for _, text := range logPayloads(t, name)[:2] {
			packed, err := base64.StdEncoding.DecodeString(string(text))
			if err != nil {
				t.Fatal(err)
			}
			want := open(t, packed)
			for n := range packed {
				if _, err := d.OpenBinary(packed[:n]); !errors.Is(err, ErrTruncated) {
					t.Fatalf("%s: %d of %d bytes: got %v, want ErrTruncated", name, n, len(packed), err)
				}
			}
			step := max(1, len(packed)/logtest.Rounds(300))
			for n := 0; n < len(packed); n += step {
				damaged := bytes.Clone(packed)
				damaged[n] ^= 0x10
				sum := newHistogram(t, want.Layout())
				if err := decodeInto(&d, sum, damaged); err != nil && sum.TotalCount() != 0 {
					t.Fatalf("%s: byte %d: %v, but the sum is changed", name, n, err)
				}
				p, err := d.OpenBinary(packed)
				if err != nil {
					t.Fatal(err)
				}
				got, err := p.Histogram()
				if err != nil {
					t.Fatal(err)
				}
				if diff := difference(got, want); diff != "" {
					t.Fatalf("%s: after byte %d: %s", name, n, diff)
				}
			}
		}
	}
}

// The checksum is verified even if the content exactly fills the buffer.
func TestChecksumAtBufferEnd(t *testing.T) {
	for _, length := range []int{firstRaw, firstRaw - 1, firstRaw + 1, 3 * firstRaw} {
		counts := make([]int64, length-headerSize)
		for i := range counts {
			counts[i] = int64(rand.IntN(60))
		}
		packed := compress(header{version: 2, digits: 5, lowest: 1}.plain(zigZags(counts...)))
		var d Decoder
		for range 2 {
			if _, err := d.OpenBinary(packed); err != nil {
				t.Errorf("%d bytes: %v", length, err)
			}
			packed[len(packed)-1] ^= 1
			if _, err := d.OpenBinary(packed); !errors.Is(err, ErrChecksum) {
				t.Errorf("%d bytes: got %v, want ErrChecksum", length, err)
			}
			packed[len(packed)-1] ^= 1
			if _, err := d.OpenBinary(append(bytes.Clone(packed[:len(packed)-2]), 0, 0, 0)); err == nil {
				t.Errorf("%d bytes: bad checksum is taken", length)
			}
		}
	}
}

// An overflow leaves the sum unchanged.
func TestOverflowAcrossPayloads(t *testing.T) {
	for _, digits := range []int32{3, 2, 4} {
		sum := newHistogram(t, Layout{Digits: 3, Lowest: 1})
		record(t, sum, 9, math.MaxInt64-10)
		before := sum.Clone()
		var d Decoder
		err := decodeInto(&d, sum, header{version: 2, digits: digits, lowest: 1}.plain(zigZags(4, 7)))
		if !errors.Is(err, ErrOverflow) {
			t.Errorf("%d digits: got %v, want ErrOverflow", digits, err)
		}
		if diff := difference(sum, before); diff != "" {
			t.Errorf("%d digits: %s", digits, diff)
		}
		if err := decodeInto(&d, sum, header{version: 2, digits: digits, lowest: 1}.plain(zigZags(4, 6))); err != nil || sum.TotalCount() != math.MaxInt64 {
			t.Errorf("%d digits: %v, %d values", digits, err, sum.TotalCount())
		}
	}
}

func TestKind(t *testing.T) {
	plain := header{version: 2, digits: 3, lowest: 1}.plain(zigZags(4, 7))
	var d Decoder
	for _, test := range []struct {
		ratio  float64
		packed []byte
	}{{0, double(3, plain)}, {1, plain}} {
		sum := newHistogram(t, Layout{Digits: 2, Lowest: 1, Ratio: test.ratio})
		record(t, sum, 9, 1)
		before := sum.Clone()
		if err := decodeInto(&d, sum, test.packed); !errors.Is(err, ErrKind) {
			t.Errorf("got %v, want ErrKind", err)
		}
		if diff := difference(sum, before); diff != "" {
			t.Error(diff)
		}
	}
}

// If the slots are the same, the sum takes the lower lowest value, together with the counts.
func TestLowest(t *testing.T) {
	sum := newHistogram(t, Layout{Digits: 3, Lowest: 3})
	var d Decoder
	if err := decodeInto(&d, sum, header{version: 2, digits: 3, lowest: 2}.plain(zigZags(1, math.MaxInt64))); err == nil || sum.Layout().Lowest != 3 {
		t.Errorf("%v, %+v", err, sum.Layout())
	}
	if err := decodeInto(&d, sum, header{version: 2, digits: 3, lowest: 2}.plain(zigZags(1, 5))); err != nil || sum.Layout().Lowest != 2 || sum.TotalCount() != 6 {
		t.Errorf("%v, %+v", err, sum.Layout())
	}
}

// The header of a double histogram must suit the constructor of the reference: the ratio of highest
// to lowest value is at least 2, the ratio times 10^digits is below 2^61, the lowest value is 1,
// and the ratio determines the highest trackable value.
func TestDoubleHeader(t *testing.T) {
	most := 5
	if testing.Short() {
		most = 3
	}
	for digits := range most + 1 {
		for shift := range 64 {
			h := newHistogram(t, Layout{Digits: digits, Lowest: 1 + int64(shift%2), Ratio: 0.125})
			if shift > 0 {
				record(t, h, 1<<(shift-1), 3)
			}
			var e Encoder
			packed, err := e.Encode(h)
			if err != nil {
				if !errors.Is(err, ErrSpan) || shift < 60 {
					t.Errorf("%d digits, 2^%d: %v", digits, shift-1, err)
				}
				continue
			}
			ratio := binary.BigEndian.Uint64(packed[8:])
			half := uint64(h.Layout().SubBuckets() / 2)
			switch highest := binary.BigEndian.Uint64(e.raw[24:]); {
			case binary.BigEndian.Uint32(packed) != cookieDoubleComp || binary.BigEndian.Uint32(packed[4:]) != uint32(digits):
				t.Errorf("%d digits: header % x", digits, packed[:16])
			case ratio < 2 || float64(ratio)*math.Pow(10, float64(digits)) >= 1<<61:
				t.Errorf("%d digits, 2^%d: ratio %d", digits, shift-1, ratio)
			case highest != half<<(bits.Len64(ratio)+1)-1 || highest < uint64(h.Max()):
				t.Errorf("%d digits, 2^%d: ratio %d, but values up to %d", digits, shift-1, ratio, highest)
			case binary.BigEndian.Uint64(e.raw[16:]) != 1:
				t.Errorf("%d digits: lowest value %d", digits, binary.BigEndian.Uint64(e.raw[16:]))
			}
			if got := open(t, packed); got.TotalCount() != h.TotalCount() || got.Ratio() != 0.125 || shift > 2 && got.Max() != h.Max() {
				t.Errorf("%d digits, 2^%d: %d values up to %d", digits, shift-1, got.TotalCount(), got.Max())
			}
		}
	}
}

// Payloads that claim much and hold little take little memory.
func TestMemory(t *testing.T) {
	zeros := make([]byte, 64<<20)
	five := header{version: 2, digits: 5, lowest: 1}
	long := five
	long.length = 50 << 20
	for _, test := range []struct {
		name   string
		packed []byte
		most   uint64 // bytes
	}{
		{"a short header and 64 MB of zeros", compress(append(five.plain(zigZags(1)), zeros...)), 1 << 20},
		{"50 MB claimed by a short stream", compress(long.plain(zeros[:1<<20])), 1 << 20},
		{"50 MB claimed by version 0", compress(header{version: 0, word: 8, digits: 5, lowest: 1}.plain(zeros[:1<<20])), 4 << 20},
		{"50 MB claimed, uncompressed", long.plain(nil), 1 << 20},
		{"no counts, 5 digits", compress(five.plain(nil)), 4 << 20},
		{"a run of nearly all slots", compress(five.plain(zigZags(-6_000_000))), 4 << 20},
		{"a run of too many slots", compress(five.plain(zigZags(-7_000_000, 1))), 4 << 20},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var d Decoder
		sum := newHistogram(t, Layout{Digits: 5, Lowest: 1})
		err := decodeInto(&d, sum, test.packed)
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; taken > test.most {
			t.Errorf("%s (%v): %d bytes taken, want at most %d", test.name, err, taken, test.most)
		}
	}
}

// A decoder in use takes no more memory, except for two small objects of the zlib reader.
func TestAllocs(t *testing.T) {
	texts := logPayloads(t, "mixed-precision.hdr")
	var d Decoder
	sum := newHistogram(t, Layout{Digits: 5, Lowest: 1})
	n := 0
	if cost := testing.AllocsPerRun(10*len(texts), func() {
		p, err := d.Open(texts[n%len(texts)])
		if err == nil {
			err = p.AddTo(sum)
		}
		if err != nil {
			t.Fatal(err)
		}
		n++
	}); cost > 2 {
		t.Errorf("%v allocations per payload", cost)
	}
}

// Adding payloads of several precisions gives the same sum as adding histograms of them, in any
// order.
func TestMixed(t *testing.T) {
	texts := logPayloads(t, "mixed-precision.hdr")
	texts = append(texts, logPayloads(t, "lowest1000.hdr")[:3]...)
	finest := newHistogram(t, Layout{Digits: 5, Lowest: 1})
	var d Decoder
	for _, text := range texts {
		p, err := d.Open(text)
		if err != nil {
			t.Fatal(err)
		}
		h, err := p.Histogram()
		if err != nil {
			t.Fatal(err)
		}
		if err := finest.Add(h); err != nil {
			t.Fatal(err)
		}
	}
	finestOf := Layout{}
	for range 5 {
		rand.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
		var sum *Histogram
		for _, text := range texts {
			p, err := d.Open(text)
			if err != nil {
				t.Fatal(err)
			}
			if sum == nil {
				sum = newHistogram(t, p.layout)
			}
			if err := p.AddTo(sum); err != nil {
				t.Fatal(err)
			}
		}
		if finestOf == (Layout{}) {
			finestOf = sum.Layout()
		}
		// The finest layout of all has the slots of 5 digits.
		again := newHistogram(t, Layout{Digits: 5, Lowest: 1})
		if err := again.Add(sum); err != nil {
			t.Fatal(err)
		}
		if diff := difference(again, finest); diff != "" || sum.Layout() != finestOf {
			t.Errorf("%+v and %+v: %s", sum.Layout(), finestOf, diff)
		}
	}
}

// The plain payloads in testdata are from the reference. Ours are the same, byte for byte.
func TestPlainEqualsReference(t *testing.T) {
	golden, err := os.ReadFile("../histogram/testdata/statistics.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var h *Histogram
	n := 0
	for line := range strings.Lines(string(golden)) {
		var layout Layout
		var value, count int64
		if _, err := fmt.Sscanf(line, "histogram\t%d\t%d", &layout.Digits, &layout.Lowest); err == nil {
			h = newHistogram(t, layout)
		} else if _, err := fmt.Sscanf(line, "record\t%d\t%d", &value, &count); err == nil {
			record(t, h, value, count)
		} else if text, ok := strings.CutPrefix(line, "plain\t"); ok {
			want, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := difference(open(t, want), h); diff != "" {
				t.Errorf("%+v: %s", layout, diff)
			}
			var e Encoder
			packed, err := e.Encode(h)
			if err != nil {
				t.Fatal(err)
			}
			if diff := difference(open(t, packed), h); diff != "" {
				t.Errorf("%+v: encoded: %s", h.Layout(), diff)
			}
			// The highest trackable value depends on the room that a writer made; the
			// reference may make more.
			ours, theirs := int64(binary.BigEndian.Uint64(e.raw[24:])), int64(binary.BigEndian.Uint64(want[24:]))
			copy(want[24:32], e.raw[24:])
			if !bytes.Equal(e.raw, want) || h.Layout().bucketOf(ours) != h.Layout().bucketOf(theirs) {
				t.Errorf("%+v up to %d, trackable up to %d and %d\ngot  % x\nwant % x", h.Layout(), h.Max(), ours, theirs, e.raw, want)
			}
			n++
		}
	}
	if n < 36 {
		t.Errorf("%d payloads", n)
	}
}

// A compressed payload of version 0 has a wrong total if counts overflowed in the writer. The
// reference reads it, and so does hdrkit, also after AppendBinary.
func TestWrongTotal(t *testing.T) {
	plain := header{version: 0, word: 2, digits: 3, lowest: 1}.plain(words(2, 1, 2, 3))
	binary.BigEndian.PutUint64(plain[24:], 1<<16+6)
	var d Decoder
	p, err := d.OpenBinary(compress(plain))
	if err != nil {
		t.Fatal(err)
	}
	h, err := p.Histogram()
	if err != nil || h.TotalCount() != 6 {
		t.Fatalf("%d values, %v", h.TotalCount(), err)
	}
	packed, err := p.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := difference(open(t, packed), h); diff != "" {
		t.Error(diff)
	}
}

// TestBase64Sizes decodes texts of all lengths, whole and with a wrong byte, as encoding/base64
// does.
func TestBase64Sizes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for size := range 300 {
		data := make([]byte, size)
		for n := range data {
			data[n] = byte(r.Uint32())
		}
		text := base64.StdEncoding.AppendEncode(nil, data)
		if got, err := decodeBase64(nil, text); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%d bytes: %v", size, err)
		}
		if size == 0 {
			continue
		}
		at := r.IntN(len(bytes.TrimRight(text, "=")))
		text[at] = "!-_ \n\x00\xff"[r.IntN(7)]
		if got, err := decodeBase64(nil, text); err == nil {
			t.Fatalf("%d bytes with %q at %d: %x", size, text[at], at, got)
		} else if want := fmt.Sprintf("byte %d of %d", at+1, len(text)); !strings.Contains(err.Error(), want) {
			t.Fatalf("%q: %v, want %s", text, err, want)
		}
	}
}

// Histogram returns a new histogram with the counts.
func (p *Payload) Histogram() (*Histogram, error) {
	h := new(Histogram)
	if err := p.Decode(h); err != nil {
		return nil, err
	}
	return h, nil
}
