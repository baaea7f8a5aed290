package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/page"
	"hdrkit/internal/clitest"
)

func init() { writeTime = time.Hour }

// pipes is a listener in memory. A connection holds no byte that its reader did not ask for, so
// that a reader that reads nothing blocks its writer at once.
type pipes struct {
	connections chan net.Conn
	closed      chan struct{}
	once        sync.Once
}

func newPipes() *pipes { return &pipes{connections: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.connections:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.connections <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// start starts a server and returns how to get what it has at a path.
func start(t *testing.T, s *Server) (get func(path string) *http.Response, stop func()) {
	t.Helper()
	listener := newPipes()
	stop = sync.OnceFunc(s.Start(func(handler http.Handler) func() {
		server := &http.Server{Handler: handler}
		go server.Serve(listener)
		return func() { server.Shutdown(context.Background()) }
	}))
	t.Cleanup(stop)
	client := &http.Client{Transport: &http.Transport{DialContext: listener.dial}}
	return func(path string) *http.Response {
		response, err := client.Get("http://server" + path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { response.Body.Close() })
		return response
	}, stop
}

// dataOf returns data that the test recognizes.
func dataOf(title string) *page.Data {
	return &page.Data{Picture: page.Picture{Looks: chart.Looks{Title: title}}, Live: true, Rows: &page.Rows{}}
}

func updateOf(to int64) *page.Update { return &page.Update{To: to, Rows: &page.Rows{}} }

// A stream reads events.
type stream struct {
	t    *testing.T
	body *bufio.Reader
}

func open(t *testing.T, response *http.Response) *stream {
	return &stream{t, bufio.NewReader(response.Body)}
}

// next returns the next event: the title of all data, or the end of an update.
func (s *stream) next() string {
	for kind := ""; ; {
		line, err := s.body.ReadString('\n')
		if err != nil {
			return err.Error()
		}
		line = strings.TrimSuffix(line, "\n")
		if of, ok := strings.CutPrefix(line, "event: "); ok {
			kind = of
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok || kind == "alive" {
			continue
		}
		var event struct {
			Title string
			To    int64
		}
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			s.t.Error(err)
		}
		if kind == "all" {
			return event.Title
		}
		return fmt.Sprint(event.To)
	}
}

func (s *stream) want(events ...string) {
	s.t.Helper()
	for _, want := range events {
		if got := s.next(); got != want {
			s.t.Fatalf("event %s, want %s", got, want)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func update(t *testing.T, s *Server, to int64) (many bool) {
	t.Helper()
	many, err := s.Update(updateOf(to))
	must(t, err)
	return many
}

// TestPage reads the page, and its headers.
func TestPage(t *testing.T) {
	t.Parallel()
	s := Server{Status: http.NotFoundHandler()}
	must(t, s.Show(dataOf("a title")))
	get, _ := start(t, &s)
	response := get("/")
	body, err := io.ReadAll(response.Body)
	must(t, err)
	if !strings.Contains(string(body), "<title>a title</title>") {
		t.Errorf("page %.200s", body)
	}
	policy := response.Header.Get("Content-Security-Policy")
	for part, want := range map[string]bool{
		"default-src 'none'": true, "frame-ancestors 'none'": true, "base-uri 'none'": true, "form-action 'none'": true,
		"script-src 'sha256-": true, "style-src 'sha256-": true, "connect-src 'self'": true, "unsafe": false, "*": false, "http": false,
	} {
		if strings.Contains(policy, part) != want {
			t.Errorf("policy %q: %q is in it: %v", policy, part, !want)
		}
	}
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		"Cross-Origin-Resource-Policy": "same-origin", "Access-Control-Allow-Origin": "",
	} {
		if got := response.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	status := get("/metrics").Header
	for _, name := range []string{"X-Content-Type-Options", "Cache-Control", "Cross-Origin-Resource-Policy"} {
		if got, want := status.Get(name), response.Header.Get(name); got != want {
			t.Errorf("/metrics: %s: %q, want %q", name, got, want)
		}
	}
	if got := get("/nosuch").StatusCode; got != http.StatusNotFound {
		t.Errorf("status %d of a page that is not there", got)
	}
}

// TestPast gives a new viewer the past, and then what comes.
func TestPast(t *testing.T) {
	t.Parallel()
	var s Server
	must(t, s.Show(dataOf("")))
	get, stop := start(t, &s)
	early := open(t, get("/events"))
	must(t, s.All(dataOf("one"), true))
	early.want("one")
	update(t, &s, 1)
	update(t, &s, 2)
	late := open(t, get("/events"))
	late.want("one", "1", "2")
	update(t, &s, 3)
	late.want("3")
	early.want("1", "2", "3")

	// Those that have everything get nothing.
	must(t, s.All(dataOf("three"), false))
	update(t, &s, 4)
	late.want("4")
	early.want("4")
	open(t, get("/events")).want("three", "4")

	must(t, s.All(dataOf("two"), true))
	early.want("two")
	late.want("two")
	update(t, &s, 5)
	go stop() // which sends what is not sent yet
	early.want("5", "EOF")
	late.want("5", "EOF")
}

// TestBehind resyncs a viewer that did not read while the server went on.
func TestBehind(t *testing.T) {
	t.Parallel()
	var s Server
	must(t, s.Show(dataOf("")))
	must(t, s.All(dataOf("one"), true))
	get, _ := start(t, &s)
	v := open(t, get("/events"))
	v.want("one")
	update(t, &s, 1) // the server may be writing this one
	update(t, &s, 2)
	must(t, s.All(dataOf("one and more"), false))
	update(t, &s, 3)
	must(t, s.All(dataOf("two"), true))
	update(t, &s, 4)
	for got := v.next(); got != "two"; got = v.next() {
		if got == "4" {
			t.Fatal("an update of data that the viewer does not have")
		}
	}
	v.want("4")
}

// TestViewers opens 100 viewers, of which one reads nothing and one is gone. Neither holds up the
// others or the server, whose memory has a bound.
func TestViewers(t *testing.T) {
	t.Parallel()
	var s Server
	must(t, s.Show(dataOf("")))
	must(t, s.All(dataOf("one"), true))
	get, _ := start(t, &s)
	get("/events") // reads nothing
	get("/events").Body.Close()
	const viewers, updates = 98, 1000
	var all sync.WaitGroup
	for range viewers {
		v := open(t, get("/events"))
		all.Go(func() {
			for last := ""; last != fmt.Sprint(updates); {
				if last = v.next(); last == io.EOF.Error() {
					t.Error("a viewer was disconnected")
					return
				}
			}
		})
	}
	for to := range int64(updates) {
		if update(t, &s, to+1) {
			must(t, s.All(dataOf(fmt.Sprint(to+1)), false))
		}
		if len(s.backlog) > maxEvents+1 {
			t.Fatalf("%d events are kept", len(s.backlog))
		}
	}
	all.Wait()
}

// TestMostViewers opens as many viewers as there may be. The next one may come when one has gone.
func TestMostViewers(t *testing.T) {
	t.Parallel()
	var s Server
	must(t, s.Show(dataOf("")))
	get, _ := start(t, &s)
	var viewers []*http.Response
	for range maxViewers {
		viewers = append(viewers, get("/events"))
	}
	for _, path := range []string{"/events", "/"} {
		if got := get(path).StatusCode; got != http.StatusServiceUnavailable {
			t.Errorf("status %d for one viewer more", got)
		}
	}
	viewers[0].Body.Close()
	must(t, s.All(dataOf("one"), true)) // the server notices that the viewer has gone
	clitest.Await(t, "a place", nil, func() bool {
		response := get("/")
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
}
