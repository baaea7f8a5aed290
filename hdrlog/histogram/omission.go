package histogram

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
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
// error is [ErrExpected] or [ErrOverflow]; into is then of no use.
func (h *Histogram) CorrectInto(into *Histogram, expected float64) error {
	into.Reset(h.layout)
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
	for bucket := range h.Recorded() {
		if err := into.recordMissing(bucket.High, int64(expected), bucket.Count); err != nil {
			return err
		}
	}
	return nil
}

// recordMissing counts value-step, value-2*step and so on down to step, each n times. It takes no longer than there are
// values, and no longer than there are slots.
func (h *Histogram) recordMissing(value, step, n int64) error {
	if value/2 < step {
		return nil
	}
	first, last := h.layout.IndexOf(step), h.layout.IndexOf(value-step)
	if value/step <= int64(last-first) {
		for missing := value - step; missing >= step; missing -= step {
			if err := h.Record(missing, n); err != nil {
				return err
			}
		}
		return nil
	}
	for i := first; i <= last; i++ {
		// Those in the slot are value-k*step for the k from least to most.
		low, high := max(h.layout.LowestAt(i), step), min(h.layout.HighestAt(i), value-step)
		least, most := (value-high+step-1)/step, (value-low)/step
		if most < least {
			continue
		}
		hi, times := bits.Mul64(uint64(most-least+1), uint64(n))
		if hi != 0 || times > math.MaxInt64 {
			return ErrOverflow
		}
		if err := h.Record(low, int64(times)); err != nil {
			return err
		}
	}
	return nil
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

// recordMissingUnits is recordMissing for a step that is no whole number.
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
