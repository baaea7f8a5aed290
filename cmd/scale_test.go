//go:build unix

package cmd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hdrkit/internal/clitest"
	"hdrkit/internal/loggen"
)

// TestScale runs the trees of docs/scale.md over twelve logs. Each must give the intervals that one
// process gives.
func TestScale(t *testing.T) {
	clitest.RequireTools(t, "sh", "xargs", "parallel", "make", "awk")
	build(t)
	text, err := os.ReadFile("../docs/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(text)
	block := func(pattern string) string {
		found := regexp.MustCompile(pattern).FindStringSubmatch(doc)
		if found == nil {
			t.Fatalf("docs/scale.md has no %q", pattern)
		}
		return found[1]
	}
	indented := regexp.MustCompile(`(?m)^ +`).ReplaceAllString(block(`(?s)args:\n +- \|\n(.*?)\n +volumeMounts`), "")
	last := block(`(?m)^    (hdrunion .* 'part-.*)$`)
	trees := map[string]string{
		"xargs":      block(`(?m)^    (printf .* xargs .*)$`) + "\n" + last,
		"parallel":   block(`(?m)^    (parallel .*)$`) + "\n" + last,
		"make":       "make -s -j 4 all.hdr",
		"kubernetes": "for JOB_COMPLETION_INDEX in 0 1 2 3; do\n" + indented + "\ndone\n" + last,
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Makefile"), []byte(block("(?s)```make\n(.*?)```")), 0o666); err != nil {
		t.Fatal(err)
	}
	for n := range 12 {
		file, err := os.Create(filepath.Join(dir, fmt.Sprintf("node%02d.hdr", n)))
		if err != nil {
			t.Fatal(err)
		}
		o := loggen.Options{Seconds: 45, Rate: 500, Seed: uint64(n), Start: 1468800000137 + int64(n)*777}
		if err := loggen.Write(file, o); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	sh := func(t *testing.T, script string) {
		t.Helper()
		c := exec.Command("sh", "-ec", script)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
	}
	sh(t, `hdrunion -q -grid 10 -if 'node.*\.hdr' -of one.hdr`)
	want := intervals(t, filepath.Join(dir, "one.hdr"))
	if strings.Count(want, "\n") < 30 {
		t.Fatalf("the union has %d intervals", strings.Count(want, "\n"))
	}
	for name, script := range trees {
		t.Run(name, func(t *testing.T) {
			sh(t, "rm -f all.hdr part-*\n"+script)
			if parts, _ := filepath.Glob(dir + "/part-*"); len(parts) != 4 {
				t.Errorf("%d parts, want 4", len(parts))
			}
			if intervals(t, filepath.Join(dir, "all.hdr")) != want {
				t.Error("a union of unions is not the union of all")
			}
		})
	}
}

// intervals returns the lines of a log that are intervals.
func intervals(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`(?m)^[#"].*\n`).ReplaceAllString(string(text), "")
}
