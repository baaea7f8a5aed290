package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The schedule of a soak, in seconds. Rotated files and short logs must stay longer than hdrlive
// can be stalled.
const (
	rotateEach   = 15
	shortLife    = 10  // length of a short log; one begins each second
	deletedAfter = 30  // time from the end of a short log until it is deleted
	killEach     = 20  // hdrlive is killed or stopped
	fullAfter    = 5   // time from a start of hdrlive until the disk of the outputs is full
	roomAfter    = 10  // time from a start of hdrlive until the disk has room again
	patience     = 120 // longest wait for the outputs at the end
)

// The logs that rotate, and the clocks of some, in seconds ahead of the right time. The intervals
// of the log with longClock last longLength. Its third interval shows that the second numbers are
// lengths, and must come within the idle time of hdrlive.
const (
	rotating   = 10
	slowClock  = -4
	longClock  = -2
	longLength = 3
	day        = 24 * 3600
)

// A soak runs hdrlive with all outputs, and compares them with the logs at the end. hdrlive follows
// logs that come, go and rotate. It is killed, stopped and stalled again and again, and its disk
// gets full. One receiver is slow and fails, and another is away until the end.
type soak struct {
	bench     *bench
	folders   folders
	interval  string  // MAX,PAYLOAD of each interval
	start     float64 // of the logs, in seconds since the epoch
	writers   []*writer
	files     int // number of log files so far
	receivers []*receiver
	address   string    // of the metrics of hdrlive
	roomSince time.Time // when the disk got room again
	hdrlive   process
	faults    map[string]int   // faults by the name of a row of the table
	counters  map[string]int64 // values by tag, as hdrlive counted them at the last scrape
}

// folders are those of a soak.
type folders struct {
	logs    string // hdrlive follows these logs
	copies  string // a copy of each file of logs, which is never rotated or deleted
	outputs string // hdrlive writes here
}

// A process is hdrlive, which a soak starts again and again.
type process struct {
	running     *exec.Cmd     // nil after a kill or a stop
	ended       chan struct{} // closed when the stopped hdrlive has ended
	stderr      bytes.Buffer
	ends        int       // number of kills and stops
	failedStops int       // stops that ended with a status other than 0 and 3
	descriptors []float64 // open files, a sample each second
	memory      []float64 // resident, in MiB, a sample each second
}

// A writer writes a log and its copy.
type writer struct {
	path      string
	clock     float64 // seconds ahead of the right time
	length    int     // of an interval, in seconds
	endSecond int     // second of the soak at which the log ends, 0 for a log that rotates
	files     []*os.File
}

// soak runs a soak, and prints the table of faults. It returns how many rows are above their
// bounds.
func (b *bench) soak() (above int, err error) {
	s := &soak{bench: b, faults: make(map[string]int), counters: make(map[string]int64)}
	s.hdrlive.ended = make(chan struct{})
	close(s.hdrlive.ended)
	for _, folder := range []*string{&s.folders.logs, &s.folders.copies, &s.folders.outputs} {
		if *folder, err = os.MkdirTemp(b.dir, "soak-"); err != nil {
			return 0, err
		}
	}
	defer s.mount()()
	if s.interval, err = b.payload(); err != nil {
		return 0, err
	}
	for _, name := range []string{"flaky", "away"} {
		r, err := newReceiver(name)
		if err != nil {
			return 0, err
		}
		defer func() { r.kill() }()
		s.receivers = append(s.receivers, r)
	}
	flaky, away := s.receivers[0], s.receivers[1]
	flaky.faults = true
	away.kill()
	s.address = freeAddress()
	stop := make(chan struct{})
	go flaky.interrupt(time.Duration(s.bench.seconds)*time.Second/4, stop)
	err = s.run()
	close(stop)
	defer s.kill()
	if err == nil {
		err = away.start()
	}
	if err == nil {
		err = s.compare()
	}
	if err != nil {
		return 0, err
	}
	above = s.print()
	b.keepFiles = above > 0
	if b.keepFiles {
		fmt.Fprintf(os.Stderr, "bench: %s has all files; hdrlive said:\n%s", b.dir, &s.hdrlive.stderr)
	}
	return above, nil
}

// Rows of the table.
const (
	linesDiffer    = "lines of the merged log that differ"
	countersFall   = "counters that fall"
	countersDiffer = "counters that differ"
)

// print prints the table. Descriptors and memory may grow by a half from the second third of the
// time to the last, since each start opens all files again.
func (s *soak) print() (above int) {
	fmt.Printf("\n**Soak of hdrlive**: %d seconds, %d files of logs, %d kills and stops\n\n", s.bench.seconds, s.files, s.hdrlive.ends)
	fmt.Println("| what is wrong | figure | bound |\n| --- | --: | --: |")
	line := func(name string, figure, bound float64) {
		mark := ""
		if figure > bound {
			mark = " **above**"
			above++
		}
		fmt.Printf("| %s | %.3g%s | %.3g |\n", name, figure, mark, bound)
	}
	line("stops with another status than 0 and 3", float64(s.hdrlive.failedStops), 0)
	names := []string{linesDiffer, countersFall, countersDiffer}
	for _, r := range s.receivers {
		names = append(names, r.differing(), r.malformed())
	}
	for _, name := range names {
		line(name, float64(s.faults[name]), 0)
	}
	line("growth of descriptors", growth(s.hdrlive.descriptors), 1.5)
	line("growth of memory", growth(s.hdrlive.memory), 1.5)
	return above
}

// growth returns the ratio of the mean of the last third to the mean of the second third.
func growth(samples []float64) float64 {
	third := len(samples) / 3
	mean := func(of []float64) (sum float64) {
		for _, v := range of {
			sum += v / float64(len(of))
		}
		return sum
	}
	return mean(samples[2*third:]) / mean(samples[third:2*third])
}

// mount mounts a small disk for the outputs, which can get full. It needs root: without it the disk
// never gets full.
func (s *soak) mount() (unmount func()) {
	if err := execute("mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", s.folders.outputs); err != nil {
		fmt.Fprintln(os.Stderr, "bench: without a disk that gets full:", err)
		return func() {}
	}
	s.roomSince = time.Now()
	return func() {
		var err error
		if s.bench.keepFiles {
			err = os.CopyFS(s.bench.path("kept"), os.DirFS(s.folders.outputs))
		}
		if err := errors.Join(err, execute("umount", s.folders.outputs)); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
	}
}

// freeAddress returns an address on which nobody listens. Its port is below those that Linux gives
// to programs that ask for any port, so it stays free.
func freeAddress() string {
	for {
		address := fmt.Sprint("127.0.0.1:", 10_000+rand.IntN(20_000))
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address
		}
	}
}

// pushOptions returns the options of hdrlive that send points to the receivers.
func pushOptions(receivers ...*receiver) []string {
	args := []string{"-metric", "rt", "-in", "us", "-unit", "us", "-p", "50,90,99,99.9,max", "-s", "start"}
	for _, r := range receivers {
		args = append(args, "-push", "http://"+r.address+"/write")
	}
	return args
}

// run writes the logs, second by second. Meanwhile it starts, scrapes, stops and kills hdrlive.
func (s *soak) run() error {
	s.start = float64(time.Now().Unix())
	for n := range rotating {
		w := &writer{path: filepath.Join(s.folders.logs, fmt.Sprintf("node%d.hdr", n)), clock: 0.04 * float64(n), length: 1}
		switch n {
		case 0:
			w.clock = slowClock
		case 1:
			w.clock = longClock
			w.length = longLength
		case rotating - 1:
			w.clock = day // its windows wait until their time comes
		}
		s.writers = append(s.writers, w)
	}
	begin := time.Now()
	for second := range s.bench.seconds {
		time.Sleep(time.Until(begin.Add(time.Duration(second) * time.Second)))
		s.writers = append(s.writers, &writer{
			path:      filepath.Join(s.folders.logs, fmt.Sprintf("short%d.hdr", second)),
			length:    1,
			endSecond: second + shortLife,
		})
		err := errors.Join(s.writeSecond(second), s.fill(second), s.startHdrlive(), s.hdrlive.sample())
		if err != nil {
			return err
		}
		s.scrape()
		if second%killEach == killEach-1 && s.saved() {
			time.Sleep(rand.N(200 * time.Millisecond))
			if rand.IntN(2) == 0 {
				s.stop()
			} else {
				s.kill()
			}
		}
	}
	os.Remove(filepath.Join(s.folders.outputs, "full")) // there is none, unless the disk is full at the end
	<-s.hdrlive.ended
	return s.startHdrlive()
}

// startHdrlive starts hdrlive if it neither runs nor is about to stop. It stalls one of four
// starts.
func (s *soak) startHdrlive() error {
	p := &s.hdrlive
	select {
	case <-p.ended:
	default:
		return nil
	}
	if p.running != nil {
		return nil
	}
	p.running = exec.Command(s.bench.path("hdrlive"), append([]string{"-ip", s.folders.logs, "-if", `.*\.hdr.*`, "-idle", "10s", "-q",
		"-state", filepath.Join(s.folders.outputs, "state"), "-of", filepath.Join(s.folders.outputs, "all.hdr"), "-serve", s.address}, pushOptions(s.receivers...)...)...)
	p.running.Stderr = &p.stderr
	err := p.running.Start()
	if err == nil && rand.IntN(4) == 0 {
		go stall(p.running.Process)
	}
	return err
}

// stall stops a process for 4 to 8 seconds, within the first second.
func stall(p *os.Process) {
	time.Sleep(rand.N(time.Second))
	p.Signal(syscall.SIGSTOP)
	time.Sleep(4*time.Second + rand.N(4*time.Second))
	p.Signal(syscall.SIGCONT)
}

// kill kills hdrlive.
func (s *soak) kill() {
	p := &s.hdrlive
	<-p.ended
	if p.running != nil {
		p.running.Process.Kill()
		p.running.Wait()
		p.running = nil
		p.ends++
	}
}

// stop sends SIGTERM to hdrlive, as systemd does, and does not wait for its end.
func (s *soak) stop() {
	p := &s.hdrlive
	running := p.running
	if running == nil {
		return
	}
	p.running = nil
	p.ends++
	p.ended = make(chan struct{})
	running.Process.Signal(syscall.SIGTERM)
	go func() {
		defer close(p.ended)
		if err := running.Wait(); err != nil && running.ProcessState.ExitCode() != 3 {
			p.failedStops++
		}
	}()
}

// sample records the open files and the memory of hdrlive.
func (p *process) sample() error {
	if p.running == nil {
		return nil
	}
	proc := fmt.Sprintf("/proc/%d/", p.running.Process.Pid)
	files, err := os.ReadDir(proc + "fd")
	if err != nil {
		return fmt.Errorf("hdrlive has ended: %w\n%s", err, &p.stderr)
	}
	status, _ := os.ReadFile(proc + "status")
	_, resident, _ := strings.Cut(string(status), "VmRSS:")
	kib := 0.0
	fmt.Sscan(resident, &kib)
	p.descriptors = append(p.descriptors, float64(len(files)))
	p.memory = append(p.memory, kib/1024)
	return nil
}

// fill fills the disk of the outputs, or makes room again, if it is time.
func (s *soak) fill(second int) error {
	path := filepath.Join(s.folders.outputs, "full")
	switch {
	case s.roomSince.IsZero() || second < killEach:
	case second%killEach == roomAfter:
		s.roomSince = time.Now()
		return os.Remove(path)
	case second%killEach == fullAfter:
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		defer f.Close()
		for size := 1 << 20; size > 0; {
			if _, err := f.Write(make([]byte, size)); err != nil {
				size /= 2
			}
		}
	}
	return nil
}

// saved reports whether hdrlive has saved its state since the disk has room. Before that, hdrlive
// serves counters that a kill would take back.
func (s *soak) saved() bool {
	info, err := os.Stat(filepath.Join(s.folders.outputs, "state"))
	return err == nil && info.ModTime().After(s.roomSince)
}

var counter = regexp.MustCompile(`(?m)^rt_count\{tag="(.*)"\} (\S+)$`)

// scrape reads the counters, as Prometheus does. It gives up early, so that the logs are written in
// time.
func (s *soak) scrape() {
	client := http.Client{Timeout: 200 * time.Millisecond}
	answer, err := client.Get("http://" + s.address + "/metrics")
	if err != nil {
		return // hdrlive was just killed
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return
	}
	for _, m := range counter.FindAllSubmatch(text, -1) {
		value, _ := strconv.ParseFloat(string(m[2]), 64) // such as 1.095e+06
		n := int64(value)
		if n < s.counters[string(m[1])] {
			s.faults[countersFall]++
		}
		s.counters[string(m[1])] = n
	}
}

// writeSecond writes a second of each log, and rotates, ends and deletes logs.
func (s *soak) writeSecond(second int) error {
	var remaining []*writer
	for n, w := range s.writers {
		if w.endSecond > 0 && second >= w.endSecond {
			if second < w.endSecond+deletedAfter {
				remaining = append(remaining, w)
			} else {
				os.Remove(w.path)
			}
			continue
		}
		remaining = append(remaining, w)
		if w.endSecond == 0 && second > 0 && (second+n)%rotateEach == 0 {
			w.close()
			if err := w.rotate(n%2 == 1); err != nil {
				return err
			}
		}
		if w.files == nil {
			if err := s.begin(w); err != nil {
				return err
			}
		}
		if w.clock == day && second%10 != 0 {
			continue
		}
		if err := s.writeInterval(w, second); err != nil {
			return err
		}
		if second+1 == w.endSecond {
			w.close()
		}
	}
	s.writers = remaining
	return nil
}

// writeInterval writes an interval of each tag, if intervals of the log end with this second.
func (s *soak) writeInterval(w *writer, second int) error {
	if (second+1)%w.length != 0 {
		return nil
	}
	var text bytes.Buffer
	for _, tag := range []string{"get", "put", "scan"} {
		fmt.Fprintf(&text, "Tag=%s,%d.000,%d.000,%s\n", tag, second+1-w.length, w.length, s.interval)
	}
	for _, f := range w.files {
		if _, err := f.Write(text.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// rotate renames the files of a log as logrotate does, and keeps three old files. With compress it
// does what the option delaycompress does.
func (w *writer) rotate(compress bool) error {
	suffix := ""
	if compress {
		suffix = ".gz"
	}
	second := w.path + ".2" + suffix
	os.Rename(second, w.path+".3"+suffix) // maybe there is none yet
	if text, err := os.ReadFile(w.path + ".1"); err == nil && compress {
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		z.Write(text)
		z.Close()
		if err := os.WriteFile(second, zipped.Bytes(), 0o666); err != nil {
			return err
		}
	} else if err == nil {
		os.Rename(w.path+".1", second)
	}
	return os.Rename(w.path, w.path+".1")
}

// begin creates the next file of a log, and its copy. A log whose clock is a day ahead has no copy,
// since hdrlive must not print it yet.
func (s *soak) begin(w *writer) error {
	paths := []string{w.path}
	if w.clock != day {
		paths = append(paths, filepath.Join(s.folders.copies, fmt.Sprintf("%d.hdr", s.files)))
	}
	s.files++
	for _, path := range paths {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		w.files = append(w.files, f)
		if _, err := fmt.Fprintf(f, "#[BaseTime: %.3f (seconds since epoch)]\n#[StartTime: %.3[1]f (seconds since epoch)]\n", s.start+w.clock); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) close() {
	for _, f := range w.files {
		f.Close()
	}
	w.files = nil
}

// compare waits until all outputs equal those of the copies. It counts what differs at the end.
func (s *soak) compare() error {
	lines, err := s.union("-ip", s.folders.copies, "-if", `.*\.hdr`)
	if err != nil {
		return err
	}
	want, err := newReceiver("whole")
	if err != nil {
		return err
	}
	defer want.kill()
	if err := execute(append([]string{s.bench.path("hdrlive"), "-q", "-idle", "1h", "-for", "1s", "-ip", s.folders.copies, "-if", `.*\.hdr`}, pushOptions(want)...)...); err != nil {
		return err
	}
	all, _ := want.snapshot()
	counts := countsOf(all)
	for end := time.Now().Add(patience * time.Second); time.Now().Before(end); time.Sleep(time.Second) {
		s.scrape()
		wrong := differing(s.counters, counts)
		s.faults[countersDiffer] = wrong
		got, err := s.union(filepath.Join(s.folders.outputs, "all.hdr")) // its last line may be half written, which is status 3
		s.faults[linesDiffer] = differing(countLines(got), countLines(lines))
		wrong += s.faults[linesDiffer]
		for _, r := range s.receivers {
			var points map[string]string
			points, s.faults[r.malformed()] = r.snapshot()
			s.faults[r.differing()] = differing(points, all)
			wrong += s.faults[r.differing()]
		}
		if wrong == 0 && err == nil {
			break
		}
	}
	fmt.Fprintf(os.Stderr, "bench: %d lines, %d points at each receiver, %d counters\n", len(lines), len(all), len(counts))
	for _, r := range s.receivers {
		points, _ := r.snapshot()
		for _, key := range slices.Sorted(maps.Keys(all)) {
			if points[key] != all[key] {
				fmt.Fprintf(os.Stderr, "bench: the first of the %s: %s is %q, not %q\n", r.differing(), key, points[key], all[key])
				break
			}
		}
	}
	return nil
}

// union returns the intervals of the union of logs, a line each, without the header.
func (s *soak) union(args ...string) ([]string, error) {
	text, err := exec.Command(s.bench.path("hdrunion"), append([]string{"-q", "-grid", "1"}, args...)...).Output()
	_, rest, _ := strings.Cut(string(text), "\"StartTimestamp\"")
	return slices.Collect(strings.Lines(rest)), err
}

// countLines returns the number of occurrences of each line.
func countLines(lines []string) map[string]int64 {
	all := make(map[string]int64)
	for _, line := range lines {
		all[line]++
	}
	return all
}

// differing returns the number of keys whose values differ.
func differing[V comparable](a, b map[string]V) (n int) {
	for key, value := range a {
		if other, ok := b[key]; !ok || other != value {
			n++
		}
	}
	for key := range b {
		if _, ok := a[key]; !ok {
			n++
		}
	}
	return n
}
