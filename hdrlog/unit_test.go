package hdrlog

import (
	"strings"
	"testing"
)

func TestUnit(t *testing.T) {
	for comment, want := range map[string]Unit{
		"#[Logged with jHiccup 2.0.10]":                     Nanosecond,
		"#Logging op latencies for Cassandra Stress":        Nanosecond,
		"#[Logging for: READ]":                              Microsecond,
		"#[Logging for: Intended-READ-MODIFY-WRITE]":        Microsecond,
		"#[Logging for: Intended-TX-SCAN-FAILED]":           Microsecond,
		"#[Logging for: BATCH]":                             Microsecond,
		"#[Logging for: read]":                              0,
		"#[Logging for: checkout]":                          0,
		"#[Logging for: READ-FAILED-FAILED]":                0,
		"#[Logging for: READ":                               0,
		"#[Histogram log format version 1.3]":               0,
		"#a comment about [Logging for: READ], not of YCSB": 0,
		"#":                                     0,
		"#UNITS:NANOSECONDS":                    Nanosecond,
		"# units: millisecond ":                 Millisecond,
		"#UNITS:s":                              Second,
		"#UNITS:µs":                             Microsecond,
		"#UNITS:":                               0,
		"#UNITS:parsecs":                        0,
		"#Hiccup measures are in micro seconds": Microsecond, // of node-hiccup
		"#Timestamp and interval length are in seconds": 0,
		"#Hiccup max are in milliseconds":               0,
		"#[All values in nanoseconds]":                  Nanosecond,
		"# latency: measurements in Milliseconds":       Millisecond,
		"# durations are in seconds":                    Second,
		"# values of intervals that begin in seconds":   0,
		"# values are evaluated in secondary caches":    0,
	} {
		if got := UnitOf([]byte(comment)); got != want {
			t.Errorf("%s: %v, want %v", comment, got, want)
		}
	}
	const stress = "#Logging op latencies for Cassandra Stress\n"
	for log, want := range map[string]Unit{
		"#[Logging for: READ]\n#UNITS:NANOSECONDS\n#more\n":     Nanosecond,
		"#UNITS:NANOSECONDS\n#[Logging for: READ]\n":            Nanosecond,
		"#UNITS:NANOSECONDS\n#UNITS:MICROSECONDS\n":             Nanosecond,
		stress + "#[BaseTime: 1.000 (seconds since epoch)]\n":   Nanosecond,
		stress + "#[Basetime: 1.000 (seconds since epoch)]\n":   0, // of scylla-bench
		"#UNITS:us\n#[Basetime: 1.000 (seconds since epoch)]\n": Microsecond,
	} {
		r := NewReader(strings.NewReader(log), "log")
		for range r.All() {
		}
		if r.Unit() != want {
			t.Errorf("the unit of %q is %v, want %v", log, r.Unit(), want)
		}
	}
}
