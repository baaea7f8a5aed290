package follow

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// breakReads makes reads of the file of an input fail, until the result is called.
func breakReads(t *testing.T, in *Input) (repair func()) {
	in.follower.mu.Lock()
	defer in.follower.mu.Unlock()
	fd := int(in.logs[0].current().file.Fd())
	saved, err := syscall.Dup(fd)
	must(t, err)
	folder, err := os.Open(t.TempDir())
	must(t, err)
	must(t, syscall.Dup3(int(folder.Fd()), fd, 0))
	return func() {
		must(t, syscall.Dup3(saved, fd, 0))
		syscall.Close(saved)
		folder.Close()
	}
}

// TestReadFails: a file that cannot be read for a while is named once, and read on later. It holds
// back nothing meanwhile.
func TestReadFails(t *testing.T) {
	t.Parallel()
	path := file(t, filepath.Join(t.TempDir(), "a"), "one\n")
	r := read(t, func(f *Follower) { f.AddFile(path) })
	r.awaitLines("a", "--", "one")
	in := r.inputs["a"]
	repair := breakReads(t, in)
	extend(t, path, "two\n")
	r.awaitNotice("a cannot be read: is a directory; trying again")
	r.await("the reason", func() bool { return strings.HasSuffix(in.Unread(), "is a directory") && in.AtEnd() })
	repair()
	r.awaitLines("a", "--", "one", "two")
	r.await("no reason", func() bool { return in.Unread() == "" && len(r.notices) == 1 })
}

// TestReadFailsAtTheEnd: what a rotated file has beyond a failure is missing, and the next log is
// read. At a stop, the error ends the input.
func TestReadFailsAtTheEnd(t *testing.T) {
	t.Parallel()
	path := file(t, filepath.Join(t.TempDir(), "a"), "one\n")
	r := read(t, func(f *Follower) { f.AddFile(path) })
	r.awaitLines("a", "--", "one")
	breakReads(t, r.inputs["a"])
	must(t, os.Rename(path, path+".1"))
	file(t, path, "two\n")
	r.awaitLines("a", "--", "one", "--", "two")
	r.awaitNotice("a cannot be read: is a directory; lines that were not read are missing")
	breakReads(t, r.inputs["a"])
	r.awaitNotice("a cannot be read: is a directory; trying again")
	r.Stop()
	r.await("the error", func() bool { return r.errs["a"] != nil && r.errs["a"] != io.EOF && r.errs["a"] != ErrStopped })
	if n := slices.Index(r.lines["a"], "two"); n != len(r.lines["a"])-1 {
		t.Errorf("%q", r.lines)
	}
}
