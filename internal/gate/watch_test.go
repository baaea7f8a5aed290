package gate

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/clitest"
	"hdrkit/internal/flow"
	"hdrkit/internal/loggen"
	"hdrkit/internal/scan"
	"hdrkit/output"
)

// TestOver counts the values of slots that are above one.
func TestOver(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		layout := histogram.Layout{Digits: 1 + random.IntN(3), Lowest: 1}
		if random.IntN(3) == 0 {
			layout.Ratio = 1.0 / 512
		}
		h, err := histogram.New(layout)
		if err != nil {
			t.Fatal(err)
		}
		factor := []float64{0, 1, 1000}[random.IntN(3)]
		scale := hdrlog.Scale{Ratio: []float64{1, 1000}[random.IntN(2)], In: hdrlog.Microsecond}
		l := &Limit{}
		if random.IntN(2) == 0 {
			l.Unit = hdrlog.Millisecond
		}
		s := &output.Summary{Histogram: h, Scale: scale.Times(factor)}
		for range 1 + random.IntN(100) {
			h.Record(int64(math.Exp(random.Float64() * 20)))
		}
		above := math.Exp(random.Float64()*25 - 5)
		if random.IntN(2) == 0 { // exactly what is printed
			l.Percentile = 100 * random.Float64()
			above = l.Of(s)
		}
		want := int64(0)
		for b := range h.Recorded() {
			if unit.Divide(h.Float(h.Layout().LowestAt(h.Layout().IndexOf(b.High))), l.ratio(s)) > above {
				want += b.Count
			}
		}
		if got := l.Over(above, s); got != want {
			t.Fatalf("%d values above %v, want %d: %+v, %+v", got, above, want, l, layout)
		}
	}
}

// watch runs limits over the logs of a scenario.
func watch(t *testing.T, s *loggen.Scenario, list string, size int64) ([]Limit, *Watch) {
	t.Helper()
	limits, err := Parse(list)
	if err != nil {
		t.Fatal(err)
	}
	w := NewWatch(limits, size, true, nil)
	if err := w.run(t, s, nil); err != nil {
		t.Fatal(err)
	}
	return limits, w
}

// run takes the logs of a scenario through a watch.
func (w *Watch) run(t *testing.T, s *loggen.Scenario, memory *ledger.Ledger) error {
	t.Helper()
	w.Scale = func([]byte) (hdrlog.Scale, error) { return hdrlog.Scale{Ratio: 1, In: hdrlog.Nanosecond}, nil }
	w.Late = func(v scan.Visit, why error) { t.Error(v.Place, why) }
	run := &scan.Scan{
		Workers: 2,
		ByTime:  true,
		Memory:  memory,
		Report:  func(err *hdrlog.SyntaxError, malformed bool) error { return err },
	}
	for node := range s.Nodes {
		var log bytes.Buffer
		if err := s.Write(&log, node); err != nil {
			t.Fatal(err)
		}
		run.Inputs = append(run.Inputs, scan.Input{Name: fmt.Sprint("node", node), Open: func() (io.ReadCloser, error) { return io.NopCloser(&log), nil }})
	}
	return flow.Run(run, w.Flows()...)
}

// TestManyWindows: what workers have of the windows of limits is within the limit of memory, and
// the end gives it back.
func TestManyWindows(t *testing.T) {
	t.Parallel()
	memory := ledger.New(64 << 20)
	run := func(sizes int) error {
		var list []string
		for size := range sizes {
			list = append(list, fmt.Sprintf("p99<=1s in 99%% of %ds", size+1))
		}
		limits, err := Parse(strings.Join(list, ","))
		if err != nil {
			t.Fatal(err)
		}
		return NewWatch(limits, 0, false, memory).run(t, loggen.ScenarioNamed("pauses"), memory)
	}
	for range 20 {
		if err := run(3); err != nil {
			t.Fatal(err)
		}
	}
	err := run(20)
	if want := "sizes of windows of limits take 56 MiB: use fewer in -sla, or raise -memory, which is 64 MiB"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestOutages: verdicts have the breaches of their limit and row, added up.
func TestOutages(t *testing.T) {
	t.Parallel()
	limits, w := watch(t, loggen.ScenarioNamed("pauses"), "p99<=6ms", 1000)
	outages := make(map[string]Outage)
	for _, b := range w.Breaches() {
		o, known := outages[b.Tag]
		if !known {
			o.Start = b.Start
		}
		outages[b.Tag] = Outage{Start: o.Start, End: b.End, Times: o.Times + 1, Millis: o.Millis + b.End - b.Start}
	}
	if len(outages) == 0 {
		t.Fatal("no breaches")
	}
	for tag, want := range outages {
		s := summaryOf(tag, 1)
		if got := Judge(limits, Measured{Summaries: []*output.Summary{s}, Watch: w})[0].Outage; got != want {
			t.Errorf("%s: %+v, want %+v", tag, got, want)
		}
	}
}

// TestBreaches finds the times at which a limit does not hold, which are those of what happens.
func TestBreaches(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"spike", "slow node", "shift", "warm-up", "dead node", "pauses", "steady", "day"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if clitest.Rounds(1) == 0 && name == "day" {
				t.Skip("takes seconds")
			}
			s := loggen.ScenarioNamed(name)
			// The 99th percentile of 300 values varies: 5.5 ms is far above, and 3 times slower is
			// above.
			limits, w := watch(t, s, "insert-.*:p99<=6ms,read-rt:over(90ms)<=2%,read-rt:count>=1", 0)
			got := map[string]bool{}
			for _, b := range w.Breaches() {
				got[fmt.Sprint(b.Limit, b.Tag, b.Start, b.End)] = true
				if b.Count < 3 || b.Limit == limits[0].Text && (b.Worst <= 6 || b.Unit != "ms") {
					t.Errorf("%+v", b)
				}
			}
			want := 0
			for _, e := range s.Known {
				if e.Slow == [2]float64{} {
					continue // no values violate nothing
				}
				start, end := s.Span(e)
				if e.Slow[0] != e.Slow[1] { // it ends little by little, in several breaches
					breaches, long := w.Breaches(), int64(0)
					for _, b := range breaches {
						long += b.End - b.Start
						if b.Start < start || b.End > end || b.Limit != limits[0].Text || b.Tag != "insert-rt" {
							t.Errorf("%+v", b)
						}
					}
					want += len(breaches)
					if len(breaches) == 0 || breaches[0].Start != start || 10*long < 8*(end-start) {
						t.Errorf("%+v from %d to %d", breaches, start, end)
					}
					continue
				}
				keys := []string{fmt.Sprint("p99<=6ms", "insert-rt", start, end)}
				if e.Stall {
					keys = append(keys, fmt.Sprint("over(90ms)<=2%", "read-rt", start, end))
				}
				for _, key := range keys {
					want++
					if !got[key] {
						t.Errorf("no %s", key)
					}
				}
			}
			if len(got) != want {
				t.Errorf("%d breaches, want %d: %v", len(got), want, got)
			}
		})
	}
}

// TestWindows counts the windows that keep a limit.
func TestWindows(t *testing.T) {
	t.Parallel()
	s := loggen.ScenarioNamed("pauses") // a pause of 2 s in the middle of each minute of ten
	limits, w := watch(t, s, "insert-rt:p99<=6ms in 99% of 10s,insert-rt:p99<=6ms in 80% of 10s,insert-rt:max<=100ms in 50% of 1m,read-rt:count>=3000 in 100% of 10s", 0)
	h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	h.Record(1)
	verdicts := Judge(limits, Measured{Summaries: []*output.Summary{{Tag: []byte("insert-rt"), Histogram: h}, {Tag: []byte("read-rt"), Histogram: h}}, Watch: w})
	want := "[{83.33 99 60 false} {83.33 80 60 true} {0 50 10 false} {100 100 60 true}]"
	type line struct {
		value, bound float64
		windows      int64
		holds        bool
	}
	var got []line
	for _, v := range verdicts {
		got = append(got, line{math.Round(100*v.Value) / 100, v.Bound, v.Windows, v.Result == output.Holds})
	}
	if fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	if len(w.Breaches()) == 0 || NewWatch(limits[:0], 0, true, nil) != nil {
		t.Error("breaches are not kept, or there is something to watch")
	}
}

// TestAllTags: the sum of all tags has one name, in verdicts and in breaches.
func TestAllTags(t *testing.T) {
	t.Parallel()
	limits, err := Parse("all tags:max<=1 in 50% of 1s,max<=1,default:max<=1")
	if err != nil {
		t.Fatal(err)
	}
	w := NewWatch(limits, 1000, true, nil)
	w.AllTags = true
	w.Scale = func([]byte) (hdrlog.Scale, error) { return hdrlog.Scale{Ratio: 1}, nil }
	s := summaryOf("", 5)
	s.Tag, s.AllTags = nil, true
	if err := w.Check(1000, &output.Summary{AllTags: true, Histogram: s.Histogram}); err != nil {
		t.Fatal(err)
	}
	if v := Judge(limits, Measured{Summaries: []*output.Summary{s}, Watch: w}); v[0].Tag != "all tags" || v[0].Windows != 1 {
		t.Errorf("%+v", v[0])
	}
	if b := w.Breaches(); len(b) != 2 || b[0].Tag != "all tags" || b[1].Tag != "all tags" {
		t.Errorf("%+v", b)
	}
}

// TestBreachesOutOfOrder: a breach has the time of all its intervals, in any order.
func TestBreachesOutOfOrder(t *testing.T) {
	t.Parallel()
	limits, err := Parse("max<=1")
	if err != nil {
		t.Fatal(err)
	}
	w := NewWatch(limits, 0, true, nil)
	w.Scale = func([]byte) (hdrlog.Scale, error) { return hdrlog.Scale{Ratio: 1}, nil }
	for _, start := range []int64{70, 60, 30, 20, 41} { // 10 long each
		if err := w.Check(0, &output.Summary{
			Tag:       nil,
			Start:     start,
			End:       start + 10,
			Histogram: summaryOf("", 5).Histogram,
		}); err != nil {
			t.Fatal(err)
		}
	}
	got := ""
	for _, b := range w.Breaches() {
		got += fmt.Sprintf("%d-%d %d,", b.Start, b.End, b.Count)
	}
	if got != "20-51 3,60-80 2," {
		t.Errorf("%s", got)
	}
}

// TestBreachesAtLeast: a breach of a limit of the form at least counts the values below it.
func TestBreachesAtLeast(t *testing.T) {
	t.Parallel()
	limits, err := Parse("min>=5")
	if err != nil {
		t.Fatal(err)
	}
	w := NewWatch(limits, 0, true, nil)
	w.Scale = func([]byte) (hdrlog.Scale, error) { return hdrlog.Scale{Ratio: 1}, nil }
	if err := w.Check(0, &output.Summary{End: 10, Histogram: summaryOf("", 3, 4, 5, 5, 6).Histogram}); err != nil {
		t.Fatal(err)
	}
	if b := w.Breaches(); len(b) != 1 || b[0].Count != 2 {
		t.Errorf("%+v", b)
	}
}
