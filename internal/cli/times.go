package cli

import (
	"fmt"
	"math"
	"strings"
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

// timeRange returns the range of -s and -e.
func timeRange(c *cli.Context) (r scan.Range, err error) {
	zone, err := Zone(c)
	if err != nil {
		return r, err
	}
	if r, err = scan.ParseRange(c.String("s"), c.String("e"), zone); err != nil {
		return r, UsageError{err}
	}
	if steady(r) && c.Bool("compare") {
		return r, Usagef("-s steady looks for the end of the warm-up of one run: it does not go with -compare")
	}
	return r, nil
}

// steady reports whether a range begins where the logs become steady.
func steady(r scan.Range) bool { return r.From != nil && r.From.Origin == scan.Steady }

// FindSteady finds where the logs of a scan become steady, if -s says so. It reads them once more.
// All tags and logs have the same start, so that they can be compared.
func FindSteady(c *cli.Context, s *scan.Scan) error {
	if !steady(s.Selection.Range) {
		return nil
	}
	for n := range s.Inputs {
		if s.Inputs[n].Once {
			return Usagef("-s steady reads logs twice, and %s can be read only once", s.Inputs[n].Name)
		}
	}
	find := guideOf(c.App).Steady
	if find == nil {
		return Usagef("-s steady: hdrsum and hdrplot find where a run becomes steady; then give the time")
	}
	notice, err := find(s)
	if err != nil {
		return fmt.Errorf("-s steady: %w", err)
	}
	say(c, "%s", notice)
	return nil
}

// The values of -times.
const timesEach, timesAll = "each", "all"

// findTimes finds the times that -s and -e count from: those of each log or, with -times all, those
// of all logs together.
func findTimes(c *cli.Context, s *scan.Scan) error {
	mode, apart := "", ""
	for _, name := range []string{"compare", "r"} {
		if c.Bool(name) {
			apart = name
		}
	}
	r := s.Selection.Range
	if Given(c, "times") {
		mode = Choice(c, "times")
		switch {
		case !r.FromLog():
			return Usagef("-times says what -s and -e count from, and neither counts from the start or the end of a log")
		case apart != "":
			return Usagef("-times and -%s do not go together: -%s looks at each log by itself", apart, apart)
		}
	}
	if r.FromEnd() || mode == timesAll {
		if err := findEnds(s, mode == timesAll); err != nil {
			return err
		}
	}
	if c.Bool("runs") { // each run has its own start
		return nil
	}
	if mode == "" && apart == "" && r.FromLog() && len(s.Inputs) > 1 {
		say(c, "-s and -e leave out %s of each of %d logs; if they are parts of one log, -times all counts in all of them together", cut(r), len(s.Inputs))
	}
	return FindSteady(c, s)
}

// cut says what a range that counts from a log leaves out of it.
func cut(r scan.Range) string {
	var parts []string
	for _, bound := range []struct {
		*scan.Bound
		texts map[scan.Origin]string
	}{
		{r.From, map[scan.Origin]string{scan.LogStart: "the first %v", scan.LogEnd: "all but the last %v"}},
		{r.To, map[scan.Origin]string{scan.LogStart: "what comes after the first %v", scan.LogEnd: "the last %v"}},
	} {
		if bound.Bound != nil && bound.texts[bound.Origin] != "" {
			parts = append(parts, fmt.Sprintf(bound.texts[bound.Origin], time.Duration(math.Abs(bound.Seconds)*float64(time.Second))))
		}
	}
	return strings.Join(parts, " and ")
}

// findEnds finds where each log starts and ends, or all of them together. It reads them once more
// for that.
func findEnds(s *scan.Scan, together bool) error {
	first, last := math.Inf(1), int64(math.MinInt64)
	for n := range s.Inputs {
		input := &s.Inputs[n]
		if input.Once {
			what := "from the end of"
			if together {
				what = "with -times all in"
			}
			return Usagef("-s and -e cannot count %s %s, which can be read only once", what, input.Name)
		}
		file, err := input.Open()
		if err != nil {
			return err
		}
		input.End = math.MinInt64
		log := input.NewReader(file)
		for log.Scan() {
			if r := log.Record(); r.Kind == hdrlog.IntervalRecord {
				first, input.End = min(first, r.Interval.LogStart), max(input.End, scan.EndMillis(&r.Interval))
			}
		}
		file.Close()
		if err := log.Err(); err != nil {
			return fmt.Errorf("%s: %w", input.Name, err)
		}
		last = max(last, input.End)
	}
	for n := range s.Inputs {
		if together {
			s.Inputs[n].Start, s.Inputs[n].End = &first, last
		}
	}
	return nil
}
