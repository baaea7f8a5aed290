package merge

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"

	"hdrkit/hdrlog"
)

// ErrEncoding is the error for bytes that are no encoded [Sum].
var ErrEncoding = errors.New("not an encoded sum")

// The encoding of a Sum is a byte for the version, the number of intervals as an uvarint and,
// unless that is 0: the start as a varint, the length as an uvarint, both in milliseconds, the
// length of MAX as an uvarint, MAX, and the payload, which goes to the end. The payload is
// compressed, of version 2, and not in base64. But it is the text of the log where base64 of these
// bytes would not give that text again: then it begins with a letter, which no payload does.
const encodingVersion = 2

// maxTime is the latest time that an encoded sum can have, in milliseconds: that of a log, see
// [hdrlog.ErrTime].
const maxTime = 1 << 50

// maxMax is more bytes than any MAX takes.
const maxMax = 400

var errShort = errors.New("it ends too early")

// MarshalBinary returns s as bytes. See [Sum.AppendBinary].
func (s *Sum) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }

// AppendBinary appends s, encoded for [Sum.UnmarshalBinary]: about three quarters of what its
// interval takes in a log. The error is that of [Sum.AppendFields], or [hdrlog.ErrTime] for times
// that no log can have.
func (s *Sum) AppendBinary(data []byte) ([]byte, error) {
	if s.intervals == 0 {
		return append(data, encodingVersion, 0), nil
	}
	if s.Start < -maxTime || s.End > maxTime || s.End < s.Start {
		return data, fmt.Errorf("%w: from %d to %d ms", hdrlog.ErrTime, s.Start, s.End)
	}
	c := codecs.Get().(*codec)
	defer codecs.Put(c)
	highest, payload := s.fields()
	if len(payload) > 0 {
		c.plain, _ = base64.StdEncoding.AppendDecode(c.plain[:0], payload)
		size := len(c.plain)
		if c.plain = base64.StdEncoding.AppendEncode(c.plain, c.plain); bytes.Equal(c.plain[size:], payload) {
			payload = c.plain[:size]
		}
	} else {
		h, err := s.Histogram(&c.scratch)
		if err != nil {
			return data, err
		}
		highest = appendMax(nil, highest, h)
		if payload, err = c.encoder.Encode(h); err != nil {
			return data, err
		}
	}
	data = binary.AppendUvarint(append(data, encodingVersion), uint64(s.intervals))
	data = binary.AppendVarint(data, s.Start)
	data = binary.AppendUvarint(data, uint64(s.End-s.Start))
	data = append(binary.AppendUvarint(data, uint64(len(highest))), highest...)
	return append(data, payload...), nil
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
	if len(data) < 1 {
		return errShort
	}
	if data[0] != encodingVersion {
		return fmt.Errorf("version %d", data[0])
	}
	d := decoder{left: data[1:]}
	intervals := d.uvarint()
	if intervals == 0 && d.err == nil {
		if len(d.left) > 0 {
			return fmt.Errorf("%d bytes too many", len(d.left))
		}
		return nil
	}
	start, length := d.varint(), d.uvarint()
	highest := d.bytes(d.uvarint())
	switch {
	case d.err != nil:
		return d.err
	case intervals > 1<<62:
		return fmt.Errorf("%d intervals", intervals)
	case start < -maxTime || start > maxTime || length > uint64(maxTime-start):
		return fmt.Errorf("%w: start %d ms, length %d ms", hdrlog.ErrTime, start, length)
	case len(highest) == 0 || len(highest) > maxMax || bytes.ContainsAny(highest, ", \r\n"):
		return fmt.Errorf("MAX %.20q", highest)
	case bytes.ContainsAny(d.left[:min(len(d.left), 1)], ", \r\n"):
		return fmt.Errorf("payload %.20q", d.left)
	}
	return s.unmarshalPayload(highest, d.left, &part{start: start, end: start + int64(length), intervals: int64(intervals)})
}

// unmarshalPayload adds an encoded payload to s, which is empty. All but its counts are known.
func (s *Sum) unmarshalPayload(highest, payload []byte, known *part) error {
	c := codecs.Get().(*codec)
	defer codecs.Put(c)
	open, isText := c.decoder.OpenBinary, len(payload) > 0 && payload[0] >= 'A'
	if isText {
		open = c.decoder.Open
	}
	p, err := open(payload)
	switch {
	case err != nil:
		return err
	case p.Version() != 2 || !p.Compressed():
		return errors.New("the payload is not of version 2 and compressed")
	case isText && bytes.ContainsAny(payload, ", \r\n"):
		return fmt.Errorf("payload %.20q", payload)
	}
	if err := s.addPayload(known, p); err != nil {
		return err
	}
	s.text = append(append(s.text[:0], highest...), ',')
	if isText {
		s.text = append(s.text, payload...)
	} else {
		s.text = base64.StdEncoding.AppendEncode(s.text, payload)
	}
	return nil
}

// A decoder takes numbers and bytes from the start of data.
type decoder struct {
	left []byte
	err  error // the first one
}

func (d *decoder) take(size int) {
	if size <= 0 {
		d.left, d.err = nil, errShort
		return
	}
	d.left = d.left[size:]
}

func (d *decoder) uvarint() uint64 {
	n, size := binary.Uvarint(d.left)
	d.take(size)
	return n
}

func (d *decoder) varint() int64 {
	n, size := binary.Varint(d.left)
	d.take(size)
	return n
}

func (d *decoder) bytes(n uint64) []byte {
	if n > uint64(len(d.left)) {
		d.left, d.err = nil, errShort
		return nil
	}
	taken := d.left[:n]
	d.left = d.left[n:]
	return taken
}
