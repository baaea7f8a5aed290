package finding

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/detect"
	"hdrkit/internal/gate"
	"hdrkit/internal/logs"
	"hdrkit/internal/summary"
	"hdrkit/output"
)

// summaryOf returns a summary of a second with so many values, each a microsecond longer than the
// one before.
func summaryOf(t *testing.T, tag string, values int64) *output.Summary {
	t.Helper()
	h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	if err != nil {
		t.Fatal(err)
	}
	for v := range values {
		if err := h.Record((v + 1) * 1000); err != nil {
			t.Fatal(err)
		}
	}
	return &output.Summary{Tag: []byte(tag), Histogram: h, Start: 1793491200_000, End: 1793491201_000, Period: 1000}
}

// runOf returns a run with two tags, and what becomes of limits.
func runOf(t *testing.T, limits string) *Run {
	t.Helper()
	parsed, err := gate.Parse(limits)
	if err != nil {
		t.Fatal(err)
	}
	r := &Run{
		Summaries: []*output.Summary{summaryOf(t, "read", 1000), summaryOf(t, "write", 2000)},
		Scale:     hdrlog.Scale{Ratio: 1e6, Unit: "ms", In: hdrlog.Nanosecond},
	}
	for _, s := range r.Summaries {
		s.Scale = r.Scale
	}
	r.Verdicts = gate.Judge(parsed, gate.Measured{Summaries: r.Summaries})
	return r
}

// of returns the findings of a run.
func of(r *Run) []output.Finding {
	all, _ := Of(r)
	return all
}

// TestLimits: what fails comes first, then what is nearest to its bound. The verdict is the first
// finding also if all limits hold.
func TestLimits(t *testing.T) {
	for _, test := range []struct {
		limits string
		want   []string
	}{
		{"p99<=1ms", []string{"FAILS: p99 of write is 1.98 ms, limit 1 ms.", "HOLDS: p99 of read is 990.2 us of 1 ms."}},
		{"p99<=10ms,throughput>=1500", []string{
			"FAILS: throughput of read is 1,000/s, limit 1,500/s.", "HOLDS: throughput of write is 2,000/s, limit 1,500/s.",
			"HOLDS: p99 of write is 1.98 of 10 ms.", "HOLDS: p99 of read is 990.2 us of 10 ms.",
		}},
		{"other:p99<=10ms", []string{"FAILS: p99 of other: no intervals with this tag."}},
		{"over(1ms)<=10%", []string{"FAILS: over(1ms) of write is 50%, limit 10%.", "HOLDS: over(1ms) of read is 0 of 10%."}},
	} {
		var got []string
		for _, f := range of(runOf(t, test.limits)) {
			if f.Kind == "limit" {
				got = append(got, f.Sentence)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.limits, got, test.want)
		}
	}
}

// TestCompared: what changed stands behind limits that fail, and before those that hold, but for a
// verdict that leads.
func TestCompared(t *testing.T) {
	changes := []output.Finding{{Kind: "change", Weight: output.Warns, Sentence: "SLOWER"}}
	for limits, want := range map[string]string{
		"p99<=1ms":           "limit change limit",
		"p99<=1s":            "limit change limit",
		"p99<=1us":           "limit limit change",
		"p99<=1us,p50<=1s":   "limit limit change limit limit",
		"throughput>=33.3/s": "limit change limit",
	} {
		var kinds []string
		for _, f := range Compared(runOf(t, limits), changes) {
			kinds = append(kinds, f.Kind)
		}
		if got := strings.Join(kinds, " "); got != want {
			t.Errorf("%s: %s, want %s", limits, got, want)
		}
	}
}

// TestBound: a bound has the digits that somebody typed.
func TestBound(t *testing.T) {
	all := Limits(runOf(t, "write:p99<=1978.12us"))
	if want := "FAILS: p99 of write is 1,980 us, limit 1978.12 us."; all[0].Sentence != want {
		t.Errorf("%s, want %s", all[0].Sentence, want)
	}
}

// TestSmallUnit: a figure below 1 in the unit of its limit is in a smaller one, down to
// nanoseconds.
func TestSmallUnit(t *testing.T) {
	for limit, want := range map[string]string{
		"read:min<=5us": "HOLDS: min of read is 300 ns of 5 us.",
		"read:min<=5ms": "HOLDS: min of read is 300 ns of 5 ms.",
		"read:max<=5s":  "HOLDS: max of read is 1 ms of 5 s.",
		"read:max<=1s":  "HOLDS: max of read is 1 ms of 1 s.",
		"read:max<=5ms": "HOLDS: max of read is 1 of 5 ms.",
		"read:max<=5ns": "FAILS: max of read is 1,000,000 ns, limit 5 ns.",
	} {
		r := runOf(t, limit)
		if err := r.Summaries[0].Histogram.Record(300); err != nil {
			t.Fatal(err)
		}
		limits := []gate.Limit{*r.Verdicts[0].Limit}
		r.Verdicts = gate.Judge(limits, gate.Measured{Summaries: r.Summaries})
		if got := Limits(r)[0].Sentence; got != want {
			t.Errorf("%s: %s, want %s", limit, got, want)
		}
	}
}

// TestExactCount: a count in a verdict is exact.
func TestExactCount(t *testing.T) {
	for text, want := range map[string]string{
		"count>=38800":       "FAILS: count is 38,726, limit 38,800.",
		"count<=12345678901": "HOLDS: count is 38,726 of 12,345,678,901.",
		"count<38726":        "FAILS: count is 38,726, limit <38,726.",
		"count<38727":        "HOLDS: count is 38,726, limit <38,727.",
		"count>38726":        "FAILS: count is 38,726, limit >38,726.",
		"count<=+1%":         "FAILS: count rose by 2.91%: 37,632 to 38,726, limit +1%.",
	} {
		limits, err := gate.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		before, after := summaryOf(t, "read", 37632), summaryOf(t, "read", 38726)
		r := &Run{Summaries: []*output.Summary{after}}
		r.Verdicts = gate.Judge(limits, gate.Measured{Summaries: r.Summaries, Baseline: []*output.Summary{before}})
		if got := Limits(r)[0].Sentence; got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestWhole: a verdict about two runs at once prints what they measured, not the baseline times the
// change.
func TestWhole(t *testing.T) {
	limits, err := gate.Parse("p99<=+10%")
	if err != nil {
		t.Fatal(err)
	}
	for whole, want := range map[float64]string{
		12.1: "FAILS: p99 rose by 20% (15..25): 10 to 12.1 ms, limit +10%.",
		9:    "FAILS: p99 rose by 20% (15..25) while both ran (10 to 9 ms in all), limit +10%.",
	} {
		v := gate.Verdict{
			Limit:    &limits[0],
			Unit:     "ms",
			Value:    12,
			Bound:    11,
			Relative: gate.Relative{Baseline: 10, Whole: whole},
			Low:      11.5,
			High:     12.5,
		}
		row := new(output.Summary)
		v.Tag = row.Name()
		f := Limits(&Run{Summaries: []*output.Summary{row}, Verdicts: []gate.Verdict{v}})[0]
		if f.Sentence != want || float64(f.Figures["whole"]) != whole {
			t.Errorf("%v in all: %s %v, want %s", whole, f.Sentence, f.Figures, want)
		}
	}
}

// TestLost: what is missing in the figures has a sentence.
func TestLost(t *testing.T) {
	r := runOf(t, "p99<=1s")
	r.Reading.Malformed, r.Reading.Late = 12, 1
	var got []string
	for _, f := range of(r) {
		if f.Kind == "malformed" || f.Kind == "late" {
			got = append(got, f.Sentence)
		}
	}
	want := []string{"12 malformed lines are skipped, so no figure has what they recorded.", "1 interval is left out, since it came too late."}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestCut: the rest of a log is no malformed line.
func TestCut(t *testing.T) {
	r := runOf(t, "p99<=1s")
	until := r.Summaries[0].Start + 30_000
	sentences := func() (got []string) {
		for _, f := range of(r) {
			if f.Kind == "malformed" || f.Kind == "cut" {
				got = append(got, f.Sentence)
			}
		}
		return got
	}
	r.Reading.Cut = []logs.Cut{{Log: "a.hdr.gz", Until: &until}}
	r.Reading.Malformed = 1
	want := []string{"The rest of a.hdr.gz is missing from 00:00:30 UTC on: the file is cut short or damaged."}
	if got := sentences(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	r.Reading.Cut = append(r.Reading.Cut, logs.Cut{Log: "b.hdr.gz"})
	r.Reading.Malformed = 3
	want = []string{
		"The rest of 2 logs is missing, the earliest from 00:00:30 UTC on: the files are cut short or damaged.",
		"1 malformed line is skipped, so no figure has what it recorded.",
	}
	if got := sentences(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestBreaches: a limit that fails says when, and its option says how to see it.
func TestBreaches(t *testing.T) {
	r := runOf(t, "write:p99<=1ms")
	start := r.Summaries[0].Start
	r.Verdicts[0].Outage = gate.Outage{Start: start, End: start + 30_000, Times: 1, Millis: 30_000}
	all := of(r)
	if want := "FAILS: p99 of write is 1.98 ms, limit 1 ms; above it for 30 s from 00:00:00 UTC."; all[0].Sentence != want {
		t.Errorf("%s, want %s", all[0].Sentence, want)
	}
	r.Verdicts[0].Outage.Times = 2
	if got, want := of(r)[0].Sentence, "FAILS: p99 of write is 1.98 ms, limit 1 ms; above it 2 times, for 30 s, from 00:00:00 UTC."; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	text, err := json.Marshal(all[0])
	want := `{"kind":"limit","weight":"fails","sentence":"` + all[0].Sentence + `","tag":"write","limit":"p99\u003c=1ms","startMs":1793491200000,"endMs":1793491230000,` +
		`"figures":{"limit":1,"value":1.980415},"unit":"ms","option":"hdrsum -st breaches"}`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
	var back output.Finding
	if err := json.Unmarshal(text, &back); err != nil || back.Weight != output.Fails || back.Figures["limit"] != 1 {
		t.Errorf("%+v, %v", back, err)
	}
}

// TestRowsOnce: however many limits fail, and whatever else is found, the counts of each row are
// decoded once. An hour of a hundred thousand tags is a file of 15 MB.
func TestRowsOnce(t *testing.T) {
	r := runOf(t, "p99<=1ms,p50<=1ms,max<=1ms")
	loads := 0
	for _, s := range r.Summaries {
		counts := s.Histogram
		s.Histogram = nil
		s.Load = func() *histogram.Histogram {
			loads++
			return counts
		}
	}
	for n := range r.Verdicts {
		v := &r.Verdicts[n]
		s := summary.Find(r.Summaries, []byte(v.Tag))
		v.Outage = gate.Outage{Start: s.Start, End: s.End, Times: 1, Millis: s.End - s.Start}
	}
	if all := of(r); len(all) < len(r.Verdicts) {
		t.Fatalf("%d findings of %d verdicts", len(all), len(r.Verdicts))
	}
	if loads != len(r.Summaries) {
		t.Errorf("the counts of %d rows are decoded %d times", len(r.Summaries), loads)
	}
}

// TestLoad: a level that moves as the rate does says so, and one that moves against it does not.
func TestLoad(t *testing.T) {
	for _, test := range []struct {
		after, rate float64
		says        bool
	}{{8e6, 200, true}, {8e6, 50, false}, {2e6, 200, false}, {2e6, 50, true}} {
		r := runOf(t, "p99<=1s")
		a := analyse(r)
		step := levelChange{Change: detect.Change{Kind: detect.Step}, before: 4e6, after: test.after}
		a.courses = courses{
			rows: []rowChange{{levelChange: step, row: r.Summaries[0], percentile: 99}},
			rate: &levelChange{before: 100, after: test.rate},
		}
		if got := a.shift()[0].Sentence; strings.HasSuffix(got, ", as does the rate.") != test.says {
			t.Errorf("to %v at %v/s: %s", test.after, test.rate, got)
		}
	}
}
