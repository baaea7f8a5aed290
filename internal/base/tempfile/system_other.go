//go:build !unix

package tempfile

import (
	"io/fs"
	"os"
)

func umask() os.FileMode { return 0 }

// keepOwner does nothing: a new file has the owner that its folder gives it.
func keepOwner(*os.File, fs.FileInfo) {}

// runs reports whether there is a process.
func runs(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	p.Release()
	return true
}

// syncFolder does nothing: a folder cannot be synchronized here.
func syncFolder(string) error { return nil }
