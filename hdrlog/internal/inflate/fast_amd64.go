//go:build !purego

package inflate

import "golang.org/x/sys/cpu"

func hasFastBMI() bool { return cpu.X86.HasBMI2 }

// fastBMI is fast at a distance from the ends of src and dst: at least 8 bytes before the end of
// src, and 17 before that of dst. It requires that many bytes. stop is 0 where fast or symbol must
// continue, the length of a match if the table has no entry for its distance, or -1 if a distance
// reaches before the start.
//
//go:noescape
func fastBMI(s *stream, t *tables) (stop int)

// fillsBMI is fill for several codes of l bits: their reversed bits, and their symbols, whose
// entries are in firsts. It adds the entry of each code to the 4*fours entries at second, and
// writes the sums into lit. They end at the end of lit, since 4*fours << l is the length of lit.
//
//go:noescape
func fillsBMI(lit, second *uint64, fours int, reversed, syms *uint16, codes, l int, firsts *uint64)
