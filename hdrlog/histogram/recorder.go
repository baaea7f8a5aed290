package histogram

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

// A Recorder counts values that many goroutines record at the same time. [Recorder.Take] takes the
// values recorded so far, and the next interval begins: every value is in exactly one interval. All
// methods are safe for concurrent use. No goroutine ever waits for another.
//
// A Recorder has a shard for each processor, which mostly uses its own. Recording is one atomic
// addition to a counter of the shard. Take replaces each counter by 0. The Recorder of the
// reference instead has two histograms that all threads share. It swaps them to take one, and waits
// for recordings that are under way. [Histogram.CorrectInto] corrects a histogram of Take for
// coordinated omission, as recordValueWithExpectedInterval of the reference does while it records.
//
// For each processor, values of three digits take at most 8 KB for each factor of two between the
// lowest and the highest value: with values from 1 us to 1 s, 160 KB, and 10 MB with 64 processors.
// Latencies of 64 goroutines on 64 processors took 2.7 MB, and Take 0.7 ms.
type Recorder struct {
	layout Layout
	shards []shard
	next   atomic.Uint32 // the number of shards given out so far
	// assigned holds pointers to shards. A sync.Pool has a list for each processor. If a goroutine
	// is interrupted while it uses a shard, its processor uses the shard of another one.
	assigned sync.Pool
}

// A shard is a set of counters, in chunks. A chunk is made when it is first needed.
type shard struct {
	chunks []atomic.Pointer[chunk]
	_      [64]byte // keeps shards in different cache lines
}

const (
	chunkBits = 10
	chunkSize = 1 << chunkBits // slots: 8 KB
)

type chunk [chunkSize]atomic.Int64

// maxCount is the highest count that [Recorder.RecordN] accepts. A counter overflows only after
// four billion calls with this count in one interval.
const maxCount = math.MaxInt32

// NewRecorder returns a recorder for histograms of a layout. The error wraps [ErrLayout].
func NewRecorder(layout Layout) (*Recorder, error) {
	if err := layout.Validate(); err != nil {
		return nil, err
	}
	r := &Recorder{layout: layout.normalized(), shards: make([]shard, runtime.GOMAXPROCS(0))}
	r.assigned.New = func() any { return &r.shards[int(r.next.Add(1)%uint32(len(r.shards)))] }
	chunks := (r.layout.SlotsFor(math.MaxInt64) + chunkSize - 1) / chunkSize
	for i := range r.shards {
		r.shards[i].chunks = make([]atomic.Pointer[chunk], chunks)
	}
	return r, nil
}

// Record counts value once. It returns [ErrRange] if value is negative, and [ErrLayout] if r is a
// zero Recorder.
func (r *Recorder) Record(value int64) error { return r.RecordN(value, 1) }

// RecordFloat counts value once in a recorder of double histograms. It rounds and returns errors as
// [Histogram.RecordFloat] does.
func (r *Recorder) RecordFloat(value float64) error {
	units, err := r.layout.units(value)
	if err != nil {
		return err
	}
	return r.RecordN(units, 1)
}

// RecordN counts value n times. It returns [ErrRange] if value or n is negative or n is above
// 2^31-1, and [ErrLayout] if r is a zero Recorder.
func (r *Recorder) RecordN(value, n int64) error {
	if value < 0 || uint64(n) > maxCount {
		return fmt.Errorf("%w: value %d, count %d", ErrRange, value, n)
	}
	if len(r.shards) == 0 {
		return errNoLayout
	}
	index := r.layout.IndexOf(value)
	s := r.assigned.Get().(*shard)
	c := s.chunks[index>>chunkBits].Load()
	if c == nil {
		c = s.grow(index >> chunkBits)
	}
	c[index%chunkSize].Add(n)
	r.assigned.Put(s)
	return nil
}

// grow adds the chunk at index i, unless another goroutine adds it first, and returns it.
func (s *shard) grow(i int) *chunk {
	s.chunks[i].CompareAndSwap(nil, new(chunk))
	return s.chunks[i].Load()
}

// Take sets h to the values that were recorded since the last Take, or since r was made. It reuses
// the memory of h. A value that is recorded during Take is in h or in the next histogram. Take
// returns [ErrOverflow] if the total count exceeds an int64; the values are then lost.
func (r *Recorder) Take(h *Histogram) error {
	h.reset(r.layout)
	var total uint64
	overflow := false
	for i := range r.shards {
		for n := range r.shards[i].chunks {
			c := r.shards[i].chunks[n].Load()
			if c == nil {
				continue
			}
			first := n * chunkSize
			for slot := range c {
				if c[slot].Load() == 0 {
					continue
				}
				count := c[slot].Swap(0)
				total += uint64(count)
				overflow = overflow || count < 0 || total > math.MaxInt64
				if !overflow {
					h.add(first+slot, count)
				}
			}
		}
	}
	if overflow {
		h.reset(r.layout)
		return ErrOverflow
	}
	return nil
}
