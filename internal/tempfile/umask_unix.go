//go:build unix

package tempfile

import (
	"os"
	"syscall"
)

// umask returns the permissions that new files do not get. Asking sets it, so it is put back at once.
func umask() os.FileMode {
	mask := syscall.Umask(0)
	syscall.Umask(mask)
	return os.FileMode(mask)
}
