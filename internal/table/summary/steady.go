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

// SkipWarmup lets a scan begin where its logs are steady, the same time for all tags and logs, and
// returns a notice that says so. It reads the logs once more, and reports no malformed lines then.
// The windows of all inputs and tags are as long as the longest interval.
func SkipWarmup(s *scan.Scan) (notice string, err error) {
	s.Selection.Range.From = nil
	quiet := scan.Scan{Inputs: s.Inputs, Selection: s.Selection, Workers: s.Workers, Expected: s.Expected, Memory: s.Memory}
	quiet.Report = func(*hdrlog.SyntaxError, bool) error { return nil }
	runs := &Runs{most: mostWarmup}
	runs.charged(s.Memory)
	defer runs.release()
	decode := func(_ int, v scan.Visit, window *merge.Sum) error {
		_, err := v.Take(scan.Want{Coarse: window, Digits: windowDigits})
		return err
	}
	if err := scan.Run(&quiet, decode, func(v scan.Visit, window *merge.Sum) error {
		var kind []byte // integers and doubles do not add up
		if window.Layout().Ratio != 0 {
			kind = []byte("doubles")
		}
		runs.add(v.StartMillis(), v.EndMillis(), kind, window)
		return runs.err
	}); err != nil {
		return "", err
	}
	first, all, err := runs.loads()
	if err != nil {
		return "", err
	}
	warm, steady := confidence.SteadyFrom(all)
	switch {
	case !steady:
		return "", fmt.Errorf("no part of the %d windows is steady: the level still changes in the second half", len(all))
	case len(all) < confidence.MinSteady:
		return fmt.Sprintf("%d windows are too few to find a warm-up, so nothing is left out", len(all)), nil
	case warm == 0:
		return fmt.Sprintf("no warm-up found in %d windows", len(all)), nil
	}
	from := first + int64(warm)*runs.windows.Size()
	s.Selection.Range.From = &scan.Bound{Seconds: float64(from) / 1000, Origin: scan.Epoch}
	return fmt.Sprintf("steady from %vs: %d of %d windows left out", math.Round(float64(max(from-runs.first, 0))/100)/10, warm, len(all)), nil
}

// loads returns what was recorded in each window of all tags, and when the first one starts.
func (r *Runs) loads() (first int64, all []confidence.Load, err error) {
	if r.windows == nil {
		return 0, nil, nil
	}
	var scratch histogram.Histogram
	for m := range r.windows.Open() {
		if len(all) == 0 {
			first = m.Window.Start
		}
		at := int((m.Window.Start - first) / r.windows.Size())
		for len(all) <= at {
			all = append(all, confidence.Load{})
		}
		h, err := m.Histogram(&scratch)
		if err != nil {
			return 0, nil, err
		}
		count, l := float64(h.TotalCount()), &all[at]
		l.Count, l.Sum, l.Seconds = l.Count+count, l.Sum+h.Mean()*count, max(l.Seconds, float64(m.End-m.Start)/1000)
	}
	return first, all, nil
}
