//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// An output is one of hdrlive. Watch calls news when something arrives there.
type output struct {
	name  string
	args  []string
	watch func(news func(), stdout io.Reader)
}

// newest is the second that all machines have begun, and when the last one did.
type newest struct {
	second int
	at     time.Time
}

// runOutputs measures each output alone, and all at once.
func (b *bench) runOutputs(command string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var mu sync.Mutex
	took := make(map[string]func())
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		io.Copy(io.Discard, request.Body)
		mu.Lock()
		took[request.URL.Path]()
		mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	}))
	receive := func(path string) func(func(), io.Reader) {
		return func(news func(), _ io.Reader) {
			mu.Lock()
			took[path] = news
			mu.Unlock()
		}
	}
	log := filepath.Join(b.dir, "all.hdr")
	all := []output{
		{"-of", []string{"-of", log}, func(news func(), _ io.Reader) {
			for size := int64(0); ; time.Sleep(time.Millisecond) {
				if info, err := os.Stat(log); err == nil && info.Size() != size {
					size = info.Size()
					news()
				}
			}
		}},
		{"-st ndjson", []string{"-st", "ndjson"}, func(news func(), stdout io.Reader) {
			for lines := bufio.NewScanner(stdout); lines.Scan(); {
				news()
			}
		}},
		{"-serve, the page", []string{"-serve", scrapeAddress}, func(news func(), _ io.Reader) {
			for {
				if answer, err := http.Get("http://" + scrapeAddress + "/events"); err == nil {
					lines := bufio.NewReader(answer.Body)
					for line, err := "", error(nil); err == nil; line, err = lines.ReadString('\n') {
						if line == "event: rows\n" {
							news()
						}
					}
				}
				time.Sleep(10 * time.Millisecond)
			}
		}},
		{"-serve, /metrics", nil, b.watchMetrics},
		{"-push to InfluxDB", []string{"-push", "http://" + listener.Addr().String() + "/write"}, receive("/write")},
		{"-push, remote write", []string{"-push", "http://" + listener.Addr().String() + "/api/v1/write"}, receive("/api/v1/write")},
	}
	highest := time.Duration(0)
	for _, some := range [][]output{all[:1], all[1:2], all[2:4], all[4:5], all[5:]} {
		spent, err := b.measure(command, some)
		if err != nil {
			return err
		}
		highest = max(highest, spent)
	}
	spent, err := b.measure(command, all)
	fmt.Printf("all outputs take %.2f times the processor time of the most expensive one\n", spent.Seconds()/highest.Seconds())
	return err
}

// watchMetrics scrapes from the time that a window is complete until its counts are there.
func (b *bench) watchMetrics(news func(), _ io.Reader) {
	count := regexp.MustCompile(`(?m)^latency\w*_count.*$`)
	shown, done := "", -1
	for ; ; time.Sleep(5 * time.Millisecond) {
		last, _ := b.newest.Load().(newest)
		if last.second <= done {
			continue
		}
		answer, err := http.Get("http://" + scrapeAddress + "/metrics")
		if err != nil {
			continue
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if now := strings.Join(count.FindAllString(string(text), -1), "\n"); now != shown {
			shown, done = now, last.second
			news()
		}
	}
}

// measure runs hdrlive with some outputs, and prints how long after the last line each had windows.
func (b *bench) measure(command string, outputs []output) (spent time.Duration, err error) {
	b.newest.Store(newest{-1, time.Time{}})
	args := []string{"-ip", b.dir, "-if", `node.*\.hdr`, "-in", "us", "-s", "start", "-q"}
	if b.state && (len(outputs) > 1 || outputs[0].name != "-st ndjson") { // standard output alone has no state
		args = append(args, "-state", filepath.Join(b.dir, "state"))
	}
	for _, o := range outputs {
		args = append(args, o.args...)
	}
	for _, name := range []string{"state", "all.hdr"} {
		os.Remove(filepath.Join(b.dir, name))
	}
	start := time.Now().Unix()
	files := make([]*os.File, b.logs)
	for n := range files {
		if files[n], err = os.Create(filepath.Join(b.dir, fmt.Sprintf("node%d.hdr", n))); err != nil {
			return 0, err
		}
		defer files[n].Close()
		files[n].WriteString(head(float64(start)))
	}
	c := exec.Command(command, args...)
	stdout, _ := c.StdoutPipe()
	if err := c.Start(); err != nil {
		return 0, err
	}
	var mu sync.Mutex
	arrivals := make([][]time.Time, len(outputs))
	for n, o := range outputs {
		go o.watch(func() {
			mu.Lock()
			defer mu.Unlock()
			arrivals[n] = append(arrivals[n], time.Now())
		}, stdout)
	}
	var complete []time.Time
	begin := time.Now()
	for s := range b.seconds {
		jitter := rand.N(100 * time.Millisecond) // hdrlive looks at files now and then
		for n, f := range files {
			time.Sleep(time.Until(begin.Add(time.Duration(s+1)*time.Second + jitter + spread*time.Duration(n)/time.Duration(b.logs))))
			if err := b.write(f, s); err != nil {
				return 0, err
			}
		}
		complete = append(complete, time.Now())
		b.newest.Store(newest{s, time.Now()})
	}
	time.Sleep(time.Second)
	c.Process.Kill() // the end has costs of its own
	c.Wait()
	mu.Lock()
	defer mu.Unlock()
	names := ""
	for n, o := range outputs {
		names += ", " + o.name
		var waits []time.Duration
		for _, at := range complete[2:] { // the first line and the first window begin things
			// The last write may have returned after the window was written.
			if i, _ := slices.BinarySearchFunc(arrivals[n], at.Add(-20*time.Millisecond), time.Time.Compare); i < len(arrivals[n]) {
				waits = append(waits, max(0, arrivals[n][i].Sub(at)))
			}
		}
		slices.Sort(waits)
		if len(waits) < len(complete)-3 {
			return 0, fmt.Errorf("%s: %d windows of %d", o.name, len(waits), len(complete)-2)
		}
		fmt.Printf("%s: %v after the line in the median, %v at most\n", o.name, waits[len(waits)/2].Round(time.Millisecond), waits[len(waits)-1].Round(time.Millisecond))
	}
	fmt.Printf("%s: ", names[2:])
	usage(c, time.Since(begin))
	return c.ProcessState.UserTime() + c.ProcessState.SystemTime(), nil
}
