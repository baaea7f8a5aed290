package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hdrkit/internal/cli"
	"hdrkit/internal/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m, "hdrsplit", main) }

func TestScripts(t *testing.T) { clitest.Run(t) }

// TestFullDisk writes to a file system that is too small, which leaves the files that were there, and nothing else.
func TestFullDisk(t *testing.T) {
	clitest.FullDisk(t, "insert-rt.node1.hdr", func(folder string) (stderr string, status int) {
		logs := []string{testdata + "/logs/node1.hdr", testdata + "/logs/node2.hdr", testdata + "/logs/node3.hdr"}
		return hdrsplit(t, append(logs, "-od", folder)...)
	})
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

// TestMemory has a long comment follow the intervals of many tags, which all of their parts get.
func TestMemory(t *testing.T) {
	const tags, comment = 200, 400 << 10
	var log strings.Builder
	for n := range tags {
		fmt.Fprintf(&log, "Tag=%d,0.000,1.000,0.000,HIST\n", n)
	}
	log.WriteString("#" + strings.Repeat("x", comment) + "\n")
	folder := t.TempDir()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if stderr, status := hdrsplitFrom(t, strings.NewReader(log.String()), "-if", "-", "-od", folder); status != cli.OK {
		t.Fatalf("exit status %d: %s", status, stderr)
	}
	runtime.ReadMemStats(&after)
	if took := int64(after.HeapSys) - int64(before.HeapSys); took > tags*comment/2 {
		t.Errorf("%d bytes of memory were taken for the parts, which have %d together", took, tags*comment)
	}
	info, err := os.Stat(filepath.Join(folder, "199.stdin.hdr"))
	if err != nil || info.Size() < comment {
		t.Errorf("the last part lacks the comment: %v", err)
	}
}
