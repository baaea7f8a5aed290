package histogram

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"hdrkit/hdrlog/internal/logtest"
)

// manySlots is a limit of the slots of a payload: more would take too much memory and time.
const manySlots = 1 << 18

// Making them for each input would take longer than the test.
var (
	fuzzEncoder Encoder
	fuzzDecoder Decoder
)

// check opens a payload, adds it to sums, encodes it again, and checks all results against each
// other.
func check(t *testing.T, packed []byte) {
	var d Decoder
	p, err := d.OpenBinary(packed)
	if err != nil {
		isTyped(t, err)
		return
	}
	if p.slots > manySlots {
		return
	}
	h, err := p.Histogram()
	if err != nil {
		isTyped(t, err)
	}
	for _, layout := range []Layout{p.layout, {Digits: 2, Lowest: 4, Ratio: p.layout.Ratio}, {Digits: 3, Lowest: 1, Ratio: min(1, p.layout.Ratio)}, {Digits: 3, Lowest: 1}} {
		sum := newHistogram(t, layout)
		record(t, sum, 1, 2)
		record(t, sum, 1<<45, 1)
		before := sum.Clone()
		addErr := p.AddTo(sum)
		if addErr != nil {
			isTyped(t, addErr)
			if diff := difference(sum, before); diff != "" {
				t.Fatalf("%v, but the sum is changed: %s", addErr, diff)
			}
			if err == nil && !errors.Is(addErr, ErrKind) && !errors.Is(addErr, ErrSpan) && !errors.Is(addErr, ErrOverflow) {
				t.Fatalf("a sum refuses what is right alone: %v", addErr)
			}
			continue
		}
		if err != nil {
			t.Fatalf("a sum takes what is refused alone: %v", err)
		}
		if err := before.Add(h); err != nil {
			t.Fatal(err)
		}
		if diff := difference(sum, before); diff != "" {
			t.Fatalf("sum of %+v: %s", layout, diff)
		}
	}
	if err != nil {
		return
	}

	// A payload with more or fewer bytes is invalid.
	for _, changed := range [][]byte{append(bytes.Clone(packed), 1), append(bytes.Clone(packed), 1, 1, 1, 1, 1, 1, 1, 1), packed[:len(packed)-1]} {
		if q, err := fuzzDecoder.OpenBinary(changed); err == nil && q.Check() == nil {
			t.Fatalf("% x is as good as % x", changed, packed)
		}
	}

	again, err := fuzzEncoder.Encode(h)
	if err != nil {
		if !errors.Is(err, ErrSpan) || !h.Double() {
			t.Fatal(err)
		}
		return
	}
	want := h
	if h.Double() && p.layout.Lowest != 1 {
		// Double histograms are written with a lowest value of 1.
		want = newHistogram(t, Layout{Digits: p.layout.Digits, Lowest: 1, Ratio: p.layout.Ratio})
		if err := want.Add(h); err != nil {
			t.Fatal(err)
		}
	}
	if diff := difference(open(t, again), want); diff != "" {
		t.Fatalf("encoded again: %s", diff)
	}
}

func isTyped(t *testing.T, err error) {
	for _, want := range []error{
		ErrBase64, ErrHeader, ErrTruncated, ErrTooLong, ErrCorrupt, ErrChecksum, ErrNegativeCount,
		ErrOverflow, ErrKind, ErrSpan,
	} {
		if errors.Is(err, want) {
			return
		}
	}
	t.Fatalf("an error of no kind: %v", err)
}

// agree compares the counts of a plain payload of version 2 with those that hdrhistogram-go
// decodes.
func agree(t *testing.T, plain []byte) {
	if len(plain) < headerSize || cookieBase(binary.BigEndian.Uint32(plain)) != cookieV2 {
		return
	}
	layout := Layout{Digits: int(int32(binary.BigEndian.Uint32(plain[12:]))), Lowest: int64(binary.BigEndian.Uint64(plain[16:]))}
	highest := int64(binary.BigEndian.Uint64(plain[24:]))
	switch {
	case layout.Validate() != nil || layout.Lowest < 1 || highest/2 < layout.Lowest:
		// Hdrhistogram-go reads a lowest value below 1 as 1, and accepts any highest value.
		// The constructor of the reference, and this package, refuse them:
		// "lowestDiscernibleValue must be >= 1", "highestTrackableValue must be >= 2 *
		// lowestDiscernibleValue".
		return
	case layout.Lowest >= 1<<49:
		// Here, hdrhistogram-go rounds the logarithm of the lowest value up.
		return
	case layout.SlotsFor(highest) > manySlots:
		return
	}
	if offset := int(int32(binary.BigEndian.Uint32(plain[8:]))); max(offset, -offset) > layout.SlotsFor(highest) {
		return // The reference cannot read it.
	}
	packed := compress(plain)
	theirs, theirErr := hdrhistogram.Decode([]byte(base64.StdEncoding.EncodeToString(packed)))
	var d Decoder
	sum := newHistogram(t, layout)
	err := decodeInto(&d, sum, packed)
	if (err == nil) != (theirErr == nil) {
		t.Fatalf("we say %v, hdrhistogram-go says %v", err, theirErr)
	}
	if err != nil {
		return
	}
	counts := theirs.Export().Counts
	if theirs.TotalCount() != sum.TotalCount() || len(counts) != layout.SlotsFor(highest) {
		t.Fatalf("%d values in up to %d slots, hdrhistogram-go says %d in %d", sum.TotalCount(), layout.SlotsFor(highest), theirs.TotalCount(), len(counts))
	}
	for bucket := range sum.Recorded() {
		if index := layout.IndexOf(bucket.Low); counts[index] != bucket.Count {
			t.Fatalf("%+v at slot %d, hdrhistogram-go says %d", bucket, index, counts[index])
		}
	}
}

// inflated returns the plain payload in a compressed one, or nil for a double histogram.
func inflated(t testing.TB, text []byte) []byte {
	t.Helper()
	var d Decoder
	p, err := d.Open(text)
	if err != nil {
		t.Fatal(err)
	}
	if p.layout.Ratio != 0 {
		return nil
	}
	return bytes.Clone(d.raw[:headerSize+len(p.counts)])
}

// Hdrhistogram-go decodes the same counts from all logs.
func TestAgreesOnLogs(t *testing.T) {
	n := 0
	for k, text := range logPayloads(t, "*.hdr") {
		if k%5 >= logtest.Rounds(5) {
			continue
		}
		if plain := inflated(t, text); plain != nil {
			agree(t, plain)
			check(t, plain)
			n++
		}
	}
	if n < logtest.Rounds(800) {
		t.Errorf("only %d payloads", n)
	}
}

func FuzzOpen(f *testing.F) {
	for _, text := range append(logPayloads(f, "digits1.hdr"), logPayloads(f, "double.hdr")[0]) {
		packed, err := base64.StdEncoding.DecodeString(string(text))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packed)
	}
	plain := header{version: 1, word: 2, digits: 1, lowest: 1, highest: 31}.plain(words(2, 1, 0, 3))
	f.Add(plain)
	f.Add(compress(plain))
	f.Add(header{version: 0, word: 4, digits: 0, lowest: 7}.plain(words(4, 1, 0, 3)))
	f.Add(double(3, header{version: 2, digits: 3, lowest: 1, ratio: 0.25}.plain(zigZags(1, -5, 3))))
	f.Add(double(3, header{version: 2, digits: 3, lowest: 5, ratio: math.SmallestNonzeroFloat64}.plain(zigZags(1, -5, 3))))
	f.Fuzz(check)
}

// FuzzPlain corrupts payloads before they are compressed, so that the checksum is right.
func FuzzPlain(f *testing.F) {
	for _, pattern := range []string{"digits1.hdr", "huge-counts.hdr", "tiny-values.hdr"} {
		for _, text := range logPayloads(f, pattern) {
			f.Add(inflated(f, text))
		}
	}
	f.Add(header{version: 2, digits: 1, lowest: 1, highest: 31}.plain(zigZags(1, -5, 3, math.MaxInt64-4)))
	f.Add(header{version: 2, digits: 0, lowest: 1, highest: 2}.plain(zigZags(1, 5)))
	f.Add(header{version: 0, word: 2, digits: 1, lowest: 3, highest: 31}.plain(words(2, 1, 0, 3)))
	f.Fuzz(func(t *testing.T, plain []byte) {
		check(t, compress(plain))
		check(t, double(3, compress(plain)))
		agree(t, plain)
	})
}

func FuzzBase64(f *testing.F) {
	f.Add([]byte("HISTFAAAACB42pNpmSzMwMDAwgABTFCaEca3/wBhCGnxyAAARYwC4w=="))
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.ContainsAny(text, "\r\n") {
			return // encoding/base64 skips line breaks, and a line of a log has none
		}
		var d Decoder
		p, err := d.Open(text)
		want, wantErr := base64.StdEncoding.DecodeString(string(text))
		if wantErr != nil {
			if err != nil {
				isTyped(t, err)
			}
			return
		}
		q, wantErr := new(Decoder).OpenBinary(want)
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Fatalf("got %v, want %v", err, wantErr)
		}
		if err == nil && (p.layout != q.layout || !bytes.Equal(p.counts, q.counts)) {
			t.Fatalf("got %+v, want %+v", p, q)
		}
	})
}
