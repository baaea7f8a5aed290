package serve

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hdrkit/output/picture/page"
)

// data returns data that end at a time.
func data(to int64) *page.Data { return &page.Data{To: to, Live: true, Rows: &page.Rows{}} }

func update(to int64) *page.Update { return &page.Update{To: to, Rows: &page.Rows{}} }

// next returns the kind and the end of the next event.
func next(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	kind := ""
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			kind = name
		} else if text, ok := strings.CutPrefix(line, "data: "); ok {
			var to struct{ To int64 }
			if err := json.Unmarshal([]byte(text), &to); err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(kind, " ", to.To)
		}
	}
}

func connect(t *testing.T, url string) *bufio.Reader {
	t.Helper()
	response, err := http.Get(url + "/events")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	if kind := response.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Fatalf("content type %q", kind)
	}
	return bufio.NewReader(response.Body)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestEvents proves that a new viewer gets the past first, then what comes, in order, and that renewed data replace the past.
func TestEvents(t *testing.T) {
	t.Parallel()
	var s Server
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	check(t, s.All(data(1)))
	for to := int64(2); to <= 4; to++ {
		_, err := s.Update(update(to))
		check(t, err)
	}
	first := connect(t, server.URL)
	for _, want := range []string{"all 1", "rows 2", "rows 3", "rows 4"} {
		if got := next(t, first); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	check(t, s.Renew(data(4)))
	_, err := s.Update(update(5))
	check(t, err)
	if got := next(t, first); got != "rows 5" {
		t.Errorf("%s after the data were renewed", got)
	}
	second := connect(t, server.URL)
	for _, want := range []string{"all 4", "rows 5"} {
		if got := next(t, second); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	check(t, s.All(data(6)))
	for _, viewer := range []*bufio.Reader{first, second} {
		if got := next(t, viewer); got != "all 6" {
			t.Errorf("%s", got)
		}
	}
}

// TestSlowViewer proves that a viewer that reads nothing is disconnected, and that updates do not wait for it.
func TestSlowViewer(t *testing.T) {
	t.Parallel()
	var s Server
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	check(t, s.All(data(0)))
	connection, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "http://"))
	check(t, err)
	defer connection.Close()
	fmt.Fprint(connection, "GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
	for s.Viewers() == 0 {
		time.Sleep(time.Millisecond)
	}
	large := update(1)
	large.Inputs = []string{strings.Repeat("x", 1<<20)} // more than the buffers of the connection hold
	for n := 0; s.Viewers() > 0; n++ {
		if n == 10*mostWaiting {
			t.Fatal("the viewer stays")
		}
		_, err := s.Update(large)
		check(t, err)
	}
}

// TestMany proves that the server asks for all data anew after many updates.
func TestMany(t *testing.T) {
	t.Parallel()
	var s Server
	check(t, s.All(data(0)))
	for n := range int64(mostEvents) {
		many, err := s.Update(update(n))
		check(t, err)
		if many != (n == mostEvents-1) {
			t.Fatalf("after %d updates: %v", n+1, many)
		}
	}
}

// TestHeaders proves that a page may run its own script only, and a live one may connect to its server.
func TestHeaders(t *testing.T) {
	t.Parallel()
	for _, live := range []bool{false, true} {
		var s Server
		d := data(0)
		d.Live = live
		check(t, s.Show(d))
		server := httptest.NewServer(s.Handler())
		t.Cleanup(server.Close)
		response, err := http.Get(server.URL)
		check(t, err)
		body, err := io.ReadAll(response.Body)
		check(t, err)
		response.Body.Close()
		policy := response.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "connect-src 'self'") != live {
			t.Errorf("live %v: %s", live, policy)
		}
		if !strings.Contains(string(body), page.Policy(live)) {
			t.Error("the page carries another policy")
		}
		if response, err = http.Get(server.URL + "/other"); err != nil || response.StatusCode != http.StatusNotFound {
			t.Errorf("%v, %v", response.Status, err)
		}
		response.Body.Close()
	}
}
