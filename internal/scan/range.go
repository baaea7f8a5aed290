package scan

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"hdrkit/hdrlog"
)

// A Range is a span of time that the start of an interval may lie in. Both ends belong to it. The
// zero value is all time.
type Range struct {
	from, to *bound
}

// A bound is a time in seconds, from the log's start or since the epoch.
type bound struct {
	seconds  float64
	absolute bool
}

// ParseRange reads the two ends of a range, each empty for none: seconds from the log's start, a
// duration such as 1h5m, or a time as in RFC 3339.
func ParseRange(from, to string) (Range, error) {
	var r Range
	var err error
	if r.from, err = parseBound(from); err != nil {
		return r, fmt.Errorf("-s: %w", err)
	}
	if r.to, err = parseBound(to); err != nil {
		return r, fmt.Errorf("-e: %w", err)
	}
	if r.from != nil && r.to != nil && r.from.absolute == r.to.absolute && r.from.seconds > r.to.seconds {
		return r, fmt.Errorf("-s %s is later than -e %s", from, to)
	}
	return r, nil
}

func parseBound(text string) (*bound, error) {
	if text == "" {
		return nil, nil
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(seconds) {
		return &bound{seconds: seconds}, nil
	}
	if duration, err := time.ParseDuration(text); err == nil {
		return &bound{seconds: duration.Seconds()}, nil
	}
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return &bound{seconds: float64(at.Unix()) + float64(at.Nanosecond())/1e9, absolute: true}, nil
	}
	return nil, fmt.Errorf("%q is neither seconds, nor a duration such as 90s or 1h5m, nor a time such as 2016-07-18T00:06:40Z", text)
}

// Contains reports whether the interval starts in the range.
func (r Range) Contains(i *hdrlog.Interval) bool {
	return (r.from == nil || r.from.of(i) >= r.from.seconds) && (r.to == nil || r.to.of(i) <= r.to.seconds)
}

// of returns the interval's start on the bound's scale.
func (b *bound) of(i *hdrlog.Interval) float64 {
	if b.absolute {
		return i.Absolute()
	}
	return i.Relative()
}

// All reports whether the range is all time.
func (r Range) All() bool { return r.from == nil && r.to == nil }
