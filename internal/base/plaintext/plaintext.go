// Package plaintext reads text that may be compressed by gzip or zstd, and be UTF-8 or UTF-16.
package plaintext

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Package hdrlog describes these errors.
var (
	ErrCutShort = errors.New("compressed file is cut short or damaged")
	ErrExpands  = errors.New("compressed file expands too much; decompress it if it is a log")
)

// NewReader returns a reader of the text in src, in UTF-8 without a byte-order mark. If a
// compressed file is cut short, the error wraps [ErrCutShort].
func NewReader(src io.Reader) io.Reader { return &reader{src: src} }

// A reader detects the encoding of src at its first read.
type reader struct {
	src  io.Reader
	text io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if r.text == nil {
		text, err := decode(r.src)
		if err != nil {
			return 0, err
		}
		r.text = text
	}
	return r.text.Read(p)
}

// decode detects the encoding of src from its beginning, and returns a reader of its text.
func decode(src io.Reader) (io.Reader, error) {
	peeked, begin, err := peek(src)
	if err != nil {
		return nil, err
	}
	unpacked, err := decompress(peeked, begin)
	if err != nil {
		return nil, err
	}
	if unpacked != nil {
		if peeked, begin, err = peek(unpacked); err != nil {
			return nil, err
		}
	}
	switch {
	case bytes.HasPrefix(begin, []byte("\xef\xbb\xbf")):
		_, err := peeked.Discard(3)
		return peeked, err
	case bytes.HasPrefix(begin, []byte("\xff\xfe")), len(begin) > 1 && begin[0] != 0 && begin[1] == 0:
		return utf16(peeked, unicode.LittleEndian), nil
	case bytes.HasPrefix(begin, []byte("\xfe\xff")), len(begin) > 1 && begin[0] == 0 && begin[1] != 0:
		return utf16(peeked, unicode.BigEndian), nil
	}
	return peeked, nil
}

// peek returns a buffered src and up to four bytes of its beginning.
func peek(src io.Reader) (*bufio.Reader, []byte, error) {
	// The buffer is small, since later reads are larger. bufio passes those on to src.
	peeked := bufio.NewReaderSize(src, 16)
	begin, err := peeked.Peek(4)
	if err == io.EOF {
		err = nil
	}
	return peeked, begin, err
}

func utf16(r io.Reader, order unicode.Endianness) io.Reader {
	return transform.NewReader(r, unicode.UTF16(order, unicode.UseBOM).NewDecoder())
}

// decompress returns the content of src if begin, its beginning, is that of a gzip or zstd stream,
// and nil otherwise.
func decompress(src io.Reader, begin []byte) (io.Reader, error) {
	source := &sourceReader{Reader: src}
	switch {
	case bytes.HasPrefix(begin, []byte("\x1f\x8b")):
		buffered := bufio.NewReader(source)
		unpacked, err := gzip.NewReader(buffered)
		return &unpacker{Reader: &members{unpacked, buffered, false}, src: source}, source.damage(err)
	case bytes.HasPrefix(begin, []byte("\x28\xb5\x2f\xfd")):
		// Use one goroutine, since the callers have their own. Bound the memory of a hostile
		// window.
		unpacked, err := zstd.NewReader(source, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		return &unpacker{Reader: unpacked, src: source}, source.damage(err)
	}
	return nil, nil
}

// members reads the members of a gzip stream. It returns the text of a member before it reads the
// header of the next one, since the header may be missing in a file that still grows.
type members struct {
	*gzip.Reader
	src   *bufio.Reader
	ended bool // the current member was read to its end
}

func (m *members) Read(p []byte) (int, error) {
	for {
		if m.ended {
			if err := m.Reset(m.src); err != nil {
				return 0, err
			}
		}
		m.Multistream(false)
		n, err := m.Reader.Read(p)
		m.ended = err == io.EOF
		if m.ended {
			err = nil
		}
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
		// The member is empty, or was read to its end before. Read on, since callers give up after
		// a hundred reads of nothing.
	}
}

// A stream of a few bytes can stand for terabytes. Where the same small interval repeats, zstd
// makes a log 90 times as small. So a text longer than freeText must not be more than maxExpansion
// as long as its stream.
const (
	freeText     = 64 << 20
	maxExpansion = 100
)

// maxWindow is the largest zstd window in bytes that a reader accepts: the window of zstd --long.
const maxWindow = 128 << 20

// A sourceReader counts the bytes of its source, and keeps the error of its source, to distinguish
// it from damage of the stream.
type sourceReader struct {
	io.Reader
	size int64
	err  error
}

func (s *sourceReader) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.size += int64(n)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// damage returns the error to report for an error of a decompressor that reads from s: the error of
// the source, or ErrCutShort.
func (s *sourceReader) damage(err error) error {
	switch {
	case err == nil:
		return nil
	case s.err != nil:
		return s.err
	}
	return fmt.Errorf("%w: %v", ErrCutShort, err)
}

// An unpacker turns the errors of a decompressor into ErrCutShort, and ends a text that is far too
// long for its stream with ErrExpands.
type unpacker struct {
	io.Reader
	size int64
	src  *sourceReader
}

func (u *unpacker) Read(p []byte) (int, error) {
	if u.size > freeText && u.size/maxExpansion > u.src.size {
		return 0, fmt.Errorf("%w: more than %d times, after %d MiB", ErrExpands, maxExpansion, u.size>>20)
	}
	n, err := u.Reader.Read(p)
	u.size += int64(n)
	if err == io.EOF {
		return n, err
	}
	return n, u.src.damage(err)
}
