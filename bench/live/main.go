//go:build unix

// Command live measures what it costs to merge logs while they are written: the processor time and
// memory of hdrlive, and how long each window takes from the last line that it waits for.
//
//	go run ./live -logs 1000 -seconds 30
//
// With -soak it checks instead that commands which are killed or stopped every 20 seconds, whose
// receivers fail and are killed, are slow, or are away until the end, and whose disk gets full (as
// root), lose nothing and do not grow. -churn adds a log each second that is deleted 40 seconds
// later. With -memory it checks how much memory very many tags take while a receiver is away.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	var b bench
	flag.IntVar(&b.logs, "logs", 1000, "number of logs, each with six intervals a second")
	flag.IntVar(&b.seconds, "seconds", 30, "how long they are written")
	flag.IntVar(&b.rate, "rate", 1000, "operations per second in each log")
	flag.BoolVar(&b.replay, "replay", false, "write all seconds first, and read them from pipes as fast as possible")
	flag.DurationVar(&b.soak, "soak", 0, "how long to check that commands which are killed lose nothing and do not grow, 1m at least")
	flag.IntVar(&b.rotating, "rotating", 10, "with -soak, the number of logs that rotate")
	flag.BoolVar(&b.behind, "behind", false, "with -soak, a clock a day behind too")
	flag.BoolVar(&b.outputs, "outputs", false, "measure each output alone, and all at once")
	flag.BoolVar(&b.state, "state", false, "with -outputs, a state too")
	flag.BoolVar(&b.stall, "stall", false, "with -soak, stop the command with SIGSTOP for 6 to 12 seconds after each start")
	flag.BoolVar(&b.churn, "churn", false, "with -soak, short-lived logs too")
	flag.IntVar(&b.memory, "memory", 0, "check the memory with so many tags, and a receiver that is away")
	flag.Parse()
	if err := b.run(); err != nil {
		fmt.Fprintln(os.Stderr, "live:", err)
		os.Exit(1)
	}
}

// spread is the part of a second over which the machines write.
const spread = 500 * time.Millisecond

type bench struct {
	logs, seconds, rate int
	rotating            int
	replay              bool
	churn, behind       bool
	stall               bool
	outputs, state      bool
	soak                time.Duration
	memory              int // tags

	dir    string
	lines  [][]string   // of the seconds of the template, without START
	newest atomic.Value // with -outputs
	second sync.Map     // when the last machine wrote the first line of a second, by second
}

func (b *bench) run() (err error) {
	if b.dir, err = os.MkdirTemp("", "hdrkit-live-"); err != nil {
		return err
	}
	defer func() {
		if err != nil && b.soak > 0 {
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
	if b.soak > 0 {
		return b.runSoak(command, filepath.Join(b.dir, "hdrunion"), filepath.Join(b.dir, "hdrsum"))
	}
	if b.memory > 0 {
		return b.runMemory(command)
	}
	if b.outputs {
		return b.runOutputs(command)
	}
	if b.replay {
		return b.runReplay(command)
	}
	return b.runLive(command)
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

func (b *bench) runLive(command string) error {
	var files []*os.File
	start := time.Now().Unix()
	for n := range b.logs {
		f, err := os.Create(filepath.Join(b.dir, fmt.Sprintf("node%d.hdr", n)))
		if err != nil {
			return err
		}
		defer f.Close()
		f.WriteString(head(float64(start)))
		files = append(files, f)
	}
	union := exec.Command(command, "-ip", b.dir, "-if", `node.*\.hdr`)
	union.Stderr = os.Stderr
	out, err := union.StdoutPipe()
	if err != nil {
		return err
	}
	if err := union.Start(); err != nil {
		return err
	}
	waits := make(chan []time.Duration)
	go func() { waits <- b.watch(out) }()
	begin := time.Now()
	for s := range b.seconds {
		for n, f := range files {
			time.Sleep(time.Until(begin.Add(time.Duration(s+1)*time.Second + spread*time.Duration(n)/time.Duration(b.logs))))
			if err := b.write(f, s); err != nil {
				return err
			}
		}
		b.second.Store(s, time.Now())
	}
	time.Sleep(time.Second)
	took := time.Since(begin)
	union.Process.Signal(os.Interrupt)
	all := <-waits
	if err := union.Wait(); err != nil {
		return err
	}
	slices.Sort(all)
	fmt.Printf("%d logs: ", b.logs)
	usage(union, took)
	fmt.Printf("%d windows, out %v after the last line that they wait for in the median, %v at most\n", len(all), all[len(all)/2].Round(time.Millisecond), all[len(all)-1].Round(time.Millisecond))
	return nil
}

// watch returns how long each window took.
func (b *bench) watch(out io.Reader) (waits []time.Duration) {
	next := 0
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	var base, first float64
	for lines.Scan() {
		line := lines.Text()
		if rest, ok := strings.CutPrefix(line, "#[BaseTime: "); ok {
			fmt.Sscanf(rest, "%f", &base)
			first = base
		}
		if !strings.HasPrefix(line, "Tag=") {
			continue
		}
		var at float64
		fmt.Sscanf(strings.Split(line, ",")[1], "%f", &at)
		if second := int(base + at - first); second >= next {
			next = second + 1
			if written, ok := b.second.Load(second + 1); ok {
				waits = append(waits, max(0, time.Since(written.(time.Time))))
			} else {
				waits = append(waits, 0) // the last machine is just writing
			}
		}
	}
	if len(waits) > 0 {
		waits = waits[:len(waits)-1] // written at the end
	}
	return waits
}

func (b *bench) runReplay(command string) error {
	var args []string
	for n := range b.logs {
		path := filepath.Join(b.dir, fmt.Sprintf("node%d", n))
		if err := syscall.Mkfifo(path, 0o666); err != nil {
			return err
		}
		args = append(args, "-if", path)
		go func() {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return
			}
			defer f.Close()
			w := bufio.NewWriterSize(f, 64<<10)
			defer w.Flush()
			w.WriteString(head(1_700_000_000))
			for s := range b.seconds {
				if b.write(w, s) != nil {
					return
				}
			}
		}()
	}
	union := exec.Command(command, args...)
	union.Stderr = os.Stderr
	begin := time.Now()
	if err := union.Run(); err != nil {
		return err
	}
	fmt.Printf("%d logs of %d seconds replayed in %v: ", b.logs, b.seconds, time.Since(begin).Round(10*time.Millisecond))
	usage(union, time.Since(begin))
	return nil
}

// usage prints what a command took.
func usage(c *exec.Cmd, took time.Duration) {
	spent := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	fmt.Printf("%.1f%% of a core, %d MiB\n", 100*spent.Seconds()/took.Seconds(), peakBytes(c)>>20)
}

// peakBytes returns the memory that a command took at most.
func peakBytes(c *exec.Cmd) int64 {
	most := c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	if runtime.GOOS == "darwin" {
		return most
	}
	return most << 10
}
