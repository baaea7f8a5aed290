package prom

import (
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"hdrkit/internal/base/unit"
	"hdrkit/internal/live/push"
)

// Credentials is the environment variable with the Authorization field of pushes. A command line
// would show it to others.
const Credentials = "HDRKIT_PUSH_AUTHORIZATION"

// A Receiver is a kind of receivers.
type Receiver struct {
	// Format is that of the rows for it.
	Format   string
	header   func() http.Header
	encode   func(rows []byte) []byte
	rejected func(answer []byte) (rows int, why string)
}

// receivers are the kinds: InfluxDB, remote write of Prometheus, and OpenTelemetry.
var receivers = []*Receiver{
	{Format: "otlp", header: OTLPHeader, encode: Gzip, rejected: Rejected},
	{Format: "openmetrics", header: RemoteHeader, encode: Snappy},
	{Format: "influx", header: func() http.Header { return http.Header{"Content-Type": {"text/plain; charset=utf-8"}} }},
}

// ReceiverOf returns what is at an address, as far as it shows.
func ReceiverOf(u *url.URL) *Receiver {
	switch {
	case strings.HasPrefix(u.Scheme, push.OTLP):
		return receivers[0]
	case strings.Contains(u.Path, "/api/v1/"):
		return receivers[1]
	}
	return receivers[2]
}

// ReceiverNamed returns the one that takes rows of a format, nil if there is none.
func ReceiverNamed(format string) *Receiver {
	for _, r := range receivers {
		if r.Format == format {
			return r
		}
	}
	return nil
}

// Pusher returns what sends rows to an address. The options say more.
func (r *Receiver) Pusher(u *url.URL, agent string, o push.Options) *push.Pusher {
	address := *u
	address.Scheme = strings.TrimPrefix(address.Scheme, push.OTLP)
	o.URL, o.Header, o.Encode, o.Rejected = &address, r.header(), r.encode, r.rejected
	o.Header.Set("User-Agent", agent)
	if secret := os.Getenv(Credentials); secret != "" {
		o.Header.Set("Authorization", secret)
	}
	return push.New(o)
}

// Precision returns the unit of times that the address of an InfluxDB asks for.
func Precision(u *url.URL) string {
	there := u.Query().Get("precision")
	switch { // the names of InfluxDB 1; without one, both take nanoseconds
	case there == "u":
		return "us"
	case slices.Contains(unit.Names, there):
		return there
	}
	return "ns"
}
