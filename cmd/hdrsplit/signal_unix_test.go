//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hdrkit/internal/clitest"
)

// TestSignal ends hdrsplit by a signal while it writes, which leaves no file, in a folder that was
// there or in one that it has made.
func TestSignal(t *testing.T) {
	t.Parallel()
	node1, err := os.ReadFile(filepath.Join(testdata, "logs", "node1.hdr"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, folder string
		signal       syscall.Signal
		status       int
	}{
		{"a folder that was there", ".", syscall.SIGTERM, 143},
		{"a new folder", "made", syscall.SIGINT, 130},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			parent := t.TempDir()
			folder := filepath.Join(parent, test.folder)
			stdin, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close() // until then hdrsplit waits for more
			p := clitest.Start(t, stdin, "hdrsplit", "-od", folder)
			stdin.Close()
			go w.Write(bytes.Repeat(node1, 30)) // more than is held in memory
			p.Await("a temporary file", func() bool {
				files, _ := filepath.Glob(filepath.Join(folder, ".*.hdrkit-*.tmp"))
				return len(files) > 0
			})
			p.Interrupt(test.signal, test.status)
			if !strings.Contains(p.Stderr(), "hdrsplit: interrupted\n") {
				t.Error(p.Stderr())
			}
			if files, err := os.ReadDir(folder); err != nil || len(files) > 0 {
				t.Errorf("%v, %v stay", err, files)
			}
		})
	}
}
