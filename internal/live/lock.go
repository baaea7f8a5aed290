//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package live

import (
	"errors"
	"os"
	"syscall"
)

// lock returns an error if another process has locked the file. File systems without locks do not
// say so. The lock ends when the file is closed.
func lock(file *os.File) error {
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return errUsed
	}
	return nil
}
