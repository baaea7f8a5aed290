package clitest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"hdrkit/hdrlog/histogram"
)

// WideHistogram returns a histogram that has count values in each of its lowest slots.
func WideHistogram(t testing.TB, digits, slots int, count int64) *histogram.Histogram {
	t.Helper()
	h, err := histogram.New(histogram.Layout{Digits: digits, Lowest: 1})
	if err != nil {
		t.Fatal(err)
	}
	for index := range slots {
		if err := h.RecordN(h.Layout().LowestAt(index), count); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// TagsLog writes a log in which each of many tags has some intervals, all with the histogram h. It
// returns the path.
func TagsLog(t testing.TB, tags, intervals int, h *histogram.Histogram) string {
	t.Helper()
	payload, err := new(histogram.Encoder).AppendBase64(nil, h)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	for second := range intervals {
		for tag := range tags {
			fmt.Fprintf(&log, "Tag=%d,%d,1,0,%s\n", tag, second, payload)
		}
	}
	path := filepath.Join(t.TempDir(), "tags.hdr")
	if err := os.WriteFile(path, log.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Scale is 8 if HDRKIT_REQUIRE_TOOLS is 1, as in CI, and otherwise 1: tests of memory then take an
// eighth of their input and of the usual limit.
func Scale() int {
	if Rounds(1) > 0 {
		return 8
	}
	return 1
}

// AtMost runs a command with -memory 64MiB times [Scale], and checks its peak of memory: at most
// this, 64 MiB and a sixteenth, which the runtime takes above its limit. The command must succeed.
// If refused is not empty, it must instead end with status 1 and a message that contains refused.
// With -short, the test is skipped.
func AtMost(t testing.TB, refused, name string, args ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("the race detector, which runs with -short, takes memory of its own")
	}
	limit := 64 * Scale()
	most := limit + 64 + limit/16
	c := exec.Command("peak", append([]string{name, "-memory", fmt.Sprint(limit, "MiB")}, args...)...)
	c.Env = append(os.Environ(), "GOGC=100")
	var memory bytes.Buffer
	c.Stdout = &memory
	var stderr bytes.Buffer
	c.Stderr = &stderr
	err := c.Run()
	out := stderr.Bytes()
	switch {
	case refused == "" && err != nil:
		t.Fatalf("%v\n%s", err, out)
	case refused != "" && (c.ProcessState.ExitCode() != 1 || !bytes.Contains(out, []byte(refused)) || !bytes.Contains(out, []byte("raise -memory"))):
		t.Errorf("%v\n%s, want it refused: %s", err, out, refused)
	}
	peak, err := strconv.Atoi(memory.String())
	if err != nil || peak > most {
		t.Errorf("%v: %d MiB, want at most %d", err, peak, most)
	}
}

func init() { commands["peak"] = peak }

// peak runs a command and prints how many MiB it took. It is a small process, because Linux counts
// the memory of the process that starts a command as memory of the command.
func peak() {
	c := exec.Command(os.Args[1], os.Args[2:]...)
	c.Stderr = os.Stderr
	c.Run()
	fmt.Print(c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10)
	os.Exit(c.ProcessState.ExitCode())
}
