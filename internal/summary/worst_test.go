package summary

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/clitest"
	"hdrkit/internal/flow"
	"hdrkit/internal/loggen"
	"hdrkit/internal/scan"
	"hdrkit/output"
	"hdrkit/tags"
)

// partsOf returns what the logs of a scenario have, and the logs.
func partsOf(t *testing.T, s *loggen.Scenario, workers int) (*Histories, [][]byte) {
	t.Helper()
	var inputs []scan.Input
	var logs [][]byte
	for node := range s.Nodes {
		var log bytes.Buffer
		if err := s.Write(&log, node); err != nil {
			t.Fatal(err)
		}
		logs = append(logs, log.Bytes())
		inputs = append(inputs, scan.Input{Name: fmt.Sprintf("node%d", node), Open: func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(log.Bytes())), nil
		}})
	}
	parts := &Histories{Times: true, Sums: true}
	report := func(err *hdrlog.SyntaxError, malformed bool) error { return err }
	scenario := &scan.Scan{Inputs: inputs, Workers: workers, Report: report}
	if _, err := Collect(scenario, Options{Histories: parts}); err != nil {
		t.Fatal(err)
	}
	return parts, logs
}

// TestWorst finds what happens in each scenario.
func TestWorst(t *testing.T) {
	t.Parallel()
	one := func(string, []byte) hdrlog.Scale { return hdrlog.Scale{} }
	for n := range loggen.Scenarios {
		s := &loggen.Scenarios[n]
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			if clitest.Rounds(1) == 0 && s.Name == "day" {
				t.Skip("takes seconds")
			}
			parts, logs := partsOf(t, s, 2)
			moments, err := parts.Worst(20, one)
			if err != nil {
				t.Fatal(err)
			}
			want := 0
			for _, e := range s.Known {
				if e.Slow == [2]float64{} {
					continue // it is silent, not bad
				}
				start, end := s.Span(e)
				if !e.Stall && 5*(e.Last+1-e.First) > s.Intervals { // it is no moment
					continue
				}
				want++
				found := false
				for _, m := range moments {
					// A slow time begins and ends where it stands out.
					slack := int64(0)
					if !e.Stall {
						slack = (end - start) / 2
					}
					if m.Input == fmt.Sprintf("node%d", e.Node) && m.Start >= start-1000 && m.Start <= start+slack/25 && m.End <= end+1000 && m.End >= end-slack {
						found = true
						if e.Stall && (float64(m.Max) < e.Longest*1e6 || m.Peak < start || m.Peak >= end) {
							t.Errorf("%+v has %+v", m, e)
						}
					}
				}
				if !found {
					t.Errorf("no moment from %d to %d on node %d", start, end, e.Node)
				}
			}
			if len(moments) != 20 || t.Failed() {
				t.Errorf("%d moments with %d planted: %+v", len(moments), want, moments)
			}
			for n, m := range moments {
				if n > 0 && m.Max > moments[n-1].Max {
					t.Error("the worst is not the first")
				}
				if highest := highestIn(t, &m, logs[m.Input[4]-'0']); float64(m.Max) != highest {
					t.Errorf("%+v has values up to %v", m, highest)
				}
			}
		})
	}
}

// add keeps the maximum of an interval.
func (p *Histories) add(input int, name string, tag []byte, start, end int64, highest float64) {
	p.insert(input, name, tag, piece{Start: start, End: end, highest: highest}, counts{})
}

// TestPartsMost adds the maxima of two tags for days, and asks for the worst moments meanwhile. The
// memory has a bound, and the planted moment is found, until there are too many tags.
func TestPartsMost(t *testing.T) {
	t.Parallel()
	const seconds, bad = 100_000, 30_000
	one := func(string, []byte) hdrlog.Scale { return hdrlog.Scale{} }
	const limit = 1 << 20
	parts := &Histories{Times: true}
	parts.budget.account = ledger.New(2*limit).Open("times", "choose")
	random := rand.New(rand.NewPCG(7, 8))
	for at := range int64(seconds) {
		for n, tag := range []string{"a", "b"} {
			highest := 1000 + 500*random.Float64()
			if n == 1 && at >= bad && at < bad+20 {
				highest = 40_000 + float64(at-bad)
			}
			parts.add(n, fmt.Sprint("log", n), []byte(tag), 1000*at, 1000*at+1000, highest)
		}
		if parts.budget.bytes > limit {
			t.Fatalf("%d bytes at %d s", parts.budget.bytes, at)
		}
		if at%9999 != 0 || at < bad+20 {
			continue
		}
		found, err := parts.Worst(9, one)
		if err != nil || len(found) != 9 {
			t.Fatalf("at %d s: %+v, %v", at, found, err)
		}
		if m := found[0]; m.Input != "log1" || string(m.Tag) != "b" || m.Max != 40_019 || m.Peak != (bad+19)*1000 || m.Start > bad*1000 || m.Start < bad*1000-parts.coarse || m.End < (bad+20)*1000 || m.End > (bad+20)*1000+parts.coarse {
			t.Errorf("at %d s, in windows of %d ms: %+v", at, parts.coarse, m)
		}
	}
	if parts.coarse < 2000 {
		t.Errorf("windows of %d ms", parts.coarse)
	}
	for n := range 20_000 {
		parts.add(n, "log", fmt.Append(nil, n), 0, 1000, 1)
	}
	if _, err := parts.Worst(9, one); !errors.As(err, new(*ledger.LimitError)) || parts.budget.bytes > 0 {
		t.Errorf("%d bytes, %v", parts.budget.bytes, err)
	}
	parts = &Histories{Times: true, Most: limit}
	for at := range int64(seconds) {
		parts.add(0, "log", nil, 1000*at, 1000*at+1000, 1)
	}
	found, err := parts.Worst(1, one)
	if err != nil || len(found) != 1 || parts.Resolution() < 2000 || parts.budget.bytes > limit {
		t.Errorf("above Most: %d bytes in windows of %d ms: %+v, %v", parts.budget.bytes, parts.Resolution(), found, err)
	}
}

// TestSlowLog: ten logs, one of which is 2.4 times as slow. Its spikes are found all the same. A
// spike that goes on when its log is rotated is one moment.
func TestSlowLog(t *testing.T) {
	t.Parallel()
	one := func(string, []byte) hdrlog.Scale { return hdrlog.Scale{} }
	random := rand.New(rand.NewPCG(9, 9))
	parts := &Histories{Times: true}
	for n := range 10 {
		for at := range int64(600) {
			highest := 1000 + 300*random.Float64()
			input := n
			switch {
			case n == 6:
				highest *= 2.4
				if at >= 100 && at < 104 || at >= 400 && at < 412 {
					highest *= 20
				}
			case n == 3 && at >= 290 && at < 310:
				highest *= 30
			}
			if n == 3 && at >= 300 {
				input = 10
			}
			parts.add(input, fmt.Sprint("m", input), []byte("a"), 1000*at, 1000*at+1000, highest)
		}
	}
	moments, err := parts.Worst(9, one)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range moments {
		if m.Times > 5 {
			got = append(got, fmt.Sprintf("%s %d-%d", m.Input, m.Start/1000, m.End/1000))
		}
	}
	slices.Sort(got)
	if want := "m6 100-104; m6 400-412"; strings.Join(got[1:], "; ") != want || got[0] != "m3 290-310" && got[0] != "m10 290-310" {
		t.Errorf("%q", got)
	}
}

// TestHighest: whatever the logs have, the first moment has the maximum of all, there are as many
// as asked if so many intervals are apart, and a spike is listed if fewer others are higher.
func TestHighest(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(11, 12))
	for round := range 300 {
		parts := &Histories{Times: true}
		most := 1 + random.IntN(12)
		seconds := 60 + random.Int64N(600)
		steep := random.Float64()
		spikes := make(map[int64]float64) // in one log
		for len(spikes) < random.IntN(15) {
			spikes[10*random.Int64N(seconds/10)] = 1e5 * (1 + random.Float64())
		}
		highest := 0.0
		for input := range 1 + random.IntN(4) {
			for at := range seconds {
				value := 1000 * math.Exp(steep*random.NormFloat64())
				if spike := spikes[at]; input == 0 && spike > 0 {
					value = spike
				}
				highest = max(highest, value)
				parts.add(input, fmt.Sprint("m", input), []byte{byte('a' + random.IntN(2))}, 1000*at, 1000*at+1000, value)
			}
		}
		moments, err := parts.Worst(most, func(string, []byte) hdrlog.Scale { return hdrlog.Scale{} })
		if err != nil {
			t.Fatal(err)
		}
		if len(moments) != most || float64(moments[0].Max) != highest {
			t.Fatalf("round %d: %d moments of %d, the first with %v; the maximum is %v", round, len(moments), most, moments[0].Max, highest)
		}
		for n, m := range moments[1:] {
			if m.Max > moments[n].Max {
				t.Fatalf("round %d: moment %d is higher than the one before", round, n+1)
			}
		}
		lowest := float64(moments[most-1].Max)
		for at, spike := range spikes {
			if spike > lowest && !slices.ContainsFunc(moments, func(m output.Moment) bool { return m.Start <= 1000*at && m.End > 1000*at && m.Input == "m0" }) {
				t.Fatalf("round %d: the spike of %v at %d s is not listed: %+v", round, spike, at, moments)
			}
		}
	}
}

// TestTwoSpikes: a spike of few seconds is not left out for a longer and lower one.
func TestTwoSpikes(t *testing.T) {
	t.Parallel()
	parts := &Histories{Times: true}
	random := rand.New(rand.NewPCG(13, 14))
	for at := range int64(300) {
		value := 20 + 15*random.Float64()
		switch {
		case at >= 60 && at < 64:
			value = 114 + float64(at-60)
		case at >= 217 && at < 224:
			value = 67 + float64(at-217)
		}
		parts.add(0, "log", nil, 1000*at, 1000*at+1000, value)
	}
	moments, err := parts.Worst(2, func(string, []byte) hdrlog.Scale { return hdrlog.Scale{} })
	if err != nil || len(moments) != 2 || moments[0].Start != 60_000 || moments[0].End != 64_000 || moments[0].Max != 117 || moments[1].Start != 217_000 || moments[1].End != 224_000 {
		t.Errorf("%+v, %v", moments, err)
	}
}

// TestOthers: others of a moment are those that were bad then. Those whose maxima were ordinary are
// not, however many moments are asked for.
func TestOthers(t *testing.T) {
	t.Parallel()
	parts := &Histories{Times: true}
	random := rand.New(rand.NewPCG(15, 16))
	for input := range 2 {
		for at := range int64(40) {
			for _, tag := range []string{"a", "b", "c", "d"} {
				value := 20 + 5*random.Float64()
				bad := input == 0 && (tag == "a" || tag == "b") || input == 1 && tag == "a"
				if bad && at == 20 {
					value = 300
				}
				parts.add(input, fmt.Sprint("m", input), []byte(tag), 1000*at, 1000*at+1000, value)
			}
		}
	}
	for most := 1; most <= 40; most++ {
		moments, err := parts.Worst(most, func(string, []byte) hdrlog.Scale { return hdrlog.Scale{} })
		if err != nil {
			t.Fatal(err)
		}
		if m := moments[0]; m.Start != 20_000 || m.Others != 2 || m.OtherTags != 1 || m.OtherInputs != 1 {
			t.Errorf("the first of %d moments is %+v", most, m)
		}
		for _, m := range moments[1:] {
			if m.Others != 0 {
				t.Errorf("among %d moments, a calm one is %+v", most, m)
			}
		}
	}
}

// TestCalm: a calm interval between two bad ones belongs to no moment.
func TestCalm(t *testing.T) {
	t.Parallel()
	parts := &Histories{Times: true}
	for at := range int64(100) {
		value := 20.0
		if at == 50 || at == 52 || at == 53 {
			value = 300 + float64(at)
		}
		parts.add(0, "log", nil, 1000*at, 1000*at+1000, value)
	}
	moments, err := parts.Worst(2, func(string, []byte) hdrlog.Scale { return hdrlog.Scale{} })
	if err != nil || len(moments) != 2 || moments[0].Start != 52_000 || moments[0].End != 54_000 || moments[1].Start != 50_000 || moments[1].End != 51_000 {
		t.Errorf("%+v, %v", moments, err)
	}
}

// TestPartsMemory proves that windows take the place of intervals if there is little memory, that
// the moment is the same to a window, and that there is an error if that does not do.
func TestPartsMemory(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine; the race detector, which runs with -short, makes it slow")
	}
	const length, bad = 4000, 3000
	one := func(string, []byte) hdrlog.Scale { return hdrlog.Scale{} }
	taken := func(limit int64, intervals int) *Histories {
		parts := &Histories{Times: true}
		parts.start(&scan.Scan{Memory: ledger.New(limit), Inputs: []scan.Input{{Name: "log"}}})
		random := rand.New(rand.NewPCG(5, 6))
		for at := range int64(intervals) {
			h, _ := histogram.New(histogram.Layout{Digits: 2, Lowest: 1})
			for range 50 {
				h.Record(1000 + random.Int64N(1000))
			}
			if at >= bad && at < bad+100 {
				h.Record(50_000 + at)
			}
			payload, err := new(histogram.Encoder).AppendBase64(nil, h)
			if err != nil {
				t.Fatal(err)
			}
			i := &hdrlog.Interval{Start: float64(at), Length: 1, Payload: payload}
			parts.addInterval(scan.Visit{Interval: i, Place: scan.Place{Name: "log"}}, h.Float(h.Max()), h.TotalCount())
		}
		return parts
	}
	all, few := taken(1<<30, length), taken(1<<18, length)
	size := few.coarse
	if all.coarse != 0 || size == 0 || few.budget.account.Crowded() != nil {
		t.Fatalf("windows of %d and %d ms: %v", all.coarse, size, few.budget.account.Crowded())
	}
	want, err := all.Worst(9, one)
	got, err2 := few.Worst(9, one)
	if err := cmp.Or(err, err2); err != nil || len(want) == 0 || len(got) == 0 {
		t.Fatalf("%+v, want %+v: %v", got, want, err)
	}
	g, w := got[0], want[0]
	if g.Max != w.Max || g.Peak != w.Peak || g.Start > w.Start || g.Start < w.Start-size || g.End < w.End || g.End > w.End+size {
		t.Errorf("%+v, want %+v", g, w)
	}
	if _, err := taken(4<<10, 200).Worst(9, one); !errors.As(err, new(*ledger.LimitError)) {
		t.Errorf("little memory: %v", err)
	}
}

// TestWho compares shares with those of raw values.
func TestWho(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for n := range 60 {
		parts := &Histories{sums: make(map[string]*flow.Row)}
		raw := make(map[string][]int64)
		var all []int64
		layout := histogram.Layout{Digits: 3, Lowest: 1}
		for input := range 1 + random.IntN(3) {
			for tag := range 1 + random.IntN(3) {
				both := fmt.Sprintf("node%d %c", input, 'a'+tag)
				keys := []string{both, both[:len("node0 ")], both[len("node0"):]}
				for i := range 1 + random.IntN(4) {
					h, _ := histogram.New(layout)
					for range random.IntN(400) {
						v := int64(math.Exp(random.Float64()*float64(4+tag+n%10)) * float64(1+input))
						h.Record(v)
						for _, key := range keys {
							raw[key] = append(raw[key], v)
						}
						all = append(all, v)
					}
					own := []byte{byte('a' + tag)}
					key := string(appendHistory(nil, input, own))
					if parts.sums[key] == nil {
						parts.sums[key] = &flow.Row{Total: flow.Total{Name: fmt.Sprintf("node%d", input), Tag: own}}
					}
					if err := parts.sums[key].Sum.AddHistogram(int64(i)*1000, int64(i+1)*1000, h); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		slices.Sort(all)
		slot := func(v int64) int64 { return layout.HighestAt(layout.IndexOf(v)) }
		at := func(sorted []int64, p float64) float64 {
			if len(sorted) == 0 {
				return math.NaN()
			}
			return float64(slot(sorted[max(int(math.Ceil(p*float64(len(sorted))/100-1e-9)), 1)-1]))
		}
		p := []float64{50, 90, 99, 99.9, 100}[n%5]
		by := []func(string, []byte, []byte) (string, []byte){
			nil,
			func(input string, _, _ []byte) (string, []byte) { return input, []byte{} },
			func(_ string, _, tag []byte) (string, []byte) { return "", tag },
		}[n/5%3]
		who, err := parts.Who(p, func(string, []byte) hdrlog.Scale { return hdrlog.Scale{} }, by)
		if err != nil {
			t.Fatal(err)
		}
		if who.Value != at(all, p) && len(all) > 0 {
			t.Errorf("p%v is %v, want %v", p, who.Value, at(all, p))
		}
		var total int64
		for _, part := range who.Of {
			key := part.Input + " " + string(part.Tag)
			var above int64
			others := slices.Clone(all)
			for _, v := range raw[key] {
				if slot(v) > int64(who.Value) {
					above++
				}
				i, _ := slices.BinarySearch(others, v)
				others = slices.Delete(others, i, i+1)
			}
			total += above
			if want, got := at(others, p), float64(part.Without); part.Count != above || got != want && !(math.IsNaN(want) && math.IsNaN(got)) {
				t.Errorf("%s has %d above p%v, and %v without it; want %d and %v", key, part.Count, p, part.Without, above, want)
			}
			if part.Share != float64(part.Count)/float64(max(who.Count, 1)) {
				t.Errorf("%s has a share of %v", key, part.Share)
			}
		}
		if total != who.Count {
			t.Errorf("all have %d, want %d", total, who.Count)
		}
	}
}

// TestWhoScenarios: a machine that is slow, or has most of a stall, has nearly all values above,
// and without it the percentile is lower. Machines of a steady run share them, and the tags of a
// machine on which all tags are slow.
func TestWhoScenarios(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		scenario   string
		percentile float64
		node       string // none if they share
	}{
		{"slow node", 99, "node2"},
		{"spike", 99.995, "node1"},
		{"day", 99.99, "node1"},
		{"dead node", 99.9, ""},
		{"steady", 99.9, ""},
		{"shift", 99, ""},
		{"warm-up", 99, ""},
		{"pauses", 99.9, ""},
	} {
		t.Run(test.scenario, func(t *testing.T) {
			t.Parallel()
			if clitest.Rounds(1) == 0 && test.scenario == "day" {
				t.Skip("takes seconds")
			}
			s := loggen.ScenarioNamed(test.scenario)
			parts, _ := partsOf(t, s, 2)
			who, err := parts.Who(test.percentile, func(string, []byte) hdrlog.Scale { return hdrlog.Scale{} }, nil)
			if err != nil {
				t.Fatal(err)
			}
			shares := make(map[string]float64)
			for _, part := range who.Of {
				shares[part.Input] += part.Share
				if s.Nodes == 1 && (part.Share < 0.4 || part.Share > 0.6) {
					t.Errorf("%s has %v of the values", part.Tag, part.Share)
				}
			}
			if s.Nodes == 1 {
				return
			}
			for node, share := range shares {
				if (node == test.node) != (share > 0.9) {
					t.Errorf("%s has %v of the values", node, share)
				}
			}
			if first := who.Of[0]; test.node != "" && (first.Input != test.node || float64(first.Without) >= who.Value) {
				t.Errorf("%+v, without it %v instead of %v", first, first.Without, who.Value)
			}
		})
	}
}

// highestIn returns the highest value of a log in a moment.
func highestIn(t *testing.T, m *output.Moment, log []byte) (highest float64) {
	t.Helper()
	reader := hdrlog.NewReader(bytes.NewReader(log), "log")
	for reader.Scan() {
		i := &reader.Record().Interval
		if reader.Record().Kind != hdrlog.IntervalRecord || tags.Compare(i.Tag, m.Tag) != 0 || i.StartMillis() < m.Start || i.EndMillis() > m.End {
			continue
		}
		h, err := i.Histogram()
		if err != nil {
			t.Fatal(err)
		}
		highest = max(highest, h.MaxFloat())
	}
	return highest
}

// TestShares proves that the share of a moment is that of the values in intervals that touch it.
func TestShares(t *testing.T) {
	t.Parallel()
	p := &Histories{all: map[string]*history{
		"a": {pieces: []*piece{{Start: 0, End: 10, count: 1}, {Start: 10, End: 20, count: 2}, {Start: 20, End: 30, count: 4}}},
		"b": {pieces: []*piece{{Start: 5, End: 15, count: 8}, {Start: 40, End: 50, count: 1}}},
	}}
	moments := []output.Moment{{Start: 10, End: 20}, {Start: 0, End: 50}, {Start: 31, End: 40}, {Start: 45, End: 46}}
	if got, want := p.Shares(moments), []float64{10. / 16, 1, 0, 1. / 16}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestForget: the times of logs that go on lose whole windows, the older ones. If one window is too
// large, no times are kept: parts of windows would look like gaps.
func TestForget(t *testing.T) {
	t.Parallel()
	const most = 1 << 16
	for rows, kept := range map[int]bool{10: true, 300: true, 10_000: false} {
		hs := &Histories{Most: most}
		hs.Follow(nil)
		var h histogram.Histogram
		for window := range int64(40) {
			for row := range rows {
				w := &merge.Merged{Tag: fmt.Append(nil, row)}
				w.Sum.Start, w.Sum.End = 1000*window, 1000*window+1000
				hs.Window(w, &h)
				if hs.budget.bytes > most {
					t.Fatalf("%d rows take %d bytes of %d", rows, hs.budget.bytes, most)
				}
			}
		}
		if (hs.err == nil) != kept || kept && len(hs.all) != rows {
			t.Errorf("%d rows: %d are kept, %v", rows, len(hs.all), hs.err)
		}
		for _, one := range hs.all {
			for n, p := range one.pieces {
				if n > 0 && p.Start != one.pieces[n-1].End {
					t.Fatalf("%d rows: %s has a gap until %d", rows, one.tag, p.Start)
				}
			}
		}
	}
}

// TestTypical: a moment is so many times as high as the lower quartile of the maxima of its log,
// without intervals whose values are all 0.
func TestTypical(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name             string
		zeros, low, high int64 // intervals with maxima of 0, 10 and 50
		want             output.Number
	}{
		{"half are low", 0, 50, 50, 40},
		{"a quarter is low", 0, 26, 74, 40},
		{"fewer are low", 0, 24, 76, 8},
		{"most are 0", 80, 0, 20, 8},
		{"one is the only one", 80, 0, 0, 1},
	} {
		parts := &Histories{Times: true}
		at := int64(0)
		add := func(count int64, value float64) {
			for range count {
				parts.add(0, "log", nil, 1000*at, 1000*at+1000, value)
				at++
			}
		}
		add(test.zeros, 0)
		add(test.low, 10)
		add(1, 400)
		add(test.high, 50)
		moments, err := parts.Worst(1, func(string, []byte) hdrlog.Scale { return hdrlog.Scale{} })
		if err != nil || len(moments) != 1 || moments[0].Max != 400 || moments[0].Times != test.want {
			t.Errorf("%s: %+v, %v, want %v times", test.name, moments, err, test.want)
		}
	}
}

// TestRhythms: of several rhythms the one with the most beats is told, and how many tags and logs
// have it, too: those whose periods differ by at most 5%.
func TestRhythms(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(17, 18))
	parts := &Histories{Times: true}
	for tag, period := range map[string]int64{"a": 30, "b": 30, "c": 29, "d": 40, "e": 0} {
		for at := range int64(1200) {
			value := 20 + 5*random.Float64()
			if period > 0 && at%period == 7 {
				value = 500
			}
			p := piece{Start: 1000 * at, End: 1000*at + 1000, highest: value, count: 50}
			parts.insert(0, "log", []byte(tag), p, counts{})
		}
	}
	r := RhythmOf(parts.Tracks(func(string, []byte) hdrlog.Scale { return hdrlog.Scale{} }))
	if r == nil || string(r.Tag) != "c" || r.Input != "log" || math.Abs(r.Period-29_000) > 1 || r.Found != 42 || r.Expected != 42 || r.Others != 2 {
		t.Fatalf("%+v", r)
	}
	if first, last := int64(r.First), r.Last; (first+500)/1000 != 7 || (last+500)/1000 != 7+41*29 {
		t.Errorf("from %d to %d", first, last)
	}
}
