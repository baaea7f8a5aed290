//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package live

import (
	"errors"
	"os"
	"syscall"
)

// locks says that a file stays locked, and so open, while its name changes.
const locks = true

// Lock returns [ErrUsed] if another process has locked the file. File systems without locks do not
// say so. The lock ends when the file is closed.
func Lock(file *os.File) error {
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrUsed
	}
	return nil
}
