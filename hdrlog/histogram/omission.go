package histogram

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// ErrExpected: the expected interval is not a positive number, or it is below 1 for a histogram of
// integers.
var ErrExpected = errors.New("expected interval must be positive")

// CorrectInto sets into to the counts of h, corrected for coordinated omission. A recorder that
// expects to record once every expected units, and then records a longer value, was held up and
// left out the values of that time. For each longer value, CorrectInto also counts value-expected,
// value-2*expected and so on down to expected, as often as value itself. It does the same as
// copyCorrectedForCoordinatedOmission of the reference, except where the reference fails: see
// [maxSteps].
//
// Expected is in the unit of [Histogram.Float]. For a histogram of integers, its fraction is
// dropped, as in the reference. Into may be h itself. After [ErrExpected] or [ErrOverflow], the
// content of into is undefined.
func (h *Histogram) CorrectInto(into *Histogram, expected float64) error {
	if into == h {
		h = h.Clone()
	}
	if h.Double() {
		return h.correctDouble(into, expected)
	}
	into.reset(h.layout)
	if err := into.Add(h); err != nil {
		return err
	}
	if !(expected >= 1) {
		return fmt.Errorf("%w: at least 1 where values are integers, not %v", ErrExpected, expected)
	}
	if expected >= 1<<63 {
		return nil // all values are shorter
	}
	return h.correctIntegers(into, int64(expected))
}

// correctIntegers adds the missing values of h to into: for each value, value-step, value-2*step
// and so on down to step.
func (h *Histogram) correctIntegers(into *Histogram, step int64) error {
	if h.manyMissing(step) {
		return h.correctSlots(into, step)
	}
	for bucket := range h.Recorded() {
		for missing := bucket.High - step; missing >= step; missing -= step {
			if err := into.RecordN(missing, bucket.Count); err != nil {
				return err
			}
		}
	}
	return nil
}

// manyMissing reports whether counting slot by slot is faster than counting the missing values one
// by one.
func (h *Histogram) manyMissing(step int64) bool {
	last := h.lastIndex()
	slots := float64(last - h.layout.IndexOf(step) + 1)
	perValue := float64(h.layout.HighestAt(last)) / float64(step) // missing values of the highest value
	if slots <= 0 || perValue*min(slots, float64(h.total)) <= slotCost*slots {
		return false // few enough, whatever the counts are
	}
	all := 0.0
	for bucket := range h.Recorded() {
		if all += float64(bucket.High) / float64(step); all > slotCost*slots {
			return true
		}
	}
	return false
}

// slotCost is the number of missing values that take as long as one slot: 3.5 ns for a value, and
// 70 ns for a slot, at three digits. At five digits it is 3, since single counts miss the cache
// (BenchmarkCorrect).
const slotCost = 20

// correctSlots adds the missing values of h to into. Its time does not depend on the number of
// missing values.
//
// For a value v, floor((v-low)/step) missing values are at least low, if low is at least step. This
// equals floor(v/step) - floor(low/step), less 1 if v%step < low%step. So three sums over the
// values from low up give the number of missing values that are at least low: the quotients v/step,
// the counts, and the counts by remainder. The difference between the numbers for two successive
// slots is the count of the lower slot.
func (h *Histogram) correctSlots(into *Histogram, step int64) error {
	if h.Max() < step {
		return nil // none are missing
	}
	if err := h.checkMissing(step, into.total); err != nil {
		return err
	}
	remainders := newRemainders(h, step)
	// These sums may overflow 64 bits. Their differences, the counts of slots, do not, so the
	// counts are right.
	var quotients, counts, above uint64
	for i := h.lastIndex(); ; i-- {
		low := max(h.layout.LowestAt(i), step)
		if n := uint64(h.count(i)); n != 0 {
			high := h.layout.HighestAt(i)
			quotients += n * uint64(high/step)
			counts += n
			remainders.add(high%step, n)
		}
		missing := quotients - counts*uint64(low/step) - remainders.below(low%step)
		if missing != above {
			if err := into.RecordN(low, int64(missing-above)); err != nil {
				return err
			}
		}
		above = missing
		if low == step {
			return nil
		}
	}
}

// checkMissing returns [ErrOverflow] if an int64 cannot hold total plus the number of missing
// values of h.
func (h *Histogram) checkMissing(step, total int64) error {
	for v := range h.Recorded() {
		hi, missing := bits.Mul64(uint64(v.Count), uint64(max(v.High/step-1, 0)))
		if hi != 0 || missing > uint64(math.MaxInt64-total) {
			return ErrOverflow
		}
		total += int64(missing)
	}
	return nil
}

// remainders holds counts by remainder, in a Fenwick tree.
type remainders struct {
	sorted []int64 // the remainders; nil if each one below step has a place in the tree
	tree   []uint64
}

func newRemainders(h *Histogram, step int64) *remainders {
	if step <= int64(len(h.counts)) {
		return &remainders{tree: make([]uint64, step+1)}
	}
	r := new(remainders)
	for v := range h.Recorded() {
		r.sorted = append(r.sorted, v.High%step)
	}
	slices.Sort(r.sorted)
	r.sorted = slices.Compact(r.sorted)
	r.tree = make([]uint64, len(r.sorted)+1)
	return r
}

// rank returns the number of smaller remainders in the tree.
func (r *remainders) rank(remainder int64) int {
	if r.sorted == nil {
		return int(remainder)
	}
	rank, _ := slices.BinarySearch(r.sorted, remainder)
	return rank
}

// add adds n to the count of a remainder. A value of the histogram must have this remainder.
func (r *remainders) add(remainder int64, n uint64) {
	for at := r.rank(remainder) + 1; at < len(r.tree); at += at & -at {
		r.tree[at] += n
	}
}

// below returns the sum of the counts of smaller remainders.
func (r *remainders) below(remainder int64) (n uint64) {
	for at := r.rank(remainder); at > 0; at -= at & -at {
		n += r.tree[at]
	}
	return n
}

// maxSteps is the highest number of missing values of one value of a double histogram that are
// computed by repeated subtraction. The reference always does that, so its result includes
// roundoff. More missing values are counted slot by slot, without roundoff.
const maxSteps = 1 << 16

// maxWidened is the highest value, in units of the ratio, that a double histogram gets when its
// ratio is halved. Payloads and sums have room for larger values.
const maxWidened = 1 << 50

// halvings returns how many times the ratio of h, a double histogram, must be halved so that values
// from expected up have all significant digits. It returns 0 if no value is missing.
func (h *Histogram) halvings(expected float64) (shift int) {
	if h.Float(h.Max()) < 2*expected {
		return 0
	}
	lowest := float64(h.layout.SubBuckets() / 2)
	for units := expected / h.layout.Ratio; units < lowest && h.Max() < maxWidened>>(shift+1); units *= 2 {
		shift++
	}
	return shift
}

// correctDouble sets into to the counts of h, a double histogram, and of its missing values.
func (h *Histogram) correctDouble(into *Histogram, expected float64) error {
	if !(expected > 0) {
		return fmt.Errorf("%w, not %v", ErrExpected, expected)
	}
	layout := h.layout
	shift := h.halvings(expected)
	layout.Ratio = math.Ldexp(layout.Ratio, -shift)
	into.reset(layout)
	ratio := layout.Ratio
	for index, n := range h.Slots() {
		recorded, err := h.layout.valueIn(index, layout)
		if err != nil {
			return err
		}
		if err := into.RecordN(recorded, n); err != nil {
			return err
		}
		value := h.Float(h.layout.HighestAt(index))
		if value/expected < maxSteps {
			for missing := value - expected; missing >= expected; missing -= expected {
				if err := into.RecordN(int64(missing/ratio), n); err != nil {
					return err
				}
			}
			continue
		}
		if err := into.recordMissingUnits(value/ratio, expected/ratio, n); err != nil {
			return err
		}
	}
	return nil
}

// recordMissingUnits counts value-step, value-2*step and so on down to step, n times each, slot by
// slot. value and step are in units of the ratio.
func (h *Histogram) recordMissingUnits(value, step float64, n int64) error {
	// atLeast returns the number of missing values that are at least low.
	atLeast := func(low float64) float64 { return math.Floor((value - max(low, step)) / step) }
	above := 0.0
	for i := h.layout.IndexOf(int64(value)); i >= 0; i-- {
		low := float64(h.layout.LowestAt(i))
		missing := atLeast(low)
		if times := (missing - above) * float64(n); times >= 1<<63 {
			return ErrOverflow
		} else if times > 0 {
			if err := h.RecordN(h.layout.LowestAt(i), int64(times)); err != nil {
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
