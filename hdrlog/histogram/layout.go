package histogram

import (
	"fmt"
	"math"
	"math/bits"
)

// MaxDigits is the highest precision of a histogram, in significant decimal digits.
const MaxDigits = 5

// A Layout says which values share a slot. Its methods require a valid layout; see
// [Layout.Validate].
type Layout struct {
	// Digits is the precision, in significant decimal digits, 0 to [MaxDigits].
	Digits int
	// Lowest is the lowest discernible value. 0 means 1. As in the reference, each slot begins
	// at a multiple of the highest power of two that is at most Lowest.
	Lowest int64
	// Ratio is 0 in a histogram of integers. In a double histogram, it is the float64 that an
	// int64 value of 1 stands for: the integer-to-double conversion ratio of the reference,
	// which makes it a power of two.
	Ratio float64
}

// Validate returns nil if a histogram can have this layout, and otherwise an error that wraps
// [ErrLayout].
func (l Layout) Validate() error {
	switch {
	case l.Digits < 0 || l.Digits > MaxDigits:
		return fmt.Errorf("%w: %d significant digits, not 0 to %d", ErrLayout, l.Digits, MaxDigits)
	case l.Lowest < 0:
		return fmt.Errorf("%w: lowest discernible value %d is negative", ErrLayout, l.Lowest)
	case l.unitMagnitude()+l.halfMagnitude()+1 > 62:
		return fmt.Errorf("%w: lowest discernible value %d leaves no room for %d significant digits", ErrLayout,
			l.Lowest, l.Digits)
	case l.Ratio < 0 || math.IsNaN(l.Ratio) || math.IsInf(l.Ratio, 0):
		return fmt.Errorf("%w: conversion ratio %v", ErrLayout, l.Ratio)
	}
	return nil
}

// units returns value as a multiple of the ratio, rounded down.
func (l Layout) units(value float64) (int64, error) {
	if l.Ratio == 0 {
		if l.Lowest == 0 {
			return 0, errNoLayout
		}
		return 0, fmt.Errorf("%w: a histogram of integers takes no %v", ErrKind, value)
	}
	units := value / l.Ratio
	if !(units >= 0 && units < 1<<63) {
		return 0, fmt.Errorf("%w: value %v with a ratio of %v", ErrRange, value, l.Ratio)
	}
	return int64(units), nil
}

// Finest returns the layout of the sum of two histograms, which is as fine as both. If l or m is
// the zero Layout, the result is the other layout. The error is [ErrKind] if only one histogram is
// double.
func (l Layout) Finest(m Layout) (Layout, error) {
	switch {
	case l.Lowest == 0:
		return m, nil
	case m.Lowest == 0:
		return l, nil
	case (l.Ratio == 0) != (m.Ratio == 0):
		return l, ErrKind
	}
	return Layout{max(l.Digits, m.Digits), min(l.Lowest, m.Lowest), min(l.Ratio, m.Ratio)}, nil
}

// halfMagnitudes holds, by significant digits, the binary logarithm of half the number of
// sub-buckets in a bucket. The number of sub-buckets is the smallest power of two that is at least
// 2*10^digits.
var halfMagnitudes = [MaxDigits + 1]int{0, 4, 7, 10, 14, 17}

func (l Layout) halfMagnitude() int { return halfMagnitudes[l.Digits] }

func (l Layout) unitMagnitude() int { return 63 - bits.LeadingZeros64(uint64(l.Lowest)|1) }

// normalized returns l with a lowest value of 1 instead of 0.
func (l Layout) normalized() Layout {
	l.Lowest = max(l.Lowest, 1)
	return l
}

// sameSlots reports whether l and m have the same slots, so that counts can be added index by
// index.
func (l Layout) sameSlots(m Layout) bool {
	return l.Digits == m.Digits && l.unitMagnitude() == m.unitMagnitude() && l.Ratio == m.Ratio
}

// bucketOf returns the power-of-two bucket of value.
func (l Layout) bucketOf(value int64) int {
	half, unit := l.halfMagnitude(), l.unitMagnitude()
	inBucket0 := uint64(1)<<((half+1+unit)&63) - 1
	return 63 - half - unit - bits.LeadingZeros64(uint64(value)|inBucket0)
}

// IndexOf returns the index of the slot that counts value. Value must not be negative.
func (l Layout) IndexOf(value int64) int {
	// All shifts are below 64. With &63 the compiler leaves out checks, and recording takes a
	// tenth less time (BenchmarkRecord).
	bucket := l.bucketOf(value)
	return bucket<<(l.halfMagnitude()&63) + int(value>>((bucket+l.unitMagnitude())&63))
}

// split returns the power-of-two bucket of the slot at index, and the sub-bucket in that bucket.
// Only bucket 0 uses the lower half of its sub-buckets.
func (l Layout) split(index int) (bucket, sub int) {
	half := l.halfMagnitude()
	bucket = max(index>>half-1, 0)
	return bucket, index - bucket<<half
}

// LowestAt returns the lowest value that the slot at index counts.
func (l Layout) LowestAt(index int) int64 {
	bucket, sub := l.split(index)
	return int64(sub) << (bucket + l.unitMagnitude())
}

// HighestAt returns the highest value that the slot at index counts.
func (l Layout) HighestAt(index int) int64 {
	return l.LowestAt(index) + (l.sizeAt(index) - 1)
}

// medianAt returns the middle of the values of the slot at index, rounded up. Mean and standard
// deviation count each value of the slot as this one.
func (l Layout) medianAt(index int) int64 {
	return l.LowestAt(index) + l.sizeAt(index)>>1
}

// sizeAt returns the number of values that share the slot at index.
func (l Layout) sizeAt(index int) int64 {
	bucket, _ := l.split(index)
	return int64(1) << (bucket + l.unitMagnitude())
}

// SubBuckets returns the number of sub-buckets in a power-of-two bucket, for packages that write or
// draw layouts.
func (l Layout) SubBuckets() int { return 2 << l.halfMagnitude() }

// SlotsFor returns the number of slots for values up to highest.
func (l Layout) SlotsFor(highest int64) int { return (l.bucketOf(highest) + 2) << l.halfMagnitude() }
