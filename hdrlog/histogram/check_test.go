package histogram

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"hdrkit/hdrlog/internal/logtest"
)

// randomCounts returns encoded counts: most have one byte, and some are invalid.
func randomCounts(random *rand.Rand) []byte {
	var encoded []byte
	for range random.IntN(200) {
		switch random.IntN(40) {
		case 0:
			encoded = appendZigZag(encoded, random.Int64()>>random.IntN(63))
		case 1:
			encoded = appendZigZag(encoded, -random.Int64N(2000)-1)
		case 2:
			encoded = append(encoded, 0xff, 0xff)
		default:
			encoded = append(encoded, byte(random.IntN(128)))
		}
	}
	return encoded
}

// TestCheck compares Check with adding the counts up, for valid and invalid counts.
func TestCheck(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	right := 0
	for range 20000 {
		var d Decoder
		layout := Layout{Digits: random.IntN(4), Lowest: 1}
		p := &Payload{version: 2, layout: layout, decoder: &d, counts: randomCounts(random)}
		p.slots = layout.SlotsFor(1 << (8 + random.IntN(50)))
		sum, err := New(layout)
		if err != nil {
			t.Fatal(err)
		}
		got, want := p.Check(), p.AddTo(sum) // in this order: see Check
		if (want == nil) != (got == nil) || want != nil && want.Error() != got.Error() {
			t.Fatalf("%d slots, % x:\nadded:   %v\nchecked: %v", p.slots, p.counts, want, got)
		}
		var decoded Histogram
		if err := p.Decode(&decoded); (err == nil) != (want == nil) || err != nil && err.Error() != want.Error() {
			t.Fatalf("%d slots, % x:\nadded:   %v\ndecoded: %v", p.slots, p.counts, want, err)
		} else if diff := difference(&decoded, sum); want == nil && diff != "" {
			t.Fatalf("%d slots, % x: %s", p.slots, p.counts, diff)
		} else if highest, count, err := p.MaxAndCount(); want == nil && (highest != sum.Max() || count != sum.total || err != nil) {
			t.Fatalf("%d slots, % x: %d values up to %d, %v", p.slots, p.counts, count, highest, err)
		}
		if got == nil {
			right++
		}
	}
	if right < 1000 {
		t.Errorf("only %d were right", right)
	}
}

// TestRunsWrap proves that no runs of empty slots that add up to 2^64 pass as none.
func TestRunsWrap(t *testing.T) {
	layout := Layout{Digits: 1, Lowest: 1}
	p := &Payload{version: 2, layout: layout, decoder: new(Decoder), slots: layout.SlotsFor(1 << 5)}
	p.counts = appendZigZag(nil, -60) // more than there are
	for _, run := range []int64{1 << 62, 1 << 62, 1 << 62, 1<<62 - 60} {
		p.counts = appendZigZag(p.counts, -run)
	}
	p.counts = append(p.counts, 2) // 1
	if err := p.Decode(new(Histogram)); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
}

// TestPlain reopens the results of AppendBinary.
func TestPlain(t *testing.T) {
	paths, err := filepath.Glob("../../testdata/dialects/*payload*")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../../testdata/logs/*.hdr")
	if err != nil {
		t.Fatal(err)
	}
	versions := make(map[[3]any]int)
	for _, path := range append(paths, more...) {
		for n, text := range logtest.Payloads(t, path) {
			if n >= 10 && n%5 >= logtest.Rounds(5) {
				continue
			}
			var d, plain Decoder
			p, err := d.Open(text)
			if err != nil {
				continue
			}
			double, compressed, _ := Peek(text)
			if double != (p.layout.Ratio != 0) {
				t.Errorf("%s: Peek takes the one kind for the other: %s", path, text)
			}
			checkCutShort(t, text, compressed)
			versions[[3]any{p.version, double, compressed}]++
			binary, err := p.AppendBinary(nil)
			if err != nil {
				t.Fatal(err)
			}
			again, err := plain.OpenBinary(binary)
			if err != nil {
				t.Fatal(err)
			}
			if again.version != 2 || len(binary) > len(p.plain)+16 && p.version == 2 {
				t.Errorf("%s: version %d, %d bytes for %d of text", path, again.version, len(binary), len(text))
			}
			want, err := p.Histogram()
			if err != nil {
				t.Fatal(err)
			}
			got, err := again.Histogram()
			if err != nil {
				t.Fatal(err)
			}
			if got.Layout() != want.Layout() || !slices.Equal(slices.Collect(got.Recorded()), slices.Collect(want.Recorded())) {
				t.Errorf("%s: %v is not %v", path, got, want)
			}
		}
	}
	if len(versions) < 7 {
		t.Errorf("only these versions, doubles and compressed: %v", versions)
	}
	for _, text := range []string{"", "HIST", "????????", "AAAAAAAA"} {
		if double, compressed, length := Peek([]byte(text)); double || compressed || length != 0 {
			t.Errorf("Peek takes %q for a payload", text)
		}
	}
}

// checkCutShort cuts a payload short at some places. The last ones cut the padding only.
func checkCutShort(t *testing.T, text []byte, compressed bool) {
	t.Helper()
	whole := len(bytes.TrimRight(text, "="))
	for size := len(text); size >= 8; size -= 1 + (len(text)-size)/16 {
		if _, _, length := Peek(text[:size]); compressed && (length > int64(size)) != (size < whole) || !compressed && length != 0 && length != int64(whole) {
			t.Errorf("Peek returns %d for %d of %d characters: %s", length, size, len(text), text)
		}
	}
}
