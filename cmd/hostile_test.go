//go:build unix

package cmd

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/clitest"
)

// hostileSeconds is the time of the processor that a command may take for a hostile input, and
// largeSeconds for one that is large as well. The system ends it then. Most take a hundredth of it,
// none more than a tenth.
const hostileSeconds, largeSeconds = 60, 400

// TestHostile gives inputs to commands that once took minutes. Each ends, with a result or with a
// message that refuses the input.
func TestHostile(t *testing.T) {
	t.Parallel()
	clitest.RequireTools(t, "sh") // it takes a minute
	build(t)
	dir := t.TempDir()
	for name, text := range map[string]func(*testing.T) []byte{
		"control.hdr": controlTags, "dense.hdr": dense(400_000), "denser.hdr": dense(4_000_000), "blank.zst": lines("\n", 1100), "malformed.zst": lines("x\n", 110),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text(t), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		command string
		status  int
		message string // part of it
	}{
		{"hdrplot control.hdr -of a.svg", 0, ""},
		{"hdrplot control.hdr -of a.png", 0, ""},
		{"hdrplot control.hdr -of a.html", 0, ""},
		{"hdrplot control.hdr -type heatmap -of a.svg", 0, ""},
		{"hdrsum control.hdr -st table", 0, ""},
		{"hdrsum blank.zst", 1, "compressed file expands too much"},
		{"hdrsum malformed.zst", 1, "compressed file expands too much"},
		{"hdrsum dense.hdr -st table", 0, ""},
		{"hdrsum dense.hdr -st timeline", 0, ""},
		{"hdrunion dense.hdr -grid 10 -of a.hdr", 0, ""},
		{"hdrsum dense.hdr -st timeline -mwp 99", 0, ""},
		{"hdrsum dense.hdr -co 1 -st table", 1, "total count exceeds"},
		{"hdrsum denser.hdr -st table", 1, "histograms expand too much"},
		{"hdrplot dense.hdr -of a.html", 0, ""},
		{"hdrplot dense.hdr -type heatmap -of a.svg", 0, ""},
	} {
		t.Run(test.command, func(t *testing.T) {
			seconds := hostileSeconds
			if strings.Contains(test.command, ".zst") {
				seconds = largeSeconds
			}
			limited := fmt.Sprintf(`ulimit -t %d && exec "$@"`, seconds)
			command := exec.Command("sh", append([]string{"-c", limited, "sh"}, strings.Fields(test.command)...)...)
			command.Dir = dir
			var stderr bytes.Buffer
			command.Stderr = &stderr
			command.Run()
			if code := command.ProcessState.ExitCode(); code != test.status || !strings.Contains(stderr.String(), test.message) {
				t.Errorf("%v: %.500s", command.ProcessState, stderr.String())
			}
		})
	}
}

// payloadOf returns the payload of a histogram of some values.
func payloadOf(t *testing.T, values ...int64) []byte {
	t.Helper()
	h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		if err := h.Record(v); err != nil {
			t.Fatal(err)
		}
	}
	text, err := new(histogram.Encoder).AppendBase64(nil, h)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// controlTags returns a log of 50 tags, each of 4,000 control characters.
func controlTags(t *testing.T) []byte {
	var log bytes.Buffer
	payload := payloadOf(t, 1000)
	for n := range 50 {
		fmt.Fprintf(&log, "Tag=%s%d,%d.000,1.000,1.000,%s\n", strings.Repeat("\x01", 4000), n, n, payload)
	}
	return log.Bytes()
}

// dense returns a log of so many bytes, each of whose intervals has a value in each of 55,000
// slots.
func dense(size int) func(t *testing.T) []byte {
	return func(t *testing.T) []byte {
		l := histogram.Layout{Digits: 3, Lowest: 1}
		var values []int64
		for v := int64(0); v >= 0 && len(values) < 55_000; v = l.LowestAt(l.IndexOf(v) + 1) {
			values = append(values, v)
		}
		payload := payloadOf(t, values...)
		var log bytes.Buffer
		for n := 0; log.Len() < size; n++ {
			fmt.Fprintf(&log, "%d.000,1.000,1.000,%s\n", n, payload)
		}
		return log.Bytes()
	}
}

// lines returns a small zstd stream that stands for so many MiB of a line.
func lines(line string, size int) func(*testing.T) []byte {
	return func(t *testing.T) []byte {
		var stream bytes.Buffer
		w, err := zstd.NewWriter(&stream, zstd.WithEncoderLevel(zstd.SpeedFastest))
		if err != nil {
			t.Fatal(err)
		}
		block := bytes.Repeat([]byte(line), 1<<20/len(line))
		for range size {
			if _, err := w.Write(block); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return stream.Bytes()
	}
}
