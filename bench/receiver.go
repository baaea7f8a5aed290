package main

import (
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A receiver takes points as InfluxDB does. It keeps its points when it is killed.
type receiver struct {
	name    string
	address string
	faults  bool // answers are slow, and sometimes 503 or lost
	server  *http.Server

	mu     sync.Mutex
	points map[string]string // values, by the series and the time
	wrong  int               // points that are none, or that differ from an earlier one of the same time
}

func newReceiver(name string) (*receiver, error) {
	r := &receiver{name: name, points: make(map[string]string)}
	return r, r.start()
}

// differing and refused name rows of the table.
func (r *receiver) differing() string { return "points that differ at the receiver that is " + r.name }
func (r *receiver) refused() string {
	return "points that change, or are none, at the receiver that is " + r.name
}

// start begins to listen, at the address of before if there is one.
func (r *receiver) start() error {
	if r.address == "" {
		r.address = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", r.address)
	if err != nil {
		return err
	}
	r.address = listener.Addr().String()
	r.server = &http.Server{Handler: r}
	go r.server.Serve(listener)
	return nil
}

// kill ends all connections.
func (r *receiver) kill() { r.server.Close() }

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	chance := rand.IntN(20)
	if err != nil || r.faults && chance == 0 {
		http.Error(w, "come again", http.StatusServiceUnavailable)
		return
	}
	if r.faults && chance == 1 {
		panic(http.ErrAbortHandler) // closes the connection
	}
	if r.faults {
		time.Sleep(rand.N(time.Second))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for line := range strings.Lines(string(body)) {
		r.point(strings.Fields(line))
	}
	if r.faults && chance == 2 {
		panic(http.ErrAbortHandler) // the answer is lost
	}
	w.WriteHeader(http.StatusNoContent)
}

// point keeps a point: series, values and time.
func (r *receiver) point(fields []string) {
	if len(fields) != 3 {
		r.wrong++
		return
	}
	key := fields[0] + " " + fields[2]
	if before, ok := r.points[key]; ok && before != fields[1] {
		r.wrong++
	}
	r.points[key] = fields[1]
}

// has returns the points so far, and how many were wrong.
func (r *receiver) has() (points map[string]string, wrong int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.points), r.wrong
}

// countsOf returns how many values each tag has.
func countsOf(points map[string]string) map[string]int64 {
	counts := make(map[string]int64)
	for key, value := range points {
		series, _, _ := strings.Cut(key, " ")
		_, tag, _ := strings.Cut(series, "tag=")
		_, count, _ := strings.Cut(value, "count=")
		count, _, _ = strings.Cut(count, "i")
		n, _ := strconv.ParseInt(count, 10, 64)
		counts[tag] += n
	}
	return counts
}

// downs kills the receiver now and then, until stop is closed.
func (r *receiver) downs(every time.Duration, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(every):
		}
		r.kill()
		time.Sleep(3 * time.Second)
		for r.start() != nil {
			time.Sleep(100 * time.Millisecond)
		}
	}
}
