package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"hdrkit/internal/clitest"
)

// A phaseSpan is a phase, in milliseconds since the epoch.
type phaseSpan struct {
	name       string
	start, end int64
}

const phasesStart = 1_700_000_000_000

// TestPhases compares rows of phases, in all spellings of their file, with sums of another library.
func TestPhases(t *testing.T) {
	t.Parallel()
	for seed := range uint64(clitest.Rounds(6)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 79))
			folder := t.TempDir()
			logs := [][]byte{phasesLog(random, "get", "put"), phasesLog(random, "get")}
			paths := []string{filepath.Join(folder, "a.hdr"), filepath.Join(folder, "b.hdr")}
			for n, path := range paths {
				if err := os.WriteFile(path, logs[n], 0o666); err != nil {
					t.Fatal(err)
				}
			}
			spans := randomPhases(random)
			rows := map[string]map[string]plainRow{
				"phase":     plainRows(t, logs, spans, false),
				"phase,tag": plainRows(t, logs, spans, true),
			}
			for name, text := range spellings(spans) {
				file := filepath.Join(folder, name)
				if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
				for by, want := range rows {
					args := append([]string{"-st", "json", "-phases", file, "-by", by, "-in", "ns", "-j", fmt.Sprint(1 + seed%3)}, paths...)
					out, _, _ := hdrsum(t, args...)
					got := rowsOf(t, out)
					if !maps.Equal(got, want) {
						t.Fatalf("%s by %s:\n%v, want\n%v\n%s", name, by, got, want, text)
					}
				}
			}
			above := filepath.Join(folder, "b.hdr") + ">8ms"
			out, _, _ := hdrsum(t, "-st", "json", "-phases", above, "-it", "-in", "ns", "-in", "b.hdr=ns", paths[1])
			want := plainRows(t, logs[1:], spansAbove(t, logs[1], 8_000_000), false)
			if got := rowsOf(t, out); !maps.Equal(got, want) {
				t.Errorf("%s: %v, want %v", above, got, want)
			}
		})
	}
}

// phasesLog writes a log of a minute whose intervals follow one another, about a second each.
func phasesLog(random *rand.Rand, tags ...string) []byte {
	var b bytes.Buffer
	w := hdrhistogram.NewHistogramLogWriter(&b)
	w.OutputLogFormatVersion()
	w.OutputStartTime(phasesStart)
	w.OutputLegend()
	for at := int64(phasesStart); at < phasesStart+60_000; {
		end := at + 125*(4+random.Int64N(8)) // no float64 rounds it
		for _, tag := range tags {
			h := hdrhistogram.New(1, 3_600_000_000_000, 3)
			h.SetStartTimeMs(at)
			h.SetEndTimeMs(end)
			h.SetTag(tag)
			for range 1 + random.IntN(20) {
				h.RecordValue(1_000_000 + random.Int64N(9_000_000))
			}
			w.OutputIntervalHistogram(h)
		}
		at = end
	}
	return b.Bytes()
}

// randomPhases returns phases of three names, of which some overlap, and some are shorter than
// intervals.
func randomPhases(random *rand.Rand) (all []phaseSpan) {
	for range 8 {
		start := phasesStart + random.Int64N(60_000)
		length := random.Int64N(12_000)
		if random.IntN(3) == 0 {
			length = random.Int64N(600)
		}
		all = append(all, phaseSpan{[]string{"repair", "gc", "load"}[random.IntN(3)], start, start + length})
	}
	slices.SortFunc(all, func(a, b phaseSpan) int { return int(a.start - b.start) })
	return all
}

// spellings are the texts of files with phases, by the names of these.
func spellings(spans []phaseSpan) map[string]string {
	all := make(map[string]string)
	add := func(file, format string, fields func(p phaseSpan) []any) {
		all[file] += fmt.Sprintf(format, fields(spans[0])...)
		for _, p := range spans[1:] {
			all[file] += fmt.Sprintf(format, fields(p)...)
		}
	}
	rfc := func(at int64) string { return time.UnixMilli(at).UTC().Format("2006-01-02T15:04:05.000Z") }
	relative := func(at int64) float64 { return float64(at-phasesStart) / 1000 }
	all["rfc.csv"] = "start,end,name\n"
	add("rfc.csv", "%s,%s,%s\n", func(p phaseSpan) []any { return []any{rfc(p.start), rfc(p.end), p.name} })
	all["epoch.csv"] = "name;start;end\n"
	add("epoch.csv", "%s;%.3f;%d\n", func(p phaseSpan) []any { return []any{p.name, float64(p.start) / 1000, p.end} })
	all["length.csv"] = "Start,Duration (ms),Name,other\n"
	add("length.csv", "%d,%d,\"%s\",\"a\nb\"\n", func(p phaseSpan) []any { return []any{p.start, p.end - p.start, p.name} })
	all["relative.csv"] = "start,duration,name\n"
	add("relative.csv", "%.3fs,%.3f,%s\n", func(p phaseSpan) []any {
		return []any{relative(p.start), float64(p.end-p.start) / 1000, p.name}
	})
	add("lines.json", `{"name":"%s","start":"%s","duration":"%dms"}`+"\n", func(p phaseSpan) []any { return []any{p.name, rfc(p.start), p.end - p.start} })
	add("array.json", `{"start_ms":%d,"end_ms":%d,"name":"%s"},`, func(p phaseSpan) []any { return []any{p.start, p.end, p.name} })
	all["array.json"] = "[" + strings.TrimSuffix(all["array.json"], ",") + "]"
	all["times.csv"] = "start,end,name\n"
	add("times.csv", "%s,%s,%s\n", func(p phaseSpan) []any {
		clock := func(at int64) string { return time.UnixMilli(at).UTC().Format("15:04:05.000") }
		return []any{clock(p.start), clock(p.end), p.name}
	})
	// JMeter has the time of the start, in milliseconds.
	all["jmeter.jtl"] = "timeStamp,elapsed,label,responseCode,success\n"
	add("jmeter.jtl", "%d,%d,%s,200,true\n", func(p phaseSpan) []any { return []any{p.start, p.end - p.start, p.name} })
	return all
}

// A plainRow is what is compared of a row.
type plainRow struct {
	count, periodMs int64
	p50, p99        int64
}

// plainRows adds up rows of phases with another library, interval by interval.
func plainRows(t *testing.T, logs [][]byte, spans []phaseSpan, byTag bool) map[string]plainRow {
	t.Helper()
	sums := make(map[string]*hdrhistogram.Histogram)
	ran := make(map[string][]bool) // by row, in which milliseconds
	for _, log := range logs {
		for h := range plainIntervals(t, log) {
			for name := range phasesOf(spans, h.StartTimeMs(), h.EndTimeMs()) {
				if byTag {
					name += "::" + h.Tag()
				}
				if sums[name] == nil {
					sums[name], ran[name] = hdrhistogram.New(1, 3_600_000_000_000, 3), make([]bool, 62_000)
				}
				sums[name].Merge(h)
				for at := h.StartTimeMs(); at < h.EndTimeMs(); at++ {
					ran[name][at-phasesStart] = true
				}
			}
		}
	}
	rows := make(map[string]plainRow)
	for name, h := range sums {
		period := int64(0)
		for _, is := range ran[name] {
			if is {
				period++
			}
		}
		rows[name] = plainRow{h.TotalCount(), period, valueAt(h, 50), valueAt(h, 99)}
	}
	return rows
}

// valueAt returns the value at a percentile by the rule of the reference: the library rounds ranks.
func valueAt(h *hdrhistogram.Histogram, percentile int64) int64 {
	rank := (percentile*h.TotalCount() + 99) / 100
	for _, bar := range h.Distribution() {
		if rank -= bar.Count; rank <= 0 {
			return bar.To
		}
	}
	return 0
}

// phasesOf returns the names of the phases that an interval is in: millisecond by millisecond, its
// middle and at least half of it lie in a time that spans of the name have.
func phasesOf(spans []phaseSpan, start, end int64) map[string]bool {
	names := make(map[string]bool)
	has := func(name string, at float64) (from, to int64, ok bool) {
		from, to = -1, -1
		for grown := true; grown; {
			grown = false
			for _, s := range spans {
				if s.name != name || s.end == s.start {
					continue
				}
				touches := from < 0 && float64(s.start) <= at && at < float64(s.end) || from >= 0 && s.start <= to && s.end >= from
				if touches && (from < 0 || s.start < from || s.end > to) {
					if from < 0 {
						from, to = s.start, s.end
					}
					from, to = min(from, s.start), max(to, s.end)
					grown = true
				}
			}
		}
		return from, to, from >= 0
	}
	for _, s := range spans {
		from, to, ok := has(s.name, float64(start+end)/2)
		if ok && 2*(min(to, end)-max(from, start)) >= end-start {
			names[s.name] = true
		}
	}
	if len(names) == 0 {
		names["outside"] = true
	}
	return names
}

// plainIntervals returns the intervals of a log as another library reads them.
func plainIntervals(t *testing.T, log []byte) iter.Seq[*hdrhistogram.Histogram] {
	return func(yield func(*hdrhistogram.Histogram) bool) {
		r := hdrhistogram.NewHistogramLogReader(bytes.NewReader(log))
		for {
			h, err := r.NextIntervalHistogram()
			if err != nil {
				t.Fatal(err)
			}
			if h == nil || !yield(h) {
				return
			}
		}
	}
}

// spansAbove returns the intervals of a log with a maximum above a value, in its order.
func spansAbove(t *testing.T, log []byte, most int64) (all []phaseSpan) {
	t.Helper()
	for h := range plainIntervals(t, log) {
		if h.Max() > most {
			all = append(all, phaseSpan{"b", h.StartTimeMs(), h.EndTimeMs()})
		}
	}
	return all
}

// rowsOf returns the rows of a document.
func rowsOf(t *testing.T, document string) map[string]plainRow {
	t.Helper()
	var doc struct {
		PeriodMs  int64
		Summaries []struct {
			Tag        string
			TotalCount int64
			PeriodMs   *int64
			Throughput float64
			Values     struct{ P50, P99 int64 }
		}
	}
	if err := json.Unmarshal([]byte(document), &doc); err != nil {
		t.Fatal(err)
	}
	rows := make(map[string]plainRow)
	for _, s := range doc.Summaries {
		period := doc.PeriodMs
		if s.PeriodMs != nil {
			period = *s.PeriodMs
		}
		if rate := float64(s.TotalCount) * 1000 / float64(period); s.Throughput != rate {
			t.Errorf("%s: %v a second, want %v", s.Tag, s.Throughput, rate)
		}
		rows[s.Tag] = plainRow{s.TotalCount, period, s.Values.P50, s.Values.P99}
	}
	return rows
}
