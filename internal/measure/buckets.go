package measure

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"time"
)

// edgeColumn is Prometheus's name for the upper edge of a bucket. If a column has this name, each
// count includes the counts of all lower buckets.
const edgeColumn = "le"

// unbounded is the value of a row whose bucket has no upper edge.
const unbounded = math.MaxInt64

var (
	errUnbounded  = errors.New("nobody knows what they are; -above VALUE records them as VALUE")
	errLowAbove   = errors.New("-above is not above the highest edge")
	errCumulative = errors.New("fewer values than up to the edge before")
	errEqualEdges = errors.New("an edge comes twice with different counts; -tag names columns that tell series apart")
	errOneEdge    = errors.New("a series has one edge alone; sort the rows of a series by their edges")
)

// buckets check the counts of a file with a column of counts. If counts are cumulative, they make
// the count of each bucket.
type buckets struct {
	cumulative bool                 // each count includes the counts of lower buckets
	above      int64                // the value to record for values above the highest edge, 0 if no option says it
	lastEdges  map[uint64]edgeCount // the last row of each tag, by the tag's hash: tags may be long
	seed       maphash.Seed

	// values is the number of values so far. unknown is the number of values above the highest edge
	// for which no value was recorded. wrong says why the counts of the file cannot be right.
	values, unknown int64
	wrong           error
	// low and high are the edges of the bucket that is widest in relation to its upper edge.
	low, high int64
}

// An edgeCount is the edge and the count of a row. hasLower reports that its series has lower
// edges.
type edgeCount struct {
	value, count int64
	hasLower     bool
}

// add makes the count of a row that of its bucket alone. An edge below the last edge of its tag
// begins another series.
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

// addUnbounded sets the value of a row whose bucket has no upper edge. highest is the row before.
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

// endSeries checks a series whose last row is last.
func (b *buckets) endSeries(last edgeCount) {
	if !last.hasLower && last.count > 0 {
		b.wrong = cmp.Or(b.wrong, errOneEdge)
	}
}

// end is called after the last row. It returns an error if the counts of the file cannot be right,
// or if values have no value to record.
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

// width is the width of the widest bucket, as a share of its upper edge.
func (b *buckets) width() float64 {
	if b.high == 0 {
		return 0
	}
	return float64(b.high-b.low) / float64(b.high)
}

// Inexactness says how exact the values are, for a warning. It is empty for exact values.
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
