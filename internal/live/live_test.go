package live

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/clitest"
	"hdrkit/internal/live/follow"
	"hdrkit/tags"
)

// A run is a merger whose sink keeps what it receives.
type run struct {
	*Merger
	t     *testing.T
	stop  chan struct{}
	ended chan error

	mu        sync.Mutex
	windows   []string // SECOND TAG INTERVALS
	late      []string
	messages  []string
	malformed int
	flushed   int // the windows at the last flush
	fail      error
}

// merged describes what a tag has in a window.
func merged(m *merge.Merged) string {
	return fmt.Sprintf("%d %s %d", m.Window.Start/1000-clitest.LiveStart, m.Tag, m.Intervals())
}

func (r *run) Window(w *Window) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.Late {
		r.late = append(r.late, merged(w.Merged))
	} else {
		r.windows = append(r.windows, merged(w.Merged))
	}
	return r.fail
}

func (r *run) End() error { return nil }

func (r *run) SkipWindow(tag []byte, why error) error { return r.Skip(why.Error()) }

func (r *run) Flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flushed = len(r.windows)
	return nil
}

func (r *run) Skip(text string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.malformed++
	if text != "" {
		r.messages = append(r.messages, text)
	}
	return nil
}

func (r *run) Unread(text string) { r.Notice("unread: " + text) }

func (r *run) Notice(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.messages = append(r.messages, text)
}

// merger returns a merger. Without other options it takes tags and values as they are.
func merger(o Options, sink Sink) *Merger {
	if o.Units == nil {
		o.Units = noUnits{}
	}
	if o.Tag == nil {
		o.Tag = func(*follow.Input) func([]byte) []byte { return func(own []byte) []byte { return own } }
	}
	o.Hint = func(error) string { return "" }
	return New(o, &Fan{Outputs: []Output{{Key: "test", Sink: sink}}})
}

// noUnits take all values as they are.
type noUnits struct{}

func (noUnits) Comment(string, []byte) error   { return nil }
func (noUnits) Kept(string, []byte)            {}
func (noUnits) Admit(string) error             { return nil }
func (noUnits) Factor([]byte) (float64, error) { return 1, nil }

// start starts a merger of what add adds.
func start(t *testing.T, o Options, add func(f *follow.Follower), gone ...time.Duration) *run {
	r := &run{t: t, stop: make(chan struct{}), ended: make(chan error, 1)}
	o.Stop, o.Messages = r.stop, r
	r.Merger = merger(o, r)
	options := follow.Options{Poll: time.Millisecond, Rescan: time.Millisecond, Notice: r.Merger.Notice}
	if len(gone) > 0 {
		options.CloseAfter = gone[0]
	}
	f := follow.New(options)
	add(f)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.ended <- r.Run(f)
	}()
	t.Cleanup(func() {
		select {
		case <-r.stop:
		default:
			close(r.stop)
		}
		<-done
		f.Close()
	})
	return r
}

// await waits until the windows that were flushed are these.
func (r *run) await(windows ...string) {
	r.t.Helper()
	clitest.Await(r.t, strings.Join(windows, ", "), func() string {
		r.mu.Lock()
		defer r.mu.Unlock()
		return fmt.Sprintf("%q %q", r.windows, r.messages)
	}, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return slices.Equal(r.windows[:r.flushed], windows)
	})
}

// end waits for the end and checks its error.
func (r *run) end(want error) {
	r.t.Helper()
	select {
	case err := <-r.ended:
		if !errors.Is(err, want) {
			r.t.Errorf("ends with %v, not %v", err, want)
		}
	case <-time.After(clitest.Patience):
		r.t.Fatal("no end")
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := clitest.NewLogWriter(t, filepath.Join(dir, "a"), 0, "x", "y")
	b := clitest.NewLogWriter(t, filepath.Join(dir, "b"), 0.2, "x")
	r := start(t, Options{Size: 1000, Idle: time.Hour}, func(f *follow.Follower) {
		f.AddFile(a.Path)
		f.AddFile(b.Path)
	})
	a.Second(0, 1000, 1)
	a.Second(1, 1000, 1)
	b.Second(0, 1000, 1)
	b.Second(1, 1000, 1)
	r.await("0 x 2", "0 y 1")
	a.Second(2, 1000, 1)
	b.Second(2, 1000, 1)
	r.await("0 x 2", "0 y 1", "1 x 2", "1 y 1")
	states := r.Progress()
	if len(states) != 2 || states[0].Name != a.Path || states[0].End != (clitest.LiveStart+3)*1000 || states[0].Lines < 6 {
		t.Errorf("%+v", states)
	}
	close(r.stop)
	r.end(nil)
	r.await("0 x 2", "0 y 1", "1 x 2", "1 y 1", "2 x 2", "2 y 1")
	if r.Seen() != 9 {
		t.Errorf("%d intervals", r.Seen())
	}
}

// TestSilent has one log go silent, and come back late.
func TestSilent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := clitest.NewLogWriter(t, filepath.Join(dir, "a"), 0, "x")
	b := clitest.NewLogWriter(t, filepath.Join(dir, "b"), 0, "x")
	r := start(t, Options{Size: 1000, Idle: 10 * time.Millisecond}, func(f *follow.Follower) {
		f.AddFile(a.Path)
		f.AddFile(b.Path)
	})
	for s := range 5 {
		a.Second(s, 1000, 1)
	}
	r.await("0 x 1", "1 x 1", "2 x 1", "3 x 1", "4 x 1") // both are silent
	s := 5
	clitest.Await(t, "the silence of b", nil, func() bool {
		a.Second(s, 1000, 1)
		s++
		return r.Progress()[1].Silent
	})
	b.Second(0, 1000, 1)
	b.Second(1, 1000, 1)
	clitest.Await(t, "late intervals", nil, func() bool { return r.Progress()[1].Late == 2 })
	close(r.stop)
	r.end(nil)
	if !slices.Equal(r.late, []string{"0 x 1", "1 x 1"}) {
		t.Errorf("%q", r.late)
	}
	if len(r.messages) != 1 || !strings.Contains(r.messages[0], ": the interval came after its window was written") {
		t.Errorf("%q", r.messages)
	}
}

func TestMalformed(t *testing.T) {
	t.Parallel()
	line := string(clitest.Line(t, 0, 1000, 1, "x"))
	log := fmt.Sprintf("#[BaseTime: %d]\n%sa,b\nTag=x,0,1,1,HISTF\nc,d\n", clitest.LiveStart, line)
	r := start(t, Options{Size: 1000}, func(f *follow.Follower) { f.AddReader("-", strings.NewReader(log)) })
	r.end(nil)
	r.await("0 x 1")
	if len(r.messages) != 1 || !strings.HasPrefix(r.messages[0], "-:") || !strings.Contains(r.messages[0], ": not a number: ") || r.malformed != 3 {
		t.Errorf("%q", r.messages)
	}
	if s := r.Progress()[0]; s.Skipped != 3 || !s.Ended {
		t.Errorf("%+v", s)
	}
}

// A failing sink fails in one method, for windows only if all logs have not ended.
type failing struct {
	*run
	in  string
	err error
}

func (f *failing) fails(method string) error {
	if method == f.in {
		return f.err
	}
	return nil
}

func (f *failing) Window(w *Window) error {
	in := "window"
	if w.Late {
		in = "late"
	} else if w.Merged.Window.Start/1000-clitest.LiveStart > 3 {
		in = "last window"
	}
	return errors.Join(f.run.Window(w), f.fails(in))
}

func (f *failing) Flush() error                   { return errors.Join(f.run.Flush(), f.fails("flush")) }
func (f *failing) End() error                     { return f.fails("end") }
func (f *failing) Comment(string, []byte) error   { return f.fails("comment") }
func (f *failing) Kept(string, []byte)            {}
func (f *failing) Admit(string) error             { return nil }
func (f *failing) Factor([]byte) (float64, error) { return 1, f.fails("unit") }

func (f *failing) Skip(text string) error {
	return errors.Join(f.run.Skip(text), f.fails("malformed"))
}

// TestErrors ends a merger by an error of the sink, and an input by an error of its own.
func TestErrors(t *testing.T) {
	t.Parallel()
	base := fmt.Sprintf("#[BaseTime: %d]\n", clitest.LiveStart)
	read := func() io.Reader { // a part after another
		var log []io.Reader
		for _, second := range []int{0, 1, 3, 9, 1} {
			log = append(log, strings.NewReader(base+"#comment\n"+string(clitest.Line(t, second, 1000, 1, "x"))))
		}
		return io.MultiReader(append(log, strings.NewReader("malformed\n"))...)
	}
	line := clitest.Line(t, 0, 1000, 1, "x")
	for _, method := range []string{"", "window", "last window", "late", "flush", "end", "comment", "unit", "malformed"} {
		r := &failing{run: &run{t: t}, in: method}
		if method != "" {
			r.err = errors.New("failed")
		}
		r.Merger = merger(Options{Size: 1000, Units: r, Messages: r}, r)
		f := follow.New(follow.Options{})
		f.AddReader("-", read())
		err := r.Run(f)
		f.Close()
		if !errors.Is(err, r.err) {
			t.Errorf("%s: %v", method, err)
		}
		if method == "" && (r.malformed != 1 || len(r.windows) != 4 || len(r.late) != 1) {
			t.Errorf("%d malformed, %q, late %q: %q", r.malformed, r.windows, r.late, r.messages)
		}
	}

	s := start(t, Options{Size: 1000}, func(f *follow.Follower) {
		f.AddReader("broken", io.MultiReader(strings.NewReader(string(line)), broken{}))
	})
	s.end(nil)
	if len(s.windows) != 1 || len(s.messages) != 1 || s.messages[0] != "unread: broken: no such device; it is read no further" {
		t.Errorf("%q %q", s.windows, s.messages)
	}
}

// TestAllSilent: the last window is complete once all logs are silent.
func TestAllSilent(t *testing.T) {
	t.Parallel()
	a := clitest.NewLogWriter(t, filepath.Join(t.TempDir(), "a"), 0, "x")
	r := start(t, Options{Size: 1000, Idle: time.Millisecond}, func(f *follow.Follower) { f.AddFile(a.Path) })
	a.Second(0, 1000, 1)
	r.await("0 x 1")
}

// TestAhead: a line a day ahead is reported once, with its file and line, and moves no window.
func TestAhead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var logs []*clitest.LogWriter
	for _, name := range []string{"a", "b", "c"} {
		logs = append(logs, clitest.NewLogWriter(t, filepath.Join(dir, name), 0, "x"))
	}
	now := func() time.Time { return time.Unix(clitest.LiveStart+10, 0) }
	r := start(t, Options{Size: 1000, Idle: time.Hour, tuning: tuning{now: now}}, func(f *follow.Follower) {
		for _, w := range logs {
			f.AddFile(w.Path)
		}
	})
	far := int(7 * time.Hour / time.Second)
	logs[0].Second(far, 1000, 1)
	logs[0].Second(far+1, 1000, 1)
	for s := range 3 {
		for _, w := range logs {
			w.Second(s, 1000, 1)
		}
	}
	r.await("0 x 3", "1 x 3")
	clitest.Await(t, "the message", nil, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.messages) > 0
	})
	close(r.stop)
	r.end(nil)
	r.await("0 x 3", "1 x 3", "2 x 3")
	want := logs[0].Path + ":6: the interval lies 6h59m51s in the future: is the clock of the log right? It is kept until its time comes, and other logs do not wait less because of it"
	lost := "unread: 2 windows lie in the future, the first at 2023-11-15T05:13:21Z, and are not written: is a clock wrong?"
	if !slices.Equal(r.messages, []string{want, lost}) {
		t.Errorf("%q, want %q and %q", r.messages, want, lost)
	}
}

// TestCrowded: a log far in the future is read up to a bound. Others go on, and the end comes.
func TestCrowded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var logs []*clitest.LogWriter
	for _, name := range []string{"a", "b", "c"} {
		logs = append(logs, clitest.NewLogWriter(t, filepath.Join(dir, name), 0, "x"))
	}
	for s := range 4 * maxFuture {
		logs[0].Second(90_000+s, 1000, 1)
	}
	now := func() time.Time { return time.Unix(clitest.LiveStart+10, 0) }
	r := start(t, Options{Size: 1000, Idle: time.Hour, tuning: tuning{now: now, grace: time.Second}}, func(f *follow.Follower) {
		for _, w := range logs {
			f.AddFile(w.Path)
		}
	})
	clitest.Await(t, "the message", nil, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return slices.Contains(r.messages, fmt.Sprintf("%s: more than %d windows wait for the future; it is read on when some are complete", logs[0].Path, maxFuture))
	})
	for s := range 3 {
		logs[1].Second(s, 1000, 1)
		logs[2].Second(s, 1000, 1)
	}
	r.await("0 x 2", "1 x 2")
	close(r.stop)
	r.end(nil)
	if n := r.Seen(); n > maxFuture+1000 {
		t.Errorf("%d intervals were read", n)
	}
}

// TestStalled: time in which hdrlive did not look at the files, maybe since it got no processor,
// does not make an idle log late.
func TestStalled(t *testing.T) {
	t.Parallel()
	r := &run{t: t, stop: make(chan struct{}), ended: make(chan error, 1)}
	r.Merger = merger(Options{Size: 1000, Idle: time.Millisecond, Stop: r.stop, Messages: r}, r)
	idle := clitest.NewLogWriter(t, filepath.Join(t.TempDir(), "idle"), 0, "x")
	idle.Second(0, 1000, 1)
	later := time.Now().Add(time.Hour) // else it may have been idle before the start
	if err := os.Chtimes(idle.Path, later, later); err != nil {
		t.Fatal(err)
	}
	f := follow.New(follow.Options{Poll: time.Hour})
	defer f.Close()
	f.AddFile(idle.Path)
	text, log := io.Pipe()
	f.AddReader("-", text)
	go func() { r.ended <- r.Run(f) }()
	fmt.Fprintf(log, "#[BaseTime: %d]\n", clitest.LiveStart)
	for s := range 50 {
		log.Write(clitest.Line(t, s, 1000, 1, "x"))
		clitest.Await(t, "the line", nil, func() bool {
			states := r.Progress()
			return len(states) == 2 && states[0].Lines > 3 && states[1].Lines > int64(s)
		})
		time.Sleep(time.Millisecond)
	}
	r.mu.Lock()
	if len(r.windows) > 0 {
		t.Errorf("%q although nobody has looked at the idle log", r.windows)
	}
	r.mu.Unlock()
	log.Close()
	close(r.stop)
	r.end(nil)
}

// TestGone: logs that are gone for long leave no state behind, and the windows are those of all.
func TestGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	kept := clitest.NewLogWriter(t, filepath.Join(dir, "kept"), 0, "x")
	r := start(t, Options{Size: 1000, Idle: time.Hour}, func(f *follow.Follower) {
		f.AddFile(kept.Path)
		f.AddMatching(dir, func(name string) bool { return strings.HasPrefix(name, "pod") }, nil)
	}, time.Millisecond)
	for s := range 5 {
		pod := clitest.NewLogWriter(t, filepath.Join(dir, fmt.Sprint("pod", s)), 0, "x")
		pod.Second(s, 1000, 1)
		kept.Second(s, 1000, 1)
		clitest.Await(t, "the pod", nil, func() bool { return len(r.Progress()) == 2 && r.Progress()[1].End > 0 })
		os.Remove(pod.Path)
		clitest.Await(t, "the end of the pod", nil, func() bool { return len(r.Progress()) == 1 })
	}
	close(r.stop)
	r.end(nil)
	r.await("0 x 2", "1 x 2", "2 x 2", "3 x 2", "4 x 2")
	if len(r.inputs) != 1 || len(r.messages) != 0 {
		t.Errorf("%d are left: %q", len(r.inputs), r.messages)
	}
}

// TestRanges: the values of doubles of a tag must fit one histogram, those of all of them together.
func TestRanges(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	w := hdrlog.NewWriter(&log)
	w.BaseTime(clitest.LiveStart)
	for second, ratio := range []float64{0x1p-10, 0x1p-40, 0x1p10, 0x1p-10} {
		h, err := histogram.New(histogram.Layout{Digits: 2, Lowest: 1, Ratio: ratio})
		if err != nil {
			t.Fatal(err)
		}
		h.Record(1 << 20)
		if err := w.Interval([]byte("x"), float64(second), 1, h); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	r := start(t, Options{Size: 1000}, func(f *follow.Follower) { f.AddReader("log", strings.NewReader(log.String())) })
	r.end(nil)
	// 2^30 is 2^70 times as much as 2^-40, but not as 2^-10.
	if want := []string{"0 x 1", "1 x 1", "3 x 1"}; !slices.Equal(r.windows, want) || r.malformed != 1 {
		t.Errorf("%q, %d malformed, want %q", r.windows, r.malformed, want)
	}
}

// TestOwnTimes: a log whose name rotation can have made of another one has the times of its own
// comments, and those of the other one only if it has none.
func TestOwnTimes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := func(name, comment string, second int) {
		line := string(clitest.Line(t, second, 1000, 1, name))
		text := comment + line[strings.Index(line, "Tag="):]
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	base := func(second int) string { return fmt.Sprintf("#[BaseTime: %d]\n", clitest.LiveStart+second) }
	r := start(t, Options{Size: 1000, Idle: time.Millisecond, Second: hdrlog.SecondLength}, func(f *follow.Follower) {
		f.AddMatching(dir, func(string) bool { return true }, nil)
	})
	log("a.hdr", base(0), 1)
	r.await("1 a.hdr 1")
	log("a.hdr.1", base(10), 1)
	r.await("1 a.hdr 1", "11 a.hdr.1 1")
	log("a-2.hdr", "", 21)
	r.await("1 a.hdr 1", "11 a.hdr.1 1", "21 a-2.hdr 1")
}

// TestTag: an interval has the tag that the option Tag returns, before any is selected.
func TestTag(t *testing.T) {
	t.Parallel()
	only, err := tags.NewFilter([]string{"log::.*"}, []string{"log::y"})
	if err != nil {
		t.Fatal(err)
	}
	mapped := func(in *follow.Input) func([]byte) []byte {
		return func(own []byte) []byte { return []byte(in.Name() + "::" + string(own)) }
	}
	r := start(t, Options{Size: 1000, Tag: mapped, Tags: only}, func(f *follow.Follower) {
		f.AddReader("log", strings.NewReader(fmt.Sprintf("#[BaseTime: %d]\n", clitest.LiveStart)+string(clitest.Line(t, 0, 1000, 1, "x"))+string(clitest.Line(t, 1, 1000, 1, "y"))))
		f.AddReader("other", strings.NewReader(string(clitest.Line(t, 0, 1000, 1, "x"))))
	})
	r.end(nil)
	if want := "0 log::x 1"; len(r.windows) != 1 || r.windows[0] != want || r.Seen() != 3 {
		t.Errorf("%q of %d intervals, want %s", r.windows, r.Seen(), want)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("no such device") }

// TestAbort stops while a pipe is open, whose writer does not end.
func TestAbort(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	r := start(t, Options{Size: 1000}, func(f *follow.Follower) { f.AddReader("-", reader) })
	writer.Write(clitest.Line(t, 0, 1000, 1, "x"))
	clitest.Await(t, "the interval", nil, func() bool {
		states := r.Progress()
		return len(states) > 0 && states[0].Lines > 0
	})
	close(r.stop)
	r.end(nil)
	if len(r.windows) != 1 {
		t.Errorf("%q", r.windows)
	}
}

// TestComing: lines that were read are not behind a log until the merger has them, although the log
// is at its end.
func TestComing(t *testing.T) {
	t.Parallel()
	a := clitest.NewLogWriter(t, filepath.Join(t.TempDir(), "a"), 0, "x")
	a.Second(0, 1000, 1)
	m := merger(Options{Size: 1000}, &run{t: t})
	defer close(m.events.done)
	f := follow.New(follow.Options{})
	defer f.Close()
	source := f.AddFile(a.Path)
	f.Start(func(*follow.Input) {}, func(time.Time) {})
	m.join(source)
	clitest.Await(t, "the end of the log", nil, source.AtEnd)
	pace := m.inputs[0].pace
	if !pace.hasUnread() {
		t.Error("the log is at its end, and nobody has its interval")
	}
	m.events.handle()
	if pace.hasUnread() {
		t.Error("the log has data that were not read")
	}
}

// TestStopped stops while a pipe is open and a file is not read yet. The pipe has no time, but the
// file is read to its end.
func TestStopped(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	a := clitest.NewLogWriter(t, filepath.Join(t.TempDir(), "a"), 0, "x")
	const seconds = 2000
	for s := range seconds {
		a.Second(s, 1000, 1)
	}
	stop := make(chan struct{})
	close(stop)
	r := &run{t: t, stop: stop, ended: make(chan error, 1)}
	r.Merger = merger(Options{Size: 1000, Idle: time.Hour, Stop: stop, Messages: r, tuning: tuning{grace: 1}}, r)
	f := follow.New(follow.Options{})
	defer f.Close()
	f.AddFile(a.Path)
	f.AddReader("-", reader)
	if err := r.Run(f); err != nil || len(r.windows) != seconds || len(r.messages) > 0 {
		t.Errorf("%d windows of %d, %v, %q", len(r.windows), seconds, err, r.messages)
	}
}

// TestStoppedBeforeLook stops before a look has found the only log. It counts all the same.
func TestStoppedBeforeLook(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stop := make(chan struct{})
	r := &run{t: t, stop: stop, ended: make(chan error, 1)}
	r.Merger = merger(Options{Size: 1000, Stop: stop, Messages: r}, r)
	f := follow.New(follow.Options{Poll: time.Hour})
	defer f.Close()
	f.AddMatching(dir, func(string) bool { return true }, nil)
	clitest.NewLogWriter(t, filepath.Join(dir, "a"), 0, "x").Second(0, 1000, 1)
	close(stop)
	if err := r.Run(f); err != nil || len(r.windows) != 1 || len(r.messages) > 0 {
		t.Errorf("%q, %v, %q", r.windows, err, r.messages)
	}
}

// TestStoppedBehind stops with a state while much is unread: the merging ends before that is read,
// and the next one reads the rest. Each window comes once.
func TestStoppedBehind(t *testing.T) {
	t.Parallel()
	a := clitest.NewLogWriter(t, filepath.Join(t.TempDir(), "a"), 0, "x")
	const seconds = 5000
	for s := range seconds {
		a.Second(s, 1000, 1)
	}
	path := filepath.Join(t.TempDir(), "state")
	run := func(stop chan struct{}) *run {
		state, err := OpenState(path, 1000, new(int64))
		if err != nil {
			t.Fatal(err)
		}
		r := &run{t: t, stop: stop, ended: make(chan error, 1)}
		o := Options{Size: 1000, Idle: time.Millisecond, Stop: stop, Messages: r, State: state, tuning: tuning{grace: 1}}
		r.Merger = merger(o, r)
		r.fan.Outputs[0].When = CompleteOnly
		f := follow.New(follow.Options{Marks: state.Marks(), Continues: true, Poll: time.Millisecond})
		t.Cleanup(f.Close)
		f.AddFile(a.Path)
		if err := r.Load(f); err != nil {
			t.Fatal(err)
		}
		go func() {
			err := r.Run(f)
			state.Release()
			r.ended <- err
		}()
		return r
	}
	stopped := make(chan struct{})
	close(stopped)
	first := run(stopped)
	first.end(nil)
	if n := first.Seen(); n == seconds {
		t.Errorf("all %d intervals were read", n)
	}
	second := run(make(chan struct{}))
	want := seconds - len(first.windows)
	clitest.Await(t, "the other windows", nil, func() bool {
		second.mu.Lock()
		defer second.mu.Unlock()
		return second.flushed == want
	})
	close(second.stop)
	second.end(nil)
	all := append(first.windows, second.windows...)
	for n, window := range all {
		if window != fmt.Sprintf("%d x 1", n) {
			t.Fatalf("window %d is %q", n, window)
		}
	}
}

// TestStoppedAhead stops while more windows of the future are open than a clock reads ahead. The
// rest of the file is read all the same, and the merging ends.
func TestStoppedAhead(t *testing.T) {
	t.Parallel()
	a := clitest.NewLogWriter(t, filepath.Join(t.TempDir(), "a"), 0, "x")
	const seconds = 2000
	for s := range seconds {
		a.Second(s, 1000, 1)
	}
	stop := make(chan struct{})
	close(stop)
	r := &run{t: t, stop: stop, ended: make(chan error, 1)}
	now := func() time.Time { return time.Unix(clitest.LiveStart-86400, 0) }
	r.Merger = merger(Options{Size: 1000, Stop: stop, Messages: r, tuning: tuning{now: now, grace: 1}}, r)
	f := follow.New(follow.Options{})
	defer f.Close()
	f.AddFile(a.Path)
	if err := r.Run(f); err != nil || len(r.windows) != 0 || r.Seen() != seconds {
		t.Errorf("%d intervals of %d, %d windows, %v", r.Seen(), seconds, len(r.windows), err)
	}
}

// TestQuiet checks that messages of a kind come once a minute, with a count.
func TestQuiet(t *testing.T) {
	t.Parallel()
	var q throttle
	all := int64(0)
	begin := time.Unix(1e9, 0)
	for _, test := range []struct {
		after time.Duration
		want  string
	}{
		{0, "m"}, {time.Second, ""}, {59 * time.Second, ""}, {time.Minute, "m; 4 things so far"},
		{119 * time.Second, ""}, {121 * time.Second, "m; 6 things so far"},
	} {
		all++
		if got := q.text(begin.Add(test.after), "m", all, "things"); got != test.want {
			t.Errorf("after %v: %q, not %q", test.after, got, test.want)
		}
	}
}

// TestKinds: an interval that does not add up with those of its tag costs itself only, also if it
// lies in another window.
func TestKinds(t *testing.T) {
	t.Parallel()
	line := func(tag string, second int, ratio float64, value float64) string {
		h, err := histogram.New(histogram.Layout{Digits: 2, Lowest: 1, Ratio: ratio})
		if err != nil {
			t.Fatal(err)
		}
		if ratio == 0 {
			err = h.Record(int64(value))
		} else {
			err = h.RecordFloat(value)
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := new(histogram.Encoder).AppendBase64(nil, h)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%s%d.000,1.000,1.0,%s\n", tag, second, text)
	}
	want := []string{"0  1", "0 x 1", "1  1", "2 x 1", "2 y 1", "4 x 1"}
	a := clitest.NewLogWriter(t, filepath.Join(t.TempDir(), "a"), 0, "x")
	now := func() time.Time { return time.Unix(clitest.LiveStart+10, 0) } // a message a minute
	r := start(t, Options{Size: 1000, Idle: time.Hour, tuning: tuning{now: now}}, func(f *follow.Follower) { f.AddFile(a.Path) })
	a.Line(line("Tag=x,", 0, 0, 5))
	a.Line(line("", 0, 1, 5))
	a.Line(line("", 1, 0x1p-20, 7))
	a.Line(line("Tag=x,", 1, 1, 5)) // a double among integers
	a.Line(line("Tag=x,", 2, 0, 5))
	a.Line(line("Tag=y,", 2, 0x1p-40, 1))
	a.Line(line("Tag=y,", 3, 0x1p+40, 0x1p+40)) // too far from the one before
	a.Line(line("Tag=x,", 4, 0, 5))
	clitest.Await(t, "all lines", nil, func() bool {
		states := r.Progress()
		return len(states) > 0 && states[0].Lines >= 12
	})
	close(r.stop)
	r.end(nil)
	if !slices.Equal(r.windows, want) {
		t.Errorf("%q, want %q", r.windows, want)
	}
	if want := fmt.Sprintf("%s:8: payload: %v: the first interval of the tag is at %[1]s:5", a.Path, histogram.ErrKind); len(r.messages) != 1 || r.messages[0] != want || r.malformed != 2 {
		t.Errorf("%q, %d malformed lines", r.messages, r.malformed)
	}
}

// TestUnread: logs that cannot be read are reported again at the end.
func TestUnread(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := clitest.NewLogWriter(t, filepath.Join(dir, "a"), 0, "x")
	loop, missing, late := filepath.Join(dir, "loop"), filepath.Join(dir, "missing"), filepath.Join(dir, "late")
	if err := os.Symlink("loop", loop); err != nil {
		t.Skipf("skipped: there are no symbolic links: %v", err)
	}
	r := start(t, Options{Size: 1000, Idle: time.Millisecond}, func(f *follow.Follower) {
		for _, path := range []string{a.Path, loop, missing, late} {
			f.AddFile(path)
		}
	})
	b := clitest.NewLogWriter(t, late, 0, "x") // this one comes
	for s := range 2 {
		a.Second(s, 1000, 1)
		b.Second(s, 1000, 1)
	}
	clitest.Await(t, "both logs", nil, func() bool {
		states := r.Progress()
		return len(states) > 3 && states[0].End > 0 && states[3].End > 0
	})
	if states := r.Progress(); states[0].Unread != "" || !strings.HasPrefix(states[1].Unread, "stat ") || states[2].Unread != "was never there" {
		t.Errorf("%+v", states)
	}
	os.Remove(a.Path) // was read
	close(r.stop)
	r.end(nil)
	var unread []string
	for _, text := range r.messages {
		if text, ok := strings.CutPrefix(text, "unread: "); ok {
			unread = append(unread, text)
		}
	}
	if len(unread) != 2 || !strings.HasPrefix(unread[0], loop+": stat ") || unread[1] != missing+": was never there" {
		t.Errorf("%q", unread)
	}
}

// TestKindsCharged: what a merger remembers of tags is charged.
func TestKindsCharged(t *testing.T) {
	t.Parallel()
	m := New(Options{Size: 1000, Memory: ledger.New(1 << 20)}, nil)
	admit := func(format string, n int) {
		if err := m.kinds.admit("a.hdr", &interval{row: fmt.Appendf(nil, format, n), line: 1, sum: new(merge.Sum)}); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 10_000 {
		admit("tag%05d", n/2) // each twice
	}
	if err := m.delivery.openCharge.Set(m.delivery.openAccount, 1, 1); err != nil {
		t.Fatalf("5,000 tags: %v", err)
	}
	for n := range 10_000 {
		admit("%d", n)
	}
	if err := m.delivery.openCharge.Set(m.delivery.openAccount, 1, 2); err == nil || !strings.Contains(err.Error(), "15000 tags so far") {
		t.Errorf("15,000 tags in a MiB: %v", err)
	}
}

// A rated sink keeps what windows recorded.
type rated struct {
	*run
	all []string
}

func (r *rated) Window(w *Window) error {
	if string(w.Merged.Tag) == "own" {
		r.all = append(r.all, fmt.Sprintf("%s %+v", merged(w.Merged), w.Merged.Recorded))
	}
	return nil
}

// TestRanInAnyTag: a tag has the same rates whether other tags are chosen or not. A log runs from
// its first interval of any tag to its last one.
func TestRanInAnyTag(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	fmt.Fprintf(&log, "#[BaseTime: %d]\n", clitest.LiveStart)
	for second := range 12 {
		log.Write(clitest.Line(t, second, 1000, 1, "other"))
		if second == 2 || second == 5 || second == 6 {
			log.Write(clitest.Line(t, second, 1000, 2, "own"))
		}
	}
	rates := func(filter *tags.Filter) (all []string, period int64) {
		sink, whole := &rated{run: &run{t: t, stop: make(chan struct{})}}, merge.Rates{}
		f := follow.New(follow.Options{Poll: time.Millisecond, Rescan: time.Millisecond, Notice: func(_, text string) { sink.Notice(text) }})
		defer f.Close()
		f.AddReader("log", strings.NewReader(log.String()))
		if err := merger(Options{Size: 4000, Tags: filter, Whole: &whole, Stop: sink.stop, Messages: sink}, sink).Run(f); err != nil {
			t.Fatal(err)
		}
		return sink.all, whole.Period([]byte("own"), math.MaxInt64)
	}
	only, err := tags.NewFilter([]string{"own"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, period := rates(nil)
	if got, alone := rates(only); len(want) != 2 || !slices.Equal(got, want) || period != 12_000 || alone != period {
		t.Errorf("the tag alone has %q in %d ms, want %q in %d ms", got, alone, want, period)
	}
}

// moved sends how many values of other windows each window has recorded.
type moved chan string

func (m moved) Window(w *Window) error {
	m <- fmt.Sprintf("%s, late %t: %g", merged(w.Merged), w.Late, w.Merged.Recorded.Moved)
	return nil
}
func (moved) Flush() error { return nil }
func (moved) End() error   { return nil }

// TestLateRates: an interval that is late counts in the rates of the windows that it lies in and
// that are still open.
func TestLateRates(t *testing.T) {
	t.Parallel()
	reader, writer := io.Pipe()
	windows := make(moved, 100)
	f := follow.New(follow.Options{Poll: time.Millisecond, Rescan: time.Millisecond})
	defer f.Close()
	f.AddReader("log", reader)
	ended := make(chan error, 1)
	go func() {
		r := &run{t: t, stop: make(chan struct{})}
		ended <- merger(Options{Size: 1000, Idle: time.Hour, Second: hdrlog.SecondLength, Stop: r.stop, Messages: r}, windows).Run(f)
	}()
	line := func(second, length int) {
		text := string(clitest.Line(t, second, 1000, 80, "x"))
		text = text[strings.Index(text, "Tag="):]
		text = strings.Replace(text, ",1.000,", fmt.Sprintf(",%d.000,", length), 1)
		if _, err := io.WriteString(writer, text); err != nil {
			t.Error(err)
		}
	}
	fmt.Fprintf(writer, "#[BaseTime: %d]\n", clitest.LiveStart)
	for second := range 10 {
		line(second, 1)
	}
	for second := range 9 { // those before the last one are complete
		if got, want := <-windows, fmt.Sprintf("%d x 1, late false: 0", second); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	line(3, 8) // ten of its 80 values lie in each second
	line(10, 1)
	line(11, 1)
	writer.Close()
	for _, want := range []string{"7 x 1, late true: 0", "9 x 1, late false: 10", "10 x 1, late false: 10", "11 x 1, late false: 0"} {
		if got := <-windows; got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestIdleBefore: a log that was not written for long before the start holds back nothing once it
// was read.
func TestIdleBefore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	idle := clitest.NewLogWriter(t, filepath.Join(dir, "idle"), 0, "x")
	idle.Second(0, 1000, 1)
	before := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(idle.Path, before, before); err != nil {
		t.Fatal(err)
	}
	w := clitest.NewLogWriter(t, filepath.Join(dir, "log"), 0, "x")
	r := start(t, Options{Size: 1000, Idle: time.Hour}, func(f *follow.Follower) {
		f.AddFile(idle.Path)
		f.AddFile(w.Path)
	})
	for s := range 3 {
		w.Second(s, 1000, 1)
	}
	r.await("0 x 2", "1 x 1")
}
