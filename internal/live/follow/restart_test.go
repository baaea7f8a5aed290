package follow

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
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

	"hdrkit/internal/base/plaintext"
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

	saved    map[string]int // lines that the last state has
	marks    []Mark
	follower *Follower

	*schedule
	parts []*turn // of the follower
	logs  []*openLog
	took  map[string]int
	notes []string
}

// An openLog is a log that is read, of which the next state may lack the last lines that were
// taken: a later run reads them again.
type openLog struct {
	in    *Input
	log   *Log
	lines []string
	first int // the number of the first of lines
	most  int // the line up to which an earlier run has read
}

// save sets what a later run must read again, and takes that from what the state has.
func (l *openLog) save(open int, saved map[string]int) {
	open = min(open, len(l.lines))
	next := l.first + len(l.lines)
	again := Again{From: next - open}
	if open == 0 && next > l.most {
		again.From = 0
	}
	l.log.ReadAgain(again)
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
	r.took = map[string]int{}
	maps.Copy(r.took, r.saved)
	f := New(Options{Rescan: 3 * time.Millisecond, Gone: r.gone, Marks: r.marks, Notice: func(input, text string) {
		r.note("%s %s", filepath.Base(input), text)
	}})
	f.options.Between, f.turns = r.step, true
	r.follower, r.parts, r.logs = f, nil, nil
	f.AddMatching(filepath.Dir(r.path), regexp.MustCompile(`^a.*$`).MatchString, nil)
	f.lock()
	f.begin(func(in *Input) { r.parts = append(r.parts, r.do(func() { r.read(in) })) })
	f.mu.Unlock()
	r.parts = append(r.parts, r.do(func() {
		for matched := time.Now(); f.lookAll(&matched, func(time.Time) {}); {
			r.step()
		}
	}))
}

func (r *rotated) read(in *Input) {
	for {
		log, err := in.Next()
		if err != nil {
			return
		}
		l := &openLog{in: in, log: log, first: 1}
		if m := log.Resumed(); m != nil {
			l.most = m.Line
			l.first = m.Line + 1
			if m.Again.From > 0 {
				l.first = m.Again.From
			}
		}
		r.logs = append(r.logs, l)
		lines := bufio.NewReader(plaintext.NewReader(log))
		for n := log.Begin(); ; n++ {
			line, err := lines.ReadString('\n')
			if err != nil {
				break
			}
			if log.Took(n, "", 1); n >= l.first {
				l.lines = append(l.lines, strings.TrimSuffix(line, "\n"))
				r.took[strings.TrimSuffix(line, "\n")]++
			}
		}
	}
}

// save writes a state.
func (r *rotated) save() {
	r.note("save")
	r.follower.lock()
	defer r.follower.mu.Unlock()
	r.saved = maps.Clone(r.took)
	open := make(map[*Log]bool)
	for _, l := range r.logs {
		lines := r.random.IntN(4)
		if open[l.log.origin] { // all that follows in the copy is read again
			lines = len(l.lines)
		}
		l.save(lines, r.saved)
		open[l.log] = lines > 0
	}
	r.marks = r.follower.marks()
}

// settle forgets the logs of which a state has all lines. The next rotations may remove their
// files.
func (r *rotated) settle() {
	last := make(map[*Input]*openLog)
	for _, l := range r.logs {
		last[l.in] = l
	}
	r.logs = slices.DeleteFunc(r.logs, func(l *openLog) bool {
		now, err := os.Stat(l.in.path)
		old := last[l.in] != l || strings.HasPrefix(l.in.path, r.path+".") || err != nil || !os.SameFile(now, l.log.info)
		if old {
			l.log.ReadAgain(Again{})
		}
		return old
	})
	r.save()
}

// all gives way until all lines are read.
func (r *rotated) all() {
	var missing string
	for range 100_000 {
		missing = ""
		for line, times := range r.written {
			if r.took[line] < times {
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

func (r *rotated) noted() string { return strings.Join(r.notes, "\n") }

func (r *rotated) end() {
	r.note("end")
	r.follower.Abort()
	r.ends()
}

func (r *rotated) ends() {
	for _, p := range r.parts {
		r.await(p)
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
	r := &rotated{t: t, path: filepath.Join(t.TempDir(), "a.hdr"), compress: random.IntN(3), keep: 3 + random.IntN(3), truncate: random.IntN(2) == 0,
		gone: []time.Duration{time.Hour, 5 * time.Millisecond}[random.IntN(2)], written: map[string]int{}, schedule: newSchedule(seed)}
	defer func() {
		if t.Failed() {
			r.end()
		}
	}()
	for range random.IntN(4) { // parts of before
		r.write(1 + random.IntN(100))
		r.rotate()
	}
	running, unsaved, errors := false, 0, 0
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
	for range 20 {
		switch random.IntN(7) {
		case 0, 1:
			r.write(1 + random.IntN(100))
		case 2:
			// What no state has is lost when its file is removed.
			if unsaved++; unsaved >= r.keep-1 {
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
		default: // another log of the process begins as the first one does, and goes its own way later
			text, err := os.ReadFile(r.path)
			if other := strings.TrimSuffix(r.path, ".hdr") + "_errors.hdr"; err != nil {
				continue
			} else if _, err := os.Stat(other); err != nil {
				r.append(other, string(text))
				r.append(other, "error 0\n")
				save() // else it may go on where the state has the first one, which is a copy with more
			} else {
				errors++
				r.append(other, fmt.Sprintf("error %d\n", errors))
			}
		}
	}
	r.write(1)
	if _, err := os.Stat(strings.TrimSuffix(r.path, ".hdr") + "_errors.hdr"); err == nil {
		r.append(strings.TrimSuffix(r.path, ".hdr")+"_errors.hdr", "the last error\n")
	}
	save()
	r.follower.Stop()
	r.ends()
	var twice []string
	for line, times := range r.took {
		if times > r.written[line] {
			twice = append(twice, line)
		}
	}
	if slices.Sort(twice); len(twice) > 0 {
		t.Errorf("%d of %d lines count twice: %.300q\n%s", len(twice), len(r.written), twice, r.noted())
	}
}

// TestBegin: a later run begins to read a log with the first line that it needs. It reads all of
// one that is compressed, that is short, or whose comments it needs.
func TestBegin(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.hdr")
	line := strings.Repeat("x", 99) + "\n"
	all := strings.Repeat(line, 100)
	wide := "\xff\xfe" + strings.NewReplacer("x", "x\x00", "\n", "\n\x00").Replace(all)
	for _, test := range []struct {
		text                    string
		from, headerFrom, begin int
	}{
		{all, 60, 1, 60},
		{all, 0, 1, 100}, // where the last read began
		{all, 60, 60, 60},
		{all, 60, 61, 1},
		{all, 5, 1, 1},
		{wide, 60, 1, 1},
		{packed(t, all), 60, 1, 1},
	} {
		file(t, path, test.text)
		var marks []Mark
		for run := range 2 {
			f := New(Options{Marks: marks, Continues: true})
			in := f.AddFile(path)
			f.Start(func(*Input) {}, func(time.Time) {})
			log, err := in.Next()
			must(t, err)
			if want := []int{1, test.begin}[run]; log.Begin() != want {
				t.Errorf("from %d, header from %d: run %d begins with line %d, not %d", test.from, test.headerFrom, run, log.Begin(), want)
			}
			lines := bufio.NewReaderSize(plaintext.NewReader(log), len(line))
			for range 100 - log.Begin() + 1 {
				_, err := lines.ReadSlice('\n')
				must(t, err)
			}
			log.Took(100, "", test.headerFrom)
			log.ReadAgain(Again{From: test.from})
			marks = f.Marks()
			f.Close()
		}
	}
}

// TestMarksOfCopies starts again and again beside a copy. Its mark says so once the log counts.
func TestMarksOfCopies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := strings.Repeat("0.0,1.0,2.0,counts\n", 100)
	file(t, filepath.Join(dir, "a.hdr"), text)
	file(t, filepath.Join(dir, "a.hdr.1"), text)
	var marks []Mark
	for reads := range 3 {
		f := New(Options{Marks: marks})
		in := f.AddFile(filepath.Join(dir, "a.hdr"))
		f.AddMatching(dir, func(string) bool { return true }, nil)
		f.Start(func(*Input) {}, func(time.Time) {})
		if reads == 2 { // before that no line counts, and if the log goes, its copy has all
			log, err := in.Next()
			must(t, err)
			lines := bufio.NewReader(log)
			for range 100 {
				_, err = lines.ReadString('\n')
				must(t, err)
			}
			log.Took(100, "", 1)
			f.mu.Lock()
			f.contents.all[0].took = 0 // comparing is due
			f.match()
			f.mu.Unlock()
		}
		marks = f.Marks()
		f.Close()
		if len(marks) != reads/2*2 {
			t.Fatalf("there are %d marks", len(marks))
		}
	}
	if !marks[0].Copy {
		t.Fatal("the first mark is not that of the copy")
	}
	marks = marks[:1]
	// A mark of a file that was empty does not know another one by its inode.
	empty := marks[0]
	empty.Head = Head{}
	other := New(Options{Marks: []Mark{empty}})
	defer other.Close()
	if n := other.AddMatching(dir, func(name string) bool { return name == "a.hdr.1" }, nil); n != 1 {
		t.Errorf("%d inputs", n)
	}
	// It is known until all patterns are.
	must(t, os.Remove(filepath.Join(dir, "a.hdr")))
	f := New(Options{Marks: marks})
	defer f.Close()
	for range mostGone + 1 {
		f.AddMatching(t.TempDir(), func(string) bool { return true }, nil)
	}
	if n := f.AddMatching(dir, func(string) bool { return true }, nil); n != 0 {
		t.Errorf("the copy is read %d times", n)
	}
}

// TestCopyBeforeLog: a name that is followed becomes a copy of a log that no look has found yet.
// Its inode may be that of another copy, which is gone.
func TestCopyBeforeLog(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("skipped: files have no identity")
	}
	text := strings.Repeat("0.0,1.0,2.0,counts\n", 100)
	for _, test := range []struct{ name, rotated, part, whole string }{
		{"a.hdr.1.gz", "a.hdr.2.gz", "", packed(t, text)},
		{"a.hdr.1", "a.hdr.2", text[:100], text},
		{"a-1.hdr", "a-2.hdr", text[:100], text},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, test.name)
		file(t, path, "another log\n")
		f := New(Options{Poll: time.Hour})
		f.AddMatching(dir, func(string) bool { return true }, nil)
		f.Start(func(*Input) {}, func(time.Time) {})
		f.mu.Lock()
		must(t, os.Rename(path, filepath.Join(dir, test.rotated)))
		file(t, filepath.Join(dir, "a.hdr"), text)
		info, err := os.Stat(file(t, path, "yet another log\n"))
		must(t, err)
		file(t, path, test.part)
		f.contents.add(&content{Mark: Mark{Fate: Fate{Copy: true}, Head: headOf([]byte("yet another log\n")), Size: 16}, info: info, copying: copying{looks: -mostGone}})
		f.look(f.inputs)
		f.match()
		file(t, path, test.whole)
		f.look(f.inputs)
		if n := len(f.inputs[0].files); n != 1 || len(f.inputs) != 2 {
			t.Errorf("%s: %d inputs, the first one with %d logs", test.name, len(f.inputs), n)
		}
		f.mu.Unlock()
		f.Close()
	}
}

// TestCopyChanges: a name that is followed gets a copy of a log that was truncated a moment ago,
// and then another file with the inode of that copy, before comparing is due.
func TestCopyChanges(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("skipped: files have no identity")
	}
	dir := t.TempDir()
	path, part := filepath.Join(dir, "a.hdr"), filepath.Join(dir, "a.hdr.1")
	text := strings.Repeat("0.0,1.0,2.0,counts\n", 100)
	file(t, path, text)
	file(t, part, "another log\n")
	f := New(Options{Poll: time.Hour})
	defer f.Close()
	f.AddMatching(dir, func(string) bool { return true }, nil)
	f.Start(func(*Input) {}, func(time.Time) {})
	log, err := f.inputs[0].Next()
	must(t, err)
	read := func(log *Log) {
		lines := bufio.NewReader(log)
		for range 100 {
			_, err := lines.ReadString('\n')
			must(t, err)
		}
	}
	read(log)
	logs := func(want int) {
		t.Helper()
		f.mu.Lock()
		defer f.mu.Unlock()
		f.look(f.inputs)
		if n := len(f.inputs[1].files); n != want {
			t.Errorf("%d logs, not %d", n, want)
		}
	}
	must(t, os.Rename(part, filepath.Join(dir, "a.hdr.2")))
	next := strings.ReplaceAll(text, "2.0", "3.0")
	file(t, path, next)
	file(t, part, next[:100])
	logs(1)
	_, err = log.Read(make([]byte, 1)) // notices that it was truncated
	if log, _ = f.inputs[0].Next(); err == nil {
		t.Error("the log goes on")
	}
	read(log)
	file(t, part, next)
	logs(1)
	for _, c := range f.contents.all {
		c.took = time.Hour
	}
	file(t, part, "yet another log\n")
	logs(1)
	for _, c := range f.contents.all {
		c.took = 0
	}
	logs(2)
}

// TestInodeAgain: a file has the inode of one that is gone, and was read in part in an earlier run.
func TestInodeAgain(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("skipped: files have no identity")
	}
	dir := t.TempDir()
	path, text := filepath.Join(dir, "a.hdr"), strings.Repeat("0.0,1.0,2.0,counts\n", 100)
	f := New(Options{})
	f.contents.add(readLog(path, text))
	part := file(t, path+".1", text+"more\n")
	f.AddMatching(dir, func(string) bool { return true }, nil)
	for _, m := range f.Marks() {
		if m.Path == part && (m.Line != 100 || m.Head != headOf([]byte(text[:headSize]))) {
			t.Errorf("the mark has the line %d and %d bytes", m.Line, m.Head.Size)
		}
	}
	info, err := os.Stat(part)
	must(t, err)
	f.Close()
	// The same mark of a file that was there before it does not hide it, and is forgotten.
	now := Mark{Path: part, ID: identity(info), Head: headOf([]byte(text[:headSize])), Size: int64(len(text)), Line: 100}
	before := now
	before.Head, before.Line = headOf([]byte("another log\n")), 50
	var said []string
	f = New(Options{Marks: []Mark{before, now}, Notice: func(_, text string) { said = append(said, text) }})
	defer f.Close()
	in := f.AddFile(part)
	f.Start(func(*Input) {}, func(time.Time) {})
	log, err := in.Next()
	must(t, err)
	if m := log.Resumed(); m == nil || m.Line != 100 || m.Cut {
		t.Errorf("it does not go on where it was")
	}
	if len(said) != 1 || !strings.HasPrefix(said[0], "is gone since the state was written") || f.contents.all[0].waits {
		t.Errorf("%q; the mark before waits: %t", said, f.contents.all[0].waits)
	}
}

// TestCopyOfGone: a log is compressed while no command runs. A start finds its copy at the first
// look, however long it took to compare it before the log was known to be gone.
func TestCopyOfGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, text := filepath.Join(dir, "a.hdr"), strings.Repeat("0.0,1.0,2.0,counts\n", 100)
	file(t, path+".1.gz", packed(t, text))
	mark := readLog(path, text[:len(text)/2]).Mark
	mark.Ended = false
	f := New(Options{Poll: time.Hour, Marks: []Mark{mark}})
	defer f.Close()
	f.AddMatching(dir, func(string) bool { return true }, nil)
	if n := len(f.inputs); n != 0 {
		t.Errorf("%d inputs before the log is known to be gone", n)
	}
	for _, c := range f.contents.all {
		c.took = time.Hour
	}
	f.Start(func(*Input) {}, func(time.Time) {})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.match()
	if n := len(f.inputs); n != 1 {
		t.Errorf("%d inputs, not 1", n)
	}
}

// TestCopyOfUnread: a log is copied, truncated and written again before anything of it is read. Its
// copy has the only text.
func TestCopyOfUnread(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, text := filepath.Join(dir, "a.hdr"), strings.Repeat("0.0,1.0,2.0,counts\n", 100)
	file(t, path, text)
	f := New(Options{Poll: time.Hour})
	defer f.Close()
	f.AddMatching(dir, func(string) bool { return true }, nil)
	f.Start(func(*Input) {}, func(time.Time) {})
	look := func(want int) {
		t.Helper()
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, c := range f.contents.all {
			c.took = 0 // comparing is due
		}
		f.match()
		if len(f.inputs) != want {
			t.Errorf("%d inputs, not %d", len(f.inputs), want)
		}
	}
	file(t, path+".1", text)
	look(1)
	next := strings.Repeat("0.0,1.0,3.0,counts\n", 200)
	file(t, path, next)
	log, err := f.inputs[0].Next()
	must(t, err)
	_, err = io.ReadFull(log, make([]byte, len(next)))
	must(t, err)
	look(2)
}

// TestFinished: a command that starts again has no input for what it read to its end before the log
// was rotated, until that grows.
func TestFinished(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("skipped: files have no identity")
	}
	synctest.Test(t, finished)
}

func finished(t *testing.T) {
	r := &rotated{t: t, path: filepath.Join(t.TempDir(), "a.hdr"), keep: 9, gone: time.Hour, written: map[string]int{}, schedule: newSchedule(1)}
	inputs := func(want ...string) {
		t.Helper()
		r.all()
		r.save()
		r.follower.lock()
		var names []string
		for _, in := range r.follower.inputs {
			names = append(names, filepath.Base(in.name))
		}
		r.follower.mu.Unlock()
		if slices.Sort(names); !slices.Equal(names, want) {
			t.Errorf("there are the inputs %v, not %v", names, want)
		}
	}
	r.write(5)
	r.start()
	inputs("a.hdr")
	for range 2 {
		r.rotate()
		r.write(5)
		inputs("a.hdr")
		r.end()
		r.start()
		inputs("a.hdr")
	}
	r.rotate() // those of before get other names
	r.write(5)
	inputs("a.hdr")
	r.append(r.name(3), "one more\n")
	inputs("a.hdr", "a.hdr.3")
	// What is gone is only what copies can be of.
	must(t, os.Remove(r.name(2)))
	for slices.ContainsFunc(r.follower.contents.all, func(c *content) bool { return c.waits }) {
		r.step()
	}
	r.end()
	r.start()
	inputs("a.hdr", "a.hdr.3")
	r.end()
}
