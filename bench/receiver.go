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

// A receiver is an HTTP server that receives points in the line protocol of InfluxDB. It keeps its
// points when it is killed and started again.
type receiver struct {
	name    string
	address string
	faults  bool // whether answers are slow, some are 503, and some connections break
	server  *http.Server

	mu     sync.Mutex
	points map[string]string // fields of a point, by series and time
	wrong  int               // malformed points, and points whose fields changed
}

func newReceiver(name string) (*receiver, error) {
	r := &receiver{name: name, points: make(map[string]string)}
	return r, r.start()
}

// differing names the row of the table that counts missing, extra and different points.
func (r *receiver) differing() string { return "points that differ at the receiver that is " + r.name }

// malformed names the row of the table that counts malformed points and points that changed.
func (r *receiver) malformed() string {
	return "malformed or changing points at the receiver that is " + r.name
}

// start starts the server. A receiver that was killed gets its old address.
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

// kill stops the server and closes its connections.
func (r *receiver) kill() { r.server.Close() }

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	chance := rand.IntN(20)
	if err != nil || r.faults && chance == 0 {
		http.Error(w, "try again later", http.StatusServiceUnavailable)
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
		r.addPoint(strings.Fields(line))
	}
	if r.faults && chance == 2 {
		panic(http.ErrAbortHandler) // closes the connection: the points arrived, but not the answer
	}
	w.WriteHeader(http.StatusNoContent)
}

// addPoint stores a point whose fields are series, values and time.
func (r *receiver) addPoint(fields []string) {
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

// snapshot returns a copy of the points, and the number of wrong ones.
func (r *receiver) snapshot() (points map[string]string, wrong int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.points), r.wrong
}

// countsOf adds up the field "count" of the points of each tag.
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

// interrupt kills the receiver for three seconds after each period, until stop is closed.
func (r *receiver) interrupt(every time.Duration, stop <-chan struct{}) {
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
