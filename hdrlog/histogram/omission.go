package histogram

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// ErrExpected is the error for an expected interval that is no positive number, or less than one unit in a histogram of
// integers.
var ErrExpected = errors.New("expected interval must be positive")

// CorrectInto makes into what h would have counted had its recorder not been held up by the values themselves: a
// recorder that expects to record once every expected units, and then records a longer value, has left out those that
// would have been recorded meanwhile. For each such value it counts, as often, value-expected, value-2*expected and so on
// down to expected. It is the reference's copyCorrectedForCoordinatedOmission, of which it differs only where that goes
// wrong: see [maxSteps].
//
// Expected is in the units of [Histogram.Float]; of integers its fraction is dropped, as in the reference. The
// error is [ErrExpected] or [ErrOverflow]; into is then of no use. Into may be h itself.
func (h *Histogram) CorrectInto(into *Histogram, expected float64) error {
	if into == h {
		h = h.Clone()
	}
	into.reset(h.layout)
	if err := into.Add(h); err != nil {
		return err
	}
	if h.Double() {
		return h.correctDouble(into, expected)
	}
	if !(expected >= 1) {
		return fmt.Errorf("%w: at least 1 where values are integers, not %v", ErrExpected, expected)
	}
	if expected >= 1<<63 {
		return nil // no value is longer
	}
	return h.correctIntegers(into, int64(expected))
}

// correctIntegers adds the missing values of h to into: value-step, value-2*step and so on down to step of each.
func (h *Histogram) correctIntegers(into *Histogram, step int64) error {
	if h.manyMissing(step) {
		return h.correctSlots(into, step)
	}
	for bucket := range h.Recorded() {
		for missing := bucket.High - step; missing >= step; missing -= step {
			if err := into.Record(missing, bucket.Count); err != nil {
				return err
			}
		}
	}
	return nil
}

// manyMissing reports whether it takes longer to count missing values one by one than slot by slot.
func (h *Histogram) manyMissing(step int64) bool {
	last := h.lastIndex()
	slots := float64(last - h.layout.IndexOf(step) + 1)
	missing := func(index int) float64 { return float64(h.layout.HighestAt(index)) / float64(step) }
	if slots <= 0 || missing(last)*min(slots, float64(h.total)) <= slotCost*slots {
		return false // there is no need to look at all
	}
	all := 0.0
	for i := last; i >= h.low && all <= slotCost*slots; i-- {
		if h.count(i) != 0 {
			all += missing(i)
		}
	}
	return all > slotCost*slots
}

// slotCost is how many missing values are counted one by one in the time that a slot takes: 70 ns and 3.5 ns at three digits.
// At five, where single counts miss the cache, it would be 3 (BenchmarkCorrect).
const slotCost = 20

// correctSlots adds the missing values of h to into in a time that does not depend on how many there are.
//
// Of a value v, floor((v-low)/step) missing values are at least low, which itself is at least step. That is floor(v/step)
// - floor(low/step), and one less where v leaves a smaller remainder than low does. So it takes the sums of the first over
// all v from low up, of their counts, and of the counts by remainder, and what is at least low, less what was at
// least the last low, lies in the slot that begins with low.
func (h *Histogram) correctSlots(into *Histogram, step int64) error {
	values := slices.Collect(h.Recorded())
	if err := checkMissing(values, step, into.total); err != nil {
		return err
	}
	remainders := newRemainders(values, step)
	// These may be more than 64 bits have, but their difference, a slot's count, is not, so that it is right.
	var quotients, counts, above uint64
	for i := h.layout.IndexOf(values[len(values)-1].High); ; i-- {
		low := max(h.layout.LowestAt(i), step)
		for len(values) > 0 && values[len(values)-1].High >= low {
			v := values[len(values)-1]
			values = values[:len(values)-1]
			quotients += uint64(v.Count) * uint64(v.High/step)
			counts += uint64(v.Count)
			remainders.add(v.High%step, uint64(v.Count))
		}
		missing := quotients - counts*uint64(low/step) - remainders.below(low%step)
		if missing != above {
			if err := into.Record(low, int64(missing-above)); err != nil {
				return err
			}
		}
		above = missing
		if low == step {
			return nil
		}
	}
}

// checkMissing returns [ErrOverflow] if the missing values of values, beside total ones, are more than an int64 can count.
func checkMissing(values []Bucket, step, total int64) error {
	for _, v := range values {
		hi, missing := bits.Mul64(uint64(v.Count), uint64(max(v.High/step-1, 0)))
		if hi != 0 || missing > uint64(math.MaxInt64-total) {
			return ErrOverflow
		}
		total += int64(missing)
	}
	return nil
}

// remainders is counts by the remainder that values leave, in a Fenwick tree.
type remainders struct {
	sorted []int64
	tree   []uint64
}

func newRemainders(values []Bucket, step int64) *remainders {
	r := new(remainders)
	for _, v := range values {
		r.sorted = append(r.sorted, v.High%step)
	}
	slices.Sort(r.sorted)
	r.sorted = slices.Compact(r.sorted)
	r.tree = make([]uint64, len(r.sorted)+1)
	return r
}

// add adds to the count of a remainder that one of the values leaves.
func (r *remainders) add(remainder int64, n uint64) {
	rank, _ := slices.BinarySearch(r.sorted, remainder)
	for at := rank + 1; at < len(r.tree); at += at & -at {
		r.tree[at] += n
	}
}

// below returns the counts of the remainders below one.
func (r *remainders) below(remainder int64) (n uint64) {
	rank, _ := slices.BinarySearch(r.sorted, remainder)
	for at := rank; at > 0; at -= at & -at {
		n += r.tree[at]
	}
	return n
}

// maxSteps is how many missing values of one recorded value of a double histogram are found by subtracting again and again,
// as the reference does, whose result the roundoff is part of. More are reckoned without that, slot by slot.
const maxSteps = 1 << 16

// correctDouble adds the missing values of h, a double histogram, to into.
func (h *Histogram) correctDouble(into *Histogram, expected float64) error {
	if !(expected > 0) {
		return fmt.Errorf("%w, not %v", ErrExpected, expected)
	}
	ratio := h.layout.Ratio
	for bucket := range h.Recorded() {
		value := h.Float(bucket.High)
		if value/expected < maxSteps {
			for missing := value - expected; missing >= expected; missing -= expected {
				if err := into.Record(int64(missing/ratio), bucket.Count); err != nil {
					return err
				}
			}
			continue
		}
		if err := into.recordMissingUnits(float64(bucket.High), expected/ratio, bucket.Count); err != nil {
			return err
		}
	}
	return nil
}

// recordMissingUnits counts value-step, value-2*step and so on down to step, each n times, slot by slot.
func (h *Histogram) recordMissingUnits(value, step float64, n int64) error {
	// upTo returns how many of the missing values are at least low.
	upTo := func(low float64) float64 { return math.Floor((value - max(low, step)) / step) }
	above := 0.0
	for i := h.layout.IndexOf(int64(value)); i >= 0; i-- {
		low := float64(h.layout.LowestAt(i))
		missing := upTo(low)
		if times := (missing - above) * float64(n); times >= 1<<63 {
			return ErrOverflow
		} else if times > 0 {
			if err := h.Record(h.layout.LowestAt(i), int64(times)); err != nil {
				return err
			}
		}
		above = max(above, missing)
		if low <= step {
			return nil
		}
	}
	return nil
}
