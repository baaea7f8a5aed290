//go:build unix

package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"hdrkit/internal/clitest"
)

// workflow is what people do with logs of cassandra-stress, with a text that the output has.
var workflow = []struct{ command, want string }{
	{"hdrsplit -if fixed.hdr", "wrote .*-rt.fixed.hdr"},
	{"hdrsum -if '.*-rt.hdr' -ovr 1000 -it -st percentiles", `matches no whole name, but the tag and the suffix of \d+ files?: \S+-rt\.fixed\.hdr(?s:.*)TotalCount=[1-9]`},
	{"hdrsum -if '*-rt.hdr' -it", "but the tag and the suffix of"},
	{"hdrsum -if '.*-rt.hdr' -ovr 1000 -it -st hgrm", `#\[Max `},
	{"hdrunion -if fixed.hdr -if machine2 -of union.hdr", ""},
	{"hdrsum -if union.hdr -ovr 1000 -incT '.*-rt' -st percentiles", "rt.TotalCount=[1-9]"},
	{"grep Union union.hdr", "Union of 2 logs"},
	{"hdrplot -if union.hdr -incT '.*-rt' -p max -unit ms -of max.png", "max.png"},
}

// TestWorkflow runs the whole way from a log to a picture.
func TestWorkflow(t *testing.T) {
	build(t)
	for _, log := range []string{"testdata/logs/node1.hdr", "testdata/dialects/cassandra-stress.hdr"} {
		t.Run(filepath.Base(log), func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			for name, from := range map[string]string{"fixed.hdr": log, "machine2": "testdata/logs/node2.hdr"} {
				text, err := os.ReadFile(filepath.Join(clitest.Root(), from))
				if err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(folder, name), string(text))
			}
			for _, step := range workflow {
				shell := exec.Command("sh", "-c", step.command)
				shell.Dir = folder
				if out, err := shell.CombinedOutput(); err != nil || !regexp.MustCompile(step.want).Match(out) {
					t.Errorf("%s: %v\n%s", step.command, err, out)
				}
			}
		})
	}
}
