package clitest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// SmallDisk mounts a file system of 256 KB until the test ends, and returns its folder. It skips
// the test if the system does not allow mounting.
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

// FullDisk calls run with a folder on a file system that is too small for the output. The folder
// contains a file with this name. run must fail, its message must name a file of the folder, and
// the folder must contain the old file and nothing else afterwards.
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
