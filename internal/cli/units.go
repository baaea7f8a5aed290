package cli

import (
	"bytes"
	"fmt"
	"math"

	"github.com/urfave/cli/v2"

	"hdrkit/hdrlog"
	"hdrkit/internal/scan"
	"hdrkit/internal/unit"
)

// UnitFlags are the options that say in which unit values are, and in which unit to print them.
func UnitFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "unit", Category: GroupValues,
			Usage: "print values in this `UNIT`: ns, us, ms or s; with -ovr, any name of the unit of the results"},
		&cli.StringFlag{Name: "in", Category: GroupValues,
			Usage: "the `UNIT` of values in the logs: ns, us, ms or s", DefaultText: "the unit that the log states or its writer uses"},
	}
}

// Units find out in which unit the values of logs are, and how to print them.
type Units struct {
	Options unit.Options
	finder  unit.Finder
	c       *cli.Context
	warned  bool
	used    unit.Unit // of the logs, in values that may have been printed
}

// NewUnits returns the units that the options -in, -unit and -ovr ask for.
func NewUnits(c *cli.Context) (*Units, error) {
	u := &Units{Options: unit.Options{Unit: c.String("unit")}, c: c}
	if Given(c, "ovr") {
		ratio := c.Float64("ovr")
		if !(ratio > 0) || math.IsInf(ratio, 1) {
			return nil, Usagef("-ovr %v: values can only be divided by a positive number", ratio)
		}
		u.Options.Ratio = ratio
	}
	if in := c.String("in"); in != "" {
		var err error
		if u.Options.In, err = unit.ParseOption(in); err != nil {
			return nil, Usagef("-in: %w", err)
		}
	}
	if err := u.Options.Validate(); err != nil {
		return nil, Usagef("-unit: %w", err)
	}
	return u, nil
}

// Watch has the comments of a scan's logs read for their unit.
func (u *Units) Watch(s *scan.Scan) {
	s.Comment = func(input int, text []byte) error { return u.Comment(s.Inputs[input].Name, text) }
}

// Comment reads a comment of a log for its unit. It returns an error if values may have been
// printed that were taken to be in another unit.
func (u *Units) Comment(log string, text []byte) error {
	u.finder.Comment(log, text)
	if u.used == (unit.Unit{}) || u.Options.In != (unit.Unit{}) {
		return nil
	}
	found, err := u.finder.Unit()
	if err == nil && found != (unit.Unit{}) && found != u.used {
		err = fmt.Errorf("the values of %s are in %s, but were taken as %s", log, found, u.used)
	}
	if err != nil {
		return fmt.Errorf("%w: -in says which is right for all", err)
	}
	return nil
}

// Header reads the comments at the beginning of a log for its unit. Begin may end anywhere, and may
// be compressed.
func (u *Units) Header(log string, begin []byte) {
	reader := hdrlog.NewReader(bytes.NewReader(begin), log)
	defer reader.Close()
	for reader.Scan() {
		switch record := reader.Record(); record.Kind {
		case hdrlog.Comment:
			u.finder.Comment(log, record.Text)
		case hdrlog.IntervalRecord:
			return
		}
	}
}

// PrintedRatio returns what to divide values by that were printed before: the ratio of -ovr.
func (u *Units) PrintedRatio() float64 {
	if u.Options.Ratio == 0 {
		return 1
	}
	return u.Options.Ratio
}

// Scale returns how to print values, by the comments read so far. If the unit must be known and is
// not, it is assumed to be nanoseconds, and a message says so once.
func (u *Units) Scale(mustKnow bool) (unit.Scale, error) {
	asked := mustKnow || u.Options.Unit != "" && u.Options.Ratio == 0
	found, err := u.finder.Unit()
	if err != nil {
		if asked && u.Options.In == (unit.Unit{}) {
			return unit.Scale{}, fmt.Errorf("%w: -in says which is right for all", err)
		}
		found = unit.Unit{}
	}
	s := u.Options.Scale(found)
	if mustKnow && s.In == (unit.Unit{}) {
		s.In, s.Notice = unit.Nanosecond, unit.ErrAssumed
	}
	if asked {
		u.used = s.In
	}
	if s.Notice != nil && !u.warned {
		u.warned = true
		fmt.Fprintf(u.c.App.ErrWriter, "%s: %v\n", u.c.App.Name, s.Notice)
	}
	return s, nil
}
