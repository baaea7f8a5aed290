package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hdrkit/internal/base/message"
	"hdrkit/internal/cli"
	"hdrkit/internal/dump"
)

// hdrsplit runs the command and returns what it printed on standard error and its exit status.
func hdrsplit(t testing.TB, args ...string) (stderr string, status int) {
	t.Helper()
	return hdrsplitFrom(t, strings.NewReader(""), args...)
}

// hdrsplitFrom runs the command likewise, with input on standard input.
func hdrsplitFrom(t testing.TB, input io.Reader, args ...string) (stderr string, status int) {
	t.Helper()
	var out, err bytes.Buffer
	app := app()
	app.Streams.In, app.Streams.Out, app.Streams.Err = input, &out, &err
	status = cli.Run(app, args)
	if out.Len() > 0 {
		t.Errorf("hdrsplit %q prints %q", args, out.String())
	}
	return err.String(), status
}

const testdata = "../../testdata"

// TestReference runs hdrsplit with the arguments that HdrLogProcessing had, and compares the logs.
// HdrLogProcessing's times are up to a millisecond early.
func TestReference(t *testing.T) {
	expected, err := filepath.Abs(testdata + "/expected")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(testdata + "/splits.tsv")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(testdata + "/logs")
	rows := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(rows) < 5 {
		t.Fatalf("%d rows only", len(rows))
	}
	for _, row := range rows {
		fields := strings.Split(row, "\t")
		name, args, dumps := fields[0], strings.Fields(fields[1]), strings.Fields(fields[2])
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if stderr, status := hdrsplit(t, append(args, "-od", folder, "-verify")...); status != message.OK {
				t.Fatalf("exit status %d: %s", status, stderr)
			}
			entries, err := os.ReadDir(folder)
			if err != nil {
				t.Fatal(err)
			}
			if len(entries) != len(dumps) {
				t.Errorf("%d logs, want %d", len(entries), len(dumps))
			}
			for _, dump := range dumps {
				want, err := os.ReadFile(filepath.Join(expected, "split."+name, dump))
				if err != nil {
					t.Fatal(err)
				}
				compare(t, filepath.Join(folder, strings.TrimSuffix(dump, ".dump")), string(want))
			}
		})
	}
}

// compare compares a log with a dump.
func compare(t *testing.T, path, want string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	lines, err := dump.Log(f, path)
	if err != nil {
		t.Error(err)
	}
	rows := strings.Split(strings.TrimSpace(want), "\n")
	if len(lines) != len(rows) {
		t.Errorf("%s: %d intervals, want %d", path, len(lines), len(rows))
	}
	for n := range min(len(lines), len(rows)) {
		exact, early := lines[n], lines[n]
		early.Start, early.End = early.Start-1, early.End-1
		startEarly, endEarly := exact, exact
		startEarly.Start--
		endEarly.End--
		if row := rows[n]; exact.String() != row && early.String() != row && startEarly.String() != row && endEarly.String() != row {
			t.Errorf("%s:\ngot  %v\nwant %v", path, exact, row)
		}
	}
}

// TestVerbatim has intervals carried over as they stand.
func TestVerbatim(t *testing.T) {
	folder := t.TempDir()
	if stderr, status := hdrsplit(t, testdata+"/logs/node1.hdr", "-od", folder); status != message.OK {
		t.Fatalf("exit status %d: %s", status, stderr)
	}
	whole, err := os.ReadFile(testdata + "/logs/node1.hdr")
	if err != nil {
		t.Fatal(err)
	}
	parts := make(map[string]string)
	for line := range strings.Lines(string(whole)) {
		if rest, ok := strings.CutPrefix(line, "Tag="); ok {
			tag, fields, _ := strings.Cut(rest, ",")
			parts[tag] += fields
		}
	}
	if len(parts) != 6 {
		t.Fatalf("%d tags", len(parts))
	}
	for tag, want := range parts {
		text, err := os.ReadFile(filepath.Join(folder, tag+".node1.hdr"))
		if err != nil {
			t.Fatal(err)
		}
		_, got, ok := strings.Cut(string(text), `"Interval_Compressed_Histogram"`+"\n")
		if !ok || got != want {
			t.Errorf("tag %s: intervals are not those of the log", tag)
		}
	}
}
