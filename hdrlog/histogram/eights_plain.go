//go:build !amd64 || purego

package histogram

func hasVectors() bool { return false }

func addEightsBMI(slot, lastSlot *int64, encoded, lastEncoded *byte) (done, slots int, total int64) {
	panic("no such instructions")
}

func addPages(slots, counts *int64, pages int) { panic("no such instructions") }

func sumPages(slots, counts *int64, pages int) { panic("no such instructions") }

func weigh8(counts *int64, steps int, sums, passed *[8]int64) { panic("no such instructions") }
