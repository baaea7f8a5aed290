//go:build unix

package follow

import (
	"io/fs"
	"math"
	"syscall"
)

// openFiles returns the number of files that the system lets this process open.
func openFiles() int64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > math.MaxInt32 {
		return math.MaxInt32
	}
	return int64(limit.Cur)
}

func identity(info fs.FileInfo) ID {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return ID{uint64(s.Dev), uint64(s.Ino)}
	}
	return ID{}
}
