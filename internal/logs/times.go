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

// Times are the options that select intervals by their times.
type Times struct {
	From, To string // the values of -s and -e, empty for no bound
	Zone     *time.Location
	// Mode is the value of -times: whether bounds count from the start and end of each log
	// ([EachLog]) or of all logs together ([AllLogs]). If it is empty, they count from each log,
	// and a message says that.
	Mode string
	// SeparateOption is the name of the option by which the command reads each log by itself, such
	// as "compare", or empty.
	SeparateOption string
	// EachRun reports that each log is a run with a start of its own: [Times.FindSteady] is called
	// for each run.
	EachRun bool
	// Steady changes the range of a scan to begin where its logs become steady, and returns a
	// message about it. It is nil if the command does not support -s steady.
	Steady func(s *scan.Scan) (notice string, err error)
}

// The values of -times.
const EachLog, AllLogs = "each", "all"

// ParseZone returns the time zone that a text names.
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

// span returns the range of -s and -e, or an error if the command does not support it.
func (t *Times) span() (r scan.Range, err error) {
	if r, err = scan.ParseRange(t.From, t.To, cmp.Or(t.Zone, time.UTC)); err != nil {
		return r, message.Usagef("%w", err)
	}
	if beginsSteady(r) && t.SeparateOption == "compare" {
		return r, message.Usagef("-s steady looks for the end of the warm-up of one run: it does not go with -compare")
	}
	return r, nil
}

// beginsSteady reports whether a range is that of -s steady.
func beginsSteady(r scan.Range) bool { return r.From != nil && r.From.Origin == scan.Steady }

// FindSteady replaces the start of the range of a scan by the time when its logs become steady, if
// the user gives -s steady. It reads the logs once more. All tags and logs get the same start, so
// that they can be compared.
func (t *Times) FindSteady(std *message.Streams, s *scan.Scan) error {
	if !beginsSteady(s.Selection.Range) {
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

// find finds the times from which -s and -e count: start and end of each log or, with -times all,
// of all logs together.
func (t *Times) find(std *message.Streams, s *scan.Scan) error {
	r := s.Selection.Range
	switch {
	case t.Mode == "":
	case !r.FromLog():
		return message.Usagef("-times says what -s and -e count from, and neither counts from the " +
			"start or the end of a log")
	case t.SeparateOption != "":
		return message.Usagef("-times and -%s do not go together: -%s looks at each log by itself", t.SeparateOption, t.SeparateOption)
	}
	if r.FromEnd() || t.Mode == AllLogs {
		if err := findEnds(s, t.Mode == AllLogs); err != nil {
			return err
		}
	}
	if t.EachRun {
		return nil
	}
	if t.Mode == "" && t.SeparateOption == "" && r.FromLog() && len(s.Inputs) > 1 {
		std.Say("-s and -e leave out %s of each of %d logs; if they are parts of one log, -times "+
			"all counts in all of them together", leftOutBy(r), len(s.Inputs))
	}
	return t.FindSteady(std, s)
}

// leftOutBy returns what a range that counts from the start or end of a log leaves out of the log.
func leftOutBy(r scan.Range) string {
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

// findEnds sets the start and the end of each input for the range: its own, or those of all logs
// together. It reads the logs once more.
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
