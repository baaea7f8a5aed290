package scan

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestFolders: ** stands for any folders.
func TestFolders(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, folder := range []string{"a/x/logs", "a/logs/y/logs", "b/c-d", "[/logs"} {
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("a/x/file", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string][]string{
		"**/logs":       {"[/logs", "a/logs", "a/logs/y/logs", "a/x/logs"},
		"a/**":          {"a", "a/logs", "a/logs/y", "a/logs/y/logs", "a/x", "a/x/logs"},
		"a/**/**/logs/": {"a/logs", "a/logs/y/logs", "a/x/logs"},
		"?/**/[xy]":     {"a/logs/y", "a/x"},
		"**/c?d/**":     {"b/c-d"},
		"a/**/file":     nil,
		"none/**":       nil,
		"a**":           {"a"},
	} {
		for _, root := range []string{"", dir, "../" + filepath.Base(dir)} {
			var all []string
			for _, folder := range want {
				all = append(all, filepath.Join(root, folder))
			}
			if got := Folders(filepath.Join(root, pattern)); !slices.Equal(got, all) {
				t.Errorf("%s in %q: %q, want %q", pattern, root, got, all)
			}
		}
	}
}
