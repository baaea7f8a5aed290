package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hdrkit/internal/base/message"
	"hdrkit/internal/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m, "hdrsplit", main) }

func TestScripts(t *testing.T) { clitest.Run(t) }

// TestFullDisk writes to a file system that is too small. The old files stay, and nothing else.
func TestFullDisk(t *testing.T) {
	clitest.FullDisk(t, "insert-rt.node1.hdr", func(folder string) (stderr string, status int) {
		logs := []string{testdata + "/logs/node1.hdr", testdata + "/logs/node2.hdr", testdata + "/logs/node3.hdr"}
		return hdrsplit(t, append(logs, "-od", folder)...)
	})
}

// TestRename creates a folder in the place of the second of three parts while the log is read. Then
// no temporary file stays.
func TestRename(t *testing.T) {
	t.Chdir(t.TempDir())
	old, taken := "A.stdin.hdr", "B.stdin.hdr"
	if err := os.WriteFile(old, []byte("as it was"), 0o666); err != nil {
		t.Fatal(err)
	}
	log := "Tag=A,0.000,1.000,0.000,HIST\nTag=B,0.000,1.000,0.000,HIST\nTag=C,0.000,1.000,0.000,HIST\n"
	input := io.MultiReader(strings.NewReader(log), readerFunc(func([]byte) (int, error) {
		if err := os.Mkdir(taken, 0o777); err != nil {
			return 0, err
		}
		return 0, io.EOF
	}))
	stderr, status := hdrsplitFrom(t, input, "-j", "1", "-if", "-")
	if status != message.Failed || !strings.Contains(stderr, taken) {
		t.Errorf("exit status %d: %s", status, stderr)
	}
	if left, err := filepath.Glob(".*"); err != nil || len(left) > 0 {
		t.Errorf("%v, %q stay", err, left)
	}
	if text, _ := os.ReadFile(old); len(text) == 0 {
		t.Error("the first place is empty")
	}
}

// readerFunc is a reader.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestMemory splits a log of some tags and 64 MB of comments, in much less memory.
func TestMemory(t *testing.T) {
	const tags, comments = 20, 24 << 20
	var log strings.Builder
	for n := range tags {
		fmt.Fprintf(&log, "Tag=%d,0.000,1.000,0.000,HIST\n", n)
	}
	line := "#" + strings.Repeat("x", 62) + "\n"
	left, before, most := comments, clitest.InUse(), uint64(0)
	more := readerFunc(func(p []byte) (int, error) {
		if left == 0 {
			return 0, io.EOF
		}
		if left%(comments/8) < len(line) {
			most = max(most, clitest.InUse())
		}
		n := copy(p, line)
		left -= n
		return n, nil
	})
	folder := t.TempDir()
	stderr, status := hdrsplitFrom(t, io.MultiReader(strings.NewReader(log.String()), bufio.NewReader(more)), "-q", "-if", "-", "-od", folder)
	if status != message.OK || stderr != "hdrsplit: -: comments after the first 16 kB are left out\n" {
		t.Fatalf("exit status %d: %s", status, stderr)
	}
	if took := int64(most) - int64(before); took > comments/4 {
		t.Errorf("%d bytes of memory are in use", took)
	}
	info, err := os.Stat(filepath.Join(folder, "19.stdin.hdr"))
	if err != nil || info.Size() < 15<<10 || info.Size() > 17<<10 {
		t.Errorf("%v, the last part: %+v", err, info)
	}
}
