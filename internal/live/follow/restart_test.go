package follow

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hdrkit/internal/clitest"
)

// A rotated log is written, renamed to a.1, a.2 and so on, compressed, and followed by commands
// that end and start again.
type rotated struct {
	t        *testing.T
	path     string
	compress int           // the number of the first part that is compressed, 0 for none
	keep     int           // the number of the last part
	gone     time.Duration // see Options
	truncate bool          // rotation copies and truncates instead
	began    int           // files
	written  map[string]int

	lost     map[string]bool // lines that a truncation may have cut off, if a message says so
	saved    map[string]int  // lines that the last state has
	marks    []Mark
	follower *Follower

	*schedule
	parts   []*turn // of the follower
	looker  *turn
	logs    map[*Log]*openLog
	took    map[string]int
	notes   []string
	running bool
	said    int // messages that something is missing
}

// An openLog is a log that is read, of which the next state may lack the last lines that were
// taken: a later run reads them again.
type openLog struct {
	log   *Log
	lines []string
	first int // the number of the first of lines
	most  int // the line up to which an earlier run has read
}

// save sets what a later run must read again, and takes that from what the state has.
func (l *openLog) save(open int, saved map[string]int) {
	open = min(open, len(l.lines))
	next := l.first + len(l.lines)
	again := Again{From: next - open, Open: next - open}
	if open == 0 && next > l.most {
		again = Again{}
	}
	l.log.SetAgain(again)
	for _, line := range l.lines[len(l.lines)-open:] {
		saved[line]--
	}
}

func (r *rotated) name(part int) string {
	switch {
	case part == 0:
		return r.path
	case r.compress > 0 && part >= r.compress:
		return fmt.Sprintf("%s.%d.gz", r.path, part)
	}
	return fmt.Sprintf("%s.%d", r.path, part)
}

func (r *rotated) write(lines int) {
	var text strings.Builder
	if info, err := os.Stat(r.path); err != nil || info.Size() == 0 {
		r.began++
		fmt.Fprintf(&text, "file %d begins\n", r.began)
	}
	for range lines {
		fmt.Fprintf(&text, "file %d line %d\n", r.began, len(r.written))
	}
	r.append(r.path, text.String())
}

// append writes whole lines to a log.
func (r *rotated) append(path, text string) {
	for line := range strings.Lines(text) {
		r.written[strings.TrimSuffix(line, "\n")]++
	}
	r.note("%s gets %d lines: %.40q", filepath.Base(path), strings.Count(text, "\n"), text)
	r.step()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	must(r.t, err)
	r.step()
	_, err = f.WriteString(text)
	must(r.t, err)
	must(r.t, f.Close())
}

// rotate does what logrotate does: the oldest part goes, the others get the next number.
func (r *rotated) rotate() {
	r.note("rotate")
	for part := r.keep; part >= 0; part-- {
		r.step()
		if part == r.keep {
			os.Remove(r.name(part))
		} else if r.compress == part+1 {
			text, err := os.ReadFile(r.name(part))
			if err != nil {
				continue
			}
			next, gz := r.name(part+1), packed(r.t, string(text))
			r.step()
			file(r.t, next, gz[:len(gz)/2]) // it takes a while
			r.step()
			file(r.t, next, gz)
			r.step()
			must(r.t, os.Remove(r.name(part)))
		} else if r.truncate && part == 0 {
			if text, err := os.ReadFile(r.path); err == nil && len(text) > 0 {
				r.step()
				file(r.t, r.name(1), string(text[:len(text)/2])) // it takes a while
				r.step()
				file(r.t, r.name(1), string(text))
				r.step()
				must(r.t, os.Truncate(r.path, 0))
			}
		} else if err := os.Rename(r.name(part), r.name(part+1)); err != nil && !os.IsNotExist(err) {
			r.t.Fatal(err)
		}
	}
}

// packed returns a text as gzip.
func packed(t *testing.T, text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	must(t, err)
	must(t, w.Close())
	return b.String()
}

func (r *rotated) start() {
	r.note("start")
	r.running = true
	r.took = map[string]int{}
	maps.Copy(r.took, r.saved)
	say := func(input, text string) {
		r.note("%s %s", filepath.Base(input), text)
		if strings.Contains(text, "missing") || strings.Contains(text, "truncated") {
			r.said++
		}
	}
	f := New(Options{Rescan: 3 * time.Millisecond, CloseAfter: r.gone, Marks: r.marks, Notice: say, BeforeAccess: r.step})
	f.serial = true
	r.follower = f
	r.parts = nil
	r.logs = make(map[*Log]*openLog)
	for _, folder := range []string{"", "b"} {
		f.AddMatching(filepath.Join(filepath.Dir(r.path), folder), regexp.MustCompile(`^a.*$`).MatchString, nil)
	}
	f.handOverInputs(func(in *Input) { r.parts = append(r.parts, r.do(func() { r.read(in) })) })
	r.looker = r.do(func() {
		for matched := time.Now(); r.running && f.look(&matched, func(time.Time) {}); {
			r.step()
		}
	})
	r.parts = append(r.parts, r.looker)
}

func (r *rotated) read(in *Input) {
	for {
		log, err := in.Next()
		if err != nil {
			return
		}
		l := r.logs[log]
		if l == nil {
			l = &openLog{log: log, first: 1}
			if m := log.Mark(); m != nil {
				l.most = m.Line
				l.first = max(m.Line+1, log.FirstLine())
				if m.Again.From > 0 {
					l.first = m.Again.From
				}
			}
			r.logs[log] = l
		}
		lines := bufio.NewReader(log)
		for n := log.FirstLine(); ; n++ {
			line, err := lines.ReadString('\n')
			if err != nil {
				break
			}
			log.SetCounted(n, "", 1)
			if n >= l.first {
				l.lines = append(l.lines, strings.TrimSuffix(line, "\n"))
				r.took[strings.TrimSuffix(line, "\n")]++
			}
		}
	}
}

// save writes a state.
func (r *rotated) save() {
	r.note("save")
	r.saved = maps.Clone(r.took)
	for _, l := range r.ordered() {
		l.save(r.random.IntN(4), r.saved)
	}
	r.marks = r.follower.Marks()
}

// ordered returns the logs in the order in which they were found.
func (r *rotated) ordered() []*openLog {
	return slices.SortedFunc(maps.Values(r.logs), func(a, b *openLog) int {
		return slices.Index(r.follower.logs, a.log) - slices.Index(r.follower.logs, b.log)
	})
}

// settle forgets the logs of which a state has all lines. The next rotations may remove their
// files.
func (r *rotated) settle() {
	for _, l := range r.ordered() {
		now, err := os.Stat(l.log.path)
		var s *source
		if err == nil {
			s = r.follower.known(now)
		}
		if s == nil || s.log != l.log || now.Size() < l.log.read.text.Size || strings.HasPrefix(l.log.path, r.path+".") {
			l.log.SetAgain(Again{})
			delete(r.logs, l.log)
		}
	}
	r.save()
}

// all gives way until all lines are read.
func (r *rotated) all() {
	var missing string
	for range 100_000 {
		missing = ""
		for line, times := range r.written {
			if r.took[line] < times && !(r.lost[line] && r.said > 0) {
				missing = line
			}
		}
		if missing == "" {
			return
		}
		r.step()
	}
	r.t.Fatalf("%q is missing:\n%s", missing, r.noted())
}

// note keeps what happens, for a message.
func (r *rotated) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf("%d: ", r.steps)+fmt.Sprintf(format, args...))
}

func (r *rotated) noted() string {
	for _, l := range r.follower.logs {
		in := ""
		if l.in != nil {
			in = filepath.Base(l.in.path)
		}
		r.note("log %s: at %d of %d, lines %d, state %d, read as %q, %d bytes wait, %v", filepath.Base(l.path), l.read.offset, l.read.text.Size, l.read.lineCount, l.state, in, len(l.reader.buffer), l.reader.err)
		for _, s := range l.files {
			r.note("   file %s: size %d, state %d, open %t seen %d of %d, packed %t", filepath.Base(s.path), s.sharedSize, s.state, s.file != nil, s.seenInScan, r.follower.scans, s.packed)
		}
	}
	entries, _ := os.ReadDir(filepath.Dir(r.path))
	for _, e := range entries {
		info, _ := e.Info()
		r.note("file %s %d", e.Name(), info.Size())
	}
	return strings.Join(r.notes, "\n")
}

func (r *rotated) end() {
	r.note("end")
	r.running = false
	r.follower.Abort()
	r.ends()
}

func (r *rotated) ends() {
	for n := 0; n < len(r.parts); n++ { // a look may add some
		r.await(r.parts[n])
	}
	r.follower.Close()
}

// TestRestarts: each line of a log that is rotated counts once, although the names of its parts
// match too, when a command starts beside old parts, and when it is killed and starts again.
func TestRestarts(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("skipped: files have no identity")
	}
	for seed := range clitest.Rounds(1000) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { restarts(t, uint64(seed)) })
		})
	}
}

func restarts(t *testing.T, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 1))
	r := &rotated{
		t:        t,
		path:     filepath.Join(t.TempDir(), "a.hdr"),
		compress: random.IntN(3),
		keep:     3 + random.IntN(3),
		truncate: random.IntN(2) == 0,
		gone:     []time.Duration{time.Hour, 5 * time.Millisecond}[random.IntN(2)],
		written:  map[string]int{},
		lost:     map[string]bool{},
		schedule: newSchedule(seed),
	}
	must(t, os.Mkdir(filepath.Join(filepath.Dir(r.path), "b"), 0o777))
	defer func() {
		if t.Failed() {
			r.end()
		}
	}()
	for range random.IntN(4) { // parts of before
		r.write(1 + random.IntN(100))
		r.rotate()
	}
	running, unsaved, others := false, 0, 0
	start := func() {
		if !running {
			r.start()
			running = true
		}
	}
	save := func() {
		start()
		r.all()
		r.settle()
		unsaved = 0
	}
	save()
	var alike []string
	for _, name := range []string{"a_errors.hdr", "a-1.hdr", "b/a.hdr", "a-2.hdr"} {
		alike = append(alike, filepath.Join(filepath.Dir(r.path), name))
	}
	for range 20 {
		switch random.IntN(9) {
		case 0, 1:
			r.write(1 + random.IntN(100))
		case 2:
			// What no state has is lost when its file is removed.
			unsaved++
			if unsaved >= r.keep-1 {
				save()
			}
			r.rotate()
		case 3:
			start()
		case 4:
			if running {
				r.save()
			}
		case 5:
			if running {
				r.end()
				running = false
			}
		case 6: // the log is copied back, or replaced by a longer copy
			path := append(alike, r.path)[random.IntN(len(alike)+1)]
			r.replace(path, random.IntN(2)*random.IntN(100))
		case 7: // its program starts again
			if random.IntN(4) == 0 {
				r.again()
			}
		default: // another log of the process begins as the first one does, and goes its own way later
			other := alike[random.IntN(len(alike))]
			text, err := os.ReadFile(r.path)
			if err != nil || len(text) == 0 { // a line says too little
				continue
			}
			others++
			line := fmt.Sprintf("other %d\n", others)
			if _, err := os.Stat(other); err != nil {
				r.append(other, string(text)+line)
				save() // else it may go on where the state has the first one, which is a copy with more
			} else {
				r.append(other, line)
			}
		}
	}
	r.write(1)
	save()
	r.running = false
	r.await(r.looker)
	r.write(1) // and another log comes: the stop looks once more
	r.append(filepath.Join(filepath.Dir(r.path), "a-3.hdr"), "new\n")
	r.follower.Stop()
	r.ends()
	var twice, unread []string
	for line, times := range r.took {
		if times > r.written[line] {
			twice = append(twice, line)
		}
	}
	for line, times := range r.written {
		if r.took[line] < times && !(r.lost[line] && r.said > 0) {
			unread = append(unread, line)
		}
	}
	if len(unread) > 0 {
		t.Errorf("%.300q is missing\n%s", unread, r.noted())
	}
	if slices.Sort(twice); len(twice) > 0 {
		t.Errorf("%d of %d lines count twice: %.300q\n%s", len(twice), len(r.written), twice, r.noted())
	}
}

// replace replaces a log by a copy of itself, in another file, that has more lines.
func (r *rotated) replace(path string, lines int) {
	text, err := os.ReadFile(path)
	if err != nil || len(text) == 0 {
		return
	}
	r.note("%s is replaced by a copy with %d more lines", filepath.Base(path), lines)
	var rest strings.Builder
	for range lines {
		fmt.Fprintf(&rest, "more %d\n", len(r.written))
		r.written[fmt.Sprintf("more %d", len(r.written))]++
	}
	temporary := filepath.Join(filepath.Dir(r.path), ".copy")
	r.step()
	file(r.t, temporary, string(text)+rest.String())
	r.step()
	must(r.t, os.Rename(temporary, path))
}

// again truncates a log, as a program does that starts again.
func (r *rotated) again() {
	text, err := os.ReadFile(r.path)
	first, _, _ := strings.Cut(string(text), "\n")
	if err != nil || r.saved[first] == 0 || r.running && !r.knows(string(text)) {
		return // no state knows of it
	}
	r.note("the program starts again")
	for line := range strings.Lines(string(text)) {
		r.lost[strings.TrimSuffix(line, "\n")] = true
	}
	must(r.t, os.Truncate(r.path, 0))
	r.step()
	r.write(1)
	if r.running { // nobody can know of what comes and goes between two looks
		r.all()
	}
}

// knows reports whether the follower has looked at the file of the log, which has a text now.
// Another file may have had its number.
func (r *rotated) knows(text string) bool {
	info, err := os.Stat(r.path)
	must(r.t, err)
	s := r.follower.known(info)
	return s != nil && strings.HasPrefix(text, string(s.rawHead))
}
