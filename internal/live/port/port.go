// Package port opens the port of a command that shows logs, and decides which clients may read.
//
// Only this machine can reach a port at a loopback address. A port at any other address needs
// passwords, or an option that lets everybody read: TLS alone keeps nobody out. A browser lets a
// page send requests to the host that the page came from. If the name of this host suddenly leads
// to a loopback address (DNS rebinding), the page reaches this machine. Its requests still have the
// name of the foreign host, so a port without passwords refuses them.
package port

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options say where a port is, and who may read there.
type Options struct {
	Address string
	// Auth is a file. Each line is a token, or a name and a password with a colon between them.
	// Certificate and Key are files in PEM. All may be empty.
	Auth, Certificate, Key string
	// Open says that everybody may read.
	Open bool
}

// ErrExposed is the error for a port that everybody could read, without a password and without
// Open.
var ErrExposed = errors.New("everybody who reaches this machine could read that")

// A Port is an open port.
type Port struct {
	listener net.Listener
	options  Options
	secrets  [][sha256.Size]byte // hashes of tokens and passwords; none means that nobody needs one
	hasNames bool                // at least one secret is a name and a password
}

// Health are the paths that need no password. They show no data.
var Health = []string{"/healthz", "/readyz", "/-/healthy"}

// Listen opens a port. It returns [ErrExposed] if other machines can reach the port, and neither a
// password nor Open is set.
func Listen(o Options) (*Port, error) {
	p := &Port{options: o}
	if o.Auth != "" {
		if err := p.readSecrets(o.Auth); err != nil {
			return nil, err
		}
	}
	var config *tls.Config
	if o.Certificate != "" {
		c := &certificate{options: o}
		if _, err := c.get(nil); err != nil {
			return nil, err
		}
		config = &tls.Config{GetCertificate: c.get, MinVersion: tls.VersionTLS12}
	}
	var err error
	if p.listener, err = net.Listen("tcp", o.Address); err != nil {
		return nil, err
	}
	if !p.isLoopback() && !o.Open && o.Auth == "" {
		p.listener.Close()
		return nil, ErrExposed
	}
	if config != nil {
		p.listener = tls.NewListener(p.listener, config)
	}
	return p, nil
}

// Addr returns the address at which the port listens.
func (p *Port) Addr() *net.TCPAddr { return p.listener.Addr().(*net.TCPAddr) }

// Close closes a port. Call Close only if Start was not called.
func (p *Port) Close() error { return p.listener.Close() }

// URL returns the URL of the page at the port.
func (p *Port) URL() string {
	if p.options.Certificate != "" {
		return fmt.Sprintf("https://%s/", p.Addr())
	}
	return fmt.Sprintf("http://%s/", p.Addr())
}

// Exposed reports whether everybody who reaches this machine can read, without a password.
func (p *Port) Exposed() bool { return !p.isLoopback() && len(p.secrets) == 0 }

func (p *Port) isLoopback() bool { return p.Addr().IP.IsLoopback() }

// endTime is the time for which the server waits at its end for requests that are being answered.
const endTime = 2 * time.Second

// Start starts answering requests. Stop ends that. It waits at most endTime for requests that are
// being answered.
func (p *Port) Start(handler http.Handler) (stop func()) {
	server := &http.Server{
		Handler: p.guard(handler), MaxHeaderBytes: 64 << 10,
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: log.New(io.Discard, "", 0), // connections without TLS would fill the journal
	}
	go server.Serve(p.listener)
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		server.Shutdown(ctx)
		server.Close()
	}
}

// guard passes on the requests of clients that may read. Without passwords, requests to a loopback
// address must name this machine: by a loopback address, by localhost, or by the host in the
// options.
func (p *Port) guard(next http.Handler) http.Handler {
	asked := host(p.options.Address)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(p.secrets) > 0 {
			if !p.hasSecret(r) && !slices.Contains(Health, r.URL.Path) {
				w.Header().Set("WWW-Authenticate", "Bearer")
				if p.hasNames {
					w.Header().Set("WWW-Authenticate", `Basic realm="hdrkit", charset="UTF-8"`)
				}
				http.Error(w, "this page needs a password", http.StatusUnauthorized)
				return
			}
		} else if name := host(r.Host); p.isLoopback() && !p.options.Open && name != asked && !isLocal(name) {
			http.Error(w, "this server answers requests for localhost only", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isLocal reports whether a host name always means this machine.
func isLocal(name string) bool {
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// host returns the host of an address, which may lack a port.
func host(address string) string {
	name, _, err := net.SplitHostPort(address)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(address, "["), "]")
	}
	return strings.ToLower(strings.TrimSuffix(name, "."))
}

// Prefixes of a secret before it is hashed: name and password, or token.
const (
	basic  = "basic "
	bearer = "bearer "
)

// readSecrets reads the file of -auth. Its errors do not quote lines, because these are secret.
func (p *Port) readSecrets(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimRight(line, "\r\n")
		name, password, named := strings.Cut(line, ":")
		switch {
		case strings.TrimSpace(line) == "" || line[0] == '#':
			continue
		case named && (name == "" || password == ""):
			return fmt.Errorf("%s:%d: NAME:PASSWORD lacks the name or the password", path, number)
		case named:
			p.hasNames = true
			p.secrets = append(p.secrets, sha256.Sum256([]byte(basic+line)))
		case strings.ContainsAny(strings.TrimSpace(line), " \t"):
			return fmt.Errorf("%s:%d: a line is a token without spaces, or NAME:PASSWORD", path, number)
		default:
			p.secrets = append(p.secrets, sha256.Sum256([]byte(bearer+strings.TrimSpace(line))))
		}
	}
	if len(p.secrets) == 0 {
		return fmt.Errorf("%s has no line with a token or NAME:PASSWORD", path)
	}
	return nil
}

// hasSecret reports whether a request has one of the secrets. It compares hashes, so that the time
// it takes says nothing about a secret.
func (p *Port) hasSecret(r *http.Request) bool {
	kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	text := bearer + strings.TrimSpace(token)
	if name, password, ok := r.BasicAuth(); ok {
		text = basic + name + ":" + password
	} else if !strings.EqualFold(kind, "Bearer") {
		return false
	}
	return slices.Contains(p.secrets, sha256.Sum256([]byte(text)))
}

// A certificate is read again when its file changes, because certificates are renewed while a
// command runs.
type certificate struct {
	options  Options
	mu       sync.Mutex
	modified time.Time // time of modification of the file that was read
	pair     *tls.Certificate
}

// get returns the certificate. If a changed file cannot be read, get returns the certificate that
// was read before.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	info, err := os.Stat(c.options.Certificate)
	if err == nil && !info.ModTime().Equal(c.modified) {
		var pair tls.Certificate
		if pair, err = tls.LoadX509KeyPair(c.options.Certificate, c.options.Key); err == nil {
			c.pair, c.modified = &pair, info.ModTime()
		}
	}
	if c.pair != nil {
		return c.pair, nil
	}
	return nil, err
}
