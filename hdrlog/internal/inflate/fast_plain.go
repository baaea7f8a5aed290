//go:build !amd64 || purego

package inflate

func hasFastBMI() bool { return false }

func fastBMI(s *stream, t *tables) (stop int) { panic("no such instructions") }
