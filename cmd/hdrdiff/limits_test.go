package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/cli"
	"hdrkit/output"
)

var update = flag.Bool("update", false, "write the golden file")

// TestLimits checks each figure with each form of limit, of one, two and five runs a side. The runs
// after the change have half as many values, which are twice as high.
func TestLimits(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	runs := make(map[string][]string)
	for run := range 5 {
		for side, of := range map[string]struct{ count, factor int64 }{"before": {200, 1}, "after": {100, 2}} {
			path := filepath.Join(folder, fmt.Sprintf("%s%d.hdr", side, run))
			writeRun(t, path, of.count, of.factor, int64(run))
			runs[side] = append(runs[side], path)
		}
	}
	forms := map[string][]string{
		output.Throughput: {">=50", "<=500", ">=-10%", ">=-60%", ">=-10/s", ">=-60% or -10/s"},
		output.Count:      {">=50", "<=500", ">=-10%", ">=-60%", "<=+10%"},
		"over(15ms)":      {"<=10%", ">=10%", "<=+10%", "<=+150%"},
		"": {
			"<=15ms", ">=15ms", "<=+10%", "<=+150%", "<=+1ms", "<=+10% or +1ms", "<=+1% or +90ms",
		},
	}
	var got strings.Builder
	for _, figure := range []string{
		"p99", "p50", output.Min, output.Mean, output.Max, output.Throughput, output.Count, "over(15ms)",
	} {
		of := figure
		if forms[of] == nil {
			of = ""
		}
		for _, form := range forms[of] {
			for _, n := range []int{1, 2, 5} {
				args := []string{"-in", "us", "-unit", "ms", "-st", "findings", "-sla", figure + form}
				args = append(append(args, runs["before"][:n]...), "--")
				out := hdrdiff(append(args, runs["after"][:n]...)...)
				verdict, _, _ := strings.Cut(out, "\n")
				fmt.Fprintf(&got, "%s%s, %d: %s\n", figure, form, n, verdict)
			}
		}
	}
	const path = "testdata/limits.txt"
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(want), "\n")
	for n, line := range strings.Split(got.String(), "\n") {
		if n >= len(lines) || line != lines[n] {
			t.Errorf("%s:%d: %s", path, n+1, line)
		}
	}
}

// writeRun writes a run of two minutes with so many values a second, from 10 to 20 ms times a
// factor. Runs of different numbers differ by a little.
func writeRun(t *testing.T, path string, count, factor, run int64) {
	t.Helper()
	var b bytes.Buffer
	w := hdrlog.NewWriter(&b)
	for second := range int64(120) {
		h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
		if err != nil {
			t.Fatal(err)
		}
		for n := range count {
			h.Record(factor * (10_000 + 10_000*n/count + 7*((second*31+run*17+n)%13)))
		}
		w.Interval(nil, float64(second), 1, h)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// hdrdiff runs the command.
func hdrdiff(args ...string) string {
	var out, err bytes.Buffer
	c := app()
	c.Streams.In, c.Streams.Out, c.Streams.Err = strings.NewReader(""), &out, &err
	cli.Run(c, args)
	return out.String() + err.String()
}
