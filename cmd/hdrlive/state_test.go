//go:build unix

package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
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
	args := []string{"-s", "now", "-idle", "1h", "-ip", dir, "-if", `node\d\.hdr`, "-state", state, "-of", out}
	p := clitest.Start(t, nil, "hdrlive", args...)
	p.Await("a state", func() bool {
		info, err := os.Stat(state)
		return err == nil && info.Size() > 0
	})
	first := time.Now().Unix() + 1 // the state is of this second or before
	p.Interrupt(syscall.SIGKILL, -1)
	clitest.Await(t, "a later second", nil, func() bool { return time.Now().Unix() > first })
	p = clitest.Start(t, nil, "hdrlive", args...)
	w := clitest.NewLogWriter(t, filepath.Join(dir, "node1.hdr"), float64(first-10_000-clitest.LiveStart), "rt")
	for _, s := range []int{0, 1, 10_000, 10_001, 10_002} { // the first two are of the past
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
	args := []string{"-idle", "100ms", "-ip", dir, "-if", `node.*`, "-of", out, "-state", filepath.Join(folder, "state")}
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
		p := clitest.Start(t, nil, "hdrlive", args...)
		for s := 5 * run; s < 5*run+5; s++ {
			for n, w := range logs {
				w.Second(s, int64(1000*(s+1)), int64(1+n*10))
			}
		}
		p.Await("a window", func() bool { return values() > int64(33*5*run) })
		p.Interrupt(syscall.SIGKILL, -1)
	}
	p := clitest.Start(t, nil, "hdrlive", args...)
	for n, w := range logs { // the file may have all other windows before the command catches signals
		w.Second(20, 21000, int64(1+n*10))
	}
	p.Await("all windows", func() bool { return values() == 33*21 })
	p.Interrupt(os.Interrupt, 0)
	for _, w := range logs {
		offline = append(offline, w.Path)
	}
	// Late intervals are lines of their own.
	if got, want := absolute(t, "-grid", "1", out), absolute(t, offline...); got != want {
		t.Errorf("the file has\n%s\nnot\n%s", got, want)
	}
}

// TestStateCutShort: a compressed log that is cut short at a stop is named. Each of its intervals
// counts once when the rest has come.
func TestStateCutShort(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, out := filepath.Join(dir, "a.hdr.gz"), filepath.Join(dir, "all.hdr")
	w := clitest.NewLogWriter(t, filepath.Join(dir, "a.hdr"), 0, "rt")
	for s := range 500 {
		w.Second(s, int64(1000+s), 1)
	}
	text, err := os.ReadFile(w.Path)
	var whole bytes.Buffer
	zipped := gzip.NewWriter(&whole)
	zipped.Write(text)
	zipped.Close()
	if err != nil {
		t.Fatal(err)
	}
	for part := 1; part <= 3; part++ {
		if err := os.WriteFile(path, whole.Bytes()[:whole.Len()*part/3], 0o666); err != nil {
			t.Fatal(err)
		}
		p := clitest.Start(t, nil, "hdrlive", "-for", "1s", "-state", filepath.Join(dir, "state"), "-of", out, path)
		p.Ends([]int{3, 3, 0}[part-1])
		if named := strings.Contains(p.Stderr(), "line: compressed file is cut short"); named != (part < 3) {
			t.Errorf("part %d: %s", part, p.Stderr())
		}
	}
	if got, want := absolute(t, "-grid", "1", out), absolute(t, "-grid", "1", "-q", w.Path); got != want {
		t.Errorf("the file has\n%s\nnot\n%s", got, want)
	}
}

// TestStateFullDisk lets the disk of the log and of the state get full: before the first line, and
// later. Other outputs go on, and once there is room the log has one header and all windows. At the
// end, a full disk is status 1.
func TestStateFullDisk(t *testing.T) {
	t.Parallel()
	folder, dir := clitest.SmallDisk(t), t.TempDir()
	out, full := filepath.Join(folder, "all.hdr"), filepath.Join(folder, "full")
	r := clitest.Receive(t, func(int) int { return 204 })
	args := []string{"-idle", "100ms", "-ip", dir, "-if", `node.*`, "-of", out, "-state", filepath.Join(folder, "state"),
		"-serve", "127.0.0.1:0", "-push", r.URL + "/write"}
	w := clitest.NewLogWriter(t, filepath.Join(dir, "node1.hdr"), 0, "rt")
	second := 0
	written := func() int {
		text, _ := os.ReadFile(out)
		return strings.Count(string(text), "Tag=rt")
	}
	fill := func(free int64) {
		t.Helper()
		if err := os.WriteFile(full, make([]byte, 1<<20), 0o666); err == nil {
			t.Fatal("the disk has room for 1 MB")
		}
		info, err := os.Stat(full)
		if err == nil {
			err = os.Truncate(full, info.Size()-free)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, free := range []int64{0, 4096, 0} {
		fill(free)
		p := clitest.Start(t, nil, "hdrlive", args...)
		at := p.Serves()
		p.Await("a full disk", func() bool {
			if second < written()+100 {
				w.Second(second, 1000, 1)
				second++
			}
			return strings.Contains(p.Stderr(), "the disk is full") && strings.HasPrefix(clitest.Fetch("http://"+at+"/readyz"), "the disk of -")
		})
		w.Second(second, 1000, 1)
		second++
		p.Await("all windows at the receiver", func() bool {
			return strings.Contains(r.Text(), fmt.Sprintf(" %d000000000\n", clitest.LiveStart+second))
		})
		if err := os.Remove(full); err != nil {
			t.Fatal(err)
		}
		p.Await("all windows", func() bool { return written() == second })
		p.Await("ready", func() bool { return clitest.Fetch("http://"+at+"/readyz") == "ready\n" })
		p.Interrupt(os.Interrupt, 0)
	}
	text, err := os.ReadFile(out)
	if n := strings.Count(string(text), "#[Written by hdrkit"); err != nil || n != 1 {
		t.Errorf("%d comments of the writer, %v", n, err)
	}
	if got, want := absolute(t, "-grid", "1", out), absolute(t, "-grid", "1", "-q", w.Path); got != want {
		t.Errorf("the file has\n%s\nnot\n%s", got, want)
	}
	fill(0)
	p := clitest.Start(t, nil, "hdrlive", args...)
	p.Await("a full disk", func() bool {
		w.Second(second, 1000, 1)
		second++
		return strings.Contains(p.Stderr(), "the disk is full")
	})
	p.Interrupt(os.Interrupt, 1)
}

// TestFullDisks lets the disk of the merged log or that of the state get full, while the other one
// has room. hdrlive says which one is full, page and metrics go on, and the status is 1 if it ends
// that way.
func TestFullDisks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		output, says string
		written      func(of string, second int) bool
	}{
		{
			output:  "-of",
			says:    "all.hdr: the disk is full; what it does not take waits in memory",
			written: func(of string, second int) bool { return windowsIn(of) < second },
		},
		{
			output:  "-state",
			says:    "no state can be written: ",
			written: func(of string, second int) bool { return windowsIn(of) >= second-1 },
		},
	} {
		t.Run(test.output, func(t *testing.T) {
			t.Parallel()
			small, dir, large := clitest.SmallDisk(t), t.TempDir(), t.TempDir()
			files := map[string]string{"-of": filepath.Join(large, "all.hdr"), "-state": filepath.Join(large, "state")}
			files[test.output] = filepath.Join(small, filepath.Base(files[test.output]))
			w := clitest.NewLogWriter(t, filepath.Join(dir, "node1.hdr"), 0, "rt")
			p := clitest.Start(t, nil, "hdrlive", "-idle", "100ms", "-ip", dir, "-if", "node.*", "-metric", "rt",
				"-of", files["-of"], "-state", files["-state"], "-serve", "127.0.0.1:0")
			at := "http://" + p.Serves()
			var page atomic.Int64
			go countUpdates(at+"/events", &page)
			second := 0
			write := func() {
				w.Second(second, 1000, 1)
				second++
			}
			shows := func(what string) {
				t.Helper()
				p.Await(what, func() bool {
					return strings.Contains(clitest.Fetch(at+"/metrics"), fmt.Sprintf("rt_count{tag=\"rt\"} %d\n", second))
				})
			}
			write()
			shows("metrics")
			if err := os.WriteFile(filepath.Join(small, "full"), make([]byte, 1<<20), 0o666); err == nil {
				t.Fatal("the disk has room for 1 MB")
			}
			full := "the disk of " + test.output + " " + files[test.output] + " is full\n"
			p.Await("a full disk", func() bool {
				write()
				return clitest.Fetch(at+"/readyz") == full
			})
			updates := page.Load()
			write()
			shows("metrics of a full disk")
			p.Await("an update of the page", func() bool { return page.Load() > updates })
			if !test.written(files["-of"], second) {
				t.Errorf("the merged log has %d windows of %d", windowsIn(files["-of"]), second)
			}
			gauges := regexp.MustCompile("(?m)^hdrkit_disk_full{.*").FindAllString(clitest.Fetch(at+"/metrics"), -1)
			if want := fmt.Sprintf("hdrkit_disk_full{output=%q} 1", test.output+" "+files[test.output]); !slices.Equal(gauges, []string{want}) {
				t.Errorf("%q, not %q", gauges, want)
			}
			p.Interrupt(syscall.SIGTERM, 1)
			said := strings.Count(p.Stderr(), "the disk is full") + strings.Count(p.Stderr(), "no state can be written")
			if said != 1 || !strings.Contains(p.Stderr(), test.says) || !strings.HasSuffix(p.Stderr(), ": no space left on device\n") {
				t.Errorf("%s", p.Stderr())
			}
		})
	}
}

// windowsIn returns the number of windows in a merged log.
func windowsIn(path string) int {
	text, _ := os.ReadFile(path)
	return strings.Count(string(text), "Tag=rt")
}

// countUpdates counts the updates of a page until it ends.
func countUpdates(url string, updates *atomic.Int64) {
	response, err := http.Get(url)
	if err != nil {
		return
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if lines.Text() == "event: rows" {
			updates.Add(1)
		}
	}
}

// TestBacklog: SIGTERM ends a command with a state although it has much to read. Its output takes
// few rows a second, so that it cannot have read all. The next start reads the rest, and each
// interval counts once.
func TestBacklog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rows, out := filepath.Join(dir, "rows"), filepath.Join(dir, "all.hdr")
	if err := syscall.Mkfifo(rows, 0o666); err != nil {
		t.Fatal(err)
	}
	const seconds = 50_000
	w := clitest.NewLogWriter(t, filepath.Join(dir, "a.hdr"), 0, "rt")
	line := string(clitest.Line(t, 0, 1000, 1, "rt"))
	line = line[strings.Index(line, "Tag="):]
	var log strings.Builder
	for s := range seconds {
		log.WriteString(strings.Replace(line, ",0.000,", fmt.Sprintf(",%d.000,", s), 1))
	}
	w.Line(log.String())
	args := fmt.Sprintf("exec hdrlive -idle 100ms -st ndjson -of %s -state %s %s", out, filepath.Join(dir, "state"), w.Path)
	p := clitest.Start(t, nil, "sh", "-c", args+" > "+rows)
	reader, err := os.Open(rows) // waits for the writer
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	part := make([]byte, 4<<10)
	first, err := io.ReadFull(reader, part)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.Write(part[:first])
	p.Signal(syscall.SIGTERM)
	for pace := time.NewTicker(5 * time.Millisecond); err == nil; <-pace.C { // at this pace all rows take 10 seconds
		var n int
		n, err = reader.Read(part)
		text.Write(part[:n])
	}
	p.Ends(0)
	before := strings.Count(text.String(), "\n")
	if before >= seconds/2 {
		t.Fatalf("the command has read %d of %d intervals", before, seconds)
	}
	p = clitest.Start(t, nil, "sh", "-c", args)
	p.Await("the other rows", func() bool { return strings.Count(p.Stdout(), "\n") >= seconds-before-1 })
	p.Interrupt(syscall.SIGTERM, 0)
	if got, want := absolute(t, "-grid", "1", out), absolute(t, "-grid", "1", "-q", w.Path); got != want {
		t.Errorf("the merged log has %d intervals of %d, or others", strings.Count(got, "\n"), strings.Count(want, "\n"))
	}
}

// TestStateOutputs kills the command again and again while logs are written, and checks that each
// interval counts once: at InfluxDB and in the counters that Prometheus scrapes.
func TestStateOutputs(t *testing.T) {
	t.Parallel()
	hdrsum := clitest.Build(t, "hdrsum")
	for _, mode := range []string{"influx", "serve"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(len(mode)), 1))
			dir, folder := t.TempDir(), t.TempDir()
			state := filepath.Join(folder, "state")
			r := clitest.Receive(t, func(int) int { return 204 })
			args := []string{"-idle", "1h", "-ip", dir, "-if", `node\d\.hdr`, "-in", "ns", "-unit", "ms", "-state", state}
			offline := []string{"-q", "-agg", "1", "-in", "ns", "-unit", "ms", "-st", "influx", "-p", "50,90,99,99.9"}
			switch mode {
			case "influx":
				args = append(args, "-push", r.URL+"/write?precision=ms")
			case "serve":
				args = append(args, "-metric", "rt", "-serve", "127.0.0.1:0", "-of", filepath.Join(folder, "all.hdr"))
			}
			counter := regexp.MustCompile(`rt_count{tag="insert-rt"} (\d+)`)
			scraped := int64(0)
			var p *clitest.Process
			points := func() []string { // of all that the output has
				switch mode {
				case "influx":
					return strings.SplitAfter(r.Text(), "\n")
				}
				if m := counter.FindStringSubmatch(clitest.Fetch("http://" + p.Serves() + "/metrics")); m != nil {
					n, _ := strconv.ParseInt(m[1], 10, 64)
					if n < scraped {
						t.Errorf("a counter falls from %d to %d", scraped, n)
					}
					scraped = n
				}
				return make([]string, 2*scraped/300+1)
			}
			const seconds = 25
			all := clitest.Writers(t, dir, 1)
			for s := 1; s < seconds; s++ {
				if p == nil {
					p = clitest.Start(t, nil, "hdrlive", args...)
				}
				clitest.WriteSeconds(all, s, s+1)
				if random.IntN(3) == 0 {
					p.Await("rows", func() bool { return len(points()) >= 2*s+1 })
				}
				if random.IntN(3) == 0 {
					p.Interrupt(syscall.SIGKILL, -1)
					p = nil
				}
			}
			if p == nil {
				p = clitest.Start(t, nil, "hdrlive", args...)
			}
			for _, w := range all {
				offline = append(offline, w.Path)
			}
			want := strings.SplitAfter(output(t, hdrsum, offline...), "\n")
			want = append(want[:2*(seconds-1)], "") // the last window is open
			if mode == "serve" {
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

// TestStateSameText: a log is known by its text, whatever file has it. Each interval counts once.
func TestStateSameText(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(dir, path string) error{
		"copied back": func(dir, path string) error {
			text, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "copy"), text, 0o666)
			}
			if err == nil {
				err = os.Rename(filepath.Join(dir, "copy"), path)
			}
			return err
		},
		"compressed": func(dir, path string) error {
			text, err := os.ReadFile(path)
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			w.Write(text)
			w.Close()
			if err == nil {
				err = os.WriteFile(path+".1.gz", packed.Bytes(), 0o666)
			}
			if err == nil {
				err = os.Remove(path)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, own := t.TempDir(), t.TempDir()
			out := filepath.Join(own, "all.hdr")
			args := []string{"-for", "1s", "-idle", "100ms", "-ip", dir, "-if", `node.*`, "-of", out, "-state", filepath.Join(own, "state")}
			w := clitest.NewLogWriter(t, filepath.Join(dir, "node1.hdr"), 0, "rt")
			for s := range 20 {
				w.Second(s, 1000, 1)
			}
			whole := absolute(t, "-grid", "1", "-q", w.Path)
			for range 2 {
				clitest.Start(t, nil, "hdrlive", args...).Ends(0)
				if err := change(dir, w.Path); err != nil && name == "copied back" {
					t.Fatal(err)
				}
			}
			if got := absolute(t, "-grid", "1", out); got != whole {
				t.Errorf("the file has\n%s\nnot\n%s", got, whole)
			}
		})
	}
}

// TestReplaced: a log is replaced by a longer copy of itself while it is read.
func TestReplaced(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "all.hdr")
	w := clitest.NewLogWriter(t, filepath.Join(dir, "whole.hdr"), 0, "rt")
	for s := range 20 {
		w.Second(s, 1000, 1)
	}
	text, err := os.ReadFile(w.Path)
	path := filepath.Join(dir, "node1.hdr")
	half := bytes.LastIndexByte(text[:len(text)/2], '\n') + 1
	if err == nil {
		err = os.WriteFile(path, text[:half], 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := clitest.Start(t, nil, "hdrlive", "-idle", "100ms", "-ip", dir, "-if", "node.*", "-of", out)
	windows := func(n int) func() bool {
		return func() bool {
			text, _ := os.ReadFile(out)
			return strings.Count(string(text), "Tag=rt") >= n
		}
	}
	p.Await("windows", windows(5))
	if err := os.Rename(w.Path, path); err != nil {
		t.Fatal(err)
	}
	p.Await("all windows", windows(19))
	p.Interrupt(os.Interrupt, 0)
	if got, want := absolute(t, "-grid", "1", out), absolute(t, "-grid", "1", "-q", path); got != want {
		t.Errorf("the file has\n%s\nnot\n%s", got, want)
	}
}

// TestUsed: a state and a merged log serve one command at a time, from its start on.
func TestUsed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, args := range [][]string{{"-of", filepath.Join(dir, "all.hdr")}, {"-of", filepath.Join(dir, "other.hdr"), "-state", filepath.Join(dir, "state")}} {
		p := clitest.Start(t, nil, "hdrlive", append([]string{"-ip", dir, "-if", "node.*"}, args...)...)
		p.Await("its start", func() bool { _, err := os.Stat(args[len(args)-1]); return err == nil })
		second := clitest.Start(t, nil, "hdrlive", append([]string{"-ip", dir, "-if", "node.*"}, args...)...)
		second.Ends(1)
		if want := args[len(args)-1] + ": another command that runs uses it; give each command a file of its own"; !strings.Contains(second.Stderr(), want) {
			t.Errorf("%q", second.Stderr())
		}
		p.Interrupt(os.Interrupt, 3)
	}
}

// TestStateOpenWindows: what was read of a log before a clean stop counts, also in windows that
// were open, if the log is deleted then. After a kill, the next start says what is missing.
func TestStateOpenWindows(t *testing.T) {
	t.Parallel()
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprintf("killed %t", killed), func(t *testing.T) {
			t.Parallel()
			dir, own := t.TempDir(), t.TempDir()
			out := filepath.Join(own, "all.hdr")
			args := []string{"-idle", "1h", "-ip", dir, "-if", `node.*`, "-of", out, "-state", filepath.Join(own, "state")}
			var logs []*clitest.LogWriter
			for n := range 2 {
				logs = append(logs, clitest.NewLogWriter(t, fmt.Sprintf("%s/node%d.hdr", dir, n), 0, "rt"))
				for s := range 10 {
					logs[n].Second(s, 1000, 1)
				}
			}
			whole := absolute(t, "-grid", "1", "-q", logs[0].Path, logs[1].Path)
			state := func() string {
				text, _ := os.ReadFile(filepath.Join(own, "state"))
				return string(text)
			}
			start := func(what string, ready func(stderr string) bool) *clitest.Process {
				p := clitest.Start(t, nil, "hdrlive", args...)
				p.Await(what, func() bool { return ready(p.Stderr()) })
				return p
			}
			says := func(text string) *clitest.Process {
				return start(text, func(stderr string) bool { return strings.Contains(stderr, text) })
			}
			windows := func(string) bool {
				text, _ := os.ReadFile(out)
				return strings.Count(string(text), "Tag=rt") >= 8
			}
			goesOn := func(string) bool {
				return strings.Contains(state(), `"Version"`) && !strings.Contains(state(), `"Parts"`)
			}
			start("windows", windows).Interrupt(os.Interrupt, 0)
			if !strings.Contains(state(), `"Parts"`) {
				t.Error("the state has no open windows")
			}
			if err := os.Remove(logs[0].Path); err != nil {
				t.Fatal(err)
			}
			gone := logs[0].Path + " is gone since the state was written; what it got after that is missing, if it got anything"
			if !killed {
				for range 2 {
					start("a state", goesOn).Interrupt(os.Interrupt, 0)
				}
				if got := absolute(t, "-grid", "1", out); got != whole {
					t.Errorf("the file has\n%s\nnot\n%s", got, whole)
				}
				return
			}
			p := says(gone)
			p.Await("a state", func() bool { return goesOn("") && strings.Contains(state(), `"Held"`) })
			p.Interrupt(syscall.SIGKILL, -1)
			p = says(logs[0].Path + " was gone before a crash; lines that no window has are missing")
			p.Interrupt(os.Interrupt, 3)
		})
	}
}
