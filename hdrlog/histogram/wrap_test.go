package histogram

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"
)

// TestCheckWraps proves that a total that exceeds an int64 twice is found.
func TestCheckWraps(t *testing.T) {
	count := func(to []byte, n int64) []byte {
		v := uint64(n) << 1
		for range 8 {
			if v < 0x80 {
				return append(to, byte(v))
			}
			to, v = append(to, byte(v)|0x80), v>>7
		}
		return append(to, byte(v))
	}
	counts := count(nil, math.MaxInt64-10)
	for range 8 {
		counts = count(counts, 10)
	}
	counts = count(counts, math.MaxInt64)
	plain := binary.BigEndian.AppendUint32(nil, 0x1c849303)
	plain = binary.BigEndian.AppendUint32(plain, uint32(len(counts)))
	plain = binary.BigEndian.AppendUint32(plain, 0)
	plain = binary.BigEndian.AppendUint32(plain, 3)
	plain = binary.BigEndian.AppendUint64(plain, 1)
	plain = binary.BigEndian.AppendUint64(plain, 1<<20)
	plain = binary.BigEndian.AppendUint64(plain, math.Float64bits(1))
	p, err := new(Decoder).OpenBinary(append(plain, counts...))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(); !errors.Is(err, ErrOverflow) {
		t.Errorf("Check: %v", err)
	}
	if highest, count, err := p.MaxAndCount(); !errors.Is(err, ErrOverflow) {
		t.Errorf("MaxAndCount: %d, %d, %v", highest, count, err)
	}
	if _, err := p.AppendBinary(nil); !errors.Is(err, ErrOverflow) {
		t.Errorf("AppendBinary: %v", err)
	}
	if err := p.Decode(new(Histogram)); !errors.Is(err, ErrOverflow) {
		t.Errorf("Decode: %v", err)
	}
}
