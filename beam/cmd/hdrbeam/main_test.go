package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/internal/clitest"
)

// TestMain runs hdrbeam where a test starts this program as that.
func TestMain(m *testing.M) {
	if os.Getenv("HDRBEAM_TEST_COMMAND") != "" {
		main()
		return
	}
	folder, err := os.MkdirTemp("", "hdrbeam")
	if err != nil {
		panic(err)
	}
	commands = folder
	status := m.Run()
	os.RemoveAll(folder)
	os.Exit(status)
}

const logs = "../../../testdata/logs"

// commands is where hdrkit's commands are built.
var commands string

// command builds a command of hdrkit and returns its path.
func command(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(commands, name)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	if out, err := exec.Command("go", "build", "-C", "../../..", "-o", path, "./cmd/"+name).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// execute runs a program and returns its exit status and what it printed.
func execute(t *testing.T, program string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	c := exec.Command(program, args...)
	c.Env = append(os.Environ(), "HDRBEAM_TEST_COMMAND=1")
	var out, errOut bytes.Buffer
	c.Stdout, c.Stderr = &out, &errOut
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), out.String(), errOut.String()
}

// hdrbeam runs this program as hdrbeam.
func hdrbeam(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	return execute(t, os.Args[0], args...)
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// intervals returns the lines of a log that are intervals.
func intervals(log string) []string {
	var lines []string
	for line := range strings.Lines(log) {
		if line[0] != '#' && line[0] != '"' {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestUnion compares each log with what hdrunion makes of it, byte for byte: the exit status and
// the log.
func TestUnion(t *testing.T) {
	hdrunion := command(t, "hdrunion")
	paths, err := filepath.Glob(logs + "/*.hdr")
	if err != nil || len(paths) < 28 {
		t.Fatal(len(paths), err)
	}
	if others, err := filepath.Glob("../../../testdata/dialects/*.h*"); err == nil {
		paths = append(paths, others...)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			want, got := filepath.Join(dir, "want.hdr"), filepath.Join(dir, "got.hdr")
			wantStatus, _, wantErr := execute(t, hdrunion, "-q", "-grid", "10", "-of", want, path)
			status, _, stderr := hdrbeam(t, "-grid", "10", "-of", got, "-glob", path)
			if status != wantStatus {
				t.Fatalf("status %d, want %d:\n%s\nhdrunion: %s", status, wantStatus, stderr, wantErr)
			}
			if status == failed {
				return
			}
			if read(t, got) != read(t, want) {
				t.Error("the union is not that of hdrunion")
			}
		})
	}
}

// TestOptions compares unions of several logs, under options, with those of hdrunion.
func TestOptions(t *testing.T) {
	hdrunion := command(t, "hdrunion")
	for _, args := range [][]string{
		{"-grid", "10"},
		{"-grid", "1"},
		{"-grid", "1.5s"},
		{"-grid", "10", "-incT", "insert-rt", "-incT", "default"},
		{"-grid", "10", "-excT", "insert-rt"},
		{"-grid", "10", "-s", "5", "-e", "20s"},
		{"-grid", "10", "-s", "2016-07-18T00:07:00Z"},
		{"-grid", "10", "-co", "1000000"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			want, got := filepath.Join(dir, "want.hdr"), filepath.Join(dir, "got.hdr")
			if status, _, stderr := execute(t, hdrunion, append([]string{"-q", "-of", want, "-ip", logs, "-if", `node.*\.hdr`}, args...)...); status != ok {
				t.Fatal(status, stderr)
			}
			if status, _, stderr := hdrbeam(t, append([]string{"-of", got, "-glob", logs + "/node*.hdr", "-glob", logs + "/node1*"}, args...)...); status != ok {
				t.Fatal(status, stderr)
			}
			if !slices.Equal(intervals(read(t, got)), intervals(read(t, want))) {
				t.Error("the union is not that of hdrunion")
			}
		})
	}
}

func TestSummary(t *testing.T) {
	hdrsum := command(t, "hdrsum")
	for _, pattern := range []string{"node*", "double", "lowest1000", "odd-tags", "huge-counts", "mixed-precision", "empty-intervals", "tiny-values"} {
		t.Run(pattern, func(t *testing.T) {
			t.Parallel()
			paths, err := filepath.Glob(logs + "/" + pattern + ".hdr")
			if err != nil || len(paths) == 0 {
				t.Fatal(paths, err)
			}
			got := filepath.Join(t.TempDir(), "sum.json")
			if status, _, stderr := hdrbeam(t, "-grid", "7", "-summary", got, "-glob", logs+"/"+pattern+".hdr"); status != ok {
				t.Fatal(status, stderr)
			}
			status, want, stderr := execute(t, hdrsum, append([]string{"-q", "-st", "json"}, paths...)...)
			if status != ok {
				t.Fatal(status, stderr)
			}
			want = findings.ReplaceAllString(want, "\n}")
			if text := read(t, got); text != want {
				t.Errorf("got %s\nwant %s", text, want)
			}
		})
	}
}

// findings are the end of hdrsum's document. They need the times of intervals, which hdrbeam does
// not keep.
var findings = regexp.MustCompile(`(?s),\n  "findings": \[.*\]\n}`)

// TestShards checks that the logs of all spans together have the lines of the union, each in its
// span.
func TestShards(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, shard := range []string{"0", "60"} {
		args := []string{"-grid", "5", "-of", filepath.Join(dir, "all"+shard), "-glob", logs + "/node*.hdr"}
		if shard != "0" {
			args = append(args, "-shard", shard)
		}
		if status, _, stderr := hdrbeam(t, args...); status != ok {
			t.Fatal(status, stderr)
		}
	}
	shards, _ := filepath.Glob(dir + "/all60-*.hdr")
	if len(shards) < 2 {
		t.Fatal(shards)
	}
	var lines []string
	for _, shard := range shards {
		r, err := hdrlog.Open(shard)
		if err != nil {
			t.Fatal(err)
		}
		for r.Scan() {
			if i := &r.Record().Interval; r.Record().Kind == hdrlog.IntervalRecord {
				at := time.UnixMilli((i.StartMillis() + i.EndMillis()) / 2).UTC().Truncate(time.Minute).Format("20060102T150405Z")
				if !strings.HasSuffix(shard, "-"+at+".hdr") {
					t.Errorf("%s has an interval of %s", shard, at)
				}
			}
		}
		r.Close()
		lines = append(lines, intervals(read(t, shard))...)
	}
	if !slices.Equal(lines, intervals(read(t, filepath.Join(dir, "all0")))) {
		t.Error("the shards are not the union")
	}
}

// TestKinds checks that a tag with integers and doubles is an error that names both logs, even if
// they never meet.
func TestKinds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	integers, doubles := filepath.Join(dir, "integers.hdr"), filepath.Join(dir, "doubles.hdr")
	write := func(path, from, start string) {
		fields := strings.Split(intervals(read(t, from))[0], ",")
		text := fmt.Sprintf("#[StartTime: 1 (seconds since epoch)]\nTag=t,%s,1.000,0.000,%s", start, fields[len(fields)-1])
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, start := range []string{"5.000", "500.000"} {
		write(integers, logs+"/node1.hdr", "5.000")
		write(doubles, logs+"/double.hdr", start)
		status, _, stderr := hdrbeam(t, "-of", filepath.Join(dir, "all"), "-glob", dir+"/*.hdr")
		want := fmt.Sprintf("hdrbeam: tag t: integer and double histograms do not add up: integers at %s:2, doubles at %s:2\n", integers, doubles)
		if status != failed || stderr != want {
			t.Errorf("status %d, message %q, want %q", status, stderr, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "all")); err == nil {
		t.Error("there is an output")
	}
}

// TestUnits checks that a tag with values of two units is an error, and that other tags are not.
func TestUnits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	interval := intervals(read(t, logs+"/node1.hdr"))[0]
	write := func(name, unit, tag string) {
		_, fields, _ := strings.Cut(interval, ",")
		text := fmt.Sprintf("#UNITS:%s\n#[StartTime: 1 (seconds since epoch)]\nTag=%s,%s\n", unit, tag, fields)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("a.hdr", "NANOSECONDS", "t")
	write("b.hdr", "MICROSECONDS", "other")
	if status, _, stderr := hdrbeam(t, "-of", filepath.Join(dir, "all"), "-glob", dir+"/*.hdr"); status != 0 || strings.Contains(read(t, filepath.Join(dir, "all")), "#UNITS") {
		t.Errorf("status %d, message %q", status, stderr)
	}
	write("b.hdr", "MICROSECONDS", "t")
	status, _, stderr := hdrbeam(t, "-of", filepath.Join(dir, "none"), "-glob", dir+"/*.hdr")
	want := fmt.Sprintf("hdrbeam: the values of %[1]s/a.hdr are in ns, those of %[1]s/b.hdr in us, and they have the same tag\n", dir)
	if status != failed || stderr != want {
		t.Errorf("status %d, message %q, want %q", status, stderr, want)
	}
}

func TestMalformed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := "../../../testdata/dialects/malformed.hlog"
	listed := filepath.Join(dir, "errors.json")
	status, _, stderr := hdrbeam(t, "-of", filepath.Join(dir, "all"), "-errors", listed, "-glob", path)
	lines := strings.Count(read(t, listed), "\n")
	if want := fmt.Sprintf("hdrbeam: skipped %d malformed lines, see %s\n", lines, listed); status != skipped || stderr != want || lines < 5 {
		t.Errorf("status %d, message %q, want %q", status, stderr, want)
	}
	first, _, _ := strings.Cut(read(t, listed), "\n")
	if want := `{"file":"` + path + `","line":6,"field":"payload","error":"field is missing"}`; first != want {
		t.Errorf("first line %s, want %s", first, want)
	}
	if status, _, stderr = hdrbeam(t, "-of", filepath.Join(dir, "all"), "-glob", path); status != skipped || !strings.Contains(stderr, "; -errors FILE lists them") {
		t.Errorf("status %d, message %q", status, stderr)
	}
}

func TestNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct{ glob, want string }{
		{logs + "/header-only.hdr", "hdrbeam: no intervals in the input\n"},
		{dir + "/none*", fmt.Sprintf("hdrbeam: no files matching pattern %q\n", dir+"/none*")},
		{dir + "/none", fmt.Sprintf("hdrbeam: no files matching pattern %q\n", dir+"/none")},
	} {
		status, _, stderr := hdrbeam(t, "-of", dir+"/all", "-glob", c.glob)
		if status != failed || stderr != c.want {
			t.Errorf("%s: status %d, message %q, want %q", c.glob, status, stderr, c.want)
		}
	}
	if left, _ := filepath.Glob(dir + "/*"); left != nil {
		t.Errorf("outputs: %q", left)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, want string }{
		{"-of all", "no input: -glob names logs"},
		{"-glob x", "no output: -of names the union, -summary the summaries"},
		{"-glob x -of y -summary y", `-of and -summary are both "y"`},
		{"-glob x -of y -shard 15", "-shard 15s is no multiple of -grid 10s"},
		{"-glob x -summary y -shard 20", "-shard makes sense with -of only"},
		{"-glob x -of y -grid 0", `invalid value "0" for flag -grid: it is from 0.001 to 1e9 seconds`},
		{"-glob x -of y -grid z", `invalid value "z" for flag -grid: neither seconds nor a duration such as 10s`},
		{"-glob x -of y -co -1", "expected interval must be positive: -1"},
		{"-glob x -of y --runner=none", `--runner "none" is neither prism nor universal`},
		{"-glob x -of y -gird 1", "flag provided but not defined: -gird"},
	} {
		status, stdout, stderr := hdrbeam(t, strings.Fields(c.args)...)
		if want := "hdrbeam: " + c.want + "\nhdrbeam: see hdrbeam -h for the options\n"; status != misused || stderr != want || stdout != "" {
			t.Errorf("%s: status %d, message %q, want %q", c.args, status, stderr, want)
		}
	}
	if status, stdout, stderr := hdrbeam(t, "-h"); status != ok || stdout != usage || stderr != "" {
		t.Errorf("-h: status %d, %q, %q", status, stdout, stderr)
	}
}

// TestUnreachable checks that a job server that is missing is reported at once, not after minutes.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	endpoint := clitest.Address(t)
	for _, c := range []struct{ args, want string }{
		{"", "hdrbeam: --runner=universal needs --endpoint=HOST:PORT, the address of a job server\n"},
		{"--endpoint=" + endpoint, "hdrbeam: --endpoint " + endpoint + ": no job server answers: dial tcp " + endpoint + ": connect: connection refused\n"},
	} {
		args := append([]string{"-glob", "x", "-of", "y", "--runner=universal"}, strings.Fields(c.args)...)
		if status, _, stderr := hdrbeam(t, args...); status != failed || stderr != c.want {
			t.Errorf("%s: status %d, message %q, want %q", c.args, status, stderr, c.want)
		}
	}
}

// TestLocate checks that workers elsewhere get names that do not depend on their folder.
func TestLocate(t *testing.T) {
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	o := options{globs: list{"a/*.hdr", "s3://b/*.hdr", "/c"}, of: "all.hdr", errors: "gs://b/errors"}
	if err := o.makeAbsolute(); err != nil {
		t.Fatal(err)
	}
	got := append(o.globs, o.of, o.summary, o.errors)
	want := []string{folder + "/a/*.hdr", "s3://b/*.hdr", "/c", folder + "/all.hdr", "", "gs://b/errors"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestKilled kills a run while it reads, and checks that no output is there. A second run gives the
// bytes of any other, and removes what runs that failed have left.
func TestKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo, out := filepath.Join(dir, "pipe.hdr"), filepath.Join(dir, "all")
	if err := syscall.Mkfifo(fifo, 0o666); err != nil {
		t.Skip(err)
	}
	c := exec.Command(os.Args[0], "-of", out, "-summary", out+".json", "-errors", out+".errors", "-glob", fifo, "-glob", logs+"/node*.hdr")
	c.Env = append(os.Environ(), "HDRBEAM_TEST_COMMAND=1")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	writer, err := os.OpenFile(fifo, os.O_WRONLY, 0) // returns once the run reads
	if err != nil {
		t.Fatal(err)
	}
	c.Process.Kill()
	c.Wait()
	writer.Close()
	if left, _ := filepath.Glob(out + "*"); left != nil {
		t.Errorf("outputs: %q", left)
	}
	leftover := filepath.Join(dir, ".all-hdrbeam-LEFTOVER")
	if err := os.WriteFile(leftover, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{out, out + "2"} {
		if status, _, stderr := hdrbeam(t, "-of", name, "-glob", logs+"/node*.hdr"); status != ok {
			t.Fatal(status, stderr)
		}
	}
	if read(t, out) != read(t, out+"2") {
		t.Error("two runs differ")
	}
	if left, _ := filepath.Glob(dir + "/.*"); left != nil {
		t.Errorf("left over: %q", left)
	}
}

// TestServer runs the pipeline on Prism as a process of its own, as on any portable runner with a
// job server.
func TestServer(t *testing.T) {
	clitest.RequireTools(t, "go")
	server := filepath.Join(t.TempDir(), "prism")
	if out, err := exec.Command("go", "build", "-o", server, "github.com/apache/beam/sdks/v2/go/cmd/prism").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	_, port, _ := net.SplitHostPort(clitest.Address(t))
	c := exec.Command(server, "--job_port="+port, "--serve_http=false")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		c.Process.Kill()
		c.Wait()
	}()
	endpoint := "localhost:" + port
	clitest.Await(t, "prism", func() string { return "it does not listen on " + endpoint }, func() bool {
		conn, err := net.Dial("tcp", endpoint)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	dir := t.TempDir()
	want, got := filepath.Join(dir, "want"), filepath.Join(dir, "got")
	if status, _, stderr := hdrbeam(t, "-of", want, "-glob", logs+"/node*.hdr"); status != ok {
		t.Fatal(status, stderr)
	}
	status, _, stderr := hdrbeam(t, "-of", got, "-glob", logs+"/node*.hdr", "-glob", "../../../testdata/dialects/malformed.hlog",
		"--runner=universal", "--endpoint="+endpoint, "--environment_type=LOOPBACK", "-excT", "default")
	if status != skipped {
		t.Fatal(status, stderr)
	}
	if !slices.Equal(intervals(read(t, got)), intervals(read(t, want))) {
		t.Error("the union differs on a separate runner")
	}
}
