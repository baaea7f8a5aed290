package summary

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/confidence"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/flow"
	"hdrkit/internal/scan"
	"hdrkit/output"
	"hdrkit/tags"
)

// A Course has the counts of rows over time, in windows that are as long as the longest interval,
// to find where a run becomes steady, and where its level changes. The zero value is ready.
type Course struct {
	doubling *flow.Doubling
	// windows are those of doubling, in the order of time, then of rows.
	windows []*merge.Merged
	// loads has the load of all rows together in each window. The first window begins at start,
	// each is size long, and first is the start of the first interval, all in milliseconds.
	loads              []confidence.Load
	start, size, first int64
}

// mostWarmup is the largest number of windows to find a warm-up in. With 4,096, where an hour of
// seconds has a window for each interval, a table takes 1.25 times the CPU time.
const mostWarmup = 600

// coursePart says which part of the memory a course may take: a 32nd.
const coursePart = 32

// leastCourse is the memory in bytes that a course needs. With less there is no course.
const leastCourse = 8 << 20

// flow returns the flow of the windows.
func (c *Course) flow(memory *ledger.Ledger) *flow.Doubling {
	c.doubling = &flow.Doubling{Most: mostWarmup, Digits: windowDigits, Account: accountOf(memory)}
	return c.doubling
}

// follow takes the windows of runs, which are as good.
func (c *Course) follow(r *Runs) bool {
	if r == nil || r.Size != 0 || r.most != 0 {
		return false
	}
	c.doubling = r.doubling
	return true
}

// load adds up the rows of each window.
func (c *Course) load() error {
	if c.loads != nil {
		return nil
	}
	c.first = math.MaxInt64
	var scratch histogram.Histogram
	for n, m := range c.windows {
		c.first = min(c.first, m.Start)
		if n == 0 {
			c.start = m.Window.Start
			c.size = m.Window.End - m.Window.Start
		}
		for at := int((m.Window.Start - c.start) / c.size); len(c.loads) <= at; {
			c.loads = append(c.loads, confidence.Load{})
		}
		h, err := m.Histogram(&scratch)
		if err != nil {
			return err
		}
		rate := m.Recorded
		if rate == (merge.Recorded{}) { // nobody has taken it
			rate = c.doubling.Rates.Take(m.Tag, m.Window)
		}
		l := &c.loads[len(c.loads)-1]
		count := rate.Values(float64(h.TotalCount()))
		l.Count = l.Count + count
		l.Sum = l.Sum + h.Mean()*count
		l.Seconds = max(l.Seconds, float64(rate.Any)/1000)
	}
	return nil
}

// A Change is where the level of a row changes: at the end of a warm-up, or for good.
type Change struct {
	// At is in milliseconds since the epoch, and After how long after the first interval that is.
	At, After int64
	// Tag is that of the row, and Before and Later are about its values at Percentile on both
	// sides, in the unit of the log.
	Tag           []byte
	Percentile    float64
	Before, Later float64
	// Gradual is set if the level changes all the time.
	Gradual bool
}

// Warmup returns the end of the warm-up, with the row whose percentile falls most then. It returns
// false if there is none, or no part is steady.
func (c *Course) Warmup(percentile float64) (end Change, ok bool) {
	if c.doubling == nil || c.doubling.Err != nil || c.load() != nil {
		return end, false
	}
	warm, steady := confidence.SteadyFrom(c.loads)
	if warm == 0 || !steady || len(c.loads) < confidence.MinSteady {
		return end, false
	}
	end.At = c.start + int64(warm)*c.size
	end.After = max(end.At-c.first, 0)
	end.Percentile = percentile
	most := 0.0
	for _, windows := range c.rows() {
		before, later := c.around(windows, end.At, percentile)
		if far := math.Abs(math.Log(before / later)); far > most {
			most = far
			end.Tag = windows[0].Tag
			end.Before, end.Later = before, later
		}
	}
	return end, most > 0
}

// mostShifted is the largest number of windows of all rows in which shifts are looked for.
const mostShifted = 1 << 16

// Shifts returns where the levels of a percentile of rows change for good, the largest change
// first.
func (c *Course) Shifts(percentile float64, summaries []*output.Summary) (all []Change) {
	if c.doubling == nil || c.doubling.Err != nil || len(c.windows) > mostShifted || c.load() != nil {
		return nil
	}
	for _, windows := range c.rows() {
		n, found := slices.BinarySearchFunc(summaries, windows[0].Tag, func(s *output.Summary, tag []byte) int { return tags.Compare(s.Tag, tag) })
		if !found {
			continue
		}
		s := summaries[n]
		var scratch histogram.Histogram
		var of []confidence.Window
		for _, m := range windows {
			of = append(of, &window{m, &scratch, s.Counts().Ratio()})
		}
		run := confidence.NewRun(s.Counts(), of)
		run.SetDigits(windowDigits)
		change := Change{At: s.Start, Tag: s.Tag, Percentile: percentile}
		change.Before, change.Later, change.Gradual = c.trend(windows, percentile)
		if !change.Gradual {
			at, ok := run.Shift(percentile)
			if !ok {
				continue
			}
			change.At = windows[at].Window.Start
			change.Before, change.Later = c.around(windows, change.At, percentile)
		}
		change.After = change.At - s.Start
		all = append(all, change)
	}
	slices.SortStableFunc(all, func(a, b Change) int {
		return cmp.Compare(math.Abs(math.Log(b.Later/b.Before)), math.Abs(math.Log(a.Later/a.Before)))
	})
	return all
}

const (
	// trendParts is the number of parts of a run whose levels are compared, and trendPairs how many
	// of their 45 pairs are in order if the level changes all the time (Kendall's test: 0.03% of
	// runs without a trend, if parts are independent).
	trendParts = 10
	trendPairs = 41
)

// trend reports whether the level of a percentile changes all the time, and its first and last
// parts.
func (c *Course) trend(windows []*merge.Merged, percentile float64) (first, last float64, ok bool) {
	if len(windows) < confidence.MinWindows {
		return 0, 0, false
	}
	var levels []float64
	for n := range trendParts {
		levels = append(levels, valueOf(windows[n*len(windows)/trendParts:(n+1)*len(windows)/trendParts], percentile))
	}
	up, down := 0, 0
	for n, v := range levels {
		for _, before := range levels[:n] {
			switch {
			case v > before:
				up++
			case v < before:
				down++
			}
		}
	}
	return levels[0], levels[trendParts-1], max(up, down) >= trendPairs
}

// rows returns the windows of each row, in the order of time.
func (c *Course) rows() (all [][]*merge.Merged) {
	byRow := make(map[string]int)
	for _, m := range c.windows {
		key := string(merge.AppendKey(nil, m.Tag))
		n, known := byRow[key]
		if !known {
			n = len(all)
			byRow[key] = n
			all = append(all, nil)
		}
		all[n] = append(all[n], m)
	}
	return all
}

// around returns about the values of a row before and after a time at a percentile.
func (c *Course) around(windows []*merge.Merged, at int64, percentile float64) (before, later float64) {
	n, _ := slices.BinarySearchFunc(windows, at, func(m *merge.Merged, at int64) int { return cmp.Compare(m.Window.Start, at) })
	return valueOf(windows[:n], percentile), valueOf(windows[n:], percentile)
}

// valueOf returns about the value of windows at a percentile, not a number if they have none.
func valueOf(windows []*merge.Merged, percentile float64) float64 {
	var sum merge.Sum
	for _, w := range windows {
		if w.Intervals() > 0 {
			sum.Merge(&w.Sum) // cannot fail: the intervals of all windows add up
		}
	}
	h, err := sum.Histogram(new(histogram.Histogram))
	if err != nil || h.TotalCount() == 0 {
		return math.NaN()
	}
	at := h.Layout().IndexOf(h.ValueAtPercentile(percentile))
	return (h.Float(h.Layout().LowestAt(at)) + h.Float(h.Layout().HighestAt(at))) / 2
}

// SkipWarmup lets a scan begin where its logs are steady, the same time for all tags and logs, and
// returns a notice that says so. It reads the logs once more, and reports no malformed lines then.
func SkipWarmup(s *scan.Scan) (notice string, err error) {
	s.Selection.Range.From = nil
	quiet := scan.Scan{
		Inputs:    s.Inputs,
		Selection: s.Selection,
		Workers:   s.Workers,
		Helpers:   s.Helpers,
		Expected:  s.Expected,
		Meant:     s.Meant,
		Memory:    s.Memory,
	}
	quiet.Report = func(*hdrlog.SyntaxError, bool) error { return nil }
	var c Course
	windows := c.flow(s.Memory)
	if err := cmp.Or(flow.Run(&quiet, windows), windows.Err); err != nil {
		return "", err
	}
	c.windows = windows.Windows
	if err := c.load(); err != nil {
		return "", err
	}
	warm, steady := confidence.SteadyFrom(c.loads)
	switch {
	case !steady:
		return "", fmt.Errorf("no part of the %d windows is steady: the level still changes in the second half", len(c.loads))
	case len(c.loads) < confidence.MinSteady:
		return fmt.Sprintf("%d windows are too few to find a warm-up, so nothing is left out", len(c.loads)), nil
	case warm == 0:
		return fmt.Sprintf("no warm-up found in %d windows", len(c.loads)), nil
	}
	begin := c.start + int64(warm)*c.size
	s.Selection.Range.From = &scan.Bound{Seconds: float64(begin) / 1000, Origin: scan.Epoch}
	return fmt.Sprintf("steady from %vs: %d of %d windows left out", math.Round(float64(max(begin-c.first, 0))/100)/10, warm, len(c.loads)), nil
}
