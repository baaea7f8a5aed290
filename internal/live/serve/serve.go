// Package serve shows the page of package page in browsers while logs are written, by server-sent
// events.
//
// Events are numbered, and all viewers read the same list of them, each at its own pace. So a
// viewer that is slow or dead costs nobody else anything. One that falls behind the list gets all
// data anew.
package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hdrkit/internal/chart/page"
	"hdrkit/internal/live/port"
)

// writeTime is the time that a viewer has to take a chunk. One that takes none is disconnected.
// Tests have more.
var writeTime = 20 * time.Second

const (
	chunk = 64 << 10
	// mostEvents is the number of updates after which new viewers get them as one.
	mostEvents = 600
	// pulse is the time between two signs of life. The page in live.js waits for three of them.
	pulse = 5 * time.Second
	// mostViewers is the number of requests that are answered at one time.
	mostViewers = 200
)

// A Server is a page. The zero value has no data yet. It is safe for concurrent use.
type Server struct {
	// Status, if set, answers requests about the command itself.
	Status http.Handler

	mu    sync.Mutex
	shell []byte        // the page
	past  [][]byte      // what a new viewer gets: all data, and the updates since then
	first int           // the number of the first event in past
	news  chan struct{} // closed at the next event
	ended bool
}

// Show makes the server answer with a page, which gets its data from [Server.All].
func (s *Server) Show(d *page.Data) error {
	var shell bytes.Buffer
	err := page.Write(&shell, d)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shell = shell.Bytes()
	return err
}

// All sends all data to viewers that connect later or fall behind, and to all others if it is new.
func (s *Server) All(d *page.Data, isNew bool) error {
	e, err := encode("all", d)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.first += len(s.past)
	if !isNew {
		s.first-- // the number of the last update, which the others have
	}
	s.past = [][]byte{e}
	s.wake()
	return nil
}

// Update sends an update to each viewer. It reports whether there were so many since All that the
// caller should call All with what viewers have.
func (s *Server) Update(u *page.Update) (many bool, err error) {
	e, err := encode("rows", u)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.past = append(s.past, e)
	s.wake()
	return len(s.past) > mostEvents, nil
}

// encode returns an event. Its data are one line.
func encode(kind string, v any) ([]byte, error) {
	data, err := json.Marshal(v)
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", kind, data), err
}

func (s *Server) wake() {
	if s.news != nil {
		close(s.news)
		s.news = nil
	}
}

// after returns the events from a number on, or all data if the server has no longer the event of
// that number. News is closed when there are more.
func (s *Server) after(number int) (events [][]byte, next int, news <-chan struct{}, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.news == nil {
		s.news = make(chan struct{})
	}
	return s.past[max(number-s.first, 0):], s.first + len(s.past), s.news, s.ended
}

// Start begins to answer requests, by the Start of a [port.Port]. Stop sends what viewers do not
// have yet, and ends that.
func (s *Server) Start(listen func(http.Handler) (stop func())) (stop func()) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.page)
	mux.HandleFunc("GET /events", s.events)
	all := http.NewServeMux()
	all.Handle("/", admit(mux))
	if s.Status != nil {
		for _, path := range append([]string{"/metrics"}, port.Health...) {
			all.Handle("GET "+path, s.Status)
		}
	}
	end := listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		all.ServeHTTP(w, r)
	}))
	return func() {
		s.mu.Lock()
		s.ended = true
		s.wake()
		s.mu.Unlock()
		end()
	}
}

// admit passes on the requests of as many viewers as there may be.
func admit(next http.Handler) http.Handler {
	var viewers atomic.Int32
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer viewers.Add(-1)
		if viewers.Add(1) > mostViewers {
			http.Error(w, "too many people look at this page; try again later", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	shell := s.shell
	s.mu.Unlock()
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", page.Policy(true)+"; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	write(w, shell)
}

func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	if write(w, []byte("retry: 500\n\n")) != nil {
		return
	}
	pulses := time.NewTicker(pulse)
	defer pulses.Stop()
	for next := 0; ; {
		events, last, news, ended := s.after(next)
		for _, e := range events {
			if write(w, e) != nil {
				return
			}
		}
		next = last
		if ended {
			return
		}
		select {
		case <-news:
		case <-pulses.C:
			if write(w, []byte("event: alive\ndata: 1\n\n")) != nil {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}

// write writes in chunks, for each of which the reader has time.
func write(w http.ResponseWriter, text []byte) error {
	control := http.NewResponseController(w)
	for part := range slices.Chunk(text, chunk) {
		if err := control.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
			return err
		}
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return control.Flush()
}
