package merge

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// AppendPacked appends s, encoded for [Sum.SetPacked] of the same version of hdrkit. It is quicker
// and longer than [Sum.AppendBinary], since the counts are not compressed. It leaves out MAX and
// the payload of a single interval as they stand in a log. The error is a [SumError].
func (s *Sum) AppendPacked(data []byte) ([]byte, error) {
	data = binary.AppendUvarint(data, uint64(s.intervals))
	if s.intervals == 0 {
		return data, nil
	}
	f := s.facts()
	summed := s.summed
	if s.dense {
		summed = allSummed
	}
	for _, n := range []int64{f.start, f.end, int64(f.layout.Digits), f.layout.Lowest, int64(summed)} {
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
	all, err := s.appendTo(data)
	if err != nil {
		return data, sumError(err, nil)
	}
	return all, nil
}

// allSummed stands for the number of all bytes: they are one payload.
const allSummed = -1

// SetPacked makes s the sum that [Sum.AppendPacked] encoded. It does not decode the counts: if they
// are damaged, a later use of s fails. Data is not kept. The error wraps [ErrEncoding]; s is then
// empty.
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
	mixed := rest[0] == 1
	var values [3]float64
	for n := range values {
		values[n] = math.Float64frombits(binary.LittleEndian.Uint64(rest[1+8*n:]))
	}
	packed := rest[1+3*8:]
	f := facts{
		start:     numbers[0],
		end:       numbers[1],
		intervals: int64(intervals),
		highest:   values[1],
		mixed:     mixed,
		least:     values[2],
	}
	f.layout.Digits = int(numbers[2])
	f.layout.Lowest = numbers[3]
	f.layout.Ratio = values[0]
	summed := numbers[4]
	if summed == allSummed {
		summed = int64(len(packed))
	}
	switch {
	case f.intervals <= 0:
		return fmt.Errorf("%d intervals", f.intervals)
	case mixed && !(f.least >= 0):
		return fmt.Errorf("minimum %v", f.least)
	case !(f.highest >= 0):
		return fmt.Errorf("highest value %v", f.highest)
	case summed < 0 || summed > int64(len(packed)):
		return fmt.Errorf("%d bytes of a sum", summed)
	}
	if err := f.layout.Validate(); err != nil {
		return err
	}
	if err := checkLengths(packed); err != nil {
		return err
	}
	s.packed = append(s.packed[:0], packed...)
	s.summed = int(summed)
	s.include(&f)
	return nil
}

// checkLengths returns an error if packed payloads do not end where their lengths say.
func checkLengths(packed []byte) error {
	for left := packed; len(left) > 0; {
		if len(left) < 4 || int64(binary.LittleEndian.Uint32(left)) > int64(len(left)-4) {
			return errors.New("a payload is cut off")
		}
		left = left[4+int(binary.LittleEndian.Uint32(left)):]
	}
	return nil
}
