package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hdrkit/internal/clitest"
)

var (
	perSecond = regexp.MustCompile(`"per_second":[^,]*,`)
	tagOfRow  = regexp.MustCompile(`"tag":("[^"]*"|null),`)
)

// withoutEdges returns rows without the rates of the first and the last one of each tag: a part
// does not know when the log ran before and after its tag.
func withoutEdges(rows string) string {
	lines := strings.SplitAfter(rows, "\n")
	first, last := make(map[string]int), make(map[string]int)
	for n, line := range lines {
		tag := tagOfRow.FindString(line)
		if last[tag] = n; first[tag] == 0 {
			first[tag] = n + 1
		}
	}
	for n, line := range lines {
		if tag := tagOfRow.FindString(line); tag != "" && (n+1 == first[tag] || n == last[tag]) {
			lines[n] = perSecond.ReplaceAllString(line, "")
		}
	}
	return strings.Join(lines, "")
}

// TestParts proves that the parts of a log, given together, are the log: what hdrsplit takes apart
// by tag, the other commands show by tag.
func TestParts(t *testing.T) {
	t.Parallel()
	build(t)
	run := func(dir, name string, args ...string) string {
		t.Helper()
		command := exec.Command(name, args...)
		command.Dir = dir
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	logs, err := filepath.Glob("../testdata/logs/*.hdr")
	if err != nil || len(logs) < 20 {
		t.Fatal(len(logs), err)
	}
	several := 0
	for n, log := range logs {
		log, err := filepath.Abs(log)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(log) == "header-only.hdr" {
			continue
		}
		dir := t.TempDir()
		run(dir, "hdrsplit", "-if", log)
		parts, _ := filepath.Glob(filepath.Join(dir, "*"))
		if len(parts) < 2 {
			continue
		}
		several++
		for m, args := range [][]string{{"-lt"}, {"-st", "percentiles", "-period", "intervals"}, {"-st", "hgrm"}, {"-st", "ndjson", "-agg", "10"}} {
			if (n+m)%5 >= clitest.Rounds(5) {
				continue
			}
			of := func(inputs ...string) string { return withoutEdges(run(dir, "hdrsum", append(args, inputs...)...)) }
			want := of(log)
			if got := of(parts...); got != want {
				t.Errorf("%s: hdrsum %q of the parts prints\n%s\nof the log\n%s", log, args, got, want)
			}
		}
		if filepath.Base(log) == "double.hdr" {
			continue
		}
		// With -untagged, all add up.
		if got := run(dir, "hdrsum", append([]string{"-untagged", "-lt"}, parts...)...); strings.Count(got, "\n") != 2 {
			t.Errorf("%s: -untagged: %s", log, got)
		}
	}
	if several < 5 {
		t.Errorf("%d logs have several tags", several)
	}

	node1, err := filepath.Abs("../testdata/logs/node1.hdr")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run(dir, "hdrsplit", "-if", node1)
	if got := run(dir, "hdrsum", "-if", `insert-.*\.hdr`, "-lt", "-incT", "insert-rt"); !strings.Contains(got, "\ninsert-rt ") || strings.Contains(got, "\ninsert-st") {
		t.Errorf("-incT: %s", got)
	}
	if got := run(dir, "hdrsum", "-if", `insert-.*\.hdr`, "-it", "-lt"); !strings.Contains(got, "count the same requests") {
		t.Errorf("-it: %s", got)
	}
	if got := run(dir, "hdrunion", "-q", "-tif", "mine=insert-rt.node1.hdr", "-if", `insert-[sw]t.*`); strings.Count(got, "Tag=mine,") != 12 || strings.Count(got, "Tag=insert-st,") != 12 {
		t.Errorf("-tif: %s", got)
	}
	run(dir, "hdrplot", "-if", `insert-.*\.hdr`, "-of", "parts.svg")
	svg, err := os.ReadFile(filepath.Join(dir, "parts.svg"))
	for _, tag := range []string{"insert-rt", "insert-st", "insert-wt"} {
		if !strings.Contains(string(svg), ">"+tag) {
			t.Errorf("no line %s: %v", tag, err)
		}
	}
}
