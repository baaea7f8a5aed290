package measure

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"time"
)

// edge is the name of the column of Prometheus that has the upper edge of a bucket. Its counts are
// those of all values up to that edge.
const edgeColumn = "le"

// unbounded is the value of a bucket without an upper edge.
const unbounded = math.MaxInt64

var (
	errUnbounded  = errors.New("nobody knows what they are; -above VALUE records them as VALUE")
	errLowAbove   = errors.New("-above is not above the highest edge")
	errCumulative = errors.New("fewer values than up to the edge before")
	errEqualEdges = errors.New("an edge comes twice with different counts; -tag names columns that tell series apart")
	errOneEdge    = errors.New("a series has one edge alone; sort the rows of a series by their edges")
)

// buckets are the rows of a file with counts.
type buckets struct {
	cumulative bool                 // each count is that of all values so far
	above      int64                // value of those above the highest edge, 0 if it is not known
	lastEdges  map[uint64]edgeCount // by the hash of the tag: tags may be long
	seed       maphash.Seed

	// Values are counted, of which unknown are above the highest edge, and not known. Wrong says
	// why the counts of the file cannot be right.
	values, unknown int64
	wrong           error
	// Of two values in turn, low and high are furthest apart, as a share of high.
	low, high int64
}

// An edgeCount is a value and its count. More is set if the series has lower edges.
type edgeCount struct {
	value, count int64
	hasLower     bool
}

// take makes the count of a row its own, and notes how far it is from the last value of its tag. A
// lower edge than the last one begins another series.
func (b *buckets) add(row *Row) error {
	tag := maphash.Bytes(b.seed, row.Tag)
	last, known := b.lastEdges[tag]
	now := edgeCount{value: row.Value, count: row.Count}
	if b.cumulative && known && now.value < last.value {
		b.endSeries(last)
		last = edgeCount{}
	} else if b.cumulative && known {
		now.hasLower = last.hasLower || now.value > last.value
	}
	if b.cumulative {
		switch {
		case now.count < last.count:
			return fmt.Errorf("%w: %d", errCumulative, now.count)
		case known && now.value == last.value && now.count > last.count:
			b.wrong = cmp.Or(b.wrong, errEqualEdges)
		}
		row.Count -= last.count
	}
	if len(b.lastEdges) < maxTags {
		b.lastEdges[tag] = now
	}
	b.values += row.Count
	if now.value == unbounded {
		b.addUnbounded(row, last)
		return nil
	}
	if last.value > 0 && float64(now.value-last.value)/float64(now.value) > b.width() {
		b.low = last.value
		b.high = now.value
	}
	return nil
}

// beyond takes the values above the highest edge.
func (b *buckets) addUnbounded(row *Row, highest edgeCount) {
	row.Value = b.above
	switch {
	case row.Count == 0:
	case b.above == 0:
		b.unknown += row.Count
		row.Count = 0
	case b.above <= highest.value:
		b.wrong = cmp.Or(b.wrong, fmt.Errorf("%w, which is %v", errLowAbove, time.Duration(highest.value)))
	}
}

// close ends a series.
func (b *buckets) endSeries(last edgeCount) {
	if !last.hasLower && last.count > 0 {
		b.wrong = cmp.Or(b.wrong, errOneEdge)
	}
}

// end returns what is wrong with all series.
func (b *buckets) end() error {
	if b.cumulative {
		for _, last := range b.lastEdges {
			b.endSeries(last)
		}
	}
	if b.wrong == nil && b.unknown > 0 {
		return fmt.Errorf("%d of %d values are above the highest edge, and %w", b.unknown, b.values, errUnbounded)
	}
	return b.wrong
}

// width is the share of the widest bucket.
func (b *buckets) width() float64 {
	if b.high == 0 {
		return 0
	}
	return float64(b.high-b.low) / float64(b.high)
}

// Loss says what the values lack: how exact they are. It says nothing if they lack nothing.
func (r *Reader) Inexactness() string {
	b := r.parser.buckets
	switch {
	case r.parser.setup.options.Columns.Value == "%T" || r.parser.setup.options.Columns.Value == "%{s}T":
		return "all values are whole seconds, rounded down; %D logs microseconds"
	case b == nil, !b.cumulative && r.given.Columns.Count == "":
		return ""
	case !b.cumulative:
		return "if its rows are buckets, all values of a bucket are taken as its value"
	case b.high == 0:
		return "all values of a bucket are taken as its value"
	}
	return fmt.Sprintf("all values of a bucket are taken as its value; the widest is from %v to %v, "+
		"so a percentile there may be %.0f%% off",
		time.Duration(b.low), time.Duration(b.high), 100*(float64(b.high)/float64(b.low)-1))
}
