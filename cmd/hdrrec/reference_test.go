package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hdrkit/internal/base/message"
	"hdrkit/internal/cli"
	"hdrkit/internal/clitest"
	"hdrkit/internal/dump"
)

// hdrrec runs the command and returns what it printed and its exit status.
func hdrrec(input string, args ...string) (stdout, stderr string, status int) {
	var out, err bytes.Buffer
	app := app()
	app.Streams.In, app.Streams.Out, app.Streams.Err = strings.NewReader(input), &out, &err
	status = cli.Run(app, args)
	return out.String(), err.String(), status
}

// TestReference has the Recorder and the HistogramLogWriter of the reference record the same rows.
func TestReference(t *testing.T) {
	const jar = "/usr/share/java/hdrhistogram.jar"
	clitest.RequireTools(t, "java", jar)
	path := filepath.Join(t.TempDir(), "table.csv")
	if err := os.WriteFile(path, []byte(table(20_000)), 0o666); err != nil {
		t.Fatal(err)
	}
	reference := exec.Command("java", "-cp", jar, "testdata/Record.java", path)
	var stderr strings.Builder
	reference.Stderr = &stderr
	theirs, err := reference.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	ours, messages, status := hdrrec("", path, "-in", "ms", "-tag", "label", "-q")
	if status != message.OK || messages != "" {
		t.Fatalf("exit status %d: %s", status, messages)
	}
	want, err := dump.Log(bytes.NewReader(theirs), "theirs")
	if err != nil {
		t.Fatal(err)
	}
	got, err := dump.Log(strings.NewReader(ours), "ours")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) || len(got) < 100 {
		t.Fatalf("%d intervals, want %d", len(got), len(want))
	}
	for n := range got { // the first and the last one begin and end with their values
		got[n].Start -= got[n].Start % 1000
		got[n].End += (1000 - got[n].End%1000) % 1000
		if got[n] != want[n] {
			t.Errorf("interval %d:\ngot  %v\nwant %v", n, got[n], want[n])
		}
	}
}

// table returns a table of requests, in order of the ends of requests and with the times of their
// starts.
func table(rows int) string {
	random := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	text.WriteString("time,value,label\n")
	end := 1_700_000_000_123.0
	for n := range rows {
		value := math.Exp(2 + 2*random.NormFloat64())
		end += 2 * random.Float64() * 4
		fmt.Fprintf(&text, "%d,%.*f,%s\n", int64(end-min(value, 50_000)), n%7, value, []string{"get", "put", "list"}[n%3])
	}
	return text.String()
}

// BenchmarkHdrrec measures rows of a table, and of samples that are repeated.
func BenchmarkHdrrec(b *testing.B) {
	texts := map[string]string{"csv": table(200_000)}
	for _, name := range []string{"jmeter.jtl", "k6.csv", "nginx.ndjson"} {
		text, err := os.ReadFile("../../testdata/measurements/" + name)
		if err != nil {
			b.Fatal(err)
		}
		head, body, _ := strings.Cut(string(text), "\n")
		texts[name] = head + "\n" + strings.Repeat(body, 200_000/strings.Count(body, "\n"))
	}
	for name, text := range texts {
		args := []string{"-errors", "tag"}
		switch name {
		case "csv":
			args = append(args, "-in", "ms", "-tag", "label")
		case "nginx.ndjson":
			args = append(args, "-in", "s")
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, stderr, status := hdrrec(text, args...); status != message.OK {
					b.Fatal(stderr)
				}
			}
			b.ReportMetric(float64(b.N*strings.Count(text, "\n"))/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// TestMemory records rows whose text and values take much more memory than the command.
func TestMemory(t *testing.T) {
	const rows = 2_000_000
	n, before, most := -1, clitest.InUse(), uint64(0)
	var rest []byte
	input := readerFunc(func(p []byte) (int, error) {
		for ; len(rest) < len(p) && n < rows; n++ {
			if n < 0 {
				rest = append(rest, "time,value\n"...)
				continue
			}
			rest = fmt.Appendf(rest, "%d,%d\n", 1_700_000_000_000+int64(n), n%1_000_000)
			if n%(rows/10) == rows/20 {
				most = max(most, clitest.InUse())
			}
		}
		if len(rest) == 0 {
			return 0, io.EOF
		}
		size := copy(p, rest)
		rest = append(rest[:0], rest[size:]...)
		return size, nil
	})
	app := app()
	app.Streams.In, app.Streams.Out, app.Streams.Err = input, io.Discard, os.Stderr
	if status := cli.Run(app, []string{"-in", "us", "-q"}); status != message.OK {
		t.Fatalf("exit status %d", status)
	}
	if took := int64(most) - int64(before); took > 8<<20 {
		t.Errorf("%d bytes of memory are in use for %d rows", took, rows)
	}
}

// readerFunc is a reader.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
