// Package tempfile keeps account of the files that are being written beside their places, so that they are renamed there all
// together or removed, whatever ends the program.
package tempfile

import (
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

var (
	// mu is held while files come into being and while they go, so that Abandon comes before or after.
	mu    sync.Mutex
	files = make(map[string]bool) // by path
	// folders are those that were made for files to come.
	folders []string
)

// maxLinks is how many symbolic links may lead to a file, as in Linux.
const maxLinks = 40

// Place returns where the file is, or would be, that path names: path itself, unless it is a symbolic link, which must stay
// when the file behind it is replaced. What is neither a file nor missing is not looked for: it cannot be replaced.
func Place(path string) (string, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return path, nil
	}
	place := path
	for range maxLinks {
		link, err := os.Readlink(place)
		if err != nil {
			return place, nil // not a link
		}
		if !filepath.IsAbs(link) {
			// It counts from the folder where the link is. To find .. in it by the names alone would be wrong where that is
			// behind a link itself.
			folder, _ := filepath.Split(place)
			link = folder + link
		}
		folder, name := filepath.Split(link)
		if real, err := filepath.EvalSymlinks(folder); folder != "" && err == nil {
			link = filepath.Join(real, name)
		}
		place = link
	}
	return "", &fs.PathError{Op: "open", Path: path, Err: syscall.ELOOP}
}

// Beside creates a file in the folder of target, with the permissions that target has, or that it would get.
//
// From then on, to write to a pipe that nobody reads any more is an error, as to any file: otherwise a message on standard
// error would end the program, and the file would stay.
func Beside(target string) (*os.File, error) {
	signal.Ignore(syscall.SIGPIPE)
	mu.Lock()
	defer mu.Unlock()
	// The name is none that target could have been cut from: that may be as long as a name can be.
	f, err := os.CreateTemp(filepath.Dir(target), ".hdrkit-*.tmp")
	if err != nil {
		return nil, Blame(err, target)
	}
	files[f.Name()] = true
	if err := f.Chmod(mode(target)); err != nil {
		f.Close()
		remove(f.Name())
		return nil, Blame(err, target)
	}
	return f, nil
}

// Blame returns err, which the system has returned for a file of Beside's, as one of its target: the file's own name tells
// people nothing.
func Blame(err error, target string) error {
	switch e := err.(type) {
	case *fs.PathError:
		return &fs.PathError{Op: e.Op, Path: target, Err: e.Err}
	case *os.LinkError:
		return &fs.PathError{Op: e.Op, Path: target, Err: e.Err}
	}
	return err
}

// Mkdir makes a folder, which Abandon removes if it is empty then.
func Mkdir(path string) error {
	mu.Lock()
	defer mu.Unlock()
	if err := os.Mkdir(path, 0o777); err != nil {
		return err
	}
	folders = append(folders, path)
	return nil
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

// Rename puts files in their places, all of them: if one cannot be, those before it give way again to what was there, and
// the rest are still to be removed.
func Rename(moves ...Move) error {
	mu.Lock()
	defer mu.Unlock()
	for n, m := range moves {
		var err error
		if n < len(moves)-1 { // nothing can fail after the last
			err = m.keepOld()
		}
		if err == nil {
			err = os.Rename(m.From, m.To)
		}
		if err != nil {
			os.Rename(m.old(), m.To) // which had to give up its name, perhaps
			os.Remove(m.old())
			for _, done := range moves[:n] {
				done.undo()
			}
			return Blame(err, m.To)
		}
		delete(files, m.From)
	}
	for _, m := range moves {
		os.Remove(m.old())
	}
	return nil
}

// old returns the name that a file which is replaced has until all are.
func (m Move) old() string { return strings.TrimSuffix(m.From, ".tmp") + ".old" }

// keepOld gives the file that is to be replaced, if there is one, that name too, or instead where a file cannot have two.
func (m Move) keepOld() error {
	if info, err := os.Lstat(m.To); err != nil || info.IsDir() {
		return nil // no file can take the place of a folder, of which os.Rename tells
	}
	if os.Link(m.To, m.old()) == nil {
		return nil
	}
	return os.Rename(m.To, m.old())
}

// undo puts back what was there before, which may be nothing.
func (m Move) undo() {
	if err := os.Rename(m.old(), m.To); errors.Is(err, fs.ErrNotExist) {
		os.Remove(m.To)
	}
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

// Abandon removes all files that were not renamed, and folders that were made and are empty. There can be no more after it:
// who calls it ends the program.
func Abandon() {
	mu.Lock()
	for path := range files {
		os.Remove(path)
	}
	for _, path := range folders {
		os.Remove(path) // which does nothing if files are in it
	}
}

// mode returns the permissions of the file that is replaced, or those of a new one.
func mode(path string) os.FileMode {
	if info, err := os.Stat(path); err == nil {
		return info.Mode().Perm()
	}
	return 0o666 &^ umask()
}
