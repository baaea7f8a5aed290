package summary

import (
	"cmp"
	"fmt"
	"math"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/confidence"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/flow"
	"hdrkit/internal/scan"
)

// SkipWarmup lets a scan begin where its logs are steady, the same time for all tags and logs, and
// returns a notice that says so. It reads the logs once more, and reports no malformed lines then.
// The windows of all inputs and tags are as long as the longest interval.
func SkipWarmup(s *scan.Scan) (notice string, err error) {
	s.Selection.Range.From = nil
	quiet := scan.Scan{
		Inputs:    s.Inputs,
		Selection: s.Selection,
		Workers:   s.Workers,
		Expected:  s.Expected,
		Memory:    s.Memory,
	}
	quiet.Report = func(*hdrlog.SyntaxError, bool) error { return nil }
	plan := &flow.Doubling{Most: mostWarmup, Digits: windowDigits, Account: accountOf(s.Memory)}
	if err := cmp.Or(flow.Run(&quiet, plan), plan.Err); err != nil {
		return "", err
	}
	var all []confidence.Load // of each window, of all tags
	var first merge.Span
	from := int64(math.MaxInt64) // the start of the first interval
	var scratch histogram.Histogram
	for n, m := range plan.Windows {
		from = min(from, m.Start)
		if n == 0 {
			first = m.Window
		}
		for at := int((m.Window.Start - first.Start) / (first.End - first.Start)); len(all) <= at; {
			all = append(all, confidence.Load{})
		}
		h, err := m.Histogram(&scratch)
		if err != nil {
			return "", err
		}
		rate, l := plan.Rates.Take(m.Tag, m.Window), &all[len(all)-1]
		count := rate.Values(float64(h.TotalCount()))
		l.Count = l.Count + count
		l.Sum = l.Sum + h.Mean()*count
		l.Seconds = max(l.Seconds, float64(rate.Any)/1000)
	}
	warm, steady := confidence.SteadyFrom(all)
	switch {
	case !steady:
		return "", fmt.Errorf("no part of the %d windows is steady: the level still changes in the second half",
			len(all))
	case len(all) < confidence.MinSteady:
		return fmt.Sprintf("%d windows are too few to find a warm-up, so nothing is left out", len(all)), nil
	case warm == 0:
		return fmt.Sprintf("no warm-up found in %d windows", len(all)), nil
	}
	begin := first.Start + int64(warm)*(first.End-first.Start)
	s.Selection.Range.From = &scan.Bound{Seconds: float64(begin) / 1000, Origin: scan.Epoch}
	return fmt.Sprintf("steady from %vs: %d of %d windows left out", math.Round(float64(max(begin-from, 0))/100)/10,
		warm, len(all)), nil
}

// mostWarmup is the largest number of windows to find a warm-up in, which may be short.
const mostWarmup = 1 << 12
