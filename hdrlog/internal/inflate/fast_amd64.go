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
