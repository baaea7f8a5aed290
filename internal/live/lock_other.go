//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package live

import "os"

// locks reports whether an open and locked file can get another name.
const locks = false

// Lock does nothing.
func Lock(*os.File) error { return nil }
