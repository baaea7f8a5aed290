package measure

import (
	"hdrkit/internal/base/unit"
)

// These are the logs that proxies write if nobody configures another form. Those of nginx and
// Apache lack the time that a request took: see [accessLog].
var (
	// caddy is https://caddyserver.com/docs/logging. A line is written at the end of its request.
	caddy = Format{
		Name:    "caddy",
		columns: Columns{Time: ".ts", Value: ".duration", OK: ".status"},
		unit:    unit.Second,
		end:     true,
		marks:   []string{`"ts":`, `"logger":"http.log.access`, `"duration":`},
		open:    openObjects,
		only:    [2]string{".msg", "handled request"},
	}
	// envoy is https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage#default-format-string.
	// The time is that of the start.
	envoy = Format{
		Name:    "envoy",
		columns: Columns{Time: "start", Value: "duration", OK: "status"},
		unit:    unit.Millisecond,
		line:    expression(`^\[\d{4}-\d\d-\d\dT[\d:.]+Z\] ".*" \d+ \S+ \d+ \d+ \d+ (\d+|-) "`),
		pattern: `[$start] "$request" $status $flags $received $sent $duration $upstream_time "$forwarded_for" "$user_agent" "$id" "$host" "$upstream"`,
		open:    openPattern,
	}
	// haproxy is option httplog: https://docs.haproxy.org/2.6/configuration.html#8.2.3. The time is
	// that of the start, without a zone. Syslog puts more before the client.
	haproxy = Format{
		Name:    "haproxy",
		columns: Columns{Time: "accept", Value: "total", OK: "status"},
		unit:    unit.Millisecond,
		line:    expression(`\S+:\d+ \[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d\.\d{3}\] \S+ \S+/\S+ (-?\d+/){4}\+?\d+ -?\d+ `),
		pattern: `$client [$accept] $frontend $backend/$server $idle/$queue/$connect/$response/$total $status $bytes $detail "$request`,
		open:    openPattern,
	}
)
