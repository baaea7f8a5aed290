package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"hdrkit/internal/clitest"
	"hdrkit/internal/loggen"
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

// TestReadAhead proves that what is read ahead of many logs fits into the least -memory.
func TestReadAhead(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	if err := loggen.Write(&log, loggen.Options{Seconds: 30, Rate: 9000, Seed: 1, Distinct: 10}); err != nil {
		t.Fatal(err)
	}
	args := []string{"-memory", "64MiB", "-of", filepath.Join(t.TempDir(), "all.hdr")}
	for n := range 80 {
		path := filepath.Join(t.TempDir(), fmt.Sprint(n, ".hdr"))
		if err := os.WriteFile(path, log.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	if out, err := exec.Command("hdrunion", args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
