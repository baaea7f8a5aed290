//go:build !unix

package scan

import "io/fs"

// Identity returns zeros, since this system does not number files.
func Identity(fs.FileInfo) (device, file uint64) { return 0, 0 }
