package logs

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/message"
	"hdrkit/internal/scan"
)

// Times say which intervals to use by their times, in the grammar of -s and -e.
type Times struct {
	From, To string // empty for no bound
	Zone     *time.Location
	// Mode is what the bounds count from: [EachLog], [AllLogs], or empty for each log with a note.
	Mode string
	// Apart is the option that looks at each log by itself, if one does.
	Apart string
	// EachRun is set if each log is a run that has its own start.
	EachRun bool
	// Steady lets a scan begin where its logs are steady, and returns what to say. It is nil if the
	// command has no such start.
	Steady func(s *scan.Scan) (notice string, err error)
}

// The values of -times.
const EachLog, AllLogs = "each", "all"

// ParseZone returns the zone of time that a text names.
func ParseZone(name string) (*time.Location, error) {
	for _, layout := range []string{"-07:00", "-0700", "-07"} { // an offset
		if at, err := time.Parse(layout, name); err == nil {
			_, offset := at.Zone()
			return time.FixedZone("UTC"+name, offset), nil
		}
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" {
		return nil, message.Usagef("-tz %q is no zone of time: give a name such as Europe/Berlin, "+
			"UTC or Local, or an offset such as +02:00", name)
	}
	return zone, nil
}

// span returns the range of -s and -e.
func (t *Times) span() (r scan.Range, err error) {
	if r, err = scan.ParseRange(t.From, t.To, cmp.Or(t.Zone, time.UTC)); err != nil {
		return r, message.Usagef("%w", err)
	}
	if steady(r) && t.Apart == "compare" {
		return r, message.Usagef("-s steady looks for the end of the warm-up of one run: it does not go with -compare")
	}
	return r, nil
}

// steady reports whether a range begins where the logs become steady.
func steady(r scan.Range) bool { return r.From != nil && r.From.Origin == scan.Steady }

// FindSteady finds where the logs of a scan become steady, if -s says so. It reads them once more.
// All tags and logs have the same start, so that they can be compared.
func (t *Times) FindSteady(std *message.Streams, s *scan.Scan) error {
	if !steady(s.Selection.Range) {
		return nil
	}
	for n := range s.Inputs {
		if s.Inputs[n].Once {
			return message.Usagef("-s steady reads logs twice, and %s can be read only once", s.Inputs[n].Name)
		}
	}
	if t.Steady == nil {
		return message.Usagef("-s steady: hdrsum and hdrplot find where a run becomes steady; then give the time")
	}
	notice, err := t.Steady(s)
	if err != nil {
		return fmt.Errorf("-s steady: %w", err)
	}
	std.Say("%s", notice)
	return nil
}

// find finds the times that -s and -e count from: those of each log or, with -times all, those
// of all logs together.
func (t *Times) find(std *message.Streams, s *scan.Scan) error {
	r := s.Selection.Range
	switch {
	case t.Mode == "":
	case !r.FromLog():
		return message.Usagef("-times says what -s and -e count from, and neither counts from the " +
			"start or the end of a log")
	case t.Apart != "":
		return message.Usagef("-times and -%s do not go together: -%s looks at each log by itself", t.Apart, t.Apart)
	}
	if r.FromEnd() || t.Mode == AllLogs {
		if err := findEnds(s, t.Mode == AllLogs); err != nil {
			return err
		}
	}
	if t.EachRun {
		return nil
	}
	if t.Mode == "" && t.Apart == "" && r.FromLog() && len(s.Inputs) > 1 {
		std.Say("-s and -e leave out %s of each of %d logs; if they are parts of one log, -times "+
			"all counts in all of them together", cut(r), len(s.Inputs))
	}
	return t.FindSteady(std, s)
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
			return message.Usagef("-s and -e cannot count %s %s, which can be read only once", what, input.Name)
		}
		input.End = math.MinInt64
		err := input.Look(0, func(r *hdrlog.Record) bool {
			if r.Kind == hdrlog.IntervalRecord {
				first = min(first, r.Interval.LogStart)
				input.End = max(input.End, scan.EndMillis(&r.Interval))
			}
			return true
		})
		if err != nil {
			return err
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
