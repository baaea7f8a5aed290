//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"hdrkit/internal/clitest"
)

// TestState kills the command again and again while logs are written, and checks that each interval
// counts once: in the rows of a file, at InfluxDB and in the counters that Prometheus scrapes.
func TestState(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"of", "influx", "listen"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(len(mode)), 1))
			dir, folder := t.TempDir(), t.TempDir()
			out, state := filepath.Join(folder, "rows"), filepath.Join(folder, "state")
			r := receive(t, func(int) int { return 204 })
			at := address(t)
			args := []string{"-follow", "-agg", "1", "-idle", "1h", "-ip", dir, "-if", `node\d\.hdr`, "-ovr", "1e6", "-state", state}
			offline := []string{"-q", "-agg", "1", "-ovr", "1e6", "-st", "influx", "-precision", "ms"}
			switch mode {
			case "of":
				args = append(args, "-st", "influx", "-precision", "ms", "-of", out)
			case "influx":
				args = append(args, "-st", "influx", "-push", r.URL+"/write?precision=ms")
			case "listen":
				args = append(args, "-metric", "rt", "-listen", at)
			}
			counter := regexp.MustCompile(`rt_count{tag="insert-rt"} (\d+)`)
			scraped := int64(0)
			points := func() []string { // of all that the output has
				switch mode {
				case "of":
					text, _ := os.ReadFile(out)
					return strings.SplitAfter(string(text), "\n")
				case "influx":
					return strings.SplitAfter(r.text(), "\n")
				}
				if m := counter.FindStringSubmatch(fetch("http://" + at + "/metrics")); m != nil {
					n, _ := strconv.ParseInt(m[1], 10, 64)
					if n < scraped {
						t.Errorf("a counter falls from %d to %d", scraped, n)
					}
					scraped = n
				}
				return make([]string, 2*scraped/300+1)
			}
			const seconds = 25
			all := writers(t, dir, 1)
			var p *clitest.Process
			for s := 1; s < seconds; s++ {
				if p == nil {
					p = clitest.Start(t, nil, "hdrsum", args...)
				}
				writeSeconds(all, s, s+1)
				if random.IntN(3) == 0 {
					p.Await("rows", func() bool { return len(points()) >= 2*s+1 })
				}
				if random.IntN(3) == 0 {
					p.Interrupt(syscall.SIGKILL, -1)
					p = nil
				}
			}
			if p == nil {
				p = clitest.Start(t, nil, "hdrsum", args...)
			}
			for _, w := range all {
				offline = append(offline, w.Path)
			}
			want := strings.SplitAfter(must(t, offline...), "\n")
			want = append(want[:2*(seconds-1)], "") // the last window is open
			if mode == "listen" {
				p.Await("all", func() bool { return len(points()) >= len(want) })
				if scraped != 300*(seconds-1) {
					t.Errorf("%d values, not %d", scraped, 300*(seconds-1))
				}
				return
			}
			has := func() []string {
				got := points()
				if mode == "influx" { // the same point can arrive again
					slices.Sort(got)
					got = slices.Compact(got)
				}
				return got
			}
			slices.Sort(want)
			p.Await(fmt.Sprintf("%d rows", len(want)), func() bool { return len(has()) >= len(want) })
			got := has()
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%q\nnot\n%q", got, want)
			}
		})
	}
}
