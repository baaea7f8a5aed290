package compare

import (
	"fmt"
	"slices"

	"hdrkit/hdrlog/confidence"
	"hdrkit/internal/base/message"
	"hdrkit/internal/logs"
	"hdrkit/internal/scan"
)

// Sides are the logs before and after a change.
type Sides struct {
	Before, After *scan.Scan
	// Runs is set if each side has several runs. Otherwise the logs of a side add up to one run.
	Runs bool
}

// minRuns is the least number of runs a side that show how runs vary.
const minRuns = 3

// addHistory adds further runs of the version before to the side before, if these are enough to
// show how runs vary.
func (s *Sides) addHistory(std *message.Streams, d *logs.Diagnostics, o *logs.Options, names []string) error {
	history, err := o.Other(std, d, s.Before, names)
	if err != nil {
		return fmt.Errorf("-noise: %w", err)
	}
	known := make(map[string]bool)
	for _, in := range s.Before.Inputs {
		known[in.Name] = true
	}
	further := slices.DeleteFunc(history.Inputs, func(in scan.Input) bool { return known[in.Name] })
	all := *s.Before
	all.Inputs = slices.Concat(further, all.Inputs)
	if runs := len(all.Runs()); runs < confidence.MinHistory {
		d.Warnf("%d runs before are too few to tell how runs vary, which takes %d: this compares without -noise %s",
			runs, confidence.MinHistory, message.List(names))
		return nil
	}
	s.Before = &all
	return nil
}

// Names are the names of the logs of both sides, as somebody typed them.
type Names struct {
	Before, After []string
	// History are names of further runs of the version before.
	History []string
	// Sum makes one run of each side.
	Sum bool
}

// Split sets the names of both sides. Names are either two arguments, or OLD... -- NEW..., of which
// the first before names are old.
func (n *Names) Split(names []string, before int) error {
	if before == 0 && len(names) == 2 {
		before = 1
	}
	if before == 0 || before == len(names) {
		return message.Usagef("give two arguments, before and after: a log each, or a "+
			"folder or pattern of runs each; there are %d. OLD... -- NEW... takes several", len(names))
	}
	n.Before, n.After = names[:before], names[before:]
	return nil
}

// FindSides finds the logs of both sides. It returns an error if the numbers of runs do not suit a
// comparison.
func FindSides(std *message.Streams, d *logs.Diagnostics, o *logs.Options, names Names) (s Sides, err error) {
	o.Inputs.Names = names.Before
	if s.Before, err = o.Scan(std, d); err != nil {
		return s, err
	}
	if s.After, err = o.Other(std, d, s.Before, names.After); err != nil {
		return s, err
	}
	if names.History != nil {
		if err := s.addHistory(std, d, o, names.History); err != nil {
			return s, err
		}
	}
	for n := range s.After.Inputs {
		in := &s.After.Inputs[n]
		if in.Once && slices.ContainsFunc(s.Before.Inputs, func(other scan.Input) bool { return other.Once && other.Same(in) }) {
			return s, message.Usagef("%s can be read only once, and is on both sides", in.Name)
		}
	}
	before, after := len(s.Before.Runs()), len(s.After.Runs())
	s.Runs = !names.Sum && before+after > 2
	switch {
	case !s.Runs:
	case after == 1 && before >= confidence.MinHistory:
	case before == 1 || after == 1:
		return s, message.Usagef("%d before and %d after: give a log each, or several runs each, as "+
			"two folders or two patterns, or %d runs before and one after; hdrdiff -sum adds up the logs of a side",
			before, after, confidence.MinHistory)
	case min(before, after) < minRuns:
		d.Warnf("%d runs before and %d after are too few to tell how runs vary, which takes %d on "+
			"each side: this compares their sums as one run with one", before, after, minRuns)
		s.Runs = false
	}
	return s, nil
}

// All returns a scan of the logs of both sides.
func (s *Sides) All() *scan.Scan {
	all := *s.Before
	all.Inputs = slices.Concat(s.Before.Inputs, s.After.Inputs)
	return &all
}
