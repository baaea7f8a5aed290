package live

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hdrkit/hdrlog/merge"
	"hdrkit/internal/clitest"
	"hdrkit/internal/follow"
	"hdrkit/internal/scan"
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

func (r *run) Window(m *merge.Merged) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.windows = append(r.windows, merged(m))
	return r.fail
}

func (r *run) Interval(m *merge.Merged, relative, length float64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.windows = append(r.windows, fmt.Sprintf("%.3f %.3f %s", relative, length, m.Tag))
	return r.fail
}

func (r *run) Late(m *merge.Merged) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.late = append(r.late, merged(m))
	return r.fail
}

func (r *run) Flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flushed = len(r.windows)
	return nil
}

func (r *run) Malformed(_ error, text string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.malformed++
	if text != "" {
		r.messages = append(r.messages, text)
	}
	return nil
}

func (r *run) Notice(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.messages = append(r.messages, text)
}

// start starts a merger of what add adds.
func start(t *testing.T, o Options, add func(f *follow.Follower)) *run {
	r := &run{t: t, stop: make(chan struct{}), ended: make(chan error, 1)}
	o.Stop = r.stop
	r.Merger = New(o, r)
	f := follow.New(follow.Options{Poll: time.Millisecond, Rescan: time.Millisecond, Notice: r.Merger.Notice, Waiting: r.Merger.Waiting})
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
	states := r.States()
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
	r.await("0 x 1", "1 x 1", "2 x 1", "3 x 1")
	for s := 5; !r.States()[1].Silent; s++ {
		a.Second(s, 1000, 1)
		time.Sleep(10 * time.Millisecond)
		if s > 5000 {
			t.Fatal("b is not silent")
		}
	}
	b.Second(0, 1000, 1)
	b.Second(1, 1000, 1)
	clitest.Await(t, "late intervals", nil, func() bool { return r.States()[1].Late == 2 })
	close(r.stop)
	r.end(nil)
	if !slices.Equal(r.late, []string{"0 x 1", "1 x 1"}) {
		t.Errorf("%q", r.late)
	}
	if len(r.messages) != 2 || !strings.Contains(r.messages[0], ": the interval came after its window was written") ||
		r.messages[1] != b.Path+": 1 more late interval since the last message" {
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
	if len(r.messages) != 2 || !strings.HasPrefix(r.messages[0], "-:") || !strings.Contains(r.messages[0], ": not a number: ") || r.messages[1] != "-: 2 more malformed lines since the last message" || r.malformed != 3 {
		t.Errorf("%q", r.messages)
	}
	if s := r.States()[0]; s.Skipped != 3 || !s.Ended {
		t.Errorf("%+v", s)
	}
}

// TestIntervals merges nothing.
func TestIntervals(t *testing.T) {
	t.Parallel()
	log := fmt.Sprintf("#[StartTime: %d]\n%s%s", clitest.LiveStart, clitest.Line(t, 3, 1000, 1, "x", "y"), clitest.Line(t, 4, 1000, 1, "x"))
	r := start(t, Options{Selection: scan.Selection{}}, func(f *follow.Follower) { f.AddReader("-", strings.NewReader(log)) })
	r.end(nil)
	r.await("3.000 1.000 x", "3.000 1.000 y", "4.000 1.000 x")
}

// TestErrors ends a merger by an error of the sink, and an input by an error of its own.
func TestErrors(t *testing.T) {
	t.Parallel()
	line := clitest.Line(t, 0, 1000, 1, "x")
	failed := errors.New("failed")
	r := &run{t: t, fail: failed}
	r.Merger = New(Options{Size: 1000}, r)
	f := follow.New(follow.Options{Waiting: r.Merger.Waiting})
	defer f.Close()
	f.AddReader("-", strings.NewReader(string(line)))
	if err := r.Run(f); err != failed {
		t.Error(err)
	}

	s := start(t, Options{Size: 1000}, func(f *follow.Follower) {
		f.AddReader("broken", io.MultiReader(strings.NewReader(string(line)), broken{}))
	})
	s.end(nil)
	if len(s.windows) != 1 || len(s.messages) != 1 || s.messages[0] != "broken: no such device; it is read no further" {
		t.Errorf("%q %q", s.windows, s.messages)
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
		states := r.States()
		return len(states) > 0 && states[0].Lines > 0
	})
	close(r.stop)
	r.end(nil)
	if len(r.windows) != 1 {
		t.Errorf("%q", r.windows)
	}
}

// TestQuiet checks that messages of a kind come once a minute, with a count.
func TestQuiet(t *testing.T) {
	t.Parallel()
	var q quiet
	begin := time.Unix(1e9, 0)
	for _, test := range []struct {
		after time.Duration
		want  string
	}{
		{0, "m"}, {time.Second, ""}, {59 * time.Second, ""}, {time.Minute, "m; 2 more things since the last message"},
		{119 * time.Second, ""}, {121 * time.Second, "m; 1 more thing since the last message"}, {10 * time.Minute, "m"},
	} {
		if got := q.text(begin.Add(test.after), "m", "thing"); got != test.want {
			t.Errorf("after %v: %q, not %q", test.after, got, test.want)
		}
	}
}
