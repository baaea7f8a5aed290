package output

import "hdrkit/hdrlog/confidence"

// Confidence has the confidence intervals of the figures of a summary.
type Confidence struct {
	// Level is the probability in percent that an interval contains the true figure.
	Level float64
	// Window is the length of the windows that the intervals are computed from, in milliseconds.
	Window int64
	// Percentiles has the value at each percentile (0 to 100), and Rate the values per second.
	// Values are in the unit of the log.
	Percentiles map[float64]confidence.Estimate
	Rate        confidence.Estimate
	// Shift is nil if the level of high percentiles does not change for good.
	Shift *Shift
}

// A Shift is a time at which the level of a percentile changes for good.
type Shift struct {
	Percentile float64
	// Start is the start of the new level, in milliseconds since the epoch.
	Start int64
	// Before and After are the approximate values of the percentile before and after Start, in the
	// unit of the log.
	Before, After float64
}

// Throughput returns the limits of the interval of [Summary.Throughput], whose period can differ
// from the total length of the windows.
func (c *Confidence) Throughput(s *Summary) (low, high float64) {
	factor := s.Throughput() / c.Rate.Value
	return c.Rate.Low * factor, c.Rate.High * factor
}
