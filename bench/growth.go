package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A shape says what a set of logs and of tables for hdrrec is like.
type shape struct {
	inputs, windows, tags int
	rows                  int  // of a tag and window, in tables
	tables                bool // only
	backwards             bool // rows of tables
}

// An inputKind is input of any size, and what commands do with it.
type inputKind struct {
	what     string
	least    int
	make     func(dir string, n int) error
	commands []string
	// refusable says that a command may end with a message: it has a time all the same.
	refusable bool
}

// growth doubles the tags, the windows, the inputs, and the rows of tables three times, and prints
// the processor time and the peak memory of commands with their exponents: what they grow with.
// That of time is 1 if it is linear.
func (b *bench) growth() error {
	interval, err := exec.Command(b.path("genlog"), "-seconds", "1", "-rate", "20").Output()
	if err != nil {
		return err
	}
	lines := bytes.Split(bytes.TrimSpace(interval), []byte("\n"))
	fields := bytes.SplitN(lines[len(lines)-1], []byte(","), 4)[3] // MAX,PAYLOAD
	questions := []string{
		"hdrsum -st table LOGS", "hdrsum -st table -in ns LOGS", // which looks for coordinated omission
		"hdrsum -st json LOGS", "hdrdiff -sum in0.hdr LOGS", "hdrsum -worst 10 LOGS",
		"hdrsum -sla p99<=1e15+in+99%+of+10s LOGS", // a + is a space
		"hdrsum -by input -sla p99<=1e15+in+99%+of+10s LOGS",
		"hdrsum -st breaches -sla count>=30 LOGS", // intervals have 20 values
		"hdrsum -st json -sla count>=1 LOGS",
		"hdrsum -st timeline LOGS", "hdrsum -st timeline -agg 10s LOGS", "hdrunion -of OUT/union.hdr LOGS",
		"hdrlive -q -memory 8GiB -agg 10s -st ndjson -sla p99<=1e15+in+99%+of+10s - < DIR/in0.hdr",
		"hdrsplit -od OUT LOGS", "hdrplot -of OUT/page.html LOGS", "hdrrec -of OUT/rec.hdr TABLES",
	}
	live := []string{"hdrlive -for 1ms -s start -of OUT/live.hdr LOGS", "hdrlive -for 1ms -s start -serve 127.0.0.1:0 LOGS"}
	of := func(shapeOf func(n int) shape) func(dir string, n int) error {
		return func(dir string, n int) error { return shapeOf(n).make(dir, fields) }
	}
	kinds := []inputKind{
		{"tags", 10_000, of(func(n int) shape { return shape{inputs: 2, windows: 2, tags: n, rows: 1} }), questions, false},
		{"windows", 100_000, of(func(n int) shape { return shape{inputs: 1, windows: n, tags: 1, rows: 1} }), questions, false},
		{"inputs", 100, of(func(n int) shape { return shape{inputs: n, windows: 300, tags: 1, rows: 1} }), questions, false},
		{"live tags", 10_000, of(func(n int) shape { return shape{inputs: 2, windows: 2, tags: n, rows: 1} }), live, false},
		{"live logs", 1_000, of(func(n int) shape { return shape{inputs: n, windows: 10, tags: 1, rows: 1} }), live, false},
		{"rows", 1_000_000, of(func(n int) shape { return shape{inputs: 1, windows: n / 600, tags: 6, rows: 100, tables: true} }), questions[len(questions)-1:], false},
		{"rows backwards", 100_000, of(func(n int) shape {
			return shape{inputs: 1, windows: n, tags: 1, rows: 1, tables: true, backwards: true}
		}), questions[len(questions)-1:], false},
	}
	for _, kind := range append(kinds, hostile...) {
		fmt.Fprintf(os.Stderr, "bench: growth with %s\n", kind.what)
		var commands []*command // with four samples each
		for _, line := range kind.commands {
			commands = append(commands, &command{name: strings.NewReplacer("DIR/", "", "OUT/", "", " LOGS", "", " TABLES", "", " -q -memory 8GiB", "", "+", " ").Replace(line)})
		}
		for double := range 4 {
			dir, out := b.path("growth"), b.path("grown")
			if err := kind.make(dir, kind.least<<double); err != nil {
				return err
			}
			for n, line := range kind.commands {
				line = strings.NewReplacer("LOGS", `-q -memory 8GiB -ip DIR in\d+\.hdr`, "TABLES", `-q -memory 8GiB -ip DIR in\d+\.csv`).Replace(line)
				c := commands[n]
				line, input, piped := strings.Cut(strings.NewReplacer("DIR", dir, "OUT", out).Replace(line), " < ")
				if c.args = strings.Fields(line); piped {
					c.from = []string{"cat", input}
				}
				for n := range c.args {
					c.args[n] = strings.ReplaceAll(c.args[n], "+in+99%+of+", " in 99% of ")
				}
				c.args[0] = b.path(c.args[0])
				best := sample{cpu: math.Inf(1), peak: math.Inf(1)}
				for range b.rounds {
					if err := os.MkdirAll(out, 0o777); err != nil {
						return err
					}
					s, err := c.run(io.Discard)
					os.RemoveAll(out)
					if err != nil && !(kind.refusable && s.cpu > 0) { // a page has at most 50,000 tags
						fmt.Fprintf(os.Stderr, "bench: %d %s: %v\n", kind.least<<double, kind.what, err)
						s = sample{cpu: math.NaN(), peak: math.NaN()}
					}
					best.cpu, best.peak = min(best.cpu, s.cpu), min(best.peak, s.peak)
				}
				c.samples = append(c.samples, best)
			}
			os.RemoveAll(dir)
		}
		writeGrowth(fmt.Sprintf("**Growth** with %s: %d, and twice as many three times", kind.what, kind.least), commands)
	}
	return nil
}

// make writes the logs and tables into a folder.
func (s shape) make(dir string, fields []byte) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	const start = 1_468_800_000
	for input := range s.inputs {
		if !s.tables {
			err := write(filepath.Join(dir, fmt.Sprintf("in%d.hdr", input)), func(w io.Writer) {
				fmt.Fprintf(w, "#[StartTime: %d.000 (seconds since epoch)]\n\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n", start)
				for n := range s.windows * s.tags {
					fmt.Fprintf(w, "Tag=tag%06d,%d.000,1.000,%s\n", n%s.tags, n/s.tags, fields)
				}
			})
			if err != nil {
				return err
			}
		}
		err := write(filepath.Join(dir, fmt.Sprintf("in%d.csv", input)), func(w io.Writer) {
			fmt.Fprintln(w, "timeStamp,elapsed,label,responseCode,success")
			all := s.windows * s.tags * s.rows
			for n := range all {
				if s.backwards {
					n = all - 1 - n
				}
				at := n / s.rows
				fmt.Fprintf(w, "%d%03d,%d,tag%06d,200,true\n", start+at/s.tags, n%s.rows, 1+n%997, at%s.tags)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// write writes a file.
func write(path string, content func(io.Writer)) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	content(w)
	return w.Flush()
}

// writeGrowth prints commands with a sample for each size.
func writeGrowth(title string, commands []*command) {
	fmt.Printf("\n%s\n\n| command | CPU, s |||| exponent | peak, MiB |||| exponent |\n| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n", title)
	for _, c := range commands {
		fmt.Printf("| %s |", c.name)
		for _, get := range []func(sample) float64{cpu, memory} {
			for _, s := range c.samples {
				fmt.Printf(" %.3g |", get(s))
			}
			fmt.Printf(" %.2f |", exponent(c.samples, get))
		}
		fmt.Println()
	}
}

// exponent returns the slope of the line through samples of doubled sizes, where both axes are
// logarithms. It leaves out the last ones if they failed.
func exponent(samples []sample, get func(sample) float64) (slope float64) {
	for len(samples) > 0 && math.IsNaN(samples[len(samples)-1].cpu) {
		samples = samples[:len(samples)-1]
	}
	middle, squares := float64(len(samples)-1)/2, 0.0
	for n, s := range samples {
		x := float64(n) - middle
		slope += x * math.Log2(get(s))
		squares += x * x
	}
	return slope / squares
}
