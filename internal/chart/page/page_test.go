package page

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hdrkit/internal/chart"
	"hdrkit/internal/clitest"
)

// TestModules runs the tests of the script's modules wherever node is installed.
func TestModules(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		clitest.RequireTools(t, "node")
	}
	dir := t.TempDir()
	for _, pattern := range []string{"js/*.js", "viewer/*.js", "testdata/*.mjs", "../axis/testdata/golden.json", "../testdata/ran.json", "../testdata/phases.json"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v, %v", pattern, paths, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type": "module"}`), 0o666); err != nil {
		t.Fatal(err)
	}
	var rows Rows
	rows.Layout(0, 7, 0, 0.5)
	rows.Window(0, &chart.Window{Start: 1000, Begin: 999, End: 1998, Intervals: 1, Count: 300, Source: 2, Min: 2.5, Max: 100, Sum: 3000},
		[]byte{2*5 - 1, 2*127 - 128 | 128, 1, (2*194-1)&127 | 128, 3, (2*173)&127 | 128, 2})
	rows.Window(0, &chart.Window{Start: 500, Begin: 500, End: 1500, Intervals: 2}, []byte{0})
	rows.Point(0, 0, 1000, 999, 7.25, true)
	rows.Point(0, 0, 2000, 1000, 8, false)
	if err := os.WriteFile(filepath.Join(dir, "rows.txt"), textOf(t, &rows), 0o666); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("node", "--test")
	command.Dir = dir
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestRowsMove proves that rows that are deflated in part can be moved, as those of a live page
// are.
func TestRowsMove(t *testing.T) {
	t.Parallel()
	size := func(r *Rows) int {
		packed, err := base64.StdEncoding.DecodeString(string(textOf(t, r)))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
		if err != nil {
			t.Fatal(err)
		}
		return len(plain)
	}
	var rows Rows
	for range 2 * flushBytes / 10 {
		rows.Point(0, 0, 0, 1, 7.25, false)
	}
	moved := rows
	rows = Rows{}
	rows.Point(0, 0, 0, 1, 7.25, false)
	if own, all := size(&rows), size(&moved); own == 0 || all != own*(2*flushBytes/10) {
		t.Errorf("%d and %d bytes", all, own)
	}
}

// TestRowsOver proves that rows which take too much keep no more than their size.
func TestRowsOver(t *testing.T) {
	t.Parallel()
	fill := func(most int) *Rows {
		rows := Rows{most: most}
		random := rand.New(rand.NewSource(1))
		for range 10 * flushBytes / 10 {
			rows.Point(0, 0, random.Int63(), 1, random.Float64(), false)
		}
		return &rows
	}
	whole := fill(0)
	size := whole.Size()
	for _, most := range []int{size, size - 1, 1} {
		rows := fill(most)
		if rows.Size() != size {
			t.Errorf("%d bytes, want %d", rows.Size(), size)
		}
		if kept := len(textOf(t, rows)); most < size && kept > 0 || most == size && kept != size {
			t.Errorf("at most %d bytes of %d: %d are kept", most, size, kept)
		}
	}
}

func textOf(t *testing.T, r *Rows) []byte {
	text, err := r.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestScript proves that the joined scripts are ones that a browser takes, and hide no name of a
// module behind one of another.
func TestScript(t *testing.T) {
	texts := map[string]string{"viewer": viewerFile("viewer.js")}
	for _, name := range pageModules {
		texts[name] = embedded("js/" + name + ".js")
	}
	for _, script := range [][]string{pageModules, append(slices.Clone(viewerModules), "viewer"), {"worker"}} {
		if script[0] == "worker" {
			texts = map[string]string{"worker": viewerFile("worker.js")}
		}
		seen := map[string]string{}
		for _, name := range script {
			joined := compact(texts[name])
			if strings.Contains(joined, "\nimport ") || strings.Contains(joined, "\nexport ") || strings.Contains(joined, "</") {
				t.Errorf("%s is not joined", name)
			}
			for line := range strings.Lines(texts[name]) { // with its indents
				if _, comment, _ := strings.Cut(line, " // "); strings.ContainsAny(comment, "'\"`") {
					t.Errorf("%s: %q may be a string that is cut off", name, line)
				}
				line = strings.TrimPrefix(line, "export ")
				words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" (={", r) })
				if line[0] == ' ' || len(words) < 2 || !strings.Contains(" const let function class async ", " "+words[0]+" ") {
					continue
				}
				if words[0] == "async" {
					words = words[1:]
				}
				if other := seen[words[1]]; other != "" && other != name {
					t.Errorf("%s is in %s and in %s", words[1], other, name)
				}
				seen[words[1]] = name
			}
		}
		if len(seen) < 50 && script[0] != "worker" {
			t.Errorf("%d names", len(seen))
		}
	}
}
