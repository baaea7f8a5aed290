package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdrkit/internal/clitest"
	"hdrkit/internal/metric"
)

// TestUses checks that formats name options that exist.
func TestUses(t *testing.T) {
	var options []string
	for _, o := range app().Options {
		options = append(options, o.Name)
	}
	named := slices.Concat(slices.Collect(maps.Values(alone))...)
	for _, f := range formats {
		named = append(named, f.uses...)
	}
	for _, option := range named {
		if !slices.Contains(options, option) {
			t.Errorf("-%s is no option", option)
		}
	}
}

// TestFormatsApart checks that only the file that describes a format names it. Other code asks the
// format what it can do, so that a new one is one file and one line of the list.
func TestFormatsApart(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range formats {
		if !f.Hidden {
			clitest.Documented(t, "hdrsum.md", f.Name)
		}
		count := 0
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(name, "_test.go") {
				count += strings.Count(string(text), strconv.Quote(f.Name))
			}
		}
		want := 1
		if slices.Contains([]string{metric.Influx, metric.OpenMetrics, metric.OpenTelemetry}, f.Name) {
			want = 0 // that package names it
		}
		if count != want {
			t.Errorf("%q stands %d times in the code, instead of %d", f.Name, count, want)
		}
	}
}
