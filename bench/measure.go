package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A command is what is measured: a whole process, from its start to its end.
type command struct {
	name string
	args []string
	// from, if set, is a command whose output it reads. That one's own time and memory are not counted.
	from []string
	// dir is the folder that it runs in, made where it is missing; bench's own if it is "".
	dir string
	// out matches the files that it writes, "" if there are none.
	out string
	// values returns how many values the command has counted, from what it printed. It is nil where there are none.
	values func(stdout string) (int64, error)
	// size is how many bytes it reads and intervals how many of them it decodes, each 0 if that is beside the point.
	size, intervals int64

	samples []sample
}

// A sample is what one run took.
type sample struct {
	wall, cpu float64 // seconds
	peak      float64 // MiB of memory resident at once
}

// run runs the command, which prints to stdout.
func (c *command) run(stdout io.Writer) (s sample, err error) {
	cmd := exec.Command(c.args[0], c.args[1:]...)
	if cmd.Dir = c.dir; c.dir != "" {
		if err := os.MkdirAll(c.dir, 0o777); err != nil {
			return s, err
		}
	}
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = stdout, &stderr
	if c.from != nil {
		from := exec.Command(c.from[0], c.from[1:]...)
		if cmd.Stdin, err = from.StdoutPipe(); err != nil {
			return s, err
		}
		if err := from.Start(); err != nil {
			return s, err
		}
		defer func() {
			if err != nil {
				from.Process.Kill() // it may wait for somebody to read
			}
			err = errors.Join(err, from.Wait())
		}()
	}
	begin := time.Now()
	err = cmd.Run()
	s.wall = time.Since(begin).Seconds()
	if err != nil {
		return s, fmt.Errorf("%q: %w\n%s", c.args, err, &stderr)
	}
	s.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	s.peak = peak(cmd.ProcessState.SysUsage().(*syscall.Rusage))
	return s, nil
}

// peak returns the most memory that a process had, in MiB. A process starts with what this one has at the time, so that it
// cannot be less than that.
func peak(usage *syscall.Rusage) float64 {
	if runtime.GOOS == "darwin" {
		return float64(usage.Maxrss) / (1 << 20)
	}
	return float64(usage.Maxrss) / (1 << 10)
}

// A table is some commands that are compared with the first of them.
type table struct {
	title    string
	commands []*command
	repeats  int // how many times as many rounds: short commands vary more
	rounds   int // the most rounds, 0 for no limit: those of the long log take minutes
}

// measure runs each command once to see that they agree and to warm up, then all of them in turn, as many rounds.
func (t *table) measure(rounds int) error {
	fmt.Fprintf(os.Stderr, "bench: %s\n", strings.ReplaceAll(t.title, "*", ""))
	if err := t.check(); err != nil {
		return err
	}
	rounds *= max(t.repeats, 1)
	if t.rounds > 0 {
		rounds = min(rounds, t.rounds)
	}
	for range rounds {
		for _, c := range t.commands {
			s, err := c.run(nil)
			if err != nil {
				return err
			}
			c.samples = append(c.samples, s)
		}
	}
	return nil
}

// check runs each command and compares how many values they have counted.
func (t *table) check() error {
	var want int64
	var first string
	for _, c := range t.commands {
		if c.values == nil {
			if _, err := c.run(nil); err != nil {
				return err
			}
			continue
		}
		var stdout bytes.Buffer
		if _, err := c.run(&stdout); err != nil {
			return err
		}
		got, err := c.values(stdout.String())
		switch {
		case err != nil:
			return fmt.Errorf("%q: %w", c.args, err)
		case first == "":
			want, first = got, c.name
		case got != want:
			return fmt.Errorf("%s: %s has %d values, but %s has %d", t.title, c.name, got, first, want)
		}
	}
	return nil
}

func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// of returns the median of what get tells of the command's runs.
func (c *command) of(get func(sample) float64) float64 {
	var values []float64
	for _, s := range c.samples {
		values = append(values, get(s))
	}
	return median(values)
}

// ratio returns the median of the quotients of the command's runs and those of another in the same rounds: a machine that
// is slow for a while is so for both.
func (c *command) ratio(other *command, get func(sample) float64) float64 {
	var values []float64
	for n := range c.samples {
		values = append(values, get(c.samples[n])/get(other.samples[n]))
	}
	return median(values)
}

func wall(s sample) float64   { return s.wall }
func cpu(s sample) float64    { return s.cpu }
func memory(s sample) float64 { return s.peak }

// write prints the table in Markdown.
func (t *table) write(w io.Writer) {
	rounds := ""
	if t.repeats > 1 {
		rounds = fmt.Sprintf(", in %d times as many rounds", t.repeats)
	}
	fmt.Fprintf(w, "\n%s%s\n\n", t.title, rounds)
	fmt.Fprintln(w, "| command | wall, ms | ratio | CPU, ms | ratio | peak, MiB | GB/s | CPU µs an interval | out, MB |")
	fmt.Fprintln(w, "| --- | --: | --: | --: | --: | --: | --: | --: | --: |")
	first := t.commands[0]
	for _, c := range t.commands {
		fmt.Fprintf(w, "| %s | %s | %.2f | %s | %.2f | %.0f |", c.name,
			millis(c.of(wall)), c.ratio(first, wall), millis(c.of(cpu)), c.ratio(first, cpu), c.of(memory))
		fmt.Fprintf(w, " %s | %s | %s |\n", unless0(c.size, float64(c.size)/1e9/c.of(wall)),
			unless0(c.intervals, c.of(cpu)*1e6/float64(c.intervals)), unless0(c.written(), float64(c.written())/1e6))
	}
}

// written returns how many bytes the command has written to files.
func (c *command) written() (size int64) {
	files, _ := filepath.Glob(c.out) // the pattern has matched before
	for _, file := range files {
		size += fileSize(file)
	}
	return size
}

// millis writes seconds as milliseconds, to three digits at least.
func millis(seconds float64) string {
	if seconds < 0.1 {
		return fmt.Sprintf("%.1f", seconds*1e3)
	}
	return fmt.Sprintf("%.0f", seconds*1e3)
}

func unless0(n int64, value float64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", value)
}
