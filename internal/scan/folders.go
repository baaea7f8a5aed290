package scan

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Folders returns the folder that a text names or, if there is none, the folders that it matches as
// a pattern of [filepath.Glob], in which ** stands for any folders, or none, below each other.
func Folders(text string) []string {
	if _, err := os.Stat(text); err == nil {
		return []string{text}
	}
	found, _ := filepath.Glob(text)
	slashed := filepath.ToSlash(text)
	if above, pattern, deep := strings.Cut("/"+slashed+"/", "/**/"); deep {
		if above = strings.TrimPrefix(above, "/") + "/"; above == "/" && !strings.HasPrefix(slashed, "/") {
			above = "."
		}
		found = nil
		for _, folder := range Folders(filepath.Clean(above)) {
			found = append(found, below(folder, "**/"+pattern)...)
		}
		slices.Sort(found)
		found = slices.Compact(found)
	}
	return slices.DeleteFunc(found, func(path string) bool {
		info, err := os.Stat(path)
		return err != nil || !info.IsDir()
	})
}

// below returns what a pattern with slashes matches in a folder. Folders that cannot be read are
// reported by who reads the files in them.
func below(folder, pattern string) (found []string) {
	above, rest, deep := strings.Cut("/"+pattern+"/", "/**/")
	above, rest = strings.Trim(above, "/"), strings.Trim(rest, "/")
	folders := []string{folder}
	if above != "" {
		folders, _ = fs.Glob(os.DirFS(folder), above)
		for n := range folders {
			folders[n] = filepath.Join(folder, folders[n])
		}
	}
	if !deep {
		return folders
	}
	for _, folder := range folders {
		filepath.WalkDir(folder, func(path string, entry fs.DirEntry, _ error) error {
			if entry != nil && entry.IsDir() {
				found = append(found, below(path, rest)...)
			}
			return nil
		})
	}
	return found
}
