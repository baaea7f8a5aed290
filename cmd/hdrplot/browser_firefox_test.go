//go:build browser

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hdrkit/internal/clitest"
)

// firefox is a headless Firefox that listens to Marionette: a length, a colon and JSON, of
// [0, number, command, parameters] or [1, number, error, result].
type firefox struct {
	net.Conn
	in     *bufio.Reader
	number int
}

func newFirefox(t *testing.T) *firefox {
	t.Helper()
	if os.Getenv("HDRKIT_FIREFOX") == "" {
		t.Skip("set HDRKIT_FIREFOX=1 to run tests with Firefox")
	}
	clitest.RequireTools(t, "firefox-esr")
	profile := t.TempDir()
	listener, err := net.Listen("tcp", "127.0.0.1:0") // for a free port
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	_, port, _ := strings.Cut(address, ":")
	if err := os.WriteFile(filepath.Join(profile, "user.js"), fmt.Appendf(nil, "user_pref(\"marionette.port\", %s);\n", port), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("firefox-esr", "--headless", "--marionette", "--no-remote", "--profile", profile)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Signal(os.Interrupt)
		c.Wait()
	})
	f := new(firefox)
	for deadline := time.Now().Add(clitest.Patience); f.Conn == nil; time.Sleep(50 * time.Millisecond) {
		if f.Conn, err = net.Dial("tcp", address); err != nil && time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { f.Close() })
	f.in = bufio.NewReader(f.Conn)
	f.read(t) // who it is
	f.do(t, "WebDriver:NewSession", nil)
	f.do(t, "WebDriver:SetTimeouts", map[string]any{"script": clitest.Patience.Milliseconds()})
	return f
}

// read returns a message.
func (f *firefox) read(t *testing.T) []byte {
	t.Helper()
	size, err := f.in.ReadString(':')
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSuffix(size, ":"))
	if err != nil {
		t.Fatal(err)
	}
	message := make([]byte, n)
	if _, err := io.ReadFull(f.in, message); err != nil {
		t.Fatal(err)
	}
	return message
}

// do runs a command and returns the value of its result.
func (f *firefox) do(t *testing.T, command string, parameters map[string]any) (value any) {
	t.Helper()
	f.number++
	text, err := json.Marshal([]any{0, f.number, command, parameters})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(f, "%d:%s", len(text), text); err != nil {
		t.Fatal(err)
	}
	var answer []any
	if err := json.Unmarshal(f.read(t), &answer); err != nil || len(answer) != 4 || answer[2] != nil {
		t.Fatalf("%s: %v, %v", command, err, answer)
	}
	result, _ := answer[3].(map[string]any)
	return result["value"]
}

// await returns what a promise in the page comes to.
func (f *firefox) await(t *testing.T, promise string) string {
	t.Helper()
	return fmt.Sprint(f.do(t, "WebDriver:ExecuteAsyncScript", map[string]any{"args": []any{}, "script": "const done = arguments[0]; (" + promise + ").then(done, error => done(String(error)))"}))
}

// TestBrowserFirefox reads logs in hdrkit.html with Firefox. What it saves is what hdrplot writes.
func TestBrowserFirefox(t *testing.T) {
	file := buildViewer(t)
	f, command := newFirefox(t), clitest.Build(t, "hdrplot")
	for _, path := range []string{"logs/node1.hdr", "dialects/text.hlog.gz", "dialects/gzip-two-members.hlog.zst", "measurements/jmeter.jtl"} {
		path, err := filepath.Abs("../../testdata/" + path)
		if err != nil {
			t.Fatal(err)
		}
		f.do(t, "WebDriver:Navigate", map[string]any{"url": "file://" + file})
		input, _ := f.do(t, "WebDriver:FindElement", map[string]any{"using": "css selector", "value": "#files"}).(map[string]any)
		f.await(t, `new Promise(done => {
			window.wrong = [];
			addEventListener('error', event => wrong.push(event.message));
			addEventListener('securitypolicyviolation', event => wrong.push(event.violatedDirective));
			URL.createObjectURL = (create => blob => { window.made = blob; return create.call(URL, blob); })(URL.createObjectURL);
			done('');
		})`)
		for _, id := range input {
			f.do(t, "WebDriver:ElementSendKeys", map[string]any{"id": id, "text": path})
		}
		f.await(t, "new Promise(done => { const look = () => 'ready' in document.documentElement.dataset ? done('') : setTimeout(look, 20); look(); })")
		got := f.await(t, "(document.getElementById('save').click(), made.text())")
		title, _, _ := strings.Cut(filepath.Base(path), ".")
		want, err := exec.Command(command, "-q", "-unit", "ms", "-title", title, "-format", "html", "-of", "-", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: the saved page has %d bytes, that of hdrplot %d", path, len(got), len(want))
		}
		if got := f.await(t, "Promise.resolve(document.title + ' ' + (document.getElementById('curve').offsetHeight > 100) + wrong)"); got != title+" true" {
			t.Errorf("%s: the page is %s", path, got)
		}
	}
}
