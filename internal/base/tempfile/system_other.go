//go:build !unix

package tempfile

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: a new file has the owner that its folder gives it.
func keepOwner(*os.File, fs.FileInfo) {}

// syncFolder does nothing: a folder cannot be synchronized here.
func syncFolder(string) error { return nil }
