//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
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

// TestState kills the command again and again while logs are written, rotated and truncated, also
// between two runs. The file that it leaves is the union of all, line by line.
func TestState(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 3))
			dir, out := t.TempDir(), filepath.Join(t.TempDir(), "all.hdr")
			var logs []*clitest.LogWriter
			for n := range 3 {
				logs = append(logs, clitest.NewLogWriter(t, fmt.Sprintf("%s/node%d.hdr", dir, n), 0.3*float64(n), "rt", "wt"))
			}
			// The rotated logs of the first match too, those of the others do not.
			state := filepath.Join(t.TempDir(), "state")
			args := []string{"-follow", "-grid", "1", "-idle", "1s", "-ip", dir, "-if", `node0\.hdr.*`, "-if", "node1.hdr", "-if", "node2.hdr",
				"-of", out, "-state", state}
			written := func() string {
				text, _ := os.ReadFile(out)
				return string(text)
			}
			const seconds = 60
			var p *clitest.Process
			for s := range seconds + 2 {
				if p == nil {
					p = clitest.Start(t, nil, "hdrunion", args...)
				}
				for n, w := range logs {
					if random.IntN(3) > 0 {
						w.Second(s, int64(1000*(s+1)), int64(1+n*10))
						continue
					}
					text := string(clitest.Line(t, s, int64(1000*(s+1)), int64(1+n*10), w.Tags...))
					cut := random.IntN(len(text))
					w.Line(text[:cut])
					if p != nil && random.IntN(4) == 0 {
						p.Interrupt(syscall.SIGKILL, -1)
						p = nil
					}
					w.Line(text[cut:])
				}
				switch random.IntN(8) {
				case 0:
					w := logs[random.IntN(len(logs))]
					if w != logs[0] { // a file that no run has seen is found by its name only
						if p == nil {
							break
						}
						info, err := os.Stat(w.Path)
						if err != nil {
							t.Fatal(err)
						}
						p.Await("the state", func() bool {
							text, _ := os.ReadFile(state)
							return strings.Contains(string(text), fmt.Sprintf(`"Inode":%d,`, info.Sys().(*syscall.Stat_t).Ino))
						})
						if random.IntN(2) == 0 {
							p.Interrupt(syscall.SIGKILL, -1)
							p = nil
						}
					}
					w.Rotate(fmt.Sprintf("%s.%d", w.Path, s))
				case 1:
					if s > 1 && p != nil {
						p.Await("the windows before", func() bool { return counts(t, written(), "rt")[s-2] == 33 })
					}
				case 2:
					if s > 1 && p != nil {
						before, _ := os.Stat(state)
						logs[0].Line("# so that there is a new state\n")
						p.Await("a state", func() bool {
							now, err := os.Stat(state)
							return err == nil && !os.SameFile(before, now)
						})
						p.Interrupt(os.Interrupt, 0) // open windows wait in the state
						p = nil
					}
				}
			}
			if p == nil {
				p = clitest.Start(t, nil, "hdrunion", args...)
			}
			p.Await("all windows", func() bool { return counts(t, written(), "rt")[seconds+1] == 33 })
			p.Interrupt(os.Interrupt, 0)
			args = []string{"-grid", "1", "-q"}
			for n, w := range logs {
				whole := filepath.Join(t.TempDir(), fmt.Sprintf("whole%d.hdr", n))
				if err := os.WriteFile(whole, w.All.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
				args = append(args, whole)
			}
			// Late intervals are lines of their own.
			if got, want := absolute(t, "-grid", "1", out), absolute(t, args...); got != want {
				t.Errorf("the file has\n%s\nnot\n%s", got, want)
			}
		})
	}
}
