package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"hdrkit/internal/clitest"
)

// command returns a command that runs hdrsum in a process of its own.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Args = append([]string{"hdrsum"}, args...) // testscript.Main runs the command of this name
	return c
}

// TestSignalEndsLines ends hdrsum by a signal while it writes to a pipe that is full: its last line
// is whole.
func TestSignalEndsLines(t *testing.T) {
	t.Parallel()
	node1, err := os.ReadFile(filepath.Join(clitest.Root(), "testdata", "logs", "node1.hdr"))
	if err != nil {
		t.Fatal(err)
	}
	big := filepath.Join(t.TempDir(), "big.hdr")
	if err := os.WriteFile(big, bytes.Repeat(node1, 60), 0o666); err != nil {
		t.Fatal(err)
	}
	for round := range 6 {
		c := command(t, big, "-st", "ndjson", "-j", "1")
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		c.Stdout = w
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		out := bufio.NewReaderSize(r, 100) // reads little ahead, so that the pipe fills
		for range 50 * (round + 1) {
			if _, err := out.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		waitFull(t, r)
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		exit, ok := c.Wait().(*exec.ExitError)
		rest, err := io.ReadAll(out)
		r.Close()
		if err != nil || len(rest) > 0 && !bytes.HasSuffix(rest, []byte("\n")) {
			t.Errorf("%v, the output ends in %q", err, rest[max(0, len(rest)-100):])
		}
		if !ok || exit.ExitCode() != 128+int(syscall.SIGTERM) {
			t.Errorf("%v", exit)
		}
	}
}

// waitFull waits until a pipe is full: what it holds, which need not fill its pages, stays the
// same.
func waitFull(t *testing.T, pipe *os.File) {
	t.Helper()
	same, last := 0, int32(0)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		var size int32
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, pipe.Fd(), syscall.TIOCINQ, uintptr(unsafe.Pointer(&size))); errno != 0 {
			t.Fatal(errno)
		}
		same++
		if size != last || size < 4<<10 {
			same = 0
		}
		last = size
		if same == 200 {
			return
		}
	}
	t.Fatal("the pipe does not fill")
}

// TestSignalEndsFiles ends hdrsum by a signal while it writes a file for each of many tags: all
// files are there, or none.
func TestSignalEndsFiles(t *testing.T) {
	t.Parallel()
	log := filepath.Join(clitest.Root(), "testdata", "logs", "many-tags.hdr")
	var stderr bytes.Buffer
	all := command(t, log, "-st", "csvr", "-of", filepath.Join(t.TempDir(), "x"))
	all.Stderr = &stderr
	if err := all.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	entries, err := os.ReadDir(filepath.Dir(all.Args[len(all.Args)-1]))
	if err != nil || len(entries) < 50 {
		t.Fatalf("%v, %d files", err, len(entries))
	}
	for range clitest.Rounds(30) {
		folder := t.TempDir()
		c := command(t, log, "-st", "csvr", "-of", filepath.Join(folder, "x"))
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(time.Minute); time.Now().Before(end); { // until it writes
			files, err := os.ReadDir(folder)
			if err != nil {
				t.Fatal(err)
			}
			if len(files) > 5 {
				break
			}
		}
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		c.Wait()
		files, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		if len(files) != 0 && len(files) != len(entries) {
			t.Errorf("%d files of %d", len(files), len(entries))
		}
		for _, file := range files {
			if strings.Contains(file.Name(), ".tmp") {
				t.Errorf("%s stays", file.Name())
			}
		}
	}
}

// TestSignalStream ends hdrsum by a signal while it waits for a pipe. It leaves out the windows
// that are not complete, and the end of OpenMetrics.
func TestSignalStream(t *testing.T) {
	t.Parallel()
	node1, err := os.ReadFile(filepath.Join(clitest.Root(), "testdata", "logs", "node1.hdr"))
	if err != nil {
		t.Fatal(err)
	}
	stdin, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	p := clitest.Start(t, stdin, "hdrsum", "-st", "openmetrics", "-agg", "10")
	stdin.Close()
	go w.Write(node1)
	p.Await("a row", func() bool { return strings.Contains(p.Stdout(), "latency") })
	p.Interrupt(syscall.SIGTERM, 143)
	if out := p.Stdout(); !strings.HasSuffix(out, "\n") || strings.Contains(out, "# EOF") {
		t.Errorf("the output ends in %q", out[max(0, len(out)-100):])
	}
	if p.Stderr() != "hdrsum: interrupted\n" {
		t.Error(p.Stderr())
	}
}
