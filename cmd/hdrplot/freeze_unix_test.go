//go:build browser && unix

package main

import (
	"os"
	"syscall"
	"testing"
)

// freeze stops a process, which keeps its connections, or lets it go on.
func freeze(t *testing.T, process *os.Process, stop bool) {
	t.Helper()
	signal := syscall.SIGCONT
	if stop {
		signal = syscall.SIGSTOP
	}
	if err := process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}
