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

// A table measures commands: a row is a command, and a column is an input.
type table struct {
	title  string
	inputs []input
	rows   []row
	// growth says that the inputs double in size. The figure of a row is then the exponent of its
	// CPU time. Without growth the figure is the ratio to the CPU time of the first row, for the
	// input with the highest ratio.
	growth bool
	// sameCount says that all rows must print the same number of values.
	sameCount bool
	// refusable says that a command may refuse an input (exit status 1). Its time counts then, too.
	refusable bool
}

// An input is a column of a table: a folder of files that the commands read.
type input struct {
	name string
	make func(dir string) error // writes the files
}

// A row is a command line and the highest figure that passes, 0 for no bound. In the line, LOGS
// stands for the logs (*.hdr) of the input, TABLES for its tables (*.csv), DIR for its folder, and
// OUT for an output folder, empty at the start of each run. A + stands for a blank inside an
// argument. A row without a name prints its line as the name.
type row struct {
	name, line string
	bound      float64
}

// A sample is what one run of a command took and printed.
type sample struct {
	wall, cpu float64 // seconds
	peak      float64 // highest resident memory in MiB
	values    int64   // number of values that the command printed, if [table.sameCount]
}

// measure makes the inputs one after another, runs all rows in turn on each, and prints the table.
// It returns how many rows are above their bounds.
func (b *bench) measure(t *table) (above int, err error) {
	fmt.Fprintf(os.Stderr, "bench: %s\n", t.title)
	cells := make([][]sample, len(t.rows))  // medians by row and input
	before := make([][]sample, len(t.rows)) // the same for the commands of -base
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

// runRow runs the command of a row once, with the input in dir. It takes the program from folder if
// it is there, and else from the PATH.
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
	if t.sameCount {
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
	if !t.sameCount {
		return s, nil
	}
	s.values, err = b.values(stdout.String(), out)
	return s, err
}

var totals = regexp.MustCompile(`(?:TotalCount=|Total count += +)(\d+)|(\d+) (?:values|dropped)`)

// values returns the number of values that a command reports on standard output. If the command
// wrote logs to the folder out, it returns the number of values in these logs.
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

// medians returns a sample with the median of each figure. The rows of a table run in turn, so a
// slow minute of the machine affects all of them.
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

// shortLine takes out what is the same in all command lines.
var shortLine = strings.NewReplacer("+", " ", "DIR/", "", "OUT/", "", " LOGS", "", " TABLES", "",
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
			name = shortLine.Replace(r.line)
		}
		fmt.Printf("| %s |", name)
		value, toBase := math.Inf(-1), math.Inf(-1)
		for i, c := range cells[n] {
			fmt.Printf(" %.3g, %.3g, %.0f |", 1e3*c.cpu, 1e3*c.wall, c.peak)
			value = max(value, c.cpu/cells[0][i].cpu)
			toBase = max(toBase, c.cpu/before[n][i].cpu)
			if t.sameCount && c.values != cells[0][i].values {
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

// exponent fits CPU time = c * size^exponent to the cells of a row, whose sizes double: 1 is linear
// time.
func exponent(cells []sample) (slope float64) {
	middle, squares := float64(len(cells)-1)/2, 0.0
	for n, c := range cells {
		x := float64(n) - middle
		slope += x * math.Log2(c.cpu)
		squares += x * x
	}
	return slope / squares
}
