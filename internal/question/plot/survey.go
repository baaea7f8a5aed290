package plot

import (
	"errors"
	"math"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/logline"
	"hdrkit/internal/flow"
	"hdrkit/internal/scan"
	"hdrkit/tags"
)

// A survey says how logs lie in time, in milliseconds.
type survey struct {
	length   int64 // of the first interval, see [flow.MeantLength]
	from, to int64
	starts   []int64         // of logs
	ends     []int64         // of logs
	points   int             // the largest number of intervals of a tag of a log
	tags     int             // the largest number of tags of a log
	names    map[string]bool // of tags, as texts
	ordered  bool            // all logs were read to their ends, and none is late for a window
}

// firstIntervals is a number of intervals in which most tags of a log occur.
const firstIntervals = 1000

// survey looks at the first intervals of each log that the scan selects, without their payloads.
// Pipes can be read only once, so it does not know them.
func (d *decision) survey(most int) (*survey, error) {
	surveyed := &survey{
		from:    math.MaxInt64,
		to:      math.MinInt64,
		names:   make(map[string]bool),
		ordered: most == math.MaxInt,
	}
	for n := range d.scan.Inputs {
		if d.scan.Inputs[n].Once {
			surveyed.ordered = false
			continue
		}
		if err := d.surveyLog(surveyed, n, most); err != nil {
			return nil, err
		}
	}
	if surveyed.length == 0 {
		surveyed.length = 1000
	}
	return surveyed, nil
}

// surveyLog adds a log to a survey.
func (d *decision) surveyLog(surveyed *survey, input, most int) error {
	one := d.scan
	one.Progress = nil
	log, err := one.Open(input, 0)
	if err != nil {
		return err
	}
	points := make(map[string]int)
	from, to := int64(math.MaxInt64), int64(math.MinInt64)
	passed := int64(math.MinInt64)
	for seen := 0; seen < most && log.Scan(); {
		rec := log.Record()
		if rec.Kind != hdrlog.IntervalRecord {
			continue
		}
		i := &rec.Interval
		begin, end := scan.Visit{Interval: i}.Span()
		surveyed.ordered = surveyed.ordered && begin >= passed
		passed = max(passed, scan.Passes(begin, end))
		if !one.Select(input, i) {
			continue
		}
		seen++
		if surveyed.length == 0 && i.Length > 0 {
			surveyed.length = flow.MeantLength(logline.Millis(i.Length))
		}
		start := i.StartMillis()
		if d.relative() {
			start -= logline.Millis(i.LogStart)
		}
		from, to = min(from, start), max(to, start+logline.Millis(i.Length))
		tag := string(i.Tag)
		points[tag]++
		if len(points) > MostTags {
			break // reading the log fails
		}
		surveyed.names[tags.Text(i.Tag)] = true
		surveyed.points = max(surveyed.points, points[tag])
	}
	surveyed.tags = max(surveyed.tags, len(points))
	if from <= to {
		surveyed.from, surveyed.to = min(surveyed.from, from), max(surveyed.to, to)
		surveyed.starts, surveyed.ends = append(surveyed.starts, from), append(surveyed.ends, to)
	}
	return errors.Join(log.Err(), log.Close())
}
