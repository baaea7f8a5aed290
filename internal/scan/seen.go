package scan

import "hdrkit/hdrlog"

// Seen says how many intervals a scan has read, and when they are, for messages about a selection
// that has none of them.
type Seen struct {
	// Intervals is the number of all intervals, whether the selection has them or not.
	Intervals int64
	// The intervals are from Earliest to Latest, in milliseconds since the epoch. Both are 0 unless
	// the selection has a range.
	Earliest, Latest int64
	// Start is the first start of all logs, in seconds since the epoch. [Run] sets it before it
	// hands over the first interval, if [Scan.ByTime] is set.
	Start float64
	// NeverInRange reports that -s is later than -e in each log, as times of day.
	NeverInRange bool
	logStart     float64 // of the latest interval
}

// note notes when an interval is. Intervals counts it already.
func (s *Seen) note(i *hdrlog.Interval, r Range) {
	start, end := i.StartMillis(), EndMillis(i)
	first := s.Intervals == 1
	if first {
		s.Earliest, s.Latest = start, end
	}
	s.Earliest = min(s.Earliest, start)
	s.Latest = max(s.Latest, end)
	if first || i.LogStart != s.logStart {
		s.NeverInRange = r.neverIn(i.LogStart) && (first || s.NeverInRange)
		s.logStart = i.LogStart
	}
}

// Add adds the intervals that another scan has seen.
func (s *Seen) Add(other *Seen) {
	if other.Intervals == 0 {
		return
	}
	if s.Intervals == 0 {
		s.Earliest, s.Latest = other.Earliest, other.Latest
		s.NeverInRange = other.NeverInRange
	}
	s.NeverInRange = s.NeverInRange && other.NeverInRange
	s.Intervals += other.Intervals
	s.Earliest = min(s.Earliest, other.Earliest)
	s.Latest = max(s.Latest, other.Latest)
}
