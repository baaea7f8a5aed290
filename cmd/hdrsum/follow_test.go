//go:build unix

package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hdrkit/internal/base/message"
	"hdrkit/internal/cli"
	"hdrkit/internal/clitest"
)

// TestFollow has tail -F follow a log that grows a line at a time, each cut in the middle, and
// looks for the row of each line: there is none before the line is whole, and one after that.
func TestFollow(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../testdata/logs/node1.hdr")
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(string(text)))
	head, lines := strings.Join(lines[:17], ""), lines[5:23]
	due, lines := lines[:12], lines[12:] // two intervals wait for what the second number is
	for _, test := range []struct {
		args []string
		row  string // what a row begins with
	}{
		{[]string{"-st", "timeline"}, "2016-"},
		{[]string{"-st", "ndjson", "-j", "1"}, "{"},
		{[]string{"-st", "influx", "-mwpl", "30"}, "latency,tag="},
		{[]string{"-st", "openmetrics"}, "latency_count{"},
	} {
		t.Run(test.args[1], func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "live.hdr")
			log, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
			log.WriteString(head)

			tail := exec.Command("tail", "-n", "+1", "-F", path)
			pipe, err := tail.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := tail.Start(); err != nil {
				t.Fatal(err)
			}
			defer tail.Wait()
			defer tail.Process.Kill()

			reader, writer := io.Pipe()
			var stderr bytes.Buffer
			ended := make(chan int, 1)
			go func() {
				app := app()
				app.Streams.In, app.Streams.Out, app.Streams.Err = pipe, writer, &stderr
				ended <- cli.Run(app, append(test.args, "-if", "-"))
				writer.Close()
			}()
			found := make(chan string, 100)
			go func() {
				defer close(found)
				for scanner := bufio.NewScanner(reader); scanner.Scan(); {
					if strings.HasPrefix(scanner.Text(), test.row) {
						found <- scanner.Text()
					}
				}
			}()

			due := due
			for n, line := range lines {
				half := len(line) / 2
				log.WriteString(line[:half])
				select {
				case row := <-found:
					t.Fatalf("line %d: a row before the line is whole: %s", n, row)
				case <-time.After(100 * time.Millisecond):
				}
				log.WriteString(line[half:])
				for _, line := range slices.Concat(due, []string{line}) {
					select {
					case row := <-found:
						tag, _, _ := strings.Cut(strings.TrimPrefix(line, "Tag="), ",")
						if !strings.Contains(row, tag) {
							t.Errorf("line %d: no row of tag %s: %s", n, tag, row)
						}
					case <-time.After(clitest.Patience):
						t.Fatalf("line %d: no row", n)
					}
				}
				due = nil
			}
			tail.Process.Kill()
			if status := <-ended; status != message.OK || stderr.Len() > 0 {
				t.Errorf("exit status %d: %s", status, stderr.String())
			}
			if row, ok := <-found; ok {
				t.Errorf("one row too many: %s", row)
			}
		})
	}
}

// TestInterruptPipe interrupts a command whose input ends by itself, since Ctrl-C interrupts the
// commands of a pipe together. No window is lost.
func TestInterruptPipe(t *testing.T) {
	t.Parallel()
	all := clitest.Writers(t, t.TempDir(), 5)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := clitest.Start(t, reader, "hdrsum", "-if", "-", "-agg", "1", "-st", "ndjson")
	reader.Close()
	writer.Write(all[0].All.Bytes())
	p.Await("rows", func() bool { return strings.Contains(p.Stdout(), "insert-rt") })
	more := clitest.Line(t, 5, 1000, 1, "insert-rt") // made now: hdrsum waits for [scan.Grace] only
	p.Signal(os.Interrupt)
	writer.Write(more) // its writer has more to say
	writer.Close()
	p.Ends(0)
	if n := strings.Count(p.Stdout(), `"tag":"insert-rt"`); n != 6 {
		t.Errorf("%d rows: %s", n, p.Stdout())
	}
}
