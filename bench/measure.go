package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A table has rows of commands, and a column for each input.
type table struct {
	title  string
	inputs []input
	rows   []row
	// growth makes the figure of a row the exponent of its CPU time over inputs that double. The
	// figure is else the ratio to the CPU time of the first row, for the input where it is highest.
	growth bool
	counts bool // all rows print the same number of values
	// refusable says that a command may end with a message: it has a time all the same.
	refusable bool
}

// An input is files that commands read.
type input struct {
	name string
	make func(dir string) error
}

// A row is a command line and the bound of its figure, 0 if it has none. In the line, LOGS stands
// for all logs of the input, TABLES for all tables, DIR for its folder, and OUT for a folder that
// is empty before each run. A + is a blank in an argument. Without a name, the line is the name.
type row struct {
	name, line string
	bound      float64
}

// A sample is the result of one run.
type sample struct {
	wall, cpu float64 // seconds
	peak      float64 // highest resident memory in MiB
	values    int64   // that the command printed, with [table.counts]
}

// measure makes the inputs one after another, runs all rows in turn on each, and prints the table.
// It returns how many rows are above their bounds.
func (b *bench) measure(t *table) (above int, err error) {
	fmt.Fprintf(os.Stderr, "bench: %s\n", t.title)
	cells := make([][]sample, len(t.rows)) // by row and input
	before := make([][]sample, len(t.rows))
	for _, in := range t.inputs {
		dir := b.path("input")
		if err := os.Mkdir(dir, 0o777); err != nil {
			return 0, err
		}
		if err := in.make(dir); err != nil {
			return 0, err
		}
		samples, earlier := make([][]sample, len(t.rows)), make([][]sample, len(t.rows))
		for range b.rounds {
			for n, r := range t.rows {
				s, err := b.runRow(t, r, dir, b.dir)
				if err != nil {
					return 0, err
				}
				samples[n] = append(samples[n], s)
				if b.base == "" {
					continue
				}
				if s, err = b.runRow(t, r, dir, b.base); err != nil {
					return 0, err
				}
				earlier[n] = append(earlier[n], s)
			}
		}
		for n := range t.rows {
			cells[n] = append(cells[n], medians(samples[n]))
			before[n] = append(before[n], medians(earlier[n]))
		}
		if err := os.RemoveAll(dir); err != nil {
			return 0, err
		}
	}
	return t.write(cells, before), nil
}

// runRow runs the command of a row once. A command in the folder takes the place of one on the
// path.
func (b *bench) runRow(t *table, r row, dir, folder string) (sample, error) {
	out := b.path("out")
	if err := os.MkdirAll(out, 0o777); err != nil {
		return sample{}, err
	}
	defer os.RemoveAll(out)
	var args []string
	for _, word := range strings.Fields(r.line) {
		word = strings.NewReplacer("DIR", dir, "OUT", out, "+", " ").Replace(word)
		switch word {
		case "LOGS", "TABLES":
			files, err := filepath.Glob(filepath.Join(dir, map[string]string{"LOGS": "*.hdr", "TABLES": "*.csv"}[word]))
			if err != nil {
				return sample{}, err
			}
			args = append(args, files...)
		default:
			args = append(args, word)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, args[0])); err == nil {
		args[0] = filepath.Join(folder, args[0])
	}
	c := exec.Command(args[0], args[1:]...)
	c.Dir = out
	var stdout, stderr bytes.Buffer
	c.Stderr = &stderr
	if t.counts {
		c.Stdout = &stdout
	}
	begin := time.Now()
	err := c.Run()
	s := sample{wall: time.Since(begin).Seconds()}
	ended := c.ProcessState
	if err != nil && !(t.refusable && ended != nil && ended.ExitCode() == 1) {
		return s, fmt.Errorf("%q: %w\n%s", args, err, &stderr)
	}
	s.cpu = (ended.UserTime() + ended.SystemTime()).Seconds()
	s.peak = float64(ended.SysUsage().(*syscall.Rusage).Maxrss) / (1 << 10)
	if runtime.GOOS == "darwin" {
		s.peak /= 1 << 10
	}
	if !t.counts {
		return s, nil
	}
	s.values, err = b.values(stdout.String(), out)
	return s, err
}

var totals = regexp.MustCompile(`(?:TotalCount=|Total count += +)(\d+)|(\d+) (?:values|dropped)`)

// values returns how many values a command printed, or wrote to a folder.
func (b *bench) values(stdout, out string) (sum int64, err error) {
	if logs, _ := filepath.Glob(filepath.Join(out, "*")); len(logs) > 0 {
		printed, err := exec.Command(b.path("hdrsum"), append([]string{"-q", "-st", "percentiles"}, logs...)...).Output()
		if err != nil {
			return 0, err
		}
		stdout = string(printed)
	}
	for _, found := range totals.FindAllStringSubmatch(stdout, -1) {
		var n int64
		fmt.Sscan(found[1]+found[2], &n)
		sum += n
	}
	return sum, nil
}

// medians returns the median of each figure. A machine that is slow for a while is slow for all
// rows.
func medians(samples []sample) (m sample) {
	middle := func(get func(s sample) float64) float64 {
		if len(samples) == 0 {
			return math.NaN()
		}
		var all []float64
		for _, s := range samples {
			all = append(all, get(s))
		}
		slices.Sort(all)
		return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
	}
	m.wall = middle(func(s sample) float64 { return s.wall })
	m.cpu = middle(func(s sample) float64 { return s.cpu })
	m.peak = middle(func(s sample) float64 { return s.peak })
	for _, s := range samples {
		m.values = s.values
	}
	return m
}

// shorter makes a name of a command line.
var shorter = strings.NewReplacer("+", " ", "DIR/", "", "OUT/", "", " LOGS", "", " TABLES", "",
	" -q", "", " -memory 8GiB", "", " -in ns -unit ms", "", " --", "")

// write prints the table, and returns how many rows are above their bounds.
func (t *table) write(cells, before [][]sample) (above int) {
	figure := "CPU, ratio"
	if t.growth {
		figure = "exponent"
	}
	fmt.Printf("\n**%s**: CPU and wall time in ms, and peak in MiB\n\n| command |", t.title)
	for _, in := range t.inputs {
		fmt.Printf(" %s |", in.name)
	}
	fmt.Printf(" %s | bound | to -base |\n| --- |%s --: | --: | --: |\n", figure, strings.Repeat(" --: |", len(t.inputs)))
	for n, r := range t.rows {
		name := r.name
		if name == "" {
			name = shorter.Replace(r.line)
		}
		fmt.Printf("| %s |", name)
		value, toBase := math.Inf(-1), math.Inf(-1)
		for i, c := range cells[n] {
			fmt.Printf(" %.3g, %.3g, %.0f |", 1e3*c.cpu, 1e3*c.wall, c.peak)
			value = max(value, c.cpu/cells[0][i].cpu)
			toBase = max(toBase, c.cpu/before[n][i].cpu)
			if t.counts && c.values != cells[0][i].values {
				fmt.Fprintf(os.Stderr, "bench: %s has %d values, and %s %d\n", name, c.values, t.rows[0].line, cells[0][i].values)
				above++
			}
		}
		if t.growth {
			value = exponent(cells[n])
		}
		bound, mark := "", ""
		if r.bound > 0 {
			bound = fmt.Sprintf("%.3g", r.bound)
			if value > r.bound {
				mark = " **above**"
				above++
			}
		}
		fmt.Printf(" %.2f%s | %s | %s |\n", value, mark, bound, strings.TrimSuffix(fmt.Sprintf("%.2f", toBase), "NaN"))
	}
	return above
}

// exponent returns the slope of the line through CPU times for doubled sizes, where both axes are
// logarithms: 1 if they are linear.
func exponent(cells []sample) (slope float64) {
	middle, squares := float64(len(cells)-1)/2, 0.0
	for n, c := range cells {
		x := float64(n) - middle
		slope += x * math.Log2(c.cpu)
		squares += x * x
	}
	return slope / squares
}
