// Command bench measures the commands of this repository next to other programs that do the same
// work, and prints tables in Markdown. Run it in its own folder. README.md has the last tables and
// explains them.
//
// It needs a Unix. It leaves out peers that are not installed, and names them on standard error.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

func main() {
	var b bench
	flag.IntVar(&b.seconds, "seconds", 3600, "length of the log; a second has six intervals and 12 KB")
	flag.IntVar(&b.times, "times", 100, "how many times as long the long log is, which goes through a pipe")
	flag.IntVar(&b.rounds, "rounds", 7, "how often to run each command, the long log at most three times")
	flag.StringVar(&b.floor, "floor", "../../shared/reference/floor/floor.c", "source of the floor, which needs cc and libdeflate")
	flag.StringVar(&b.jar, "jar", "/usr/share/java/hdrhistogram.jar", "HdrHistogram for Java, with its HistogramLogProcessor")
	flag.StringVar(&b.processing, "processing", "", "class path of HdrLogProcessing and its libraries, to measure it too")
	flag.StringVar(&b.base, "base", "", "an earlier hdrsum, whose plain summary is 1 in the table of prices, and a reading in that of shapes")
	flag.StringVar(&b.earlier, "earlier", "", "folder of earlier commands, to measure them too in the table of shapes")
	flag.StringVar(&b.only, "only", "", "measure only the tables whose titles contain this, such as twelve; growth and shapes are measured only so")
	flag.Parse()
	if err := b.run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench is the settings and the paths of files.
type bench struct {
	seconds, times, rounds int
	floor, jar, processing string // "" if it is missing
	only, base, earlier    string

	dir    string    // of all files that it makes
	nodes  [3]string // logs of three machines
	tens   string    // the first log, ten times as long
	small  string    // a log of 60 intervals
	sparse string    // a log as long as the first one, of a hundredth of the operations
	fleet  []string  // logs of twelve machines, none if hdrbeam cannot be built
}

// parallel is the default number of cores of a command.
var parallel = runtime.GOMAXPROCS(0)

func (b *bench) run() (err error) {
	if b.dir, err = os.MkdirTemp("", "hdrkit-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	steps := []func() error{b.buildOwn, b.buildFloor, b.findJava, b.makeLogs}
	alone := map[string]func() error{"growth": b.growth, "shapes": b.shapes}[b.only]
	if alone != nil {
		steps = []func() error{b.buildOwn, alone}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	if alone != nil {
		return nil
	}
	tables, err := b.tables()
	if err != nil {
		return err
	}
	b.writeMachine()
	tables = slices.DeleteFunc(tables, func(t *table) bool { return !b.wants(t.title) })
	for _, t := range tables {
		if err := t.measure(b.rounds); err != nil {
			return err
		}
		t.write(os.Stdout)
	}
	var self syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &self); err != nil {
		return err
	}
	fmt.Printf("\nA peak below that of bench itself, %.0f MiB, cannot be seen.\n", peak(&self))
	return nil
}

// wants reports whether a table is to be measured.
func (b *bench) wants(title string) bool {
	return strings.Contains(strings.ToLower(title), strings.ToLower(b.only))
}

// path returns the path of a file that bench makes.
func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// buildOwn builds the commands of this repository and the peer in Go.
func (b *bench) buildOwn() error {
	if err := execute("go", "build", "-o", b.dir, "./hdrhistogram-go"); err != nil {
		return err
	}
	os.Setenv("CGO_ENABLED", "0") // as in the README
	if b.wants("Twelve logs") {
		if err := execute("go", "build", "-C", "../beam", "-o", b.dir, "./cmd/hdrbeam"); err != nil {
			fmt.Fprintf(os.Stderr, "bench: without hdrbeam: %v\n", err)
		}
	}
	return execute("go", "build", "-C", "..", "-o", b.dir, "./cmd/...", "./internal/loggen/genlog")
}

// buildFloor compiles the floor: one thread of C with libdeflate, without tags, options or checks.
func (b *bench) buildFloor() error {
	err := execute("cc", "-O3", "-march=native", b.floor, "-o", b.path("floor"), "-ldeflate")
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: without the floor: %v\n", err)
		b.floor = ""
	}
	return nil
}

func (b *bench) findJava() error {
	_, err := os.Stat(b.jar)
	if err == nil {
		_, err = exec.LookPath("java")
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: without Java: %v\n", err)
		b.jar, b.processing = "", ""
	}
	// One of its commands writes to the working directory.
	classes := filepath.SplitList(b.processing)
	for n := range classes {
		if classes[n], err = filepath.Abs(classes[n]); err != nil {
			return err
		}
	}
	b.processing = strings.Join(classes, string(filepath.ListSeparator))
	return nil
}

func execute(args ...string) error {
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// genlog returns the command that writes a log. In a log of more than an hour, seconds repeat,
// which is faster to make.
func (b *bench) genlog(seconds, seed int) []string {
	args := []string{b.path("genlog"), "-seconds", strconv.Itoa(seconds), "-seed", strconv.Itoa(seed), "-start", strconv.Itoa(1468800000137 + 137*seed)}
	if seconds > 3600 {
		args = append(args, "-distinct", "600")
	}
	return args
}

// makeLog writes a log and returns its path.
func (b *bench) makeLog(name string, seconds, seed int, more ...string) (string, error) {
	args := append(b.genlog(seconds, seed), more...)
	f, err := os.Create(b.path(name))
	if err != nil {
		return "", err
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = f, os.Stderr
	return f.Name(), errors.Join(cmd.Run(), f.Close())
}

func (b *bench) makeLogs() error {
	fmt.Fprintln(os.Stderr, "bench: making the logs")
	var err error
	for n := range b.nodes {
		if b.nodes[n], err = b.makeLog(fmt.Sprintf("node%d.hdr", n+1), b.seconds, n+1); err != nil {
			return err
		}
	}
	if b.small, err = b.makeLog("small.hdr", 10, 1); err != nil {
		return err
	}
	if b.sparse, err = b.makeLog("sparse.hdr", b.seconds, 1, "-rate", "100"); err != nil {
		return err
	}
	if _, err := os.Stat(b.path("hdrbeam")); err == nil {
		if err := os.Mkdir(b.path("fleet"), 0o777); err != nil {
			return err
		}
		for n := range 12 {
			log, err := b.makeLog(fmt.Sprintf("fleet/log%02d.hdr", n), b.seconds, n+1)
			if err != nil {
				return err
			}
			b.fleet = append(b.fleet, log)
		}
	}
	if !b.wants("Filters") {
		return nil
	}
	if b.tens, err = b.makeLog("tens.hdr", 10*b.seconds, 1); err != nil {
		return err
	}
	return b.addOnce()
}

// addOnce adds one interval of a new tag to the log that is ten times as long.
func (b *bench) addOnce() error {
	text, err := os.ReadFile(b.small)
	if err != nil {
		return err
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	_, fields, _ := bytes.Cut(lines[len(lines)-1], []byte(","))
	f, err := os.OpenFile(b.tens, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "Tag=once,%s\n", fields)
	return errors.Join(err, f.Close())
}

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// tables returns the tables to measure.
func (b *bench) tables() ([]*table, error) {
	node, size, intervals := b.nodes[0], fileSize(b.nodes[0]), int64(b.seconds*6)
	hdrsum := func(name string, args ...string) *command {
		if !slices.Contains(args, "-st") {
			args = append([]string{"-st", "percentiles"}, args...) // what the other tools print
		}
		return &command{name: strings.TrimSpace("hdrsum " + name), args: append([]string{b.path("hdrsum")}, args...), values: total}
	}
	all := fmt.Sprintf("-j %d", parallel)

	summary := &table{title: fmt.Sprintf("**Summary of a log** of %.0f MB, %d intervals, six tags", float64(size)/1e6, intervals)}
	if b.floor != "" {
		summary.add(&command{name: "floor: C and libdeflate, one thread", args: []string{b.path("floor"), node}, values: counted})
	}
	summary.add(hdrsum("-j 1", "-j", "1", node), hdrsum(all, node),
		&command{name: "hdrhistogram-go 1.4.0, its log reader and Merge", args: []string{b.path("hdrhistogram-go"), node}, values: counted})
	if b.processing != "" {
		c := b.processingTool("SummarizeHistogramLogs", "-ifp", node)
		c.values = total
		summary.add(c)
	}
	for _, c := range summary.commands {
		c.size, c.intervals = size, intervals
	}

	believed := &table{title: "**Intervals of confidence**, the same log", repeats: 3}
	believed.add(hdrsum("-st table", "-q", "-st", "table", node), hdrsum("-st table -ci 95", "-q", "-st", "table", "-ci", "95", node))
	sparse := &table{title: fmt.Sprintf("**Intervals of confidence**, a log of %.1f MB with a hundredth of the operations", float64(fileSize(b.sparse))/1e6), repeats: 3}
	sparse.add(hdrsum("-st table", "-q", "-st", "table", b.sparse), hdrsum("-st table -ci 95", "-q", "-st", "table", "-ci", "95", b.sparse))
	for _, c := range slices.Concat(believed.commands, sparse.commands) {
		c.values = nil // the tables differ
	}

	prices := &table{title: "**Prices** of questions, the same log", repeats: 3}
	prices.add(&command{name: "plain", args: []string{cmp.Or(b.base, b.path("hdrsum")), "-st", "percentiles", "-j", "1", node}})
	for _, line := range []string{
		"hdrsum -j 1", "hdrsum", "hdrsum -st json", "hdrsum -sla p99<=1s", "hdrsum -st table", "hdrsum -by all",
		"hdrsum -st table -in us", // values above the mean interval
		"hdrsum -st timeline -agg 1m", "hdrsum -st timeline", "hdrsum -worst 10", "hdrsum -who 99.9", "hdrsum -st json -ci 95", "hdrdiff OTHER",
		"hdrplot -of run.png", "hdrplot -type percentiles -of run.png", "hdrplot -type heatmap -of run.png", "hdrplot -type report -of run.png", "hdrplot -of run.html",
	} {
		c := &command{name: line, dir: b.path("prices")}
		if !strings.Contains(line, "-in ") {
			line += " -in ns"
		}
		c.args = strings.Fields(strings.ReplaceAll(line, "OTHER", b.nodes[1]) + " -q -unit ms " + node)
		c.args[0] = b.path(c.args[0])
		prices.add(c)
	}

	scaling := &table{title: "**From one core to all**, the same log", repeats: 5}
	scaling.add(hdrsum("-j 1", "-j", "1", node), hdrsum(all, node), atOnce(hdrsum("-j 1", "-j", "1", node)))

	oneTag := &table{title: "**Summary of one tag**, the same log"}
	if b.jar != "" {
		oneTag.add(b.java(node, "insert-rt"))
	}
	oneTag.add(hdrsum("-incT insert-rt", "-incT", "insert-rt", node))

	startup := &table{title: "**Start-up**: a log of 60 intervals", repeats: 10}
	startup.add(&command{name: "true", args: []string{"true"}}, hdrsum("-incT insert-rt", "-incT", "insert-rt", b.small), hdrsum("", b.small))
	startup.commands[2].values = nil // all tags
	if b.jar != "" {
		startup.add(b.java(b.small, "insert-rt"))
	}

	tens := fileSize(b.tens)
	filters := &table{title: fmt.Sprintf("**Filters** that leave one interval of %d, %.0f MB", 10*intervals+1, float64(tens)/1e6)}
	filters.add(&command{name: "cat", args: []string{"cat", b.tens}},
		hdrsum("-incT once, one tag", "-incT", "once", b.tens), hdrsum("-incT once -j 1", "-incT", "once", "-j", "1", b.tens),
		hdrsum("-incT insert-rt -e 0, a time", "-incT", "insert-rt", "-e", "0.01", b.tens))
	for _, c := range filters.commands {
		c.size, c.values = tens, nil // each leaves a different interval
	}

	tables := []*table{summary, believed, sparse, prices, scaling, oneTag, startup, filters}
	if t := b.union(); t != nil {
		tables = append(tables, t)
	}
	if t := b.split(); t != nil {
		tables = append(tables, t)
	}
	if len(b.fleet) > 0 {
		tables = append(tables, b.scale()...)
	}

	length := &table{rounds: 3, title: fmt.Sprintf("**Length**: a pipe from the generator, and one %d times as long, of %.1f GB", b.times, float64(size)*float64(b.times)/1e9)}
	for _, times := range [...]int{1, b.times} {
		c := hdrsum(fmt.Sprintf("%d intervals", 6*b.seconds*times), "-")
		c.from, c.intervals, c.values = b.genlog(b.seconds*times, 1), 6*int64(b.seconds*times), per(times, total)
		length.add(c)
	}
	return append(tables, length), nil
}

// atOnce returns a command that runs c once for each core, all at the same time. It shows the gain
// of more cores without sharing.
func atOnce(c *command) *command {
	one := "'" + strings.Join(c.args, "' '") + "' & all=\"$all $!\"; "
	script := strings.Repeat(one, parallel) + "for one in $all; do wait $one || exit; done"
	return &command{
		name: fmt.Sprintf("%s, %d at once", c.name, parallel), args: []string{"sh", "-c", script},
		values: per(parallel, c.values),
	}
}

func (t *table) add(commands ...*command) { t.commands = append(t.commands, commands...) }

// java returns HistogramLogProcessor, which takes one tag at a time.
func (b *bench) java(log, tag string) *command {
	return &command{
		name:   "HistogramLogProcessor, Java",
		args:   []string{"java", "-cp", b.jar, "org.HdrHistogram.HistogramLogProcessor", "-i", log, "-tag", tag},
		values: func(stdout string) (int64, error) { return addMatches(`Total count += +(\d+)`, stdout) },
	}
}

// processingTool returns a command of HdrLogProcessing.
func (b *bench) processingTool(class string, args ...string) *command {
	return &command{name: class + ", Java", args: append([]string{"java", "-cp", b.processing, class}, args...)}
}

// union returns the table of hdrunion, or nil if the command is missing.
func (b *bench) union() *table {
	if _, err := os.Stat(b.path("hdrunion")); err != nil {
		return nil
	}
	t := &table{title: "**Union** of the logs of three machines"}
	for _, jobs := range [...]int{1, parallel} {
		out, j := b.path(fmt.Sprintf("union%d.hdr", jobs)), strconv.Itoa(jobs)
		t.add(&command{name: "hdrunion -j " + j, args: append([]string{b.path("hdrunion"), "-j", j, "-of", out}, b.nodes[:]...), out: out})
	}
	if b.processing != "" {
		out := b.path("union-java.hdr")
		c := b.processingTool("UnionHistogramLogs", "-of", out)
		for _, node := range b.nodes {
			c.args = append(c.args, "-ifp", node)
		}
		c.out = out
		t.add(c)
	}
	for _, c := range t.commands {
		c.values = func(string) (int64, error) { return b.sum(c.out) }
		for _, node := range b.nodes {
			c.size += fileSize(node)
		}
	}
	return t
}

// scale returns a table for each grid: one process of hdrunion, the tree of docs/scale.md, and
// hdrbeam. All three make the same union of twelve logs.
func (b *bench) scale() []*table {
	var tables []*table
	for _, grid := range []string{"1", "10", "60"} {
		dir := filepath.Dir(b.fleet[0])
		t := &table{rounds: 3, title: fmt.Sprintf("**Twelve logs**, windows of %s s", grid)}
		out := func(name string) string { return b.path("scale-" + grid + "-" + name + ".hdr") }
		union := fmt.Sprintf("%s -q -grid %s -of", b.path("hdrunion"), grid)
		parts := b.path("parts-" + grid)
		tree := fmt.Sprintf(`mkdir -p %[1]s && ls %[2]s/*.hdr | xargs -n 3 -P %[3]d sh -c '%[4]s "%[1]s/$(basename $1)" "$@"' sh && %[4]s %[5]s %[1]s/*.hdr`,
			parts, dir, parallel, union, out("tree"))
		t.add(
			&command{name: "hdrunion", args: append(strings.Fields(union), append([]string{out("union")}, b.fleet...)...), out: out("union")},
			&command{name: "tree of five hdrunion", args: []string{"sh", "-c", tree}, out: out("tree")},
			&command{name: "hdrbeam", args: []string{b.path("hdrbeam"), "-grid", grid, "-of", out("beam"), "-glob", dir + "/*.hdr"}, out: out("beam")},
		)
		for _, c := range t.commands {
			c.values = func(string) (int64, error) { return b.sum(c.out) }
			for _, log := range b.fleet {
				c.size += fileSize(log)
			}
		}
		tables = append(tables, t)
	}
	return tables
}

// split returns the table of hdrsplit, or nil if the command is missing.
func (b *bench) split() *table {
	if _, err := os.Stat(b.path("hdrsplit")); err != nil {
		return nil
	}
	t := &table{title: "**Split** of a log by tag"}
	node, copied, parts := b.nodes[0], b.path("copy.hdr"), b.path("parts")
	t.add(
		&command{name: "cp", args: []string{"cp", node, copied}, out: copied},
		&command{name: "hdrsplit", args: []string{b.path("hdrsplit"), "-od", parts, node}, out: filepath.Join(parts, "*")},
	)
	if b.processing != "" {
		c := b.processingTool("SplitHistogramLogs", "-ip", b.dir, "-if", filepath.Base(node))
		c.dir = b.path("parts-java")
		c.out = filepath.Join(c.dir, "*")
		t.add(c)
	}
	for _, c := range t.commands {
		c.size = fileSize(node)
		c.values = func(string) (int64, error) {
			outs, err := filepath.Glob(c.out)
			if err != nil {
				return 0, err
			}
			return b.sum(outs...)
		}
	}
	return t
}

// sum counts the values of logs with hdrsum.
func (b *bench) sum(args ...string) (int64, error) {
	out, err := exec.Command(b.path("hdrsum"), append([]string{"-st", "percentiles"}, args...)...).Output()
	if err != nil {
		return 0, err
	}
	return total(string(out))
}

// addMatches adds up the matches of the only group of a regular expression in text.
func addMatches(pattern, text string) (int64, error) {
	matches := regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1)
	if matches == nil {
		return 0, fmt.Errorf("nothing matches %s in %.200q", pattern, text)
	}
	var sum int64
	for _, match := range matches {
		n, err := strconv.ParseInt(match[1], 10, 64)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// total returns the number of values that hdrsum printed.
func total(stdout string) (int64, error) { return addMatches(`TotalCount=(\d+)`, stdout) }

// counted returns the number of values that a peer printed, including those that it dropped.
func counted(stdout string) (int64, error) { return addMatches(`(\d+) (?:values|dropped)`, stdout) }

// per divides the number of values by times, to compare a log with one that is times as long.
func per(times int, values func(string) (int64, error)) func(string) (int64, error) {
	return func(stdout string) (int64, error) {
		n, err := values(stdout)
		if err == nil && n%int64(times) != 0 {
			err = fmt.Errorf("%d values are not %d times as many as in any log", n, times)
		}
		return n / int64(times), err
	}
}

// writeMachine prints the machine and the versions.
func (b *bench) writeMachine() {
	fmt.Printf("%s, %d cores used, %s/%s, %s", processor(), parallel, runtime.GOOS, runtime.GOARCH, runtime.Version())
	if b.jar != "" {
		fmt.Printf(", %s", firstLine("java", "-version"))
	}
	if b.floor != "" {
		fmt.Printf(", %s", firstLine("cc", "--version"))
	}
	fmt.Printf(". Medians of %d rounds.\n", b.rounds)
}

// processor returns the name of the processor, if the system gives it.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	match := regexp.MustCompile(`(?m)^model name\s*: (.*)$`).FindSubmatch(text)
	if match == nil {
		return "unknown processor"
	}
	return string(match[1])
}

// firstLine returns the first line that a command prints.
func firstLine(args ...string) string {
	out, _ := exec.Command(args[0], args[1:]...).CombinedOutput()
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}
