//go:build !purego

package inflate

import "golang.org/x/sys/cpu"

func hasFastBMI() bool { return cpu.X86.HasBMI2 }

// fastBMI is the part of fast that is well inside of src and dst: at least 8 bytes before the end
// of src, and 17 before that of dst. It requires as many. It returns 0 where fast or symbol must go
// on, and otherwise what stopped it: the length of a match whose distance has no entry in the
// table, or -1 if a distance reaches before the start.
//
//go:noescape
func fastBMI(s *stream, t *tables) (stop int)

// fillsBMI is fill for several codes of l bits: their reversed bits, and their symbols, whose
// entries are in firsts. It puts the 4*fours entries at second, plus that of the code, into lit.
// They end at the end of lit, since 4*fours << l is its length.
//
//go:noescape
func fillsBMI(lit, second *uint64, fours int, reversed, syms *uint16, codes, l int, firsts *uint64)
