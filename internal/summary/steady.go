package summary

import (
	"hdrkit/hdrlog"
	"hdrkit/hdrlog/confidence"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/scan"
)

// Warmup is the begin of a run, before it is steady.
type Warmup struct {
	// Start is when the run starts, and End when its warm-up ends, in milliseconds since the epoch.
	Start, End int64
	// Windows is the number of windows of the warm-up, and All that of the run.
	Windows, All int
	// Steady is set if there is a steady part in the first half.
	Steady bool
}

// FindWarmup runs a scan, adds up all its inputs and tags by windows of size milliseconds (0 for
// the longest interval), and finds the warm-up. It reports no malformed lines.
func FindWarmup(s *scan.Scan, size int64) (Warmup, error) {
	quiet := scan.Scan{Inputs: s.Inputs, Selection: s.Selection, Workers: s.Workers, Expected: s.Expected, Memory: s.Memory}
	quiet.Report = func(*hdrlog.SyntaxError, bool) error { return nil }
	runs := &Runs{Size: size}
	decode := func(_ int, v scan.Visit, counts *[]byte) error {
		_, err := v.Take(scan.Want{Packed: counts})
		return err
	}
	err := scan.Run(&quiet, decode, func(v scan.Visit, counts *[]byte) error {
		kind := "integers"
		if double, _ := histogram.Peek(v.Payload); double {
			kind = "doubles"
		}
		runs.add(kind, v, *counts)
		return nil
	})
	if err != nil || len(runs.tags) == 0 {
		return Warmup{Steady: true}, err
	}
	size = runs.size()
	first := merge.WindowOf(runs.first, runs.first, size).Start
	var all []confidence.Window
	for kind := range runs.tags {
		windows, start, err := runs.windows(kind, 1)
		if err != nil {
			return Warmup{}, err
		}
		for n, w := range windows {
			at := int((start-first)/size) + n
			for len(all) <= at {
				all = append(all, nil)
			}
			if w == nil {
				continue
			}
			total, sum := w.Count(nil, nil)
			if all[at] == nil {
				all[at] = &load{}
			}
			l := all[at].(*load)
			l.total, l.sum, l.seconds = l.total+total, l.sum+sum, max(l.seconds, w.Seconds())
		}
	}
	for len(all) > 0 && all[0] == nil {
		all, first = all[1:], first+size
	}
	n, steady := confidence.SteadyFrom(all)
	return Warmup{runs.first, first + int64(n)*size, n, len(all), steady}, nil
}

// A load is a window of all tags.
type load struct {
	total        int64
	sum, seconds float64
}

// Count implements [confidence.Window].
func (l *load) Count(_, _ []int64) (total int64, sum float64) { return l.total, l.sum }

// Seconds implements [confidence.Window].
func (l *load) Seconds() float64 { return l.seconds }
