//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package live

import (
	"errors"
	"os"
	"syscall"
)

// locks reports whether an open and locked file can get another name.
const locks = true

// Lock locks a file. It returns [ErrUsed] if another process has locked the file. On file systems
// without locks it does nothing. The lock ends when the file is closed.
func Lock(file *os.File) error {
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrUsed
	}
	return nil
}
