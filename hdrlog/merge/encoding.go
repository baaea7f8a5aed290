package merge

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

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
	e, err := parse(data)
	if err == nil {
		err = s.unmarshal(e)
	}
	if err != nil {
		s.Reset()
	}
	return encodingError(err)
}

// encodingError returns err as an [ErrEncoding].
func encodingError(err error) error {
	if err == nil || errors.Is(err, ErrEncoding) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrEncoding, err)
}

// MergeBinary merges a sum that was encoded. It does the same as [Sum.UnmarshalBinary] and
// [Sum.Merge] in less time, but s may take up to half a megabyte more. The error is that of either;
// s then adds up to the same as before.
func (s *Sum) MergeBinary(data []byte) error {
	if s.intervals == 0 {
		return s.UnmarshalBinary(data)
	}
	s.spare = spareBytes
	e, err := parse(data)
	if err != nil {
		return err
	}
	c := codecs.Get().(*codec)
	defer codecs.Put(c)
	if s.intervals > 1 && e.form >= formMany {
		p, err := e.open(c)
		if err != nil {
			return err
		}
		if s.checkKind(p.Layout()) == nil && s.with(shapeOf(p, len(e.payload))).fits(s.spare) {
			return s.mergePayload(c, e, p)
		}
	}
	var other Sum
	if err := other.UnmarshalBinary(data); err != nil {
		return err
	}
	return s.merge(c, &other)
}

// mergePayload adds the payload of several intervals.
func (s *Sum) mergePayload(c *codec, e encoded, p *histogram.Payload) error {
	if !s.dense {
		// The decoder of c has the payload.
		own := codecs.Get().(*codec)
		defer codecs.Put(own)
		if err := s.thicken(own); err != nil {
			return err
		}
	}
	if err := p.AddTo(&s.counts); err != nil {
		if err = sumError(err, p); !errors.As(err, new(*SumError)) {
			err = encodingError(err)
		}
		return err
	}
	s.include(e.start, e.end, e.intervals, shapeOf(p, len(e.payload)))
	return nil
}

// Compress returns what [Sum.AppendBinary] gives for a sum that [Sum.AppendPlain] encoded, and
// other encoded sums as they are. The error wraps [ErrEncoding].
func Compress(data []byte) ([]byte, error) {
	e, err := parse(data)
	if err != nil || e.form != formPlain {
		return data, err
	}
	c := codecs.Get().(*codec)
	defer codecs.Put(c)
	packed, err := e.compress(c)
	if err != nil {
		return nil, err
	}
	head := slices.Clone(data[:len(data)-len(e.payload)])
	head[1] = formMany
	return append(head, packed...), nil
}

// AppendFieldsOf appends what [Sum.AppendFields] appends of a sum that was encoded. It does not
// check the payload of a single interval. The error wraps [ErrEncoding].
func AppendFieldsOf(text, data []byte, base int64) ([]byte, error) {
	e, err := parse(data)
	if err == nil && e.form == formEmpty {
		err = errEmpty
	}
	if err != nil {
		return text, err
	}
	fields := append(appendTimes(text, base, e.start, e.end), ',')
	switch e.form {
	case formOne:
		return base64x.AppendEncode(append(append(fields, e.max...), ','), e.payload), nil
	case formText:
		return append(append(append(fields, e.max...), ','), e.payload...), nil
	}
	c := codecs.Get().(*codec)
	defer codecs.Put(c)
	p, err := e.open(c)
	if err != nil {
		return text, err
	}
	highest, err := p.Max()
	if err != nil {
		return text, encodingError(err)
	}
	fields = append(appendMax(fields, float64(highest)*unit(p.Layout())), ',')
	packed := e.payload
	if e.form == formPlain {
		if packed, err = e.compress(c); err != nil {
			return text, err
		}
	}
	return base64x.AppendEncode(fields, packed), nil
}

// compress returns the payload of several intervals, compressed. It is valid until c is used.
func (e *encoded) compress(c *codec) ([]byte, error) {
	p, err := e.open(c)
	if err != nil {
		return nil, err
	}
	return c.encoder.Compress(p)
}

// encoded is the parts of an encoded sum.
type encoded struct {
	form       byte
	start, end int64
	intervals  int64  // of formMany and formPlain
	max        []byte // of formOne and formText
	payload    []byte
}

// parse takes an encoded sum apart. The error wraps [ErrEncoding].
func parse(data []byte) (encoded, error) {
	e, err := parts(data)
	return e, encodingError(err)
}

func parts(data []byte) (e encoded, err error) {
	if len(data) < 2 {
		return e, errShort
	}
	version := data[0]
	e.form, data = data[1], data[2:]
	switch {
	case version != encodingVersion:
		return e, fmt.Errorf("version %d", version)
	case e.form == formEmpty && len(data) > 0:
		return e, fmt.Errorf("%d bytes too many", len(data))
	case e.form == formEmpty:
		return e, nil
	case e.form > formPlain:
		return e, fmt.Errorf("form %d", e.form)
	}
	start, size := binary.Varint(data)
	if size <= 0 {
		return e, errShort
	}
	length, data, err := uvarint(data[size:])
	if err != nil {
		return e, err
	}
	if start < -maxTime || start > maxTime || length > uint64(maxTime-start) {
		return e, fmt.Errorf("%w: start %d ms, length %d ms", hdrlog.ErrTime, start, length)
	}
	e.start, e.end = start, start+int64(length)
	n, data, err := uvarint(data) // the number of intervals, or of bytes
	switch {
	case err != nil:
		return e, err
	case e.form >= formMany && (n < 2 || n > 1<<62):
		return e, fmt.Errorf("%d intervals", n)
	case e.form >= formMany:
		e.intervals, e.payload = int64(n), data
		return e, nil
	case n > uint64(min(len(data), maxMax)):
		return e, fmt.Errorf("MAX of %d bytes", n)
	}
	e.max, e.payload = data[:n], data[n:]
	if bytes.ContainsAny(e.max, ", \r\n") || len(e.max) == 0 {
		return e, fmt.Errorf("MAX %q", e.max)
	}
	return e, nil
}

// open opens the payload of several intervals. The error wraps [ErrEncoding].
func (e *encoded) open(c *codec) (*histogram.Payload, error) {
	p, err := c.decoder.OpenBinary(e.payload)
	if err == nil && (p.Version() != 2 || p.Compressed() != (e.form == formMany)) {
		err = errPacked
	}
	return p, encodingError(err)
}

// unmarshal makes s, which is empty, the sum that was encoded.
func (s *Sum) unmarshal(e encoded) error {
	switch e.form {
	case formEmpty:
		return nil
	case formMany, formPlain:
		return s.unmarshalMany(e)
	}
	own := hdrlog.Interval{Fields: append(append([]byte("0,0,"), e.max...), ',')}
	own.Payload = e.payload
	if e.form == formOne {
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
	s.Start, s.End = e.start, e.end
	return nil
}

// unmarshalMany makes s, which is empty, the sum of several intervals.
func (s *Sum) unmarshalMany(e encoded) error {
	c := codecs.Get().(*codec)
	defer codecs.Put(c)
	p, err := e.open(c)
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		return err
	}
	if e.form == formMany {
		s.memory = append(s.memory, e.payload...)
	}
	from := len(s.memory)
	if e.form == formPlain || p.BinarySize() <= plainTimes*len(e.payload)+slack {
		s.memory = p.AppendBinary(s.memory)
	} else {
		from = 0 // it is held compressed
	}
	s.held = append(s.held, member{from: from, to: len(s.memory)})
	s.include(e.start, e.end, e.intervals, shapeOf(p, len(e.payload)))
	if e.form == formMany {
		s.packed = s.memory[:len(e.payload):len(e.payload)]
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
