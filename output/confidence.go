package output

import "hdrkit/hdrlog/confidence"

// Confidence says how far the figures of a summary can be believed.
type Confidence struct {
	// Level is the probability in percent that an interval has the true figure in it.
	Level float64
	// Window is the length of the windows that the intervals come from, in milliseconds.
	Window int64
	// Percentiles and Rate are figures of the summary. Values are in the unit of the log.
	Percentiles map[float64]confidence.Estimate
	Rate        confidence.Estimate
	// Shift is where the level of a high percentile shifts for good, nil if it does not.
	Shift *Shift
}

// A Shift is where the level of a percentile shifts for good.
type Shift struct {
	Percentile float64
	// Start is when the new level starts, in milliseconds since the epoch.
	Start int64
	// Before and After are about the values on both sides, in the unit of the log.
	Before, After float64
}

// Throughput returns the limits of the throughput of a summary. The period may be another one than
// that of the windows.
func (c *Confidence) Throughput(s *Summary) (low, high float64) {
	factor := s.Throughput() / c.Rate.Value
	return c.Rate.Low * factor, c.Rate.High * factor
}
