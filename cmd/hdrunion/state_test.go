//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hdrkit/internal/clitest"
)

// TestStateNow kills a command that began with the intervals of now, before there was a log.
// Started again, it begins where the first one did, not later.
func TestStateNow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	state, out := filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "all.hdr")
	args := []string{"-follow", "-from", "now", "-grid", "1", "-idle", "1h", "-ip", dir, "-if", `node\d\.hdr`, "-state", state, "-of", out}
	p := clitest.Start(t, nil, "hdrunion", args...)
	p.Await("a state", func() bool { _, err := os.Stat(state); return err == nil })
	first := time.Now().Unix() + 1 // the state is of this second or before
	p.Interrupt(syscall.SIGKILL, -1)
	clitest.Await(t, "a later second", nil, func() bool { return time.Now().Unix() > first })
	p = clitest.Start(t, nil, "hdrunion", args...)
	w := clitest.NewLogWriter(t, filepath.Join(dir, "node1.hdr"), float64(first-100-clitest.LiveStart), "rt")
	for _, s := range []int{0, 1, 100, 101, 102} { // the first two are of the past
		w.Second(s, 1000, 1)
	}
	p.Await("two windows", func() bool {
		text, _ := os.ReadFile(out)
		return strings.Count(string(text), "Tag=rt") == 2
	})
}

// TestState kills the command while logs are written. The file that it leaves is the union of all,
// line by line. What else can happen to logs is tested in internal/live.
func TestState(t *testing.T) {
	t.Parallel()
	dir, folder := t.TempDir(), t.TempDir()
	out := filepath.Join(folder, "all.hdr")
	args := []string{"-follow", "-grid", "1", "-idle", "100ms", "-ip", dir, "-if", `node.*`, "-of", out, "-state", filepath.Join(folder, "state")}
	var logs []*clitest.LogWriter
	for n := range 3 {
		logs = append(logs, clitest.NewLogWriter(t, fmt.Sprintf("%s/node%d.hdr", dir, n), 0.3*float64(n), "rt", "wt"))
	}
	values := func() (all int64) {
		text, _ := os.ReadFile(out)
		for _, n := range counts(t, string(text), "rt") {
			all += n
		}
		return all
	}
	offline := []string{"-grid", "1", "-q"}
	for run := range 4 {
		p := clitest.Start(t, nil, "hdrunion", args...)
		for s := 5 * run; s < 5*run+5; s++ {
			for n, w := range logs {
				w.Second(s, int64(1000*(s+1)), int64(1+n*10))
			}
		}
		p.Await("a window", func() bool { return values() > int64(33*5*run) })
		p.Interrupt(syscall.SIGKILL, -1)
	}
	p := clitest.Start(t, nil, "hdrunion", args...)
	p.Await("all windows", func() bool { return values() == 33*20 })
	p.Interrupt(os.Interrupt, 0)
	for _, w := range logs {
		offline = append(offline, w.Path)
	}
	// Late intervals are lines of their own.
	if got, want := absolute(t, "-grid", "1", out), absolute(t, offline...); got != want {
		t.Errorf("the file has\n%s\nnot\n%s", got, want)
	}
}
