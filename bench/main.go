// Command bench measures the commands of this repository and prints a table in Markdown. The table
// "others" compares them with other programs, "shapes" measures logs of several shapes, "growth"
// measures inputs that double, and "soak" counts the faults of hdrlive in a long run. README.md
// says how to run each table, and has the newest results.
//
// bench runs on Unix only. It skips programs that are not installed and names them on standard
// error.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	var b bench
	flag.StringVar(&b.table, "table", "others", "the table to measure: others, shapes, growth or soak")
	flag.IntVar(&b.seconds, "seconds", 3600, "length of the log, or of the soak, in seconds; a second of log has six intervals and 12 KB")
	flag.IntVar(&b.divisor, "divisor", 1, "divide the sizes of the table growth by this")
	flag.IntVar(&b.rounds, "rounds", 7, "how often to run each command")
	flag.StringVar(&b.only, "only", "", "only rows that contain this")
	flag.StringVar(&b.floor, "floor", "", "C source of the program that gives the lower bound; needs cc and libdeflate")
	flag.StringVar(&b.jar, "jar", "/usr/share/java/hdrhistogram.jar", "HdrHistogram for Java, with its HistogramLogProcessor")
	flag.StringVar(&b.processing, "processing", "", "class path of HdrLogProcessing and its libraries")
	flag.StringVar(&b.base, "base", "", "folder with earlier builds of the commands; bench runs both in turn and prints the ratio")
	flag.Parse()
	above, err := b.run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	if above > 0 {
		fmt.Fprintf(os.Stderr, "bench: %d rows are above their bounds\n", above)
		os.Exit(3)
	}
}

// bench has the options of the command line, and the folder of its files.
type bench struct {
	table, only              string
	seconds, divisor, rounds int
	floor, jar, processing   string
	base                     string // folder with earlier builds of the commands, "" for none
	dir                      string // temporary folder for builds, inputs and outputs
	keepFiles                bool   // whether dir stays after the run
}

func (b *bench) run() (above int, err error) {
	tables := map[string]func() []*table{"others": b.others, "shapes": b.shapes, "growth": b.growth}
	if tables[b.table] == nil && b.table != "soak" {
		return 0, fmt.Errorf("-table %q: there are others, shapes, growth and soak", b.table)
	}
	if b.dir, err = os.MkdirTemp("", "hdrkit-bench-"); err != nil {
		return 0, err
	}
	defer func() {
		if !b.keepFiles {
			os.RemoveAll(b.dir)
		}
	}()
	if b.base != "" {
		if b.base, err = filepath.Abs(b.base); err != nil {
			return 0, err
		}
	}
	os.Setenv("CGO_ENABLED", "0") // as in the README
	if err := execute("go", "build", "-C", "..", "-o", b.dir, "./cmd/...", "./internal/loggen/genlog"); err != nil {
		return 0, err
	}
	if b.table == "soak" {
		return b.soak()
	}
	for _, t := range tables[b.table]() {
		t.rows = slices.DeleteFunc(t.rows, func(r row) bool { return !strings.Contains(r.line, b.only) })
		if len(t.rows) == 0 {
			continue
		}
		n, err := b.measure(t)
		if err != nil {
			return 0, err
		}
		above += n
	}
	return above, nil
}

// path returns the path of a file in the temporary folder.
func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// execute runs a command. Its error has what the command printed.
func execute(args ...string) error {
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// genlog runs the command genlog, which imitates a log of cassandra-stress. Logs of different seeds
// differ, and start 137 ms apart.
func (b *bench) genlog(path string, seconds, seed int, more ...string) error {
	args := []string{"-seconds", fmt.Sprint(seconds), "-seed", fmt.Sprint(seed), "-start", fmt.Sprint(1468800000137 + 137*seed)}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	c := exec.Command(b.path("genlog"), append(args, more...)...)
	c.Stdout, c.Stderr = f, os.Stderr
	return errors.Join(c.Run(), f.Close())
}
