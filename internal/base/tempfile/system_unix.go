//go:build unix

package tempfile

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives f the owner and the group of another file, as far as this user may do that.
func keepOwner(f *os.File, of fs.FileInfo) {
	info, err := f.Stat()
	if err != nil {
		return
	}
	has, known := info.Sys().(*syscall.Stat_t)
	wanted, both := of.Sys().(*syscall.Stat_t)
	if !known || !both || has.Uid == wanted.Uid && has.Gid == wanted.Gid {
		return
	}
	if f.Chown(int(wanted.Uid), int(wanted.Gid)) != nil {
		f.Chown(-1, int(wanted.Gid))
	}
}

// syncFolder makes the renames in a folder survive a loss of power.
func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil // such as a folder that can be written and not read
	}
	defer f.Close()
	return syncFile(f)
}
