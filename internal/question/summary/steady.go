package summary

import (
	"cmp"
	"fmt"
	"maps"
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
}

// mostWarmup is the largest number of windows to find a warm-up and shifts in. Of logs with known
// truth, as many get a right first line with 150 windows as with 600, and a table of an hour takes
// 0.95 of the CPU time.
const mostWarmup = 150

// coursePart says which part of the memory a course may take: a 32nd.
const coursePart = 32

// leastCourse is the memory in bytes that a course needs. With less there is no course.
const leastCourse = 8 << 20

// flow returns the flow of the windows.
func (c *Course) flow(memory *ledger.Ledger) *flow.Doubling {
	c.doubling = &flow.Doubling{
		Most:    mostWarmup,
		Room:    memory.AtMost(math.MaxInt, 2),
		Digits:  windowDigits,
		Account: accountOf(memory),
	}
	return c.doubling
}

// Levels are those of a percentile of rows over time.
type Levels struct {
	course     *Course
	percentile float64
	// loads has the load of all rows together in each window. The first window begins at start,
	// each is size long, and first is the start of the first interval, all in milliseconds.
	loads              []confidence.Load
	start, size, first int64
	shifts             []Change // of rows
}

// Levels adds up the rows of each window, and finds where the level of a percentile of each row
// shifts. It decodes each window once: to decode them for each purpose takes 4% of the CPU time of
// a table of an hour. After an error, the levels are empty.
func (c *Course) Levels(percentile float64, summaries []*output.Summary) (*Levels, error) {
	if c.doubling == nil || len(c.windows) == 0 {
		return new(Levels), nil
	}
	if c.doubling.Err != nil {
		return new(Levels), c.doubling.Err
	}
	l := &Levels{course: c, percentile: percentile}
	if err := l.look(summaries); err != nil {
		return new(Levels), err
	}
	slices.SortStableFunc(l.shifts, func(a, b Change) int {
		return cmp.Compare(math.Abs(math.Log(b.Later/b.Before)), math.Abs(math.Log(a.Later/a.Before)))
	})
	return l, nil
}

// look finds the loads and the shifts of the course.
func (l *Levels) look(summaries []*output.Summary) error {
	c := l.course
	l.first = math.MaxInt64
	l.start = c.windows[0].Window.Start
	l.size = c.windows[0].Window.End - l.start
	for _, m := range c.windows {
		l.first = min(l.first, m.Start)
		if m.Recorded == (merge.Recorded{}) { // nobody has taken it
			m.Recorded = c.doubling.Rates.Take(m.Tag, m.Window)
		}
	}
	l.loads = make([]confidence.Load, (c.windows[len(c.windows)-1].Window.Start-l.start)/l.size+1)
	var room []*histogram.Histogram
	for _, windows := range c.rows() {
		s := summaryOf(summaries, windows[0].(*window).Tag)
		factor := 1.0 // the load is that of all rows, in one unit
		if s != nil {
			factor = s.Scale.Factor()
		}
		for n, w := range windows {
			if n == len(room) {
				room = append(room, new(histogram.Histogram))
			}
			w := w.(*window)
			if err := w.keep(room[n]); err != nil {
				return err
			}
			load := &l.loads[(w.Window.Start-l.start)/l.size]
			count := w.Values(float64(w.kept.TotalCount()))
			load.Count += count
			load.Sum += w.kept.Mean() * factor * count
			load.Seconds = max(load.Seconds, float64(w.Recorded.Any)/1000)
		}
		if s != nil && len(c.windows) <= mostShifted {
			l.lookForShift(windows, s)
		}
	}
	return nil
}

// summaryOf returns the summary of a row, nil if there is none.
func summaryOf(summaries []*output.Summary, row []byte) *output.Summary {
	n, found := slices.BinarySearchFunc(summaries, row, func(s *output.Summary, row []byte) int { return tags.Compare(s.Tag, row) })
	if !found {
		return nil
	}
	return summaries[n]
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
func (l *Levels) Warmup() (end Change, ok bool) {
	warm, steady := confidence.SteadyFrom(l.loads)
	if warm == 0 || !steady || len(l.loads) < confidence.MinSteady {
		return end, false
	}
	end.At = l.start + int64(warm)*l.size
	end.After = max(end.At-l.first, 0)
	end.Percentile = l.percentile
	most := 0.0
	for _, windows := range l.course.rows() {
		n, _ := slices.BinarySearchFunc(windows, end.At, func(w confidence.Window, at int64) int {
			return cmp.Compare(w.(*window).Window.Start, at)
		})
		before, later := levelOf(windows[:n], l.percentile), levelOf(windows[n:], l.percentile)
		if far := math.Abs(math.Log(before / later)); far > most {
			most = far
			end.Tag = windows[0].(*window).Tag
			end.Before, end.Later = before, later
		}
	}
	return end, most > 0
}

// mostShifted is the largest number of windows of all rows in which shifts are looked for.
const mostShifted = 1 << 16

// Shifts returns where the levels of rows change for good, the largest change first.
func (l *Levels) Shifts() []Change { return l.shifts }

// lookForShift finds where the level of a row changes for good.
func (l *Levels) lookForShift(windows []confidence.Window, s *output.Summary) {
	for _, w := range windows {
		w.(*window).ratio = s.Counts().Ratio()
	}
	run := confidence.NewRun(s.Counts(), windows)
	run.SetDigits(windowDigits)
	change := Change{At: s.Start, Tag: s.Tag, Percentile: l.percentile}
	change.Before, change.Later, change.Gradual = trend(windows, l.percentile)
	if !change.Gradual {
		at, ok := run.Shift(l.percentile)
		if !ok {
			return
		}
		change.At = windows[at].(*window).Window.Start
		change.Before, change.Later = levelOf(windows[:at], l.percentile), levelOf(windows[at:], l.percentile)
	}
	change.After = change.At - s.Start
	l.shifts = append(l.shifts, change)
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
func trend(windows []confidence.Window, percentile float64) (first, last float64, ok bool) {
	if len(windows) < confidence.MinWindows {
		return 0, 0, false
	}
	var levels []float64
	for n := range trendParts {
		levels = append(levels, levelOf(windows[n*len(windows)/trendParts:(n+1)*len(windows)/trendParts], percentile))
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

// rows returns the windows of each row, in the order of rows, then of time.
func (c *Course) rows() (all [][]confidence.Window) {
	byRow := make(map[string][]confidence.Window)
	var scratch histogram.Histogram
	for _, m := range c.windows {
		key := string(merge.AppendKey(nil, m.Tag))
		byRow[key] = append(byRow[key], &window{Merged: m, scratch: &scratch})
	}
	for _, key := range slices.Sorted(maps.Keys(byRow)) {
		all = append(all, byRow[key])
	}
	return all
}

// SkipWarmup lets a scan begin where its logs are steady, the same time for all tags and logs, and
// returns a notice that says so. It reads the logs once more, and reports no malformed lines then.
func SkipWarmup(s *scan.Scan) (notice string, err error) {
	s.Selection.Range.From = nil
	quiet := scan.Scan{
		Inputs:     s.Inputs,
		Selection:  s.Selection,
		Workers:    s.Workers,
		Correction: s.Correction,
		Memory:     s.Memory,
	}
	quiet.Report = func(*hdrlog.SyntaxError, bool) error { return nil }
	var c Course
	rows := &flow.Rows{Account: accountOf(s.Memory)}
	windows := c.flow(s.Memory)
	if err := cmp.Or(flow.Run(&quiet, rows, windows), windows.Err); err != nil {
		return "", err
	}
	c.windows = windows.Windows
	l, err := c.Levels(0, nil)
	if err != nil {
		return "", err
	}
	warm, steady := confidence.SteadyFrom(l.loads)
	switch {
	case !steady:
		return "", fmt.Errorf("no part of the %d windows is steady: the level still changes in the second half", len(l.loads))
	case len(l.loads) < confidence.MinSteady:
		return fmt.Sprintf("%d windows are too few to find a warm-up, so nothing is left out", len(l.loads)), nil
	case warm == 0:
		return fmt.Sprintf("no warm-up found in %d windows", len(l.loads)), nil
	}
	begin := l.start + int64(warm)*l.size
	s.Selection.Range.From = &scan.Bound{Seconds: float64(begin) / 1000, Origin: scan.Epoch}
	return fmt.Sprintf("steady from %vs: %d of %d windows left out", math.Round(float64(max(begin-l.first, 0))/100)/10, warm, len(l.loads)), nil
}
