//go:build !purego

package histogram

import "golang.org/x/sys/cpu"

func hasEightsBMI() bool { return cpu.X86.HasAVX && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 }

// eightsBMI is addEights, but it also takes the numbers before one of several bytes. Slot is the
// first one to add to, and mostSlot the last one at which a step may begin: 8*64 slots from there
// on are counts. Encoded is the first number, and mostEncoded the last byte at which a step may
// begin: 8 bytes from there on are encoded.
//
//go:noescape
func eightsBMI(slot, mostSlot *int64, encoded, mostEncoded *byte) (done, slots int, total int64)
