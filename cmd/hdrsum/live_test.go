//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hdrkit/internal/cli"
	"hdrkit/internal/clitest"
)

// writers begins the logs of three machines, whose clocks differ, and writes their first seconds.
func writers(t *testing.T, dir string, seconds int) []*clitest.LogWriter {
	t.Helper()
	var all []*clitest.LogWriter
	for n := range 3 {
		all = append(all, clitest.NewLogWriter(t, fmt.Sprintf("%s/node%d.hdr", dir, n), 0.2*float64(n), "insert-rt", "insert-wt"))
	}
	writeSeconds(all, 0, seconds)
	return all
}

// writeSeconds writes a second after another, machine by machine.
func writeSeconds(all []*clitest.LogWriter, from, to int) {
	for s := from; s < to; s++ {
		for n, w := range all {
			w.Second(s, int64(1e6*(n+1)+1e4*s), 100)
		}
	}
}

// address returns a local address that nobody listens at.
func address(t *testing.T) string { return fmt.Sprintf("127.0.0.1:%d", freePort(t)) }

// fetch returns what is at a URL, empty if nobody answers.
func fetch(url string) string {
	response, err := http.Get(url)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return string(body)
}

// TestListen scrapes while logs are written.
func TestListen(t *testing.T) {
	t.Parallel()
	dir, at := t.TempDir(), address(t)
	all := writers(t, dir, 3)
	p := clitest.Start(t, nil, "hdrsum", "-follow", "-agg", "1", "-ip", dir, "-if", `node\d\.hdr`, "-ovr", "1e9", "-metric", "rt_seconds", "-listen", at)
	scraped := func(line string) func() bool {
		return func() bool { return strings.Contains(fetch("http://"+at+"/metrics"), line) }
	}
	p.Await("two windows", scraped(`rt_seconds_count{tag="insert-rt"} 600`))
	writeSeconds(all, 3, 4)
	p.Await("three windows", scraped(`rt_seconds_count{tag="insert-rt"} 900`))
	p.Await("the last window", scraped(`rt_seconds_window_max{tag="insert-rt"} 0.011`))
	all[0].Line("not a line\n")
	p.Await("a malformed line", scraped(fmt.Sprintf(`hdrkit_skipped_lines_total{input=%q} 1`, all[0].Path)))
	if text := fetch("http://" + at + "/-/healthy"); text != "healthy\n" {
		t.Errorf("%q", text)
	}
	if p.Stdout() != "" {
		t.Errorf("it prints %s", p.Stdout())
	}
	_, stderr, status := hdrsum(t, "-follow", "-agg", "1", "-if", all[0].Path, "-listen", at)
	if status != 2 || !strings.Contains(stderr, "address already in use") {
		t.Errorf("exit status %d: %s", status, stderr)
	}
	p.Interrupt(syscall.SIGTERM, 3)
	if _, err := net.Dial("tcp", at); err == nil {
		t.Error("it still listens")
	}
}

// TestGrace: after an interrupt, one more scrape sees the last window.
func TestGrace(t *testing.T) {
	t.Parallel()
	dir, at := t.TempDir(), address(t)
	writers(t, dir, 3)
	p := clitest.Start(t, nil, "hdrsum", "-follow", "-agg", "1", "-idle", "1h", "-ip", dir, "-if", `node\d\.hdr`, "-metric", "rt", "-listen", at, "-grace", "1h")
	scraped := func(line string) func() bool {
		return func() bool { return strings.Contains(fetch("http://"+at+"/metrics"), line) }
	}
	p.Await("two windows", scraped(`rt_count{tag="insert-rt"} 600`))
	p.Signal(os.Interrupt)
	seen := false
	clitest.Await(t, "the end", p.Stderr, func() bool {
		text := fetch("http://" + at + "/metrics")
		seen = seen || strings.Contains(text, `rt_count{tag="insert-rt"} 900`)
		return text == ""
	})
	if !seen {
		t.Error("no scrape saw the last window")
	}
	p.Ends(0)
}

// TestFollowedHeaders follows logs that name their operations in their headers.
func TestFollowedHeaders(t *testing.T) {
	t.Parallel()
	logs := filepath.Join(clitest.Root(), "testdata", "dialects")
	for _, test := range []struct {
		args       []string
		with, none string
	}{
		{[]string{"-if", `ycsb-.*\.hdr`}, `"tag":"UPDATE"`, `"tag":null`},
		{[]string{"-if", "ycsb-read.hdr", "-if", "ycsb-update.hdr"}, `"tag":"READ"`, `"tag":null`},
		{[]string{"-if", `ycsb-.*\.hdr`, "-untagged"}, `"tag":null`, "READ"},
		{[]string{"-if", "ycsb-read.hdr"}, `"tag":null`, "READ"},
	} {
		p := clitest.Start(t, nil, "hdrsum", append([]string{"-follow", "-agg", "0.1", "-idle", "0.1", "-st", "ndjson", "-ip", logs}, test.args...)...)
		p.Await("rows", func() bool { return strings.Contains(p.Stdout(), test.with) })
		p.Interrupt(os.Interrupt, 0)
		if strings.Contains(p.Stdout(), test.none) {
			t.Errorf("%q: %s", test.args, p.Stdout())
		}
	}
}

// receiver is an HTTP server that keeps what it accepts.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	requests int
	taken    strings.Builder
}

// receive starts a receiver whose nth request gets the status that answer returns.
func receive(t *testing.T, answer func(n int) int) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.requests++
		status := answer(r.requests)
		if status/100 == 2 {
			r.taken.Write(body)
		}
		http.Error(w, "no "+request.Header.Get("Authorization"), status)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.taken.String()
}

// TestPush follows logs and pushes their rows to a receiver that fails every third request. Nothing
// is lost.
func TestPush(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := receive(t, func(n int) int {
		if n%3 == 1 {
			return http.StatusServiceUnavailable
		}
		return http.StatusNoContent
	})
	all, at := writers(t, dir, 5), address(t)
	p := clitest.Start(t, nil, "hdrsum", "-follow", "-from", "start", "-agg", "1", "-ip", dir, "-if", `node\d\.hdr`, "-ovr", "1e6", "-st", "influx", "-push", r.URL+"/write?db=x&precision=ms", "-listen", at)
	p.Await("the first rows", func() bool { return strings.Count(r.text(), "\n") == 2*4 })
	writeSeconds(all, 5, 10)
	p.Await("more rows", func() bool { return strings.Count(r.text(), "\n") == 2*9 })
	p.Await("its own metrics", func() bool {
		return strings.Contains(fetch("http://"+at+"/metrics"), "\nhdrkit_push_sent_rows_total 18\n")
	})
	if text := fetch("http://" + at + "/readyz"); text != "ready\n" {
		t.Errorf("%q", text)
	}
	p.Interrupt(os.Interrupt, 0)
	if !strings.Contains(p.Stderr(), "the receiver did not take") || !strings.Contains(p.Stderr(), "the receiver is back") {
		t.Error(p.Stderr())
	}
	if p.Stdout() != "" {
		t.Errorf("it prints %s", p.Stdout())
	}
	args := []string{"-q", "-agg", "1", "-ovr", "1e6", "-st", "influx", "-precision", "ms"}
	for _, w := range all {
		args = append(args, w.Path)
	}
	if got, want := r.text(), must(t, args...); got != want {
		t.Errorf("pushed\n%s\nnot\n%s", got, want)
	}
}

// TestFromNow pushes a log that has a past. Only windows that begin after the command did are sent,
// unless -from says otherwise.
func TestFromNow(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]int{"": 3, "now": 3, "start": 13} {
		t.Run(from, func(t *testing.T) {
			t.Parallel()
			r := receive(t, func(int) int { return http.StatusNoContent })
			path := filepath.Join(t.TempDir(), "log.hdr")
			w := clitest.NewLogWriter(t, path, float64(time.Now().Unix()-100-clitest.LiveStart), "a")
			for s := range 10 {
				w.Second(s, 1000, 1)
			}
			args := []string{"-follow", "-agg", "1", "-idle", "1h", "-if", path, "-push", r.URL + "/write?db=x"}
			if from != "" {
				args = append(args, "-from", from)
			}
			p := clitest.Start(t, nil, "hdrsum", args...)
			if from == "" {
				p.Await("a notice", func() bool { return strings.Contains(p.Stderr(), "leaving out intervals that start before ") })
			}
			for s := range 4 { // the last window is open
				w.Second(10000+s, 1000, 1)
			}
			p.Await("rows", func() bool { return strings.Count(r.text(), "\n") == want })
		})
	}
}

// TestPushRefused pushes a complete log to a receiver that refuses it. The credentials are in no
// message.
func TestPushRefused(t *testing.T) {
	t.Setenv("HDRKIT_PUSH_AUTHORIZATION", "Token secret42")
	for _, query := range []string{"/write", "/api/v1/write"} {
		r := receive(t, func(int) int { return http.StatusUnauthorized })
		stdout, stderr, status := hdrsum(t, "../../testdata/logs/node1.hdr", "-push", r.URL+query)
		if status != 3 || stdout != "" || !strings.Contains(stderr, "rows: 401 Unauthorized from 127.0.0.1:") ||
			!strings.Contains(stderr, "left out 72 intervals") || strings.Contains(stderr, "secret42") {
			t.Errorf("exit status %d: %s%s", status, stdout, stderr)
		}
	}
}

// TestInterruptAway interrupts a command that waits for its receiver. It gives up after a while.
func TestInterruptAway(t *testing.T) {
	t.Parallel()
	r := receive(t, func(int) int { return http.StatusServiceUnavailable })
	var tags []string
	for n := range 100 {
		tags = append(tags, fmt.Sprint("tag", n))
	}
	path := filepath.Join(t.TempDir(), "log.hdr")
	w := clitest.NewLogWriter(t, path, 0, tags...)
	for s := range 110 { // more than two batches of 5,000 rows
		w.Second(s, 1000, 1)
	}
	p := clitest.Start(t, nil, "hdrsum", "-follow", "-from", "start", "-if", path, "-st", "influx", "-push", r.URL)
	p.Await("a retry", func() bool { return strings.Contains(p.Stderr(), "the receiver did not take ") })
	p.Interrupt(os.Interrupt, 1)
	lost := regexp.MustCompile(`the receiver did not take the last rows: (\d+) are lost`).FindStringSubmatch(p.Stderr())
	if lost == nil || len(lost[1]) < 4 { // on a busy machine the first batch is not full
		t.Error(p.Stderr())
	}
}

// TestInterruptTwice interrupts a command that cannot send its last rows. The second signal ends it
// at once.
func TestInterruptTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := receive(t, func(int) int { return http.StatusServiceUnavailable })
	writers(t, dir, 5)
	p := clitest.Start(t, nil, "hdrsum", "-follow", "-from", "start", "-agg", "1", "-ip", dir, "-if", `node\d\.hdr`, "-st", "influx", "-push", r.URL)
	p.Await("a retry", func() bool {
		return strings.Contains(p.Stderr(), "the receiver did not take 8 rows: 503 Service Unavailable")
	})
	// Signals of a kind that come at the same moment are one.
	p.Insist(os.Interrupt, 130)
}

// logs writes the log of a test with windows of a second, and returns its path and the percentiles
// of all its values.
func logs(t *testing.T) (path string, exact map[float64]float64) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "all.hdr")
	w := clitest.NewLogWriter(t, path, 0, "insert-rt")
	for s := range 30 {
		w.Second(s, int64(1e6+3e4*s), 2000)
	}
	var summary struct {
		Summaries []struct {
			Percentiles []struct{ Percentile, Value float64 }
		}
	}
	text := must(t, path, "-ovr", "1e9", "-st", "json", "-p", "50,90,99,99.9")
	if err := json.Unmarshal([]byte(text), &summary); err != nil {
		t.Fatal(err)
	}
	exact = map[float64]float64{}
	for _, p := range summary.Summaries[0].Percentiles {
		exact[p.Percentile] = p.Value
	}
	return path, exact
}

// livePrometheus starts a Prometheus that takes native histograms, with a configuration, and
// returns its URL.
func livePrometheus(t *testing.T, config string) string {
	t.Helper()
	dir, at := t.TempDir(), address(t)
	path := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(path, []byte(config), 0o666); err != nil {
		t.Fatal(err)
	}
	serve(t, "http://"+at+"/-/ready", "prometheus", "--config.file="+path, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--storage.tsdb.retention.time=100y", "--web.listen-address="+at, "--enable-feature=native-histograms", "--web.enable-remote-write-receiver")
	return "http://" + at
}

// value returns the value of a query that has one, NaN if it has none. At is in seconds since the
// epoch, 0 for now.
func value(t *testing.T, server, query string, at float64) float64 {
	t.Helper()
	var answer struct {
		Data struct {
			Result []struct{ Value [2]any }
		}
	}
	parameters := url.Values{"query": {query}}
	if at != 0 {
		parameters.Set("time", strconv.FormatFloat(at, 'f', 3, 64))
	}
	get(t, server+"/api/v1/query?"+parameters.Encode(), &answer)
	if len(answer.Data.Result) != 1 {
		return math.NaN()
	}
	v, err := strconv.ParseFloat(answer.Data.Result[0].Value[1].(string), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// checkQuantiles compares the quantiles that Prometheus computes of native histograms with those of
// hdrsum. It returns the largest relative error.
func checkQuantiles(t *testing.T, server string, schema int, exact map[float64]float64, at float64) {
	t.Helper()
	bound := math.Exp2(math.Exp2(float64(-schema))) - 1
	largest := 0.0
	for p, want := range exact {
		got := value(t, server, fmt.Sprintf(`histogram_quantile(%v, request_latency_seconds{tag="insert-rt"})`, p/100), at)
		off := math.Abs(got/want - 1)
		largest = max(largest, off)
		if !(off <= bound) {
			t.Errorf("schema %d: the %vth percentile is %v, want %v within %.3f%%", schema, p, got, want, 100*bound)
		}
	}
	t.Logf("schema %d: within %.3f%% of the exact percentiles, bound %.3f%%", schema, 100*largest, 100*bound)
}

// TestPrometheusScrape has Prometheus scrape a log that is followed.
func TestPrometheusScrape(t *testing.T) {
	clitest.RequireTools(t, "prometheus")
	path, exact := logs(t)
	for _, schema := range []int{5, 8} {
		at := address(t)
		server := livePrometheus(t, fmt.Sprintf("scrape_configs: [{job_name: hdrsum, scrape_interval: 1s, static_configs: [{targets: [%q]}]}]", at))
		// The last window is complete when a line of the next one is there.
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		log := filepath.Join(t.TempDir(), "log.hdr")
		last := clitest.Line(t, 30, 1, 1, "other")
		if err := os.WriteFile(log, append(text, last...), 0o666); err != nil {
			t.Fatal(err)
		}
		p := clitest.Start(t, nil, "hdrsum", "-follow", "-agg", "1", "-if", log, "-ovr", "1e9", "-metric", "request_latency_seconds",
			"-listen", at, "-schema", strconv.Itoa(schema), "-p", "50,90,99,99.9")
		p.Await("a scrape", func() bool {
			return value(t, server, `histogram_count(request_latency_seconds{tag="insert-rt"})`, 0) == 60000
		})
		checkQuantiles(t, server, schema, exact, 0)
		if got := value(t, server, `count(request_latency_seconds_window)`, 0); got != 4 {
			t.Errorf("%v quantiles of the window", got)
		}
		if got := value(t, server, `hdrkit_lines_total`, 0); !(got > 30) {
			t.Errorf("%v lines", got)
		}
	}
}

// TestPrometheusPush has Prometheus receive a complete log by remote write.
func TestPrometheusPush(t *testing.T) {
	clitest.RequireTools(t, "prometheus")
	path, exact := logs(t)
	for _, schema := range []int{5, 8} {
		server := livePrometheus(t, "scrape_configs: []")
		must(t, path, "-agg", "1", "-ovr", "1e9", "-metric", "request_latency_seconds", "-schema", strconv.Itoa(schema), "-push", server+"/api/v1/write")
		at := float64(clitest.LiveStart + 30)
		checkQuantiles(t, server, schema, exact, at)
		if got := value(t, server, `count_over_time(request_latency_seconds_window_max{tag="insert-rt"}[1m])`, at); got != 30 {
			t.Errorf("%v windows", got)
		}
		rows := rows(t, path, "-agg", "1", "-ovr", "1e9")["insert-rt"]
		if got, want := value(t, server, `request_latency_seconds_window{quantile="0.99"}`, at), rows[29]["p99"]; got != want {
			t.Errorf("the 99th percentile of the last window is %v, not %v", got, want)
		}
		rate := value(t, server, `histogram_count(rate(request_latency_seconds{tag="insert-rt"}[10s]))`, at)
		if math.Abs(rate-2000) > 1 {
			t.Errorf("%v values per second", rate)
		}
	}
}

// TestInfluxDBPush follows three logs into InfluxDB. It has exactly one point for each tag and
// window.
func TestInfluxDBPush(t *testing.T) {
	clitest.RequireTools(t, "influxd")
	server := influxdb(t)
	response, err := http.PostForm(server+"/query", url.Values{"q": {`CREATE DATABASE loadtest`}})
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, response.Body)
	response.Body.Close()
	dir := t.TempDir()
	all := writers(t, dir, 10)
	p := clitest.Start(t, nil, "hdrsum", "-follow", "-agg", "1", "-ip", dir, "-if", `node\d\.hdr`, "-ovr", "1e6", "-st", "influx",
		"-from", "start", "-push", server+"/write?db=loadtest&precision=ms")
	points := func() map[string][][]any {
		var answer struct {
			Results []struct {
				Series []struct {
					Tags   map[string]string
					Values [][]any
				}
			}
		}
		query := url.Values{"db": {"loadtest"}, "epoch": {"ms"}, "q": {`SELECT "count", "max" FROM latency GROUP BY "tag"`}}
		get(t, server+"/query?"+query.Encode(), &answer)
		found := map[string][][]any{}
		for _, s := range answer.Results[0].Series {
			found[s.Tags["tag"]] = s.Values
		}
		return found
	}
	p.Await("nine windows", func() bool { return len(points()["insert-rt"]) == 9 })
	writeSeconds(all, 10, 20)
	p.Await("nineteen windows", func() bool { return len(points()["insert-rt"]) == 19 })
	p.Interrupt(os.Interrupt, 0)
	found := points()
	for _, tag := range []string{"insert-rt", "insert-wt"} {
		for n, point := range found[tag] {
			if want := float64(clitest.LiveStart+n+1) * 1000; point[0] != want || point[1] != 300.0 {
				t.Errorf("tag %s: point %d is %v, not at %v", tag, n, point, want)
			}
		}
		if len(found[tag]) != 20 {
			t.Errorf("tag %s: %d points", tag, len(found[tag]))
		}
	}
}

// TestInterruptPipe interrupts a command whose input ends by itself, since Ctrl-C interrupts the
// commands of a pipe together. No window is lost.
func TestInterruptPipe(t *testing.T) {
	t.Parallel()
	all := writers(t, t.TempDir(), 5)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := clitest.Start(t, reader, "hdrsum", "-if", "-", "-agg", "1", "-st", "ndjson")
	reader.Close()
	writer.Write(all[0].All.Bytes())
	p.Await("rows", func() bool { return strings.Contains(p.Stdout(), "insert-rt") })
	p.Signal(os.Interrupt)
	writer.Write(clitest.Line(t, 5, 1000, 1, "insert-rt")) // its writer has more to say
	writer.Close()
	p.Ends(0)
	if n := strings.Count(p.Stdout(), `"tag":"insert-rt"`); n != 6 {
		t.Errorf("%d rows: %s", n, p.Stdout())
	}
}

// TestAbort ends a run whose limit fails, while its logs go on. What is recorded is pushed first.
func TestAbort(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		limit  string
		option string
		tag    string
		rows   int // that are pushed, at least
	}{
		"maximum":    {"max<=1", "-q", "insert-rt", 2},
		"percentile": {"p50<=2", "-q", "insert-rt", 2 * 10},
		"all tags":   {"max<=1", "-it", "all tags", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r := receive(t, func(int) int { return http.StatusNoContent })
			all := writers(t, dir, 2)
			p := clitest.Start(t, nil, "hdrsum", "-follow", "-agg", "1", "-ip", dir, "-if", `node\d\.hdr`, "-ovr", "1e6", "-from", "start", "-push", r.URL+"/write?db=x",
				"-sla", test.limit+",throughput>=1", "-abort", test.option)
			keepWriting(t, all, 2)
			p.Ends(cli.Exceeded)
			if got := strings.Count(r.text(), "\n"); got < test.rows {
				t.Errorf("%d rows", got)
			}
			if text := p.Stderr(); !strings.Contains(text, "FAIL  "+test.tag) || !strings.Contains(text, " limits do not hold") {
				t.Error(text)
			}
		})
	}
}

// TestFollowTable shows a table on a terminal, and a limit ends the command.
func TestFollowTable(t *testing.T) {
	clitest.RequireTools(t, "script")
	dir := t.TempDir()
	writers(t, dir, 5)
	for options, want := range map[string]struct {
		status int
		text   string
	}{
		"-for 2 -sla 'max<=1000'":                             {0, `ok +insert-rt +max<=1000`},
		"-for 2 -sla 'max<=1'":                                {4, `FAIL +insert-rt +max<=1`},
		"-abort -sla 'max<=1,50<=10'":                         {4, `FAIL +insert-rt +max<=1`},                              // no other end
		"-abort -sort tag -top 1 -sla 'insert-wt:max<=0.001'": {4, `-top shows 1 of 2 rows\s+FAIL +insert-wt +max<=0.001`}, // of a row that is not shown
	} {
		command := fmt.Sprintf(`hdrsum -follow -agg 1 -ip %s -if 'node.\.hdr' -ovr 1e6 %s`, dir, options)
		script := exec.Command("script", "-qec", command, "/dev/null")
		script.Env = append(os.Environ(), "NO_COLOR=1")
		out, err := script.CombinedOutput()
		status := 0
		if exit, ok := err.(*exec.ExitError); ok {
			status = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		last := string(out)[strings.LastIndex(string(out), "\x1b[2J")+1:]
		if status != want.status || !regexp.MustCompile(want.text).MatchString(last) || !strings.Contains(last, "p99.9") {
			t.Errorf("exit status %d: %q", status, out)
		}
	}
}
