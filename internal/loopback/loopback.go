// Package loopback keeps web pages of others away from a server that only this machine reaches.
//
// A browser lets a page talk to the address that the page came from. If a name of the Internet
// leads to a loopback address suddenly (DNS rebinding), that address is this machine. The request
// still has the name of the Internet.
package loopback

import (
	"net"
	"net/http"
	"strings"
)

// Guard returns a handler that passes requests on. If the listener has a loopback address, requests
// must name this machine: a loopback address, localhost, or the host of address, at which the
// server was asked to listen.
func Guard(listener net.Listener, address string, next http.Handler) http.Handler {
	at, ok := listener.Addr().(*net.TCPAddr)
	if !ok || !at.IP.IsLoopback() {
		return next
	}
	asked := host(address)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := host(r.Host)
		ip := net.ParseIP(name)
		if name == "localhost" || name == asked || ip != nil && ip.IsLoopback() {
			next.ServeHTTP(w, r)
			return
		}
		http.Error(w, "this server answers requests for localhost only", http.StatusForbidden)
	})
}

// host returns the host of an address, which may lack a port.
func host(address string) string {
	name, _, err := net.SplitHostPort(address)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(address, "["), "]")
	}
	return strings.ToLower(strings.TrimSuffix(name, "."))
}
