package clitest

import (
	"os/exec"
	"testing"
)

// SmallDisk mounts a file system of 256 KB and returns its folder. Where that is not allowed it skips the test.
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
