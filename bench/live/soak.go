//go:build unix

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

// The logs of a soak, and the seconds after which something happens to them. The clocks of two logs
// are behind, and others wait for them.
const (
	slow         = -4 // the first log
	slightly     = -2 // the second one, whose intervals last longLength
	longLength   = 5
	rotateAfter  = 15
	shortLife    = 10 // with -churn, a log begins each second
	deletedAfter = 30 // a short log stays that long after its last line: what waits for a receiver is read again
	slowAnswer   = time.Second
	killAfter    = 20 // of each command
	fullAfter    = 5  // after a start, the disk of the outputs is full
	roomAfter    = 10 // after a start, it has room again
	parts        = 3  // rotated files that stay: .1, .2 and .3, those of every second log compressed from .2 on
	day          = 24 * 3600
)

// A soak follows logs that come, go and rotate, and kills or stops the commands, kills their
// receiver, and fills the disk, again and again.
type soak struct {
	*bench
	logs, whole, own string // folders: what is followed, a copy of all that was written, and what commands write
	live             []*soakLog
	copies           int
	commands         []*command
	union            string // the command that merges whole logs
	receivers        []*receiver
	small            bool             // own is a small disk, which can get full
	room             time.Time        // when the disk got room again
	kills            int              // and stops
	counters         map[string]int64 // as scraped last
	base             float64
}

// A command follows the logs of a soak.
type command struct {
	name    string
	binary  string
	args    []string
	stall   bool // each start is stopped for some seconds
	stderr  bytes.Buffer
	running *exec.Cmd
	ended   chan struct{} // closed after a clean stop, which others do not wait for
	ticks   float64       // of the processor, up to the last sample
	samples [][4]float64  // minutes, descriptors, MiB, percents of a core
	oldest  time.Duration // of the states that a kill left
}

// A soakLog is a log that is written now, with a copy that stays.
type soakLog struct {
	path  string
	skew  float64
	long  bool // its intervals last longLength
	ends  int  // the second after its last one, 0 for a log that rotates
	files []*os.File
}

// runSoak returns an error if what the killed commands leave is not what they make of whole logs,
// or if they grow.
func (b *bench) runSoak(live, union, sum string) error {
	if b.soak < time.Minute {
		return errors.New("a soak takes a minute at least")
	}
	s := &soak{bench: b, union: union, counters: make(map[string]int64)}
	for name, folder := range map[string]*string{"logs": &s.logs, "whole": &s.whole, "own": &s.own} {
		*folder = filepath.Join(b.dir, name)
		if err := os.Mkdir(*folder, 0o777); err != nil {
			return err
		}
	}
	unmount := s.mount()
	defer unmount()
	var err error
	for range 3 {
		r, err := newReceiver()
		if err != nil {
			return err
		}
		defer func() { r.kill() }()
		s.receivers = append(s.receivers, r)
	}
	flaky, slow, dead := s.receivers[0], s.receivers[1], s.receivers[2]
	flaky.faults = true
	slow.slow = slowAnswer
	dead.kill()
	ended := make(chan struct{}) // nothing ran so far
	close(ended)
	s.commands = []*command{{
		name:   "hdrlive",
		binary: live,
		args: append([]string{"-ip", s.logs, "-if", `.*\.hdr.*`, "-idle", "10s", "-q", "-state", filepath.Join(s.own, "state"),
			"-of", filepath.Join(s.own, "all.hdr"), "-serve", scrapeAddress}, points(s.receivers...)...),
		stall: b.stall,
		ended: ended,
	}}
	java, err := s.java()
	if err != nil {
		return err
	}
	stop := make(chan struct{})
	go flaky.downs(min(3*time.Minute, b.soak/4), stop)
	err = s.write(int(b.soak.Seconds()))
	close(stop)
	err = errors.Join(err, java(), dead.start())
	if err == nil {
		err = errors.Join(s.compare(), s.comparePoints())
	}
	for _, c := range s.commands {
		c.kill()
		if err != nil {
			os.WriteFile(filepath.Join(b.dir, c.name+".txt"), c.stderr.Bytes(), 0o666)
		}
	}
	if err == nil {
		for _, c := range s.commands {
			err = errors.Join(err, c.grows("descriptors", 1, 10), c.grows("MiB of memory", 2, 20), c.grows("percents of a core", 3, 100))
		}
	}
	return err
}

// mount makes own a small disk, if that is allowed.
func (s *soak) mount() (unmount func()) {
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", s.own).CombinedOutput(); err != nil {
		fmt.Printf("no disk gets full: %v: %s\n", err, out)
		return func() {}
	}
	s.small = true
	return func() {
		kept := filepath.Join(s.dir, "kept")
		if err := os.CopyFS(kept, os.DirFS(s.own)); err != nil {
			fmt.Println(err)
		}
		if out, err := exec.Command("umount", s.own).CombinedOutput(); err != nil {
			fmt.Printf("umount: %v: %s\n", err, out)
		}
	}
}

// fill fills the disk of the outputs, and makes room again.
func (s *soak) fill(second int) error {
	path := filepath.Join(s.own, "full")
	switch {
	case !s.small:
	case second%killAfter == roomAfter && second > killAfter:
		return s.makeRoom(path)
	case second%killAfter == fullAfter && second > killAfter:
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

// makeRoom removes the file that fills the disk.
func (s *soak) makeRoom(path string) error {
	s.room = time.Now()
	return os.Remove(path)
}

// saved reports whether there is a state since the disk has room. A kill before that may take back
// counters: a full disk stops no scrapes.
func (s *soak) saved() bool {
	info, err := os.Stat(filepath.Join(s.own, "state"))
	return err == nil && info.ModTime().After(s.room)
}

// The library of the reference, and what writes a log with it.
const (
	javaLibrary = "/usr/share/java/hdrhistogram.jar"
	javaWriter  = "live/JavaLog.java"
)

// java begins a log that the library of the reference writes, when that is ready to, and returns
// what waits for its end. All logs begin then.
func (s *soak) java() (wait func() error, err error) {
	start := func() { s.base = float64(time.Now().Unix()) }
	if _, err := os.Stat(javaLibrary); err != nil && os.Getenv("HDRKIT_REQUIRE_TOOLS") != "1" {
		fmt.Println("no log is written by Java:", err)
		start()
		return func() error { return nil }, nil
	}
	var files []*os.File
	for _, folder := range []string{s.logs, s.whole} {
		f, err := os.Create(filepath.Join(folder, "java.hdr"))
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	writer := exec.Command("java", "-XX:+UseSerialGC", "-cp", javaLibrary, javaWriter, strconv.Itoa(int(s.soak.Seconds())-shortLife))
	writer.Stderr = os.Stderr
	writer.Stdout = io.MultiWriter(files[0], files[1])
	stdin, err := writer.StdinPipe()
	if err == nil {
		err = writer.Start()
	}
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if info, err := files[0].Stat(); err == nil && info.Size() > 0 {
			break
		}
		if time.Now().After(end) {
			writer.Process.Kill()
			return nil, errors.New("java writes nothing")
		}
	}
	start()
	fmt.Fprintf(stdin, "%d000\n", int64(s.base))
	return writer.Wait, nil
}

// scrapeAddress is where a command is scraped: it is free, and not one that the system gives.
var scrapeAddress = func() string {
	for {
		address := fmt.Sprint("127.0.0.1:", 10_000+rand.IntN(20_000))
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address
		}
	}
}()

// scrapeTime is the time that a scrape has.
const scrapeTime = 200 * time.Millisecond

const percentiles = "50,90,99,99.9,max"

// points returns the options of hdrlive that send what logs give.
func points(receivers ...*receiver) []string {
	args := []string{"-metric", "rt", "-in", "us", "-unit", "us", "-p", percentiles, "-s", "start"}
	for _, r := range receivers {
		args = append(args, "-push", "http://"+r.address+"/write", "-push", "http://"+r.address+"/api/v1/write")
	}
	return args
}

// start starts a command, unless it runs, or the one before has not ended.
func (c *command) start() error {
	if c.running != nil {
		return nil
	}
	select {
	case <-c.ended:
	default:
		return nil
	}
	c.running, c.ticks = exec.Command(c.binary, c.args...), 0
	c.running.Stderr = &c.stderr
	err := c.running.Start()
	if err == nil && c.stall {
		go stall(c.running.Process)
	}
	return err
}

// stall makes a start last for 6 to 12 seconds.
func stall(p *os.Process) {
	time.Sleep(rand.N(time.Second))
	p.Signal(syscall.SIGSTOP)
	time.Sleep(6*time.Second + rand.N(6*time.Second))
	p.Signal(syscall.SIGCONT)
}

func (c *command) kill() {
	<-c.ended
	if c.running != nil {
		c.running.Process.Kill()
		c.running.Wait()
		c.running = nil
	}
}

// stop ends the command as a restart of its unit does.
func (c *command) stop() {
	if c.running == nil {
		return
	}
	running := c.running
	c.running = nil
	ended := make(chan struct{})
	c.ended = ended
	running.Process.Signal(syscall.SIGTERM)
	go func() {
		defer close(ended)
		if err := running.Wait(); err != nil && running.ProcessState.ExitCode() != 3 {
			fmt.Printf("%s: a clean stop: %v\n", c.name, err)
		}
	}()
}

var counter = regexp.MustCompile(`(?m)^rt_count\{tag="(.*)"\} (\S+)$`)

// scrape reads the counters, as Prometheus does. They must not fall.
func (s *soak) scrape() error {
	client := http.Client{Timeout: scrapeTime} // logs do not wait for a command that is slow
	answer, err := client.Get("http://" + scrapeAddress + "/metrics")
	if err != nil {
		return nil // the command was just killed
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil
	}
	for _, m := range counter.FindAllSubmatch(text, -1) {
		value, _ := strconv.ParseFloat(string(m[2]), 64) // such as 1.095e+06
		n := int64(value)
		if before := s.counters[string(m[1])]; n < before {
			return fmt.Errorf("a counter of tag %s falls from %d to %d", m[1], before, n)
		}
		s.counters[string(m[1])] = n
	}
	return nil
}

// write writes the logs for some seconds, and kills and starts the command meanwhile.
func (s *soak) write(seconds int) error {
	for n := range s.rotating {
		l := &soakLog{path: filepath.Join(s.logs, fmt.Sprintf("node%d.hdr", n)), skew: 0.04 * float64(n)}
		switch {
		case n == 0:
			l.skew = slow
		case n == 1:
			l.skew = slightly
			l.long = true
		case n == s.rotating-1:
			l.skew = day // its windows wait until their time comes
		case n == s.rotating-2 && s.behind:
			l.skew = -day // each of its intervals is late
		}
		s.live = append(s.live, l)
	}
	begin := time.Now()
	for second := range seconds {
		time.Sleep(time.Until(begin.Add(time.Duration(second) * time.Second)))
		if s.churn {
			s.live = append(s.live, &soakLog{path: filepath.Join(s.logs, fmt.Sprintf("short%d.hdr", second)), ends: second + shortLife})
		}
		err := errors.Join(s.second(second), s.fill(second), s.scrape())
		for n, c := range s.commands {
			err = errors.Join(err, c.start(), c.sample(time.Since(begin)))
			if (second+5*n)%killAfter == killAfter-1 && s.saved() {
				s.kills++
				time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond)
				if rand.IntN(2) == 0 {
					c.stop()
				} else {
					c.kill()
				}
				if info, err := os.Stat(filepath.Join(s.own, "state")); err == nil {
					c.oldest = max(c.oldest, time.Since(info.ModTime()))
				}
			}
		}
		if err != nil {
			return err
		}
	}
	fmt.Printf("%d seconds, %d files of logs, %d kills and stops\n", seconds, s.copies, s.kills)
	if info, err := os.Stat(filepath.Join(s.own, "state")); err == nil {
		fmt.Printf("the state has %d bytes\n", info.Size())
	}
	for _, c := range s.commands {
		fmt.Printf("%s: the oldest state at a kill was %v old\n", c.name, c.oldest.Round(time.Millisecond))
		<-c.ended
		c.stall = false
		if err := c.start(); err != nil {
			return err
		}
	}
	return nil
}

// second writes a second of each log, and rotates and deletes logs.
func (s *soak) second(second int) error {
	var kept []*soakLog
	for n, l := range s.live {
		if l.ends > 0 && second >= l.ends {
			if second < l.ends+deletedAfter {
				kept = append(kept, l)
			} else {
				os.Remove(l.path)
			}
			continue
		}
		kept = append(kept, l)
		if l.ends == 0 && second > 0 && (second+n)%rotateAfter == 0 {
			l.close()
			if err := l.rotate(n%2 == 1); err != nil {
				return err
			}
		}
		if l.files == nil {
			if err := s.begin(l); err != nil {
				return err
			}
		}
		if l.skew > 3600 && second%10 != 0 {
			continue
		}
		for _, f := range l.files {
			if err := l.write(f, s.bench, second); err != nil {
				return err
			}
		}
		if second+1 == l.ends {
			l.close()
		}
	}
	s.live = kept
	return nil
}

// write writes a second, or the interval that ends with it.
func (l *soakLog) write(w io.Writer, b *bench, second int) error {
	if !l.long {
		return b.write(w, second)
	}
	if (second+1)%longLength != 0 {
		return nil
	}
	var text bytes.Buffer
	b.write(&text, second+1-longLength)
	_, err := w.Write(bytes.ReplaceAll(text.Bytes(), []byte(".000,1.000,"), fmt.Appendf(nil, ".000,%d.000,", longLength)))
	return err
}

// rotate does what logrotate does with delaycompress.
func (l *soakLog) rotate(compress bool) error {
	suffix := ""
	if compress {
		suffix = ".gz"
	}
	name := func(part int) string { return fmt.Sprintf("%s.%d%s", l.path, part, suffix) }
	for part := parts - 1; part >= 2; part-- {
		os.Rename(name(part), name(part+1)) // maybe there is none yet
	}
	if text, err := os.ReadFile(l.path + ".1"); err == nil && compress {
		var zipped bytes.Buffer
		w := gzip.NewWriter(&zipped)
		w.Write(text)
		w.Close()
		if err := os.WriteFile(name(2), zipped.Bytes(), 0o666); err != nil {
			return err
		}
	} else if err == nil {
		os.Rename(l.path+".1", name(2))
	}
	return os.Rename(l.path, l.path+".1")
}

// begin begins a file of a log and its copy. The log of the wrong clock has no copy.
func (s *soak) begin(l *soakLog) error {
	paths := []string{filepath.Join(s.whole, fmt.Sprintf("%d.hdr", s.copies)), l.path}
	if s.copies++; l.skew > 3600 {
		paths = paths[1:]
	}
	for _, path := range paths {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		l.files = append(l.files, f)
		if _, err := f.WriteString(head(s.base + l.skew)); err != nil {
			return err
		}
	}
	return nil
}

func (l *soakLog) close() {
	for _, f := range l.files {
		f.Close()
	}
	l.files = nil
}

// compare waits until the output is the union of all that was written.
func (s *soak) compare() error {
	want, err := s.lines("-ip", s.whole, "-if", `.*\.hdr`)
	if err != nil {
		return err
	}
	var got []string
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(time.Second) {
		// The last line may be half written, which is status 3.
		if got, err = s.lines(filepath.Join(s.own, "all.hdr")); err == nil && slices.Equal(got, want) {
			fmt.Printf("%d lines equal the union of all logs\n", len(want))
			return nil
		}
	}
	if err != nil {
		return err
	}
	n := 0
	for n < min(len(got), len(want)) && got[n] == want[n] {
		n++
	}
	return fmt.Errorf("the union has %d lines instead of %d, and differs from line %d: %.60s", len(got), len(want), n, strings.Join(want[n:], "\n"))
}

// lines returns the lines of an offline union after its header. All logs are of the same start.
func (s *soak) lines(args ...string) ([]string, error) {
	text, err := exec.Command(s.union, append([]string{"-q", "-grid", "1"}, args...)...).Output()
	_, rest, _ := strings.Cut(string(text), "\"StartTimestamp\"")
	return strings.Split(rest, "\n"), err
}

// comparePoints waits until the receiver and the counters have what whole logs give.
func (s *soak) comparePoints() error {
	want, err := newReceiver()
	if err != nil {
		return err
	}
	defer want.kill()
	if out, err := exec.Command(s.commands[0].binary, append(points(want), "-q", "-idle", "1h", "-for", "1s", "-ip", s.whole, "-if", `.*\.hdr`)...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	if want.wrong != nil {
		return want.wrong
	}
	counts := make(map[string]int64)
	for key, value := range want.points {
		if series, ok := strings.CutPrefix(key, "/write "); ok {
			_, tag, _ := strings.Cut(strings.Fields(series)[0], "tag=")
			_, count, _ := strings.Cut(value, "count=")
			count, _, _ = strings.Cut(count, "i")
			n, _ := strconv.ParseInt(count, 10, 64)
			counts[tag] += n
		}
	}
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(time.Second) {
		if err = s.scrape(); err == nil && !maps.Equal(s.counters, counts) {
			err = fmt.Errorf("counters are %v, not %v", s.counters, counts)
		}
		for n, r := range s.receivers {
			if differs := r.differs(want, int64(s.base-day/2)*1e9); differs != nil {
				err = errors.Join(err, fmt.Errorf("%s: %w", []string{"flaky", "slow", "dead"}[n], differs))
			}
		}
		if err == nil {
			fmt.Printf("%d points of InfluxDB at each of %d receivers, and %d counters, equal those of all logs\n", len(want.points), len(s.receivers), len(counts))
			return nil
		}
	}
	return err
}

// sample notes what the command takes.
func (c *command) sample(at time.Duration) error {
	if c.running == nil {
		return nil
	}
	proc := fmt.Sprintf("/proc/%d/", c.running.Process.Pid)
	files, err := os.ReadDir(proc + "fd")
	if err != nil {
		return fmt.Errorf("%s has ended: %w", c.name, err)
	}
	status, _ := os.ReadFile(proc + "status")
	_, resident, _ := strings.Cut(string(status), "VmRSS:")
	kib := 0.0
	fmt.Sscan(resident, &kib)
	stat, _ := os.ReadFile(proc + "stat")
	var user, system float64
	if fields := strings.Fields(string(stat)); len(fields) > 14 {
		user, _ = strconv.ParseFloat(fields[13], 64) // in hundredths of a second
		system, _ = strconv.ParseFloat(fields[14], 64)
	}
	c.samples = append(c.samples, [4]float64{at.Minutes(), float64(len(files)), kib / 1024, user + system - c.ticks})
	c.ticks = user + system
	return nil
}

// grows fits a line to the samples of a column after the first minute, in which no deleted log is
// let go. It returns an error if the line rises by more than some, and by half of the mean: each
// kill closes all files, so that two minutes have six ramps. A shorter soak cannot tell.
func (c *command) grows(what string, column int, some float64) error {
	var n, x, y, xx, xy, highest float64
	all := c.samples[min(60, len(c.samples)/2):]
	for _, v := range all {
		n, x, y, xx, xy = n+1, x+v[0], y+v[column], xx+v[0]*v[0], xy+v[0]*v[column]
		highest = max(highest, v[column])
	}
	slope := (n*xy - x*y) / (n*xx - x*x)
	fmt.Printf("%s: %s: %.1f in the mean, %.0f at most, %+.2f a minute\n", c.name, what, y/n, highest, slope)
	if rise := slope * (all[len(all)-1][0] - all[0][0]); len(c.samples) >= 120 && rise > max(some, y/n/2) {
		return fmt.Errorf("%s: %s grow by %.1f", c.name, what, rise)
	}
	return nil
}
