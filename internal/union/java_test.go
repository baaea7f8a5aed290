package union_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hdrkit/internal/clitest"
	"hdrkit/internal/dump"
	"hdrkit/internal/scan"
	"hdrkit/internal/union"
)

// library is the reference, as Debian's libhdrhistogram-java has it.
const library = "/usr/share/java/hdrhistogram.jar"

// TestJava has the reference read the parts and unions of all logs, and compares what it finds with
// what we do.
func TestJava(t *testing.T) {
	clitest.RequireTools(t, "javac", library)
	classes := t.TempDir()
	if out, err := exec.Command("javac", "-cp", library, "-d", classes, "testdata/ReadLogs.java").CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}

	var paths []string
	unions := t.TempDir()
	unite := func(name string, o union.Options, inputs ...scan.Input) {
		if log := write(t, newScan(inputs...), o); log != "" {
			path := filepath.Join(unions, name)
			if err := os.WriteFile(path, []byte(log), 0o666); err != nil {
				t.Fatal(err)
			}
			paths = append(paths, path)
		}
	}
	for _, path := range logs(t) {
		for _, part := range splitLog(t, path) {
			paths = append(paths, part.Name)
		}
		unite(filepath.Base(path), union.Options{}, file(t, path, ""))
		unite("all."+filepath.Base(path), union.Options{Grid: 3_600_000}, file(t, path, "x"))
	}
	var nodes []scan.Input
	for _, name := range []string{"node1.hdr", "node2.hdr", "node3.hdr"} {
		nodes = append(nodes, file(t, testdata+"logs/"+name, ""))
	}
	unite("nodes", union.Options{}, nodes...)
	unite("nodes-grid", union.Options{Grid: 10000}, nodes...)
	unite("nodes-relative", union.Options{Relative: true}, nodes...)
	unite("mixed-grid", union.Options{Grid: 3000}, file(t, testdata+"logs/mixed-precision.hdr", ""))

	found := javaDump(t, classes, paths)
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := dump.Log(f, path)
		f.Close()
		if err != nil {
			t.Error(err)
		}
		var want []string
		for _, line := range lines {
			want = append(want, line.String())
		}
		if got := found[path]; strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: the reference reads\n%s\nwe read\n%s", filepath.Base(path), strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	t.Logf("the reference read %d logs", len(paths))
}

// javaDump has the reference read logs and returns the lines that it prints of each.
func javaDump(t *testing.T, classes string, paths []string) map[string][]string {
	cmd := exec.Command("java", append([]string{"-Dfile.encoding=UTF-8", "-cp", library + ":" + classes, "ReadLogs"}, paths...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("java: %v\n%s", err, stderr.String())
	}
	found := make(map[string][]string)
	path := ""
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "= "); ok {
			path = name
			continue
		}
		found[path] = append(found[path], line)
	}
	return found
}
