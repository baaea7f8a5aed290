package logs

import (
	"path/filepath"
	"strings"

	"hdrkit/internal/scan/rotate"
)

// BaseName returns the name of an input without folder and extension.
func BaseName(input string) string {
	name, _ := rotate.Plain(filepath.Base(input))
	if short := strings.TrimSuffix(name, filepath.Ext(name)); short != "" {
		return short
	}
	return name
}

// Labels returns a short label for each name of an input or a run: the name without folder and
// extension if the labels differ then, or else with them. A single name has an empty label.
func Labels(names []string) map[string]string {
	labels := make(map[string]string)
	for _, name := range names {
		labels[name] = ""
	}
	if len(labels) == 1 {
		return labels
	}
	for _, shorten := range []func(string) string{BaseName, filepath.Base, func(path string) string { return path }} {
		seen := make(map[string]bool)
		for name := range labels {
			labels[name] = shorten(name)
			seen[labels[name]] = true
		}
		if len(seen) == len(labels) {
			break
		}
	}
	return labels
}
