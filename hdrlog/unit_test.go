package hdrlog

import (
	"strings"
	"testing"
)

func TestUnit(t *testing.T) {
	for comment, want := range map[string]string{
		"#[Logged with jHiccup 2.0.10]":                     "ns",
		"#Logging op latencies for Cassandra Stress":        "ns",
		"#[Logging for: READ]":                              "us",
		"#[Logging for: Intended-READ-MODIFY-WRITE]":        "us",
		"#[Logging for: Intended-TX-SCAN-FAILED]":           "us",
		"#[Logging for: BATCH]":                             "us",
		"#[Logging for: read]":                              "",
		"#[Logging for: checkout]":                          "",
		"#[Logging for: READ-FAILED-FAILED]":                "",
		"#[Logging for: READ":                               "",
		"#[Histogram log format version 1.3]":               "",
		"#a comment about [Logging for: READ], not of YCSB": "",
		"#":                     "",
		"#UNITS:NANOSECONDS":    "ns",
		"# units: millisecond ": "ms",
		"#UNITS:s":              "s",
		"#UNITS:µs":             "us",
		"#UNITS:":               "",
		"#UNITS:parsecs":        "",
	} {
		if got := Unit([]byte(comment)); got != want {
			t.Errorf("%s: %q, want %q", comment, got, want)
		}
	}
	const stress = "#Logging op latencies for Cassandra Stress\n"
	for log, want := range map[string]string{
		"#[Logging for: READ]\n#UNITS:NANOSECONDS\n#more\n":     "ns",
		"#UNITS:NANOSECONDS\n#[Logging for: READ]\n":            "ns",
		"#UNITS:NANOSECONDS\n#UNITS:MICROSECONDS\n":             "ns",
		stress + "#[BaseTime: 1.000 (seconds since epoch)]\n":   "ns",
		stress + "#[Basetime: 1.000 (seconds since epoch)]\n":   "", // of scylla-bench
		"#UNITS:us\n#[Basetime: 1.000 (seconds since epoch)]\n": "us",
	} {
		r := NewReader(strings.NewReader(log), "log")
		for range r.All() {
		}
		if r.Unit() != want {
			t.Errorf("the unit of %q is %q, want %q", log, r.Unit(), want)
		}
	}
}
