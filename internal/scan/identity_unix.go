//go:build unix

package scan

import (
	"io/fs"
	"syscall"
)

// Identity returns the number of the device of a file and the number of the file on this device.
// Both are 0 if they are unknown. Two existing files never have both numbers in common.
func Identity(info fs.FileInfo) (device, file uint64) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Dev), uint64(s.Ino)
	}
	return 0, 0
}
