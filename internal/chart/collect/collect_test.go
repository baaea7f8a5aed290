package collect_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/collect"
	"hdrkit/internal/chart/page/pagetest"
	"hdrkit/internal/clitest"
)

// TestAggregate proves that intervals are merged, not their percentiles.
func TestAggregate(t *testing.T) {
	t.Parallel()
	values := func(i int) []int64 { return pagetest.Latencies(int64(i), 10+i, 1e6) }
	c := pagetest.Timeline(100, 90)
	c.Options.Aggregate, c.Options.Ratio = 10_000, 1000
	p := pagetest.Collect(t, chart.Timeline, c, 35, func(i int) (string, float64, float64, []int64) {
		return "", float64(i), 1, values(i)
	})
	for n, line := range p.Series[0].Lines {
		if len(line.Points) != 4 {
			t.Fatalf("%d points", len(line.Points))
		}
		for w, point := range line.Points {
			var all []int64
			for i := 10 * w; i < min(10*w+10, 35); i++ {
				all = append(all, values(i)...)
			}
			want := float64(pagetest.HistogramOf(t, 3, all).ValueAtPercentile([]float64{100, 90}[n])) / 1000
			if point.Value != want || point.Start != float64(10_000*w) || point.End != float64(1000*min(10*w+10, 35)) {
				t.Errorf("line %d, window %d: %+v, want %v", n, w, point, want)
			}
		}
	}
}

// TestSteps proves that steps do not depend on the order of lines, however late they are.
func TestSteps(t *testing.T) {
	t.Parallel()
	const n = 400
	collected := func(disorder int, random *rand.Rand) []chart.Series {
		c := collect.Collector{Options: collect.Options{
			Measures:  []chart.Measure{chart.AtPercentile(90), chart.PerSecond()},
			Ratio:     1,
			Aggregate: 10_000,
		}}
		var log bytes.Buffer
		w := hdrlog.NewWriter(&log)
		order := random.Perm(n)
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(a/disorder, b/disorder) })
		for _, i := range order {
			w.Interval([]byte{"ab"[i%2]}, float64(i), 1, pagetest.HistogramOf(t, 2+i%2, pagetest.Latencies(int64(i), 20, 1e6)))
		}
		w.Flush()
		if err := pagetest.Gather(&c, log.Bytes()); err != nil {
			t.Fatal(err)
		}
		p, err := c.Picture(chart.New(chart.Timeline), 0, []chart.Series{{Label: "a"}, {Label: "b"}})
		if err != nil {
			t.Fatal(err)
		}
		return p.Series
	}
	for seed := range int64(clitest.Rounds(5)) {
		random := rand.New(rand.NewSource(seed))
		want := collected(1, random)
		for _, disorder := range []int{20, n} {
			if got := collected(disorder, random); !reflect.DeepEqual(got, want) {
				t.Errorf("seed %d: other points of lines that are %d s out of order", seed, disorder)
			}
		}
	}
}

// TestStepsLoseNothing proves that the windows of a heat map and its cells have all values, with
// their highest one, whatever batches intervals come in, and that the total has those of all
// series.
func TestStepsLoseNothing(t *testing.T) {
	t.Parallel()
	for seed := range int64(clitest.Rounds(20)) {
		random := rand.New(rand.NewSource(seed))
		c := collect.Collector{Options: collect.Options{Aggregate: 1000 * (1 + random.Int63n(20)), MaxWindows: 8 << random.Intn(8), Ratio: 1}}
		c.Options.Totals = []chart.Measure{chart.AtPercentile(100)}
		var want, highest float64
		var log bytes.Buffer
		w := hdrlog.NewWriter(&log)
		for n := range 30 * (1 + random.Intn(30)) {
			tag, start := [][]byte{[]byte("a"), []byte("b"), nil}[random.Intn(3)], float64(random.Intn(600))
			if random.Intn(5) == 0 {
				w.WriteEncoded(tag, fmt.Appendf(nil, "%v,1,0,broken", start))
			}
			values := pagetest.Latencies(seed+int64(n), random.Intn(5), 1e6)
			for _, v := range values {
				want, highest = want+1, max(highest, float64(v))
			}
			w.Interval(tag, start, 1, pagetest.HistogramOf(t, 3, values))
		}
		w.Flush()
		if err := pagetest.Gather(&c, log.Bytes()); err != nil {
			t.Fatal(err)
		}
		p, err := c.Picture(chart.New(chart.Heatmap), 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		var counted, spread, top float64
		for _, s := range p.Series {
			for _, w := range s.Windows {
				counted += float64(w.Count)
				if h := w.Histogram(new(histogram.Histogram)); h.TotalCount() != w.Count {
					t.Fatalf("seed %d: a window of %d values has %d", seed, w.Count, h.TotalCount())
				}
			}
			top = max(top, s.Max())
		}
		g := &chart.Grid{From: 0, To: 600_000, Low: 1, High: 1e9, Columns: 600, Rows: 50} // a second each
		g.Fill(p.Series)
		for _, rate := range g.Rate {
			spread += rate
		}
		if counted != want || math.Abs(spread-want) > 1e-6*want {
			t.Errorf("seed %d: %v values, %v in cells, want %v", seed, counted, spread, want)
		}
		if exact := float64(pagetest.HistogramOf(t, 3, []int64{int64(highest)}).Max()); top != exact || p.Total.Max() != exact {
			t.Errorf("seed %d: highest %v and %v, want %v", seed, top, p.Total.Max(), exact)
		}
	}
}

// TestRates proves that logs of a steady rate that begin at different times have that rate
// together.
func TestRates(t *testing.T) {
	t.Parallel()
	c := &collect.Collector{Options: collect.Options{Measures: []chart.Measure{chart.PerSecond()}, Ratio: 1, Aggregate: 2000}}
	var logs [3]bytes.Buffer
	for n := range logs {
		w := hdrlog.NewWriter(&logs[n])
		for i := n; i < 60; i += 3 {
			w.Interval([]byte("a"), float64(i/3)+0.3*float64(n), 1, pagetest.HistogramOf(t, 2, pagetest.Latencies(int64(i), 20, 1e6)))
		}
		w.Flush()
	}
	if err := pagetest.Gather(c, logs[0].Bytes(), logs[1].Bytes(), logs[2].Bytes()); err != nil {
		t.Fatal(err)
	}
	p, err := c.Picture(chart.New(chart.Throughput), 0, []chart.Series{{Label: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	points := p.Series[0].Lines[0].Points
	for _, point := range points[1 : len(points)-1] {
		if math.Abs(point.Value-60) > 1e-9 {
			t.Errorf("%v values/s at %v, want 60", point.Value, point.Start)
		}
	}
}

// TestBoundedWindows proves that windows keep to their number, lose nothing, and do not depend on
// the order in which intervals come.
func TestBoundedWindows(t *testing.T) {
	t.Parallel()
	const n, limit = 500, 100
	pictured := func(order []int) *chart.Picture {
		c := &collect.Collector{Options: collect.Options{MaxWindows: limit, Ratio: 1}}
		for _, i := range order {
			var interval collect.Interval
			pagetest.Measure(c, float64(i), 1, pagetest.HistogramOf(t, 3, pagetest.Latencies(int64(i), 30, 1e6)), &interval)
			if err := c.Add("", []string{"a", "b"}[i%2], &interval); err != nil {
				t.Fatal(err)
			}
		}
		p, err := c.Picture(chart.New(chart.Heatmap), 0, []chart.Series{{Label: "a"}, {Label: "b"}})
		if err != nil {
			t.Fatal(err)
		}
		windows := 0
		for _, series := range p.Series {
			windows += len(series.Windows)
		}
		if windows > limit || windows < limit/3 {
			t.Errorf("%d windows, want at most %d", windows, limit)
		}
		return p
	}
	inOrder := make([]int, n)
	for i := range inOrder {
		inOrder[i] = i
	}
	one := pictured(inOrder)
	two := pictured(rand.New(rand.NewSource(2)).Perm(n))
	if one.Precision.WindowMillis < 2000 || !reflect.DeepEqual(one.Series, two.Series) {
		t.Errorf("windows of %v and %v ms differ", one.Precision.WindowMillis, two.Precision.WindowMillis)
	}
	total := int64(0)
	for _, series := range one.Series {
		for _, w := range series.Windows {
			total += w.Histogram(new(histogram.Histogram)).TotalCount()
			if w.Count != w.Histogram(new(histogram.Histogram)).TotalCount() {
				t.Error("a window's count is not that of its counts")
			}
		}
	}
	if total != 30*n {
		t.Errorf("%d values of %d", total, 30*n)
	}
}

// TestWideWindows proves that windows whose counts workers add up are those of their intervals,
// with exact minima, maxima and sums, and that lines have each interval.
func TestWideWindows(t *testing.T) {
	t.Parallel()
	for seed := range int64(clitest.Rounds(10)) {
		random := rand.New(rand.NewSource(seed))
		c := &collect.Collector{Options: collect.Options{MaxWindows: 20, Ratio: 3, Paged: true, Measures: []chart.Measure{chart.AtPercentile([]float64{90, 100}[seed%2])}}}
		var log bytes.Buffer
		w := hdrlog.NewWriter(&log)
		type interval struct {
			start int64
			h     *histogram.Histogram
		}
		all := map[string][]interval{}
		for n := range 6000 {
			label, start := []string{"a", "b"}[random.Intn(2)], int64(max(100*n-random.Intn(5000), 0))
			h := pagetest.HistogramOf(t, 3, pagetest.Latencies(random.Int63(), random.Intn(8), 1e6))
			w.Interval([]byte(label), float64(start)/1000, 0.1, h)
			all[label] = append(all[label], interval{start, h})
		}
		w.Flush()
		if err := pagetest.Gather(c, log.Bytes()); err != nil {
			t.Fatal(err)
		}
		p, err := c.Picture(chart.New(chart.Heatmap), 0, []chart.Series{{Label: "a"}, {Label: "b"}})
		if err != nil {
			t.Fatal(err)
		}
		if c.Wide() == 0 || p.Precision.WindowMillis < c.Wide() {
			t.Errorf("seed %d: workers add up windows of %d ms, and all are of %d ms", seed, c.Wide(), p.Precision.WindowMillis)
		}
		for _, series := range p.Series {
			want := map[int64]*histogram.Histogram{}
			intervals := map[int64]int64{}
			for _, i := range all[series.Label] {
				at := chart.WindowAt(i.start, p.Precision.WindowMillis)
				if want[at] == nil {
					want[at] = pagetest.HistogramOf(t, 3, nil)
				}
				if err := want[at].Add(i.h); err != nil {
					t.Fatal(err)
				}
				intervals[at]++
			}
			if len(series.Windows) != len(want) || len(series.Lines[0].Points) != len(all[series.Label]) {
				t.Errorf("seed %d: %d windows and %d points, want %d and %d", seed, len(series.Windows), len(series.Lines[0].Points), len(want), len(all[series.Label]))
			}
			for _, w := range series.Windows {
				h := want[chart.WindowAt(w.Start, p.Precision.WindowMillis)]
				var coarse histogram.Histogram
				h.CoarsenInto(&coarse, 2)
				got := w.Histogram(new(histogram.Histogram))
				if !bytes.Equal(got.AppendCounts(nil), coarse.AppendCounts(nil)) {
					t.Fatalf("seed %d: other counts at %d", seed, w.Start)
				}
				sum := math.Round(h.Mean() * float64(h.TotalCount()))
				if w.Intervals != intervals[chart.WindowAt(w.Start, p.Precision.WindowMillis)] || w.Count != h.TotalCount() ||
					w.Count > 0 && (w.Min != float64(h.Min())/3 || w.Max != float64(h.Max())/3 || w.Sum != sum/3) {
					t.Fatalf("seed %d: at %d %+v, want %d values from %d to %d, %v together", seed, w.Start, w, h.TotalCount(), h.Min(), h.Max(), sum)
				}
			}
		}
	}
}

// TestExactSums proves that the sum of a window does not depend on the order of what is added.
func TestExactSums(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewSource(1))
	for range clitest.Rounds(500) {
		all, want := make([]float64, 100), new(big.Int)
		for n := range all {
			v := random.Int63() >> random.Intn(60) >> 10 << 10
			all[n] = float64(v >> random.Intn(10))
			exact, _ := big.NewFloat(all[n]).Int(nil)
			want.Add(want, exact)
		}
		sum, _ := new(big.Float).SetInt(want).Float64()
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if got := collect.ExactSum(all, random.Intn(len(all))); got != sum {
			t.Fatalf("%v instead of %v", got, sum)
		}
	}
}

// TestTooManySeries proves that there is an error if not each series can have a window.
func TestTooManySeries(t *testing.T) {
	t.Parallel()
	c := &collect.Collector{Options: collect.Options{MaxWindows: 10, Ratio: 1}}
	for i := range 11 {
		var interval collect.Interval
		pagetest.Measure(c, float64(i), 1, pagetest.HistogramOf(t, 3, []int64{1000}), &interval)
		err := c.Add("", fmt.Sprint(i), &interval)
		if fails := i == 10; fails != (err != nil) || fails && !strings.Contains(err.Error(), "too many tags") {
			t.Fatalf("series %d: %v", i, err)
		}
	}
}

// TestErrors proves that histograms which do not add up are an error.
func TestErrors(t *testing.T) {
	t.Parallel()
	double, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1, Ratio: 0.25})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*collect.Collector{{Options: collect.Options{Aggregate: 10_000, Ratio: 1}}, {Options: collect.Options{MaxWindows: 1 << 11, Ratio: 1}}} {
		var log bytes.Buffer
		w := hdrlog.NewWriter(&log)
		w.Interval(nil, 0, 1, pagetest.HistogramOf(t, 3, []int64{1}))
		w.Interval(nil, 0, 1, double)
		w.Flush()
		err := pagetest.Gather(c, log.Bytes())
		if _, err2 := c.Picture(chart.New(chart.Heatmap), 0, nil); !errors.Is(cmp.Or(err, err2), histogram.ErrKind) {
			t.Errorf("%v, %v", err, err2)
		}
	}
}

// TestLongIntervals proves that an interval is as wide as it is long, although windows are shorter.
func TestLongIntervals(t *testing.T) {
	t.Parallel()
	p := pagetest.Collect(t, chart.Timeline, &collect.Collector{Options: collect.Options{Measures: []chart.Measure{chart.AtPercentile(100)}, Aggregate: 1000}}, 5, func(i int) (string, float64, float64, []int64) {
		return "", float64(10 * i), 10, []int64{1000}
	})
	for i, point := range p.Series[0].Lines[0].Points {
		if point.Start != float64(10_000*i) || point.End != point.Start+10_000 {
			t.Errorf("interval %d: from %v to %v", i, point.Start, point.End)
		}
	}
}

// TestPaired proves that lines are thinned, each by its own values, unless their points belong
// together.
func TestPaired(t *testing.T) {
	t.Parallel()
	add := func(c *collect.Collector) (err error) {
		c.SetMost(100)
		for n := 0; n < 300 && err == nil; n++ {
			var i collect.Interval
			i.Set(int64(1000*n), int64(1000*n+1000), float64(n))
			err = c.Add("", "", &i)
		}
		return err
	}
	if err := add(&collect.Collector{Options: collect.Options{Measures: []chart.Measure{chart.AtPercentile(100)}}}); err != nil {
		t.Error(err)
	}
	if err := add(&collect.Collector{Options: collect.Options{Measures: []chart.Measure{chart.AtPercentile(100)}, Paired: true}}); err != collect.ErrPoints {
		t.Errorf("%v, want %v", err, collect.ErrPoints)
	}
}

// TestAggregateApart proves that windows of logs that begin at different times follow each other:
// each begins with its first interval and ends where the next one begins.
func TestAggregateApart(t *testing.T) {
	t.Parallel()
	c := pagetest.Timeline(100)
	c.Options.Aggregate = 10_000
	p := pagetest.Collect(t, chart.Timeline, c, 24, func(i int) (string, float64, float64, []int64) {
		return "", 1.074 + float64(i%2)*2 + float64(i/2)*10, 10.004, []int64{int64(1000 + i)} // timers are late
	})
	points := p.Series[0].Lines[0].Points
	for n, point := range points {
		end := 1074 + 10_000*float64(n+1)
		if n == 11 {
			end = 1074 + 2000 + 10_000*11 + 10_004
		}
		if start := 1074 + 10_000*float64(n); point.Start != start || point.End != end {
			t.Errorf("window %d is %+v", n, point)
		}
	}
	if len(points) != 12 {
		t.Errorf("%d windows", len(points))
	}
}

// TestTotalRate: tags of integers and of doubles do not add up, but have a rate together.
func TestTotalRate(t *testing.T) {
	t.Parallel()
	log, err := os.ReadFile("../../../testdata/logs/double.hdr")
	if err != nil {
		t.Fatal(err)
	}
	c := collect.Collector{Options: collect.Options{Aggregate: 1000, Ratio: 1, Totals: chart.TotalMeasures(nil)}}
	if err := pagetest.Gather(&c, log); err != nil {
		t.Fatal(err)
	}
	p, err := c.Picture(chart.New(chart.Report), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Total.Lines) != 1 || p.Total.Lines[0].Name != chart.RateName {
		t.Fatalf("lines %+v, want the rate alone", p.Total.Lines)
	}
	total := 0.0
	for _, point := range p.Total.Lines[0].Points {
		total += point.Value
	}
	// Windows begin at whole seconds and the log does not, so nine have 8 s of it.
	if n := len(p.Total.Lines[0].Points); n < 8 || math.Abs(total/float64(n)-1300) > 10 {
		t.Errorf("%d points, on average %v/s, want 1,300/s", n, total/float64(n))
	}
}

// TestCellsOfRuns: the cells of runs that are apart have the rates of the runs, however wide the
// columns are.
func TestCellsOfRuns(t *testing.T) {
	t.Parallel()
	const night = 86_400_000
	var c collect.Collector
	c.Options.MaxWindows, c.Options.Ratio = 1<<11, 1
	var log bytes.Buffer
	w := hdrlog.NewWriter(&log)
	for run := range 3 {
		for second := range 60 {
			w.Interval(nil, float64(run*night/1000+second), 1, pagetest.HistogramOf(t, 2, slices.Repeat([]int64{1000}, 50)))
		}
	}
	w.Flush()
	if err := pagetest.Gather(&c, log.Bytes()); err != nil {
		t.Fatal(err)
	}
	p, err := c.Picture(chart.New(chart.Heatmap), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string][][2]int64{"": {{0, 60_000}, {night, night + 60_000}, {2 * night, 2*night + 60_000}}}
	for _, columns := range []int{1, 3, 400} { // as many windows in each
		g := &chart.Grid{From: 0, To: 2*night + 60_000, Low: 1, High: 1e6, Columns: columns, Rows: 6, Ran: ran}
		g.Fill(p.Series)
		for column := range columns {
			rate := 0.0
			for _, r := range g.Rate[column*7 : column*7+7] {
				rate += r
			}
			if rate > 0 && math.Abs(rate-50) > 1e-6 {
				t.Errorf("%d columns: %v/s in column %d, want 50/s", columns, rate, column)
			}
		}
	}
}

// TestCollectorKinds proves that a picture names the series whose histograms do not add up.
func TestCollectorKinds(t *testing.T) {
	t.Parallel()
	double, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1, Ratio: 0.25})
	if err != nil {
		t.Fatal(err)
	}
	c := &collect.Collector{Options: collect.Options{MaxWindows: 1 << 11, Ratio: 1}}
	for i, h := range []*histogram.Histogram{pagetest.HistogramOf(t, 3, []int64{1}), double} {
		var interval collect.Interval
		pagetest.Measure(c, float64(i), 1, h, &interval)
		if err := c.Add("", "read", &interval); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Picture(chart.New(chart.Heatmap), 0, nil); !errors.Is(err, histogram.ErrKind) || !strings.HasPrefix(err.Error(), "read: ") {
		t.Errorf("%v", err)
	}
}

// TestSpike proves that the highest value of a million intervals is in the picture, and a page,
// though most are not.
func TestSpike(t *testing.T) {
	t.Parallel()
	const intervals, at, spike = 1_000_000, 777_777, 987_654_321
	c := pagetest.Timeline(100)
	c.Options.Ratio = 1
	var quiet, loud collect.Interval
	pagetest.Measure(c, 0, 1, pagetest.HistogramOf(t, 3, []int64{1000, 2000}), &quiet)
	pagetest.Measure(c, 0, 1, pagetest.HistogramOf(t, 3, []int64{spike}), &loud)
	for i := range intervals {
		interval := quiet
		if i == at {
			interval = loud
		}
		interval.Set(int64(1000*i), int64(1000*i+1000), interval.Values()[0]+float64(i%7))
		if err := c.Add("", "", &interval); err != nil {
			t.Fatal(err)
		}
	}
	p, err := c.Picture(chart.New(chart.Timeline), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	thin := chart.Stretches(p.Series[0].Lines[0].Points, intervals)
	if len(thin) != 1 || len(thin[0]) > 4*1001 {
		t.Fatalf("%d runs, %d points", len(thin), len(thin[0]))
	}
	highest, lowest := thin[0][0], thin[0][0]
	for _, point := range thin[0] {
		if point.Value > highest.Value {
			highest = point
		}
		if point.Value < lowest.Value {
			lowest = point
		}
	}
	if highest.Start != 1000*at || highest.Value < spike || lowest.Value != quiet.Values()[0] {
		t.Errorf("highest %+v, lowest %+v", highest, lowest)
	}
}
