package clitest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// SmallDisk mounts a file system of 256 KB and returns its folder. It skips the test if mounting is
// not allowed.
func SmallDisk(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs",
		folder).CombinedOutput(); err != nil {
		t.Skipf("skipped: no small file system can be mounted: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", folder).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return folder
}

// FullDisk calls run with a folder on a file system that is too small. The folder contains the file
// name. Run must fail, report a file of the folder, and leave the file name there, and nothing
// else.
func FullDisk(t *testing.T, name string, run func(folder string) (stderr string, status int)) {
	t.Helper()
	folder := SmallDisk(t)
	old := filepath.Join(folder, name)
	if err := os.WriteFile(old, []byte("as it was"), 0o666); err != nil {
		t.Fatal(err)
	}
	stderr, status := run(folder)
	if status != 1 || !strings.Contains(stderr, "no space left on device") || !strings.Contains(stderr, folder) ||
		strings.Contains(stderr, ".tmp") {
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
