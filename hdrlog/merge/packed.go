package merge

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"hdrkit/hdrlog/histogram"
)

// AppendPacked appends s, encoded for [Sum.SetPacked] of the same version of hdrkit. It is faster
// than [Sum.MarshalBinary], and its result is longer, since it does not compress the counts. The
// result does not have the text of a single interval. The error is a [SumError].
func (s *Sum) AppendPacked(data []byte) ([]byte, error) {
	data = binary.AppendUvarint(data, uint64(s.intervals))
	if s.intervals == 0 {
		return data, nil
	}
	f := s.counts.bound()
	merged := s.counts.mergedBytes
	if s.counts.histogram != nil {
		merged = wholeLength
	}
	for _, n := range []int64{s.Start, s.End, int64(f.layout.Digits), f.layout.Lowest, int64(merged)} {
		data = binary.AppendVarint(data, n)
	}
	mixed := byte(0)
	if f.mixed {
		mixed = 1
	}
	data = append(data, mixed)
	for _, v := range []float64{f.layout.Ratio, f.highest, f.least} {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
	}
	all, err := s.counts.appendPacked(data)
	if err != nil {
		return data, sumError(err, nil)
	}
	return all, nil
}

// wholeLength replaces counts.mergedBytes in the encoding if all packed bytes are a single payload.
const wholeLength = -1

// SetPacked sets s to the sum that [Sum.AppendPacked] encoded. It does not decode the counts: if
// they are damaged, a later use of s fails. SetPacked does not keep data. The error wraps
// [ErrEncoding]; s is then empty.
func (s *Sum) SetPacked(data []byte) error {
	s.Reset()
	if err := s.setPacked(data); err != nil {
		s.Reset()
		return fmt.Errorf("%w: %w", ErrEncoding, err)
	}
	return nil
}

func (s *Sum) setPacked(data []byte) error {
	r := bytes.NewReader(data)
	intervals, err := binary.ReadUvarint(r)
	if err != nil || intervals == 0 && r.Len() == 0 {
		return err
	}
	var numbers [5]int64
	for n := range numbers {
		if numbers[n], err = binary.ReadVarint(r); err != nil {
			return err
		}
	}
	rest := data[len(data)-r.Len():]
	if len(rest) < 1+3*8 {
		return errors.New("cut off")
	}
	var values [3]float64
	for n := range values {
		values[n] = math.Float64frombits(binary.LittleEndian.Uint64(rest[1+8*n:]))
	}
	packed := rest[1+3*8:]
	known := bounds{
		layout:  histogram.Layout{Digits: int(numbers[2]), Lowest: numbers[3], Ratio: values[0]},
		highest: values[1],
		mixed:   rest[0] == 1,
		least:   math.Inf(1),
	}
	if known.mixed {
		known.least = values[2]
	}
	merged := numbers[4]
	if merged == wholeLength {
		merged = int64(len(packed))
	}
	switch {
	case int64(intervals) <= 0:
		return fmt.Errorf("%d intervals", int64(intervals))
	case !(known.least >= 0):
		return fmt.Errorf("minimum %v", known.least)
	case !(known.highest >= 0):
		return fmt.Errorf("highest value %v", known.highest)
	case merged < 0 || merged > int64(len(packed)):
		return fmt.Errorf("a payload of %d bytes", merged)
	case len(packed) == 0:
		return errors.New("no payload")
	}
	if err := known.layout.Validate(); err != nil {
		return err
	}
	if err := checkLengths(packed); err != nil {
		return err
	}
	s.counts.bounds = known
	s.counts.packed = append(s.counts.packed[:0], packed...)
	s.counts.mergedBytes = int(merged)
	s.extend(numbers[0], numbers[1], int64(intervals))
	return nil
}
