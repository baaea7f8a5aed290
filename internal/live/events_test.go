//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/clitest"
	"hdrkit/internal/live/follow"
)

// TestEvents lets all happen to three logs that can, in any order, while a command that keeps its
// state follows them, crashes and starts again. Each interval counts once, or a message names what
// is missing. An interval of log n has 10^n values, so that the digits of a second's count say
// which logs it has.
func TestEvents(t *testing.T) {
	t.Parallel()
	for seed := range uint64(clitest.Rounds(30)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := &world{t: t, random: rand.New(rand.NewPCG(seed, 4)), dir: t.TempDir(), state: filepath.Join(t.TempDir(), "state"), second: 10}
			for n := range w.logs {
				w.logs[n] = &eventLog{w: w, path: filepath.Join(w.dir, fmt.Sprintf("node%d.hdr", n)), values: []int64{1, 10, 100}[n], missing: map[int]bool{}}
				w.logs[n].create()
			}
			for range 120 {
				w.event()
			}
			w.end()
		})
	}
}

// A world is what the command follows, and the command.
type world struct {
	t          *testing.T
	random     *rand.Rand
	dir, state string
	logs       [3]*eventLog
	second     int
	done       []string // the events
	run        *run     // nil while no command runs
	follower   *follow.Follower
	rows       [][2]int64 // the output: seconds and values
	messages   []string
}

// An eventLog is a log and its writer.
type eventLog struct {
	w      *world
	path   string
	values int64
	file   *os.File
	half   string // the rest of a line that is half written
	parts  []*part
	newest int // the last second written
	// missing is which seconds an event may have lost.
	missing map[int]bool
}

// A part is a file of a log.
type part struct {
	path    string
	inode   uint64
	seconds []int // of its lines, 0 for a comment
}

// A keeper is the sink: a file that is cut back to what the state covers.
type keeper struct {
	*run
	w *world
}

func (k keeper) Window(w *Window) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	h, err := w.Counts()
	if err != nil {
		return err
	}
	k.w.rows = append(k.w.rows, [2]int64{w.Merged.Window.Start/1000 - clitest.LiveStart, h.TotalCount()})
	return nil
}

func (k keeper) Save() (any, func() error, error) {
	return len(k.w.rows), nil, nil
}

// options returns those of a run with the state, and cuts the rows back.
func (w *world) options(r *run, size int64) (Options, error) {
	s, err := OpenState(w.state, size, new(int64), nil)
	if err != nil {
		return Options{}, err
	}
	s.most = time.Millisecond
	n, _ := strconv.Atoi(string(s.last.Outputs))
	w.rows = w.rows[:n]
	return Options{Size: size, State: s, Stop: r.stop, Messages: r}, nil
}

// start starts the command.
func (w *world) start() {
	r := &run{t: w.t, stop: make(chan struct{}), ended: make(chan error, 1)}
	w.run = r
	idle := time.Hour
	if w.random.IntN(2) == 0 {
		idle = time.Millisecond
	}
	o, err := w.options(r, 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	o.Idle = idle
	r.Merger = merger(o, keeper{r, w})
	if err := r.Load(); err != nil {
		w.t.Fatal(err)
	}
	w.follower = follow.New(follow.Options{Poll: time.Millisecond, Rescan: time.Millisecond, Gone: time.Hour, Continues: true, Marks: o.State.Marks(), Notice: r.Merger.Notice})
	// The rotated files of the first log match, too.
	w.follower.AddMatching(w.dir, regexp.MustCompile(`^node0.hdr.*$`).MatchString, nil)
	w.follower.AddFile(w.logs[1].path)
	w.follower.AddMatching(w.dir, regexp.MustCompile(`^node2.hdr$`).MatchString, nil)
	go func() { r.ended <- r.Run(w.follower) }()
}

// stop stops the command. After a crash, the state is that of before.
func (w *world) stop(crash bool) {
	text, before := os.ReadFile(w.state)
	if crash {
		w.follower.Abort()
	}
	close(w.run.stop)
	w.run.end(nil)
	w.follower.Close()
	if crash {
		if before != nil {
			os.Remove(w.state)
		} else if err := os.WriteFile(w.state, text, 0o666); err != nil {
			w.t.Fatal(err)
		}
	}
	w.messages = append(w.messages, w.run.messages...)
	w.run = nil
}

// covered returns how many lines of a file the state covers, -1 if it does not know the file.
func (w *world) covered(p *part) int {
	var s saved
	text, err := os.ReadFile(w.state)
	if err != nil {
		return -1
	}
	if err := json.Unmarshal(text, &s); err != nil {
		w.t.Fatal(err)
	}
	content, err := os.ReadFile(p.path)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, m := range s.Logs {
		// A new file may have the inode of a deleted one.
		if m.Inode == p.inode && int(m.Size) <= len(content) && m.Head.Begins(content) {
			return m.Line
		}
	}
	return -1
}

// await waits until the state covers so many lines of a file.
func (w *world) await(p *part, lines int) {
	w.t.Helper()
	for end := time.Now().Add(clitest.Patience); w.covered(p) < lines; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			w.run.mu.Lock()
			defer w.run.mu.Unlock()
			content, _ := os.ReadFile(p.path)
			state, _ := os.ReadFile(w.state)
			w.t.Fatalf("%s, %d: no state covers %d lines, but %d\n%s\n%s\n%s\n%s", p.path, p.inode, lines, w.covered(p), strings.Join(w.done, "\n"), strings.Join(append(w.messages, w.run.messages...), "\n"), content, state)
		}
	}
}

// event lets something happen.
func (w *world) event() {
	l := w.logs[w.random.IntN(len(w.logs))]
	did := func(format string, args ...any) { w.done = append(w.done, fmt.Sprintf(format, args...)) }
	switch w.random.IntN(16) {
	default:
		if w.random.IntN(3) == 0 {
			w.second++
		}
		did("line %d of %s", w.second, filepath.Base(l.path))
		l.line(w.random.IntN(3) == 0)
	case 0, 1:
		if w.run == nil {
			did("start")
			w.start()
		}
	case 2:
		if w.run != nil {
			did("stop")
			w.stop(false)
		}
	case 3:
		if w.run != nil {
			did("crash")
			w.stop(true)
		}
	case 4:
		if l.seen(l == w.logs[0]) {
			did("rename of %s", l.path)
			l.rename()
		}
	case 5:
		l.whole()
		if l.seen(false) {
			did("deletion of %s", l.path)
			l.endanger()
			os.Remove(l.path)
			l.create()
		}
	case 6:
		l.whole()
		if copied := w.random.IntN(2) == 0; l.seen(false) {
			did("truncation of %s, copied %t", l.path, copied)
			l.truncate(copied)
		}
	}
}

// line writes a line, or half of one.
func (l *eventLog) line(half bool) {
	l.whole()
	p := l.last()
	if l.w.second <= l.newest {
		l.w.second++
	}
	l.newest = l.w.second
	p.seconds = append(p.seconds, l.w.second)
	text := string(clitest.Line(l.w.t, l.w.second, 1000, l.values, "all"))
	text = text[strings.Index(text, "Tag="):]
	if half {
		cut := l.w.random.IntN(len(text))
		text, l.half = text[:cut], text[cut:]
	}
	l.write(text)
}

// whole writes the rest of a half line.
func (l *eventLog) whole() {
	l.write(l.half)
	l.half = ""
}

func (l *eventLog) write(text string) {
	if _, err := l.file.WriteString(text); err != nil {
		l.w.t.Fatal(err)
	}
}

func (l *eventLog) last() *part { return l.parts[len(l.parts)-1] }

// create begins a file.
func (l *eventLog) create() {
	var err error
	if l.file != nil {
		l.file.Close()
	}
	if l.file, err = os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666); err != nil {
		l.w.t.Fatal(err)
	}
	l.w.t.Cleanup(func() { l.file.Close() })
	l.part(true)
}

// part begins a part. Without a header, its times are those of the part before.
func (l *eventLog) part(header bool) {
	info, err := l.file.Stat()
	if err != nil {
		l.w.t.Fatal(err)
	}
	p := &part{path: l.path, inode: info.Sys().(*syscall.Stat_t).Ino}
	l.parts = append(l.parts, p)
	if header {
		l.write(fmt.Sprintf("#[StartTime: %d]\n#[BaseTime: %[1]d]\n", clitest.LiveStart))
		p.seconds = []int{0, 0}
	}
}

// known is the number of lines by which a file is told from others: headers are equal.
const known = 3

// seen reports whether the state knows the file. It waits for that while a command runs. Nobody can
// know of a file that comes and goes between two looks.
func (l *eventLog) seen(matched bool) bool {
	p := l.last()
	if l.w.run != nil {
		for len(p.seconds) < known {
			l.line(false)
		}
		if len(p.seconds) == known {
			l.whole()
		}
		l.w.await(p, known)
		if l.w.random.IntN(2) == 0 {
			l.whole()
			l.w.await(p, len(p.seconds))
		}
		return true
	}
	return matched || l.w.covered(p) >= known
}

// endanger says that what the state does not cover of the file may get lost.
func (l *eventLog) endanger() {
	p := l.last()
	for _, second := range p.seconds[l.w.covered(p):] {
		l.missing[second] = true
	}
}

// rename renames the file, and begins another one after the writer has written its last line.
func (l *eventLog) rename() {
	p := l.last()
	p.path = fmt.Sprintf("%s.%d", l.path, len(l.parts))
	if err := os.Rename(l.path, p.path); err != nil {
		l.w.t.Fatal(err)
	}
	l.whole()
	l.create()
}

// truncate truncates the file, maybe after a copy was made.
func (l *eventLog) truncate(copied bool) {
	if copied {
		text, err := os.ReadFile(l.path)
		if err == nil {
			err = os.WriteFile(fmt.Sprintf("%s.%d", l.path, len(l.parts)), text, 0o666)
		}
		if err != nil {
			l.w.t.Fatal(err)
		}
	}
	l.endanger()
	if err := l.file.Truncate(0); err != nil {
		l.w.t.Fatal(err)
	}
	l.part(l.w.random.IntN(2) == 0)
}

// end stops the command after it has found all files, and checks its output.
func (w *world) end() {
	if w.run == nil {
		w.start()
	}
	for _, l := range w.logs {
		l.whole()
		l.line(false)
		w.await(l.last(), len(l.last().seconds))
	}
	for _, p := range w.logs[0].parts {
		// A file with nothing but a header counts as the beginning of a copy.
		if info, err := os.Stat(p.path); len(p.seconds) >= known && err == nil && info.Sys().(*syscall.Stat_t).Ino == p.inode && p.path != w.logs[0].path {
			w.await(p, 0)
		}
	}
	r := w.run
	w.stop(false)
	counts := make(map[int]int64)
	for _, row := range w.rows {
		counts[int(row[0])] += row[1]
	}
	for m := range r.clock.windows.All() { // they are in the state
		h, err := m.Histogram(new(histogram.Histogram))
		if err != nil {
			w.t.Fatal(err)
		}
		counts[int(m.Window.Start/1000-clitest.LiveStart)] += int64(h.TotalCount())
	}
	for _, l := range w.logs {
		named := slices.ContainsFunc(w.messages, func(text string) bool {
			return (strings.Contains(text, l.path) || strings.Contains(text, "more logs")) && (strings.Contains(text, "truncated") || strings.Contains(text, "is gone since") || strings.Contains(text, "not read"))
		})
		for _, p := range l.parts {
			for _, second := range p.seconds {
				if second == 0 {
					continue
				}
				if n := counts[second] / l.values % 10; n != 1 && (n != 0 || !l.missing[second] || !named) {
					w.t.Errorf("%s: second %d counts %d times, may be missing %t, is named %t", p.path, second, n, l.missing[second], named)
				}
				counts[second] -= counts[second] / l.values % 10 * l.values
			}
		}
	}
	for _, second := range slices.Sorted(maps.Keys(counts)) {
		if counts[second] != 0 {
			w.t.Errorf("second %d has %d values too many", second, counts[second])
		}
	}
	if w.t.Failed() {
		w.t.Logf("%s\n%s\n%v", strings.Join(w.done, "\n"), strings.Join(w.messages, "\n"), w.rows)
	}
}

// TestOver: a log that was read to its end and then deleted is not reported after a restart. One
// that was deleted while no command ran is.
func TestOver(t *testing.T) {
	t.Parallel()
	w := &world{t: t, random: rand.New(rand.NewPCG(1, 5)), dir: t.TempDir(), state: filepath.Join(t.TempDir(), "state"), second: 10}
	for n := range w.logs {
		w.logs[n] = &eventLog{w: w, path: filepath.Join(w.dir, fmt.Sprintf("node%d.hdr", n)), values: 1, missing: map[int]bool{}}
		w.logs[n].create()
		w.logs[n].line(false)
	}
	w.start()
	over, kept, gone := w.logs[0], w.logs[1], w.logs[2]
	for _, l := range w.logs {
		w.await(l.last(), known)
	}
	os.Remove(over.path)
	clitest.Await(t, "a state that says that the log is over", nil, func() bool {
		kept.line(false)
		text, err := os.ReadFile(w.state)
		return err == nil && strings.Contains(string(text), `"Over":true`)
	})
	w.stop(true)
	os.Remove(gone.path)
	w.start()
	kept.line(false)
	w.await(kept.last(), len(kept.last().seconds))
	w.stop(false)
	if want := gone.path + " is gone since the state was written; lines that were not read before are missing"; !slices.Contains(w.messages, want) || slices.ContainsFunc(w.messages, func(text string) bool { return strings.HasPrefix(text, over.path) }) {
		t.Errorf("%q", w.messages)
	}
}

// TestUsed: two commands cannot use one state at once, and no command that of another one.
func TestUsed(t *testing.T) {
	t.Parallel()
	w := &world{t: t, random: rand.New(rand.NewPCG(1, 6)), dir: t.TempDir(), state: filepath.Join(t.TempDir(), "state"), second: 10}
	for n := range w.logs {
		w.logs[n] = &eventLog{w: w, path: filepath.Join(w.dir, fmt.Sprintf("node%d.hdr", n)), values: 1}
		w.logs[n].create()
	}
	l := w.logs[0]
	w.start()
	for range 3 {
		l.line(false) // another state
		w.await(l.last(), len(l.last().seconds))
		if _, err := OpenState(w.state, 1000, new(int64), nil); !errors.Is(err, errUsed) {
			t.Errorf("the second command: %v", err)
		}
	}
	w.stop(false)
	begun := filepath.Join(filepath.Dir(w.state), ".state.hdrkit-01234567.tmp") // a command was killed while it wrote
	if err := os.WriteFile(begun, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	refused := func(size int64, want string) {
		t.Helper()
		if _, err := OpenState(w.state, size, new(int64), nil); err == nil || err.Error() != w.state+": "+want+"; remove it to begin anew, or name another file" {
			t.Errorf("%v, not %s", err, want)
		}
	}
	refused(2000, "its windows are 1s long, not 2s")
	if _, err := os.Stat(begun); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is there: %v", begun, err)
	}
	w.start()
	w.stop(false)
	for text, want := range map[string]string{
		`{"Version":2,"Command":"hdrunion"}`: `it is no state of hdrlive, but of "hdrunion"`,
		`{"Version":9,"Command":"hdrlive"}`:  "it has version 9, not 8",
		"#[StartTime: 5]":                    "it is no state of hdrlive: invalid character '#' looking for beginning of value",
	} {
		if err := os.WriteFile(w.state, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		refused(1000, want)
	}
}

// TestDue: a state that takes long is written less often, but a crash never finds one that is old.
func TestDue(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]time.Duration{0: saveTime, 100 * time.Millisecond: 2 * time.Second, time.Second: saveMost, time.Hour: saveMost} {
		s := State{most: saveMost, took: took, at: time.Now().Add(-want)}
		if due, _ := s.due(); due > 0 {
			t.Errorf("a state that takes %v is due %v later than %v after it", took, due, want)
		}
		s.at = time.Now().Add(time.Hour)
		if due, _ := s.due(); due < want+59*time.Minute {
			t.Errorf("a state that takes %v is due %v after it, not %v", took, due-time.Hour, want)
		}
	}
}

// TestDamaged edits states. Each is refused before anything is opened.
func TestDamaged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	const begin = `{"Version":8,"Command":"hdrlive","Size":1000,`
	for text, want := range map[string]string{
		begin + `"From":9223372036854775,"Done":0}`:                                     "it begins at 294247-01-10T04:00:54Z",
		begin + `"From":0,"Done":9223372036854775}`:                                     "its last window ends at 294247-01-10T04:00:54Z",
		begin + `"From":0,"Done":0,"Windows":[{"Tag":"cnQ=","Sum":"AwA="}]}`:            "a window has no intervals",
		begin + `"From":0,"Done":0,"Outputs":{"-of x":{"Base":1}}}`:                     "-of x: no",
		begin + `"From":0,"Done":0,"Logs":[{"Path":"a.hdr","Size":-1,"Line":0}]}`:       "a.hdr has -1 bytes and 0 lines",
		begin + `"From":0,"Done":0,"Logs":[{"Path":"a.hdr","Points":"AQ==","Line":0}]}`: "",
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := OpenState(path, 1000, new(int64), func(string, []byte) error { return errors.New("no") })
		if want = "it is damaged: " + want; err == nil || !strings.Contains(err.Error(), want) && want != "it is damaged: " || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: %v, not %s", text, err, want)
		}
	}
	if _, err := OpenState("/dev/zero", 1000, new(int64), nil); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a device: %v", err)
	}
	s, err := OpenState(path+"2", 1000, new(int64), nil)
	if err == nil {
		defer s.release()
		err = s.write([]byte("{}"))
	}
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path + "2"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestDueSize: a state that takes long, or is large, is written less often.
func TestDueSize(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		took time.Duration
		size int
		want time.Duration
	}{
		{time.Millisecond, 1000, 250 * time.Millisecond},
		{100 * time.Millisecond, 1000, 2 * time.Second},
		{time.Millisecond, 5 << 20, 5 * time.Second},
		{time.Millisecond, 100 << 20, 15 * time.Second},
		{time.Minute, 1000, 15 * time.Second},
	} {
		s := State{path: "state", changed: true, most: saveMost, at: time.Now(), took: test.took, size: test.size}
		if wait, ok := s.due(); !ok || wait > test.want || wait < test.want-200*time.Millisecond {
			t.Errorf("after %v and %d bytes: %v, want %v", test.took, test.size, wait, test.want)
		}
	}
}
