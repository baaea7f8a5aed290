package output

import (
	"cmp"
	"time"

	"hdrkit/internal/base/people"
)

// Dated reports whether a time in milliseconds since the epoch is a date. Earlier ones count from
// the start of a run.
func Dated(ms int64) bool { return ms >= 365*24*3600*1000 }

// TimeIn returns a time in a run, all in milliseconds since the epoch: the time of the day, with
// the date if the run has several, or the time after the start if that has no date.
func TimeIn(at, start, end int64, zone *time.Location) string {
	zone = cmp.Or(zone, time.UTC)
	clock := func(ms int64) time.Time { return time.UnixMilli(ms).In(zone) }
	switch {
	case !Dated(start) && Dated(at): // of another log than the one that has no dates
		return clock(at).Format(time.DateTime) + " " + zone.String()
	case !Dated(start) && at == start:
		return "the start"
	case !Dated(start):
		return people.Length(at-start) + " after the start"
	case clock(start).Format(time.DateOnly) != clock(end).Format(time.DateOnly):
		return clock(at).Format(time.DateTime) + " " + zone.String()
	}
	return clock(at).Format(time.TimeOnly) + " " + zone.String()
}
