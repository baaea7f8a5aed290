//go:build unix

package tempfile

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner and the group of another one, as far as this user may.
func keepOwner(f *os.File, of fs.FileInfo) {
	own, err := f.Stat()
	if err != nil {
		return
	}
	is, ok := own.Sys().(*syscall.Stat_t)
	was, both := of.Sys().(*syscall.Stat_t)
	if !ok || !both || is.Uid == was.Uid && is.Gid == was.Gid {
		return
	}
	if f.Chown(int(was.Uid), int(was.Gid)) != nil {
		f.Chown(-1, int(was.Gid))
	}
}

// syncFolder makes what was renamed in a folder survive a loss of power.
func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil // it can be written, and not read
	}
	defer f.Close()
	return syncFile(f)
}
