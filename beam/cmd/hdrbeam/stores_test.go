package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"hdrkit/internal/clitest"
)

// A store is an emulator of an object store, with a bucket called logs.
type store struct {
	scheme string
	listed string         // the address that lists the bucket
	names  *regexp.Regexp // finds the names of objects in a list
}

// TestS3 runs on moto, which HDRKIT_LIBRARIES has.
func TestS3(t *testing.T) {
	libraries := os.Getenv("HDRKIT_LIBRARIES")
	clitest.RequireTools(t, libraries+"/venv/bin/moto_server")
	host := serve(t, func(port string) []string { return []string{libraries + "/venv/bin/moto_server", "-p", port} })
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": "http://" + host, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1",
	} {
		t.Setenv(name, value)
	}
	send(t, http.MethodPut, "http://"+host+"/logs", "")
	(&store{"s3://logs/", "http://" + host + "/logs?list-type=2", regexp.MustCompile("<Key>([^<]*)")}).test(t)
}

// TestGCS runs on fake-gcs-server, which HDRKIT_LIBRARIES has.
func TestGCS(t *testing.T) {
	server := os.Getenv("HDRKIT_LIBRARIES") + "/fake-gcs-server"
	clitest.RequireTools(t, server)
	host := serve(t, func(port string) []string {
		return []string{server, "-scheme", "http", "-backend", "memory", "-host", "127.0.0.1", "-port", port, "-public-host", "127.0.0.1:" + port}
	})
	t.Setenv("STORAGE_EMULATOR_HOST", host)
	send(t, http.MethodPost, "http://"+host+"/storage/v1/b?project=test", `{"name": "logs"}`)
	(&store{"gs://logs/", "http://" + host + "/storage/v1/b/logs/o", regexp.MustCompile(`"name":"([^"]*)`)}).test(t)
}

// serve starts a server on a free port and waits until it listens.
func serve(t *testing.T, command func(port string) []string) (host string) {
	t.Helper()
	host = clitest.Address(t)
	_, port, _ := net.SplitHostPort(host)
	args := command(port)
	p := exec.Command(args[0], args[1:]...)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Process.Kill()
		p.Wait()
	})
	clitest.Await(t, args[0], func() string { return "it does not listen on " + host }, func() bool {
		conn, err := net.Dial("tcp", host)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return host
}

func send(t *testing.T, method, url, body string) string {
	t.Helper()
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response.Status, string(text), err)
	}
	return string(text)
}

// objects returns the names of the objects that begin with prefix, sorted.
func (s *store) objects(t *testing.T, prefix string) []string {
	t.Helper()
	var names []string
	for _, m := range s.names.FindAllStringSubmatch(send(t, http.MethodGet, s.listed, ""), -1) {
		if strings.HasPrefix(m[1], prefix) {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return names
}

func (s *store) open(t *testing.T) filesystem.Interface {
	t.Helper()
	fs, err := filesystem.New(context.Background(), s.scheme)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fs.Close() })
	return fs
}

func (s *store) read(t *testing.T, name string) string {
	t.Helper()
	data, err := filesystem.Read(context.Background(), s.open(t), s.scheme+name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// test compares unions in the store with those of hdrunion on the same logs.
func (s *store) test(t *testing.T) {
	paths := glob(t, logs+"/node*.hdr", "../../../testdata/dialects/malformed.hlog")
	for _, path := range paths {
		if err := filesystem.Write(context.Background(), s.open(t), s.scheme+"in/"+filepath.Base(path), []byte(read(t, path))); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	want := filepath.Join(dir, "want")
	if status, _, stderr := execute(t, command(t, "hdrunion"), slices.Concat([]string{"-q", "-grid", "10", "-of", want}, paths)...); status != skipped {
		t.Fatal(status, stderr)
	}
	input := []string{"-grid", "10", "-glob", s.scheme + "in/*.hdr", "-glob", s.scheme + "in/*.hlog"}

	status, _, stderr := hdrbeam(t, append(input, "-of", s.scheme+"one/all.hdr", "-summary", s.scheme+"one/sum.json", "-errors", s.scheme+"one/errors")...)
	if status != skipped {
		t.Fatal(status, stderr)
	}
	if got := s.objects(t, "one/"); !slices.Equal(got, []string{"one/all.hdr", "one/errors", "one/sum.json"}) {
		t.Errorf("objects %q", got)
	}
	if !slices.Equal(intervals(s.read(t, "one/all.hdr")), intervals(read(t, want))) {
		t.Error("the union is not that of hdrunion")
	}
	if n := strings.Count(s.read(t, "one/errors"), "\n"); n != 12 {
		t.Errorf("%d malformed lines", n)
	}
	_, summary, _ := execute(t, command(t, "hdrsum"), slices.Concat([]string{"-q", "-st", "json"}, paths)...)
	for _, path := range paths {
		summary = strings.Replace(summary, `"`+path+`"`, `"`+s.scheme+"in/"+filepath.Base(path)+`"`, 1)
	}
	if got := s.read(t, "one/sum.json"); got != summary {
		t.Errorf("got %s\nwant %s", got, summary)
	}

	if status, _, stderr := hdrbeam(t, append(input, "-of", s.scheme+"many/all.hdr", "-shard", "60")...); status != skipped {
		t.Fatal(status, stderr)
	}
	var lines []string
	shards := s.objects(t, "many/")
	for _, shard := range shards {
		lines = append(lines, intervals(s.read(t, shard))...)
	}
	if len(shards) < 3 || !slices.Equal(lines, intervals(read(t, want))) {
		t.Errorf("%q are not the union", shards)
	}

	none := s.scheme + "in/none*"
	if status, _, stderr := hdrbeam(t, append(input, "-glob", none, "-of", s.scheme+"none")...); status != failed || stderr != fmt.Sprintf("hdrbeam: no files matching pattern %q\n", none) {
		t.Error(status, stderr)
	}

	// A run that is killed while it reads leaves nothing.
	pipe := filepath.Join(dir, "zz.hdr")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0], append(input, "-glob", pipe, "-of", s.scheme+"killed/all.hdr")...)
	c.Env = append(os.Environ(), "HDRBEAM_TEST_COMMAND=1")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	writer, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	c.Process.Kill()
	c.Wait()
	writer.Close()
	if left := s.objects(t, "killed"); left != nil {
		t.Errorf("a run that was killed left %q", left)
	}
}
