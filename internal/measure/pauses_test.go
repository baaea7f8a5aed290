package measure

import (
	"bytes"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// readPauses reads a log of a garbage collector by lines that match an expression. Row returns what
// its groups say.
func readPauses(expression string, row func(t *testing.T, m []string) []measured) func(*testing.T, []byte) []measured {
	e := regexp.MustCompile(expression)
	return func(t *testing.T, text []byte) (all []measured) {
		for _, m := range e.FindAllStringSubmatch(string(text), -1) {
			all = append(all, row(t, m)...)
		}
		return all
	}
}

// readJVM reads lines of pauses and of safepoints. Each has groups for its time and its length, and
// a pause one for its kind between them.
func readJVM(time string, at func(t *testing.T, text string) *big.Rat) func(*testing.T, []byte) []measured {
	expression := `(?m)^` + time + `.*(?:\) (?:.: )?Pause (Young|Full|Remark|Cleanup|\w+ (?:Mark|Start|End|Update Refs)).* ([\d.]+)ms|` +
		`Safepoint .* Total: (\d+) ns.*|were stopped: ([\d.]+) seconds, .*)$`
	return readPauses(expression, func(t *testing.T, m []string) []measured {
		value := rat(t, "0", 1)
		for n, scale := range []int64{1e3, 1e9, 1} {
			if m[3+n] != "" {
				value = rat(t, m[3+n], scale)
			}
		}
		kind := m[2]
		if kind == "" {
			kind = "safepoint"
		}
		return []measured{{at(t, m[1]), value, kind, false}}
	})
}

// atDate returns the time of a date such as 2026-05-01T10:00:00.123+0000.
func atDate(t *testing.T, text string) *big.Rat {
	return seconds(t, "2006-01-02T15:04:05.000-0700", text)
}

func atSeconds(t *testing.T, text string) *big.Rat { return rat(t, text, 1) }

// pauseSamples are logs of garbage collectors, see [samples].
var pauseSamples = []sample{
	{"jvm-g1.log", "jvm", Options{}, readJVM(`\[(2026\S{24})\]`, atDate)},
	{"jvm-parallel.log", "jvm", Options{}, readJVM(`\[(\d+)ms\]`, epochMillis)},
	{"jvm-serial.log", "jvm", Options{}, readJVM(`\[(2026\S{24})\] `, atDate)},
	{"jvm-safepoints.log", "jvm", Options{}, readJVM(`\[([\d.]+)s\]`, atSeconds)},
	{"jvm-zgc.log", "jvm", Options{}, readJVM(`\[([\d.]+)s\]`, atSeconds)},
	{"jvm-shenandoah.log", "jvm", Options{}, readJVM(`\[(2026\S{24})\] `, atDate)},
	{"jvm-8.log", "jvm", Options{}, readJVM(`(2024\S{24}): `, atDate)},
	{"gctrace.log", "gctrace", Options{}, readPauses(`(?m)^gc .* @(.*)s .*%: (.*)\+(.*)\+(.*) ms clock`, func(t *testing.T, m []string) []measured {
		first := rat(t, m[2], 1e3)
		at := rat(t, m[1], 1)
		second := new(big.Rat).Add(at, first)
		second.Add(second, rat(t, m[3], 1e3))
		return []measured{
			{at, first, "sweep termination", false},
			{second, rat(t, m[4], 1e3), "mark termination", false},
		}
	})},
	{"trace-gc.log", "trace-gc", Options{}, readPauses(`\] +(\d+) ms: (\S+).* MB, (\S+) /`, func(t *testing.T, m []string) []measured {
		return []measured{{rat(t, m[1], 1e3), rat(t, m[3], 1e3), m[2], false}}
	})},
}

func init() { samples = append(samples, pauseSamples...) }

// TestPauseTotals compares the pauses of the samples with what the programs printed of them at
// their ends, in the same log: the numbers of the management beans of the JVM, which are whole
// milliseconds, of MemStats of Go, and of perf_hooks of Node.
func TestPauseTotals(t *testing.T) {
	for _, test := range []struct {
		file, line string // of the program
		kinds      string // an expression that matches the tags of these pauses
		each       int    // pauses that the program counts as one
		within     float64
	}{
		{"jvm-g1.log", "G1 Young Generation", "Young", 1, 4},
		{"jvm-g1.log", "G1 Old Generation", "Full", 1, 1},
		{"jvm-parallel.log", "PS Scavenge", "Young", 1, 48},
		{"jvm-parallel.log", "PS MarkSweep", "Full", 1, 1},
		{"jvm-serial.log", "Copy", "Young", 1, 10},
		{"jvm-serial.log", "MarkSweepCompact", "Full", 1, 2},
		{"jvm-safepoints.log", "G1 Young Generation", "Young", 1, 15},
		{"jvm-safepoints.log", "G1 Concurrent GC", "Remark|Cleanup", 1, 4},
		{"jvm-safepoints.log", "G1 Old Generation", "Full", 1, 1},
		{"jvm-zgc.log", "ZGC Major Pauses", ".*", 1, 1},
		{"jvm-shenandoah.log", "Shenandoah Pauses", ".*", 1, 1},
		{"gctrace.log", "all pauses", ".*", 2, 0.1},
		{"trace-gc.log", "Scavenge", "Scavenge", 1, 1},
		{"trace-gc.log", "Mark-Compact", "Mark-Compact", 1, 0.1},
	} {
		text, err := os.ReadFile(filepath.Join(folder(), test.file))
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(`(?m)^` + test.line + `: (\d+) in ([\d.]+) ms$`).FindSubmatch(text)
		count, _ := strconv.Atoi(string(m[1]))
		total, _ := strconv.ParseFloat(string(m[2]), 64)
		r, err := NewReader(bytes.NewReader(text), test.file, "", Options{})
		if err != nil {
			t.Fatal(err)
		}
		n, sum := 0, 0.0
		for r.Scan() {
			if regexp.MustCompile("^(" + test.kinds + ")$").Match(r.parser.row.Tag) {
				n++
				sum += float64(r.parser.row.Value) / 1e6
			}
		}
		if n != count*test.each || sum < total-test.within || sum > total+test.within {
			t.Errorf("%s, %s: %d pauses of %.3f ms, want %d of %.3f", test.file, test.line, n, sum, count*test.each, total)
		}
	}
}

// TestPauseLines reads lines of all spellings, between lines of an application.
func TestPauseLines(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		// decorations
		{"[0.5s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 3.456ms\n", "jvm 0.5 3.456ms Young"},
		{"[0,5s][info][gc] GC(0) Pause Remark 24M->4M(256M) 3,456ms\r\n", "jvm 0.5 3.456ms Remark"},
		{"[gc ][2026-05-01T10:00:00.123+0200][0.5s] GC(0) Pause Full (System.gc()) 4M->1M(8M) 10.000ms\n", "jvm 1777622400.123 10ms Full"},
		{"[0.5s][2026-05-01T08:00:00.123+0000] GC(0) Pause Full (System.gc()) 4M->1M(8M) 10.000ms\n", "jvm 1777622400.123 10ms Full"},
		{"[1777622400123ms][500ms][gc] GC(0) Pause Cleanup 4M->1M(8M) 0.001ms\n", "jvm 1777622400.123 1µs Cleanup"},
		{"[500ms][1777622400123ms][gc] GC(0) Pause Cleanup 4M->1M(8M) 0.001ms\n", "jvm 1777622400.123 1µs Cleanup"},
		{"[500000000ns][4711][host][gc] GC(0) Pause Cleanup 4M->1M(8M) 0.001ms\n", "jvm 0.5 1µs Cleanup"},
		{"[0.5s][77000ns][gc] GC(0) Pause Cleanup 4M->1M(8M) 0.001ms\n", "jvm 0.5 1µs Cleanup"},
		{"2026-05-01T10:00:00.123456789Z [0.5s][info][gc] GC(0) Pause Cleanup 4M->1M(8M) 0.001ms\n", "jvm 1777629600.123456789 1µs Cleanup"},
		// collectors
		{"[0.5s] GC(0) Y: Pause Mark Start (Major) 0.010ms\n", "jvm 0.5 10µs Mark Start"},
		{"[0.5s] GC(0) y: Pause Relocate Start 0.010ms\n", "jvm 0.5 10µs Relocate Start"},
		{"[0.5s] GC(0) Pause Degenerated GC (Mark) 60M->50M(64M) 4.411ms\n", "jvm 0.5 4.411ms Degenerated GC"},
		{"[0.5s] GC(0) Pause Initial Mark (unload classes) 0.095ms\n", "jvm 0.5 95µs Initial Mark"},
		{"[0.5s] GC(0) Pause Young (Allocation Failure) 24M->4M(256M) (0.100s, 0.200s) 3.456ms\n", "jvm 0.5 3.456ms Young"},
		{"[0.5s][gc] Using G1\n[0.5s] GC(0) Pause Young (Normal) (G1 Evacuation Pause)\n[0.5s] GC(0) Concurrent Mark Cycle 5.000ms\n" +
			"[0.5s][gc,stats] Pause Init Mark (N)  9 us\n[0.5s] GC(1) Garbage Collection (Warmup) 4M(4%)->1M(1%)\n", "jvm"},
		// safepoints
		{"[0.5s][safepoint] Safepoint \"ICBufferFull\", Time since last: 1 ns, Reaching safepoint: 20 ns, At safepoint: 300 ns, Total: 320 ns\n", "jvm 0.5 320ns safepoint"},
		{"[0.5s] Safepoint \"Cleanup\", Time since last: 1 ns, Total: 320 ns, Threads: 0 runnable, 10 total\n", "jvm 0.5 320ns safepoint"},
		{"0.500: Total time for which application threads were stopped: 0.0012000 seconds\n", "jvm 0.5 1.2ms safepoint"},
		{"2026-05-01T10:00:00.123+0000: Total time for which application threads were stopped: 0,0012000 seconds, Stopping threads took: 0,1 seconds\n", "jvm 1777629600.123 1.2ms safepoint"},
		// an application before
		{strings.Repeat("starting\n", 3000) + "[0.5s] GC(0) Pause Remark 2M->1M(8M) 1.000ms\n", "jvm 0.5 1ms Remark"},
		{"starting\nlevel up\n[0.5s] GC(0) Pause Remark 2M->1M(8M) 1.000ms\nbye, ms\n", "jvm 0.5 1ms Remark"},
		{"2026-05-01 10:00:00,123 INFO starting\ngc 1 @1.500s 2%: 0.5+100+12 ms clock, 1+0/0/0+1 ms cpu, 3->4->1 MB\n", "gctrace 1.5 500µs sweep termination 1.6005 12ms mark termination"},
		{"gc 1 @1.500s 2% (checking for goroutine leaks): 0.5+100+12 ms clock, 1+0/0/0+1 ms cpu\n", "gctrace 1.5 500µs sweep termination 1.6005 12ms mark termination"},
		{"2026-05-01T10:00:01Z gc 1 @1.500s 2%: 0.5+100+12 ms clock, 1+0/0/0+1 ms cpu\n",
			"gctrace 1777629600.8875 500µs sweep termination 1777629600.988 12ms mark termination"},
		{"[1:0x5581e0]    45 ms: Scavenge (reduce) (interleaved) 2.3 (3.0) -> 1.9 (4.0) MB, pooled: 4 MB, 0.60 / 0.00 ms  (average mu = 1.000, current mu = 1.000) allocation failure;\n", "trace-gc 0.045 600µs Scavenge"},
		{"[1:0x5581e0:2]    45 ms: Mark-sweep 2.3 (3.0) -> 1.9 (4.0) MB, 5.6 / 0.1 ms  (+ 0.1 ms in 2 steps since start of marking, biggest step 0.0 ms, walltime since start of marking 16 ms) last resort\n", "trace-gc 0.045 5.6ms Mark-sweep"},
		{"[1:000001C8]    45 ms: Minor Mark-Compact 2.3 (3.0) -> 1.9 (4.0) MB, 5.6 / 0.1 ms \n", "trace-gc 0.045 5.6ms Minor Mark-Compact"},
		// damaged
		{"gc 1 @1.500s 2%: 0.5+100\ngc 2 @2.000s 2%: 0.5+100+1 ms clock, \n", "gctrace line 1: the line of a pause is damaged 2 500µs sweep termination 2.1005 1ms mark termination"},
		{"gc 1 @1.500s 2%: 0.5+100+1.2.3 ms clock, 1\ngc 2 @2.000s 2%: 0+0+0 ms clock, \n", "gctrace line 1: the line of a pause is damaged 2 0s sweep termination 2 0s mark termination"},
		{"[0.5s] GC(0) Pause Remark 2M->1M(8M) 1..0ms\n[0.5s] GC(0) Pause Remark 2M->1M(8M) 1.0ms\n", "jvm line 1: the line of a pause is damaged 0.5 1ms Remark"},
		{"[0.5s] GC(0) Pause Remark 2M->1M(8M) 99999999999999999999.0ms\n[0.5s] GC(0) Pause Remark 1.0ms\n", "jvm pause 1: the number is too large 0.5 1ms Remark"},
		{"GC(0) Pause Remark 2M->1M(8M) 1.0ms\n[0.5s] GC(0) Pause Remark 1.0ms\n", "jvm time 1: field is missing 0.5 1ms Remark"},
	} {
		r, err := NewReader(strings.NewReader(test.text), "f", "", Options{})
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
			continue
		}
		got := []string{r.Format()}
		for r.Scan() {
			if r.bad != nil {
				message, _, _ := strings.Cut(r.bad.Err.Error(), ": ")
				got = append(got, fmt.Sprintf("%s %d: %s", r.bad.Field, r.bad.Line, message))
				continue
			}
			row := &r.parser.row
			got = append(got, strings.TrimRight(strings.TrimRight(string(inSeconds(row.Time)), "0"), "."),
				time.Duration(row.Value).String(), string(row.Tag))
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%.200q: %s, want %s", test.text, got, test.want)
		}
	}
}

// TestPausePipe: the format of a pipe is known as soon as a pause has come.
func TestPausePipe(t *testing.T) {
	text := strings.NewReader("starting\ngc 1 @1.500s 2%: 0.5+100+12 ms clock, 1+0/0/0+1 ms cpu\n")
	r, err := NewReader(readerFunc(func(p []byte) (int, error) {
		n, err := text.Read(p)
		if err != nil {
			t.Error("it waits for more")
		}
		return n, err
	}), "f", "", Options{})
	if err != nil || r.Format() != "gctrace" {
		t.Errorf("%v", err)
	}
}

// TestPauseColumns: other columns are a tag, and choose rows.
func TestPauseColumns(t *testing.T) {
	const text = "[0.5s][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 3.000ms\n" +
		"[0.5s] Safepoint \"Cleanup\", Total: 320 ns\n"
	r, err := NewReader(strings.NewReader(text), "f", "", Options{Columns: Columns{Tags: []string{"kind", "reason"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Young/(Normal) (G1 Evacuation Pause)", "safepoint/Cleanup"} {
		if !r.Scan() || string(r.parser.row.Tag) != want {
			t.Errorf("%s, want %s", r.parser.row.Tag, want)
		}
	}
	second := []Condition{{Column: "kind", Value: "mark termination"}}
	r, err = NewReader(strings.NewReader("gc 1 @1.500s 2%: 0.5+100+12 ms clock, 1\n"), "f", "", Options{Where: second})
	if err != nil || !r.Scan() || r.parser.row.Value != 12e6 || r.Scan() {
		t.Errorf("%+v, %v", r, err)
	}
	_, err = NewReader(strings.NewReader(text), "f", "", Options{Columns: Columns{Tags: []string{"cause"}}})
	if want := "f: there is no column cause; the columns are time, pause, unit, kind, reason"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestPausesElsewhere: a line of a pause in another file does not make a log of a garbage collector
// of it.
func TestPausesElsewhere(t *testing.T) {
	const pause = "gc 1 @1.500s 2%: 0.5+100+12 ms clock, 1+0/0/0+1 ms cpu, 3->4->1 MB\n"
	for text, want := range map[string]string{
		"time=2026-05-01T10:00:00Z duration=5ms path=/a\n" + pause:         "logfmt",
		"timestamp,latency_ms,message\n1777622400,5,\"\n" + pause + "\"\n": "csv",
		"{\"time\":1777622400,\"latency_ms\":5}\n" + pause:                 "ndjson",
		"[2026-05-01T10:00:00] Pause Young (Normal) 1.000ms\n" + pause:     "gctrace",
		"5ms\n6ms\n" + pause:                                                    "values",
		"1777622400,a\n1777622401,b\n" + pause:                                  "f: the first line is no header",
		"a,b\n1777622400,[0.5s] GC(0) Pause Remark 2M->1M(8M) 1.000ms\n":        "f: no usual names",
		"thread 5 [0.5s] GC(0) Pause Remark 2M->1M(8M) 1.000ms\nthread 6 a b\n": "f: the format is not known",
	} {
		r, err := NewReader(strings.NewReader(text), "f", "", Options{})
		got := fmt.Sprint(err)
		if err == nil {
			got = r.Format()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestStart reads times since the start of a run.
func TestStart(t *testing.T) {
	const hey = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n0.5,0,0,0,0,0,200,1.25\n"
	for _, test := range []struct{ text, start, want string }{
		{hey, "2026-05-01T10:00:00Z", "1777629601250000000"},
		{hey, "2026-05-01 10:00:00", "1777629601250000000"},
		{hey, "1777629600", "1777629601250000000"},
		{hey, "1777629600000", "1777629601250000000"},
		{"[1.25s][gc] GC(0) Pause Remark 1.000ms\n", "2026-05-01T12:00:00+02:00", "1777629601250000000"},
		{"[2026-05-01T10:00:00.000+0000][gc] GC(0) Pause Remark 1.000ms\n", "1777629600", "f:1: time: the time is a date, and -start is for times since the start of a run: \"1777629600.000000000\""},
		{strings.Replace(hey, "1.25", "9000000", 1), "2261-12-31T00:00:00Z", "f:2: offset: the time is not between the years 1970 and 2262: \"9000000\""},
		{"time,latency_ms\n2026-05-01 10:00:00,5\n", "1777629600", "f:2: time: the time is a date, and -start is for times since the start of a run: \"2026-05-01 10:00:00\""},
		{hey, "yesterday", "f: -start \"yesterday\" is no time: give a date such as 2026-05-01T10:00:00Z, or a number since 1970"},
		{hey, "60", "f: -start \"60\" is no time: give a date such as 2026-05-01T10:00:00Z, or a number since 1970"},
		{"HISTFAAAACR42pJpmSzMwMDAwgABzFCaEUzW//9v/wEicP0WIxNgAGzZBq8=\n", "1777629600", "f: -start is for times since the start of a run, and this has none"},
	} {
		got := ""
		r, err := NewReader(strings.NewReader(test.text), "f", "", Options{Start: test.start})
		switch {
		case err != nil:
			got = err.Error()
		case r.Scan() && r.bad == nil:
			got = fmt.Sprint(r.parser.row.Time)
		default:
			got = fmt.Sprint(r.bad)
		}
		if got != test.want {
			t.Errorf("%.30q since %s: %s, want %s", test.text, test.start, got, test.want)
		}
	}
}

func FuzzPauses(f *testing.F) {
	fuzz(f, "", Options{}, "jvm-safepoints.log", "jvm-8.log", "gctrace.log", "trace-gc.log")
}
