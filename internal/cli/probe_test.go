package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"hdrkit/hdrlog"
	"hdrkit/internal/scan"
)

// readAll reads a text through a probe, in pieces of at most size bytes.
func readAll(t *testing.T, p *probe, text string, size int) {
	t.Helper()
	input := scan.Input{Open: func() (io.ReadCloser, error) {
		var r io.Reader = strings.NewReader(text)
		if size == 1 {
			r = iotest.OneByteReader(r)
		}
		return io.NopCloser(r), nil
	}}
	p.wrap(&input)
	file, err := input.Open()
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(file)
	if err != nil || string(got) != text {
		t.Errorf("%v, %d bytes of %d", err, len(got), len(text))
	}
}

func TestProbe(t *testing.T) {
	const distribution = "       Value     Percentile TotalCount 1/(1-Percentile)\n\n       1.000 0.000000000000          1           1.00\n"
	for _, test := range []struct {
		name, text string
		isLog      bool
		kind       string
	}{
		{"a payload", "Tag=a,0.000,1.000,0.000,HISTFAAA", true, ""},
		{"a payload of doubles", "Tag=a,0.000,1.000,0.000,DHISTwAA", true, ""},
		{"UTF-16", "0\x00,\x00H\x00I\x00S\x00T\x00", true, ""},
		{"a header", "#[Histogram log format version 1.3]\n", true, ""},
		{"a legend", `"StartTimestamp","Interval_Length"`, true, ""},
		{"gzip", "\x1f\x8b\x08", true, ""},
		{"a payload after much", strings.Repeat("rubbish\n", 20_000) + "HISTFAAA", true, ""},
		{"zstd that does not begin", "a\x28\xb5\x2f\xfd", false, ""},
		{"a distribution", distribution, false, "a percentile distribution; hdrplot -type percentiles draws it"},
		{"a picture", "\x89PNG\r\n\x1a\n", false, picture},
		{"a page", "\n<!DOCTYPE html>", false, "a page"},
		{"JSON", "{\n", false, "a JSON document"},
		{"xz", "\xfd7zXZ\x00", false, "compressed by xz; give it to xzcat first"},
		{"zeros", "ab\x00c", false, "binary data"},
		{"text", "histogram\n", false, ""},
		{"nothing", "", false, ""},
	} {
		for _, size := range []int{1, 1 << 20} {
			t.Run(fmt.Sprintf("%s/%d", test.name, size), func(t *testing.T) {
				if size == 1 && test.name == "gzip" {
					t.Skip("no reader returns one byte of a file")
				}
				var p probe
				readAll(t, &p, test.text, size)
				if p.log() != test.isLog || p.describe() != test.kind {
					t.Errorf("%v, %q", p.log(), p.describe())
				}
				if len(p.head) > 64<<10 || p.isLog && p.head != nil {
					t.Errorf("%d bytes are kept", len(p.head))
				}
			})
		}
	}
}

// TestHeld checks when the messages about inputs are printed that may be no logs.
func TestHeld(t *testing.T) {
	var out bytes.Buffer
	d := NewDiagnostics(&out, "test", false)
	d.probes = map[string]*probe{"log": {}, "text": {}, "picture": {}, "line": {}}
	report := func(name string, line int) {
		t.Helper()
		if err := d.Report(&hdrlog.SyntaxError{File: name, Line: line, Field: "start", Err: errors.New("bad")}, true); err != nil {
			t.Fatal(err)
		}
	}
	printed := func(want string) {
		t.Helper()
		if out.String() != want {
			t.Errorf("printed\n%swant\n%s", out.String(), want)
		}
		out.Reset()
	}
	report("log", 1)
	report("text", 1)
	printed("")
	readAll(t, d.probes["log"], "bad\n0.000,1.000,0.000,HISTF", 100)
	report("text", 2)
	report("log", 3)
	printed("test: log:1: start: bad\ntest: log:3: start: bad\n")
	readAll(t, d.probes["picture"], "\x89PNG", 100)
	for n := range maxDiagnostics + 2 {
		report("picture", n+1)
	}
	report("text", 3)
	report("line", 1)
	report("other", 1) // not probed
	printed("test: other:1: start: bad\n")
	if err := d.Close(); err != Status(Skipped) {
		t.Error(err)
	}
	printed("test: text is no log: line 1: start: bad, and 2 more messages like this\ntest: picture is no log, but a picture; hdrplot LOG -of FILE writes one\n" +
		"test: line:1: start: bad\ntest: skipped 1009 malformed lines\n")

	strict := NewDiagnostics(&out, "test", true)
	strict.probes = d.probes
	if err := strict.Report(&hdrlog.SyntaxError{File: "picture", Line: 1, Field: "start", Err: errors.New("bad")}, true); err != Status(Skipped) {
		t.Error(err)
	}
	printed("test: picture is no log, but a picture; hdrplot LOG -of FILE writes one\n")
}
