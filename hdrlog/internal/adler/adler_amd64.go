//go:build !purego

package adler

import "golang.org/x/sys/cpu"

func hasVectors() bool { return cpu.X86.HasAVX2 }

// sums returns, for blocks of 32 bytes from p on: the sum of all bytes; the sum of the sums of all
// bytes before each block; and the sum of the bytes, each weighted by 32 for the first of its block
// down to 1 for the last. It requires 1 to maxBlocks blocks.
//
//go:noescape
func sums(p *byte, blocks int) (sum, before, weighted uint64)
