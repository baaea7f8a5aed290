package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hdrkit/internal/cli"
	"hdrkit/internal/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m, "hdrunion", main) }

func TestScripts(t *testing.T) { clitest.Run(t) }

// TestFullDisk writes to a file system that is too small, which leaves the file that was there, and nothing else.
func TestFullDisk(t *testing.T) {
	folder := clitest.SmallDisk(t)
	out := filepath.Join(folder, "all.hdr")
	if err := os.WriteFile(out, []byte("as it was"), 0o666); err != nil {
		t.Fatal(err)
	}
	var args []string
	for n := 1; n <= 3; n++ {
		for tag := range 4 {
			log := fmt.Sprintf("%s/logs/node%d.hdr", testdata, n)
			link := filepath.Join(t.TempDir(), fmt.Sprintf("%d-%d.hdr", n, tag))
			text, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(link, text, 0o666); err != nil {
				t.Fatal(err)
			}
			args = append(args, "-tif", fmt.Sprintf("%d-%d=%s", n, tag, link))
		}
	}
	_, stderr, status := hdrunion(t, append(args, "-of", out)...)
	if status != cli.Failed || !strings.Contains(stderr, "no space left on device") {
		t.Errorf("exit status %d: %s", status, stderr)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(out); len(entries) != 1 || string(text) != "as it was" {
		t.Errorf("%d files, and the old one holds %d bytes", len(entries), len(text))
	}
}
