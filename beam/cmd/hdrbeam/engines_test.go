package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"hdrkit/internal/clitest"
	"hdrkit/internal/loggen"
)

// An engine is a real runner of pipelines on this machine, with a job server.
type engine struct {
	folder string // has the files of its processes
	port   int    // of its job server
	args   []string
}

// up starts an engine with the script that people use.
func up(t *testing.T, name string) *engine {
	clitest.RequireTools(t, "java", "mvn", "curl")
	const port = 18190 // not that of people
	cache := os.Getenv("HDRKIT_ENGINES")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(user, "hdrkit-test")
	}
	t.Setenv("HDRKIT_ENGINES", cache)
	t.Setenv("HDRKIT_ENGINE_PORT", strconv.Itoa(port))
	script := "../../engines/" + name
	t.Cleanup(func() {
		if out, err := exec.Command(script, "down").CombinedOutput(); err != nil {
			t.Errorf("%s down: %v\n%s", name, err, out)
		}
	})
	if out, err := exec.Command(script, "up").CombinedOutput(); err != nil {
		t.Fatalf("%s up: %v\n%s", name, err, out)
	}
	return &engine{
		folder: filepath.Join(cache, name),
		port:   port,
		args:   []string{"--runner=universal", fmt.Sprintf("--endpoint=localhost:%d", port), "--environment_type=LOOPBACK"},
	}
}

func TestFlink(t *testing.T) {
	e := up(t, "flink")
	t.Run("corpus", e.corpus)
	t.Run("large", e.large)
	t.Run("killed", e.killed)
}

func TestSpark(t *testing.T) {
	e := up(t, "spark")
	t.Run("corpus", e.corpus)
	t.Run("large", e.large)
}

// corpus compares the union of all logs of testdata, one with malformed lines among them, with that
// of hdrunion, and the summary with that of hdrsum.
func (e *engine) corpus(t *testing.T) {
	dir, paths := t.TempDir(), glob(t, logs+"/*.hdr", "../../../testdata/dialects/malformed.hlog")
	want, got := filepath.Join(dir, "want"), filepath.Join(dir, "got")
	if status, _, stderr := execute(t, command(t, "hdrunion"), slices.Concat([]string{"-q", "-grid", "10", "-of", want}, paths)...); status != skipped {
		t.Fatal(status, stderr)
	}
	args := slices.Concat(e.args, []string{"-grid", "10", "-of", got, "-summary", got + ".json", "-errors", got + ".errors"}, paths)
	status, _, stderr := hdrbeam(t, args...)
	if status != skipped || !strings.Contains(stderr, "hdrbeam: skipped 12 malformed lines, see ") {
		t.Fatal(status, stderr)
	}
	if read(t, got) != read(t, want) {
		t.Error("the union is not that of hdrunion")
	}
	if n := strings.Count(read(t, got+".errors"), "\n"); n != 12 {
		t.Errorf("%d malformed lines", n)
	}
	_, summary, _ := execute(t, command(t, "hdrsum"), slices.Concat([]string{"-q", "-st", "json"}, paths)...)
	summary = findings.ReplaceAllString(summary, "\n}")
	summary = strings.ReplaceAll(summary, `"unit": "ns"`, `"unit": null`) // which a comment of malformed.hlog says
	if text := read(t, got+".json"); text != summary {
		t.Errorf("got %s\nwant %s", text, summary)
	}
}

// large compares the union of 100 MB of logs, in shards, with that of hdrunion.
func (e *engine) large(t *testing.T) {
	dir, paths := t.TempDir(), largeLogs(t, 3, 3000)
	want, got := filepath.Join(dir, "want.hdr"), filepath.Join(dir, "got.hdr")
	if status, _, stderr := execute(t, command(t, "hdrunion"), slices.Concat([]string{"-q", "-grid", "10", "-of", want}, paths)...); status != ok {
		t.Fatal(status, stderr)
	}
	if status, _, stderr := hdrbeam(t, slices.Concat(e.args, []string{"-grid", "10", "-shard", "1200", "-of", got}, paths)...); status != ok {
		t.Fatal(status, stderr)
	}
	shards := glob(t, dir+"/got-*.hdr")
	if len(shards) < 3 {
		t.Error(shards)
	}
	var lines []string
	for _, shard := range shards {
		lines = append(lines, intervals(read(t, shard))...)
	}
	if !slices.Equal(lines, intervals(read(t, want))) {
		t.Error("the shards are not the union")
	}
}

// killed kills a TaskManager while a log is read, and checks that Flink runs its tasks again and
// that nothing counts twice.
func (e *engine) killed(t *testing.T) {
	dir, paths := t.TempDir(), glob(t, logs+"/node*.hdr")
	log, want, got := filepath.Join(dir, "log.hdr"), filepath.Join(dir, "want"), filepath.Join(dir, "got")
	if err := syscall.Mkfifo(log, 0o666); err != nil {
		t.Fatal(err)
	}
	paths = append([]string{log, "../../../testdata/dialects/malformed.hlog"}, paths...)
	c := exec.Command(os.Args[0], slices.Concat(e.args, []string{"-grid", "10", "-of", got, "-errors", got + ".errors"}, paths)...)
	c.Env = append(os.Environ(), "HDRBEAM_TEST_COMMAND=1")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(log, os.O_WRONLY, 0) // returns once a worker reads
	if err != nil {
		t.Fatal(err)
	}
	// A worker that reads the log again finds a file.
	if err := os.WriteFile(log+".new", []byte(read(t, logs+"/digits2.hdr")), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(log+".new", log); err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(read(t, e.folder+"/taskmanager-1.pid")))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	clitest.Await(t, "the loss of a TaskManager", func() string { return read(t, e.folder+"/jobmanager.log") }, func() bool {
		var overview struct{ Taskmanagers int }
		e.get(t, "overview", &overview)
		return overview.Taskmanagers == 1
	})
	pipe.Close()
	c.Wait()
	if status := c.ProcessState.ExitCode(); status != skipped || !strings.Contains(stderr.String(), "hdrbeam: skipped 12 malformed lines, see ") {
		t.Fatal(status, stderr.String())
	}
	if e.attempts(t) < 1 {
		t.Error("no task ran again")
	}
	if status, _, stderr := execute(t, command(t, "hdrunion"), slices.Concat([]string{"-q", "-grid", "10", "-of", want}, paths)...); status != skipped {
		t.Fatal(status, stderr)
	}
	if !slices.Equal(intervals(read(t, got)), intervals(read(t, want))) {
		t.Error("the union is not that of hdrunion")
	}
	if n := strings.Count(read(t, got+".errors"), "\n"); n != 12 {
		t.Errorf("%d malformed lines", n)
	}
}

// attempts returns how often tasks of Flink's last job started again.
func (e *engine) attempts(t *testing.T) int {
	t.Helper()
	var jobs struct {
		Jobs []struct {
			JID       string
			StartTime int64 `json:"start-time"`
		}
	}
	e.get(t, "jobs/overview", &jobs)
	last := slices.MaxFunc(jobs.Jobs, func(a, b struct {
		JID       string
		StartTime int64 `json:"start-time"`
	}) int {
		return int(a.StartTime - b.StartTime)
	})
	var job struct{ Vertices []struct{ ID string } }
	e.get(t, "jobs/"+last.JID, &job)
	n := 0
	for _, v := range job.Vertices {
		var vertex struct{ Subtasks []struct{ Attempt int } }
		e.get(t, "jobs/"+last.JID+"/vertices/"+v.ID, &vertex)
		for _, s := range vertex.Subtasks {
			n += s.Attempt
		}
	}
	return n
}

// get asks Flink's JobManager.
func (e *engine) get(t *testing.T, path string, to any) {
	t.Helper()
	r, err := http.Get(fmt.Sprintf("http://localhost:%d/%s", e.port+3, path))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if err := json.NewDecoder(r.Body).Decode(to); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// glob returns the absolute paths of files that match patterns, sorted.
func glob(t *testing.T, patterns ...string) []string {
	t.Helper()
	var paths []string
	for _, pattern := range patterns {
		pattern, err := filepath.Abs(pattern)
		if err != nil {
			t.Fatal(err)
		}
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(found), err)
		}
		paths = append(paths, found...)
	}
	slices.Sort(paths)
	return paths
}

// largeLogs makes n logs of so many seconds, 11 kB a second.
func largeLogs(t *testing.T, n, seconds int) []string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i := range n {
		path := filepath.Join(dir, fmt.Sprintf("n%d.hdr", i))
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		o := loggen.Options{Seconds: seconds, Rate: 10000, Seed: uint64(i), Start: 1468800000137 + int64(i)*13, Distinct: 20}
		if err := loggen.Write(f, o); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}
