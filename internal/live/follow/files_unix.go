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

// isRemoved reports whether no name leads to a file any more.
func isRemoved(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink == 0
}
