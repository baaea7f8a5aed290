//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/message"
	"hdrkit/internal/cli"
	"hdrkit/internal/clitest"
)

// patient is an hdrlive that waits longer at its end: for receivers, and for a scrape.
const patient, awaitsScrape = "patient-hdrlive", "hdrlive-awaits-scrape"

func TestMain(m *testing.M) {
	clitest.Command(patient, func() {
		endTime = clitest.Patience
		main()
	})
	clitest.Command(awaitsScrape, func() {
		scrapeTime = clitest.Patience
		main()
	})
	clitest.Main(m, "hdrlive", main)
}

func TestScripts(t *testing.T) { clitest.Run(t) }

// hdrlive runs the command.
func hdrlive(t testing.TB, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, err bytes.Buffer
	app := app()
	app.Streams.In, app.Streams.Out, app.Streams.Err = strings.NewReader(""), &out, &err
	status = cli.Run(app, args)
	return out.String(), err.String(), status
}

// output returns what another command prints, which must succeed.
func output(t testing.TB, command string, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	c := exec.Command(command, args...)
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %q: %v: %s", command, args, err, stderr.String())
	}
	return string(out)
}

// TestServe scrapes while logs are written.
func TestServe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	all := clitest.Writers(t, dir, 3)
	p := clitest.Start(t, nil, "hdrlive", "-agg", "1", "-idle", "1h", "-ip", dir, "-if", `node\d\.hdr`, "-in", "ns", "-metric", "rt_seconds", "-serve", "127.0.0.1:0")
	at := p.Serves()
	scraped := func(line string) func() bool {
		return func() bool { return strings.Contains(clitest.Fetch("http://"+at+"/metrics"), line) }
	}
	p.Await("two windows", scraped(`rt_seconds_count{tag="insert-rt"} 600`))
	clitest.WriteSeconds(all, 3, 4)
	p.Await("three windows", scraped(`rt_seconds_count{tag="insert-rt"} 900`))
	p.Await("the last window", scraped(`rt_seconds_window_max{tag="insert-rt"} 0.011`))
	all[0].Line("not a line\n")
	p.Await("a malformed line", scraped(fmt.Sprintf(`hdrkit_skipped_lines_total{input=%q} 1`, all[0].Path)))
	p.Await("health", func() bool { return clitest.Fetch("http://"+at+"/-/healthy") == "healthy\n" })
	if p.Stdout() != "" {
		t.Errorf("it prints %s", p.Stdout())
	}
	_, stderr, status := hdrlive(t, "-if", all[0].Path, "-serve", at)
	if status != 1 || !strings.Contains(stderr, "address already in use") {
		t.Errorf("exit status %d: %s", status, stderr)
	}
	p.Interrupt(syscall.SIGTERM, 3)
}

// TestGrace: after an interrupt, one more scrape sees the last window.
func TestGrace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	clitest.Writers(t, dir, 3)
	p := clitest.Start(t, nil, awaitsScrape, "-agg", "1", "-idle", "1h", "-ip", dir, "-if", `node\d\.hdr`, "-metric", "rt", "-serve", "127.0.0.1:0")
	at := p.Serves()
	scraped := func(line string) func() bool {
		return func() bool { return strings.Contains(clitest.Fetch("http://"+at+"/metrics"), line) }
	}
	p.Await("two windows", scraped(`rt_count{tag="insert-rt"} 600`))
	p.Await("a second scrape", scraped(`rt_count{tag="insert-rt"} 600`)) // who scrapes once does not come again
	p.Signal(os.Interrupt)
	seen := false
	clitest.Await(t, "the end", p.Stderr, func() bool {
		seen = scraped(`rt_count{tag="insert-rt"} 900`)() || seen
		return p.Ended()
	})
	if !seen {
		t.Error("no scrape saw the last window")
	}
	p.Ends(0)
}

// TestHeaders follows logs that name their operations in their headers.
func TestHeaders(t *testing.T) {
	t.Parallel()
	logs := filepath.Join(clitest.Root(), "testdata", "dialects")
	for _, test := range []struct {
		args       []string
		with, none string
	}{
		{[]string{"-if", `ycsb-.*\.hdr`}, `"tag":"UPDATE"`, `"tag":null`},
		{[]string{"-if", "ycsb-read.hdr", "-if", "ycsb-update.hdr"}, `"tag":"READ"`, `"tag":null`},
		{[]string{"-if", "ycsb-read.hdr"}, `"tag":null`, "READ"},
	} {
		p := clitest.Start(t, nil, "hdrlive", append([]string{"-agg", "0.1", "-idle", "0.1", "-st", "ndjson", "-ip", logs}, test.args...)...)
		p.Await("rows", func() bool { return strings.Contains(p.Stdout(), test.with) })
		p.Interrupt(os.Interrupt, 0)
		if strings.Contains(p.Stdout(), test.none) {
			t.Errorf("%q: %s", test.args, p.Stdout())
		}
	}
}

// TestPush follows logs and pushes their rows to a receiver that fails every third request. Nothing
// is lost.
func TestPush(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := clitest.Receive(t, func(n int) int {
		if n%3 == 1 {
			return http.StatusServiceUnavailable
		}
		return http.StatusNoContent
	})
	all := clitest.Writers(t, dir, 5)
	p := clitest.Start(t, nil, patient, "-from", "start", "-agg", "1", "-idle", "1h", "-ip", dir, "-if", `node\d\.hdr`, "-in", "ns", "-unit", "ms", "-push", r.URL+"/write?db=x&precision=ms", "-serve", "127.0.0.1:0")
	at := p.Serves()
	p.Await("the first rows", func() bool { return strings.Count(r.Text(), "\n") == 2*4 })
	clitest.WriteSeconds(all, 5, 10)
	p.Await("more rows", func() bool { return strings.Count(r.Text(), "\n") == 2*9 })
	p.Await("its own metrics", func() bool {
		return strings.Contains(clitest.Fetch("http://"+at+"/metrics"), "\nhdrkit_push_sent_rows_total{receiver=\"influx "+r.URL+"/write?db=x&precision=ms\"} 18\n")
	})
	p.Await("ready", func() bool { return clitest.Fetch("http://"+at+"/readyz") == "ready\n" })
	p.Interrupt(os.Interrupt, 0)
	if !strings.Contains(p.Stderr(), "the receiver did not take") || !strings.Contains(p.Stderr(), "the receiver is back") {
		t.Error(p.Stderr())
	}
	if p.Stdout() != "" {
		t.Errorf("it prints %s", p.Stdout())
	}
	args := []string{"-q", "-agg", "1", "-in", "ns", "-unit", "ms", "-st", "influx", "-p", "50,90,99,99.9"}
	for _, w := range all {
		args = append(args, w.Path)
	}
	if got, want := r.Text(), output(t, clitest.Build(t, "hdrsum"), args...); got != want {
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
			r := clitest.Receive(t, func(int) int { return http.StatusNoContent })
			path := filepath.Join(t.TempDir(), "log.hdr")
			w := clitest.NewLogWriter(t, path, float64(time.Now().Unix()-100-clitest.LiveStart), "a")
			for s := range 10 {
				w.Second(s, 1000, 1)
			}
			args := []string{"-idle", "1h", "-if", path, "-push", r.URL + "/write?db=x", "-serve", "127.0.0.1:0"}
			if from != "" {
				args = append(args, "-from", from)
			}
			p := clitest.Start(t, nil, "hdrlive", args...)
			if from == "" {
				notice := regexp.MustCompile(`leaving out intervals that start before \d+-\d\d-\d\dT[0-9:]+Z; -s start `)
				p.Await("a notice", func() bool { return notice.MatchString(p.Stderr()) })
			}
			p.Serves() // it knows by now what is past
			next := int(float64(time.Now().Unix())-clitest.LiveStart-w.Skew) + 2
			for s := range 4 { // the last window is open
				w.Second(next+s, 1000, 1)
			}
			p.Await("rows", func() bool { return strings.Count(r.Text(), "\n") == want })
		})
	}
}

// TestInterruptAway interrupts a command that waits for its receiver. It gives up after a while.
func TestInterruptAway(t *testing.T) {
	t.Parallel()
	r := clitest.Receive(t, func(int) int { return http.StatusServiceUnavailable })
	var tags []string
	for n := range 100 {
		tags = append(tags, fmt.Sprint("tag", n))
	}
	path := filepath.Join(t.TempDir(), "log.hdr")
	w := clitest.NewLogWriter(t, path, 0, tags...)
	for s := range 110 { // more than two batches of 5,000 rows
		w.Second(s, 1000, 1)
	}
	p := clitest.Start(t, nil, "hdrlive", "-from", "start", "-if", path, "-push", r.URL)
	p.Await("a retry", func() bool { return strings.Contains(p.Stderr(), "the receiver did not take ") })
	p.Interrupt(os.Interrupt, 1)
	if !strings.Contains(p.Stderr(), "did not take the last rows: 11000 are lost") {
		t.Error(p.Stderr())
	}
}

// TestInterruptTwice interrupts a command that cannot send its last rows. The second signal ends it
// at once.
func TestInterruptTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := clitest.Receive(t, func(int) int { return http.StatusServiceUnavailable })
	clitest.Writers(t, dir, 5)
	p := clitest.Start(t, nil, patient, "-from", "start", "-agg", "1", "-ip", dir, "-if", `node\d\.hdr`, "-push", r.URL)
	retry := regexp.MustCompile("the receiver did not take [0-9]+ rows: 503 Service Unavailable")
	p.Await("a retry", func() bool { return retry.MatchString(p.Stderr()) })
	// Signals of a kind that come at the same moment are one.
	p.Insist(os.Interrupt, 130)
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
		"percentile": {"p50<=2", "-q", "insert-rt", 2 * 9},
		"all tags":   {"max<=1", "-by=all", "all tags", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r := clitest.Receive(t, func(int) int { return http.StatusNoContent })
			all := clitest.Writers(t, dir, 2)
			p := clitest.Start(t, nil, patient, "-agg", "1", "-idle", "1h", "-ip", dir, "-if", `node\d\.hdr`, "-in", "ns", "-unit", "ms", "-from", "start", "-push", r.URL+"/write?db=x",
				"-sla", test.limit+",throughput>=1", "-abort", "-abort-after", "10s", test.option)
			clitest.KeepWriting(t, all, 2)
			p.Ends(message.Exceeded)
			if got := strings.Count(r.Text(), "\n"); got < test.rows {
				t.Errorf("%d rows", got)
			}
			if text := p.Stderr(); !strings.Contains(text, "FAILS: ") || !strings.Contains(text, " limits do") {
				t.Error(text)
			}
		})
	}
}

// TestPeriod: the rate of a run is that of the time in which its logs ran, as in hdrsum.
func TestPeriod(t *testing.T) {
	dir := t.TempDir()
	h, err := histogram.New(histogram.Layout{Lowest: 1, Digits: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.RecordN(1000, 100); err != nil {
		t.Fatal(err)
	}
	for n, start := range []float64{1e9, 1e9 + 60} {
		var text bytes.Buffer
		w := hdrlog.NewWriter(&text)
		w.BaseTime(start)
		for second := range 5 {
			w.Interval([]byte("read"), float64(second), 1, h)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(fmt.Sprintf("%s/run%d.hdr", dir, n), text.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	_, stderr, status := hdrlive(t, "-ip", dir, "-if", `run\d\.hdr`, "-for", "1s", "-st", "ndjson", "-sla", "throughput>=100,throughput<=100")
	if status != 0 || strings.Count(stderr, "HOLDS: ") != 2 {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestTable shows a table on a terminal, and a limit ends the command.
func TestTable(t *testing.T) {
	clitest.RequireTools(t, "script")
	dir := t.TempDir()
	clitest.Writers(t, dir, 5)
	for options, want := range map[string]struct {
		status int
		text   string
	}{
		"-for 2 -sla 'max<=1000'":     {0, `HOLDS: max of insert-rt`},
		"-for 2 -sla 'max<=1'":        {4, `FAILS: max of insert-rt`},
		"-abort -sla 'max<=1,50<=10'": {4, `FAILS: max of insert-rt`}, // no other end
	} {
		command := fmt.Sprintf(`hdrlive -ip %s -if 'node.\.hdr' -in ns -unit ms %s`, dir, options)
		script := exec.Command("script", "-qec", command, "/dev/null")
		script.Env = append(os.Environ(), "NO_COLOR=1")
		out, err := script.CombinedOutput()
		status := 0
		if exit, ok := err.(*exec.ExitError); ok {
			status = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		last := string(out)[strings.LastIndex(string(out), "\x1b[J")+1:]
		if status != want.status || !regexp.MustCompile(want.text).MatchString(last) || !strings.Contains(last, "p99.9") {
			t.Errorf("exit status %d: %q", status, out)
		}
	}
}

// TestTableAgain: the table shows the last window, also if the last drawing has just been.
func TestTableAgain(t *testing.T) {
	clitest.RequireTools(t, "script")
	dir := t.TempDir()
	all := clitest.Writers(t, dir, 3)
	p := clitest.Start(t, nil, "script", "-qefc", fmt.Sprintf(`hdrlive -idle 1h -ip %s -if 'node.\.hdr' -in ns -unit ms`, dir), "/dev/null")
	shows := func(count string) func() bool {
		return func() bool {
			text := p.Stdout()
			return regexp.MustCompile(`insert-rt +` + count + ` `).MatchString(text[strings.LastIndex(text, "\x1b[J")+1:])
		}
	}
	p.Await("a table", shows("600"))
	for s := 3; s < 12; s++ {
		clitest.WriteSeconds(all, s, s+1)
	}
	p.Await("the last window", shows("3,?300"))
}

// TestOffset: two logs of 200 values a second whose seconds begin 0.4 s apart show 400 a second
// once both run: in the first window, the second one runs for 0.6 s.
func TestOffset(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var all []*clitest.LogWriter
	for n := range 2 {
		all = append(all, clitest.NewLogWriter(t, fmt.Sprintf("%s/node%d.hdr", dir, n), 0.4*float64(n), "rt"))
	}
	out := filepath.Join(t.TempDir(), "all.hdr")
	p := clitest.Start(t, nil, "hdrlive", "-idle", "1h", "-ip", dir, "-if", `node\d\.hdr`, "-in", "ns", "-st", "timeline", "-of", out, "-serve", "127.0.0.1:0")
	at := p.Serves()
	for s := range 6 {
		for _, w := range all {
			w.Second(s, 1e6, 200)
		}
	}
	p.Await("four windows", func() bool { return strings.Count(p.Stdout(), "\n") >= 5 })
	last := ""
	for n, line := range strings.Split(strings.TrimSpace(p.Stdout()), "\n")[1:5] {
		want := 400.0
		if n == 0 {
			want = 320
		}
		fields := strings.Split(line, ",")
		if fields[4] != "400" || fields[0] <= last {
			t.Errorf("after %s: %s", last, line)
		}
		if rate, err := strconv.ParseFloat(fields[5], 64); err != nil || rate != want {
			t.Errorf("%s a second: %s", fields[5], line)
		}
		last = fields[0]
	}
	p.Await("the counter", func() bool {
		return strings.Contains(clitest.Fetch("http://"+at+"/metrics"), "latency_seconds_count{tag=\"rt\"} 2000\n")
	})
	p.Interrupt(os.Interrupt, 0)
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if got := counts(t, string(text), "rt"); got[0] != 400 || got[4] != 400 {
		t.Errorf("%v", got)
	}
}

// TestAway: what waits for a receiver that is away is in the state, and arrives after a restart.
// The log does not wait for it.
func TestAway(t *testing.T) {
	t.Parallel()
	dir, folder := t.TempDir(), t.TempDir()
	// A request that was given up may still arrive, so the receiver takes those of the second run
	// only.
	const first, second = "HDRKIT_PUSH_AUTHORIZATION=first", "HDRKIT_PUSH_AUTHORIZATION=second"
	r := clitest.ReceiveFrom(t, func(_ int, authorization string) int {
		if authorization == "second" {
			return http.StatusNoContent
		}
		return http.StatusServiceUnavailable
	})
	all := clitest.Writers(t, dir, 10)
	out := filepath.Join(folder, "all.hdr")
	args := []string{"-ip", dir, "-if", `node\d\.hdr`, "-in", "ns", "-unit", "ms", "-idle", "1h", "-push", r.URL + "/write?precision=ms", "-of", out, "-state", filepath.Join(folder, "state")}
	written := func() int {
		text, _ := os.ReadFile(out)
		return strings.Count(string(text), "Tag=")
	}
	p := clitest.Start(t, nil, "env", slices.Concat([]string{first, "hdrlive"}, args)...)
	p.Await("nine windows in the log", func() bool { return written() == 2*9 })
	p.Interrupt(os.Interrupt, 0)
	if !strings.Contains(p.Stderr(), "rows wait for the next start") {
		t.Error(p.Stderr())
	}
	p = clitest.Start(t, nil, "env", slices.Concat([]string{second, "hdrlive"}, args)...)
	clitest.WriteSeconds(all, 10, 12)
	p.Await("eleven windows at the receiver", func() bool { return strings.Count(r.Text(), "\n") == 2*11 })
	lines := strings.Split(strings.TrimSpace(r.Text()), "\n")
	if slices.Sort(lines); len(slices.Compact(lines)) != 2*11 {
		t.Errorf("points arrived twice: %q", lines)
	}
	// An output that is taken away is forgotten.
	p.Interrupt(os.Interrupt, 0)
	p = clitest.Start(t, nil, "hdrlive", slices.Concat(args[:10], args[12:])...)
	p.Await("a notice", func() bool { return strings.Contains(p.Stderr(), "is no output any more; the state forgets it") })
}

// TestAwayAndGone: rows that a receiver waits for are lost if their log is gone and there is no
// merged log. A start says so.
func TestAwayAndGone(t *testing.T) {
	t.Parallel()
	dir, state := t.TempDir(), filepath.Join(t.TempDir(), "state")
	r := clitest.Receive(t, func(int) int { return http.StatusServiceUnavailable })
	all := clitest.Writers(t, dir, 10)
	args := []string{"-ip", dir, "-if", `node\d\.hdr`, "-in", "ns", "-unit", "ms", "-idle", "1h", "-push", r.URL + "/write?precision=ms", "-state", state}
	const notice = "rows may be missing: some logs are gone, and no merged log has them"
	p := clitest.Start(t, nil, "hdrlive", args...)
	p.Await("all windows", func() bool {
		text, _ := os.ReadFile(state)
		return strings.Contains(string(text), fmt.Sprintf(`"Done":%d`, int64(1000*(clitest.LiveStart+9))))
	})
	p.Interrupt(syscall.SIGKILL, -1)
	p = clitest.Start(t, nil, "hdrlive", args...)
	p.Await("the first request", func() bool { return strings.Contains(p.Stderr(), "trying again") })
	p.Interrupt(syscall.SIGKILL, -1)
	if strings.Contains(p.Stderr(), notice) {
		t.Errorf("with all logs: %s", p.Stderr())
	}
	os.Remove(all[0].Path)
	p = clitest.Start(t, nil, "hdrlive", args...)
	p.Await("the notice", func() bool { return strings.Contains(p.Stderr(), notice) })
}

// TestClosed: a reader of standard output that goes away ends the command only if there is no other
// output.
func TestClosed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	all := clitest.Writers(t, dir, 3)
	out := filepath.Join(t.TempDir(), "all.hdr")
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	p := clitest.Start(t, nil, "sh", "-c", fmt.Sprintf("exec hdrlive -idle 1h -ip %s -if 'node.*' -st ndjson -of %s > %s", dir, out, pipe))
	reader, err := os.Open(pipe) // waits for the writer
	if err != nil {
		t.Fatal(err)
	}
	if row, err := bufio.NewReader(reader).ReadString('\n'); err != nil {
		t.Errorf("%q, %v", row, err)
	}
	reader.Close()
	clitest.WriteSeconds(all, 3, 8)
	p.Await("seven windows in the log", func() bool {
		text, _ := os.ReadFile(out)
		return strings.Count(string(text), "Tag=") >= 2*7
	})
	p.Interrupt(os.Interrupt, 0)
	alone := clitest.Start(t, nil, "sh", "-c", fmt.Sprintf("hdrlive -ip %s -if 'node.*' -st ndjson | head -n 1", dir))
	alone.Await("a row", func() bool { return alone.Stdout() != "" })
	second := 8
	clitest.Await(t, "the end", alone.Stderr, func() bool {
		clitest.WriteSeconds(all, second, second+1)
		second++
		return alone.Ended()
	})
	alone.Ends(0) // the status of head
}

// TestHangup: SIGHUP ends the command as SIGTERM does, with a status after which systemd starts it
// again.
func TestHangup(t *testing.T) {
	t.Parallel()
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("nohup keeps the signal from all that the tests start")
	}
	dir := t.TempDir()
	clitest.Writers(t, dir, 3)
	p := clitest.Start(t, nil, "hdrlive", "-idle", "1h", "-ip", dir, "-if", "node.*")
	p.Await("a window", func() bool { return strings.Contains(p.Stdout(), "Tag=") })
	p.Interrupt(syscall.SIGHUP, 128+int(syscall.SIGHUP))
	if n := strings.Count(p.Stdout(), "Tag="); n != 2*3 {
		t.Errorf("%d lines", n)
	}
}

// TestPathLater waits for a file in a folder that is there already.
func TestPathLater(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, out := filepath.Join(dir, "a.hdr"), filepath.Join(t.TempDir(), "all.hdr")
	p := clitest.Start(t, nil, "hdrlive", "-idle", "100ms", path, "-of", out)
	p.Await("a message", func() bool { return strings.Contains(p.Stderr(), path+" is not there yet; waiting for it") })
	w := clitest.NewLogWriter(t, path, 0, "rt")
	for s := range 3 {
		w.Second(s, 1000, 1)
	}
	p.Await("a window", func() bool {
		text, _ := os.ReadFile(out)
		return strings.Contains(string(text), "Tag=rt")
	})
	p.Interrupt(os.Interrupt, 0)
}
