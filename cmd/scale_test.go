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
	clitest.RequireTools(t, "sh", "xargs", "awk")
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
	last := block(`(?m)^    (hdrunion .* 'part-.*)$`)
	trees := map[string]string{
		"xargs": block(`(?m)^    (printf .* xargs .*)$`) + "\n" + last,
		"ssh":   block(`(?m)^    (xargs .*ssh .*)$`) + "\n" + last,
	}
	dir := t.TempDir()
	remotes(t, dir)
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
			sh(t, "rm -rf all.hdr part-*\n"+script)
			if parts, _ := filepath.Glob(dir + "/part-*"); len(parts) != 4 {
				t.Errorf("%d parts, want 4", len(parts))
			}
			if intervals(t, filepath.Join(dir, "all.hdr")) != want {
				t.Error("a union of unions is not the union of all")
			}
		})
	}
	sh(t, "echo malformed >> node03.hdr")
	for name, script := range trees {
		t.Run(name+" malformed", func(t *testing.T) {
			sh(t, "rm -rf all.hdr part-*")
			c := exec.Command("sh", "-c", script)
			c.Dir = dir
			if out, err := c.CombinedOutput(); err == nil {
				t.Errorf("a malformed line is hidden:\n%s", out)
			}
			if _, err := os.Stat(filepath.Join(dir, "all.hdr")); err == nil {
				t.Error("there is a union of all")
			}
		})
	}
}

// remotes makes a command that stands for ssh. Each of four hosts has a folder with three of the
// logs of dir.
func remotes(t *testing.T, dir string) {
	t.Helper()
	bin := t.TempDir()
	ssh := "#!/bin/sh\nmkdir -p $2/logs && cp node*.hdr $2/logs/ && cd $2/logs &&\n" +
		"ls node*.hdr | awk -v h=$2 'int((NR-1)/3) != h' | xargs rm && exec sh -c \"${3#*&& }\"\n"
	if err := os.WriteFile(filepath.Join(bin, "ssh"), []byte(ssh), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "hosts"), []byte("0\n1\n2\n3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
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
