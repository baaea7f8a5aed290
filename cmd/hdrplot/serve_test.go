package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/chart/page/pagetest"
	"hdrkit/internal/clitest"
)

// A served is a hdrlive that serves a page.
type served struct {
	*exec.Cmd
	address string
	errors  *bytes.Buffer
	rest    sync.WaitGroup // reads what comes after the address
}

// serveAt starts hdrlive -serve.
func serveAt(t *testing.T, hdrlive string, args ...string) *served {
	t.Helper()
	return serveCommand(t, exec.Command(hdrlive, args...), nil)
}

func serveCommand(t *testing.T, command *exec.Cmd, input *os.File) *served {
	t.Helper()
	s := &served{Cmd: command, errors: &bytes.Buffer{}}
	if input != nil {
		s.Stdin = input
	}
	out, err := s.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	for messages := bufio.NewReader(out); s.address == ""; {
		line, err := messages.ReadString('\n')
		if err != nil {
			t.Fatalf("%v\n%s", err, s.errors)
		}
		if strings.HasPrefix(line, "http") {
			s.address = strings.TrimSpace(line)
			s.rest.Go(func() { io.Copy(s.errors, messages) })
		} else {
			s.errors.WriteString(line)
		}
	}
	return s
}

// await reads the live page as a viewer does, until it holds. A viewer whose connection ends gets
// the page anew.
func (s *served) await(t *testing.T, what string, holds func(*pagetest.Page) bool) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), clitest.Patience)
	defer stop()
	p := &pagetest.Page{}
	for !s.view(ctx, t, p, holds) {
		if ctx.Err() != nil {
			t.Fatalf("%s: not after %v: %+v", what, clitest.Patience, p)
		}
	}
}

// view reads a page from one connection. It returns false if that ends before the page holds.
func (s *served) view(ctx context.Context, t *testing.T, p *pagetest.Page, holds func(*pagetest.Page) bool) bool {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address+"events", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	kind := ""
	for events := bufio.NewReader(response.Body); ; {
		line, err := events.ReadBytes('\n')
		if err != nil {
			return false // the end may cut a line
		}
		if name, ok := bytes.CutPrefix(line, []byte("event: ")); ok {
			kind = string(bytes.TrimSpace(name))
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		switch {
		case !ok:
		case kind == "all":
			*p = *readPage(t, slices.Concat([]byte(`<script id="data" type="application/json">`), data, []byte("</script>")))
		case kind == "rows":
			var update struct{ Rows string }
			if err := json.Unmarshal(data, &update); err != nil {
				t.Fatal(err)
			}
			p.Extend(t, update.Rows)
		}
		if ok && holds(p) {
			return true
		}
	}
}

// stop interrupts the command and waits for its end.
func (s *served) stop() {
	if s.ProcessState == nil {
		s.Process.Signal(os.Interrupt)
		s.rest.Wait()
		s.Wait()
	}
}

// stopWell stops it. It must succeed without a message.
func (s *served) stopWell(t *testing.T) {
	t.Helper()
	s.stop()
	if code := s.ProcessState.ExitCode(); code != 0 || s.errors.Len() > 0 {
		t.Errorf("status %d, %s", code, s.errors)
	}
}

// A writer writes a log, an interval at a time.
type writer struct {
	t    *testing.T
	file *os.File
	log  *hdrlog.Writer
}

const liveStart = 1468800000

func newWriter(t *testing.T, path string) *writer {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	w := &writer{t, file, hdrlog.NewWriter(file)}
	w.log.Comment("#UNITS:NANOSECONDS")
	w.log.Version()
	w.log.BaseTime(liveStart)
	w.log.StartTime(liveStart)
	w.log.Legend()
	return w
}

// second writes the interval that starts so many seconds after the start, with values around a
// value.
func (w *writer) second(second int, value int64) {
	w.t.Helper()
	h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range int64(50) {
		h.Record(value + i*value/50)
	}
	if err := w.log.Interval([]byte("read"), float64(second), 1, h); err != nil {
		w.t.Fatal(err)
	}
	if err := w.log.Flush(); err != nil {
		w.t.Fatal(err)
	}
}

// TestServeName: a page of this machine has no other name.
func TestServeName(t *testing.T) {
	t.Parallel()
	clitest.RequireTools(t)
	server := serveAt(t, clitest.Build(t, "hdrlive"), "-serve", "127.0.0.1:0", "-if", filepath.Join(clitest.Root(), "testdata/logs/node1.hdr"))
	rebound, err := http.NewRequest(http.MethodGet, server.address, nil)
	if err != nil {
		t.Fatal(err)
	}
	rebound.Host = "evil.example"
	if response, err := http.DefaultClient.Do(rebound); err != nil || response.StatusCode != http.StatusForbidden {
		t.Errorf("%v, the page has another name: %v", err, response)
	}
	server.stopWell(t)
}

// TestServeAll serves a page at all addresses, and says so.
func TestServeAll(t *testing.T) {
	t.Parallel()
	clitest.RequireTools(t)
	server := serveAt(t, clitest.Build(t, "hdrlive"), "-serve", ":0", "-open", "-if", filepath.Join(clitest.Root(), "testdata/logs/node1.hdr"))
	server.stop()
	if !strings.HasPrefix(server.address, "http://[::]:") || !strings.Contains(server.errors.String(), "everybody who reaches this machine") {
		t.Errorf("%s, %s", server.address, server.errors)
	}
}

// TestViewers opens 100 viewers. One of them reads nothing. The others and the page get everything.
func TestViewers(t *testing.T) {
	t.Parallel()
	clitest.RequireTools(t)
	dir := t.TempDir()
	w := newWriter(t, filepath.Join(dir, "a.hdr"))
	server := serveAt(t, clitest.Build(t, "hdrlive"), "-serve", "127.0.0.1:0", "-ip", dir, "-if", "a.hdr", "-unit", "ms")
	host := strings.TrimSuffix(strings.TrimPrefix(server.address, "http://"), "/")
	idle, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	fmt.Fprintf(idle, "GET /events HTTP/1.1\r\nHost: %s\r\n\r\n", host)

	var all sync.WaitGroup
	const viewers, seconds = 99, 300
	for range viewers {
		response, err := http.Get(server.address + "events")
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			defer response.Body.Close()
			highest := 0.0
			lines := bufio.NewReaderSize(response.Body, 1<<20)
			for highest < 1000*(seconds-2) {
				line, err := lines.ReadString('\n')
				if err != nil {
					t.Errorf("a viewer ends at %v ms: %v", highest, err)
					return
				}
				if _, rest, ok := strings.Cut(line, `"to":`); ok {
					var to float64
					fmt.Sscanf(rest, "%f", &to)
					highest = math.Max(highest, to)
				}
			}
		})
	}
	for s := range seconds {
		w.second(s, 1e6)
	}
	all.Wait()
}

// TestServeStatus asks a page that goes on how it does.
func TestServeStatus(t *testing.T) {
	t.Parallel()
	clitest.RequireTools(t)
	w := newWriter(t, filepath.Join(t.TempDir(), "a.hdr"))
	server := serveAt(t, clitest.Build(t, "hdrlive"), "-serve", "127.0.0.1:0", w.file.Name())
	for s := range 3 {
		w.second(s, 1e6)
	}
	for path, want := range map[string]string{"healthz": "healthy", "readyz": "ready", "metrics": "\nhdrkit_window_age_seconds "} {
		clitest.Await(t, path, nil, func() bool {
			return strings.Contains(clitest.Fetch(server.address+path), want)
		})
	}
	server.stopWell(t)
}

// TestServeUnits follows logs in microseconds and in nanoseconds, and shows both in milliseconds.
func TestServeUnits(t *testing.T) {
	t.Parallel()
	clitest.RequireTools(t)
	dialects := filepath.Join(clitest.Root(), "testdata/dialects")
	server := serveAt(t, clitest.Build(t, "hdrlive"), "-idle", "100ms", "-serve", "127.0.0.1:0", "-unit", "ms",
		filepath.Join(dialects, "ycsb-read.hdr"), filepath.Join(dialects, "cassandra-stress.hdr"))
	server.await(t, "the highest values of both logs", func(p *pagetest.Page) bool {
		highest := map[string]float64{}
		for n, s := range p.Series {
			for _, w := range p.Windows[n] {
				highest[s.Label] = max(highest[s.Label], w.Max)
			}
		}
		return highest["READ"] == 2.451 && highest["insert-rt"] > 1 && highest["insert-rt"] < 10
	})
}
