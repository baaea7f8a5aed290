//go:build unix

package scan

import (
	"io/fs"
	"syscall"
)

// Identity returns the device and the number of a file there, 0 if they are unknown. Two files that
// exist have not both in common.
func Identity(info fs.FileInfo) (device, file uint64) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Dev), uint64(s.Ino)
	}
	return 0, 0
}
