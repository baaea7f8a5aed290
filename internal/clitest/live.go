package clitest

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
)

// Patience is how long a test waits for a condition before it fails. A loaded machine may need much
// of it.
const Patience = 2 * time.Minute

// Await waits until holds returns true. If the test gives up, it prints what and the text of
// describe, which may be nil.
func Await(t testing.TB, what string, describe func() string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			text := ""
			if describe != nil {
				text = ":\n" + describe()
			}
			t.Fatalf("%s: not after %v%s", what, Patience, text)
		}
	}
}

// A LogWriter writes a log line by line, as a load generator does.
type LogWriter struct {
	t testing.TB
	// Path is the path of the file. All is the text of all files that were written at this path.
	Path string
	All  bytes.Buffer
	// Skew is how far the clock of the writing machine is ahead, in seconds. Tags are the tags of
	// each interval.
	Skew float64
	Tags []string
	file *os.File
}

// LiveStart is the start of the logs of a [LogWriter], in seconds since the epoch.
const LiveStart = 1_700_000_000

// NewLogWriter returns a writer, and writes the header of its log.
func NewLogWriter(t testing.TB, path string, skew float64, tags ...string) *LogWriter {
	w := &LogWriter{t: t, Path: path, Skew: skew, Tags: tags}
	w.Begin()
	return w
}

// Begin replaces the file by a new one, and writes its header.
func (w *LogWriter) Begin() {
	w.t.Helper()
	if w.file != nil {
		w.file.Close()
	}
	file, err := os.Create(w.Path)
	if err != nil {
		w.t.Fatal(err)
	}
	w.file = file
	w.t.Cleanup(func() { file.Close() })
	var head bytes.Buffer
	log := hdrlog.NewWriter(&head)
	log.Comment("[Histogram log format version 1.3]")
	log.BaseTime(LiveStart + w.Skew)
	log.StartTime(LiveStart + w.Skew)
	log.Legend()
	log.Flush()
	w.write(head.Bytes())
}

// Rotate renames the file, and begins a new one at the old path.
func (w *LogWriter) Rotate(to string) {
	w.t.Helper()
	if err := os.Rename(w.Path, to); err != nil {
		w.t.Fatal(err)
	}
	w.Begin()
}

// Second writes one interval for each tag. The intervals start at a second after LiveStart. count
// and value are as in [Values].
func (w *LogWriter) Second(second int, value, count int64) {
	w.t.Helper()
	w.write(Line(w.t, second, value, count, w.Tags...))
}

// Line writes text to the log unchanged.
func (w *LogWriter) Line(text string) {
	w.t.Helper()
	w.write([]byte(text))
}

// Line returns the lines of a second, one interval for each tag. count and value are as in
// [Values].
func Line(t testing.TB, second int, value, count int64, tags ...string) []byte {
	t.Helper()
	h := Values(t, value, count)
	var text bytes.Buffer
	log := hdrlog.NewWriter(&text)
	for _, tag := range tags {
		if err := log.Interval([]byte(tag), float64(second), 1, h); err != nil {
			t.Fatal(err)
		}
	}
	log.Flush()
	return text.Bytes()
}

// Values returns a histogram of count values. Half of them are value, and the others are up to four
// times as high.
func Values(t testing.TB, value, count int64) *histogram.Histogram {
	t.Helper()
	h, err := histogram.New(histogram.Layout{Digits: 3})
	if err != nil {
		t.Fatal(err)
	}
	for n := range count {
		v := float64(value) * math.Pow(4, max(0, 2*float64(n)/float64(count)-1))
		if err := h.Record(int64(v)); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// write writes text in two pieces, so that a reader may find half a line.
func (w *LogWriter) write(text []byte) {
	w.t.Helper()
	w.All.Write(text)
	for _, half := range [][]byte{text[:len(text)/2], text[len(text)/2:]} {
		if _, err := w.file.Write(half); err != nil {
			w.t.Fatal(err)
		}
	}
}

// A Process is a command that a test has started.
type Process struct {
	t      testing.TB
	cmd    *exec.Cmd
	stdout buffer
	stderr buffer
	done   chan struct{}
}

// A buffer is a [bytes.Buffer] that can be read while a command writes to it.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Start starts a command by the name that [Main] or [Command] gave it. The command is killed when
// the test ends.
func Start(t testing.TB, stdin io.Reader, name string, args ...string) *Process {
	t.Helper()
	p := &Process{t: t, cmd: exec.Command(name, args...), done: make(chan struct{})}
	p.cmd.Stdin = stdin
	p.cmd.Stdout = &p.stdout
	p.cmd.Stderr = &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		p.cmd.Wait()
	}()
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		<-p.done
	})
	return p
}

// Stdout returns the text on standard output so far.
func (p *Process) Stdout() string { return p.stdout.String() }

// Stderr returns the text on standard error so far.
func (p *Process) Stderr() string { return p.stderr.String() }

var served = regexp.MustCompile(`(?m)^https?://(\S+)/$`)

// Serves waits until the process prints the address of its page, and returns the address. Tests use
// port 0, since another process could take any chosen port.
func (p *Process) Serves() string {
	p.t.Helper()
	p.Await("an address", func() bool { return served.MatchString(p.Stderr()) })
	return served.FindStringSubmatch(p.Stderr())[1]
}

// Await is [Await] for a condition that must hold before the process ends.
func (p *Process) Await(what string, holds func() bool) {
	p.t.Helper()
	Await(p.t, what, func() string { return fmt.Sprintf("%.5000s\n%.5000s", p.Stdout(), p.Stderr()) }, func() bool {
		select {
		case <-p.done:
			if !holds() {
				p.t.Fatalf("%s: %s has ended: %s", what, p.cmd, p.Stderr())
			}
		default:
		}
		return holds()
	})
}

func (p *Process) Signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// Insist sends a signal again and again until the process ends, and checks its exit status.
func (p *Process) Insist(s os.Signal, status int) {
	p.t.Helper()
	Await(p.t, "the end after many signals", p.Stderr, func() bool {
		p.cmd.Process.Signal(s)
		select {
		case <-p.done:
			return true
		case <-time.After(100 * time.Millisecond):
			return false
		}
	})
	p.Ends(status)
}

// Interrupt sends a signal once, waits for the end of the process, and checks its exit status.
func (p *Process) Interrupt(s os.Signal, status int) {
	p.t.Helper()
	p.Signal(s)
	p.Ends(status)
}

// Ended reports whether the process has ended.
func (p *Process) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Ends waits for the end of the process, and checks its exit status.
func (p *Process) Ends(status int) {
	p.t.Helper()
	Await(p.t, "the end of "+strings.Join(p.cmd.Args, " "), p.Stderr, func() bool {
		select {
		case <-p.done:
			return true
		default:
			return false
		}
	})
	if got := p.cmd.ProcessState.ExitCode(); got != status {
		p.t.Fatalf("exit status %d, not %d: %s", got, status, p.Stderr())
	}
}

// Interrupts are the signals that a command which follows logs must handle.
var Interrupts = []os.Signal{os.Interrupt, syscall.SIGTERM}

// Writers returns writers of three logs in a folder, from machines whose clocks differ, and writes
// their first seconds.
func Writers(t *testing.T, dir string, seconds int) []*LogWriter {
	t.Helper()
	var all []*LogWriter
	for n := range 3 {
		all = append(all, NewLogWriter(t, fmt.Sprintf("%s/node%d.hdr", dir, n), 0.2*float64(n), "insert-rt", "insert-wt"))
	}
	WriteSeconds(all, 0, seconds)
	return all
}

// WriteSeconds writes the seconds from from to to-1, each to all logs in turn.
func WriteSeconds(all []*LogWriter, from, to int) {
	for s := from; s < to; s++ {
		for n, w := range all {
			w.Second(s, int64(1e6*(n+1)+1e4*s), 100)
		}
	}
}

// KeepWriting writes a second of all logs each 100 ms until the test ends.
func KeepWriting(t *testing.T, all []*LogWriter, from int) {
	done, ended := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() {
		close(done)
		<-ended
	})
	go func() {
		defer close(ended)
		for s := from; ; s++ {
			select {
			case <-done:
				return
			case <-time.After(100 * time.Millisecond):
				WriteSeconds(all, s, s+1)
			}
		}
	}()
}

// Fetch returns the body at a URL, empty if no server answers.
func Fetch(url string) string {
	response, err := http.Get(url)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return string(body)
}

// A Receiver is an HTTP server that keeps the bodies of requests that it accepts.
type Receiver struct {
	*httptest.Server
	mu       sync.Mutex
	requests int
	taken    strings.Builder
}

// Receive starts a receiver. answer returns the status of the nth request.
func Receive(t *testing.T, answer func(n int) int) *Receiver {
	return ReceiveFrom(t, func(n int, _ string) int { return answer(n) })
}

// ReceiveFrom starts a receiver. answer returns the status of the nth request by its header
// Authorization.
func ReceiveFrom(t *testing.T, answer func(n int, authorization string) int) *Receiver {
	r := &Receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return // the sender was killed
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.requests++
		status := answer(r.requests, request.Header.Get("Authorization"))
		if status/100 == 2 {
			r.taken.Write(body)
		}
		http.Error(w, "no "+request.Header.Get("Authorization"), status)
	}))
	t.Cleanup(r.Close)
	return r
}

// Text returns the bodies of all accepted requests so far.
func (r *Receiver) Text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.taken.String()
}

// Address returns a local address that nothing listens at until the test ends. The system and other
// tests do not use it meanwhile: the system chooses ports above the range of Address, and tests
// reserve theirs.
func Address(t testing.TB) string {
	t.Helper()
	for {
		address := fmt.Sprint("127.0.0.1:", 10_000+rand.IntN(20_000))
		taken, err := net.ListenPacket("udp", address) // reserves the number among tests, since UDP has ports of its own
		if err != nil {
			continue
		}
		l, err := net.Listen("tcp", address)
		if err != nil {
			taken.Close()
			continue
		}
		l.Close()
		t.Cleanup(func() { taken.Close() })
		return address
	}
}

// built are the commands that [Build] has built, by name. binaries returns their folder.
var (
	built    sync.Map
	binaries = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "hdrkit-commands") })
)

// Build builds another command of the repository and returns its path. It builds each command once
// for all tests of a package, whose tests [Main] must run.
func Build(t testing.TB, name string) string {
	t.Helper()
	build, _ := built.LoadOrStore(name, sync.OnceValues(func() (string, error) {
		folder, err := binaries()
		if err != nil {
			return "", err
		}
		path := filepath.Join(folder, name)
		// Linking takes a third of the time without the facts for debuggers and of the commit.
		if out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-w", "-o", path,
			filepath.Join(Root(), "cmd", name)).CombinedOutput(); err != nil {
			return "", fmt.Errorf("go build: %w\n%s", err, out)
		}
		return path, nil
	}))
	path, err := build.(func() (string, error))()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// removeBuilt removes the commands that [Build] has built.
func removeBuilt() {
	built.Range(func(any, any) bool {
		if folder, err := binaries(); err == nil {
			os.RemoveAll(folder)
		}
		return false
	})
}
