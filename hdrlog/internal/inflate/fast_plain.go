//go:build !amd64 || purego

package inflate

func hasFastBMI() bool { return false }

func fastBMI(s *stream, t *tables) (stop int) { panic("no such instructions") }

func fillsBMI(lit, second *uint64, fours int, reversed, syms *uint16, codes, l int, firsts *uint64) {
	panic("no such instructions")
}
