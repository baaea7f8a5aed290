package scan

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Folders returns the folder that a text names. If there is no such folder, it returns the folders
// that the text matches as a pattern of [filepath.Glob], in which ** stands for any number of
// folders below each other. Folders reports no folder that cannot be read: that is an error when
// somebody reads the files in it.
func Folders(text string) []string {
	if _, err := os.Stat(text); err == nil {
		return []string{text}
	}
	volume := filepath.VolumeName(text)
	rest, absolute := strings.CutPrefix(filepath.ToSlash(text[len(volume):]), "/")
	found := []string{volume + "."}
	if absolute {
		found[0] = volume + string(filepath.Separator)
	}
	for name := range strings.SplitSeq(rest, "/") {
		above := found
		found = nil
		for _, folder := range above {
			found = append(found, inFolder(folder, name)...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// inFolder returns the folders in a folder that a pattern of a name matches.
func inFolder(folder, pattern string) (found []string) {
	if pattern == "**" {
		filepath.WalkDir(folder, func(path string, entry fs.DirEntry, _ error) error {
			if entry != nil && entry.IsDir() {
				found = append(found, path)
			}
			return nil
		})
		return found
	}
	names := []string{pattern}
	if strings.ContainsAny(pattern, `*?[\`) {
		names, _ = fs.Glob(os.DirFS(folder), pattern)
	}
	for _, name := range names {
		path := filepath.Join(folder, name)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			found = append(found, path)
		}
	}
	return found
}
