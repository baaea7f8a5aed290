package scan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/logline"
)

// A number of -s and -e without a unit is seconds since the epoch if it is at least epochSeconds.
// Smaller numbers are seconds from the start of the log. The limit is more than three years.
const epochSeconds = 1e8

// A Range is the span of time of -s and -e. It contains an interval that starts in it. Both ends
// belong to it. A bound that is nil does not limit. The zero value is all time.
type Range struct {
	From, To *Bound
}

// A Bound is one end of a range: a time in seconds from an origin.
type Bound struct {
	Seconds float64
	Origin  Origin
	// Zone is the zone of a time of day.
	Zone *time.Location
	// notBefore is the time of day that decides on which day a time of day is, see [Bound.Moment]:
	// the time itself, or the end of the range that the bound begins.
	notBefore float64
	text      string // of the option
}

// wholeDay is the length of a day in seconds.
const wholeDay = 24 * 3600

// An Origin is the time from which a [Bound] counts seconds.
type Origin int

const (
	LogStart Origin = iota // the start of the log
	Epoch                  // 1970
	LogEnd                 // the end of the log, [Input.End]
	Steady                 // the time when the logs become steady; the caller must find it and replace the bound
	Midnight               // the beginning of the day of the log, see [Bound.Moment]
)

// Contains reports whether an interval of a log starts in the range. LogEnd, in milliseconds since
// the epoch, matters only if [Range.FromEnd] is true.
//
// Contains compares whole milliseconds, since binary fractions of the same time differ in the last
// bit.
func (r Range) Contains(i *hdrlog.Interval, logEnd int64) bool {
	return (r.From == nil || r.From.startOf(i, logEnd) >= logline.Millis(r.From.Seconds)) &&
		(r.To == nil || r.To.startOf(i, logEnd) <= logline.Millis(r.To.Seconds))
}

// startOf returns the start of the interval in milliseconds from the origin of the bound.
func (b *Bound) startOf(i *hdrlog.Interval, logEnd int64) int64 {
	switch b.Origin {
	case Epoch:
		return logline.Millis(i.Absolute())
	case LogEnd:
		return logline.Millis(i.Absolute()) - logEnd
	case Midnight:
		return logline.Millis(i.Absolute()) - logline.Millis(b.Moment(i.LogStart)) + logline.Millis(b.Seconds)
	}
	return logline.Millis(i.Relative())
}

// Moment returns the time of a bound that is a time of day, in seconds since the epoch: on the day
// on which the log starts, or on the next day if the time would lie before the start of the log.
func (b *Bound) Moment(logStart float64) float64 {
	start := time.UnixMilli(logline.Millis(logStart)).In(b.Zone)
	year, month, day := start.Date()
	at := func(day int, seconds float64) time.Time {
		return time.Date(year, month, day, 0, 0, 0, int(logline.Millis(seconds))*int(time.Millisecond), b.Zone)
	}
	if at(day, b.notBefore).Before(start) {
		day++
	}
	return float64(at(day, b.Seconds).UnixMilli()) / 1000
}

// At returns the time of the bound in milliseconds since the epoch, for a log that starts at
// logStart in seconds since the epoch. The origin must not be [LogEnd] or [Steady].
func (b *Bound) At(logStart float64) int64 {
	switch b.Origin {
	case Epoch:
		return logline.Millis(b.Seconds)
	case Midnight:
		return logline.Millis(b.Moment(logStart))
	}
	return logline.Millis(logStart + b.Seconds)
}

// EndMillis returns the end of an interval in milliseconds since the epoch, rounded as [Input.End]
// is.
func EndMillis(i *hdrlog.Interval) int64 { return logline.Millis(i.Absolute() + i.Length) }

// FromEnd reports whether a bound counts from the end of the log.
func (r Range) FromEnd() bool {
	return r.From != nil && r.From.Origin == LogEnd || r.To != nil && r.To.Origin == LogEnd
}

// FromLog reports whether a bound counts from the start or the end of the log.
func (r Range) FromLog() bool {
	counts := func(b *Bound) bool { return b != nil && (b.Origin == LogStart || b.Origin == LogEnd) }
	return counts(r.From) || counts(r.To)
}

// All reports whether the range has no bounds.
func (r Range) All() bool { return r.From == nil && r.To == nil }

// ParseRange parses the values of -s and -e. An empty value is no bound. Zone is the zone of times
// that state none.
func ParseRange(from, to string, zone *time.Location) (r Range, err error) {
	for _, bound := range []struct {
		option, text string
		target       **Bound
	}{{"s", from, &r.From}, {"e", to, &r.To}} {
		if bound.text == "" {
			continue
		}
		if bound.option == "s" && bound.text == "steady" {
			r.From = &Bound{Origin: Steady}
			continue
		}
		parsed, ok := ParseTime(bound.text, zone)
		if !ok {
			return r, fmt.Errorf("-%s %q is no time: give seconds from the start of the log or a "+
				"length of time (90s, 1h5m), the same with a minus for the end of the log, seconds "+
				"since 1970, or a time (2016-07-18 00:06:40, or 00:06:40 for the day of "+
				"the log)", bound.option, bound.text)
		}
		parsed.text = bound.text
		*bound.target = &parsed
	}
	r.settle()
	if r.From != nil && r.To != nil && r.From.Origin == r.To.Origin && r.From.Origin != Midnight && r.From.Seconds > r.To.Seconds {
		return r, r.ErrLater()
	}
	return r, nil
}

// settle sets notBefore of a range that begins at a time of day.
func (r *Range) settle() {
	if r.From == nil || r.From.Origin != Midnight {
		return
	}
	r.From.notBefore = wholeDay
	if r.To != nil && r.To.Origin == Midnight && r.To.Seconds >= r.From.Seconds {
		r.From.notBefore = r.To.Seconds
	}
}

// ErrLater returns the error for a range that ends before it begins.
func (r Range) ErrLater() error {
	return fmt.Errorf("-s %s is later than -e %s", r.From.text, r.To.text)
}

// neverIn reports whether both bounds are times of day and the range ends before it begins in a log
// with this start. In another log, the second bound can be on the next day.
func (r Range) neverIn(logStart float64) bool {
	if r.From == nil || r.To == nil || r.From.Origin != Midnight || r.To.Origin != Midnight {
		return false
	}
	return r.From.Moment(logStart) > r.To.Moment(logStart)
}

// ParseTime parses a time of -s or -e: seconds or a length of time from the start of the log, or
// with a minus from its end; seconds since 1970; a date and time, in zone unless it states another
// zone; or a time of day in zone. It returns false if the text is none of these.
func ParseTime(text string, zone *time.Location) (Bound, bool) {
	if seconds, ok := ParseSeconds(text); ok {
		_, numberErr := strconv.ParseFloat(text, 64)
		switch {
		case strings.HasPrefix(text, "-") && seconds <= 0:
			return Bound{Seconds: seconds, Origin: LogEnd}, true
		case numberErr == nil && seconds >= epochSeconds:
			return Bound{Seconds: seconds, Origin: Epoch}, true
		}
		return Bound{Seconds: seconds}, true
	}
	for _, layout := range []string{
		time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02",
	} {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return Bound{Seconds: float64(at.Unix()) + float64(at.Nanosecond())/1e9, Origin: Epoch}, true
		}
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		if at, err := time.Parse(layout, text); err == nil {
			seconds := at.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)).Seconds()
			return Bound{Seconds: seconds, Origin: Midnight, Zone: zone, notBefore: seconds}, true
		}
	}
	return Bound{}, false
}

// ParseSeconds parses a number of seconds, or numbers with units such as 90s, 1h5m and 1d12h. It
// returns false if the text is neither.
func ParseSeconds(text string) (seconds float64, ok bool) {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		return seconds, !math.IsNaN(seconds) && !math.IsInf(seconds, 0)
	}
	days, rest, _ := strings.Cut(text, "d")
	if n, err := strconv.ParseUint(days, 10, 16); err == nil && len(rest) < len(text)-len(days) {
		seconds = float64(n) * 86400
		if text = rest; text == "" {
			return seconds, true
		}
	}
	duration, err := time.ParseDuration(text)
	return seconds + duration.Seconds(), err == nil && (seconds == 0 || duration >= 0)
}

// maxMillis is a thousand years: longer than any measurement, and far from overflow.
const maxMillis = 1000 * 366 * 24 * 3600 * 1000

// ParseLength parses a length of time as [ParseSeconds] does, and returns it in milliseconds. The
// empty text is 0.
func ParseLength(text string) (millis int64, err error) {
	if text == "" {
		return 0, nil
	}
	seconds, ok := ParseSeconds(text)
	rounded := math.Round(seconds * 1000)
	switch {
	case !ok:
		short := shortUnits.Replace(strings.ToLower(text))
		if _, ok := ParseSeconds(short); ok {
			return 0, fmt.Errorf("%q is no length of time; did you mean %s?", text, short)
		}
		return 0, fmt.Errorf("%q is no length of time: give seconds, or a unit, such as 10s, 1m30s, 500ms or 1d", text)
	case seconds < 0:
		return 0, fmt.Errorf("%s: a length of time cannot be negative", text)
	case rounded > maxMillis:
		return 0, fmt.Errorf("%s is more than a thousand years", text)
	case math.Abs(rounded-seconds*1000) > 1e-6*max(rounded, 1):
		return 0, fmt.Errorf("%s is not a whole number of milliseconds", text)
	}
	return int64(rounded), nil
}

// shortUnits replaces words for units of time by the units that [ParseSeconds] accepts.
var shortUnits = strings.NewReplacer(" ", "", "milliseconds", "ms", "seconds", "s", "second", "s", "secs", "s", "sec", "s",
	"minutes", "m", "minute", "m", "mins", "m", "min", "m", "hours", "h", "hour", "h", "hrs", "h", "hr", "h", "days", "d", "day", "d")
