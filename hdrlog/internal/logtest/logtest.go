// Package logtest gives tests of the codecs the payloads of logs. It decodes them with the standard
// library, not with the code under test.
package logtest

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

// Texts returns the payloads in base64 of the logs in testdata, or of the log that HDRKIT_BENCH_LOG
// names. Only packages in the same folder as logtest can call it.
func Texts(tb testing.TB) [][]byte {
	tb.Helper()
	if name := os.Getenv("HDRKIT_BENCH_LOG"); name != "" {
		return Payloads(tb, name)
	}
	return Payloads(tb, "../../../testdata/logs/*.hdr")
}

// Payloads returns the payloads in base64 of the logs whose paths match pattern. The test fails if
// there is no such log.
func Payloads(tb testing.TB, pattern string) [][]byte {
	tb.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		tb.Fatalf("no logs %s: %v", pattern, err)
	}
	var all [][]byte
	for _, name := range names {
		log, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		for line := range bytes.Lines(log) {
			if comma := bytes.LastIndexByte(line, ','); comma >= 0 && line[0] != '#' && line[0] != '"' {
				all = append(all, bytes.TrimSpace(line[comma+1:]))
			}
		}
	}
	return all
}

// Streams returns the zlib streams in the payloads of [Texts].
func Streams(tb testing.TB) [][]byte {
	tb.Helper()
	var all [][]byte
	for _, text := range Texts(tb) {
		packed, err := base64.StdEncoding.DecodeString(string(text))
		if err != nil || len(packed) < 8 {
			tb.Fatalf("bad payload %.60q", text)
		}
		// A double histogram has a header of its own first.
		if binary.BigEndian.Uint32(packed) == 0x0c72124f {
			packed = packed[16:]
		}
		all = append(all, packed[8:])
	}
	return all
}

// Rounds returns the number of rounds that a test with random data makes: n if HDRKIT_REQUIRE_TOOLS
// is 1, as in CI, and otherwise a fifth of n, so that all tests together take a minute.
func Rounds(n int) int {
	if os.Getenv("HDRKIT_REQUIRE_TOOLS") == "1" && !testing.Short() {
		return n
	}
	return n / 5
}
