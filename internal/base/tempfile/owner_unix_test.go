//go:build unix

package tempfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOwner replaces a file of another user, whose owner, group and mode the new one has.
func TestOwner(t *testing.T) {
	place := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(place, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	uid, gid := os.Getuid(), os.Getgid()
	if uid == 0 { // others cannot give files away
		uid, gid = 4321, 1234
	}
	if err := os.Chown(place, uid, gid); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(place, 0o604); err != nil {
		t.Fatal(err)
	}
	f, err := Create(place)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := Rename(f); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(place)
	if err != nil {
		t.Fatal(err)
	}
	if is := info.Sys().(*syscall.Stat_t); int(is.Uid) != uid || int(is.Gid) != gid || info.Mode() != 0o604 {
		t.Errorf("the owner is %d:%d, want %d:%d; the mode is %v", is.Uid, is.Gid, uid, gid, info.Mode())
	}
}
