package push

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hdrkit/internal/base/ledger"
	"hdrkit/internal/clitest"
)

func init() { timeout = time.Hour } // a request that takes too long comes twice

// receiver collects what it answers with 2xx, and answers as asked.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	requests int
	taken    strings.Builder
}

// receive starts a receiver. Answer returns the status of the nth request, from 1.
func receive(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request) int) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.requests++
		status := answer(r.requests, w, request)
		if status/100 == 2 {
			r.taken.Write(body)
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, "status\x1b[2J\n%d of secret42", status)
	}))
	t.Cleanup(r.Close)
	return r
}

// A loss is the rows that did not arrive.
type loss struct{ Refused, Dropped, Waiting int64 }

func lost(s State) loss { return loss{s.Refused, s.Dropped, s.Waiting} }

// pusher returns one that sends to a server with short pauses, and what it notices.
func pusher(server string) (*Pusher, func() string) {
	var mu sync.Mutex
	var notices []string
	u, _ := url.Parse(server)
	p := New(Options{
		URL: u, pause: time.Millisecond, Header: http.Header{"Authorization": {"Token secret42"}},
		Notice: func(text string) {
			mu.Lock()
			defer mu.Unlock()
			notices = append(notices, text)
		},
	})
	return p, func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(notices, "\n")
	}
}

// write writes rows, and returns them.
func write(t *testing.T, p *Pusher, rows int) string {
	t.Helper()
	var all strings.Builder
	for n := range rows {
		row := fmt.Sprintln("row", n)
		all.WriteString(row)
		if _, err := p.Write([]byte(row)); err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}

// TestRetry sends to a receiver that fails every third request in one of several ways. Nothing is
// lost.
func TestRetry(t *testing.T) {
	for name, fail := range map[string]func(w http.ResponseWriter) int{
		"unavailable": func(http.ResponseWriter) int { return http.StatusServiceUnavailable },
		"too many": func(w http.ResponseWriter) int {
			w.Header().Set("Retry-After", time.Now().UTC().Format(http.TimeFormat))
			return http.StatusTooManyRequests
		},
		"broken": func(http.ResponseWriter) int { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := receive(t, func(n int, w http.ResponseWriter, _ *http.Request) int {
				if n%3 == 0 {
					return fail(w)
				}
				return http.StatusNoContent
			})
			p, notices := pusher(r.URL)
			want := write(t, p, 12*batchRows+7)
			if result := lost(p.Close()); result != (loss{}) {
				t.Errorf("%+v", result)
			}
			if r.taken.String() != want {
				t.Errorf("%d bytes of %d arrived", r.taken.Len(), len(want))
			}
			if r.requests < 13+5 {
				t.Errorf("%d requests", r.requests)
			}
			if text := notices(); !strings.Contains(text, "did not take 5000 rows") || !strings.Contains(text, "is back") {
				t.Error(text)
			}
		})
	}
}

// TestAnotherProtocol sends to a server that answers 101, and then goes on with what it calls
// another protocol. A pusher takes that for a receiver that is away.
func TestAnotherProtocol(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		io.Copy(io.Discard, conn) // until the other side closes it
	}))
	defer server.Close()
	p, notices := pusher(server.URL)
	write(t, p, 3)
	p.Flush()
	clitest.Await(t, "a message", notices, func() bool { return strings.Contains(notices(), "did not take 3 rows: 127.0.0.1:") })
	p.GiveUp()
	if result := lost(p.Close()); result != (loss{Waiting: 3}) {
		t.Errorf("%+v", result)
	}
}

// TestHad sends rows of an earlier run to a receiver that has some of them. It refuses requests
// with one that it has. Only a row of this run is a loss then, and none that it lacks.
func TestHad(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	has := map[string]bool{"a 0\n": true, "a 1\n": true, "a 2\n": true, "b 0\n": true}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		rows := slices.Collect(strings.Lines(string(body)))
		for _, row := range rows {
			if has[row] {
				http.Error(w, "out of order sample", http.StatusBadRequest)
				return
			}
		}
		for _, row := range rows {
			has[row] = true
		}
	}))
	defer server.Close()
	u, _ := url.Parse(server.URL)
	p := New(Options{URL: u, Had: func(answer []byte) bool { return strings.Contains(string(answer), "out of order") }})
	var rows [][]byte
	for n := range 1000 {
		rows = append(rows, fmt.Appendln(nil, "a", n))
	}
	for _, row := range rows {
		if _, err := p.Again(row); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []string{"b 0\n", "b 1\n"} {
		if _, err := p.Write([]byte(row)); err != nil {
			t.Fatal(err)
		}
	}
	if s := p.Close(); s.Sent != 1001 || s.Refused != 1 {
		t.Errorf("%+v", s)
	}
	if len(has) != 1002 {
		t.Errorf("the receiver has %d rows", len(has))
	}
}

// TestState follows rows that the receiver takes, puts off and refuses.
func TestState(t *testing.T) {
	t.Parallel()
	answers := make(chan int)
	r := receive(t, func(int, http.ResponseWriter, *http.Request) int { return <-answers })
	p, _ := pusher(r.URL)
	await := func(want State) {
		t.Helper()
		for deadline := time.Now().Add(clitest.Patience); ; time.Sleep(time.Millisecond) {
			got := p.State()
			if taken := got.LastSuccess; taken.IsZero() == (want.Sent == 0) {
				got.LastSuccess = time.Time{}
			}
			if got == want {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%+v, want %+v", got, want)
			}
		}
	}
	write(t, p, 2)
	p.Flush()
	await(State{Waiting: 2})
	answers <- 503
	await(State{Waiting: 2, Away: true})
	write(t, p, 1)
	p.Flush()
	await(State{Waiting: 3, Away: true})
	answers <- 204
	await(State{Sent: 2, Waiting: 1})
	answers <- 503
	await(State{Sent: 2, Waiting: 1, Away: true})
	answers <- 400
	await(State{Sent: 2, Refused: 1})
	p.Close()
}

// TestRejected pushes to a receiver that accepts requests, but not all rows.
func TestRejected(t *testing.T) {
	t.Parallel()
	for secret, want := range map[string]string{"": "the receiver refused 2 rows: 200 OK: too old", "Token x": "the receiver refused 2 rows: 200 OK from 127.0.0.1:"} {
		r := receive(t, func(int, http.ResponseWriter, *http.Request) int { return http.StatusOK })
		u, _ := url.Parse(r.URL)
		notices := ""
		p := New(Options{URL: u, Header: http.Header{"Authorization": {secret}}, Notice: func(text string) { notices += text }, Rejected: func(answer []byte) (int, string) {
			if len(answer) == 0 {
				t.Error("no answer")
			}
			return 2, "too old"
		}})
		write(t, p, 5)
		if result := lost(p.Close()); result != (loss{Refused: 2}) || !strings.HasPrefix(notices, want) {
			t.Errorf("%+v: %s", result, notices)
		}
		if s := p.State(); s.Sent != 3 || s.Refused != 2 || s.Waiting != 0 {
			t.Errorf("%+v", s)
		}
	}
}

// TestFlush checks that a batch that is not full is sent when it is flushed.
func TestFlush(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{}, 10)
	r := receive(t, func(int, http.ResponseWriter, *http.Request) int {
		arrived <- struct{}{}
		return http.StatusNoContent
	})
	p, _ := pusher(r.URL)
	for range 3 {
		write(t, p, 2)
		p.Flush()
		select {
		case <-arrived:
		case <-time.After(clitest.Patience):
			t.Fatal("no batch")
		}
	}
	p.Close()
}

// TestRefused checks that a batch that the receiver refuses is reported, counted and not sent
// again.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusConflict, http.StatusUnauthorized, http.StatusFound} {
		r := receive(t, func(n int, w http.ResponseWriter, request *http.Request) int {
			if got := request.Header.Get("Authorization"); got != "Token secret42" {
				t.Errorf("Authorization: %s", got)
			}
			w.Header().Set("Location", "/other")
			if n == 1 {
				return status
			}
			return http.StatusOK
		})
		p, notices := pusher(r.URL + "/write?p=hidden")
		write(t, p, batchRows+3)
		if result := lost(p.Close()); result != (loss{Refused: batchRows}) {
			t.Errorf("%+v", result)
		}
		want := fmt.Sprintf("the receiver refused 5000 rows: %d %s from %s", status, http.StatusText(status), strings.TrimPrefix(r.URL, "http://"))
		if text := notices(); text != want {
			t.Errorf("%s\nnot %s", text, want)
		}
		if r.requests != 2 {
			t.Errorf("%d requests", r.requests)
		}
	}
}

// TestOld: a receiver that refuses a request with rows that are too old gets the others, in order.
func TestOld(t *testing.T) {
	t.Parallel()
	for _, rows := range []int{100, batchRows} {
		old := rows / 3
		requests := 0
		var taken strings.Builder
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
			body, _ := io.ReadAll(request.Body)
			requests++
			for line := range strings.Lines(string(body)) {
				var n int
				if fmt.Sscanf(line, "row %d", &n); n < old {
					w.WriteHeader(http.StatusBadRequest)
					return
				}
			}
			taken.Write(body)
		}))
		p, notices := pusher(server.URL)
		all := write(t, p, rows)
		refused := int(p.Close().Refused)
		server.Close()
		if refused < old || refused > old+rows/maxParts || requests > 2*maxAlone+3*maxParts {
			t.Errorf("%d of %d old rows are refused, in %d requests", refused, old, requests)
		}
		if want := all[strings.Index(all, fmt.Sprintf("row %d\n", refused)):]; taken.String() != want {
			t.Errorf("%.40q", taken.String())
		}
		if want := fmt.Sprintf("the receiver refused %d rows: 400 ", refused); !strings.HasPrefix(notices(), want) {
			t.Error(notices())
		}
	}
}

// TestOneTag: a tag among many that a receiver refuses costs only its own rows, and messages come
// once a minute. A receiver that refuses all gets few requests.
func TestOneTag(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ every, requests int }{{40, 2500}, {1, 2*maxAlone + 5*maxParts}} {
		requests, taken := 0, 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
			body, _ := io.ReadAll(request.Body)
			requests++
			for line := range strings.Lines(string(body)) {
				var n int
				if fmt.Sscanf(line, "row %d", &n); n%test.every == 0 {
					w.WriteHeader(http.StatusBadRequest)
					return
				}
			}
			taken += strings.Count(string(body), "\n")
		}))
		p, notices := pusher(server.URL)
		const rows = batchRows + 1000
		write(t, p, rows)
		refused := int(p.Close().Refused)
		server.Close()
		want := (rows + test.every - 1) / test.every
		if refused != want || taken != rows-want || requests > test.requests {
			t.Errorf("1 of %d: %d are refused, and %d taken, in %d requests", test.every, refused, taken, requests)
		}
		text := notices()
		if strings.Count(text, "the receiver refused ") != 2 || !strings.HasSuffix(text, fmt.Sprintf("refused %d rows since then", want-(batchRows+test.every-1)/test.every)) {
			t.Error(text)
		}
	}
}

// TestPatient: if the pusher runs for long, a lost token, database or address is not the rows'
// fault.
func TestPatient(t *testing.T) {
	t.Parallel()
	for _, status := range []int{
		http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed,
		http.StatusMovedPermanently, http.StatusTemporaryRedirect,
	} {
		r := receive(t, func(n int, _ http.ResponseWriter, _ *http.Request) int {
			if n < 4 {
				return status
			}
			return http.StatusOK
		})
		u, _ := url.Parse(r.URL)
		p := New(Options{URL: u, Patient: true, pause: time.Millisecond})
		want := write(t, p, 3)
		if result := lost(p.Close()); result != (loss{}) || r.taken.String() != want {
			t.Errorf("status %d: %+v", status, result)
		}
	}
}

// TestMessage checks that the receiver's own words are printed on one line if there is no secret.
func TestMessage(t *testing.T) {
	t.Parallel()
	r := receive(t, func(int, http.ResponseWriter, *http.Request) int { return http.StatusBadRequest })
	u, _ := url.Parse(r.URL + "/write?db=a&precision=ms")
	var notice string
	p := New(Options{URL: u, Notice: func(text string) { notice = text }})
	write(t, p, 3)
	p.Close()
	if want := `the receiver refused 3 rows: 400 Bad Request: status\x1b[2J 400 of secret42`; notice != want {
		t.Errorf("%s\nnot %s", notice, want)
	}
}

// TestSecret sends secrets to receivers that repeat what they get, in all places of an answer. No
// message has a secret.
func TestSecret(t *testing.T) {
	t.Parallel()
	const secret = "secret42"
	token := http.Header{"Authorization": {"Token " + secret}}
	for _, answer := range []string{
		"HTTP/1.1 400 no " + secret + "\r\nConnection: close\r\n\r\n",
		"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n" + strings.Repeat(" ", 994) + secret,
		"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\nno " + strings.ToUpper(secret),
		secret + "\r\n\r\n",
		"HTTP/1.1 " + secret + "\r\n\r\n",
		"HTTP/1.1 204 No Content\r\n" + secret + "\r\n\r\n",
		"HTTP/1.1 204 No Content\r\nTransfer-Encoding: " + secret + "\r\n\r\n",
		"",
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { listener.Close() })
		go func() {
			for {
				c, err := listener.Accept()
				if err != nil {
					return
				}
				if request, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					io.Copy(io.Discard, request.Body)
					io.WriteString(c, answer)
				}
				c.Close()
			}
		}()
		for query, header := range map[string]http.Header{"": token, "?token=" + secret: {}, "?db=a&user=me&token=" + secret: {}, "?a;b=" + secret: {}} {
			u, err := ParseURL("http://" + listener.Addr().String() + "/write" + query)
			if err != nil {
				t.Fatal(err)
			}
			notices := make(chan string, 10)
			p := New(Options{URL: u, Header: header, pause: time.Hour, Notice: func(text string) { notices <- text }})
			write(t, p, 1)
			p.Flush()
			text := <-notices
			if strings.Contains(strings.ToLower(text), "secret") || !strings.Contains(text, listener.Addr().String()) {
				t.Errorf("%q, %q: %s", answer, query, text)
			}
			p.GiveUp()
			p.Close()
		}
	}
}

// TestCertificate pushes to a receiver whose certificate nobody knows. Trying again makes no sense.
func TestCertificate(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	p, notices := pusher(server.URL)
	write(t, p, 3)
	if result := lost(p.Close()); result != (loss{Waiting: 3}) {
		t.Errorf("%+v", result)
	}
	if text := notices(); !strings.Contains(text, "the receiver is not to be trusted: tls: failed to verify certificate: x509: ") {
		t.Error(text)
	}
}

// TestWait checks that rows wait while the receiver is away, and can be given up.
func TestWait(t *testing.T) {
	t.Parallel()
	r := receive(t, func(int, http.ResponseWriter, *http.Request) int { return http.StatusServiceUnavailable })
	p, _ := pusher(r.URL)
	write(t, p, 2*batchRows) // one batch is under way, one is full
	var returned atomic.Bool
	done := make(chan error, 1)
	go func() {
		_, err := p.Write([]byte("one more\n"))
		returned.Store(true)
		done <- err
	}()
	for deadline := time.Now().Add(clitest.Patience); ; time.Sleep(time.Millisecond) {
		r.mu.Lock()
		requests := r.requests
		r.mu.Unlock()
		if requests > 3 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no retries")
		}
	}
	if returned.Load() {
		t.Error("a row was taken that there is no room for")
	}
	p.GiveUp()
	if err := <-done; err != ErrGivenUp {
		t.Error(err)
	}
	if result := lost(p.Close()); result != (loss{Waiting: 2 * batchRows}) {
		t.Errorf("%+v", result)
	}
}

// TestGiveUp checks that Close ends after GiveUp, and that no message shows the URL.
func TestGiveUp(t *testing.T) {
	t.Parallel()
	p, notices := pusher("http://" + clitest.Address(t) + "/write?token=hidden")
	write(t, p, 5)
	p.Flush()
	for deadline := time.Now().Add(clitest.Patience); notices() == ""; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no notice")
		}
	}
	p.GiveUp()
	if result := lost(p.Close()); result != (loss{Waiting: 5}) {
		t.Errorf("%+v", result)
	}
	if text := notices(); strings.Contains(text, "hidden") || !strings.Contains(text, "connection refused") {
		t.Error(text)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"": 0, "x": 0, "-5": 0, "7": 7 * time.Second, "999999999999": 5 * time.Minute,
		"Sun, 06 Nov 1994 08:49:37 GMT": 0, "Sun, 06 Nov 2994 08:49:37 GMT": 5 * time.Minute,
	} {
		if got := retryAfter(text); got != want {
			t.Errorf("%s: %v, not %v", text, got, want)
		}
	}
}

func TestParseURL(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		"http://127.0.0.1:8086/write?db=a": true, "https://example.org/api/v1/push": true,
		"": false, "127.0.0.1:8086": false, "ftp://a/b": false, "http:///x": false, "http://user:pw@a/b": false, "http://a b:pw/": false,
		"http://a:99999/": false, "http://a:0/": false, "http://a:65535/": true,
	} {
		_, err := ParseURL(text)
		if (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
		if err != nil && strings.Contains(err.Error(), "pw") {
			t.Error(err)
		}
	}
}

// away returns options of a receiver that is away, and what is noticed.
func away(t *testing.T) (Options, func() string) {
	server := receive(t, func(int, http.ResponseWriter, *http.Request) int { return http.StatusServiceUnavailable })
	u, _ := url.Parse(server.URL)
	var mu sync.Mutex
	var notices []string
	o := Options{URL: u, Patient: true, pause: time.Millisecond, Notice: func(text string) {
		mu.Lock()
		defer mu.Unlock()
		notices = append(notices, text)
	}}
	return o, func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(notices, "\n")
	}
}

// startAway starts a pusher, and sends a row that stays on its way.
func startAway(t *testing.T, o Options) *Pusher {
	p := New(o)
	write(t, p, 1)
	p.Flush()
	clitest.Await(t, "a first row that is on its way", nil, func() bool { return p.State().Away })
	return p
}

// TestMost: while the receiver is away, rows wait up to a bound, and the oldest go.
func TestMost(t *testing.T) {
	t.Parallel()
	o, notices := away(t)
	o.Room = NewRoom(20_000, nil)
	p := startAway(t, o)
	write(t, p, 500)
	state := p.State()
	if state.Dropped == 0 || state.Waiting != 501-state.Dropped || state.Sent != 0 || o.Room.used.Load() > 20_000 {
		t.Errorf("%+v, %d bytes", state, o.Room.used.Load())
	}
	p.GiveUp()
	if result := lost(p.Close()); result.Waiting != state.Waiting || result.Dropped != state.Dropped {
		t.Errorf("%+v", result)
	}
	if text := notices(); !strings.Contains(text, "the oldest are dropped") {
		t.Error(text)
	}
}

// TestGiveWay: rows that wait for two receivers give way to others who need memory, until only
// those are left that are on their way. One message of each receiver says so.
func TestGiveWay(t *testing.T) {
	t.Parallel()
	memory := ledger.New(80_000)
	windows := memory.Open("open windows", "make them shorter")
	room := NewRoom(40_000, memory.Open("rows", ""))
	var pushers [2]*Pusher
	var notices [2]func() string
	for n := range pushers {
		var o Options
		o, notices[n] = away(t)
		o.Room = room
		pushers[n] = startAway(t, o)
		write(t, pushers[n], 300)
		defer pushers[n].GiveUp()
	}
	for range 49 {
		if err := windows.Add(1, 1000); err != nil {
			t.Fatal(err)
		}
	}
	for n, p := range pushers {
		if state := p.State(); state.Waiting < 2 || state.Waiting > 20 || state.Waiting+state.Dropped != 301 {
			t.Errorf("%+v", state)
		}
		if text := notices[n](); strings.Count(text, "the oldest are dropped") != 1 {
			t.Error(text)
		}
	}
	if err := windows.Add(1, 21_500); err == nil || !strings.Contains(err.Error(), "50 open windows") {
		t.Error(err)
	}
	for _, p := range pushers {
		if state := p.State(); state.Waiting != 1 {
			t.Errorf("%+v", state)
		}
		write(t, p, 300) // rows themselves find no room, but for a share
		if used := room.used.Load(); used > 2*(40_000/minShare+100) {
			t.Errorf("%d bytes are used", used)
		}
	}
}

// TestKey: what names a receiver has no secret.
func TestKey(t *testing.T) {
	t.Parallel()
	u, err := ParseURL("http://a:8086/write?db=load&token=SECRET")
	if err != nil || Key(u) != "http://a:8086/write?db=load" {
		t.Errorf("%s, %v", Key(u), err)
	}
	if _, err := ParseURL("http://a:8086/write?u=bob&p=SECRET"); err == nil || strings.Contains(err.Error(), "SECRET") || !strings.Contains(err.Error(), "HDRKIT_PUSH_AUTHORIZATION") {
		t.Error(err)
	}
}
