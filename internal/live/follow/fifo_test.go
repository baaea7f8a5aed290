//go:build unix

package follow

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestFIFO reads two named pipes. The writer of the second comes first.
func TestFIFO(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	must(t, syscall.Mkfifo(a, 0o666))
	must(t, syscall.Mkfifo(b, 0o666))
	r := read(t, func(f *Follower) {
		f.AddFile(a)
		f.AddFile(b)
	})
	for _, path := range []string{b, a} {
		writer, err := os.OpenFile(path, os.O_WRONLY, 0)
		must(t, err)
		_, err = writer.WriteString("one\n")
		must(t, err)
		r.awaitLines(filepath.Base(path), "--", "one")
		must(t, writer.Close())
		r.await("end", func() bool { return r.errs[filepath.Base(path)] == io.EOF })
	}
}

// TestFIFOOfPattern reads a named pipe that a pattern finds. Nobody writes it yet.
func TestFIFOOfPattern(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	must(t, syscall.Mkfifo(path, 0o666))
	r := read(t, func(f *Follower) {
		f.AddMatching(dir, func(string) bool { return true }, nil)
	})
	writer, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = writer.WriteString("one\n")
	must(t, err)
	must(t, writer.Close())
	r.awaitLines("a", "--", "one")
}
