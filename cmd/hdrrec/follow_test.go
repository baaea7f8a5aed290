//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/clitest"
)

// values returns how many values each second of a log has. The last line may be cut short.
func values(t *testing.T, text string) map[int64]int64 {
	t.Helper()
	all := map[int64]int64{}
	r := hdrlog.NewReader(strings.NewReader(text), "out")
	var d histogram.Decoder
	for rec := range r.All() {
		var h histogram.Histogram
		if rec.Kind == hdrlog.IntervalRecord && d.AddTo(&h, rec.Interval.Payload) == nil {
			all[rec.Interval.StartMillis()/1000] += h.TotalCount()
		}
	}
	return all
}

// TestFollow records a file while it is written and rotated. The signal writes what is left.
func TestFollow(t *testing.T) {
	for _, signal := range clitest.Interrupts {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "table.csv")
			file, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { file.Close() }()
			write := func(text string) {
				t.Helper()
				if _, err := file.WriteString(text); err != nil {
					t.Fatal(err)
				}
			}
			p := clitest.Start(t, nil, "hdrrec", "-follow", "-late", "2s", "-if", path)
			await := func(second, count int64) {
				t.Helper()
				p.Await(fmt.Sprintf("second %d", second), func() bool { return values(t, p.Stdout())[second] == count })
			}
			const start = 1_700_000_000
			write("time,latency_ms\n")
			for second := range int64(10) {
				write(fmt.Sprintf("%d,5\n%d,", start+second, start+second)) // half a line
				write("6\n")
			}
			await(start+6, 2) // the tenth second closes it
			write(fmt.Sprintf("%d,7\n", start+8))
			if err := os.Rename(path, path+".1"); err != nil {
				t.Fatal(err)
			}
			write(fmt.Sprintf("%d,7\n", start+9))
			before := file
			if file, err = os.Create(path); err != nil {
				t.Fatal(err)
			}
			before.Close()
			write(fmt.Sprintf("time,latency_ms\n%d,5\n%d,8\n%d,8\n", start+10, start+20, start+20))
			await(start+8, 3)
			await(start+9, 3)
			await(start+10, 1)
			write(fmt.Sprintf("%d,9", start+21)) // which is never whole
			p.Interrupt(signal, 3)
			if got := values(t, p.Stdout()); got[start+20] != 2 || got[start+21] != 0 || len(got) != 12 {
				t.Errorf("%v", got)
			}
			if want := "hdrrec: " + path + ":5: line: the line is cut short\n"; !strings.Contains(p.Stderr(), want) {
				t.Error(p.Stderr())
			}
		})
	}
}

// TestFollowPipe records a pipe. An interval that is over is written although no more comes.
func TestFollowPipe(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(clitest.Root(), "testdata", "measurements", "k6.csv"))
	if err != nil {
		t.Fatal(err)
	}
	stdin, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := clitest.Start(t, stdin, "hdrrec", "-follow", "-format", "k6", "-idle", "100ms", "-late", "1h", "-errors", "tag")
	stdin.Close()
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	want := int64(bytes.Count(text, []byte("\nhttp_req_duration,")))
	total := func() (sum int64) {
		for _, count := range values(t, p.Stdout()) {
			sum += count
		}
		return sum
	}
	p.Await("all rows", func() bool { return total() == want })
	w.Close()
	p.Ends(0)
	if p.Stderr() != "" || total() != want {
		t.Errorf("%d values, want %d: %s", total(), want, p.Stderr())
	}
}
