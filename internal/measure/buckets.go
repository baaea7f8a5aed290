package measure

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// edge is the name of the column of Prometheus that has the upper edge of a bucket. Its counts are
// those of all values up to that edge.
const edge = "le"

// unbounded is the value of a bucket without an upper edge.
const unbounded = math.MaxInt64

var (
	errUnbounded  = errors.New("values are above the highest edge, and nobody knows what they are")
	errCumulative = errors.New("fewer values than up to the edge before")
)

// buckets are the rows of a file with counts.
type buckets struct {
	cumulative bool // each count is that of all values so far
	last       map[string]Row
	// Of two values in turn, low and high are furthest apart, as a share of high.
	low, high int64
	unsorted  bool
}

// take makes the count of a row its own, and notes how far it is from the last value of its tag.
func (b *buckets) take(row *Row) error {
	last := b.last[string(row.Tag)]
	now := *row
	if b.cumulative {
		if row.Count < last.Count {
			return fmt.Errorf("%w: %d", errCumulative, row.Count)
		}
		row.Count -= last.Count
	}
	if row.Value == unbounded {
		if row.Count > 0 {
			return fmt.Errorf("%d %w", row.Count, errUnbounded)
		}
		return nil
	}
	if len(b.last) < maxTags {
		b.last[string(row.Tag)] = Row{Value: now.Value, Count: now.Count}
	}
	b.unsorted = b.unsorted || now.Value < last.Value
	if last.Value > 0 && float64(now.Value-last.Value)/float64(now.Value) > b.width() {
		b.low = last.Value
		b.high = now.Value
	}
	return nil
}

// width is the share of the widest bucket.
func (b *buckets) width() float64 {
	if b.high == 0 {
		return 0
	}
	return float64(b.high-b.low) / float64(b.high)
}

// Loss says what counts of buckets lose, nothing if the file has values.
func (r *Reader) Loss() string {
	b := r.buckets
	switch {
	case b == nil:
		return ""
	case b.unsorted || b.high == 0:
		return "all values of a bucket are taken as its value"
	}
	return fmt.Sprintf("all values of a bucket are taken as its value; the widest is from %v to %v, "+
		"so a percentile there may be %.0f%% off",
		time.Duration(b.low), time.Duration(b.high), 100*(float64(b.high)/float64(b.low)-1))
}
