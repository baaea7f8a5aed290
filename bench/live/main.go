//go:build unix

// Command live checks that hdrlive, which is killed or stopped every 20 seconds, whose receivers
// fail and are killed, are slow, or are away until the end, and whose disk gets full (as root),
// loses nothing and does not grow. -churn adds a log each second that is deleted 40 seconds later.
//
//	go run ./live -soak 2m -churn
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	var b bench
	flag.IntVar(&b.rate, "rate", 1000, "operations per second in each log")
	flag.DurationVar(&b.soak, "soak", time.Minute, "how long, 1m at least")
	flag.IntVar(&b.rotating, "rotating", 10, "the number of logs that rotate")
	flag.BoolVar(&b.behind, "behind", false, "a clock a day behind, too")
	flag.BoolVar(&b.stall, "stall", false, "stop the command with SIGSTOP for 6 to 12 seconds after each start")
	flag.BoolVar(&b.churn, "churn", false, "short-lived logs, too")
	flag.Parse()
	if err := b.run(); err != nil {
		fmt.Fprintln(os.Stderr, "live:", err)
		os.Exit(1)
	}
}

type bench struct {
	rate, rotating       int
	churn, behind, stall bool
	soak                 time.Duration

	dir   string
	lines [][]string // of the seconds of the template, without START
}

func (b *bench) run() (err error) {
	if b.dir, err = os.MkdirTemp("", "hdrkit-live-"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w; %s has all files", err, b.dir)
			return
		}
		os.RemoveAll(b.dir)
	}()
	command := filepath.Join(b.dir, "hdrlive")
	build := exec.Command("go", "build", "-o", b.dir, "./cmd/hdrlive", "./cmd/hdrunion", "./cmd/hdrsum")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	if err := b.template(); err != nil {
		return err
	}
	return b.runSoak(command, filepath.Join(b.dir, "hdrunion"), filepath.Join(b.dir, "hdrsum"))
}

// template makes the lines of a minute.
func (b *bench) template() error {
	genlog := exec.Command("go", "run", "./internal/loggen/genlog", "-seconds", "60", "-rate", strconv.Itoa(b.rate))
	genlog.Dir = ".."
	text, err := genlog.Output()
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "Tag=") {
			continue
		}
		tag, rest, _ := strings.Cut(line, ",")
		start, rest, _ := strings.Cut(rest, ",")
		second, _, _ := strings.Cut(start, ".")
		n, err := strconv.Atoi(second)
		if err != nil {
			return err
		}
		for len(b.lines) <= n {
			b.lines = append(b.lines, nil)
		}
		b.lines[n] = append(b.lines[n], tag+",%d.000,"+rest)
	}
	return nil
}

func head(start float64) string {
	return fmt.Sprintf("#[Histogram log format version 1.3]\n#[BaseTime: %.3f (seconds since epoch)]\n#[StartTime: %.3[1]f (seconds since epoch)]\n", start)
}

// write writes a second of a log.
func (b *bench) write(w io.Writer, second int) error {
	var text bytes.Buffer
	for _, line := range b.lines[second%len(b.lines)] {
		fmt.Fprintf(&text, line, second)
	}
	_, err := w.Write(text.Bytes())
	return err
}
