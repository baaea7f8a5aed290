package loopback

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// listener is one at an address.
type listener struct {
	net.Listener
	ip string
}

func (l listener) Addr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(l.ip), Port: 8080} }

// TestGuard sends requests with several names to servers at several addresses.
func TestGuard(t *testing.T) {
	t.Parallel()
	next := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for _, test := range []struct {
		ip, address, host string
		want              int
	}{
		{"127.0.0.1", "127.0.0.1:8080", "127.0.0.1:8080", 200},
		{"127.0.0.1", "127.0.0.1:8080", "localhost:9000", 200}, // forwarded by ssh
		{"127.0.0.1", "127.0.0.1:8080", "LocalHost", 200},
		{"127.0.0.1", "127.0.0.1:8080", "localhost.:8080", 200},
		{"127.0.0.1", "127.0.0.1:8080", "[::1]:8080", 200},
		{"::1", "[::1]:8080", "[::1]", 200},
		{"127.0.1.1", "machine:8080", "machine:8080", 200}, // the name of the machine, in Debian
		{"127.0.0.1", "127.0.0.1:8080", "machine:8080", 403},
		{"127.0.0.1", "127.0.0.1:8080", "evil.example:8080", 403},
		{"127.0.0.1", "127.0.0.1:8080", "127.0.0.1.evil.example", 403},
		{"127.0.0.1", "127.0.0.1:8080", "localhost.evil.example:8080", 403},
		{"127.0.0.1", "127.0.0.1:8080", "192.0.2.1:8080", 403},
		{"127.0.0.1", "127.0.0.1:8080", "", 403},
		{"::1", "[::1]:8080", "evil.example", 403},
		{"192.0.2.1", "192.0.2.1:8080", "anything.example", 200},
		{"::", ":8080", "anything.example", 200},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = test.host
		w := httptest.NewRecorder()
		Guard(listener{ip: test.ip}, test.address, next).ServeHTTP(w, r)
		if w.Code != test.want {
			t.Errorf("at %s, %s: %q gets %d, want %d", test.ip, test.address, test.host, w.Code, test.want)
		}
	}
}
