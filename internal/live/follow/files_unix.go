//go:build unix

package follow

import (
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
