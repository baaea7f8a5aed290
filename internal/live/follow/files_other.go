//go:build !unix

package follow

import (
	"io/fs"
	"math"
)

// openFiles returns the number of files that the system lets this process open.
func openFiles() int64 { return math.MaxInt32 }

// isRemoved reports whether no name leads to a file any more. An open file keeps its name.
func isRemoved(fs.FileInfo) bool { return false }
