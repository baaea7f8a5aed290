//go:build !purego

package histogram

import "golang.org/x/sys/cpu"

func hasVectors() bool { return cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 }

// addEightsBMI is addEights, but it also adds the numbers before a number of several bytes. slot is
// the first slot to add to, and lastSlot the last slot at which a step may begin: 8*64 slots from
// there on are counts. encoded is the first number, and lastEncoded the last byte at which a step
// may begin: 8 bytes from there on are encoded. It returns the number of bytes and of slots that it
// passed, and the sum of the counts.
//
//go:noescape
func addEightsBMI(slot, lastSlot *int64, encoded, lastEncoded *byte) (done, slots int, total int64)

// addPages adds the counts of pages, 64 counts each, to the same number of slots.
//
//go:noescape
func addPages(slots, counts *int64, pages int)

// sumPages adds the sum of each page, 64 counts, to one slot.
//
//go:noescape
func sumPages(slots, counts *int64, pages int)

// weigh8 passes over steps times eight counts. sums[i] becomes the sum of the counts at place i of
// all eights, and passed[i] the sum of the values that sums[i] has after each step.
//
//go:noescape
func weigh8(counts *int64, steps int, sums, passed *[8]int64)
