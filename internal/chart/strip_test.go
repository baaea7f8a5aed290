package chart

import (
	"bytes"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/internal/clitest"
	"hdrkit/internal/loggen"
)

// nodes returns the picture of a log for each node, with the 99th percentile of each window.
func nodes(t *testing.T, window int64, add func(c *Collector)) *Picture {
	t.Helper()
	c := timeline(99)
	c.Ratio, c.Aggregate = 1, window
	add(c)
	p, err := c.Picture(Timeline, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Nodes, p.NodeWindow = p.Series, window
	return p
}

// TestStrip compares the rows of a strip with the ratios of the percentiles of raw values. The
// logs differ in the lengths and the starts of their intervals, and have gaps.
func TestStrip(t *testing.T) {
	t.Parallel()
	const window, windows, logs = 5, 20, 6
	var values [logs][windows][]int64
	random := rand.New(rand.NewSource(8))
	p := nodes(t, 1000*window, func(c *Collector) {
		for node := range logs {
			for start := 0; start < window*windows; start += 1 + node%2 { // one and two seconds
				if node == 3 && start < 40 || start/window == 11 {
					continue
				}
				own := latencies(random.Int63(), 30, 1e6*math.Pow(1.4, float64(node)))
				at := float64(start) + 0.1*float64(node)
				values[node][int(at+float64(1+node%2)/2)/window] = append(values[node][int(at+float64(1+node%2)/2)/window], own...)
				var interval Interval
				measure(c, at, float64(1+node%2), histogramOf(t, 3, own), &interval)
				if err := c.Add("", fmt.Sprint("node", node), &interval); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
	p.Origin = 0
	st := p.Strip(logs)
	if st == nil || len(st.Rows) != logs || len(st.Starts) != windows {
		t.Fatalf("%+v", st)
	}
	for n, start := range st.Starts { // intervals begin up to half a second later than windows
		if start, length := start-int64(1000*window*n), st.Ends[n]-start; start < -1000 || start > 1000 || length > 1000*window+1500 || (n == 11) != (length < 1000*window-1500) {
			t.Errorf("window %d starts at %d and has %d ms", n, start, length)
		}
	}
	percentile := func(values []int64) float64 {
		slices.Sort(values)
		return float64(values[int(math.Ceil(0.99*float64(len(values))))-1])
	}
	for n := range windows {
		var all []float64
		for node := range logs {
			if len(values[node][n]) > 0 {
				all = append(all, percentile(values[node][n]))
			}
		}
		slices.Sort(all)
		for node, row := range st.Rows {
			want := 0.0
			if len(values[node][n]) > 0 {
				half := len(all) / 2
				want = percentile(values[node][n]) / all[half]
				if len(all)%2 == 0 {
					want *= math.Sqrt(all[half] / all[half-1])
				}
			}
			got := float64(row.Ratios[n])
			if (got == 0) != (want == 0) || math.Abs(got-want) > 0.006*want { // three digits
				t.Errorf("%s, window %d: %v, want %v", row.Label, n, got, want)
			}
		}
	}
	// The first and the last log differ most.
	var kept []string
	for _, row := range p.Strip(2).Rows {
		kept = append(kept, row.Label)
	}
	if !slices.Equal(kept, []string{"node0", "node5"}) {
		t.Errorf("kept %q", kept)
	}
}

// TestStripScenarios proves that a slow node is one row of another colour all the time, that a dead
// one has no colour when it is dead, and that nothing else stands out. It reads the logs by itself.
func TestStripScenarios(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"slow node", "dead node", "steady"}[:max(2, clitest.Rounds(3))] {
		s := loggen.ScenarioNamed(name)
		p := nodes(t, 2000, func(c *Collector) {
			for node := range s.Nodes {
				var log bytes.Buffer
				if err := s.Write(&log, node); err != nil {
					t.Fatal(err)
				}
				r := hdrlog.NewReader(&log, name)
				for r.Scan() {
					rec := r.Record()
					if rec.Kind != hdrlog.IntervalRecord {
						continue
					}
					h, err := rec.Interval.Histogram()
					if err != nil {
						t.Fatal(err)
					}
					var interval Interval
					measure(c, float64(rec.Interval.StartMillis()-loggen.ScenarioStart)/1000, 1, h, &interval)
					if err := c.Add("", fmt.Sprint("node", node), &interval); err != nil {
						t.Fatal(err)
					}
				}
				if err := r.Err(); err != nil {
					t.Fatal(err)
				}
			}
		})
		st := p.Strip(MostRows)
		if st == nil || len(st.Rows) != s.Nodes || len(st.Rows[0].Ratios) != 300 {
			t.Fatalf("%s: %+v", name, st)
		}
		for node, row := range st.Rows {
			for n, ratio := range row.Ratios {
				slow, dead := name == "slow node" && node == 2, name == "dead node" && node == 1 && n >= 150
				if dead != (ratio == 0) || slow != (ratio > 2) || ratio < 0.5 && !dead || ratio > 5 {
					t.Errorf("%s: node%d, window %d: %v", name, node, n, ratio)
				}
			}
		}
	}
}

// TestStripNone proves that logs that were not written side by side have no strip, and that a strip
// has no more rows than have room, and says how many it leaves out.
func TestStripNone(t *testing.T) {
	t.Parallel()
	add := func(c *Collector, node int, start float64) {
		var interval Interval
		measure(c, start, 1, histogramOf(t, 3, []int64{int64(1000 * (node + 1))}), &interval)
		if err := c.Add("", fmt.Sprint("node", node), &interval); err != nil {
			t.Fatal(err)
		}
	}
	if st := nodes(t, 1000, func(c *Collector) {
		for i := range 60 { // three parts of a log
			add(c, i/20, float64(i))
		}
	}).Strip(MostRows); st != nil {
		t.Errorf("parts of a log have a strip %+v", st)
	}
	p := nodes(t, 1000, func(c *Collector) {
		for i := range 600 {
			add(c, i%40, float64(i/40))
		}
	})
	for most, want := range map[int]string{12: "; the 12 of 40 logs that differ most", 3: "; the 3 of 40 logs that differ most", 40: ""} {
		if got := p.Strip(most).Title(); got != "p99 of each log / median log"+want {
			t.Errorf("%d rows: %q", most, got)
		}
	}
}
