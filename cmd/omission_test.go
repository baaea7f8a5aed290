//go:build unix

package cmd

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hdrkit/internal/clitest"
)

// TestOmission compares hdrunion -co | hdrsum with hdrsum -co of the logs themselves, whose numbers
// are the reference's.
func TestOmission(t *testing.T) {
	t.Parallel()
	build(t)
	logs, err := filepath.Glob(filepath.Join(clitest.Root(), "testdata", "logs", "*.hdr"))
	if err != nil || len(logs) < 20 {
		t.Fatalf("%d logs: %v", len(logs), err)
	}
	corrected := 0
	for n, log := range logs {
		for m, expected := range []string{"10us", "1ms"} {
			if (n+m)%5 >= clitest.Rounds(5) {
				continue
			}
			if filepath.Base(log) == "double.hdr" {
				expected = strings.NewReplacer("us", "e-4us", "ms", "e-4ms").Replace(expected) // its values are small
			}
			pipe := "hdrunion -q -in ns -co " + expected + " " + log + " | hdrsum -if - -st hgrm"
			direct := "hdrsum -st hgrm -in ns -co " + expected + " " + log
			got, want := output(pipe), output(direct)
			if got != want {
				t.Errorf("%s: got\n%.600s\nwant\n%.600s", pipe, got, want)
			}
			if want != output("hdrsum -st hgrm "+log) {
				corrected++
			}
		}
	}
	if corrected < clitest.Rounds(25) {
		t.Errorf("only %d sums were corrected", corrected)
	}
}

// output returns what a command prints on standard output.
func output(command string) string {
	shell := exec.Command("sh", "-c", command)
	var stdout strings.Builder
	shell.Stdout = &stdout
	shell.Run() // it fails where there is nothing to sum up
	return stdout.String()
}
