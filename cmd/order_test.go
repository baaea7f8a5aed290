package cmd

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/clitest"
)

// TestSameAnswer proves that what a command says of logs depends neither on the number of workers
// nor on memory, which decides how large batches are: of lines that are late, ahead or equal in
// time, too. With little memory, a command may refuse.
func TestSameAnswer(t *testing.T) {
	t.Parallel()
	build(t)
	lines := []string{
		"hdrsum -in ns -unit ms A B",
		"hdrsum -in ns -st json -agg 3s -worst 3 -by input,tag A B",
		"hdrsum -in ns -st json -ci 95 A B",
		"hdrsum -in ns -unit ms -st timeline -agg 2s A",
		"hdrsum -in ns -unit ms -who 99 -s steady A B",
		"hdrunion -of OUT/union.hdr A B",
		"hdrsplit -ifp OUT/ A",
		"hdrdiff -in ns -unit ms A -- B",
		"hdrplot -in ns -agg 1s -type throughput -of OUT/t.svg A B",
		"hdrplot -in ns -agg 2s -compare -of OUT/c.svg A B",
		"hdrplot -in ns -type report -of OUT/r.svg A B",
		"hdrplot -in ns -page-size 0.1 -of OUT/page.html A B",
		"hdrplot -in ns -type heatmap -of OUT/h.svg A B",
	}
	ways := [][]string{{"-j", "1"}, {"-j", "8"}, {"-j", "3", "-memory", "128MiB"}, {"-j", "1", "-memory", "64MiB"}}
	for seed := range uint64(clitest.Rounds(5)) {
		random := rand.New(rand.NewPCG(seed, 71))
		dir := t.TempDir()
		logs := map[string]string{}
		for _, name := range []string{"A", "B"} {
			logs[name] = filepath.Join(dir, name+".hdr")
			if err := os.WriteFile(logs[name], unorderedLog(t, random), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		for _, line := range lines {
			var want string
			for n, way := range ways {
				got := answer(t, line, logs, way)
				switch {
				case n == 0:
					want = got
				case strings.Contains(got, "raise -memory"):
				case got != want:
					t.Errorf("seed %d: %s %s: %s", seed, line, way, differ(want, got))
				}
			}
		}
	}
}

// answer returns all that a command says and writes, without the name of its folder.
func answer(t *testing.T, line string, logs map[string]string, way []string) string {
	t.Helper()
	out := t.TempDir()
	var args []string
	for _, word := range strings.Fields(line) {
		if path, known := logs[word]; known {
			word = path
		}
		args = append(args, strings.ReplaceAll(word, "OUT", out))
	}
	args = append(args[:1:1], append(way, args[1:]...)...)
	c := exec.Command(filepath.Join(bin, args[0]), args[1:]...)
	said, err := c.CombinedOutput()
	text := fmt.Sprintf("%v\n%s\n", err, said)
	files, err := filepath.Glob(filepath.Join(out, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text += file + "\n" + string(content)
	}
	return strings.ReplaceAll(text, out, "OUT")
}

// differ shows where two texts begin to differ.
func differ(want, got string) string {
	n := 0
	for n < min(len(want), len(got)) && want[n] == got[n] {
		n++
	}
	from := max(0, n-100)
	return fmt.Sprintf("%.300q\ninstead of\n%.300q", got[from:], want[from:])
}

// unorderedLog returns a log of ten minutes, some of whose lines are late, ahead of their time, or
// equal to another one in time.
func unorderedLog(t *testing.T, random *rand.Rand) []byte {
	t.Helper()
	var log bytes.Buffer
	w := hdrlog.NewWriter(&log)
	const begin = 1_700_000_000
	w.StartTime(begin)
	h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	if err != nil {
		t.Fatal(err)
	}
	for second := range 600 {
		for _, tag := range []string{"read", "write"} {
			h.Reset(h.Layout())
			for range random.IntN(40) {
				h.Record(100_000 + random.Int64N(1<<(10+random.IntN(20))))
			}
			h.Record(1 + random.Int64N(1<<40)) // so that the counts of a window take hundreds of kilobytes
			at := float64(second)
			switch random.IntN(25) {
			case 0:
				at -= float64(random.IntN(second + 1))
			case 1:
				at += float64(random.IntN(60))
			case 2:
				at = max(at-1, 0)
			}
			if err := w.Interval([]byte(tag), begin+at, 1, h); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return log.Bytes()
}
