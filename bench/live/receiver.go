//go:build unix

package main

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/snappy"
	"google.golang.org/protobuf/encoding/protowire"
)

// A receiver takes points as InfluxDB and as Prometheus do, and refuses what these would. It keeps
// its points when it is killed.
type receiver struct {
	address string
	faults  bool          // answers are sometimes 503, or lost
	slow    time.Duration // that an answer takes
	server  *http.Server

	mu     sync.Mutex
	points map[string]string // values, by the path of the request, the series and the time
	newest map[string]uint64 // of the series of remote write, in milliseconds
	wrong  error             // the first point that a receiver must not get
}

func newReceiver() (*receiver, error) {
	r := &receiver{points: make(map[string]string), newest: make(map[string]uint64)}
	return r, r.start()
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
	time.Sleep(r.slow)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.take(request.URL.Path, body); err != nil {
		if r.wrong == nil {
			r.wrong = fmt.Errorf("%s: %w", request.URL.Path, err)
		}
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if r.faults && chance == 2 {
		panic(http.ErrAbortHandler) // the answer is lost
	}
	w.WriteHeader(http.StatusNoContent)
}

func (r *receiver) take(path string, body []byte) error {
	if path == "/write" {
		for line := range strings.Lines(string(body)) {
			parts := strings.Split(strings.TrimSuffix(line, "\n"), " ")
			if len(parts) != 3 {
				return fmt.Errorf("no point: %q", line)
			}
			if err := r.point(path+" "+parts[0]+" "+parts[2], parts[1]); err != nil {
				return err
			}
		}
		return nil
	}
	text, err := snappy.Decode(nil, body)
	if err != nil {
		return err
	}
	return fields(text, func(_ protowire.Number, series []byte) error {
		labels, value := "", []byte(nil)
		if err := fields(series, func(number protowire.Number, text []byte) error {
			if number == 1 {
				labels += string(text)
			} else {
				value = text
			}
			return nil
		}); err != nil {
			return err
		}
		var at uint64 // the last field of a sample and of a histogram
		fields(value, func(_ protowire.Number, text []byte) error {
			at, _ = protowire.ConsumeVarint(text)
			return nil
		})
		key := fmt.Sprintf("%s %q %d", path, labels, at)
		if _, known := r.points[key]; at < r.newest[labels] && !known {
			return fmt.Errorf("%s is out of order", key)
		}
		r.newest[labels] = max(r.newest[labels], at)
		return r.point(key, string(value))
	})
}

// fields calls use for each field of a message, with the contents of the field.
func fields(message []byte, use func(number protowire.Number, text []byte) error) error {
	for len(message) > 0 {
		number, kind, tag := protowire.ConsumeTag(message)
		size := protowire.ConsumeFieldValue(number, kind, message[max(tag, 0):])
		if tag < 0 || size < 0 {
			return fmt.Errorf("no message: %q", message)
		}
		text := message[tag : tag+size]
		if kind == protowire.BytesType {
			text, _ = protowire.ConsumeBytes(text)
		}
		if err := use(number, text); err != nil {
			return err
		}
		message = message[tag+size:]
	}
	return nil
}

// point keeps a point. Another value at the same time would replace it.
func (r *receiver) point(key, value string) error {
	if before, ok := r.points[key]; ok && before != value {
		return fmt.Errorf("%s changes from %q to %q", key, before, value)
	}
	r.points[key] = value
	return nil
}

// differs says how the points since a time, in nanoseconds, differ from those of another receiver.
// Those before it were late, which no receiver gets as they are.
func (r *receiver) differs(want *receiver, since int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wrong != nil {
		return r.wrong
	}
	late := func(key, _ string) bool {
		if !strings.HasPrefix(key, "/write ") {
			return true // hdrlive and hdrsum write other series by remote write; take checks their order
		}
		at, _ := strconv.ParseInt(key[strings.LastIndexByte(key, ' ')+1:], 10, 64)
		return at < since
	}
	maps.DeleteFunc(r.points, late)
	maps.DeleteFunc(want.points, late)
	for key, value := range want.points {
		if got, ok := r.points[key]; got != value {
			return fmt.Errorf("%s: %q, there %t, not %q", key, got, ok, value)
		}
	}
	if len(r.points) != len(want.points) {
		return fmt.Errorf("%d points, not %d", len(r.points), len(want.points))
	}
	return nil
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
