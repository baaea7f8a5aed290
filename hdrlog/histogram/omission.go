package histogram

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// ErrExpected: the expected interval is not a positive number, or it is below 1 for a histogram of
// integers.
var ErrExpected = errors.New("expected interval must be positive")

// CorrectInto makes into the counts of h, corrected for coordinated omission. A recorder that
// expects to record once every expected units, and then records a longer value, was held up and
// left out the values of that time. For each such value, CorrectInto also counts value-expected,
// value-2*expected and so on down to expected, as often as value itself. It does the same as
// copyCorrectedForCoordinatedOmission of the reference, except where that one fails: see
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
// and so on down to step. While slots are wider than a step, it adds those of a slot at once.
func (h *Histogram) correctIntegers(into *Histogram, step int64) error {
	for bucket := range h.Recorded() {
		missing := bucket.High - step
		for missing >= step {
			slot := h.layout.IndexOf(missing)
			if h.layout.sizeAt(slot) <= step {
				break
			}
			times := 1 + (missing-max(h.layout.LowestAt(slot), step))/step
			high, count := bits.Mul64(uint64(times), uint64(bucket.Count))
			if high != 0 || count > math.MaxInt64 {
				return ErrOverflow
			}
			if err := into.RecordN(missing, int64(count)); err != nil {
				return err
			}
			missing -= times * step
		}
		for ; missing >= step; missing -= step {
			if err := into.RecordN(missing, bucket.Count); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxSteps is the highest number of missing values that are computed for one value of a double
// histogram as the reference does, by repeated subtraction. Its result includes roundoff. More
// missing values are counted slot by slot, without roundoff.
const maxSteps = 1 << 16

// mostUnits limits the values of a double histogram whose range is widened. Payloads and sums still
// have room for larger ones.
const mostUnits = 1 << 50

// widened returns how many times the ratio of h, a double histogram, must be halved so that values
// from expected up have all significant digits. It returns 0 if none is missing.
func (h *Histogram) widened(expected float64) (shift int) {
	if h.Float(h.Max()) < 2*expected {
		return 0
	}
	lowest := float64(h.layout.SubBuckets() / 2)
	for units := expected / h.layout.Ratio; units < lowest && h.Max() < mostUnits>>(shift+1); units *= 2 {
		shift++
	}
	return shift
}

// correctDouble makes into the counts of h, a double histogram, and of its missing values.
func (h *Histogram) correctDouble(into *Histogram, expected float64) error {
	if !(expected > 0) {
		return fmt.Errorf("%w, not %v", ErrExpected, expected)
	}
	layout := h.layout
	shift := h.widened(expected)
	layout.Ratio = math.Ldexp(layout.Ratio, -shift)
	into.reset(layout)
	ratio := layout.Ratio
	for index, n := range h.Slots() {
		recorded, err := h.layout.moved(index, layout)
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
// slot.
func (h *Histogram) recordMissingUnits(value, step float64, n int64) error {
	// upTo returns the number of missing values that are at least low.
	upTo := func(low float64) float64 { return math.Floor((value - max(low, step)) / step) }
	above := 0.0
	for i := h.layout.IndexOf(int64(value)); i >= 0; i-- {
		low := float64(h.layout.LowestAt(i))
		missing := upTo(low)
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
