package finding

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/clitest"
	"hdrkit/internal/loggen"
	"hdrkit/internal/scan"
	"hdrkit/internal/summary"
	"hdrkit/output"
	"hdrkit/tags"
)

// sentences returns the findings of a scenario.
func sentences(t *testing.T, name string) (all []string) {
	t.Helper()
	return sentencesOf(t, loggen.ScenarioNamed(name))
}

func sentencesOf(t *testing.T, scenario *loggen.Scenario) []string {
	t.Helper()
	return sentencesIn(t, scenario, 0)
}

// sentencesIn returns the findings of a scenario if times may take so many bytes, 0 for any number.
func sentencesIn(t *testing.T, scenario *loggen.Scenario, most int) []string {
	t.Helper()
	return sentencesOfLogs(t, most, logsOf(t, scenario)...)
}

// logsOf returns the logs of a scenario.
func logsOf(t *testing.T, scenario *loggen.Scenario) (logs [][]byte) {
	t.Helper()
	for node := range scenario.Nodes {
		var log bytes.Buffer
		if err := scenario.Write(&log, node); err != nil {
			t.Fatal(err)
		}
		logs = append(logs, log.Bytes())
	}
	return logs
}

// sentencesOfLogs returns the findings of logs in nanoseconds.
func sentencesOfLogs(t *testing.T, most int, logs ...[]byte) (all []string) {
	t.Helper()
	for _, f := range findingsOfLogs(t, most, "tag", logs...) {
		all = append(all, f.Kind+": "+f.Sentence)
	}
	return all
}

// findingsOfLogs returns them, if by makes rows of the intervals.
func findingsOfLogs(t *testing.T, most int, by string, logs ...[]byte) []output.Finding {
	t.Helper()
	rows, err := tags.ParseBy(by)
	if err != nil {
		t.Fatal(err)
	}
	var inputs []scan.Input
	for n, log := range logs {
		inputs = append(inputs, scan.Input{
			Name: "node" + string(rune('a'+n)) + ".hdr",
			Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(log)), nil },
		})
	}
	s := &scan.Scan{Inputs: inputs, Workers: 2, Report: func(err *hdrlog.SyntaxError, _ bool) error { return err }}
	s.Rows.By = rows
	r := &Run{
		By:        rows,
		Histories: &summary.Histories{Times: true, Sums: len(logs) >= MinLogs, Most: most},
		Course:    new(summary.Course),
		Scale:     hdrlog.Scale{Ratio: 1e6, Unit: "ms", In: hdrlog.Nanosecond},
	}
	result, err := summary.Collect(s, summary.Options{Histories: r.Histories, Course: r.Course})
	if err != nil {
		t.Fatal(err)
	}
	r.Summaries = result.Summaries
	for _, s := range r.Summaries {
		s.Scale = r.Scale
	}
	return of(r)
}

// TestLongLog proves that a moment has no length if intervals had to become windows, and the moment
// is one of them: it may be shorter.
func TestLongLog(t *testing.T) {
	t.Parallel()
	all := sentencesIn(t, loggen.ScenarioNamed("spike"), 100<<10)
	if want := "worst: Worst moment: 00:05:00 UTC, 400"; !strings.HasPrefix(all[0], want) {
		t.Errorf("%q, not %s", all, want)
	}
}

// TestKinds: each scenario has its finding, and a steady run has none that warns.
func TestKinds(t *testing.T) {
	for name, want := range map[string]string{
		"spike":     "worst: Worst moment: 00:05:00 UTC, 1 s up to 400",
		"slow node": "outlier: nodec has ",
		"shift":     "shift: p99 of ",
		"warm-up":   "warmup: Steady from 00:0",
		"pauses":    "rhythm: Spikes every 60",
		"steady":    "figure: p99 of ",
	} {
		all := sentences(t, name)
		if !slices.ContainsFunc(all, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("%s: %q", name, all)
		}
		if !strings.HasPrefix(all[0], want) {
			t.Errorf("%s begins with %s", name, all[0])
		}
	}
}

// TestFacts: a finding has what it is about: the option that shows more, the tag and the log, when
// it was, and its figures.
func TestFacts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ scenario, by, kind, want string }{
		{"spike", "tag", "worst", "hdrsum -worst 5, insert-rt of nodeb.hdr, max times, from 300 s for 1 s"},
		{"slow node", "tag", "outlier", "-by input, insert-rt of nodec.hdr, logs share times, from 0 s for 600 s"},
		{"slow node", "input", "outlier", "hdrplot -by input -type heatmap, insert-rt of nodec.hdr, logs share times, from 0 s for 600 s"},
		{"shift", "tag", "shift", "-agg 1m, read-rt of , after before, from 360 s"},
		{"warm-up", "tag", "warmup", "-s steady,  of , times, from 0 s for 100 s"},
		{"pauses", "tag", "rhythm", "hdrplot -type heatmap -fold auto,  of , expected found periodMs, from 31 s for 540 s"},
		{"steady", "tag", "figure", ", insert-rt of , p99"},
	} {
		got := ""
		for _, f := range findingsOfLogs(t, 0, test.by, logsOf(t, loggen.ScenarioNamed(test.scenario))...) {
			if f.Kind != test.kind {
				continue
			}
			got += fmt.Sprintf("%s, %s of %s, %s", f.Option, f.Tag, f.Input, strings.Join(slices.Sorted(maps.Keys(f.Figures)), " "))
			if f.Start != nil {
				got += fmt.Sprintf(", from %d s", (*f.Start-loggen.ScenarioStart)/1000)
			}
			if f.End != nil {
				got += fmt.Sprintf(" for %d s", (*f.End-*f.Start)/1000)
			}
		}
		if got != test.want {
			t.Errorf("%s, %s: %s\nwant %s", test.scenario, test.kind, got, test.want)
		}
	}
}

// TestKindsDocumented: the documents describe each kind.
func TestKindsDocumented(t *testing.T) {
	for _, kind := range kinds {
		clitest.Documented(t, "hdrsum.md", kind.name)
	}
}

// TestOutliers: logs that are as slow as each other are named together.
func TestOutliers(t *testing.T) {
	for slow, want := range map[int]string{
		1: "outlier: nodeb has ",
		2: "outlier: nodeb and nodec have ",
		3: "outlier: nodeb, nodec and noded have ",
		4: "outlier: nodeb, nodec and 2 more logs have ",
	} {
		s := *loggen.ScenarioNamed("steady")
		s.Nodes = 16
		for node := 1; node <= slow; node++ {
			s.Known = append(s.Known, loggen.Event{Node: node, Last: s.Intervals, Slow: [2]float64{3, 3}})
		}
		all := sentencesOf(t, &s)
		if !slices.ContainsFunc(all, func(got string) bool { return strings.HasPrefix(got, want) }) {
			t.Errorf("%d slow logs: %q, want %s", slow, all, want)
		}
	}
}

// TestLogsBeside: a log that is slower all the time is found though another one is slower for a
// while, and both are told.
func TestLogsBeside(t *testing.T) {
	t.Parallel()
	s := *loggen.ScenarioNamed("steady")
	s.Nodes = 8
	s.Known = []loggen.Event{
		{Node: 2, First: 0, Last: 599, Slow: [2]float64{3, 3}},
		{Node: 5, First: 200, Last: 299, Slow: [2]float64{3, 3}},
	}
	all := sentencesOf(t, &s)
	for _, want := range []string{"outlier: nodec has ", "level: Maxima of "} {
		if !slices.ContainsFunc(all, func(got string) bool { return strings.HasPrefix(got, want) }) {
			t.Errorf("%q has no %s", all, want)
		}
	}
}

// TestCourses: how a level changes, when and by how much, to the second where intervals say that.
func TestCourses(t *testing.T) {
	t.Parallel()
	event := func(node, first, last int, begin, end float64) loggen.Event {
		return loggen.Event{Node: node, First: first, Last: last, Slow: [2]float64{begin, end}}
	}
	for _, test := range []struct {
		name  string
		nodes int
		known []loggen.Event
		want  string
	}{
		{"a step", 1, []loggen.Event{event(0, 360, 599, 3, 3)}, "shift: p99 of read-rt rose at 00:06:00 UTC: from about 3.6 to 11 ms."},
		{"a step down in the first quarter", 1, []loggen.Event{event(0, 0, 140, 3, 3)},
			"warmup: Steady from 00:02:24 UTC on (-s steady); before, p99 of insert-rt was 3 times as high."},
		{"a step down behind it", 1, []loggen.Event{event(0, 0, 160, 3, 3)}, "shift: p99 of insert-rt fell at 00:02:44 UTC: from about 11 to 3.6 ms."},
		{"a drift", 1, []loggen.Event{event(0, 0, 599, 1, 4)}, "shift: p99 of insert-rt rose in the course of the run: from about 4.3 to 14 ms."},
		{"a phase", 1, []loggen.Event{event(0, 200, 259, 3, 3)}, "level: Maxima of insert-rt are 3.3 times as high as otherwise for 60 s from 00:03:20 UTC."},
		{"two phases", 1, []loggen.Event{event(0, 200, 259, 3, 3), event(0, 400, 459, 3, 3)},
			"level: Maxima of insert-rt are 3.3 times as high as otherwise for 60 s from 00:03:20 UTC, and 1 more time."},
		{"a short phase", 1, []loggen.Event{event(0, 200, 211, 3, 3)}, "level: Maxima of read-rt are 3.2 times as high as otherwise for 12 s from 00:03:20 UTC."},
		{"a moment", 1, []loggen.Event{event(0, 200, 208, 3, 3)}, "worst: Worst moment: 00:03:20 UTC, 9 s up to 23.25 ms (read-rt)."},
		{"a phase of a node", 3, []loggen.Event{event(1, 200, 259, 3, 3)},
			"level: Maxima of read-rt in nodeb are 3 times as high as otherwise for 60 s from 00:03:20 UTC."},
		{"a node that gets slow", 3, []loggen.Event{event(1, 200, 599, 3, 3)},
			"level: Maxima of insert-rt in nodeb are 3.1 times as high as otherwise for 6m40s from 00:03:20 UTC."},
		{"a node that drifts", 3, []loggen.Event{event(1, 0, 599, 1, 4)},
			"level: Maxima of insert-rt in nodeb are 2.7 times as high as otherwise for 8m4s from 00:01:56 UTC."},
		{"a node that warms up", 3, []loggen.Event{event(1, 0, 120, 3, 3)},
			"level: Maxima of insert-rt in nodeb are 3 times as high as otherwise for 2m1s from 00:00:00 UTC."},
		{"a node that is faster for a while", 3, []loggen.Event{event(1, 200, 259, 0.3, 0.3)}, "figure: p99 of insert-rt is 3.564 ms, among the highest."},
		{"a level that hardly moves", 1, []loggen.Event{event(0, 300, 599, 1.03, 1.03)}, "figure: p99 of insert-rt is 3.66 ms, among the highest."},
	} {
		s := *loggen.ScenarioNamed("steady")
		s.Nodes = test.nodes
		s.Known = test.known
		if got := sentencesOf(t, &s)[0]; got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// TestZeros: logs whose values are all 0 are as good as each other.
func TestZeros(t *testing.T) {
	s := *loggen.ScenarioNamed("steady")
	for node := range s.Nodes {
		s.Known = append(s.Known, loggen.Event{Node: node, Last: s.Intervals, Slow: [2]float64{1e-12, 1e-12}})
	}
	if got := sentencesOf(t, &s)[0]; !strings.HasPrefix(got, "few: All ") {
		t.Error(got)
	}
}

// logOf returns a log of ten minutes with a tag.
func logOf(t *testing.T, values func(r *rand.Rand, second int) []float64) []byte {
	return logOfTags(t, []string{"all"}, func(r *rand.Rand, _ string, second int) []float64 { return values(r, second) })
}

// logOfTags returns a log of ten minutes, with an interval a second of each tag. An interval has
// the values in microseconds, and is missing if there are none.
func logOfTags(t *testing.T, tags []string, values func(r *rand.Rand, tag string, second int) []float64) []byte {
	t.Helper()
	var text bytes.Buffer
	w := hdrlog.NewWriter(&text)
	w.Version()
	w.BaseTime(loggen.ScenarioStart / 1000)
	w.StartTime(loggen.ScenarioStart / 1000)
	r := rand.New(rand.NewPCG(11, 11))
	for n := range 600 * len(tags) {
		second, tag := n/len(tags), tags[n%len(tags)]
		h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range values(r, tag, second) {
			h.Record(int64(1000 * v))
		}
		if h.TotalCount() == 0 {
			continue
		}
		if err := w.Interval([]byte(tag), float64(second), 1, h); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// TestMedianMoves: if only the median moves for good, the sentence is about it.
func TestMedianMoves(t *testing.T) {
	t.Parallel()
	log := logOf(t, func(r *rand.Rand, second int) (all []float64) {
		for n := range 300 {
			v := 1000 * math.Exp(0.2*r.NormFloat64())
			if second >= 300 {
				v *= 2
			}
			if n < 30 { // p99 is in this tenth
				v = 20_000 * math.Exp(0.2*r.NormFloat64())
			}
			all = append(all, v)
		}
		return all
	})
	all := sentencesOfLogs(t, 0, log)
	if want := "shift: p50 rose at 00:05:00 UTC: from about 1 to 2.1 ms."; !slices.Contains(all, want) {
		t.Errorf("%q has no %s", all, want)
	}
}

// steadyValues returns values without anything else.
func steadyValues(r *rand.Rand, count int) (all []float64) {
	for range count {
		all = append(all, 1000*math.Exp(0.2*r.NormFloat64()))
	}
	return all
}

// TestRateMoves: a rate that changes for good, or all the time, has a sentence with both rates.
func TestRateMoves(t *testing.T) {
	t.Parallel()
	for want, count := range map[string]func(second int) int{
		"rate: The rate fell at 00:04:00 UTC: from about 100 to 50/s.":           func(second int) int { return 100 - min(second/240, 1)*50 },
		"rate: The rate rose in the course of the run: from about 110 to 290/s.": func(second int) int { return 100 + second/3 },
		"rate: The rate fell in the course of the run: from about 290 to 110/s.": func(second int) int { return 300 - second/3 },
	} {
		log := logOf(t, func(r *rand.Rand, second int) []float64 { return steadyValues(r, count(second)+int(8*r.NormFloat64())) })
		if all := sentencesOfLogs(t, 0, log); !slices.Contains(all, want) {
			t.Errorf("%q has no %s", all, want)
		}
	}
}

// TestGapsOfTags: a gap names its tags unless all have it.
func TestGapsOfTags(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		out  []string // the tags that have it
		want string
	}{
		{[]string{"b"}, "gap: No values for 30 s from 00:01:40 UTC (b)."},
		{[]string{"b", "c"}, "gap: No values for 30 s from 00:01:40 UTC (b and 1 other tag)."},
		{[]string{"a", "b", "d"}, "gap: No values for 30 s from 00:01:40 UTC (a and 2 other tags)."},
		{[]string{"a", "b", "c", "d"}, "gap: No values for 30 s from 00:01:40 UTC."},
	} {
		log := logOfTags(t, []string{"a", "b", "c", "d"}, func(r *rand.Rand, tag string, second int) []float64 {
			if second >= 100 && second < 130 && slices.Contains(test.out, tag) {
				return nil
			}
			return steadyValues(r, 20)
		})
		if all := sentencesOfLogs(t, 0, log); !slices.Contains(all, test.want) {
			t.Errorf("%q has no %s", all, test.want)
		}
	}
}

// TestRhythmOfTags: a rhythm names its tag if at most half of the tags have it.
func TestRhythmOfTags(t *testing.T) {
	t.Parallel()
	tags := []string{"a", "b", "c", "d"}
	for with, want := range map[int]string{
		1: "rhythm: Spikes every 30 s (20 of 20 expected) (a).",
		2: "rhythm: Spikes every 30 s (20 of 20 expected) (a).",
		3: "rhythm: Spikes every 30 s (20 of 20 expected).",
	} {
		log := logOfTags(t, tags, func(r *rand.Rand, tag string, second int) []float64 {
			all := steadyValues(r, 20)
			if second%30 == 7 && slices.Contains(tags[:with], tag) {
				all = append(all, 50_000)
			}
			return all
		})
		if all := sentencesOfLogs(t, 0, log); !slices.Contains(all, want) {
			t.Errorf("%d tags: %q has no %s", with, all, want)
		}
	}
}

// TestLeads: of tags whose figures differ all the time, the highest one is by how much it is above
// the next one, and of others it is among the highest.
func TestLeads(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		factors map[string]float64
		want    string
	}{
		{map[string]float64{"a": 1, "b": 1}, "among the highest."},
		{map[string]float64{"a": 1, "b": 2}, "2 times the next highest."},
		{map[string]float64{"a": 1, "b": 2.5, "c": 1.25}, "2 times the next highest."},
		{map[string]float64{"a": 2, "b": 1, "c": 2}, "among the highest."},
	} {
		log := logOfTags(t, slices.Sorted(maps.Keys(test.factors)), func(r *rand.Rand, tag string, second int) []float64 {
			all := steadyValues(r, 100)
			for n := range all {
				all[n] *= test.factors[tag]
			}
			return all
		})
		all := sentencesOfLogs(t, 0, log)
		said := func(s string) bool { return strings.HasPrefix(s, "figure: p99 of ") && strings.HasSuffix(s, test.want) }
		if !slices.ContainsFunc(all, said) {
			t.Errorf("%v: %q has no %s", test.factors, all, test.want)
		}
	}
}

// TestGroups: values that fall in groups all the time have a sentence, which says whether the mean
// is near one of them.
func TestGroups(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name         string
		fast         int // of 100 values a second, the others are slow
		slow         float64
		first, every int // seconds that have slow values
		want         string
	}{
		{"far apart", 60, 20_600, 0, 1, "Values fall in 2 groups: 60% near 1.3 ms and 40% near 21 ms; the mean, 9 ms, is near none."},
		{"the mean is near one", 90, 6000, 0, 1, "Values fall in 2 groups: 90% near 1.3 ms and 10% near 6.1 ms."},
		{"in few seconds", 60, 20_600, 590, 1, ""},
		{"in half of the time", 60, 20_600, 0, 2, "Values fall in 2 groups: 80% near 1.3 ms and 20% near 21 ms; the mean, 5.1 ms, is near none."},
	} {
		log := logOf(t, func(r *rand.Rand, second int) (all []float64) {
			for n := range 100 {
				v := 1234 * math.Exp(0.05*r.NormFloat64())
				if n >= test.fast && second >= test.first && second%test.every == 0 {
					v = test.slow * math.Exp(0.05*r.NormFloat64())
				}
				all = append(all, v)
			}
			return all
		})
		got := ""
		for _, s := range sentencesOfLogs(t, 0, log) {
			if sentence, ok := strings.CutPrefix(s, "groups: "); ok {
				got = sentence
			}
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestSameRequests: tags that count the same requests are named, and it is a warning if rows add
// them up.
func TestSameRequests(t *testing.T) {
	t.Parallel()
	log := logOfTags(t, []string{"a-rt", "a-st", "b-rt", "b-st"}, func(r *rand.Rand, _ string, _ int) []float64 { return steadyValues(r, 2) })
	for by, want := range map[string]string{
		"tag":     "notes: a-rt and a-st are the same requests, as are b-rt and b-st: choose one (-incT '.*-rt').",
		"all":     "warns: a-rt and a-st are the same requests, and are added up: choose one (-incT '.*-rt').",
		"(.*)-.*": "warns: b-rt and b-st are the same requests, and are added up: choose one (-incT '.*-rt').",
		".*-(.*)": "",
	} {
		got := ""
		for _, f := range findingsOfLogs(t, 0, by, log) {
			if f.Kind == Same {
				got += fmt.Sprint(f.Weight, ": ", f.Sentence)
			}
		}
		if got != want {
			t.Errorf("by %s: %q, want %q", by, got, want)
		}
	}
}

// TestTimeouts: many values at one maximum take the place of the worst moment.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	log := logOf(t, func(r *rand.Rand, second int) []float64 {
		all := steadyValues(r, 81)
		if second%5 == 0 {
			all = append(all, 30_345_678, 30_345_678, 30_345_678, 30_345_678, 30_345_678)
		}
		return all
	})
	want := "worst: 1.2% of values take 30,300 ms, the maximum, in 120 of 600 intervals."
	if all := sentencesOfLogs(t, 0, log); !slices.Contains(all, want) {
		t.Errorf("%q has no %s", all, want)
	}
}
