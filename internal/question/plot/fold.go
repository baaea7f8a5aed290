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

// fold sets the period of -fold, and the time at which the first period begins: near the first
// spike if the period was found, and otherwise at the start of the logs. It leaves out the last
// period if that is not complete.
func (d *decision) fold() error {
	one := d.scan
	one.Progress = nil
	for _, log := range one.Inputs {
		if log.Once {
			return message.Usagef("-fold reads logs twice, and %s can be read only once", log.Name)
		}
	}
	histories := &summary.Histories{Times: true}
	result, err := summary.Collect(&one, summary.Options{Histories: histories})
	if err != nil {
		return err
	}
	start, end := int64(math.MaxInt64), int64(0)
	for _, sum := range result.Summaries {
		start, end = min(start, sum.Start), max(end, sum.End)
	}
	d.plan.lines.Fold, d.plan.lines.FoldAt = d.asked.Windows.Fold, start
	if d.asked.Windows.Fold == FoldFound {
		oneUnit := func(string, []byte) hdrlog.Scale { return hdrlog.Scale{} }
		rhythm := summary.RhythmOf(histories.Tracks(oneUnit))
		if rhythm == nil {
			return errors.New("-fold auto: no spikes come at even times; -fold TIME folds by any")
		}
		d.plan.lines.Fold = int64(math.Round(rhythm.Period))
		first, err := d.survey(1)
		if err != nil {
			return err
		}
		// The first period begins a quarter of a period before a spike, where an interval begins,
		// so that neither spikes nor intervals cross the edge.
		before := float64(start) - rhythm.First + rhythm.Period/4
		intervals := math.Round(before / float64(first.length))
		d.plan.lines.FoldAt = start - int64(intervals)*first.length
	}
	d.plan.content.periods = max(int((end-start)/max(d.plan.lines.Fold, 1)), 1)
	// An incomplete period would add values to some columns only.
	if whole := start + int64(d.plan.content.periods)*d.plan.lines.Fold; whole < end {
		d.scan.Selection.Range.To = &scan.Bound{Seconds: float64(whole-1) / 1000, Origin: scan.Epoch}
	}
	from := d.plan.lines.FoldAt
	if from < start {
		from += d.plan.lines.Fold
	}
	d.plan.look.Texts.Notes = append(d.plan.look.Texts.Notes, fmt.Sprintf("Time is that in a period of %s, the first of which begins at %s: "+
		"the mean of %d whole ones.", axis.Length(d.plan.lines.Fold), people.TimeIn(from, start, end, d.plan.look.Time.Zone), d.plan.content.periods))
	return nil
}
