//go:build !amd64 || purego

package adler

func hasVectors() bool { return false }

func sums(p *byte, blocks int) (sum, before, weighted uint64) { panic("no vector instructions") }
