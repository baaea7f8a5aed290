package clitest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// SmallDisk mounts a file system of 256 KB and returns its folder. Where that is not allowed it
// skips the test.
func SmallDisk(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder).CombinedOutput(); err != nil {
		t.Skipf("skipped, for no small file system can be mounted: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", folder).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return folder
}

// FullDisk has run write to a file system that is too small, where name is a file already. It must
// fail and say so of a file of folder, and leave that file, and nothing else.
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
