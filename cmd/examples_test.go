//go:build unix

package cmd

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"hdrkit/internal/clitest"
)

// logs says which logs the examples' names stand for.
var logs = map[string]string{
	"throughput.hdr":      "node1.hdr",
	"fixed.hdr":           "node1.hdr",
	"insert-rt.fixed.hdr": "digits3.hdr",
	"node1.hdr":           "node1.hdr",
	"node2.hdr":           "node2.hdr",
	"node3.hdr":           "node3.hdr",
	"insert-rt.hdr":       "digits3.hdr",
	"run1.hdr":            "straddle-a.hdr",
	"run2.hdr":            "later-run.hdr",
	"before.hdr":          "node1.hdr",
	"after.hdr":           "node2.hdr",
	"load-gen1.hdr":       "straddle-a.hdr",
	"load-gen2.hdr":       "straddle-b.hdr",
	"load-gen3.hdr":       "straddle-c.hdr",
	"run.hdr":             "node3.hdr",
	"a.hdr":               "node1.hdr",
	"b.hdr":               "node2.hdr",
}

// prepare makes a folder with what the examples read.
func prepare(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"throttle-st.hgrm", "throttle-rt.hgrm"} {
		text, err := os.ReadFile(filepath.Join(clitest.Root(), "testdata", "expected", "node1.it-hgrm.out"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, log := range logs {
		text, err := os.ReadFile(filepath.Join(clitest.Root(), "testdata", "logs", log))
		if err != nil {
			t.Fatal(err)
		}
		var zst, gz strings.Builder
		zw, _ := zstd.NewWriter(&zst)
		zw.Write(text)
		zw.Close()
		gw := gzip.NewWriter(&gz)
		gw.Write(text)
		gw.Close()
		for file, content := range map[string]string{name: string(text), name + ".zst": zst.String(), name + ".gz": gz.String()} {
			// The compressed ones only where no expression of an example would match them too.
			if file != name && file != "run.hdr.zst" && file != "a.hdr.zst" && file != "b.hdr.gz" {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// example finds commands in indented lines; what two or more spaces or a # set off is no part of
// them.
var example = regexp.MustCompile(`(?m)^(?:    |   )((?:hdr|zstdcat|go run ).*?)(?:  +.*| +# .*)?$`)

// matches finds the message about a regular expression that matches several files.
var matches = regexp.MustCompile(`(?m)^hdr\w+: -\w+ '.*' matches \d+ files: .*\n`)

func TestExamples(t *testing.T) {
	build(t)
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"README": string(readme)}
	commands, err := filepath.Glob("hdr*")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range commands {
		out, err := exec.Command(command, "--help").Output()
		if err != nil {
			t.Fatal(err)
		}
		texts[command] = string(out)
	}
	for source, text := range texts {
		examples := example.FindAllStringSubmatch(text, -1)
		if len(examples) < 3 {
			t.Errorf("%s has %d examples only", source, len(examples))
		}
		for n, found := range examples {
			t.Run(fmt.Sprintf("%s/%d", source, n), func(t *testing.T) {
				t.Parallel()
				run(t, found[1])
			})
		}
	}
}

func run(t *testing.T, command string) {
	dir := t.TempDir()
	prepare(t, dir)
	if strings.HasPrefix(command, "go run") {
		dir = clitest.Root() // the README's first command, in a clone
	}
	if strings.Contains(command, "zstdcat") {
		clitest.RequireTools(t, "zstdcat")
	}
	address, url := "", ""
	for listen, path := range listenAddresses {
		if !strings.Contains(command, listen) {
			continue
		}
		clitest.RequireTools(t)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address = l.Addr().String()
		l.Close()
		command, url = strings.ReplaceAll(command, listen, address), "http://"+address+path
	}
	shell := exec.Command("sh", "-c", command)
	shell.Dir = dir
	if url != "" {
		runUntilAnswer(t, shell, url)
		return
	}
	if strings.Contains(command, " -follow") {
		runUntilOutput(t, shell)
		return
	}
	var stdout, stderr strings.Builder
	shell.Stdout, shell.Stderr = &stdout, &stderr
	if err := shell.Run(); err != nil {
		t.Errorf("%s: %v\n%s", command, err, stderr.String())
	}
	if messages := matches.ReplaceAllString(stderr.String(), ""); messages != "" {
		t.Errorf("%s: on standard error:\n%s", command, messages)
	}
}

// listenAddresses are where the examples listen, with a path that answers.
var listenAddresses = map[string]string{"127.0.0.1:9103": "/-/healthy", "127.0.0.1:8080": "/"}

// runUntilAnswer runs a command until it answers a request, and interrupts it then.
func runUntilAnswer(t *testing.T, shell *exec.Cmd, url string) {
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	defer shell.Wait()
	defer syscall.Kill(-shell.Process.Pid, syscall.SIGINT)
	clitest.Await(t, shell.Args[2], nil, func() bool {
		answer, err := http.Get(url)
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
}

// runUntilOutput runs a command that never ends by itself. It must print something, and is
// interrupted then.
func runUntilOutput(t *testing.T, shell *exec.Cmd) {
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the signal goes to all processes of a pipeline
	var stderr strings.Builder
	shell.Stderr = &stderr
	stdout, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(2*time.Minute, func() { syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) })
	defer late.Stop()
	n, err := stdout.Read(make([]byte, 1))
	syscall.Kill(-shell.Process.Pid, syscall.SIGINT)
	io.Copy(io.Discard, stdout)
	shell.Wait()
	if n == 0 {
		t.Errorf("%s prints nothing: %v\n%s", shell.Args[2], err, stderr.String())
	}
}
