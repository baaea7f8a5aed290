//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package live

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hdrkit/internal/clitest"
)

// TestRotations rotates three logs as logrotate does, before any access of a command to a file,
// while that starts, runs, is killed and is stopped. No value counts twice, and none is lost,
// unless a message says so.
func TestRotations(t *testing.T) {
	t.Parallel()
	for seed := range uint64(clitest.Rounds(1000)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { rotations(t, seed) })
		})
	}
}

func rotations(t *testing.T, seed uint64) {
	time.Sleep(time.Until(time.Unix(clitest.LiveStart+30, 0))) // in the bubble
	r := &rotating{world: newWorld(t, seed, 20)}
	r.plain = r.random.IntN(4) == 0
	r.between = r.step
	r.rescan = time.Second
	r.poll = 75 * time.Millisecond
	r.idle = 10 * time.Second
	r.named = !r.plain
	r.copies = !r.plain && r.random.IntN(2) == 0
	if !r.plain {
		r.compress = r.random.IntN(3)
	}
	r.steps = rand.New(rand.NewPCG(seed, 21))
	r.createOrdered()
	for _, l := range r.logs {
		l.slow = 2 * r.random.IntN(3)
	}
	for range 60 {
		r.tick()
	}
	r.finish()
}

// A rotating is a world whose logs are rotated.
type rotating struct {
	*world
	plain    bool // only names are followed, not what matches: only renamed files are found
	copies   bool // rotation copies and truncates
	compress int  // the first part that is compressed, 0 for none
	unseen   bool // a file was rotated that the state does not know

	runs atomic.Bool // a command does

	mu    sync.Mutex // also of what a step changes
	steps *rand.Rand
	queue []func() // happens step by step
}

// step comes before an access of the command to a file: something may happen.
func (r *rotating) step() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) > 0 && r.steps.IntN(6) == 0 {
		r.next()
	}
	runtime.Gosched()
}

func (r *rotating) next() {
	r.queue[0]()
	r.queue = r.queue[1:]
}

// later has something happen at one of the next steps.
func (r *rotating) later(step func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = append(r.queue, step)
}

// settled reports whether all has happened.
func (r *rotating) settled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.queue) == 0
}

// command starts a command, stops it, or kills it.
func (r *rotating) command(what string, do func()) {
	r.mu.Lock()
	r.did("%s", what)
	r.mu.Unlock()
	r.runs.Store(what == "start")
	do()
}

func (r *rotating) did(format string, args ...any) {
	r.done = append(r.done, fmt.Sprintf("%d ", r.second)+fmt.Sprintf(format, args...))
}

// flush lets all happen that must.
func (r *rotating) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.queue) > 0 {
		r.next()
	}
}

// tick is a second of the world.
func (r *rotating) tick() {
	r.flush()
	if r.dead.Load() && r.run != nil {
		r.command("killed", func() { r.stop(true) })
	}
	r.write()
	for range r.random.IntN(3) {
		r.plan()
	}
	if r.run == nil && r.random.IntN(4) == 0 {
		if r.unseen { // a look may miss a new file that just gets another name
			r.flush()
			r.unseen = false
		}
		r.command("start", r.start)
	}
	time.Sleep(time.Second)
}

// write writes a line to each log, at the same moment.
func (r *rotating) write() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.second++
	second := r.second
	for _, l := range r.logs {
		r.second = second - 1
		l.line(false)
	}
	r.second = second
}

// plan has something happen at one of the next steps.
func (r *rotating) plan() {
	l := r.logs[r.random.IntN(len(r.logs))]
	switch n := r.random.IntN(8); {
	case n == 0:
		r.later(func() { r.dead.Store(r.runs.Load() || r.dead.Load()) })
	case n == 1 && r.run != nil && !r.dead.Load():
		r.flush()
		r.command("stop", func() { r.stop(r.dead.Load()) })
	case n > 3 && r.settled() && r.mayRotate(l):
		r.rotate(l)
	}
}

// mayRotate reports whether the command can know of the file of a log before it is rotated. One
// that runs does not see a file that comes and goes between two looks.
func (r *rotating) mayRotate(l *eventLog) bool {
	if len(l.last().seconds) < known {
		return false
	}
	seen := r.lines(l.last()) >= known
	if r.run == nil && !r.plain && !seen {
		r.unseen = true
		return true
	}
	return seen
}

// rotate plans the steps of a rotation.
func (r *rotating) rotate(l *eventLog) {
	name := func(part int, packed bool) string {
		if packed {
			return fmt.Sprintf("%s.%d.gz", l.path, part)
		}
		return fmt.Sprintf("%s.%d", l.path, part)
	}
	do := func(what string, step func() error) {
		r.later(func() {
			r.did("%s: %s", filepath.Base(l.path), what)
			if err := step(); err != nil {
				r.t.Error(err)
			}
		})
	}
	last := len(l.parts)
	for n := range last - 1 {
		part := last - 1 - n
		from := name(part, r.compress > 0 && part >= r.compress)
		to := name(part+1, r.compress > 0 && part >= r.compress)
		do("rename", func() error { return os.Rename(from, to) })
	}
	if r.copies {
		do("copy", func() error { return r.copy(l, name(1, false)) })
	} else {
		do("rename the log", func() error { return os.Rename(l.path, name(1, false)) })
		do("create", func() error {
			l.create()
			return nil
		})
	}
	if r.compress > 0 && last >= r.compress {
		plain, packed := name(r.compress, false), name(r.compress, true)
		var gz bytes.Buffer
		do("half a gzip", func() error {
			text, err := os.ReadFile(plain)
			w := gzip.NewWriter(&gz)
			w.Write(text)
			w.Close()
			if err != nil {
				return err
			}
			return os.WriteFile(packed, gz.Bytes()[:gz.Len()/2], 0o666)
		})
		do("gzip", func() error { return os.WriteFile(packed, gz.Bytes(), 0o666) })
		do("remove", func() error { return os.Remove(plain) })
	}
}

// copy copies and truncates a log.
func (r *rotating) copy(l *eventLog, to string) error {
	text, err := os.ReadFile(l.path)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, text[:len(text)/2], 0o666); err != nil {
		return err
	}
	if err := os.WriteFile(to, text, 0o666); err != nil {
		return err
	}
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	l.part(true)
	return nil
}

// finish lets the command find all, and checks what it has.
func (r *rotating) finish() {
	r.flush()
	if r.dead.Load() && r.run != nil {
		r.stop(true)
	}
	if r.run == nil {
		r.start()
	}
	for range 30 {
		r.write()
		time.Sleep(time.Second)
	}
	for _, l := range r.logs {
		r.await(l.last(), len(l.last().seconds))
	}
	r.away.Store(false)
	r.stop(false)
	counts := r.check()
	missing := slices.ContainsFunc(r.messages, func(text string) bool { return strings.Contains(text, "missing") })
	for _, l := range r.logs {
		for _, p := range l.parts {
			for _, second := range p.seconds {
				n := counts[second] / l.values % 10
				if second != 0 && n != 1 && !(n == 0 && missing) {
					r.t.Errorf("%s: second %d counts %d times", l.path, second, n)
				}
			}
		}
	}
	if r.t.Failed() {
		r.t.Logf("plain %t, copies %t, compress %d\n%s\n%s\n%v", r.plain, r.copies, r.compress, strings.Join(r.done, "\n"), strings.Join(r.messages, "\n"), counts)
	}
}
