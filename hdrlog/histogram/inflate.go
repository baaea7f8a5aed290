package histogram

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	simd "github.com/segmentio/asm/base64"

	"hdrkit/hdrlog/internal/inflate"
)

// inflateInto inflates a zlib stream into raw and returns the number of bytes. If the stream holds
// more than raw, raw is full and more is true. Bytes after the stream are an error.
func (d *Decoder) inflateInto(raw, deflated []byte) (n int, more bool, err error) {
	n, used, err := d.inflater.Zlib(raw, deflated)
	switch {
	case errors.Is(err, inflate.ErrTooLong):
		return n, true, nil
	case errors.Is(err, inflate.ErrChecksum):
		return n, false, ErrChecksum
	case errors.Is(err, inflate.ErrTruncated):
		return n, false, fmt.Errorf("%w: the compressed stream is not whole", ErrTruncated)
	case err != nil:
		return n, false, fmt.Errorf("%w: %w", ErrCorrupt, err)
	case used < len(deflated):
		return n, false, fmt.Errorf("%w: %d bytes follow the compressed stream", ErrTooLong, len(deflated)-used)
	}
	return n, false, nil
}

// decodeBase64 decodes text into buf, or into a larger buffer if needed. The padding may be
// missing.
func decodeBase64(buf, text []byte) ([]byte, error) {
	plain := unpadded(text)
	need := base64.RawStdEncoding.DecodedLen(len(plain))
	if cap(buf) < need {
		buf = make([]byte, need+need/2)
	}
	buf = buf[:cap(buf)]
	if n, err := simd.RawStdEncoding.Decode(buf, plain); err == nil && n == need {
		return buf[:n], nil
	}
	_, err := base64.RawStdEncoding.Decode(buf, plain) // simd does not return the position
	at := bytes.IndexAny(plain, "\r\n")                // encoding/base64 skips line breaks
	if bad := base64.CorruptInputError(0); errors.As(err, &bad) && (at < 0 || int(bad) < at) {
		at = int(bad)
	}
	// A single last character is less than a byte.
	if at == len(plain)-1 && len(plain)%4 == 1 && strings.IndexByte(alphabet, plain[at]) >= 0 {
		return buf, fmt.Errorf("%w: it ends after %d bytes", ErrBase64, len(text))
	}
	return buf, fmt.Errorf("%w: byte %d of %d", ErrBase64, at+1, len(text))
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// unpadded returns text without its padding.
func unpadded(text []byte) []byte {
	if len(text)%4 != 0 {
		return text
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("=")), []byte("="))
}
