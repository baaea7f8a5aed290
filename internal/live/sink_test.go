package live

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/clitest"
	"hdrkit/internal/live/follow"
)

// TestHeldCharged: windows that wait for a state are charged, and take less memory than open ones.
func TestHeldCharged(t *testing.T) {
	t.Parallel()
	memory := ledger.New(1 << 20)
	sink := new(run)
	fan := &Fan{
		Outputs: []Output{{Key: "test", Sink: sink, When: AfterSave}},
		keeps:   true,
		account: memory.Open("windows that wait", "wait"),
	}
	others := memory.Open("others", "")
	windows := merge.NewWindows(1000)
	h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Record(1_000_000); err != nil {
		t.Fatal(err)
	}
	const most = 10_000
	payload, err := new(histogram.Encoder).AppendBase64(nil, h)
	if err != nil {
		t.Fatal(err)
	}
	for n := range most {
		interval := hdrlog.Interval{Tag: fmt.Append(nil, n), Length: 1, Payload: payload}
		if err := windows.Add(&interval); err != nil {
			t.Fatal(err)
		}
	}
	open := windows.Bytes()
	var full error
	for merged := range windows.All() {
		if err := fan.window(&Window{Merged: merged, Factor: 1}); err != nil {
			full = err
		}
	}
	if size := fan.heldBytes.Bytes(); size > open {
		t.Errorf("windows that wait take %d bytes, and open ones %d", size, open)
	}
	var limit *ledger.LimitError
	if !errors.As(full, &limit) {
		t.Errorf("%d windows wait in a MiB: %v", most, full)
	}
	if err := fan.giveHeld(); err != nil {
		t.Fatal(err)
	}
	if err := others.Add(1, 1); err != nil {
		t.Errorf("after all were given: %v", err)
	}
	if len(sink.windows) != most || fan.heldBytes.Bytes() != 0 {
		t.Errorf("%d windows were given, and %d bytes are left", len(sink.windows), fan.heldBytes.Bytes())
	}
}

// TestHeldSoon: however much there is to read, held outputs are only a batch of lines behind the
// others if a state is due after each one. So the time between two states ([saver.due]) limits the
// age of what scrapes show.
func TestHeldSoon(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	log := clitest.NewLogWriter(t, filepath.Join(folder, "log"), 0, "x")
	const windows = 2000
	for n := range windows {
		log.Second(n, 1000, 1)
	}
	state, err := OpenState(filepath.Join(folder, "state"), 1000, new(int64))
	if err != nil {
		t.Fatal(err)
	}
	defer state.Release()
	stop := make(chan struct{})
	close(stop) // the merging ends after what is there
	held := &run{t: t}
	others := &lead{run: run{t: t}, behind: held}
	m := merger(Options{Size: 1000, State: state, Stop: stop, Messages: held, tuning: tuning{maxSavePause: 1}}, others)
	m.fan.Outputs = append(m.fan.Outputs, Output{Key: "held", Sink: held, When: AfterSave})
	f := follow.New(follow.Options{Continues: true, Notice: m.Notice})
	defer f.Close()
	f.AddFile(log.Path)
	if err := errors.Join(m.Load(f), m.Run(f)); err != nil {
		t.Fatal(err)
	}
	if len(held.windows) < windows-1 || others.most > windows/5 {
		t.Errorf("%d windows; the held output was %d behind", len(held.windows), others.most)
	}
}

// TestHeldWithoutState: if a save fails for another reason than a full disk, held outputs get no
// windows, since no state covers them.
func TestHeldWithoutState(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	log := clitest.NewLogWriter(t, filepath.Join(folder, "log"), 0, "x")
	for n := range 10 {
		log.Second(n, 1000, 1)
	}
	states := filepath.Join(folder, "states")
	if err := os.Mkdir(states, 0o777); err != nil {
		t.Fatal(err)
	}
	state, err := OpenState(filepath.Join(states, "state"), 1000, new(int64))
	if err != nil {
		t.Fatal(err)
	}
	defer state.Release()
	stop := make(chan struct{})
	close(stop) // the merging ends after what is there
	held := &run{t: t}
	m := merger(Options{Size: 1000, State: state, Stop: stop, Messages: held}, &remover{run: run{t: t}, folder: states})
	m.fan.Outputs = append(m.fan.Outputs, Output{Key: "held", Sink: held, When: AfterSave})
	f := follow.New(follow.Options{Continues: true, Notice: m.Notice})
	defer f.Close()
	f.AddFile(log.Path)
	if err := errors.Join(m.Load(f), m.Run(f)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ends with %v", err)
	}
	if len(held.windows) > 0 {
		t.Errorf("the held output has %q", held.windows)
	}
}

// A remover is a sink that removes a folder when it gets a window.
type remover struct {
	run
	folder string
}

func (r *remover) Window(w *Window) error {
	return errors.Join(os.RemoveAll(r.folder), r.run.Window(w))
}

// A lead is a sink that knows by how many windows it was ahead of another one.
type lead struct {
	run
	behind *run
	most   int
}

func (l *lead) Window(w *Window) error {
	err := l.run.Window(w)
	l.most = max(l.most, len(l.windows)-len(l.behind.windows))
	return err
}
