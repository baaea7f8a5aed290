package viewer_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hdrkit/internal/loggen"
	"hdrkit/internal/scan"
	"hdrkit/internal/viewer"
)

func inputOf(t *testing.T, path string) scan.Input {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return scan.File(path, info.Size())
}

// pageOf returns the page of an answer, nil if there is none.
func pageOf(a *viewer.Answer) []byte {
	if a.Before == "" {
		return nil
	}
	rows := base64.StdEncoding.EncodeToString(bytes.Join(a.Rows, nil))
	return []byte(a.Before + rows + a.After)
}

// TestMake makes pages without a browser. The tests of hdrplot compare them with its own.
func TestMake(t *testing.T) {
	log := inputOf(t, "../../testdata/logs/node1.hdr")
	for _, test := range []struct {
		name    string
		request viewer.Request
		input   scan.Input
		page    string // a part of it
		table   string
		message string
		err     string
	}{
		{name: "log", request: viewer.Request{Unit: "ms"}, input: log, page: `"title":"node1"`, table: "\ninsert-rt    5,384  44.87 ", message: "the log does not state its unit"},
		{name: "tags", request: viewer.Request{Include: "simple1-.*,insert-rt", Exclude: ".*-wt"}, input: log, page: `"label":"simple1-st"`, table: "\nsimple1-rt  38,726 "},
		{name: "malformed", input: inputOf(t, "../../testdata/dialects/malformed.hlog"), page: `"title":"malformed"`, table: "\n", message: "malformed.hlog:6: payload: field is missing"},
		{name: "distribution", input: inputOf(t, "../../testdata/expected/node1.it-hgrm.out"), page: `"title":"node1.it-hgrm"`},
		{name: "picture", input: inputOf(t, "../../docs/report.png"), message: "report.png is no log, but a picture", err: "no intervals in the input"},
		{name: "unit", request: viewer.Request{Unit: "furlong"}, input: log, err: "-unit: "},
		{name: "in", request: viewer.Request{In: "furlong"}, input: log, err: "-in: "},
		{name: "percentile", request: viewer.Request{Percentiles: "101"}, input: log, err: `-p: "101" is neither max nor a percentile`},
		{name: "tag", request: viewer.Request{Include: "("}, input: log, err: "-incT and -excT: "},
		{name: "time", request: viewer.Request{From: "never"}, input: log, err: "never"},
		{name: "limits", request: viewer.Request{In: "ns", Unit: "ms", Limits: "p99<=50ms", Aggregate: "1m"}, input: log, page: `"label":"SLA: p99 ≤ 50 ms"`, table: "\n"},
		{name: "windows", request: viewer.Request{Unit: "ms", Aggregate: "1m"}, input: log, page: `"window":60000,`, table: "\n"},
		{name: "limit", request: viewer.Request{Limits: "p99<=fast"}, input: log, err: "-sla p99<=fast: "},
		{name: "length", request: viewer.Request{Aggregate: "1 hour"}, input: log, err: `-agg "1 hour" is no length of time; did you mean 1h?`},
		{name: "unreadable", input: scan.Input{Name: "a", Open: func() (io.ReadCloser, error) { return nil, errors.New("it is a folder") }}, err: "it is a folder"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, err := viewer.Make(&test.request, []scan.Input{test.input}, nil)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) || a.Before != "" {
					t.Errorf("error %v, want %s", err, test.err)
				}
			} else if err != nil || !strings.Contains(string(pageOf(a)), test.page) || !strings.Contains(a.Table, test.table) || test.table == "" && a.Table != "" {
				t.Errorf("%v, a page of %d bytes, the table\n%s", err, len(pageOf(a)), a.Table)
			}
			if got := strings.Join(a.Messages, "\n"); !strings.Contains(got, test.message) || strings.Contains(got, "hdrkit:") {
				t.Errorf("messages %q", got)
			}
		})
	}
}

// TestProgress reads ten logs, and hears of shares.
func TestProgress(t *testing.T) {
	log := inputOf(t, "../../testdata/logs/node1.hdr")
	var inputs []scan.Input
	for _, name := range strings.Split("abcdefghij", "") {
		one := log
		one.Name = name
		inputs = append(inputs, one)
	}
	last := 0.0
	a, err := viewer.Make(&viewer.Request{}, inputs, func(share float64) {
		if share < last || share > 1 {
			t.Errorf("from %v to %v", last, share)
		}
		last = share
	})
	if last == 0 {
		t.Error("nothing says how far it is")
	}
	if err != nil || !strings.Contains(a.Table, "\nsimple1-rt  387,260 ") {
		t.Errorf("%v\n%s", err, a.Table)
	}
}

// longLog is a log whose windows become longer, since they take too much memory.
func longLog(t *testing.T) scan.Input { return secondsOf(t, 2400) }

// secondsOf is a log of some seconds.
func secondsOf(t *testing.T, seconds int) scan.Input {
	t.Helper()
	path := filepath.Join(t.TempDir(), "long.hdr")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	o := loggen.Options{Seconds: seconds, Rate: 1000, Seed: 1, Start: loggen.ScenarioStart, Distinct: 300}
	if err := errors.Join(loggen.Write(f, o), f.Close()); err != nil {
		t.Fatal(err)
	}
	return inputOf(t, path)
}

// A counted file counts what is read of it.
type counted struct {
	io.ReadCloser
	bytes *int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	*c.bytes += int64(n)
	return n, err
}

// TestReadOnce makes a page of two logs. It reads both once, and some beginnings before.
func TestReadOnce(t *testing.T) {
	var inputs []scan.Input
	size, read := int64(0), int64(0)
	for _, name := range []string{"a", "b"} {
		one := longLog(t)
		open := one.Open
		one.Name = name
		one.Open = func() (io.ReadCloser, error) {
			file, err := open()
			return &counted{file, &read}, err
		}
		size += one.Size
		inputs = append(inputs, one)
	}
	if _, err := viewer.Make(&viewer.Request{}, inputs, nil); err != nil {
		t.Fatal(err)
	}
	if read > 3*size/2 {
		t.Errorf("%d bytes are read of %d", read, size)
	}
}
