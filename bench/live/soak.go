//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The logs of a soak, and the seconds after which something happens to them.
const (
	rotatingLogs = 10
	rotateAfter  = 15
	shortLife    = 10 // with -churn, a log begins each second
	deletedAfter = 5  // a short log stays that long after its last line
	killAfter    = 20
)

// A soak follows logs that come, go and rotate, and kills the command again and again.
type soak struct {
	*bench
	command          string
	logs, whole, own string // folders: what is followed, a copy of all that was written, and the output
	live             []*soakLog
	copies           int
	union            *exec.Cmd
	stderr           bytes.Buffer
	samples          [][3]float64 // time, descriptors, MiB
	base             float64
}

// A soakLog is a log that is written now, with a copy that stays.
type soakLog struct {
	path  string
	skew  float64
	ends  int // the second after its last one, 0 for a log that rotates
	files []*os.File
}

// runSoak returns an error if the union of the killed command is not that of all logs, or if the
// command grows.
func (b *bench) runSoak(command string) error {
	if b.soak < 2*time.Minute {
		return errors.New("a soak takes two minutes at least")
	}
	s := &soak{bench: b, command: command, base: float64(time.Now().Unix())}
	for name, folder := range map[string]*string{"logs": &s.logs, "whole": &s.whole, "own": &s.own} {
		*folder = filepath.Join(b.dir, name)
		if err := os.Mkdir(*folder, 0o777); err != nil {
			return err
		}
	}
	err := s.write(int(b.soak.Seconds()))
	if err == nil {
		err = s.compare()
	}
	s.kill()
	if err == nil {
		err = errors.Join(s.grows("descriptors", 1, 10), s.grows("MiB of memory", 2, 20))
	}
	if err != nil {
		os.Stderr.Write(s.stderr.Bytes()[max(0, s.stderr.Len()-4000):])
	}
	return err
}

// start starts the command, unless it runs.
func (s *soak) start() error {
	if s.union != nil {
		return nil
	}
	s.union = exec.Command(s.command, "-follow", "-grid", "1", "-ip", s.logs, "-if", `.*\.hdr`,
		"-of", filepath.Join(s.own, "all.hdr"), "-state", filepath.Join(s.own, "state"))
	s.union.Stderr = &s.stderr
	return s.union.Start()
}

func (s *soak) kill() {
	if s.union != nil {
		s.union.Process.Kill()
		s.union.Wait()
		s.union = nil
	}
}

// write writes the logs for some seconds, and kills and starts the command meanwhile.
func (s *soak) write(seconds int) error {
	for n := range rotatingLogs {
		l := &soakLog{path: filepath.Join(s.logs, fmt.Sprintf("node%d.hdr", n)), skew: 0.04 * float64(n)}
		if n == rotatingLogs-1 {
			l.skew = 24 * 3600 // its windows wait until their time comes
		}
		s.live = append(s.live, l)
	}
	begin := time.Now()
	for second := range seconds {
		time.Sleep(time.Until(begin.Add(time.Duration(second) * time.Second)))
		if s.churn {
			s.live = append(s.live, &soakLog{path: filepath.Join(s.logs, fmt.Sprintf("short%d.hdr", second)), ends: second + shortLife})
		}
		if err := s.start(); err != nil {
			return err
		}
		if err := errors.Join(s.second(second), s.sample(time.Since(begin))); err != nil {
			return err
		}
		if second%killAfter == killAfter-1 {
			time.Sleep(time.Duration(rand.IntN(900)) * time.Millisecond)
			s.kill()
		}
	}
	fmt.Printf("%d seconds, %d files of logs, %d kills\n", seconds, s.copies, seconds/killAfter)
	return s.start()
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
			os.Rename(l.path, l.path+".1")
			l.close()
		}
		if l.files == nil {
			if err := s.begin(l); err != nil {
				return err
			}
		}
		if l.skew > 3600 && second%10 != 0 {
			continue
		}
		var text bytes.Buffer
		s.bench.write(&text, second)
		for _, f := range l.files {
			if _, err := f.Write(text.Bytes()); err != nil {
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
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Second) {
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
	text, err := exec.Command(s.command, append([]string{"-q", "-grid", "1"}, args...)...).Output()
	_, rest, _ := strings.Cut(string(text), "\"StartTimestamp\"")
	return strings.Split(rest, "\n"), err
}

// sample notes what the command takes.
func (s *soak) sample(at time.Duration) error {
	proc := fmt.Sprintf("/proc/%d/", s.union.Process.Pid)
	files, err := os.ReadDir(proc + "fd")
	if err != nil {
		return fmt.Errorf("the command has ended: %w", err)
	}
	status, _ := os.ReadFile(proc + "status")
	_, resident, _ := strings.Cut(string(status), "VmRSS:")
	kib := 0.0
	fmt.Sscan(resident, &kib)
	s.samples = append(s.samples, [3]float64{at.Minutes(), float64(len(files)), kib / 1024})
	return nil
}

// grows fits a line to the samples of a column after the first minute, in which no deleted log is
// let go. It returns an error if the line rises by more than some, and by half of the mean: each
// kill closes all files, so that two minutes have six ramps.
func (s *soak) grows(what string, column int, some float64) error {
	var n, x, y, xx, xy, highest float64
	all := s.samples[60:]
	for _, v := range all {
		n, x, y, xx, xy = n+1, x+v[0], y+v[column], xx+v[0]*v[0], xy+v[0]*v[column]
		highest = max(highest, v[column])
	}
	slope := (n*xy - x*y) / (n*xx - x*x)
	fmt.Printf("%s: %.1f in the mean, %.0f at most, %+.2f a minute\n", what, y/n, highest, slope)
	if rise := slope * (all[len(all)-1][0] - all[0][0]); rise > max(some, y/n/2) {
		return fmt.Errorf("%s grow by %.1f", what, rise)
	}
	return nil
}
