package plot

import (
	"errors"
	"fmt"
	"math"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/message"
	"hdrkit/internal/base/people"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/scan"
	"hdrkit/internal/summary"
)

// FoldFound is the value of Fold in [Windows] for -fold auto, which finds the period of spikes.
const FoldFound int64 = -1

// A folding has the periods of a folded heat map.
type folding struct {
	period int64 // in milliseconds
	start  int64 // when the first period begins, in milliseconds since the epoch
	count  int   // number of complete periods
	note   string
}

// fold returns how to fold the logs. The first period begins near the first spike if the period was
// found, and otherwise at the start of the logs. It makes the scan leave out the last period if
// that is not complete.
func (d *decision) fold() (*folding, error) {
	quiet := d.scan
	quiet.Progress = nil
	for _, log := range quiet.Inputs {
		if log.Once {
			return nil, message.Usagef("-fold reads logs twice, and %s can be read only once", log.Name)
		}
	}
	histories := &summary.Histories{Times: true}
	result, err := summary.Collect(&quiet, summary.Options{Histories: histories})
	if err != nil {
		return nil, err
	}
	start, end := int64(math.MaxInt64), int64(0)
	for _, sum := range result.Summaries {
		start, end = min(start, sum.Start), max(end, sum.End)
	}
	f := &folding{period: d.asked.Windows.Fold, start: start}
	if d.asked.Windows.Fold == FoldFound {
		oneUnit := func(string, []byte) hdrlog.Scale { return hdrlog.Scale{} }
		rhythm := summary.RhythmOf(histories.Tracks(oneUnit))
		if rhythm == nil {
			return nil, errors.New("-fold auto: no spikes come at even times; -fold TIME folds by any")
		}
		f.period = int64(math.Round(rhythm.Period))
		first, err := d.survey(1)
		if err != nil {
			return nil, err
		}
		// The first period begins a quarter of a period before a spike, where an interval begins,
		// so that neither spikes nor intervals cross the edge.
		before := float64(start) - rhythm.First + rhythm.Period/4
		intervals := math.Round(before / float64(first.length))
		f.start = start - int64(intervals)*first.length
	}
	f.count = max(int((end-start)/max(f.period, 1)), 1)
	// An incomplete period would add values to some columns only.
	if whole := start + int64(f.count)*f.period; whole < end {
		d.scan.Selection.Range.To = &scan.Bound{Seconds: float64(whole-1) / 1000, Origin: scan.Epoch}
	}
	from := f.start
	if from < start {
		from += f.period
	}
	f.note = fmt.Sprintf("Time is that in a period of %s, the first of which begins at %s: the mean of %d whole ones.",
		axis.Length(f.period), people.TimeIn(from, start, end, d.asked.Axes.Time.Zone), f.count)
	return f, nil
}
