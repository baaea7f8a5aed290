package port

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hdrkit/internal/clitest"
)

// listener is one at an address.
type listener struct {
	net.Listener
	ip string
}

func (l listener) Addr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(l.ip), Port: 8080} }

var answer = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "data") })

// TestNames sends requests with several names to ports at several addresses.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		ip, address, host string
		open              bool
		want              int
	}{
		{"127.0.0.1", "127.0.0.1:8080", "127.0.0.1:8080", false, 200},
		{"127.0.0.1", "127.0.0.1:8080", "localhost:9000", false, 200}, // forwarded by ssh
		{"127.0.0.1", "127.0.0.1:8080", "LocalHost", false, 200},
		{"127.0.0.1", "127.0.0.1:8080", "localhost.:8080", false, 200},
		{"127.0.0.1", "127.0.0.1:8080", "[::1]:8080", false, 200},
		{"::1", "[::1]:8080", "[::1]", false, 200},
		{"127.0.1.1", "machine:8080", "machine:8080", false, 200}, // the name of the machine, in Debian
		{"127.0.0.1", "127.0.0.1:8080", "machine:8080", false, 403},
		{"127.0.0.1", "127.0.0.1:8080", "machine:8080", true, 200}, // a proxy that passes the name on
		{"127.0.0.1", "127.0.0.1:8080", "evil.example:8080", false, 403},
		{"127.0.0.1", "127.0.0.1:8080", "127.0.0.1.evil.example", false, 403},
		{"127.0.0.1", "127.0.0.1:8080", "localhost.evil.example:8080", false, 403},
		{"127.0.0.1", "127.0.0.1:8080", "192.0.2.1:8080", false, 403},
		{"127.0.0.1", "127.0.0.1:8080", "", false, 403},
		{"::1", "[::1]:8080", "evil.example", false, 403},
		{"192.0.2.1", "192.0.2.1:8080", "anything.example", true, 200},
		{"::", ":8080", "anything.example", true, 200},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = test.host
		w := httptest.NewRecorder()
		p := &Port{listener: listener{ip: test.ip}, options: Options{Address: test.address, Open: test.open}}
		p.guard(answer).ServeHTTP(w, r)
		if w.Code != test.want {
			t.Errorf("at %s, %s, open %v: %q gets %d, want %d", test.ip, test.address, test.open, test.host, w.Code, test.want)
		}
	}
}

// TestExposed opens ports that others reach: somebody must have said so.
func TestExposed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certificate, key := selfSigned(t, dir, 1)
	for _, test := range []struct {
		options Options
		want    error
		exposed bool
	}{
		{Options{Address: ":0"}, ErrExposed, false},
		{Options{Address: "0.0.0.0:0"}, ErrExposed, false},
		{Options{Address: "127.0.0.1:0"}, nil, false},
		{Options{Address: ":0", Open: true}, nil, true},
		{Options{Address: ":0", Auth: write(t, dir, "auth", "token\n")}, nil, false},
		{Options{Address: ":0", Certificate: certificate, Key: key}, ErrExposed, false},
		{Options{Address: ":0", Certificate: certificate, Key: key, Open: true}, nil, true},
	} {
		p, err := Listen(test.options)
		if err != test.want {
			t.Errorf("%+v: %v", test.options, err)
		}
		if err == nil {
			if p.Exposed() != test.exposed {
				t.Errorf("%+v: exposed is %v", test.options, p.Exposed())
			}
			p.Close()
		}
	}
}

// TestSecrets asks with several credentials.
func TestSecrets(t *testing.T) {
	t.Parallel()
	const file = "# people\nann:a secret: with colons\r\n\nbob:b\n# machines\nT0ken/+=\n"
	p, err := Listen(Options{Address: "127.0.0.1:0", Auth: write(t, t.TempDir(), "auth", file)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, test := range []struct {
		name, password, header, path string
		want                         int
	}{
		{"", "", "", "/", 401},
		{"", "", "", "/metrics", 401},
		{"", "", "", "/healthz", 200}, // probes know no password
		{"", "", "", "/healthz/", 401},
		{"ann", "a secret: with colons", "", "/", 200},
		{"bob", "b", "", "/", 200},
		{"bob", "", "", "/", 401},
		{"ann", "b", "", "/", 401},
		{"# people", "", "", "/", 401},
		{"", "", "Bearer T0ken/+=", "/", 200},
		{"", "", "bearer T0ken/+=", "/", 200},
		{"", "", "Bearer t0ken/+=", "/", 401},
		{"", "", "Bearer ", "/", 401},
		{"", "", "Bearer bob:b", "/", 401},
		{"", "", "Basic T0ken/+=", "/", 401},
		{"", "", "T0ken/+=", "/", 401},
	} {
		r := httptest.NewRequest("GET", "http://elsewhere.example"+test.path, nil) // a password suffices
		if test.header != "" {
			r.Header.Set("Authorization", test.header)
		}
		if test.name != "" {
			r.SetBasicAuth(test.name, test.password)
		}
		w := httptest.NewRecorder()
		p.guard(answer).ServeHTTP(w, r)
		if w.Code != test.want {
			t.Errorf("%+v: %d", test, w.Code)
		}
		if w.Code == 401 && (strings.Contains(w.Body.String(), "data") || !strings.HasPrefix(w.Header().Get("WWW-Authenticate"), "Basic realm=")) {
			t.Errorf("%+v: %v %s", test, w.Header(), w.Body)
		}
	}
}

// TestErrors opens ports with files that are no good. No message repeats a secret.
func TestErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certificate, key := selfSigned(t, dir, 1)
	for _, test := range []struct {
		options Options
		want    string
	}{
		{Options{Auth: filepath.Join(dir, "none")}, "no such file"},
		{Options{Auth: write(t, dir, "empty", "\n# nobody\n")}, "empty has no line with a token or NAME:PASSWORD"},
		{Options{Auth: write(t, dir, "half", "ok\nann:\n")}, "half:2: NAME:PASSWORD lacks the name or the password"},
		{Options{Auth: write(t, dir, "words", "Bearer secret\n")}, "words:1: a line is a token without spaces, or NAME:PASSWORD"},
		{Options{Certificate: filepath.Join(dir, "none"), Key: key}, "no such file"},
		{Options{Certificate: key, Key: key}, "certificate"},
		{Options{Certificate: certificate, Key: certificate}, "key"},
	} {
		test.options.Address = "127.0.0.1:0"
		_, err := Listen(test.options)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v", test.options, err)
		}
	}
}

// TestTLS speaks TLS, and takes a renewed certificate while it runs.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certificate, key := selfSigned(t, dir, 1)
	p, err := Listen(Options{Address: "127.0.0.1:0", Certificate: certificate, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Start(answer)()
	serial := func() int64 {
		t.Helper()
		pem, err := os.ReadFile(filepath.Join(dir, "trusted"))
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}}
		response := await(t, &client, p.URL())
		defer response.Body.Close()
		if body, _ := io.ReadAll(response.Body); string(body) != "data" {
			t.Errorf("%q", body)
		}
		return response.TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	if got := serial(); got != 1 {
		t.Errorf("certificate %d", got)
	}
	// The times of files are coarse.
	later := time.Now().Add(time.Hour)
	if os.WriteFile(certificate, []byte("half a fi"), 0o600) != nil || os.Chtimes(certificate, later, later) != nil || serial() != 1 {
		t.Error("a certificate that cannot be read replaces the one before")
	}
	selfSigned(t, dir, 2)
	if os.Chtimes(certificate, later.Add(time.Hour), later.Add(time.Hour)) != nil || serial() != 2 {
		t.Error("a renewed certificate is not taken")
	}
	response := await(t, http.DefaultClient, strings.Replace(p.URL(), "https", "http", 1))
	response.Body.Close()
	if response.StatusCode != 400 {
		t.Errorf("without TLS: %d", response.StatusCode)
	}
}

// await asks until there is an answer: a server waits for a slow client a few seconds only.
func await(t *testing.T, client *http.Client, url string) (answer *http.Response) {
	t.Helper()
	var err error
	clitest.Await(t, "an answer", func() string { return err.Error() }, func() bool {
		answer, err = client.Get(url)
		return err == nil
	})
	return answer
}

// selfSigned writes a certificate and its key, and the certificate as a client trusts it.
func selfSigned(t *testing.T, dir string, serial int64) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	text := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	write(t, dir, "trusted", text)
	key = write(t, dir, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	return write(t, dir, "cert.pem", text), key
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
