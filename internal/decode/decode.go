// Package decode turns the payloads of intervals into histograms, corrected for coordinated omission where that was asked
// for.
package decode

import (
	"errors"
	"fmt"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/scan"
)

// A Decoder decodes payloads. It is not safe for concurrent use.
type Decoder struct {
	// Expected is the interval at which values were to be recorded, in the units of the log; see
	// [histogram.Histogram.CorrectInto]. At 0 nothing is corrected.
	Expected float64

	decoder  histogram.Decoder
	recorded histogram.Histogram
}

// Into makes h what the payload holds. An error that is the command line's fault, and not the payload's, is a
// [scan.Fatal].
func (d *Decoder) Into(h *histogram.Histogram, text []byte) error {
	p, err := d.decoder.Open(text)
	if err != nil {
		return err
	}
	recorded := h
	if d.Expected != 0 {
		recorded = &d.recorded
	}
	recorded.Reset(p.Layout())
	if err := p.AddTo(recorded); err != nil {
		return err
	}
	if d.Expected == 0 {
		return nil
	}
	switch err := recorded.CorrectInto(h, d.Expected); {
	case errors.Is(err, histogram.ErrExpected):
		return scan.Fatal{Err: fmt.Errorf("-co: %w", err)}
	case err != nil:
		return fmt.Errorf("corrected for coordinated omission: %w", err)
	}
	return nil
}
