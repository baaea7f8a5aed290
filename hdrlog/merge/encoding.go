package merge

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"hdrkit/hdrlog"
)

// ErrEncoding is the error for bytes that are no encoded [Sum].
var ErrEncoding = errors.New("not an encoded sum")

// The encoding of a Sum is a byte for the version, the number of intervals as an uvarint and,
// unless that is 0: the start as a varint and the length as an uvarint, both in milliseconds, and
// MAX,PAYLOAD as they stand in a log.
const encodingVersion = 3

// maxTime is the latest time that an encoded sum can have, in milliseconds: that of a log, see
// [hdrlog.ErrTime].
const maxTime = 1 << 50

// maxMax is more bytes than any MAX takes.
const maxMax = 400

// MarshalBinary returns s as bytes. See [Sum.AppendBinary].
func (s *Sum) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }

// AppendBinary appends s, encoded for [Sum.UnmarshalBinary]: about what its interval takes in a
// log. The error is that of [Sum.AppendFields], or [hdrlog.ErrTime] for times that no log can have.
func (s *Sum) AppendBinary(data []byte) ([]byte, error) {
	if s.intervals == 0 {
		return append(data, encodingVersion, 0), nil
	}
	if s.Start < -maxTime || s.End > maxTime || s.End < s.Start {
		return data, fmt.Errorf("%w: from %d to %d ms", hdrlog.ErrTime, s.Start, s.End)
	}
	all := binary.AppendUvarint(append(data, encodingVersion), uint64(s.intervals))
	all = binary.AppendUvarint(binary.AppendVarint(all, s.Start), uint64(s.End-s.Start))
	all, err := s.appendCounts(all)
	if err != nil {
		return data, err
	}
	return all, nil
}

// UnmarshalBinary makes s the sum that was encoded. It takes no more memory than the payload's
// header justifies. The error wraps [ErrEncoding]; s is then empty. Data is not kept.
func (s *Sum) UnmarshalBinary(data []byte) error {
	s.Reset()
	if err := s.unmarshal(data); err != nil {
		s.Reset()
		return fmt.Errorf("%w: %w", ErrEncoding, err)
	}
	return nil
}

// unmarshal is UnmarshalBinary for a sum that is empty, but for the error.
func (s *Sum) unmarshal(data []byte) error {
	r := bytes.NewReader(data)
	if version, err := r.ReadByte(); err != nil || version != encodingVersion {
		return fmt.Errorf("version %d", version)
	}
	intervals, err := binary.ReadUvarint(r)
	if err == nil && intervals == 0 && r.Len() == 0 {
		return nil
	}
	start, err2 := binary.ReadVarint(r)
	length, err3 := binary.ReadUvarint(r)
	fields := data[len(data)-r.Len():]
	highest, payload, _ := bytes.Cut(fields, []byte{','})
	switch err := errors.Join(err, err2, err3); {
	case err != nil:
		return err
	case intervals == 0 || intervals > 1<<62:
		return fmt.Errorf("%d intervals", intervals)
	case start < -maxTime || start > maxTime || length > uint64(maxTime-start):
		return fmt.Errorf("%w: start %d ms, length %d ms", hdrlog.ErrTime, start, length)
	case len(highest) == 0 || len(highest) > maxMax || bytes.ContainsAny(highest, " \r\n"):
		return fmt.Errorf("MAX %.20q", highest)
	case bytes.ContainsAny(payload, ", \r\n"):
		return fmt.Errorf("payload %.20q", payload)
	}
	c := codecs.Get().(*codec)
	defer codecs.Put(c)
	p, err := c.decoder.Open(payload)
	if err != nil {
		return err
	}
	if p.Version() != 2 || !p.Compressed() {
		return errors.New("the payload is not of version 2 and compressed")
	}
	if err := s.addPayload(&part{start: start, end: start + int64(length), intervals: int64(intervals)}, p); err != nil {
		return err
	}
	s.text = append(s.text[:0], fields...)
	return nil
}
