package clitest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"hdrkit/hdrlog/histogram"
)

// WideHistogram returns a histogram with a count in each of its lowest slots.
func WideHistogram(t testing.TB, digits, slots int, count int64) *histogram.Histogram {
	t.Helper()
	h, err := histogram.New(histogram.Layout{Digits: digits, Lowest: 1})
	if err != nil {
		t.Fatal(err)
	}
	for index := range slots {
		if err := h.Record(h.Layout().LowestAt(index), count); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// TagsLog writes a log of many tags, with some intervals each and the same histogram in all of
// them, and returns its path.
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

// AtMost runs a command of the package, see [Main]. It must take at most the memory that -memory
// allows by default, and 64 MiB, and succeed, or end with status 1 and a message that begins as
// refused does, if that is not empty. With -short, the test is skipped.
func AtMost(t testing.TB, refused, name string, args ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("the race detector, which runs with -short, takes memory of its own")
	}
	const mib = 512 + 64
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(name, args...)
	out, err := c.CombinedOutput()
	switch {
	case refused == "" && err != nil:
		t.Fatalf("%v\n%s", err, out)
	case refused != "" && (c.ProcessState.ExitCode() != 1 || !bytes.Contains(out, []byte(refused)) || !bytes.Contains(out, []byte("raise -memory"))):
		t.Errorf("%v\n%s, want it refused: %s", err, out, refused)
	}
	// Linux counts the memory of this process too, at the start of the other one.
	peak := int64(c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) >> 10
	if peak > max(mib, int64(own.Maxrss)>>10) {
		t.Errorf("%d MiB, want at most %d", peak, mib)
	}
}
