package deflate

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// size returns the size of symbols with sorted counts and this number of codes of each length, and
// the share of the codes of maxLength bits.
func size(counts []uint32, numbers [64]int) (size, share int) {
	for length := maxLength; length > 0; length-- {
		for range numbers[length] {
			size += length * int(counts[0])
			share += 1 << (maxLength - length)
			counts = counts[1:]
		}
	}
	return size, share
}

// TestPackageMerge compares codes with a limit with optimal codes that happen to keep it, and makes
// codes with limits that optimal codes exceed.
func TestPackageMerge(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for range 3000 {
		var counts [numSymbols]uint32
		used := 2 + r.IntN(1+r.IntN(numSymbols-1))
		for i := range used {
			counts[i] = 1 + uint32(r.ExpFloat64()*float64(uint(1)<<r.IntN(12)))
		}
		var c code
		c.build(counts[:], 63)
		sorted := slices.Sorted(slices.Values(counts[:used]))
		keys := make([]uint32, used)
		for i, n := range sorted {
			keys[i] = n << symbolBits
		}
		shortest := 1
		for 1<<shortest < used {
			shortest++
		}
		last := 0
		for limit := maxLength; limit >= shortest; limit-- {
			got, share := size(sorted, packageMerge(keys, limit))
			if share != 1<<maxLength {
				t.Fatalf("%d of at most %d bits: the code is not complete", sorted, limit)
			}
			if got < last || limit >= c.longest && got != c.size {
				t.Fatalf("%d of at most %d bits: %d bits, with one bit more %d, without a limit %d bits in codes of up to %d",
					sorted, limit, got, last, c.size, c.longest)
			}
			last = got
		}
	}
}

// TestLongCodes writes long codes one after the other, at each place in a byte.
func TestLongCodes(t *testing.T) {
	var c checker
	for _, longest := range []int{12, 13, 14, 15} {
		// With the end of the block, 16 symbols occur once. Each further one occurs as
		// often as all before it.
		var rare, often []byte
		for symbol := range 15 {
			rare = append(rare, byte(symbol))
		}
		for depth := range longest - 4 {
			for range 16 << depth {
				often = append(often, byte(100+depth))
			}
		}
		bits := often[len(often)-100:] // one bit each
		often = often[:len(often)-100]
		for shift := range 64 {
			before, between := shift%8, shift/8
			raw := slices.Concat(bits[:before], rare[:3], bits[before:][:between], rare[3:], bits[before+between:], often)
			c.check(t, raw)
			if got := c.w.block.code.longest; got != longest {
				t.Errorf("%d bits, want %d", got, longest)
			}
		}
	}
}
