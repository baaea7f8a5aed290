//go:build unix

package tempfile

import (
	"os"
	"syscall"
)

// umask returns the permissions that new files do not get. The only way to read the mask is to set
// it.
func umask() os.FileMode {
	mask := syscall.Umask(0)
	syscall.Umask(mask)
	return os.FileMode(mask)
}
