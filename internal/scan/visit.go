package scan

import (
	"fmt"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
)

// A Visit is one interval that a scan hands over. An interval in several phases is visited once for
// each of them.
type Visit struct {
	*hdrlog.Interval
	Place
	// Row is the name of the row that [Rows.By] puts the interval in: its tag by default.
	Row []byte
	// Part identifies what ran during the interval: its input or, if there are phases, the span of
	// time of its input. It is the number of the input if there are no phases.
	Part int
	// Again reports that the interval is in several phases, and that another one had its visit
	// before.
	Again bool
}

// Span returns when the interval starts and ends, in milliseconds since the epoch. It does not end
// before it starts.
func (v Visit) Span() (start, end int64) {
	start = v.StartMillis()
	return start, max(start, v.EndMillis())
}

// PassedAfter returns the time that an input has passed once an interval with this start and end
// was read, see [Scan.HasPassed]: the start minus the length of the interval.
func PassedAfter(start, end int64) int64 { return 2*start - end }

// Kinds are the places of the first interval of integers and of the first interval of doubles of a
// tag. Integers and doubles do not add up. The zero value has no intervals. The result does not
// depend on the order in which intervals are added.
type Kinds struct{ integer, double Place }

// Add adds an interval. Double reports that its values are doubles.
func (k *Kinds) Add(double bool, at Place) {
	if double {
		k.Merge(Kinds{double: at})
	} else {
		k.Merge(Kinds{integer: at})
	}
}

// Merge adds the intervals of other.
func (k *Kinds) Merge(other Kinds) {
	if other.integer.before(k.integer) {
		k.integer = other.integer
	}
	if other.double.before(k.double) {
		k.double = other.double
	}
}

// Err returns an error if there are intervals of both kinds. It wraps [histogram.ErrKind] and names
// the first interval of each kind.
func (k *Kinds) Err() error {
	if k.integer.Line == 0 || k.double.Line == 0 {
		return nil
	}
	return fmt.Errorf("%w: integers at %s, doubles at %s", histogram.ErrKind, k.integer, k.double)
}
