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

// A command is a whole process to measure, from its start to its end.
type command struct {
	name string
	args []string
	// from, if set, is a command whose output this one reads. Its own time and memory do not
	// count.
	from []string
	// dir is the working directory, which bench makes if it is missing. "" is that of bench.
	dir string
	// out is a pattern of the files that the command writes, "" if there are none.
	out string
	// values returns the number of values that the command printed. It is nil if it prints
	// none.
	values func(stdout string) (int64, error)
	// size is the number of bytes of input, and intervals that of decoded intervals. 0 leaves
	// the column empty.
	size, intervals int64

	samples []sample
}

// A sample is the result of one run.
type sample struct {
	wall, cpu float64 // seconds
	peak      float64 // highest resident memory in MiB
}

// run runs the command. The output goes to stdout. A command that fails has a sample, too.
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
				from.Process.Kill() // it may wait for a reader
			}
			err = errors.Join(err, from.Wait())
		}()
	}
	begin := time.Now()
	err = cmd.Run()
	s.wall = time.Since(begin).Seconds()
	if ended := cmd.ProcessState; ended != nil && ended.Exited() {
		s.cpu = (ended.UserTime() + ended.SystemTime()).Seconds()
		s.peak = peak(ended.SysUsage().(*syscall.Rusage))
	}
	if err != nil {
		return s, fmt.Errorf("%q: %w\n%s", c.args, err, &stderr)
	}
	return s, nil
}

// peak returns the highest resident memory of a process, in MiB. A process starts with that of its
// parent, so it is not below that.
func peak(usage *syscall.Rusage) float64 {
	if runtime.GOOS == "darwin" {
		return float64(usage.Maxrss) / (1 << 20)
	}
	return float64(usage.Maxrss) / (1 << 10)
}

// A table compares commands with the first of them.
type table struct {
	title    string
	commands []*command
	repeats  int // factor for the number of rounds: short commands vary more
	rounds   int // highest number of rounds, 0 for no limit: the long log takes minutes
}

// measure runs each command once, to warm up and to compare the values. Then it runs all of them in
// turn, once in each round.
func (t *table) measure(rounds int) error {
	fmt.Fprintf(os.Stderr, "bench: %s\n", strings.ReplaceAll(t.title, "*", ""))
	if err := t.check(); err != nil {
		return err
	}
	rounds *= max(t.repeats, 1)
	if t.rounds > 0 {
		rounds = min(rounds, t.rounds)
	}
	return inTurn(rounds, t.commands...)
}

// inTurn runs commands in turn, once in each round.
func inTurn(rounds int, commands ...*command) error {
	for range rounds {
		for _, c := range commands {
			s, err := c.run(nil)
			if err != nil {
				return err
			}
			c.samples = append(c.samples, s)
		}
	}
	return nil
}

// check runs each command and compares the numbers of values.
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

// of returns the median of get over the runs of the command.
func (c *command) of(get func(sample) float64) float64 {
	return median(c.all(get))
}

// least and most return the extremes of get over the runs of the command.
func (c *command) least(get func(sample) float64) float64 { return slices.Min(c.all(get)) }
func (c *command) most(get func(sample) float64) float64  { return slices.Max(c.all(get)) }

func (c *command) all(get func(sample) float64) (values []float64) {
	for _, s := range c.samples {
		values = append(values, get(s))
	}
	return values
}

// ratio returns the median of the ratios of two commands in the same rounds. If a machine is slow
// for a while, it is slow for both.
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

// written returns the number of bytes that the command wrote to files.
func (c *command) written() (size int64) {
	files, _ := filepath.Glob(c.out) // the pattern is valid: it matched before
	for _, file := range files {
		size += fileSize(file)
	}
	return size
}

// millis formats seconds as milliseconds, with at least three digits.
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
