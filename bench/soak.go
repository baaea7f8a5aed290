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

// Seconds of a soak. Rotated files and short logs must stay until hdrlive has read them, also after
// a stall.
const (
	rotateEach   = 15
	shortLife    = 10 // a log begins each second, and ends after these
	deletedAfter = 30 // its end
	killEach     = 20
	fullAfter    = 5 // a start, the disk of the outputs is full
	roomAfter    = 10
	patience     = 120 // at the end, for the outputs
)

// The logs of a soak that rotate, and some of their clocks. The intervals of the second one last
// longLength: its third one, which shows that these are lengths, must come within the idle time.
const (
	rotating   = 10
	slowClock  = -4
	longClock  = -2
	longLength = 3
	day        = 24 * 3600
)

// A soak is hdrlive with all outputs. It follows logs that come, go and rotate, is killed, stopped
// and stalled again and again, and its disk gets full. One of its receivers fails and is slow, and
// one is away until the end.
type soak struct {
	*bench
	logs, whole, own string  // folders: what hdrlive follows, a copy of all that, and what hdrlive writes
	interval         string  // MAX,PAYLOAD
	base             float64 // when the logs start, in seconds since the epoch
	writers          []*writer
	files            int // of logs
	receivers        []*receiver
	address          string    // where hdrlive is scraped
	room             time.Time // when the disk got room again
	hdrlive          process
	found            map[string]int // what is wrong, by the name of a row
	counters         map[string]int64
}

// A process is hdrlive, started again and again.
type process struct {
	running     *exec.Cmd     // nil if it was killed or stopped
	ended       chan struct{} // closed when the one that was stopped has ended
	stderr      bytes.Buffer
	ends        int // by kills and stops
	failed      int // stops
	descriptors []float64
	memory      []float64 // MiB
}

// A writer writes a log, and a copy that stays.
type writer struct {
	path   string
	clock  float64 // by how much it is ahead
	length int     // of its intervals
	ends   int     // the second after its last one, 0 for a log that rotates
	files  []*os.File
}

// soak runs a soak, and prints a table of what is wrong. It returns how many rows are above their
// bounds.
func (b *bench) soak() (above int, err error) {
	s := &soak{bench: b, found: make(map[string]int), counters: make(map[string]int64)}
	s.hdrlive.ended = make(chan struct{})
	close(s.hdrlive.ended)
	for _, folder := range []*string{&s.logs, &s.whole, &s.own} {
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
	go flaky.downs(time.Duration(s.seconds)*time.Second/4, stop)
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
	b.keep = above > 0
	if b.keep {
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

// print prints the table. Descriptors and memory may be higher in the last third of the time than
// in the second one by a half: each start opens all files again.
func (s *soak) print() (above int) {
	fmt.Printf("\n**Soak of hdrlive**: %d seconds, %d files of logs, %d kills and stops\n\n", s.seconds, s.files, s.hdrlive.ends)
	fmt.Println("| what is wrong | figure | bound |\n| --- | --: | --: |")
	line := func(name string, figure, bound float64) {
		mark := ""
		if figure > bound {
			mark = " **above**"
			above++
		}
		fmt.Printf("| %s | %.3g%s | %.3g |\n", name, figure, mark, bound)
	}
	line("stops with another status than 0 and 3", float64(s.hdrlive.failed), 0)
	names := []string{linesDiffer, countersFall, countersDiffer}
	for _, r := range s.receivers {
		names = append(names, r.differing(), r.refused())
	}
	for _, name := range names {
		line(name, float64(s.found[name]), 0)
	}
	line("growth of descriptors", growth(s.hdrlive.descriptors), 1.5)
	line("growth of memory", growth(s.hdrlive.memory), 1.5)
	return above
}

// growth returns the mean of the last third divided by that of the second one.
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

// mount makes own a small disk, which can get full, if that is allowed.
func (s *soak) mount() (unmount func()) {
	if err := execute("mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", s.own); err != nil {
		fmt.Fprintln(os.Stderr, "bench: without a disk that gets full:", err)
		return func() {}
	}
	s.room = time.Now()
	return func() {
		var err error
		if s.keep {
			err = os.CopyFS(s.path("kept"), os.DirFS(s.own))
		}
		if err := errors.Join(err, execute("umount", s.own)); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
	}
}

// freeAddress returns an address for hdrlive that the system gives to nobody else.
func freeAddress() string {
	for {
		address := fmt.Sprint("127.0.0.1:", 10_000+rand.IntN(20_000))
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address
		}
	}
}

// pushes returns the options of hdrlive that send what logs give.
func pushes(receivers ...*receiver) []string {
	args := []string{"-metric", "rt", "-in", "us", "-unit", "us", "-p", "50,90,99,99.9,max", "-s", "start"}
	for _, r := range receivers {
		args = append(args, "-push", "http://"+r.address+"/write")
	}
	return args
}

// run writes the logs, second by second, and kills and starts hdrlive meanwhile.
func (s *soak) run() error {
	s.base = float64(time.Now().Unix())
	for n := range rotating {
		w := &writer{path: filepath.Join(s.logs, fmt.Sprintf("node%d.hdr", n)), clock: 0.04 * float64(n), length: 1}
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
	for second := range s.seconds {
		time.Sleep(time.Until(begin.Add(time.Duration(second) * time.Second)))
		s.writers = append(s.writers, &writer{
			path:   filepath.Join(s.logs, fmt.Sprintf("short%d.hdr", second)),
			length: 1,
			ends:   second + shortLife,
		})
		err := errors.Join(s.writeSecond(second), s.fill(second), s.start(), s.hdrlive.sample())
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
	os.Remove(filepath.Join(s.own, "full")) // there is none, unless the disk is full at the end
	<-s.hdrlive.ended
	return s.start()
}

// start starts hdrlive unless it runs, or the one before has not ended. One of four starts is
// stalled.
func (s *soak) start() error {
	p := &s.hdrlive
	select {
	case <-p.ended:
	default:
		return nil
	}
	if p.running != nil {
		return nil
	}
	p.running = exec.Command(s.path("hdrlive"), append([]string{"-ip", s.logs, "-if", `.*\.hdr.*`, "-idle", "10s", "-q",
		"-state", filepath.Join(s.own, "state"), "-of", filepath.Join(s.own, "all.hdr"), "-serve", s.address}, pushes(s.receivers...)...)...)
	p.running.Stderr = &p.stderr
	err := p.running.Start()
	if err == nil && rand.IntN(4) == 0 {
		go stall(p.running.Process)
	}
	return err
}

// stall makes a start last for seconds.
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

// stop ends hdrlive as a restart of its unit does.
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
			p.failed++
		}
	}()
}

// sample notes what hdrlive takes.
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

// fill fills the disk of the outputs, and makes room again.
func (s *soak) fill(second int) error {
	path := filepath.Join(s.own, "full")
	switch {
	case s.room.IsZero() || second < killEach:
	case second%killEach == roomAfter:
		s.room = time.Now()
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

// saved reports whether there is a state since the disk has room. A kill before that may take back
// counters: a full disk stops no scrapes.
func (s *soak) saved() bool {
	info, err := os.Stat(filepath.Join(s.own, "state"))
	return err == nil && info.ModTime().After(s.room)
}

var counter = regexp.MustCompile(`(?m)^rt_count\{tag="(.*)"\} (\S+)$`)

// scrape reads the counters, as Prometheus does. Logs do not wait for one that takes long.
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
			s.found[countersFall]++
		}
		s.counters[string(m[1])] = n
	}
}

// writeSecond writes a second of each log, and rotates and deletes logs.
func (s *soak) writeSecond(second int) error {
	var kept []*writer
	for n, w := range s.writers {
		if w.ends > 0 && second >= w.ends {
			if second < w.ends+deletedAfter {
				kept = append(kept, w)
			} else {
				os.Remove(w.path)
			}
			continue
		}
		kept = append(kept, w)
		if w.ends == 0 && second > 0 && (second+n)%rotateEach == 0 {
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
		if second+1 == w.ends {
			w.close()
		}
	}
	s.writers = kept
	return nil
}

// writeInterval writes the interval of each tag that ends with a second, if one does.
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

// rotate does what logrotate does with delaycompress, and keeps three files.
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

// begin begins a file of a log and its copy. The log of tomorrow has no copy.
func (s *soak) begin(w *writer) error {
	paths := []string{w.path}
	if w.clock != day {
		paths = append(paths, filepath.Join(s.whole, fmt.Sprintf("%d.hdr", s.files)))
	}
	s.files++
	for _, path := range paths {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		w.files = append(w.files, f)
		if _, err := fmt.Fprintf(f, "#[BaseTime: %.3f (seconds since epoch)]\n#[StartTime: %.3[1]f (seconds since epoch)]\n", s.base+w.clock); err != nil {
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

// compare waits until all outputs have what whole logs give, and notes what differs at the end.
func (s *soak) compare() error {
	lines, err := s.union("-ip", s.whole, "-if", `.*\.hdr`)
	if err != nil {
		return err
	}
	want, err := newReceiver("whole")
	if err != nil {
		return err
	}
	defer want.kill()
	if err := execute(append([]string{s.path("hdrlive"), "-q", "-idle", "1h", "-for", "1s", "-ip", s.whole, "-if", `.*\.hdr`}, pushes(want)...)...); err != nil {
		return err
	}
	all, _ := want.has()
	counts := countsOf(all)
	for end := time.Now().Add(patience * time.Second); time.Now().Before(end); time.Sleep(time.Second) {
		s.scrape()
		wrong := differing(s.counters, counts)
		s.found[countersDiffer] = wrong
		got, err := s.union(filepath.Join(s.own, "all.hdr")) // its last line may be half written, which is status 3
		s.found[linesDiffer] = differing(index(got), index(lines))
		wrong += s.found[linesDiffer]
		for _, r := range s.receivers {
			var points map[string]string
			points, s.found[r.refused()] = r.has()
			s.found[r.differing()] = differing(points, all)
			wrong += s.found[r.differing()]
		}
		if wrong == 0 && err == nil {
			break
		}
	}
	fmt.Fprintf(os.Stderr, "bench: %d lines, %d points at each receiver, %d counters\n", len(lines), len(all), len(counts))
	for _, r := range s.receivers {
		points, _ := r.has()
		for _, key := range slices.Sorted(maps.Keys(all)) {
			if points[key] != all[key] {
				fmt.Fprintf(os.Stderr, "bench: the first of the %s: %s is %q, not %q\n", r.differing(), key, points[key], all[key])
				break
			}
		}
	}
	return nil
}

// union returns the lines of a union after its header. All logs have the same start.
func (s *soak) union(args ...string) ([]string, error) {
	text, err := exec.Command(s.path("hdrunion"), append([]string{"-q", "-grid", "1"}, args...)...).Output()
	_, rest, _ := strings.Cut(string(text), "\"StartTimestamp\"")
	return slices.Collect(strings.Lines(rest)), err
}

// index returns how often there is each line.
func index(lines []string) map[string]int64 {
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
