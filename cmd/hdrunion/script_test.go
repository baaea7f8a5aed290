package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"hdrkit/internal/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m, "hdrunion", main) }

func TestScripts(t *testing.T) { clitest.Run(t) }

// TestFullDisk writes to a file system that is too small. The old file stays, and nothing else.
func TestFullDisk(t *testing.T) {
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
	clitest.FullDisk(t, "all.hdr", func(folder string) (stderr string, status int) {
		_, stderr, status = hdrunion(t, append(args, "-of", filepath.Join(folder, "all.hdr"))...)
		return stderr, status
	})
}
