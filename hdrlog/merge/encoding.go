package merge

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/internal/base64x"
)

// ErrEncoding is the error for bytes that are no encoded [Sum].
var ErrEncoding = errors.New("not an encoded sum")

// The encoding of a Sum is a byte for the version, a byte for the form, and unless that is empty:
// the start as a varint, the length as an uvarint, both in milliseconds; then, of one interval, the
// length of MAX as an uvarint and MAX, and otherwise the number of intervals as an uvarint; and the
// payload, which goes to the end.
const (
	encodingVersion = 1

	formEmpty = 0
	formOne   = 1 // the payload is what its base64 stands for
	formText  = 2 // as formOne, but the payload is text, since encoding it in base64 would not give that text again
	formMany  = 3 // the payload is compressed and of version 2
	formPlain = 4 // as formMany, but the payload is not compressed
)

// maxTime is the latest time that an encoded sum can have, in milliseconds: that of a log, see
// [hdrlog.ErrTime].
const maxTime = 1 << 50

// MarshalBinary returns s as bytes. See [Sum.AppendBinary].
func (s *Sum) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }

// AppendBinary appends s, encoded for [Sum.UnmarshalBinary]: about three quarters of what its
// interval takes in a log. The error is that of [Sum.AppendFields], or [hdrlog.ErrTime] for times
// that no log can have.
func (s *Sum) AppendBinary(data []byte) ([]byte, error) { return s.append(data, true) }

// AppendPlain is [Sum.AppendBinary], but does not compress the counts of several intervals. That
// takes more memory and less time. Use it for a sum that is soon merged with others.
func (s *Sum) AppendPlain(data []byte) ([]byte, error) { return s.append(data, false) }

func (s *Sum) append(data []byte, compress bool) ([]byte, error) {
	if s.intervals == 0 {
		return append(data, encodingVersion, formEmpty), nil
	}
	if s.Start < -maxTime || s.End > maxTime || s.End < s.Start {
		return data, fmt.Errorf("%w: from %d to %d ms", hdrlog.ErrTime, s.Start, s.End)
	}
	c := codecs.Get().(*codec)
	defer codecs.Put(c)
	var packed []byte
	form := byte(formMany)
	switch {
	case s.packed != nil && compress:
		packed = s.packed
	case s.pass != nil:
		c.plain, _ = base64.StdEncoding.AppendDecode(c.plain[:0], s.pass)
		packed, form = c.plain, formOne
		size := len(packed)
		c.plain = base64x.AppendEncode(c.plain, packed)
		if !bytes.Equal(c.plain[size:], s.pass) {
			packed, form = s.pass, formText
		}
	default:
		err := s.use(c, func(h *histogram.Histogram) (err error) {
			if s.max == nil && !compress {
				c.plain, err = h.AppendBinary(c.plain[:0])
				packed, form = c.plain, formPlain
				return err
			}
			packed, err = c.encoder.Encode(h)
			return err
		})
		if err != nil {
			return data, err
		}
		if s.max != nil {
			form = formOne
		}
	}
	data = append(data, encodingVersion, form)
	data = binary.AppendVarint(data, s.Start)
	data = binary.AppendUvarint(data, uint64(s.End-s.Start))
	if form >= formMany {
		data = binary.AppendUvarint(data, uint64(s.intervals))
	} else {
		data = append(binary.AppendUvarint(data, uint64(len(s.max))), s.max...)
	}
	return append(data, packed...), nil
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

func (s *Sum) unmarshal(data []byte) error {
	if len(data) < 2 {
		return errShort
	}
	version, form := data[0], data[1]
	data = data[2:]
	switch {
	case version != encodingVersion:
		return fmt.Errorf("version %d", version)
	case form == formEmpty && len(data) > 0:
		return fmt.Errorf("%d bytes too many", len(data))
	case form == formEmpty:
		return nil
	case form > formPlain:
		return fmt.Errorf("form %d", form)
	}
	start, size := binary.Varint(data)
	if size <= 0 {
		return errShort
	}
	data = data[size:]
	length, data, err := uvarint(data)
	if err != nil {
		return err
	}
	if start < -maxTime || start > maxTime || length > uint64(maxTime-start) {
		return fmt.Errorf("%w: start %d ms, length %d ms", hdrlog.ErrTime, start, length)
	}
	n, data, err := uvarint(data) // the number of intervals, or of bytes
	switch {
	case err != nil:
		return err
	case form >= formMany && (n < 2 || n > 1<<62):
		return fmt.Errorf("%d intervals", n)
	case form >= formMany:
		return s.unmarshalMany(data, form, start, start+int64(length), int64(n))
	case n > uint64(min(len(data), maxMax)):
		return fmt.Errorf("MAX of %d bytes", n)
	}
	max := data[:n]
	if bytes.ContainsAny(max, ", \r\n") || len(max) == 0 {
		return fmt.Errorf("MAX %q", max)
	}
	own := hdrlog.Interval{Fields: append(append([]byte("0,0,"), max...), ',')}
	own.Payload = data[n:]
	if form == formOne {
		own.Payload = base64x.AppendEncode(nil, own.Payload)
	} else if bytes.ContainsAny(own.Payload, ", \r\n") {
		return fmt.Errorf("payload %.20q", own.Payload)
	}
	if err := s.Add(&own); err != nil {
		return err
	}
	if s.pass == nil {
		return errPacked
	}
	s.Start, s.End = start, start+int64(length)
	return nil
}

// unmarshalMany makes s, which is empty, the sum of several intervals.
func (s *Sum) unmarshalMany(data []byte, form byte, start, end, intervals int64) error {
	c := codecs.Get().(*codec)
	defer codecs.Put(c)
	p, err := c.decoder.OpenBinary(data)
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		return err
	}
	if form == formMany {
		s.memory = append(s.memory, data...)
	}
	from := len(s.memory)
	if form == formPlain || p.BinarySize() <= plainTimes*len(data)+slack {
		s.memory = p.AppendBinary(s.memory)
	}
	if isPlain := bytes.Equal(s.memory[from:], data); p.Version() != 2 || isPlain != (form == formPlain) {
		return errPacked
	}
	if from == len(s.memory) {
		from = 0 // it is held compressed
	}
	s.held = append(s.held, member{from: from, to: len(s.memory)})
	s.include(start, end, intervals, p.Layout(), highestOf(p), len(data))
	if form == formMany {
		s.packed = s.memory[:len(data):len(data)]
	}
	return nil
}

var errPacked = errors.New("the payload is not of version 2, or is compressed where it should not be, or not where it should")

// maxMax is more bytes than any MAX takes.
const maxMax = 400

var errShort = errors.New("it ends too early")

func uvarint(data []byte) (uint64, []byte, error) {
	n, size := binary.Uvarint(data)
	if size <= 0 {
		return 0, nil, errShort
	}
	return n, data[size:], nil
}
