package measure

import (
	"errors"
	"fmt"
	"hash/maphash"
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
	cumulative bool                 // each count is that of all values so far
	last       map[uint64]edgeCount // by the hash of the tag: tags may be long
	seed       maphash.Seed
	// Of two values in turn, low and high are furthest apart, as a share of high.
	low, high int64
	unsorted  bool
}

// An edgeCount is a value and its count.
type edgeCount struct{ value, count int64 }

// take makes the count of a row its own, and notes how far it is from the last value of its tag.
func (b *buckets) take(row *Row) error {
	tag := maphash.Bytes(b.seed, row.Tag)
	last := b.last[tag]
	now := edgeCount{row.Value, row.Count}
	if b.cumulative {
		if row.Count < last.count {
			return fmt.Errorf("%w: %d", errCumulative, row.Count)
		}
		row.Count -= last.count
	}
	if row.Value == unbounded {
		if row.Count > 0 {
			return fmt.Errorf("%d %w", row.Count, errUnbounded)
		}
		return nil
	}
	if len(b.last) < maxTags {
		b.last[tag] = now
	}
	b.unsorted = b.unsorted || now.value < last.value
	if last.value > 0 && float64(now.value-last.value)/float64(now.value) > b.width() {
		b.low = last.value
		b.high = now.value
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
