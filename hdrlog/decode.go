package hdrlog

import "hdrkit/hdrlog/histogram"

// Histogram decodes the payload of the interval. It allocates all that it needs. A
// [histogram.Decoder] that is used again and again is faster, and can add intervals to a sum.
func (i *Interval) Histogram() (*histogram.Histogram, error) {
	var decoder histogram.Decoder
	h := new(histogram.Histogram)
	if err := decoder.Decode(h, i.Payload); err != nil {
		return nil, err
	}
	return h, nil
}
