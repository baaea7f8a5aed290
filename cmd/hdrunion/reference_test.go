package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdrkit/internal/base/message"
	"hdrkit/internal/cli"
	"hdrkit/internal/dump"
)

// hdrunion runs the command and returns what it printed and its exit status.
func hdrunion(t testing.TB, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, err bytes.Buffer
	app := app()
	app.Streams.In, app.Streams.Out, app.Streams.Err = strings.NewReader(""), &out, &err
	status = cli.Run(app, args)
	return out.String(), err.String(), status
}

// intervals runs the command, which must succeed, and returns the intervals of the result.
func intervals(t testing.TB, args ...string) []dump.Line {
	t.Helper()
	stdout, stderr, status := hdrunion(t, args...)
	if status != message.OK {
		t.Fatalf("hdrunion %q: exit status %d: %s", args, status, stderr)
	}
	lines, err := dump.Log(strings.NewReader(stdout), "union")
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

const testdata = "../../testdata"

// TestReference runs hdrunion with the arguments that HdrLogProcessing had, and compares the
// intervals. Their times may differ by a millisecond.
func TestReference(t *testing.T) {
	expected, err := filepath.Abs(testdata + "/expected")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(testdata + "/unions.tsv")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(testdata + "/logs")
	rows := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(rows) < 12 {
		t.Fatalf("%d rows only", len(rows))
	}
	for _, row := range rows {
		name, args, _ := strings.Cut(row, "\t")
		t.Run(name, func(t *testing.T) {
			for _, jobs := range []string{"1", "4"} {
				want := readDump(t, filepath.Join(expected, "union."+name+".dump"))
				got := intervals(t, append(strings.Fields(args), "-j", jobs)...)
				if !slices.IsSortedFunc(got, func(a, b dump.Line) int { return int(a.Start - b.Start) }) {
					t.Error("the result is not in order of time")
				}
				compare(t, got, want, 1)
			}
		})
	}
}

// readDump reads a dump of the reference's.
func readDump(t *testing.T, path string) []dump.Line {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return parseDump(t, string(text))
}

func parseDump(t testing.TB, text string) []dump.Line {
	t.Helper()
	var lines []dump.Line
	for row := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSpace(row), "\t")
		if len(fields) != 7 {
			t.Fatalf("%q is no line of a dump", row)
		}
		number := func(n, base int) int64 {
			v, err := strconv.ParseInt(fields[n], base, 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		lines = append(lines, dump.Line{Tag: fields[0], Start: number(1, 10), End: number(2, 10), Kind: fields[3],
			Digits: int(number(4, 10)), Count: number(5, 10), CRC: uint32(number(6, 16))})
	}
	return lines
}

// compare compares intervals, in any order, with times up to so many milliseconds apart.
func compare(t testing.TB, got, want []dump.Line, apart int64) {
	t.Helper()
	key := func(l dump.Line) string { return fmt.Sprint(l.Tag, l.Kind, l.Digits, l.Count, l.CRC, "\t", l.Start) }
	for _, lines := range [][]dump.Line{got, want} {
		slices.SortFunc(lines, func(a, b dump.Line) int { return strings.Compare(key(a), key(b)) })
	}
	if len(got) != len(want) {
		t.Errorf("%d intervals, want %d", len(got), len(want))
	}
	for n := range min(len(got), len(want)) {
		g, w := got[n], want[n]
		if max(g.Start-w.Start, w.Start-g.Start, g.End-w.End, w.End-g.End) <= apart {
			g.Start, g.End = w.Start, w.End
		}
		if g != w {
			t.Errorf("got  %v\nwant %v", got[n], w)
		}
	}
}
