package cli

import (
	"fmt"
	"math"
	"time"

	"github.com/urfave/cli/v2"

	"hdrkit/hdrlog"
	"hdrkit/internal/scan"
)

// Zone returns the zone of time that -tz names.
func Zone(c *cli.Context) (*time.Location, error) {
	name := c.String("tz")
	for _, layout := range []string{"-07:00", "-0700", "-07"} { // an offset
		if at, err := time.Parse(layout, name); err == nil {
			_, offset := at.Zone()
			return time.FixedZone("UTC"+name, offset), nil
		}
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" {
		return nil, Usagef("-tz %q is no zone of time: give a name such as Europe/Berlin, UTC or Local, or an offset such as +02:00", name)
	}
	return zone, nil
}

// CheckZone refuses -tz in a command that prints no times, if no -s or -e needs it.
func CheckZone(c *cli.Context) error {
	if Given(c, "tz") && !Given(c, "s") && !Given(c, "e") {
		return Usagef("-tz is the zone of -s and -e, and neither is given")
	}
	return nil
}

// timeRange returns the range of -s and -e.
func timeRange(c *cli.Context) (r scan.Range, err error) {
	zone, err := Zone(c)
	if err != nil {
		return r, err
	}
	if r, err = scan.ParseRange(c.String("s"), c.String("e"), zone); err != nil {
		return r, UsageError{err}
	}
	return r, nil
}

// findEnds finds where each log ends, if -s or -e count from there. It reads all logs once more for
// that.
func findEnds(s *scan.Scan) error {
	if !s.Selection.Range.FromEnd() {
		return nil
	}
	for n := range s.Inputs {
		input := &s.Inputs[n]
		if input.Once {
			return Usagef("-s and -e cannot count from the end of %s, which can be read only once", input.Name)
		}
		file, err := input.Open()
		if err != nil {
			return err
		}
		reader, end := input.NewReader(file), int64(math.MinInt64)
		for reader.Scan() {
			if r := reader.Record(); r.Kind == hdrlog.IntervalRecord {
				end = max(end, r.Interval.EndMillis())
			}
		}
		file.Close()
		if err := reader.Err(); err != nil {
			return fmt.Errorf("%s: %w", input.Name, err)
		}
		input.End = end
	}
	return nil
}
