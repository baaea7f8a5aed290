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

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/clitest"
)

// counts returns how many values of a tag each second of a log has.
func counts(t *testing.T, text, tag string) map[int]int64 {
	t.Helper()
	all := map[int]int64{}
	r := hdrlog.NewReader(strings.NewReader(text), "out")
	var d histogram.Decoder
	for rec := range r.All() {
		if rec.Kind == hdrlog.IntervalRecord && string(rec.Interval.Tag) == tag {
			var h histogram.Histogram
			if err := d.AddTo(&h, rec.Interval.Payload); err != nil {
				continue // the last line is not whole yet
			}
			all[int((rec.Interval.StartMillis()+rec.Interval.EndMillis())/2000-clitest.LiveStart)] += h.TotalCount()
		}
	}
	return all
}

// TestUnion merges the logs of three writers, whose clocks differ, while the logs are written. One
// is renamed, one is truncated and one stops for a while. A union of the result is the union of
// what was written.
func TestUnion(t *testing.T) {
	t.Parallel()
	for _, signal := range clitest.Interrupts {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			testUnion(t, signal)
		})
	}
}

func testUnion(t *testing.T, signal os.Signal) {
	dir, begin := t.TempDir(), time.Now()
	var writers []*clitest.LogWriter
	for n := range 2 {
		writers = append(writers, clitest.NewLogWriter(t, fmt.Sprintf("%s/node%d.hdr", dir, n), 0.3*float64(n), "rt", "wt"))
	}
	p := clitest.Start(t, nil, "hdrlive", "-idle", "300ms", "-ip", dir, "-if", `node\d\.hdr.*`)
	// The third one joins later.
	writers = append(writers, clitest.NewLogWriter(t, fmt.Sprintf("%s/node%d.hdr", dir, 2), 0.6, "rt"))

	value := int64(0)
	seconds := func(writer, from, to int) {
		for s := from; s <= to; s++ {
			value++
			writers[writer].Second(s, 1000*value, []int64{1, 10, 100}[writer])
		}
	}
	await := func(second int, count int64) {
		t.Helper()
		p.Await(fmt.Sprintf("second %d", second), func() bool { return counts(t, p.Stdout(), "rt")[second] == count })
	}
	for s := range 10 {
		for w := range writers {
			seconds(w, s, s)
		}
	}
	await(8, 111)
	writers[0].Rotate(filepath.Join(dir, "node0.hdr.1"))
	for s := 10; s <= 15; s++ {
		for w := range writers {
			seconds(w, s, s)
		}
	}
	await(14, 111)
	// The third writer stops. The others are not held up, and it is late then.
	for s := 16; s <= 25; s++ {
		seconds(0, s, s)
		seconds(1, s, s)
	}
	await(24, 11)
	seconds(2, 16, 25)
	await(20, 111)
	// The second writer is truncated when all of it was read.
	seconds(0, 26, 27)
	seconds(2, 26, 27)
	await(25, 111)
	writers[1].Begin()
	p.Await("truncation", func() bool {
		return strings.Contains(p.Stderr(), "node1.hdr was truncated; reading it again from its start")
	})
	for s := 28; s <= 30; s++ {
		for w := range writers {
			seconds(w, s, s)
		}
	}
	await(29, 111)
	p.Interrupt(signal, 0) // the last window is written

	live := filepath.Join(t.TempDir(), "live.hdr")
	if err := os.WriteFile(live, []byte(p.Stdout()), 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{"-grid", "1", "-q"}
	for n, w := range writers {
		whole := filepath.Join(t.TempDir(), fmt.Sprintf("whole%d.hdr", n))
		if err := os.WriteFile(whole, w.All.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		args = append(args, whole)
	}
	got, want := absolute(t, "-grid", "1", live), absolute(t, args...)
	if got != want {
		t.Errorf("the live union is\n%s\nnot\n%s", got, want)
	}
	most := 3 * (1 + int(time.Since(begin)/time.Minute)) // each log has one a minute
	if n := strings.Count(p.Stderr(), "came after its window was written"); n < 1 || n > most {
		t.Errorf("%d messages about late intervals: %s", n, p.Stderr())
	}
}

// absolute runs the command and returns tags, absolute times, MAX and payloads.
func absolute(t *testing.T, args ...string) string {
	t.Helper()
	text := output(t, clitest.Build(t, "hdrunion"), args...)
	var b strings.Builder
	r := hdrlog.NewReader(strings.NewReader(text), "union")
	for rec := range r.All() {
		if rec.Kind == hdrlog.IntervalRecord {
			i := &rec.Interval
			highest := strings.Split(string(i.AppendFields(nil)), ",")[2]
			fmt.Fprintf(&b, "%s %d %d %s %s\n", i.Tag, i.StartMillis(), i.EndMillis(), highest, i.Payload)
		}
	}
	return b.String()
}

// TestPipes merges named pipes, as of remote logs, whose writers come in any order. It ends
// when they do.
func TestPipes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := []string{}
	var paths []string
	for _, name := range []string{"a", "b", "c"} {
		path := filepath.Join(dir, name)
		if err := syscall.Mkfifo(path, 0o666); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
		args = append(args, "-if", path)
	}
	p := clitest.Start(t, nil, "hdrlive", args...)
	var pipes []*os.File
	for n := len(paths) - 1; n >= 0; n-- {
		pipe, err := os.OpenFile(paths[n], os.O_WRONLY, 0) // waits for the reader
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(pipe, "#[StartTime: %d (seconds since epoch)]\n", clitest.LiveStart)
		pipes = append(pipes, pipe)
	}
	for s := range 5 {
		for _, pipe := range pipes {
			pipe.Write(clitest.Line(t, s, 1000, 1, "rt"))
		}
	}
	p.Await("second 3", func() bool { return counts(t, p.Stdout(), "rt")[3] == 3 })
	for _, pipe := range pipes {
		pipe.Close()
	}
	p.Ends(0)
	if got := counts(t, p.Stdout(), "rt"); len(got) != 5 || got[4] != 3 {
		t.Errorf("%v", got)
	}
}

// TestOutput checks that the output, in the folder of the logs, is no input.
func TestOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	clitest.NewLogWriter(t, filepath.Join(dir, "a.hdr"), 0, "rt").Second(0, 1000, 1)
	all := filepath.Join(dir, "all.hdr")
	script := fmt.Sprintf(`cd %s && exec hdrlive -if '.*\.hdr' -for 1500ms > all.hdr`, dir)
	p := clitest.Start(t, nil, "sh", "-c", script)
	p.Ends(0)
	text, err := os.ReadFile(all)
	if err != nil {
		t.Fatal(err)
	}
	if got := counts(t, string(text), "rt"); got[0] != 1 {
		t.Errorf("%v", got)
	}
}
