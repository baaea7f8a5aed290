package cli

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"hdrkit/internal/scan"
	"hdrkit/internal/scan/rotate"
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
	if steady(r) && (c.Bool("follow") || c.Bool("compare") || c.Bool("diff")) {
		return r, Usagef("-s steady looks for the end of the warm-up of one run that has ended: it does not go with -follow, -compare or -diff")
	}
	if r.From != nil && r.From.Origin == scan.Now && !c.Bool("follow") {
		return r, Usagef("-s now begins with what is recorded from now on: it needs -follow")
	}
	return r, nil
}

// fromNow replaces a bound now by the start of the next window of size milliseconds: no row of it
// can have more in an earlier run. It is the default of -push without -state, which keeps no rows.
func fromNow(c *cli.Context, r *scan.Range, size int64) {
	implied := !Given(c, "s") && c.String("push") != "" && c.String("state") == ""
	if implied {
		r.From = &scan.Bound{Origin: scan.Now}
	}
	if r.From == nil || r.From.Origin != scan.Now {
		return
	}
	at := time.Now().UnixMilli()
	if size > 0 {
		at += size - 1 - (at+size-1)%size
	}
	r.From.Seconds = float64(at) / 1000
	if implied {
		say(c, "leaving out intervals that start before %s; -from start sends them too, and -state FILE continues after a restart",
			time.UnixMilli(at).Format(time.TimeOnly))
	}
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

// findTimes finds the times that -s and -e count from in each log. Logs that are parts of a rotated
// one count from its start and its end, unless each log is to be seen by itself.
func findTimes(c *cli.Context, s *scan.Scan) error {
	mode, apart := "", ""
	for _, name := range []string{"compare", "diff", "r"} {
		if c.Bool(name) {
			apart = name
		}
	}
	if Given(c, "times") {
		var err error
		if mode, err = OneOf(c, "times"); err != nil {
			return err
		}
		switch {
		case !s.Selection.Range.FromLog():
			return Usagef("-times says what -s and -e count from, and neither counts from the start or the end of a log")
		case apart != "":
			return Usagef("-times and -%s do not go together: -%s looks at each log by itself", apart, apart)
		}
	}
	if err := findEnds(s); err != nil {
		return err
	}
	if !c.Bool("runs") { // each run has its own start
		if err := FindSteady(c, s); err != nil {
			return err
		}
	}
	if !s.Selection.Range.FromLog() || mode == timesEach || apart != "" || len(s.Inputs) < 2 {
		return nil
	}
	chains, logs, err := rotate.Find(s.Inputs)
	if err != nil {
		return err
	}
	if mode == timesAll {
		chains, err = allOf(s.Inputs, logs)
		if err != nil {
			return err
		}
	}
	for _, chain := range chains {
		first, end := chain[0], int64(math.MinInt64)
		var names []string
		for _, n := range chain {
			end = max(end, s.Inputs[n].End)
			names = append(names, s.Inputs[n].Name)
		}
		for _, n := range chain {
			s.Inputs[n].Start, s.Inputs[n].End = &logs[first].Start, end
		}
		if mode == "" {
			say(c, "%s follow each other as parts of one log: -s and -e count from the start of the first one and the end of the last one; -times each lets them count in each log", list(names))
		}
	}
	return nil
}

// allOf returns one chain of all logs that have intervals, in the order of their starts.
func allOf(inputs []scan.Input, logs []*rotate.Log) ([][]int, error) {
	var all []int
	for n, l := range logs {
		if l == nil {
			return nil, Usagef("-times all needs to know when %s starts, which can be read only once", inputs[n].Name)
		}
		if l.Any() {
			all = append(all, n)
		}
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(logs[a].Start, logs[b].Start) })
	if len(all) == 0 {
		return nil, nil
	}
	return [][]int{all}, nil
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
		log, err := rotate.Look(input, math.MaxInt64)
		if err != nil {
			return err
		}
		input.End = log.End
	}
	return nil
}
