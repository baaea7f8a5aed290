// Package tempfile keeps account of the files that are being written beside their places, so that they are renamed there all
// together or removed, whatever ends the program.
package tempfile

import (
	"os"
	"path/filepath"
	"sync"
)

var (
	// mu is held while files come into being and while they go, so that Abandon comes before or after.
	mu    sync.Mutex
	files = make(map[string]bool) // by path
)

// Beside creates a file in the folder of target, with the permissions that target has, or that it would get.
func Beside(target string) (*os.File, error) {
	mu.Lock()
	defer mu.Unlock()
	// The name is none that target could have been cut from: that may be as long as a name can be.
	f, err := os.CreateTemp(filepath.Dir(target), ".hdrkit-*.tmp")
	if err != nil {
		return nil, err
	}
	files[f.Name()] = true
	if err := f.Chmod(mode(target)); err != nil {
		f.Close()
		remove(f.Name())
		return nil, err
	}
	return f, nil
}

// Scratch creates a file for what does not fit memory, in the folder for such files. It has no name if the system allows
// that; otherwise Remove takes it away.
func Scratch() (*os.File, error) {
	mu.Lock()
	defer mu.Unlock()
	f, err := os.CreateTemp("", "hdrkit-*.tmp")
	if err != nil {
		return nil, err
	}
	if os.Remove(f.Name()) != nil {
		files[f.Name()] = true
	}
	return f, nil
}

// A Move is a file of Beside's and its place.
type Move struct{ From, To string }

// Rename puts files in their places. If one cannot be, it stops there, and the rest are still to be removed.
func Rename(moves ...Move) error {
	mu.Lock()
	defer mu.Unlock()
	for _, m := range moves {
		if err := os.Rename(m.From, m.To); err != nil {
			return err
		}
		delete(files, m.From)
	}
	return nil
}

// Remove removes a file unless it was renamed.
func Remove(path string) {
	mu.Lock()
	defer mu.Unlock()
	remove(path)
}

func remove(path string) {
	if files[path] {
		os.Remove(path)
		delete(files, path)
	}
}

// Abandon removes all files that were not renamed. There can be no more after it: who calls it ends the program.
func Abandon() {
	mu.Lock()
	for path := range files {
		os.Remove(path)
	}
}

// mode returns the permissions of the file that is replaced, or those of a new one.
func mode(path string) os.FileMode {
	if info, err := os.Stat(path); err == nil {
		return info.Mode().Perm()
	}
	return 0o666 &^ umask()
}
