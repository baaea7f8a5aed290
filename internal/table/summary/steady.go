package summary

import (
	"fmt"
	"math"

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

// SkipWarmup lets a scan begin where its logs are steady, the same time for all tags and logs, and
// returns a notice that says so. It reads the logs once more.
func SkipWarmup(s *scan.Scan) (notice string, err error) {
	all := *s
	all.Selection.Range.From = nil
	w, err := FindWarmup(&all, 0)
	if err != nil {
		return "", err
	}
	if !w.Steady {
		return "", fmt.Errorf("no part of the %d windows is steady: the level still changes in the second half", w.All)
	}
	s.Selection.Range.From = &scan.Bound{Seconds: float64(w.End) / 1000, Origin: scan.Epoch}
	if w.Windows == 0 {
		s.Selection.Range.From = nil
	}
	switch {
	case w.All < confidence.MinSteady:
		return fmt.Sprintf("%d windows are too few to find a warm-up, so nothing is left out", w.All), nil
	case w.Windows == 0:
		return fmt.Sprintf("no warm-up found in %d windows", w.All), nil
	}
	return fmt.Sprintf("steady from %vs: %d of %d windows left out", math.Round(float64(max(w.End-w.Start, 0))/100)/10, w.Windows, w.All), nil
}

// FindWarmup runs a scan, adds up all its inputs and tags by windows of size milliseconds (0 for
// the longest interval), and finds the warm-up. It reports no malformed lines.
func FindWarmup(s *scan.Scan, size int64) (Warmup, error) {
	quiet := scan.Scan{Inputs: s.Inputs, Selection: s.Selection, Workers: s.Workers, Expected: s.Expected, Memory: s.Memory}
	quiet.Report = func(*hdrlog.SyntaxError, bool) error { return nil }
	runs := &Runs{Size: size}
	runs.charged(s.Memory)
	defer runs.release()
	decode := func(_ int, v scan.Visit, window *merge.Sum) error {
		_, err := v.Take(scan.Want{Coarse: window, Digits: windowDigits})
		return err
	}
	err := scan.Run(&quiet, decode, func(_ scan.Visit, window *merge.Sum) error {
		var kind []byte // integers and doubles do not add up
		if window.Layout().Ratio != 0 {
			kind = []byte("doubles")
		}
		runs.add(kind, window)
		return runs.err
	})
	if err != nil || runs.windows == nil {
		return Warmup{Steady: true}, err
	}
	size = runs.windows.Size()
	var first int64
	var all []confidence.Load
	var scratch histogram.Histogram
	for m := range runs.windows.Open() {
		if len(all) == 0 {
			first = m.Window.Start
		}
		at := int((m.Window.Start - first) / size)
		for len(all) <= at {
			all = append(all, confidence.Load{})
		}
		h, err := m.Histogram(&scratch)
		if err != nil {
			return Warmup{}, err
		}
		count, l := float64(h.TotalCount()), &all[at]
		l.Count, l.Sum, l.Seconds = l.Count+count, l.Sum+h.Mean()*count, max(l.Seconds, float64(m.End-m.Start)/1000)
	}
	n, steady := confidence.SteadyFrom(all)
	return Warmup{runs.first, first + int64(n)*size, n, len(all), steady}, nil
}
