//go:build !unix

package tempfile

import "os"

func umask() os.FileMode { return 0 }
