package measure

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hdrkit/internal/clitest"
)

// TestVegeta compares what is read with what vegeta's own decoders read.
func TestVegeta(t *testing.T) {
	clitest.RequireTools(t, "go")
	for _, encoding := range []string{"csv", "json"} {
		path := filepath.Join(t.TempDir(), "results")
		command := exec.Command("go", "run", ".", encoding, path)
		command.Dir = filepath.Join("testdata", "vegeta")
		var stderr strings.Builder
		command.Stderr = &stderr
		want, err := command.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, stderr.String())
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		r, err := NewReader(file, path, "vegeta", Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for r.Scan() {
			if r.bad != nil {
				t.Fatal(r.bad)
			}
			fmt.Fprintln(&got, r.parser.row.Time, r.parser.row.Value, string(r.parser.row.Tag), r.parser.row.Failed)
		}
		if got.String() != string(want) || strings.Count(got.String(), "\n") != 2000 {
			t.Errorf("%s: other rows than vegeta reads", encoding)
		}
	}
}
