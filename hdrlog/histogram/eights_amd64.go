//go:build !purego

package histogram

import "golang.org/x/sys/cpu"

func hasVectors() bool { return cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 }

// eightsBMI is addEights, but it also takes the numbers before one of several bytes. Slot is the
// first one to add to, and mostSlot the last one at which a step may begin: 8*64 slots from there
// on are counts. Encoded is the first number, and mostEncoded the last byte at which a step may
// begin: 8 bytes from there on are encoded.
//
//go:noescape
func eightsBMI(slot, mostSlot *int64, encoded, mostEncoded *byte) (done, slots int, total int64)

// addPages adds pages of 64 counts to as many slots.
//
//go:noescape
func addPages(slots, counts *int64, pages int)

// sumPages adds the sum of each page of 64 counts to a slot.
//
//go:noescape
func sumPages(slots, counts *int64, pages int)

// weigh8 passes over steps of eight counts. Sums gets the sum of the first, the second and so on of
// all eights, and passed the sum of what sums was after each step.
//
//go:noescape
func weigh8(counts *int64, steps int, sums, passed *[8]int64)
