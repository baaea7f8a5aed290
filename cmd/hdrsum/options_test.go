package main

import (
	"maps"
	"slices"
	"testing"

	"hdrkit/internal/clitest"
)

// TestUses checks that formats name options that exist.
func TestUses(t *testing.T) {
	var options []string
	for _, o := range app().Options {
		options = append(options, o.Name)
	}
	named := slices.Concat(slices.Collect(maps.Values(standalone))...)
	for _, f := range formats {
		named = append(named, f.options...)
	}
	for _, option := range named {
		if !slices.Contains(options, option) {
			t.Errorf("-%s is no option", option)
		}
	}
}

// TestFormatsDocumented checks that docs/hdrsum.md describes each format that the help lists.
func TestFormatsDocumented(t *testing.T) {
	for _, f := range formats {
		if !f.kind.Hidden {
			clitest.Documented(t, "hdrsum.md", f.kind.Name)
		}
	}
}
