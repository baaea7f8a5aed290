package merge

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/logline"
)

// ErrEncoding is the error for bytes that are not an encoded [Sum].
var ErrEncoding = errors.New("not an encoded sum")

// An encoded Sum begins with the version in one byte, and the number of intervals as a uvarint. If
// the number is not 0, these follow: the start as a varint, the length as a uvarint, both in
// milliseconds, and MAX,PAYLOAD as text. If the intervals have several layouts, the version is
// mixedVersion, and the minimum stands before MAX as the bits of a float64.
const encodingVersion, mixedVersion = 3, 4

// maxTime is the latest time of an encoded sum, in milliseconds since the epoch. It is the latest
// time of a log, see [hdrlog.ErrTime].
const maxTime = 1 << 50

// maxMax limits the length of MAX in bytes. No valid number is longer.
const maxMax = 400

// MarshalBinary returns s, encoded for [Sum.UnmarshalBinary]. It takes about as many bytes as a
// line of a log. The error is that of [Sum.AppendFields], or [hdrlog.ErrTime] for times that no log
// can have.
func (s *Sum) MarshalBinary() ([]byte, error) {
	if s.intervals == 0 {
		return []byte{encodingVersion, 0}, nil
	}
	if s.Start < -maxTime || s.End > maxTime || s.End < s.Start {
		return nil, fmt.Errorf("%w: from %d to %d ms", hdrlog.ErrTime, s.Start, s.End)
	}
	version := byte(encodingVersion)
	least := math.Inf(1)
	if s.counts.mixed {
		c := codecs.Get().(*codec)
		defer s.counts.putCodec(c)
		h, err := s.Histogram(&c.scratch)
		if err != nil {
			return nil, err
		}
		least = leastOf(h)
	}
	if !math.IsInf(least, 1) {
		version = mixedVersion
	}
	data := binary.AppendUvarint([]byte{version}, uint64(s.intervals))
	data = binary.AppendUvarint(binary.AppendVarint(data, s.Start), uint64(s.End-s.Start))
	if version == mixedVersion {
		data = binary.BigEndian.AppendUint64(data, math.Float64bits(least))
	}
	return s.appendMaxPayload(data)
}

// UnmarshalBinary sets s to the sum that [Sum.MarshalBinary] encoded. It allocates no more memory
// than the header of the payload asks for, and does not keep data. The error wraps [ErrEncoding]; s
// is then empty.
func (s *Sum) UnmarshalBinary(data []byte) error {
	s.Reset()
	if err := s.unmarshal(data); err != nil {
		s.Reset()
		return fmt.Errorf("%w: %w", ErrEncoding, err)
	}
	return nil
}

// unmarshal is UnmarshalBinary for an empty s. After an error, s is undefined.
func (s *Sum) unmarshal(data []byte) error {
	e, err := parse(data)
	if err != nil || e.intervals == 0 {
		return err
	}
	c := codecs.Get().(*codec)
	defer codecs.Put(c)
	_, payload, _ := bytes.Cut(e.maxPayload, []byte{','})
	p, err := c.decoder.Open(payload)
	if err != nil {
		return err
	}
	if p.Version() != 2 || !p.Compressed() {
		return errors.New("the payload is not of version 2 and compressed")
	}
	if e.mixed {
		// Earlier versions wrote a minimum of 0 for sums without values.
		_, count, err := p.MaxAndCount()
		if err != nil {
			return err
		}
		if count == 0 {
			e.least = math.Inf(1)
		}
	}
	if err := s.counts.add(payloadAddend{p}); err != nil {
		return sumError(err, p)
	}
	if e.mixed {
		s.counts.mixed = true
		s.counts.least = e.least
	}
	s.extend(e.start, e.end, e.intervals)
	s.original = append(s.original[:0], e.maxPayload...)
	return nil
}

// An encodedSum has the fields of an encoded sum. Its times are milliseconds since the epoch.
type encodedSum struct {
	intervals, start, end int64
	mixed                 bool
	least                 float64 // if mixed
	maxPayload            []byte  // MAX,PAYLOAD, a view of the bytes
}

// parse returns the fields of an encoded sum. It does not decode the payload.
func parse(data []byte) (e encodedSum, err error) {
	r := bytes.NewReader(data)
	version, err := r.ReadByte()
	if err != nil || version != encodingVersion && version != mixedVersion {
		return e, fmt.Errorf("version %d", version)
	}
	e.mixed = version == mixedVersion
	intervals, err := binary.ReadUvarint(r)
	if err == nil && intervals == 0 && r.Len() == 0 {
		return e, nil
	}
	start, err2 := binary.ReadVarint(r)
	length, err3 := binary.ReadUvarint(r)
	if e.mixed {
		var bits [8]byte
		n, _ := r.Read(bits[:])
		e.least = math.Float64frombits(binary.BigEndian.Uint64(bits[:]))
		if n < len(bits) || !(e.least >= 0) {
			return e, fmt.Errorf("minimum %v", e.least)
		}
	}
	e.maxPayload = data[len(data)-r.Len():]
	highest, payload, _ := bytes.Cut(e.maxPayload, []byte{','})
	err = errors.Join(err, err2, err3)
	switch {
	case err != nil:
		return e, err
	case intervals == 0 || intervals > 1<<62:
		return e, fmt.Errorf("%d intervals", intervals)
	case start < -maxTime || start > maxTime || length > uint64(maxTime-start):
		return e, fmt.Errorf("%w: start %d ms, length %d ms", hdrlog.ErrTime, start, length)
	case len(highest) == 0 || len(highest) > maxMax || bytes.ContainsAny(highest, " \r\n"):
		return e, fmt.Errorf("MAX %.20q", highest)
	case bytes.ContainsAny(payload, ", \r\n"):
		return e, fmt.Errorf("payload %.20q", payload)
	}
	e.start = start
	e.end = start + int64(length)
	e.intervals = int64(intervals)
	return e, nil
}

// AppendEncoded is [Sum.AppendFields] for a sum that [Sum.MarshalBinary] encoded. It does not
// decode the counts. The error wraps [ErrEncoding].
func AppendEncoded(text, data []byte, base int64) ([]byte, error) {
	e, err := parse(data)
	if err == nil && e.intervals == 0 {
		err = errEmpty
	}
	if err != nil {
		return text, fmt.Errorf("%w: %w", ErrEncoding, err)
	}
	text = logline.AppendTimes(text, float64(base)/1000, e.start, e.end)
	return append(append(text, ','), e.maxPayload...), nil
}
