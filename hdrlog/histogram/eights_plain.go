//go:build !amd64 || purego

package histogram

func hasEightsBMI() bool { return false }

func eightsBMI(slot, mostSlot *int64, encoded, mostEncoded *byte) (done, slots int, total int64) {
	panic("no such instructions")
}
