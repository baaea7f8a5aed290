//go:build unix

package main

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hdrkit/internal/clitest"
)

// TestSignal ends hdrunion by a signal while it waits for a pipe. The old file stays, and nothing
// else. As under nohup, a terminal that is closed changes nothing if the signal is ignored.
func TestSignal(t *testing.T) {
	for _, test := range []struct {
		name    string
		signal  syscall.Signal
		status  int
		ignored bool
	}{
		{"terminated", syscall.SIGTERM, 143, false},
		{"Ctrl-C", syscall.SIGINT, 130, false},
		{"terminal closed", syscall.SIGHUP, 129, false},
		{"terminal closed under nohup", syscall.SIGHUP, 0, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.ignored {
				signal.Ignore(test.signal) // hdrunion inherits that
				defer signal.Reset(test.signal)
			} else { // hdrunion must not inherit that the test itself runs under nohup
				caught := make(chan os.Signal, 1)
				signal.Notify(caught, test.signal)
				defer signal.Stop(caught)
			}
			folder := t.TempDir()
			out := filepath.Join(folder, "out")
			if err := os.WriteFile(out, []byte("as it was"), 0o666); err != nil {
				t.Fatal(err)
			}
			stdin, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			p := clitest.Start(t, stdin, "hdrunion", "-if", "-", "-if", filepath.Join(testdata, "logs", "straddle-a.hdr"), "-of", out)
			stdin.Close()
			p.Await("a temporary file", func() bool {
				files, _ := filepath.Glob(filepath.Join(folder, ".*.hdrkit-*.tmp"))
				return len(files) > 0
			})
			want := "as it was"
			if test.ignored {
				p.Signal(test.signal)
				w.Close() // ends the input
				p.Ends(0)
				want = "HIST"
			} else {
				p.Interrupt(test.signal, test.status)
				if p.Stderr() != "hdrunion: interrupted\n" {
					t.Error(p.Stderr())
				}
			}
			if text, err := os.ReadFile(out); err != nil || !strings.Contains(string(text), want) {
				t.Errorf("%v, the file holds %.80q", err, text)
			}
			if files, err := os.ReadDir(folder); err != nil || len(files) != 1 {
				t.Errorf("%v, there are %v", err, files)
			}
		})
	}
}
