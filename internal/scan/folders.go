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
// Folders that cannot be read are reported by who reads the files in them.
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
	for part := range strings.SplitSeq(rest, "/") {
		above := found
		found = nil
		for _, folder := range above {
			found = append(found, inFolder(folder, part)...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// inFolder returns the folders in a folder that a part of a pattern matches.
func inFolder(folder, part string) (found []string) {
	if part == "**" {
		filepath.WalkDir(folder, func(path string, entry fs.DirEntry, _ error) error {
			if entry != nil && entry.IsDir() {
				found = append(found, path)
			}
			return nil
		})
		return found
	}
	names := []string{part}
	if strings.ContainsAny(part, `*?[\`) {
		names, _ = fs.Glob(os.DirFS(folder), part)
	}
	for _, name := range names {
		path := filepath.Join(folder, name)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			found = append(found, path)
		}
	}
	return found
}
