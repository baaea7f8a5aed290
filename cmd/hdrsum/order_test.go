package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/clitest"
)

// TestOrder: no answer depends on the order in which logs are given. Few different values and
// starts make many ties.
func TestOrder(t *testing.T) {
	t.Parallel()
	phases := filepath.Join(t.TempDir(), "phases.csv")
	if err := os.WriteFile(phases, []byte("start,duration,name\n0,3,a\n2,4,b\n9,0.2,c\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	queries := [][]string{
		{"-st", "json", "-worst", "5", "-who", "90", "-sla", "max<=40ms,op:p90<=20ms in 90% of 2s", "-ci", "95"},
		{"-st", "json", "-worst", "5", "-by", "input", "-sla", "max<=40ms"},
		{"-st", "breaches", "-sla", "max<=40ms,min<=2ms"},
		{"-st", "breaches", "-sla", "max<=40ms,min<=2ms", "-agg", "3s"},
		{"-st", "findings", "-sla", "p50<=20ms"},
		{"-st", "findings", "-by", "input"},
		{"-st", "table"},
		{"-st", "csv", "-agg", "2s"},
		{"-st", "json", "-phases", phases, "-worst", "5", "-who", "90", "-sla", "max<=40ms,a.*:p90<=20ms in 90% of 2s", "-ci", "95"},
		{"-st", "csv", "-agg", "2s", "-it", "-phases", phases},
	}
	for seed := range uint64(clitest.Rounds(100)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			logs := writeTies(t, rand.New(rand.NewPCG(seed, 1)))
			for _, query := range queries {
				var first, given string
				for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
					args := slices.Clone(query)
					for _, n := range order {
						args = append(args, logs[n])
					}
					out, _, _ := hdrsum(t, args...)
					if first == "" {
						first, given = out, fmt.Sprintf("%q", args)
					}
					if line := differ(first, out); line != "" {
						t.Fatalf("%s and %q differ: %s", given, args, line)
					}
				}
			}
		})
	}
}

// differ returns the first line of two outputs that differs. Documents and the command to type next
// list inputs in the order in which they are given.
func differ(a, b string) string {
	lines := strings.Split(listed.ReplaceAllString(a, ""), "\n")
	others := strings.Split(listed.ReplaceAllString(b, ""), "\n")
	for n := range min(len(lines), len(others)) {
		if lines[n] != others[n] {
			return fmt.Sprintf("%d: %s, not %s", n, lines[n], others[n])
		}
	}
	if len(lines) != len(others) {
		return "the number of lines"
	}
	return ""
}

var listed = regexp.MustCompile(`"inputs": \[[^]]*\]|\nNext: [^\n]*`)

// writeTies writes three logs with few different values and times.
func writeTies(t *testing.T, random *rand.Rand) (paths []string) {
	t.Helper()
	folder := t.TempDir()
	for n := range 3 {
		var b strings.Builder
		w := hdrlog.NewWriter(&b)
		w.Comment("UNITS:MILLISECONDS")
		start := 1_793_491_200 + 10*float64(random.IntN(4))
		lengths := []float64{1, 1, 1, 4}
		for range 20 + 10*random.IntN(2) {
			h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
			if err != nil {
				t.Fatal(err)
			}
			for range 1 + random.IntN(12) {
				h.Record([]int64{1, 1, 2, 10, 30, 50}[random.IntN(6)])
			}
			length := lengths[random.IntN(len(lengths))]
			for _, tag := range []string{"op", "other"}[:1+random.IntN(2)] {
				if err := w.Interval([]byte(tag), start, length, h); err != nil {
					t.Fatal(err)
				}
			}
			start += length
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, fmt.Sprintf("log%d.hdr", n))
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}
