// Package serve shows the page of package page in browsers while logs are written, by server-sent
// events.
//
// Events are numbered. All viewers read the same list of events, each at its own speed, so a slow
// viewer does not slow down the others. A viewer that falls behind the list gets all data anew.
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

// writeTime is the time in which a viewer must take a chunk. Otherwise the server disconnects the
// viewer. Tests make it longer.
var writeTime = 20 * time.Second

const (
	chunk = 64 << 10
	// maxEvents is the number of updates after which they become a part of the data for new
	// viewers.
	maxEvents = 600
	// pulse is the time between two events that show that the server is alive. The page in live.js
	// waits for three of them.
	pulse = 5 * time.Second
	// maxViewers is the number of requests that the server answers at one time.
	maxViewers = 200
)

// A Server serves one page. The zero value has no data yet. A Server is safe for concurrent use.
type Server struct {
	// Status, if set, answers requests for metrics and for the health of the command.
	Status http.Handler

	mu          sync.Mutex
	shell       []byte        // the page without data
	backlog     [][]byte      // events for a new viewer: all data, then the updates since
	firstNumber int           // number of the first event in backlog
	newEvent    chan struct{} // closed at the next event
	ended       bool
}

// Show sets the page. The page gets its data from [Server.All].
func (s *Server) Show(d *page.Data) error {
	var shell bytes.Buffer
	err := page.Write(&shell, d)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shell = shell.Bytes()
	return err
}

// All sets the data for viewers that connect later or fall behind. If isNew is set, it also sends
// the data to all other viewers.
func (s *Server) All(d *page.Data, isNew bool) error {
	e, err := encode("all", d)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.firstNumber += len(s.backlog)
	if !isNew {
		s.firstNumber-- // keeps the number of the last update, which other viewers already have
	}
	s.backlog = [][]byte{e}
	s.wake()
	return nil
}

// Update sends an update to each viewer. It returns true if there were so many updates since the
// last call of All that the caller should call All again.
func (s *Server) Update(u *page.Update) (many bool, err error) {
	e, err := encode("rows", u)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.backlog = append(s.backlog, e)
	s.wake()
	return len(s.backlog) > maxEvents, nil
}

// encode returns an event whose data is v as JSON, on one line.
func encode(kind string, v any) ([]byte, error) {
	data, err := json.Marshal(v)
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", kind, data), err
}

// wake tells viewers that there are events. The lock is held.
func (s *Server) wake() {
	if s.newEvent != nil {
		close(s.newEvent)
		s.newEvent = nil
	}
}

// after returns the events from a number on, or all data if the server does not keep the event of
// that number any more. News is closed when there are further events.
func (s *Server) after(number int) (events [][]byte, next int, news <-chan struct{}, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.newEvent == nil {
		s.newEvent = make(chan struct{})
	}
	return s.backlog[max(number-s.firstNumber, 0):], s.firstNumber + len(s.backlog), s.newEvent, s.ended
}

// Start starts answering requests. Listen is [port.Port.Start]. Stop sends the remaining events to
// viewers, and stops answering.
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

// admit passes on requests while there are fewer than maxViewers viewers.
func admit(next http.Handler) http.Handler {
	var viewers atomic.Int32
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer viewers.Add(-1)
		if viewers.Add(1) > maxViewers {
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

// write writes a text in chunks. A viewer has writeTime for each chunk.
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
