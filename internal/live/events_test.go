//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package live

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/clitest"
	"hdrkit/internal/live/follow"
)

// TestEvents lets all happen to three logs that can, in any order, while a command that keeps its
// state follows them, crashes and starts again. Each interval counts once, or a message names what
// is missing. An interval of log n has 10^n values, so that the digits of a second's count say
// which logs it has.
func TestEvents(t *testing.T) {
	t.Parallel()
	for seed := range uint64(clitest.Rounds(100)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, seed, 4)
			for n := range w.logs {
				w.logs[n] = &eventLog{w: w, path: filepath.Join(w.dir, fmt.Sprintf("node%d.hdr", n)), tag: []string{"a", "b", "a"}[n], values: []int64{1, 10, 100}[n], missing: map[int]bool{}}
				w.logs[n].length = 1 + 4*w.random.IntN(2)
				w.logs[n].slow = 8 * w.random.IntN(2)
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
	idle       time.Duration // as in [Options], 0 for any
	maxPast    int64         // as in [tuning]
	exact      bool          // no interval comes when windows that it lies in were handed out
	keeps      bool          // no file gets the inode of one that was compressed
	rescan     time.Duration // as in [follow.Options], 0 for a millisecond
	poll       time.Duration // as in [follow.Options], 0 for a millisecond
	between    func()        // as in [follow.Options]
	gone       time.Duration // as in [follow.Options], 0 for an hour
	named      bool          // rotated files of all logs match
	slow       func()        // what happens during a start, after the state was taken up
	done       []string      // the events
	run        *run          // nil while no command runs
	whole      *merge.Rates  // of the last run, as in [Options]
	follower   *follow.Follower
	out        string // the merged log
	messages   []string
	targets    []*target
	dead, away atomic.Bool // the command has crashed, and receivers are away

	mu       sync.Mutex
	arrivals *rand.Rand
}

func newWorld(t *testing.T, seed, stream uint64) *world {
	own := t.TempDir()

	w := &world{
		t:        t,
		random:   rand.New(rand.NewPCG(seed, stream)),
		arrivals: rand.New(rand.NewPCG(seed, stream+100)),
		dir:      t.TempDir(),
		state:    filepath.Join(own, "state"),
		out:      filepath.Join(own, "merged.hdr"),
		second:   30,
	}
	for _, totals := range []bool{false, true} {
		w.targets = append(w.targets, &target{w: w, totals: totals, points: map[string]string{}})
	}
	return w
}

// An eventLog is a log and its writer.
type eventLog struct {
	w       *world
	path    string
	tag     string
	values  int64
	file    *os.File
	half    string // the rest of a line that is half written
	parts   []*part
	newest  int // the last second written
	used    map[int]bool
	length  int  // of intervals
	slow    int  // by how much the clock is behind
	ordered bool // lines are in order
	// missing is which seconds an event may have lost.
	missing map[int]bool
}

// A part is a file of a log.
type part struct {
	path    string
	inode   uint64
	seconds []int // of its lines, 0 for a comment
}

// A keeper is the merged log, a file that is cut back to what the state covers.
type keeper struct {
	*run
	w      *world
	file   *os.File
	log    *hdrlog.Writer
	fields []byte
}

// keeper opens the merged log.
func (w *world) keeper(r *run, at *FilePosition) *keeper {
	if at == nil {
		at = new(FilePosition)
	}
	file, err := os.OpenFile(w.out, os.O_CREATE|os.O_RDWR, 0o666)
	if err == nil {
		err = cmp.Or(file.Truncate(at.Size), second(file.Seek(at.Size, io.SeekStart)))
	}
	if err != nil {
		w.t.Fatal(err)
	}
	k := &keeper{
		run:  r,
		w:    w,
		file: file,
		log:  hdrlog.NewWriter(file),
	}
	if at.Size == 0 {
		err = k.log.BaseTime(0)
	} else {
		to := hdrlog.NewWriter(io.Discard)
		err = to.BaseTime(0)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return k
}

func second[T any](_ T, err error) error { return err }

// errDead is the error of what a crash has ended.
var errDead = errors.New("crashed")

func (k *keeper) Window(w *Window) (err error) {
	if _, err := w.Counts(); err != nil { // as the page and the table do
		return err
	}
	if k.w.dead.Load() {
		return nil
	}
	if k.fields, err = w.Merged.AppendFields(k.fields[:0], 0); err != nil {
		return err
	}
	if note := w.Note(); note != "" {
		err = k.log.Comment(note)
	}
	return cmp.Or(err, k.log.WriteEncoded(w.Merged.Tag, k.fields))
}

func (k *keeper) Flush() error { return k.log.Flush() }

func (k *keeper) Position() (FilePosition, error) {
	if k.w.dead.Load() {
		return FilePosition{}, errDead
	}
	err := k.log.Flush()
	size, seek := k.file.Seek(0, io.SeekEnd)
	return FilePosition{Path: k.w.out, Size: size, Tail: k.w.tail(size)}, cmp.Or(err, seek)
}

// tail returns a hash of the merged log up to a size, empty if it is shorter.
func (w *world) tail(size int64) string {
	text, err := os.ReadFile(w.out)
	if err != nil || int64(len(text)) < size {
		return ""
	}
	return fmt.Sprintf("%x", crc64.Checksum(text[:size], crc64.MakeTable(crc64.ECMA)))
}

// takeOpenWindows gives a state the open windows that it says stand behind the merged log.
func (w *world) takeOpenWindows(s *State) {
	at, to := s.File(), s.OpenWindowsEnd()
	if at == nil || to == nil || w.tail(to.Size) != to.Tail {
		return
	}
	text, err := os.ReadFile(w.out)
	if err != nil {
		w.t.Fatal(err)
	}
	s.TakeOpenWindows(slices.Concat([]byte("#[BaseTime: 0.000 (seconds since epoch)]\n"), text[at.Size:to.Size]))
}

func (k *keeper) End() error { return cmp.Or(k.log.Flush(), k.file.Close()) }

// A target is a receiver. What it has got once must not change.
type target struct {
	w      *world
	totals bool
	points map[string]string // of all runs
	own    *targetRun
}

// A targetRun is what a run has of a target.
type targetRun struct {
	*target
	has, again int64
	sums       map[string]int64
	waiting    []waitingRow
	done       int64
}

type waitingRow struct {
	end        int64
	key, value string
}

func (r *targetRun) Resume(has, again int64) { r.has, r.again, r.done = has, again, has }
func (r *targetRun) Totals() bool            { return r.totals }

func (r *targetRun) Window(w *Window) error {
	if r.w.dead.Load() {
		return nil
	}
	h, err := w.Counts()
	if err != nil {
		return err
	}
	key := fmt.Sprintf("%d %s", w.Merged.Window.End/1000-clitest.LiveStart, w.Merged.Tag)
	value := fmt.Sprint(h.TotalCount(), h.Max(), r.w.recorded(w.Merged.Recorded))
	if r.totals {
		r.sums[string(w.Merged.Tag)] += h.TotalCount()
		value = fmt.Sprint(r.sums[string(w.Merged.Tag)])
	}
	if !w.Late && w.Merged.Window.End > r.has {
		r.waiting = append(r.waiting, waitingRow{w.Merged.Window.End, key, value})
	}
	if !w.Late {
		r.done = max(r.done, w.Merged.Window.End)
	}
	return nil
}

// Flush lets some rows arrive.
func (r *targetRun) Flush() error {
	if r.w.dead.Load() || r.w.away.Load() {
		return nil
	}
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	n := r.w.arrivals.IntN(len(r.waiting) + 1)
	for _, row := range r.waiting[:n] {
		if before, ok := r.points[row.key]; ok && before != row.value {
			r.w.t.Errorf("%t: %s changes from %s to %s", r.totals, row.key, before, row.value)
		}
		r.points[row.key] = row.value
	}
	r.waiting = r.waiting[n:]
	return nil
}

func (r *targetRun) SentUntil() int64 {
	if len(r.waiting) == 0 {
		return r.done
	}
	return r.waiting[0].end - 1000
}

func (r *targetRun) End() error {
	for len(r.waiting) > 0 && !r.w.dead.Load() && !r.w.away.Load() {
		r.Flush()
	}
	return nil
}

// options returns those of a run with the state.
func (w *world) options(r *run, size int64) (Options, error) {
	s, err := OpenState(w.state, size, new(int64))
	if err != nil {
		return Options{}, err
	}
	return Options{
		Size:     size,
		State:    s,
		Stop:     r.stop,
		Messages: r,
		Second:   hdrlog.SecondLength,
		Whole:    w.whole,
		tuning:   tuning{maxSavePause: time.Millisecond, maxPast: w.maxPast},
	}, nil
}

// start starts the command.
func (w *world) start() {
	r := &run{t: w.t, stop: make(chan struct{}), ended: make(chan error, 1)}
	w.run = r
	w.whole = new(merge.Rates)
	o, err := w.options(r, 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	o.Idle = cmp.Or(w.idle, []time.Duration{time.Millisecond, time.Hour}[w.random.IntN(2)])
	r.Merger = merger(o, nil)
	w.takeOpenWindows(o.State)
	r.Merger.fan.Outputs = []Output{{Key: "-of", Sink: w.keeper(r, o.State.File())}}
	for n, target := range w.targets {
		target.own = &targetRun{target: target, has: never, again: never, done: never, sums: map[string]int64{}}
		r.Merger.fan.Outputs = append(r.Merger.fan.Outputs, Output{Key: fmt.Sprint("-push ", n), Sink: target.own, When: AfterSave})
	}
	w.dead.Store(false)
	w.follower = follow.New(follow.Options{
		Poll:           cmp.Or(w.poll, time.Millisecond),
		Rescan:         cmp.Or(w.rescan, time.Millisecond),
		CloseAfter:     cmp.Or(w.gone, time.Hour),
		Continues:      true,
		Marks:          o.State.Marks(),
		HasOpenWindows: o.State.HasOpenWindows(),
		Notice:         r.Merger.Notice,
		BeforeAccess:   w.between,
	})
	if w.named {
		w.follower.AddMatching(w.dir, regexp.MustCompile(`^node..hdr.*$`).MatchString, nil)
	} else { // the rotated files of the first log match, too
		w.follower.AddMatching(w.dir, regexp.MustCompile(`^node0.hdr.*$`).MatchString, nil)
		w.follower.AddFile(w.logs[1].path)
		w.follower.AddMatching(w.dir, regexp.MustCompile(`^node2.hdr$`).MatchString, nil)
	}
	if err := r.Load(w.follower); err != nil {
		w.t.Fatal(err)
	}
	if w.slow != nil {
		w.slow()
	}
	go func() {
		err := r.Run(w.follower)
		o.State.Release()
		r.ended <- err
	}()
}

// stop stops the command. After a crash, nothing that it does counts.
func (w *world) stop(crash bool) {
	w.dead.Store(crash)
	if crash {
		w.follower.Abort()
	}
	close(w.run.stop)
	var want error
	if crash {
		want = errDead
	}
	w.run.end(want)
	w.follower.Close()
	w.messages = append(w.messages, w.run.messages...)
	w.run = nil
}

// lastPoint returns how much of a log was read, and the hash of that.
func lastPoint(m *follow.Mark) (size int, sum uint64) {
	last := m.Points[len(m.Points)-16:]
	return int(binary.LittleEndian.Uint64(last)), binary.LittleEndian.Uint64(last[8:])
}

// covered returns how many lines of a file the state covers, -1 if it does not know the file, and
// how many of them no later run needs again.
func (w *world) covered(p *part) (lines, safe int) {
	s := w.saved()
	content, err := os.ReadFile(p.path)
	if err != nil {
		w.t.Fatal(err)
	}
	lines, safe = -1, -1
	for _, m := range s.Logs {
		size, sum := lastPoint(&m)
		if size > len(content) || crc64.Checksum(content[:size], crc64.MakeTable(crc64.ECMA)) != sum || m.Line < lines {
			continue
		}
		lines, safe = m.Line, m.Line
		if m.Again.From > 0 {
			safe = m.Again.From - 1
		}
	}
	return lines, safe
}

// saved returns the last state, the zero value if there is none.
func (w *world) saved() (s savedState) {
	text, err := os.ReadFile(w.state)
	if err != nil || len(text) == 0 {
		return s
	}
	text, _, _ = bytes.Cut(text, []byte{'\n'})
	if err := json.Unmarshal(text, &s); err != nil {
		w.t.Fatal(err)
	}
	return s
}

// lines returns the first result of covered.
func (w *world) lines(p *part) int {
	lines, _ := w.covered(p)
	return lines
}

// await waits until the state covers so many lines of a file.
func (w *world) await(p *part, lines int) {
	w.t.Helper()
	for end := time.Now().Add(clitest.Patience); w.lines(p) < lines; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			w.run.mu.Lock()
			defer w.run.mu.Unlock()
			content, _ := os.ReadFile(p.path)
			state, _ := os.ReadFile(w.state)
			w.t.Fatalf("%s, %d: no state covers %d lines, but %d\n%s\n%s\n%s\n%s", p.path, p.inode, lines, w.lines(p), strings.Join(w.done, "\n"), strings.Join(append(w.messages, w.run.messages...), "\n"), content, state)
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
	case 7:
		w.away.Store(!w.away.Load())
		did("receivers are away: %t", w.away.Load())
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
	second := l.w.second - l.slow
	if back := second - 1 - l.w.random.IntN(3); !l.ordered && l.w.random.IntN(5) == 0 && !l.used[back] {
		second = back // out of order
	}
	for l.used[second] {
		second++
	}
	l.used[second] = true
	l.newest = max(l.newest, second+l.slow)
	l.w.second = max(l.w.second, l.newest)
	p.seconds = append(p.seconds, second)
	start := second - l.length/2
	text := string(clitest.Line(l.w.t, start, 1000, l.values, l.tag))
	text = text[strings.Index(text, "Tag="):]
	text = strings.Replace(text, fmt.Sprintf("%d.000,1.000,", start), fmt.Sprintf("%d.000,%d.000,", start, l.length), 1)
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
	if l.used == nil {
		l.used = make(map[int]bool)
		l.length = max(l.length, 1)
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
		clitest.Await(l.w.t, "all that an earlier run has read", nil, func() bool {
			for _, in := range l.w.run.Progress() {
				if in.Name == l.path && in.Lines >= int64(l.w.lines(p)) {
					return true
				}
			}
			return false
		})
		if l.w.random.IntN(2) == 0 {
			l.whole()
			l.w.await(p, len(p.seconds))
		}
		return true
	}
	return matched || l.w.lines(p) >= known
}

// endanger says that what the state does not cover of the file may get lost.
func (l *eventLog) endanger() {
	p := l.last()
	_, safe := l.w.covered(p)
	for _, second := range p.seconds[max(safe, 0):] {
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

// rotate renames the files as logrotate does: the newest one gets the number 1.
func (l *eventLog) rotate() {
	for n, p := range l.parts {
		if next := fmt.Sprintf("%s.%d", l.path, len(l.parts)-n); p.path != "" {
			if err := os.Rename(p.path, next); err != nil {
				l.w.t.Fatal(err)
			}
			p.path = next
		}
	}
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
	w.away.Store(false)
	w.stop(false)
	counts := w.check()
	for _, l := range w.logs {
		named := slices.ContainsFunc(w.messages, func(text string) bool {
			return (strings.Contains(text, l.path) || strings.Contains(text, " more)")) && (strings.Contains(text, "truncated") || strings.Contains(text, "is gone since") || strings.Contains(text, "not read"))
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
		w.t.Logf("%s\n%s\n%v", strings.Join(w.done, "\n"), strings.Join(w.messages, "\n"), counts)
	}
}

// check compares what the receivers have with the merged log, as far as the state covers it, and
// returns how many values each second of the log has.
func (w *world) check() map[int]int64 {
	s, err := OpenState(w.state, 1000, new(int64))
	if err != nil {
		w.t.Fatal(err)
	}
	defer s.Release()
	text, err := os.ReadFile(w.out)
	if err != nil {
		w.t.Fatal(err)
	}
	counts, want := make(map[int]int64), []map[string]string{{}, {}}
	sums := make(map[string]int64)
	var d histogram.Decoder
	add := func(text []byte, count func(past *Window, second int, h *histogram.Histogram)) {
		r := hdrlog.NewReader(bytes.NewReader(text), w.out)
		past := (&Merger{options: Options{Size: 1000}}).pastWindow()
		for r.Scan() {
			i := &r.Record().Interval
			if r.Record().Kind != hdrlog.IntervalRecord {
				past.readNote(r.Record().Text)
				continue
			}
			var h histogram.Histogram
			if err := d.AddTo(&h, i.Payload); err != nil {
				w.t.Fatal(err)
			}
			past.Merged.Tag = i.Tag
			count(past, int(merge.WindowOf(i.StartMillis(), i.EndMillis(), 1000).Start/1000-clitest.LiveStart), &h)
			past = (&Merger{options: Options{Size: 1000}}).pastWindow()
		}
	}
	add(text, func(_ *Window, second int, h *histogram.Histogram) { counts[second] += h.TotalCount() })
	add(text[:s.File().Size], func(past *Window, second int, h *histogram.Histogram) {
		sums[string(past.Merged.Tag)] += h.TotalCount()
		key := fmt.Sprintf("%d %s", second+1, past.Merged.Tag)
		if !past.Late {
			want[0][key] = fmt.Sprint(h.TotalCount(), h.Max(), w.recorded(past.Merged.Recorded))
			want[1][key] = fmt.Sprint(sums[string(past.Merged.Tag)])
		}
	})
	for n, target := range w.targets {
		if !maps.Equal(target.points, want[n]) {
			w.t.Errorf("totals %t: a receiver has %v, want %v", target.totals, target.points, want[n])
		}
	}
	return counts
}

// recorded leaves out what a restart does not know, unless the world is exact: of an interval that
// goes over several windows, which of these were handed out before it was read.
func (w *world) recorded(r merge.WindowCount) merge.WindowCount {
	if !w.exact {
		r.Moved = 0
	}
	return r
}

// TestStops: after a stop or a crash, windows that other logs have not reached are still open. No
// interval is late, whether a clock is slow or a log has long intervals. The merged log is that of
// a run that was never stopped, also in how many values each window recorded, and so is the time in
// which the logs ran.
func TestStops(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		length, slow int
		kills        bool
	}{{5, 0, false}, {1, 8, false}, {5, 8, true}} {
		w := newWorld(t, 1, 7)
		w.idle = time.Hour
		for n := range w.logs {
			w.logs[n] = &eventLog{
				w:       w,
				path:    filepath.Join(w.dir, fmt.Sprintf("node%d.hdr", n)),
				tag:     "a",
				values:  []int64{1, 10, 100}[n],
				ordered: true,
			}
			w.logs[n].create()
		}
		w.logs[0].length, w.logs[1].slow = test.length, test.slow
		for n := range 15 {
			if n%3 == 0 {
				w.start()
			}
			w.writeApart(n)
			if n%3 == 2 {
				w.awaitLines()
				w.stop(test.kills)
			}
		}
		w.end()
		if text, err := os.ReadFile(w.out); err != nil || bytes.Contains(text, []byte(lateNote)) {
			t.Errorf("%+v: %v, %q\n%s", test, err, w.messages, text)
		}
		stopped, period := w.mergedLog(), w.whole.Period([]byte("a"), math.MaxInt64)
		own := t.TempDir()
		w.state = filepath.Join(own, "state")
		w.out = filepath.Join(own, "merged.hdr")
		w.start()
		w.awaitLines()
		w.stop(false)
		if whole := w.mergedLog(); stopped != whole {
			t.Errorf("%+v: with stops the merged log is\n%s\nwithout\n%s", test, stopped, whole)
		}
		if want := w.whole.Period([]byte("a"), math.MaxInt64); period != want {
			t.Errorf("%+v: with stops the logs ran for %d ms, without for %d", test, period, want)
		}
	}
}

// mergedLog returns the merged log, without what each run says of its writer.
func (w *world) mergedLog() string {
	text, err := os.ReadFile(w.out)
	if err != nil {
		w.t.Fatal(err)
	}
	var lines strings.Builder
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#[Written by") {
			lines.WriteString(line)
		}
	}
	return lines.String()
}

// createOrdered creates logs of one tag whose files are in the order of time.
func (w *world) createOrdered() {
	for n := range w.logs {
		w.logs[n] = &eventLog{
			w:       w,
			path:    filepath.Join(w.dir, fmt.Sprintf("node%d.hdr", n)),
			tag:     "a",
			values:  []int64{1, 10, 100}[n],
			ordered: true,
		}
		w.logs[n].create()
	}
}

// writeApart writes a line to each log whose last interval is over. So no two intervals of a log
// overlap.
func (w *world) writeApart(n int) {
	for _, l := range w.logs {
		if n%l.length == 0 {
			l.line(false)
		}
	}
}

// writeLines writes five lines to each log.
func (w *world) writeLines() {
	for range 5 {
		for _, l := range w.logs {
			l.line(false)
		}
	}
}

// awaitLines waits until a state has all lines.
func (w *world) awaitLines() {
	for _, l := range w.logs {
		w.await(l.last(), len(l.last().seconds))
	}
}

// endInTime ends the world, and checks that no interval was late.
func (w *world) endInTime() {
	w.t.Helper()
	w.end()
	if text, err := os.ReadFile(w.out); err != nil || bytes.Contains(text, []byte(lateNote)) {
		w.t.Errorf("%v, %q\n%s", err, w.messages, text)
	}
}

// TestFoundLater: while no command ran, rotation compressed a log that has lines of open windows. A
// start finds the compressed log only after some looks, or when it is stopped. No window is
// complete before that.
func TestFoundLater(t *testing.T) {
	t.Parallel()
	for _, keeps := range []bool{false, true} {
		t.Run(fmt.Sprint("keeps=", keeps), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1, 8)
			w.idle = time.Hour
			w.rescan = 50 * time.Millisecond
			w.keeps = keeps
			w.createOrdered()
			w.logs[1].slow = 8
			w.writeLines()
			w.start()
			w.awaitLines()
			w.stop(false)
			w.logs[0].pack()
			w.writeLines()
			w.endInTime()
		})
	}
}

// pack compresses a log, as a rotation does, and begins another file.
func (l *eventLog) pack() {
	text, err := os.ReadFile(l.path)
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	zip.Write(text)
	zip.Close()
	if err == nil {
		packed := fmt.Sprintf("%s.%d.gz", l.path, len(l.parts))
		if l.w.keeps {
			os.Link(l.path, filepath.Join(l.w.t.TempDir(), "kept"))
		}
		err = cmp.Or(os.WriteFile(packed, zipped.Bytes(), 0o666), os.Remove(l.path))
	}
	if err != nil {
		l.w.t.Fatal(err)
	}
	l.last().path = "" // another file may get its inode
	l.create()
}

// TestSlowStart: a log is rotated during a start that takes long, after the state was taken up and
// before the files are looked at. The command is killed again before it finds the rotated file. No
// state covers windows that lack its lines.
func TestSlowStart(t *testing.T) {
	t.Parallel()
	for name, rotate := range map[string]func(l *eventLog){"pack": (*eventLog).pack, "rename": (*eventLog).rename} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1, 8)
			w.idle = time.Hour
			w.createOrdered()
			w.writeLines()
			w.start()
			for _, l := range w.logs {
				w.await(l.last(), len(l.last().seconds))
			}
			w.stop(true)
			w.rescan = time.Hour
			w.slow = func() { rotate(w.logs[0]) }
			w.start()
			for range 2 { // the second state is later than the windows of the first lines
				w.writeLines()
				for _, l := range w.logs {
					w.await(l.last(), len(l.last().seconds))
				}
			}
			w.stop(true)
			w.rescan = 0
			w.slow = nil
			w.writeLines()
			w.endInTime()
		})
	}
}

// worldAway returns a world after a stop, in which a rotated log with lines of open windows is
// away. comeBack brings it back.
func worldAway(t *testing.T, crash bool) (w *world, comeBack func()) {
	t.Helper()
	w = newWorld(t, 1, 8)
	w.idle = time.Hour
	w.createOrdered()
	w.logs[1].slow = 8
	w.writeLines()
	w.start()
	w.awaitLines()
	w.stop(crash)
	w.logs[0].rename()
	rotated := w.logs[0].parts[0].path
	away := filepath.Join(t.TempDir(), "away")
	move := func(from, to string) {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	move(rotated, away)
	return w, func() { move(away, rotated) }
}

// TestAway: a rotated file with lines of open windows is away in two runs, which hand out these
// windows without it, and is back in the third one. Its lines count there, since no window has
// them.
func TestAway(t *testing.T) {
	t.Parallel()
	w, comeBack := worldAway(t, true)
	written := w.second
	for range 2 {
		w.start()
		w.writeLines()
		w.writeLines()
		w.awaitLines()
		clitest.Await(t, "windows are handed out", nil, func() bool {
			return w.saved().Done >= 1000*int64(clitest.LiveStart+written)
		})
		w.stop(true)
	}
	comeBack()
	w.end()
}

// TestAwayAtStop: a log is away after a crash. The run that does not find it stops cleanly, and
// writes windows that are open without its lines. They count when it is back.
func TestAwayAtStop(t *testing.T) {
	t.Parallel()
	w, comeBack := worldAway(t, true)
	w.start()
	clitest.Await(t, "the end of the search", nil, func() bool {
		w.run.mu.Lock()
		defer w.run.mu.Unlock()
		return slices.ContainsFunc(w.run.messages, func(text string) bool { return strings.Contains(text, "is gone") })
	})
	w.stop(false)
	if w.saved().OpenEnd == nil {
		t.Error("the state has no open windows")
	}
	comeBack()
	w.writeLines()
	w.end()
}

// TestReadBack: a log is away after a clean stop, and is back in the same run, when its windows
// were handed out. They have its lines, since the stop wrote them when they were open.
func TestReadBack(t *testing.T) {
	t.Parallel()
	w, comeBack := worldAway(t, false)
	written := w.second
	w.start()
	w.writeLines()
	w.writeLines()
	w.awaitLines()
	clitest.Await(t, "windows are handed out", nil, func() bool {
		return w.saved().Done >= 1000*int64(clitest.LiveStart+written)
	})
	comeBack()
	w.end()
}

// TestMadeAgain: a receiver that lacks windows gets them out of the logs if no merged log has them,
// or if that is too large to be read. They are what the merged log has.
func TestMadeAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, 8)
	w.idle = time.Hour
	w.maxPast = 1
	w.targets = w.targets[:1] // logs have no totals
	w.exact = true
	w.createOrdered()
	w.logs[1].slow = 8
	w.logs[2].length = 5
	for n := range 36 {
		if n%6 == 0 {
			w.away.Store(n != 12)
			w.start()
		}
		w.writeApart(n)
		if n%6 == 5 {
			w.awaitLines()
			w.stop(n%12 == 5)
		}
	}
	w.endInTime()
}

// TestRotatedTwice: a log was rotated while a command ran, and again after it was killed. So the
// older file has the greater number. A start reads it before the other one: no interval is late.
func TestRotatedTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, 9)
	w.idle = time.Hour
	w.createOrdered()
	w.logs[2].slow = 8
	w.start()
	for range 2 {
		w.writeLines()
		w.awaitLines()
		w.logs[0].rotate()
		w.logs[1].rotate()
	}
	w.stop(true)
	w.writeLines()
	w.endInTime()
}

// TestOver: a log that was deleted for long, and then closed, is not reported after a restart. One
// that was deleted while no command ran is.
func TestOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, 5)
	w.idle = time.Millisecond
	w.gone = time.Millisecond
	for n := range w.logs {
		w.logs[n] = &eventLog{w: w, path: filepath.Join(w.dir, fmt.Sprintf("node%d.hdr", n)), tag: "a", values: 1, missing: map[int]bool{}}
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
		var s savedState
		text, _, _ = bytes.Cut(text, []byte{'\n'})
		return err == nil && json.Unmarshal(text, &s) == nil && slices.ContainsFunc(s.Logs, func(m follow.Mark) bool { return m.Ended && m.Again.From == 0 })
	})
	w.stop(true)
	os.Remove(gone.path)
	w.start()
	kept.line(false)
	w.await(kept.last(), len(kept.last().seconds))
	clitest.Await(t, "a message", nil, func() bool {
		w.run.mu.Lock()
		defer w.run.mu.Unlock()
		return len(w.run.messages) > 0
	})
	w.stop(false)
	if want := gone.path + " is gone since the state was written; what it got after that is missing, if it got anything"; !slices.Contains(w.messages, want) || slices.ContainsFunc(w.messages, func(text string) bool { return strings.HasPrefix(text, over.path) }) {
		t.Errorf("%q", w.messages)
	}
}

// TestUsed: two commands cannot use one state at once, and no command that of another one.
func TestUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, 6)
	for n := range w.logs {
		w.logs[n] = &eventLog{w: w, path: filepath.Join(w.dir, fmt.Sprintf("node%d.hdr", n)), tag: "a", values: 1}
		w.logs[n].create()
	}
	l := w.logs[0]
	w.start()
	for range 3 {
		l.line(false) // another state
		w.await(l.last(), len(l.last().seconds))
		if _, err := OpenState(w.state, 1000, new(int64)); !errors.Is(err, ErrUsed) {
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
		if _, err := OpenState(w.state, size, new(int64)); err == nil || err.Error() != w.state+": "+want+"; remove it and the file of -of to begin anew, or name others" {
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
		`{"Version":7,"Command":"hdrlive"}`:  "it is a state of another version of hdrlive (7, not 12)",
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
	for took, want := range map[time.Duration]time.Duration{0: minSavePause, 100 * time.Millisecond: 2 * time.Second, time.Second: maxSavePause, time.Hour: maxSavePause} {
		s := saver{file: new(State), maxPause: maxSavePause, duration: took, lastSave: time.Now().Add(-want)}
		if due, _ := s.due(); due > 0 {
			t.Errorf("a state that takes %v is due %v later than %v after it", took, due, want)
		}
		s.lastSave = time.Now().Add(time.Hour)
		if due, _ := s.due(); due < want+59*time.Minute {
			t.Errorf("a state that takes %v is due %v after it, not %v", took, due-time.Hour, want)
		}
	}
}

// TestDamaged edits states. Each is refused before anything is opened.
func TestDamaged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	line, err := json.Marshal(savedState{Version: stateVersion, Command: stateCommand, Size: 1000, Logs: []follow.Mark{{Path: "a.hdr", Line: 5}}})
	if err != nil {
		t.Fatal(err)
	}
	state := fmt.Appendf(nil, "%s\n%s\n", line, hashOf(line))
	for bit := range 8 * (len(state) - 1) {
		damaged := bytes.Clone(state)
		damaged[bit/8] ^= 1 << (bit % 8)
		if err := os.WriteFile(path, damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenState(path, 1000, new(int64)); err == nil || !strings.HasPrefix(err.Error(), path+": it ") {
			t.Errorf("bit %d: %v", bit, err)
		}
	}
	later, err := json.Marshal(savedState{Version: stateVersion, Command: stateCommand, Size: 1000, Done: 9223372036854775})
	if err == nil {
		err = os.WriteFile(path, fmt.Appendf(nil, "%s\n%s\n", later, hashOf(later)), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenState(path, 1000, new(int64)); err == nil || !strings.Contains(err.Error(), "it ends at 294247-01-10T04:00:54Z: is the clock of this machine right?") {
		t.Errorf("a state of the future: %v", err)
	}
	if _, err := OpenState("/dev/zero", 1000, new(int64)); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a device: %v", err)
	}
	for _, forged := range []savedState{ // with a hash that is right
		{File: &FilePosition{Size: -1}},
		{Logs: []follow.Mark{{Path: "a.hdr", Line: -1}}},
		{Logs: []follow.Mark{{Path: "a.hdr", Begin: follow.Place{Line: 7, Byte: 1 << 40}}}},
		{Logs: []follow.Mark{{Path: "a.hdr", Again: follow.Again{From: 1, Slack: -1}}}},
	} {
		forged.Version, forged.Command, forged.Size = stateVersion, stateCommand, 1000
		line, err := json.Marshal(forged)
		if err == nil {
			err = os.WriteFile(path, fmt.Appendf(nil, "%s\n%s\n", line, hashOf(line)), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := OpenState(path, 1000, new(int64)); err == nil || !strings.Contains(err.Error(), ": it is damaged: ") {
			t.Errorf("%s: %v", line, err)
		}
	}
	s, err := OpenState(path+"2", 1000, new(int64))
	if err == nil { // a new one
		defer s.Release()
		err = s.write([]byte("{}"))
	}
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path + "2"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
