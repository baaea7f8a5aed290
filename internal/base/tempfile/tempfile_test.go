package tempfile

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// TestPlace follows links. One of them is relative to a folder that is behind a link itself.
func TestPlace(t *testing.T) {
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	if err := os.MkdirAll("deep/est", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("file", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, link := range [][2]string{
		{"link", "file"}, {"twice", "link"}, {"dangling", "deep/new"}, {"shortcut", "deep/est"},
		{"deep/est/up", "../new"}, {"deep/est/absolute", filepath.Join(folder, "file")}, {"nowhere", "no/where"},
		{"round", "trip"}, {"trip", "round"}, {"folder", "deep"},
	} {
		if err := os.Symlink(filepath.FromSlash(link[1]), filepath.FromSlash(link[0])); err != nil {
			t.Skipf("skipped: there are no symbolic links: %v", err)
		}
	}
	for path, want := range map[string]string{
		"file": "file", "new": "new", "link": "file", "twice": "file", "dangling": "deep/new", "shortcut/up": "deep/new",
		"shortcut/absolute": filepath.Join(folder, "file"), "nowhere": "no/where", "no/such": "no/such", "folder": "folder", "round": "",
	} {
		got, err := Place(path)
		if filepath.ToSlash(got) != filepath.ToSlash(want) || (err != nil) != (want == "") {
			t.Errorf("Place(%q) = %q, %v, want %q", path, got, err, want)
		}
	}
}

// TestRename lets the third of four files fail. The ones before it have their places.
func TestRename(t *testing.T) {
	folder := t.TempDir()
	place := func(name string) string { return filepath.Join(folder, name) }
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	begin := func(names ...string) (all []*File) {
		t.Helper()
		for _, name := range names {
			f, err := Create(place(name))
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
			write(f.Name(), "new")
			all = append(all, f)
		}
		return all
	}
	check := func(want map[string]string) {
		t.Helper()
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			text, err := os.ReadFile(place(entry.Name()))
			if wanted, ok := want[entry.Name()]; !ok || err == nil && string(text) != wanted {
				t.Errorf("%s holds %q, want %q, %v", entry.Name(), text, wanted, ok)
			}
		}
		if len(entries) != len(want) {
			t.Errorf("%d files, want %d", len(entries), len(want))
		}
	}

	write(place("a"), "old a")
	write(place("d"), "old d")
	if err := os.Mkdir(place("c"), 0o777); err != nil {
		t.Fatal(err)
	}
	all := begin("a", "b", "c", "d")
	if err := Rename(all...); err == nil {
		t.Fatal("a file took the place of a folder")
	}
	for _, f := range all {
		f.Remove()
	}
	check(map[string]string{"a": "new", "b": "new", "c": "", "d": "old d"})

	if err := os.Remove(place("c")); err != nil {
		t.Fatal(err)
	}
	for _, names := range [][]string{{"a", "b", "c", "d"}, {"d", "c", "b", "a"}, {"a"}} {
		if err := Rename(begin(names...)...); err != nil {
			t.Fatal(err)
		}
		check(map[string]string{"a": "new", "b": "new", "c": "new", "d": "new"})
	}
	if len(files) != 0 {
		t.Errorf("%d files are still in the account", len(files))
	}
}

// TestSync: each file is on the disk before any is renamed, and each folder once after that. If a
// disk fails, nothing is renamed.
func TestSync(t *testing.T) {
	defer func() { fsync = (*os.File).Sync }()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "b"), 0o777); err != nil {
		t.Fatal(err)
	}
	names := []string{filepath.Join(dir, "a1"), filepath.Join(dir, "a2"), filepath.Join(dir, "b", "b1")}
	var mu sync.Mutex
	var files, dirs []string
	broken := ""
	fsync = func(f *os.File) error {
		mu.Lock()
		defer mu.Unlock()
		info, err := f.Stat()
		if err != nil {
			t.Error(err)
		}
		_, err = os.Stat(names[0])
		switch placed := err == nil; {
		case info.IsDir() && placed:
			dirs = append(dirs, f.Name())
		case !info.IsDir() && !placed:
			files = append(files, f.Name())
		default:
			t.Errorf("%s is synchronized, and the first file is in its place: %v", f.Name(), placed)
		}
		if broken != "" && strings.HasPrefix(f.Name(), broken) {
			return &fs.PathError{Op: "sync", Path: f.Name(), Err: syscall.EIO}
		}
		return nil
	}
	rename := func() error {
		var all []*File
		for _, name := range names {
			f, err := Create(name)
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
			defer f.Remove()
			all = append(all, f)
		}
		return Rename(all...)
	}
	broken = filepath.Join(dir, "b", ".b1")
	if err := rename(); err == nil || err.Error() != "sync "+names[2]+": "+syscall.EIO.Error() {
		t.Error(err)
	}
	if _, err := os.Stat(names[0]); err == nil || len(dirs) > 0 {
		t.Error("a file was renamed although one is not on the disk")
	}
	broken, files = "", nil
	if err := rename(); err != nil {
		t.Error(err)
	}
	if len(files) != 3 {
		t.Errorf("files %q", files)
	}
	slices.Sort(dirs)
	if want := []string{dir, filepath.Join(dir, "b")}; runtime.GOOS != "windows" && !slices.Equal(dirs, want) {
		t.Errorf("folders %q, want %q", dirs, want)
	}
}

// TestPrefix: a temporary file is named after its target, also after a long one.
func TestPrefix(t *testing.T) {
	for name, want := range map[string]string{
		"out.hdr": ".out.hdr.hdrkit-", strings.Repeat("x", 255): "." + strings.Repeat("x", 80) + ".hdrkit-",
		strings.Repeat("x", 79) + "ß": "." + strings.Repeat("x", 79) + ".hdrkit-",
	} {
		f, err := Create(filepath.Join(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Remove()
		if got := filepath.Base(f.Name()); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestPermissions: a new file gets the permissions that the system gives, without a change of the
// mask of the process.
func TestPermissions(t *testing.T) {
	dir := t.TempDir()
	plain, err := os.OpenFile(filepath.Join(dir, "plain"), os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	f, err := Create(filepath.Join(dir, "new"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Remove()
	want, _ := plain.Stat()
	if got, err := f.Stat(); err != nil || got.Mode() != want.Mode() {
		t.Errorf("mode %v, want %v; %v", got.Mode(), want.Mode(), err)
	}
}

// TestAbandon ends a process that has created files: they go, but those that were renamed stay.
// Abandon blocks all else for good, so it runs in a process of its own.
func TestAbandon(t *testing.T) {
	if folder := os.Getenv("TEMPFILE_ABANDON"); folder != "" {
		abandon(t, folder)
		os.Exit(0)
	}
	folder := t.TempDir()
	command := exec.Command(os.Args[0], "-test.run=^TestAbandon$")
	command.Env = append(os.Environ(), "TEMPFILE_ABANDON="+folder)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var names []string
	err := filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
		names = append(names, filepath.Base(path))
		return err
	})
	if want := []string{filepath.Base(folder), "full", "renamed"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%v, there are %q, want %q", err, names, want)
	}
}

func abandon(t *testing.T, folder string) {
	if err := os.Mkdir(filepath.Join(folder, "full"), 0o777); err != nil {
		t.Fatal(err)
	}
	FoldsCase(folder)
	for _, name := range []string{"left", "full/renamed"} {
		f, err := Create(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if name == "full/renamed" {
			if err := Rename(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	Abandon()
}

// TestFoldsCase compares with a file of a name in small letters, and checks that nothing stays.
func TestFoldsCase(t *testing.T) {
	folder := t.TempDir()
	got := FoldsCase(folder)
	if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
		t.Errorf("%v, %d files stay", err, len(entries))
	}
	if err := os.WriteFile(filepath.Join(folder, "small"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "SMALL")); (err == nil) != got {
		t.Errorf("FoldsCase is %v, but a file by another case: %v", got, err)
	}
	if FoldsCase(filepath.Join(folder, "nowhere")) {
		t.Error("a folder that does not exist folds case")
	}
}
