package logs

import (
	"fmt"
	"math"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/message"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/scan"
)

// Omission is the value of -co: how to correct counts for coordinated omission.
type Omission struct {
	// Expected is the time from one value to the next if the recorder never waits, 0 for no
	// correction. It is in Unit or, if Unit is 0, in the unit of the log.
	Expected float64
	Unit     hdrlog.Unit
}

// ParseOmission parses the value of -co: a number, or a length of time such as 10ms or 1m30s.
func ParseOmission(text string) (Omission, error) {
	value, in, err := unit.ParseValue(text)
	if length, lengthErr := time.ParseDuration(text); err != nil && lengthErr == nil {
		value = float64(length)
		in = hdrlog.Nanosecond
		err = nil
	}
	if err == nil && (!(value > 0) || math.IsInf(value, 1)) {
		err = message.Usagef("-co %v: give a number above 0", value)
	}
	return Omission{Expected: value, Unit: in}, err
}

func (o *Omission) String() string { return fmt.Sprintf("-co %v%s", o.Expected, o.Unit) }

// headerSize is the number of bytes of a log that are read to find its unit.
const headerSize = 64 << 10

// set lets a scan correct its intervals. UnitOf is [Inputs.UnitOf]. It returns an error if the unit
// of a log is needed and unknown, or if logs differ in their units.
func (o *Omission) set(s *scan.Scan, unitOf func(log string) (hdrlog.Unit, bool)) error {
	s.Correction = scan.Correction{Expected: o.Expected, UnitGiven: o.Unit != 0}
	if o.Expected == 0 || o.Unit == 0 {
		return nil
	}
	all := unit.Finder{Given: unitOf}
	for n := range s.Inputs {
		if err := readHeader(&all, &s.Inputs[n]); err != nil {
			return err
		}
	}
	var first hdrlog.Unit
	for n := range s.Inputs {
		name := s.Inputs[n].Name
		in := all.OfLog(name)
		switch {
		case in == 0:
			return message.Usagef("%s: %s does not state its unit: -in %s gives it", o, name, inOption(name, "UNIT"))
		case n == 0:
			first = in
		case in != first:
			return message.Usagef("%s: the values of %s are in %s, those of %s in %s: correct them one at a time", o,
				s.Inputs[0].Name, first, name, in)
		}
	}
	if len(s.Inputs) > 0 {
		s.Correction.Expected = o.Expected * first.Per(o.Unit)
	}
	return nil
}

// readHeader looks for the unit of an input in the comments at its beginning. The input can still
// be read from its beginning afterwards.
func readHeader(f *unit.Finder, input *scan.Input) error {
	text, err := input.Peek(headerSize)
	if err == nil {
		findUnit(f, input.Name, text)
	}
	return err
}
