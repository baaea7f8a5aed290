package cmd

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDirect proves that a command that reads measurements prints what it prints of the log that
// hdrrec makes of them.
func TestDirect(t *testing.T) {
	t.Parallel()
	build(t)
	samples, err := filepath.Glob("../testdata/measurements/*")
	if err != nil || len(samples) < 15 {
		t.Fatal(len(samples), err)
	}
	needsOptions := regexp.MustCompile(`apache|nginx-msec|nginx.ndjson|jmeter-bare|latencies-only`)
	all := regexp.MustCompile(`jmeter.jtl|ab.tsv|memtier|vegeta.csv`) // all commands read these, hdrsum all
	for _, sample := range samples {
		if needsOptions.MatchString(sample) {
			continue
		}
		text, err := os.ReadFile(sample)
		if err != nil {
			t.Fatal(err)
		}
		// In two folders, the table and its log have the same name.
		table, log := t.TempDir(), t.TempDir()
		name := filepath.Base(sample)
		run := func(dir string, stdin []byte, command string, args ...string) string {
			t.Helper()
			c := exec.Command(command, args...)
			c.Dir, c.Stdin = dir, bytes.NewReader(stdin)
			var stderr strings.Builder
			c.Stderr = &stderr
			out, err := c.Output()
			if err != nil {
				t.Fatalf("%s %q: %v\n%s", command, args, err, stderr.String())
			}
			if notice := strings.Contains(stderr.String(), " is read as "); notice != (dir == table) && command != "hdrrec" {
				t.Errorf("%s %q: %s", command, args, stderr.String())
			}
			return string(out)
		}
		made := run(log, text, "hdrrec")
		for path, content := range map[string][]byte{filepath.Join(table, name): text, filepath.Join(log, name): []byte(made)} {
			if err := os.WriteFile(path, content, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		for _, args := range [][]string{
			{"hdrsum", "-st", "percentiles"}, {"hdrsum", "-st", "ndjson", "-agg", "1"}, {"hdrsum", "-s", "-9999", "-st", "csv"}, {"hdrunion"}, {"hdrunion", "-grid", "10"}, {"hdrplot", "-format", "svg", "-of", "-"},
		} {
			if args = append(args, name); (args[len(args)-2] != "percentiles") && !all.MatchString(name) {
				continue
			}
			if got, want := run(table, nil, args[0], args[1:]...), run(log, nil, args[0], args[1:]...); got != want {
				t.Errorf("%q prints\n%.1000s\nof the log\n%.1000s", args, got, want)
			}
		}
		if !all.MatchString(name) {
			continue
		}
		if got, want := run(table, text, "hdrsum", "-st", "csv"), run(log, []byte(made), "hdrsum", "-st", "csv"); got != want {
			t.Errorf("%s from a pipe prints\n%s\nof the log\n%s", name, got, want)
		}
		run(table, nil, "hdrsplit", name)
		run(log, nil, "hdrsplit", name)
		parts, _ := filepath.Glob(filepath.Join(log, "*"))
		for _, part := range parts {
			if filepath.Base(part) == name {
				continue
			}
			want, _ := os.ReadFile(part)
			if got, err := os.ReadFile(filepath.Join(table, filepath.Base(part))); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %v", part, err)
			}
		}
	}
}
