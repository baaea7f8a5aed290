package histogram

import (
	"errors"
	"fmt"

	"hdrkit/hdrlog/internal/base64x"
	"hdrkit/hdrlog/internal/inflate"
)

// inflateInto inflates a zlib stream into raw and returns the number of bytes. If the stream holds
// more, raw is full and more is true. Nothing may follow the stream.
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

// decodeBase64 decodes text into buf, which it grows if needed. The padding may be missing.
func decodeBase64(buf, text []byte) ([]byte, error) {
	if need := base64x.DecodedLen(len(text)); cap(buf) < need {
		buf = make([]byte, need+need/2)
	}
	buf = buf[:cap(buf)]
	n, err := base64x.Decode(buf, text)
	var bad base64x.CorruptError
	if errors.As(err, &bad) {
		if int(bad) == len(text) {
			return buf, fmt.Errorf("%w: it ends after %d bytes", ErrBase64, len(text))
		}
		return buf, fmt.Errorf("%w: byte %d of %d", ErrBase64, int(bad)+1, len(text))
	}
	return buf[:n], err
}
