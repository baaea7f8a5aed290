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

// A survey has the times and tags of logs, which decide the windows and lines of a picture. Times
// are in milliseconds.
type survey struct {
	length   int64           // of the first interval, see [flow.RoundLength]
	from, to int64           // when the first log starts and the last one ends
	starts   []int64         // by log
	ends     []int64         // by log
	points   int             // the largest number of intervals of a tag of a log
	tags     int             // the largest number of tags of a log
	names    map[string]bool // of all tags
	ordered  bool            // all logs were read to their ends, and no interval is late for a window
}

// firstIntervals is the number of intervals that a short survey reads of a log. Most tags occur in
// them.
const firstIntervals = 1000

// survey reads the first intervals of each log that the scan selects, without their payloads. Limit
// is the largest number of intervals of a log. It skips pipes, which can be read only once.
func (d *decision) survey(limit int) (*survey, error) {
	surveyed := &survey{
		from:    math.MaxInt64,
		to:      math.MinInt64,
		names:   make(map[string]bool),
		ordered: limit == math.MaxInt,
	}
	for n := range d.scan.Inputs {
		if d.scan.Inputs[n].Once {
			surveyed.ordered = false
			continue
		}
		if err := d.surveyLog(surveyed, n, limit); err != nil {
			return nil, err
		}
	}
	if surveyed.length == 0 {
		surveyed.length = 1000
	}
	return surveyed, nil
}

// surveyLog adds the log of an input to a survey.
func (d *decision) surveyLog(surveyed *survey, input, limit int) error {
	quiet := d.scan
	quiet.Progress = nil
	log, err := quiet.Open(input, 0)
	if err != nil {
		return err
	}
	points := make(map[string]int)
	from, to := int64(math.MaxInt64), int64(math.MinInt64)
	passed := int64(math.MinInt64)
	for seen := 0; seen < limit && log.Reader.Scan(); {
		rec := log.Reader.Record()
		if rec.Kind != hdrlog.IntervalRecord {
			continue
		}
		i := &rec.Interval
		begin, end := scan.Visit{Interval: i}.Span()
		surveyed.ordered = surveyed.ordered && begin >= passed
		passed = max(passed, scan.PassedAfter(begin, end))
		if !quiet.Select(input, i) {
			continue
		}
		seen++
		if surveyed.length == 0 && i.Length > 0 {
			surveyed.length = flow.RoundLength(logline.Millis(i.Length))
		}
		start := i.StartMillis()
		if d.isRelative() {
			start -= logline.Millis(i.LogStart)
		}
		from, to = min(from, start), max(to, start+logline.Millis(i.Length))
		tag := string(i.Tag)
		points[tag]++
		if len(points) > MaxTags {
			break // too many tags: the reading will return an error
		}
		surveyed.names[tags.Text(i.Tag)] = true
		surveyed.points = max(surveyed.points, points[tag])
	}
	surveyed.tags = max(surveyed.tags, len(points))
	if from <= to {
		surveyed.from, surveyed.to = min(surveyed.from, from), max(surveyed.to, to)
		surveyed.starts, surveyed.ends = append(surveyed.starts, from), append(surveyed.ends, to)
	}
	return errors.Join(log.Reader.Err(), log.Close())
}
