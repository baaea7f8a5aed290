package finding

import (
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/detect"
	"hdrkit/internal/gate"
	"hdrkit/internal/loggen"
	"hdrkit/internal/logs"
	"hdrkit/internal/summary"
	"hdrkit/output"
)

// ofKindIn returns the findings of a kind.
func ofKindIn(all []output.Finding, kind string) (found []output.Finding) {
	for _, f := range all {
		if f.Kind == kind {
			found = append(found, f)
		}
	}
	return found
}

// rowOf returns a row with values in microseconds, each so many times.
func rowOf(t *testing.T, tag string, values map[int64]int64) *output.Summary {
	t.Helper()
	h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	if err != nil {
		t.Fatal(err)
	}
	for v, count := range values {
		if err := h.RecordN(v*1000, count); err != nil {
			t.Fatal(err)
		}
	}
	s := &output.Summary{Tag: []byte(tag), Histogram: h, Start: 1793491200_000, End: 1793491260_000, Period: 60_000, Intervals: 60}
	s.Scale = inMillis
	return s
}

var inMillis = hdrlog.Scale{Ratio: 1e6, Unit: "ms", In: hdrlog.Nanosecond}

// TestSentencesOfRows: what counts alone tell, to the last figure.
func TestSentencesOfRows(t *testing.T) {
	for _, test := range []struct {
		name string
		kind string
		run  Run
		want []string
	}{
		{"no values", "few", Run{Summaries: []*output.Summary{rowOf(t, "a", nil)}}, []string{"No values."}},
		{"zeros", "few", Run{Summaries: []*output.Summary{rowOf(t, "a", map[int64]int64{0: 12})}}, []string{"All 12 values are 0."}},
		{"one zero", "few", Run{Summaries: []*output.Summary{rowOf(t, "a", map[int64]int64{0: 1})}}, []string{"All 1 value are 0."}},
		{"19 values", "few", Run{Summaries: []*output.Summary{rowOf(t, "a", map[int64]int64{1000: 10, 2000: 9})}},
			[]string{"19 values: too few for percentiles; the highest is 2.001 ms."}},
		{"20 values", "few", Run{Summaries: []*output.Summary{rowOf(t, "a", map[int64]int64{1000: 10, 2000: 10})}},
			[]string{"20 values: too few for p90 and p99."}},
		{"100 values", "few", Run{Summaries: []*output.Summary{rowOf(t, "a", map[int64]int64{1000: 90, 2000: 10})}}, nil},
		{"p90", "figure", Run{Summaries: []*output.Summary{rowOf(t, "a", map[int64]int64{1000: 90, 2000: 10})}}, []string{"p90 is 1 ms."}},
		{"p99", "figure", Run{Summaries: []*output.Summary{rowOf(t, "a", map[int64]int64{1000: 990, 2000: 10})}}, []string{"p99 is 1 ms."}},
		{"no figure", "figure", Run{Summaries: []*output.Summary{rowOf(t, "a", map[int64]int64{0: 1000})}}, nil},
		{"a maximum", "worst", Run{Summaries: []*output.Summary{rowOf(t, "a", map[int64]int64{1000: 990, 2000: 10}), rowOf(t, "b", map[int64]int64{5000: 1})}},
			[]string{"The maximum is 5.001 ms (b)."}},
		{"failures without values", "failures", Run{
			Summaries: []*output.Summary{rowOf(t, "a", map[int64]int64{1000: 990})},
			Reading:   Reading{Failed: []logs.Failed{{Count: 7, NoValue: 3, Requests: 1000}, {Count: 1, Requests: 200}}},
		}, []string{"3 of 1,200 requests failed or were skipped, and have no value.", "5 of 1,200 requests failed and are counted (hdrrec -errors drop)."}},
		{"failures with a tag", "failures", Run{Summaries: []*output.Summary{
			rowOf(t, "a", map[int64]int64{1000: 985}), rowOf(t, "a/failed", map[int64]int64{1000: 15}),
		}}, []string{"15 of 1,000 requests failed and have tags of their own (-incT '.*/failed')."}},
		{"an unknown unit", "unit", Run{}, []string{"The unit of values is unknown (-in ns)."}},
		{"an assumed unit", "unit", Run{Scale: hdrlog.Scale{Unit: "ns", Assumed: true}}, []string{"No log states its unit: values are taken as ns (-in names another)."}},
		{"a known unit", "unit", Run{Scale: inMillis}, nil},
		{"a unit that -unit names", "unit", Run{Scale: hdrlog.Scale{Unit: "ms"}}, nil},
		{"a unit of the values alone", "unit", Run{Scale: hdrlog.Scale{In: hdrlog.Millisecond}}, nil},
		{"the same requests", "same", Run{Same: []string{"a", "b", "c"}}, []string{"a, b and c are the same requests: only a is shown (-incT chooses)."}},
	} {
		r := test.run
		if r.Scale == (hdrlog.Scale{}) && test.kind != "unit" {
			r.Scale = inMillis
		}
		var got []string
		for _, f := range ofKindIn(of(&r), test.kind) {
			got = append(got, f.Sentence)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestOneInterval: a run of one interval has no worst moment, and a picture of it is that of
// percentiles.
func TestOneInterval(t *testing.T) {
	for intervals, want := range map[int64]string{1: "hdrplot -type percentiles", 2: "The maximum is 2.001 ms."} {
		row := rowOf(t, "a", map[int64]int64{1000: 990, 2000: 10})
		row.Intervals = intervals
		all := of(&Run{Summaries: []*output.Summary{row}, Scale: inMillis})
		got := ofKindIn(all, "figure")[0].Option
		for _, f := range ofKindIn(all, "worst") {
			got += f.Sentence
		}
		if got != want {
			t.Errorf("%d intervals: %q, want %q", intervals, got, want)
		}
	}
}

// TestFailuresWarn: failures are a warning from 1% on.
func TestFailuresWarn(t *testing.T) {
	for failed, want := range map[int64]output.Weight{9: output.Notes, 10: output.Warns} {
		r := &Run{Scale: inMillis, Reading: Reading{Failed: []logs.Failed{{Count: failed, Requests: 1000}}}}
		if got := ofKindIn(of(r), "failures"); len(got) != 1 || got[0].Weight != want {
			t.Errorf("%d of 1000: %+v, want %v", failed, got, want)
		}
	}
}

// TestHighest: the sentence about the highest row says by how much it is higher, unless that reads
// as once.
func TestHighest(t *testing.T) {
	row := func(tag string, v int64) *output.Summary { return rowOf(t, tag, map[int64]int64{v: 10_000}) }
	for _, test := range []struct {
		second int64
		want   string
	}{{500, "p99 of b is 1 ms, 2 times the next highest."}, {990, "p99 of b is 1 ms, the highest."}, {0, "p99 of b is 1 ms, the highest."}} {
		r := &Run{Summaries: []*output.Summary{row("a", test.second), row("b", 1000)}, Scale: inMillis}
		if got := ofKindIn(of(r), "figure")[0]; !strings.HasPrefix(got.Sentence, strings.TrimSuffix(test.want, ".")) || got.Tag != "b" {
			t.Errorf("%d: %s, want %s", test.second, got.Sentence, test.want)
		}
	}
}

// TestGapsOfLogs: a gap says in which logs it is.
func TestGapsOfLogs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		nodes int
		out   []int
		want  string
	}{
		{1, []int{0}, "No values for 20 s from 00:05:00 UTC."},
		{3, []int{1}, "No values for 20 s from 00:05:00 UTC, in nodeb."},
		{3, []int{0, 2}, "No values for 20 s from 00:05:00 UTC, in 2 of 3 logs."},
		{3, []int{0, 1, 2}, "No values for 20 s from 00:05:00 UTC, in all 3 logs."},
	} {
		s := *loggen.ScenarioNamed("steady")
		s.Nodes = test.nodes
		for _, node := range test.out {
			s.Known = append(s.Known, loggen.Event{Node: node, First: 300, Last: 319})
		}
		got := sentencesOf(t, &s)
		if !slices.Contains(got, "gap: "+test.want) {
			t.Errorf("%d of %d logs: %q, want %s", len(test.out), test.nodes, got, test.want)
		}
	}
}

// TestClock: a log whose clock is whole quarters of an hour off is named if it would run together
// with all others.
func TestClock(t *testing.T) {
	const minute = 60_000
	span := func(from, to int64) merge.Span { return merge.Span{Start: from * minute, End: to * minute} }
	for _, test := range []struct {
		name string
		logs map[string]merge.Span
		off  int64 // in minutes, of c
	}{
		{"an hour ahead", map[string]merge.Span{"a": span(0, 10), "b": span(0, 10), "c": span(60, 70)}, 60},
		{"a quarter behind", map[string]merge.Span{"a": span(0, 10), "b": span(0, 10), "c": span(-15, -5)}, -15},
		{"nearly a quarter", map[string]merge.Span{"a": span(0, 10), "b": span(0, 10), "c": span(14, 24)}, 15},
		{"between two quarters", map[string]merge.Span{"a": span(0, 10), "b": span(0, 10), "c": span(22, 32)}, 0},
		{"shorter", map[string]merge.Span{"a": span(0, 10), "b": span(0, 10), "c": span(60, 67)}, 0},
		{"overlaps", map[string]merge.Span{"a": span(0, 70), "b": span(0, 70), "c": span(60, 130)}, 0},
		{"two others are apart", map[string]merge.Span{"a": span(0, 10), "b": span(30, 40), "c": span(60, 70)}, 0},
	} {
		if got := clockOff("c", test.logs); got != test.off*minute {
			t.Errorf("%s: %d minutes off, want %d", test.name, got/minute, test.off)
		}
		if test.off != 0 && clockOff("a", test.logs) != 0 {
			t.Errorf("%s: a is off, too", test.name)
		}
	}
}

// TestRateOfLogs: a log that ends early is no change of the rate, which is that of logs that run.
func TestRateOfLogs(t *testing.T) {
	s := *loggen.ScenarioNamed("steady")
	s.Nodes = 3
	for node := range 3 {
		s.Known = append(s.Known, loggen.Event{Node: node, First: 550 + 10*node, Last: 599})
	}
	for _, got := range sentencesOf(t, &s) {
		if strings.HasPrefix(got, "rate: ") {
			t.Errorf("logs end at different times: %s", got)
		}
	}
}

// TestChanged: the verdict about a change says by how much, in percent and in values.
func TestChanged(t *testing.T) {
	limits, err := gate.Parse("p99<=+10%,throughput>=-5%")
	if err != nil {
		t.Fatal(err)
	}
	before := rowOf(t, "a", map[int64]int64{1000: 60_000})
	for _, test := range []struct {
		value int64
		count int64
		want  []string
	}{
		{1200, 60_000, []string{
			"NOT PROVEN: p99 rose by 20%: 1 to 1.2 ms, limit +10%; looks worse; there are no intervals.",
			"NOT PROVEN: throughput is 1,000/s as before, limit -5%; there are no intervals.",
		}},
		{900, 54_000, []string{
			"NOT PROVEN: throughput fell by 10%: 1,000 to 900/s, limit -5%; looks worse; there are no intervals.",
			"NOT PROVEN: p99 fell by 10%: 1 to 0.9001 ms, limit +10%; there are no intervals.",
		}},
	} {
		after := rowOf(t, "a", map[int64]int64{test.value: test.count})
		r := &Run{Summaries: []*output.Summary{after}, Scale: inMillis}
		r.Verdicts = gate.Judge(limits, gate.Measured{Summaries: r.Summaries, Baseline: []*output.Summary{before}})
		var got []string
		for _, f := range Limits(r) {
			got = append(got, f.Sentence)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestWith: a sentence says how many of the slow values come with a phase, of which tag if there
// are several, and nothing about causes.
func TestWith(t *testing.T) {
	t.Parallel()
	c := summary.Coincident{
		Phase:       "Young\x1b",
		Row:         []byte("read"),
		Rows:        1,
		Percentile:  99.9,
		Coincidence: detect.Coincidence{Share: 0.384, Chance: 0.021, Time: 0.0412},
	}
	for rows, want := range map[int]string{
		1: "38% of the values above p99.9 come with Young%1B, in 4.1% of the time; if that were like the time around, 2% would.",
		2: "38% of the values of read above p99.9 come with Young%1B, in 4.1% of the time; if that were like the time around, 2% would.",
	} {
		c.Rows = rows
		all, _ := Of(&Run{Coincident: []summary.Coincident{c}})
		if with := ofKindIn(all, "with"); len(with) != 1 || with[0].Sentence != want {
			t.Errorf("%+v, not %s", all, want)
		}
	}
}
