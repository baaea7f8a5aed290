// Package serve answers a browser with the page of package page: one of complete logs, or one that
// goes on while logs are written, by server-sent events.
package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"hdrkit/output/picture/page"
)

const (
	// mostWaiting is the number of events that wait for a slow viewer. One that falls further
	// behind is disconnected, and gets all data anew when it connects again.
	mostWaiting = 64
	// writeTime is the time that a viewer has to take one event.
	writeTime = 20 * time.Second
	// mostEvents is the number of updates after which new viewers get data that have them.
	mostEvents = 600
	// pulse is the time between two signs of life, which show a viewer that it is connected.
	pulse = 5 * time.Second
)

// A Server is a page. The zero value has no data yet. It is safe for concurrent use.
type Server struct {
	mu      sync.Mutex
	shell   []byte   // the page
	policy  string   // its Content-Security-Policy
	past    [][]byte // the events that a new viewer gets: all data, and then what came since
	viewers map[*viewer]bool
}

// A viewer is a browser that shows a live page.
type viewer struct {
	events chan []byte
	gone   chan struct{} // closed when the viewer fell behind
}

// Show makes the server answer with a page. A live page gets its data from [Server.All].
func (s *Server) Show(d *page.Data) error {
	var shell bytes.Buffer
	if err := page.Write(&shell, d); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shell, s.policy = shell.Bytes(), page.Policy(d.Live)
	return nil
}

// All sends all data to each viewer, and to those that connect later.
func (s *Server) All(d *page.Data) error {
	event, err := encode("all", d)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.past = [][]byte{event}
	s.send(event)
	return nil
}

// Update sends an update to each viewer. It returns true if there were so many that the server
// should have all data anew.
func (s *Server) Update(u *page.Update) (many bool, err error) {
	event, err := encode("rows", u)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.past = append(s.past, event)
	s.send(event)
	return len(s.past) > mostEvents, nil
}

// Renew replaces what new viewers get. Those that are connected have it already.
func (s *Server) Renew(d *page.Data) error {
	event, err := encode("all", d)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.past = [][]byte{event}
	return nil
}

// encode returns a server-sent event. Its data are one line.
func encode(kind string, v any) ([]byte, error) {
	data, err := json.Marshal(v)
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", kind, data), err
}

// send hands an event to all viewers, without waiting for any.
func (s *Server) send(event []byte) {
	for v := range s.viewers {
		select {
		case v.events <- event:
		default:
			close(v.gone)
			delete(s.viewers, v)
		}
	}
}

// Viewers returns how many viewers are connected.
func (s *Server) Viewers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.viewers)
}

// Handler returns what answers requests: the page, and its events.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.page)
	mux.HandleFunc("GET /events", s.events)
	return mux
}

func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	shell, policy := s.shell, s.policy
	s.mu.Unlock()
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy+"; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.Write(shell)
}

func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	v := &viewer{make(chan []byte, mostWaiting), make(chan struct{})}
	s.mu.Lock()
	past := append([][]byte(nil), s.past...)
	if s.viewers == nil {
		s.viewers = make(map[*viewer]bool)
	}
	s.viewers[v] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.viewers, v)
		s.mu.Unlock()
	}()
	control := http.NewResponseController(w)
	write := func(event []byte) bool {
		control.SetWriteDeadline(time.Now().Add(writeTime))
		_, err := w.Write(event)
		return err == nil && control.Flush() == nil
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if !write([]byte("retry: 500\n\n")) {
		return
	}
	for _, event := range past {
		if !write(event) {
			return
		}
	}
	alive := time.NewTicker(pulse)
	defer alive.Stop()
	for {
		select {
		case event := <-v.events:
			if !write(event) {
				return
			}
		case <-alive.C:
			if !write([]byte(": \n\n")) {
				return
			}
		case <-v.gone:
			return
		case <-r.Context().Done():
			return
		}
	}
}
