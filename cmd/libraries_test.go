//go:build unix

package cmd

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/internal/clitest"
	"hdrkit/internal/dump"
)

const (
	noDouble = "it reads no double histograms"
	to2p53   = "its values and counts end at 2^53"
)

// libraries are the other libraries that read our logs. .ci/libraries builds the program of each
// from testdata/libraries.
var libraries = []struct {
	name    string
	addBase bool              // the library adds the base time to the start of an interval
	cannot  map[string]string // parts of the paths of logs that it cannot read, whoever wrote them, and why
}{
	{"java", true, nil},
	{"c", false, map[string]string{"double.hdr": noDouble, "split/no-header.hdr": "it wants a line with the version"}},
	{"go", true, map[string]string{"double.hdr": noDouble}},
	{"javascript", true, map[string]string{"double.hdr": noDouble, "huge-counts.hdr": to2p53, "huge-values.hdr": to2p53}},
	{"rust", false, map[string]string{"double.hdr": noDouble}},
	{"python", true, map[string]string{"double.hdr": noDouble}},
}

// TestLibraries has other libraries read what hdrsplit and hdrunion write. They must find the
// counts that we find, slot by slot.
func TestLibraries(t *testing.T) {
	clitest.RequireTools(t)
	programs := os.Getenv("HDRKIT_LIBRARIES")
	if programs == "" {
		t.Fatal("HDRKIT_LIBRARIES must name the folder that .ci/libraries made")
	}
	build(t)
	paths := splitsAndUnions(t)
	want := make(map[string][]interval)
	for _, path := range paths {
		want[path] = readOurs(t, path)
	}
	for _, library := range libraries {
		t.Run(library.name, func(t *testing.T) {
			t.Parallel()
			readable := slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
				for part := range library.cannot {
					if strings.Contains(filepath.ToSlash(path), part) {
						return true
					}
				}
				return false
			})
			got := readTheirs(t, filepath.Join(programs, "read-"+library.name), readable)
			intervals := 0
			for _, path := range readable {
				if len(got[path]) != len(want[path]) {
					t.Errorf("%s: %d intervals, want %d", path, len(got[path]), len(want[path]))
					continue
				}
				for n, want := range want[path] {
					if !library.addBase {
						want.start = want.number
					}
					if err := want.compare(got[path][n]); err != nil {
						t.Errorf("%s: interval %d: %v", path, n, err)
					}
					intervals++
				}
			}
			t.Logf("read %d logs with %d intervals", len(readable), intervals)
		})
	}
}

// splitsAndUnions splits each log in testdata/logs and makes unions of each alone, and one of
// several. It also records measurements. It returns the paths.
func splitsAndUnions(t *testing.T) []string {
	t.Helper()
	hdr := func(command string, args ...string) {
		t.Helper()
		if out, err := exec.Command(command, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s %q: %v\n%s", command, args, err, out)
		}
	}
	folder := filepath.Join(clitest.Root(), "testdata", "logs")
	logs, err := filepath.Glob(filepath.Join(folder, "*.hdr"))
	if err != nil || len(logs) == 0 {
		t.Fatal(logs, err)
	}
	output := t.TempDir()
	nodes := filepath.Join(output, "nodes.hdr")
	hdr("hdrunion", "-ip", folder, "-if", `node.\.hdr`, "-of", nodes)
	paths := []string{nodes}
	split := func(log, folder string, options ...string) {
		t.Helper()
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		hdr("hdrsplit", append(options, log, "-od", folder)...)
		parts, err := filepath.Glob(filepath.Join(folder, "*"))
		if err != nil || len(parts) == 0 {
			t.Fatal(parts, err)
		}
		paths = append(paths, parts...)
	}
	for _, log := range logs {
		name := filepath.Base(log)
		if name == "header-only.hdr" {
			continue // the commands write nothing if there are no intervals
		}
		union, grid := filepath.Join(output, "union."+name), filepath.Join(output, "grid."+name)
		hdr("hdrunion", log, "-of", union)
		hdr("hdrunion", log, "-grid", "3600", "-of", grid)
		paths = append(paths, union, grid)
		split(log, filepath.Join(output, "split", name))
	}
	// Logs of single measurements.
	for _, name := range []string{"jmeter.jtl", "k6.json", "vegeta.csv", "memtier.json"} {
		recorded := filepath.Join(output, "recorded."+name)
		hdr("hdrrec", filepath.Join(clitest.Root(), "testdata", "measurements", name), "-of", recorded)
		paths = append(paths, recorded)
	}
	// Payloads of versions 0 and 1, and those that are not compressed: hdrunion makes them version
	// 2, and hdrsplit splits that.
	for _, name := range []string{"jhiccup-v0.hlog", "jhiccup-v1.hlog", "payload-plain.hlog", "payload-v1-words.hlog"} {
		log := filepath.Join(clitest.Root(), "testdata", "dialects", name)
		union := filepath.Join(output, "union."+name)
		hdr("hdrunion", log, "-of", union)
		paths = append(paths, union)
		split(union, filepath.Join(output, "split", name))
	}
	return paths
}

// An interval is what a library reads of one.
type interval struct {
	tag           string
	start, length int64 // in milliseconds
	number        int64 // the start without the base time
	count         int64
	slots         string // LOW:COUNT of each slot that counts values, separated by tabs
}

// compare returns an error if another library reads an interval differently. Libraries round times
// differently.
func (want interval) compare(got interval) error {
	near := func(a, b int64) bool { return a-b >= -1 && a-b <= 1 }
	switch {
	case got.tag != want.tag:
		return fmt.Errorf("tag %q, want %q", got.tag, want.tag)
	case !near(got.start, want.start) || !near(got.length, want.length):
		return fmt.Errorf("start %d, length %d, want %d and %d", got.start, got.length, want.start, want.length)
	case got.count != want.count:
		return fmt.Errorf("%d values, want %d", got.count, want.count)
	case got.slots != want.slots:
		return fmt.Errorf("slots\n%s, want\n%s", got.slots, want.slots)
	}
	return nil
}

// readOurs reads a log with package hdrlog.
func readOurs(t *testing.T, path string) []interval {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []interval
	reader := hdrlog.NewReader(file, path)
	for reader.Scan() {
		record := reader.Record()
		if record.Kind != hdrlog.IntervalRecord {
			continue
		}
		line, h, err := dump.Of(&record.Interval)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		var slots []string
		for slot := range h.Recorded() {
			low := slot.Low
			if h.Double() {
				low = int64(math.Float64bits(h.Float(low)))
			}
			slots = append(slots, fmt.Sprintf("%d:%d", low, slot.Count))
		}
		all = append(all, interval{line.Tag, line.Start, line.End - line.Start, 0, line.Count, strings.Join(slots, "\t")})
	}
	if err := reader.Err(); err != nil {
		t.Fatal(err)
	}

	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, `"`) {
			continue
		}
		fields := strings.Split(line, ",")
		number, err := strconv.ParseFloat(fields[len(fields)-4], 64)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all[n].number = int64(math.Round(number * 1000))
		n++
	}
	return all
}

// readTheirs reads logs with a program in the folder of libraries.
func readTheirs(t *testing.T, program string, paths []string) map[string][]interval {
	t.Helper()
	var stderr strings.Builder
	read := exec.Command(program, paths...)
	read.Stderr = &stderr
	out, err := read.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	all := make(map[string][]interval)
	path := ""
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "= "); ok {
			path = name
			continue
		}
		fields := append(strings.SplitN(line, "\t", 5), "")
		var numbers [3]int64
		for n := range numbers {
			if numbers[n], err = strconv.ParseInt(fields[1+n], 10, 64); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
		}
		all[path] = append(all[path], interval{fields[0], numbers[0], numbers[1], 0, numbers[2], fields[4]})
	}
	return all
}
