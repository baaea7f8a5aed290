package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hdrkit/internal/cli"
	"hdrkit/internal/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m, "hdrsplit", main) }

func TestScripts(t *testing.T) { clitest.Run(t) }

// TestFullDisk writes to a file system that is too small, which leaves the files that were there, and nothing else.
func TestFullDisk(t *testing.T) {
	folder := clitest.SmallDisk(t)
	old := filepath.Join(folder, "insert-rt.node1.hdr")
	if err := os.WriteFile(old, []byte("as it was"), 0o666); err != nil {
		t.Fatal(err)
	}
	logs := []string{testdata + "/logs/node1.hdr", testdata + "/logs/node2.hdr", testdata + "/logs/node3.hdr"}
	stderr, status := hdrsplit(t, append(logs, "-od", folder)...)
	if status != cli.Failed || !strings.Contains(stderr, "no space left on device") {
		t.Errorf("exit status %d: %s", status, stderr)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(old); len(entries) != 1 || string(text) != "as it was" {
		t.Errorf("%d files, and the old one holds %d bytes", len(entries), len(text))
	}
}

// TestRename has a folder come to be where the second of two parts goes, while the log is read: the first one's place holds
// what it did.
func TestRename(t *testing.T) {
	t.Chdir(t.TempDir())
	old, taken := "A.stdin.hdr", "B.stdin.hdr"
	if err := os.WriteFile(old, []byte("as it was"), 0o666); err != nil {
		t.Fatal(err)
	}
	log := "Tag=A,0.000,1.000,0.000,HIST\nTag=B,0.000,1.000,0.000,HIST\nTag=C,0.000,1.000,0.000,HIST\n"
	input := io.MultiReader(strings.NewReader(log), readerFunc(func() error { return os.Mkdir(taken, 0o777) }))
	stderr, status := hdrsplitFrom(t, input, "-j", "1", "-if", "-")
	if status != cli.Failed || !strings.Contains(stderr, taken) {
		t.Errorf("exit status %d: %s", status, stderr)
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(old); len(entries) != 2 || string(text) != "as it was" {
		t.Errorf("%d files, and the old one holds %q", len(entries), text)
	}
}

// readerFunc is a reader that does something instead of reading.
type readerFunc func() error

func (f readerFunc) Read([]byte) (int, error) {
	if err := f(); err != nil {
		return 0, err
	}
	return 0, io.EOF
}
