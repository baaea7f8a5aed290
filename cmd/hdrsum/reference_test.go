package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdrkit/internal/base/message"
	"hdrkit/internal/cli"
)

// hdrsum runs the command and returns what it printed and its exit status.
func hdrsum(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, err bytes.Buffer
	app := app()
	app.Streams.In, app.Streams.Out, app.Streams.Err = strings.NewReader(""), &out, &err
	status = cli.Run(app, args)
	return out.String(), err.String(), status
}

// TestReference runs hdrsum with the arguments that the reference had, and compares the output.
func TestReference(t *testing.T) {
	testSummaries(t, "../../testdata/summaries.tsv", "../../testdata/logs", "../../testdata/expected", 170)
}

// TestReferenceReal does the same with logs of jHiccup that are not part of this repository.
func TestReferenceReal(t *testing.T) {
	const dir = "../../../shared/reference"
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("skipped, since the real logs are not here: %v", err)
	}
	testSummaries(t, dir+"/real-summaries.tsv", dir+"/real-logs", dir+"/real-expected", 16)
}

func testSummaries(t *testing.T, table, logs, expected string, atLeast int) {
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	expected, err = filepath.Abs(expected)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(logs)
	rows := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(rows) < atLeast {
		t.Fatalf("%d rows only", len(rows))
	}
	for _, row := range rows {
		name, args, _ := strings.Cut(row, "\t")
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile(filepath.Join(expected, name+".out"))
			if err != nil {
				t.Fatal(err)
			}
			given := strings.Fields(args)
			if !slices.Contains(given, "-st") { // the reference prints percentiles then, hdrsum a table
				given = append(given, "-st", "percentiles")
			}
			stdout, stderr, status := hdrsum(t, given...)
			// Without values the reference prints nothing, and succeeds.
			if wantStatus := map[bool]int{true: message.Failed, false: message.OK}[len(want) == 0]; status != wantStatus {
				t.Errorf("exit status %d, want %d: %s", status, wantStatus, stderr)
			}
			if got, want := sortBlocks(stdout), sortBlocks(string(want)); got != want {
				t.Errorf("%s\ngot:\n%s\nwant:\n%s", args, got, want)
			}
		})
	}
}

// sortBlocks sorts the blocks of tags. The reference prints them in the order of a hash table.
// Other output has no blocks.
func sortBlocks(text string) string {
	if !strings.Contains(text, "TotalCount=") {
		return text
	}
	var blocks []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, "TotalCount=") {
			blocks = append(blocks, "")
		}
		blocks[len(blocks)-1] += line
	}
	slices.Sort(blocks)
	return strings.Join(blocks, "")
}

// TestMovingWindow compares moving windows with those that HistogramLogProcessor wrote (-csv -mwp
// -mwpl, in milliseconds) of a log: the end of each interval, then count, percentile and maximum of
// the window. It has no decimals of values.
func TestMovingWindow(t *testing.T) {
	for _, test := range []struct {
		log, percentile, seconds string
		args                     []string
	}{
		{"digits3", "90", "3", nil},
		{"node1", "99", "25", []string{"-incT", "insert-rt"}},
		{"out-of-order", "50", "2.5", nil},
	} {
		t.Run(test.log, func(t *testing.T) {
			length, _ := strconv.ParseFloat(test.seconds, 64)
			want, err := os.ReadFile(fmt.Sprintf("testdata/moving/%s.%s.%.0f.csv", test.log, test.percentile, length*1000))
			if err != nil {
				t.Fatal(err)
			}
			args := append(test.args, "../../testdata/logs/"+test.log+".hdr", "-st", "timeline", "-mwp", test.percentile, "-mwpl", test.seconds)
			stdout, stderr, status := hdrsum(t, args...)
			if status != message.OK {
				t.Fatalf("exit status %d: %s", status, stderr)
			}
			rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			column := func(row []string, name string) float64 {
				v, err := strconv.ParseFloat(row[slices.Index(rows[0], name)], 64)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			var got strings.Builder
			for _, row := range rows[1:] {
				fmt.Fprintf(&got, "%.3f,%.0f,%.3f,%.3f\n", column(row, "relative_start")+column(row, "length"), column(row, "window_count"),
					column(row, "window_p"+test.percentile), column(row, "window_max"))
			}
			var lines []string
			for line := range strings.Lines(string(want)) {
				if line[0] != '#' && line[0] != '"' {
					lines = append(lines, line)
				}
			}
			if got := got.String(); got != strings.Join(lines, "") {
				t.Errorf("got:\n%s\nwant:\n%s", got, strings.Join(lines, ""))
			}
		})
	}
}
