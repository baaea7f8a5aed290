//go:build unix

package cmd

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hdrkit/internal/clitest"
)

// TestOneRule proves that one file has the rule for windows. It builds the commands with another
// rule in that file: an interval belongs to the window that it starts in. All commands follow.
func TestOneRule(t *testing.T) {
	if clitest.Rounds(1) == 0 {
		t.Skip("builds the commands once more")
	}
	t.Parallel()
	build(t)
	file, err := filepath.Abs("../hdrlog/merge/window.go")
	if err != nil {
		t.Fatal(err)
	}
	rule, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	other := strings.Replace(string(rule), "floorDiv(start+end, 2*size)", "floorDiv(start, size)", 1)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{file: filepath.Join(dir, "window.go")}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "window.go"), other)
	write(t, filepath.Join(dir, "overlay.json"), string(overlay))
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-w", "-overlay", filepath.Join(dir, "overlay.json"), "-o", dir, "./hdrsum", "./hdrunion", "./hdrplot", "./hdrlive").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(bin, name string, args ...string) string {
		command := exec.Command(filepath.Join(bin, name), args...)
		if name == "hdrlive" { // a pipe, which ends
			log, err := os.Open(args[len(args)-1])
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
			command.Stdin, command.Args[len(command.Args)-1] = log, "-"
		}
		out, err := command.Output()
		if err != nil {
			t.Fatalf("%s %q: %v", name, args, err)
		}
		var text strings.Builder
		for line := range strings.Lines(string(out)) {
			if name != "hdrplot" && !strings.HasPrefix(line, "#") || strings.HasPrefix(line, "<path") { // texts name files

				text.WriteString(line)
			}
		}
		return text.String()
	}
	fraction := regexp.MustCompile(`\.\d+`) // a millisecond moves a point by a hundredth of a pixel
	log := "../testdata/logs/node1.hdr"
	for _, grid := range []string{"15", "25"} {
		ruled, united := filepath.Join(dir, "ruled.hdr"), filepath.Join(dir, "united.hdr")
		run(bin, "hdrunion", "-grid", grid, "-of", ruled, log)
		run(dir, "hdrunion", "-grid", grid, "-of", united, log)
		read := func(path string) string {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		if read(ruled) == read(united) {
			t.Errorf("%s s: the two rules give the same windows", grid)
		}
		if run(dir, "hdrunion", "-grid", grid, log) != run(dir, "hdrlive", "-agg", grid, log) {
			t.Errorf("%s s: hdrunion and hdrlive differ", grid)
		}
		for _, args := range [][]string{{"hdrsum", "-st", "ndjson"}, {"hdrplot", "-p", "99", "-format", "svg", "-of", "-"}} {
			args = append(args, "-agg", grid)
			of := func(log string) string {
				// A union does not know how an interval spread over its windows, which rates depend
				// on.
				return fraction.ReplaceAllString(perSecond.ReplaceAllString(run(dir, args[0], append(args[1:], log)...), ""), "")
			}
			if want, got := of(log), of(united); got != want {
				t.Errorf("%s s: %s of the union prints\n%s\nof the logs\n%s", grid, args[0], got, want)
			}
		}
	}
}
