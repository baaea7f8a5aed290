package scan

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
)

// A Visit is an interval of a scan.
type Visit struct {
	*hdrlog.Interval
	Place
	decoder *Decoder // of the worker; nil once the interval is decoded
}

// A Fatal error ends a scan. Another error of decoding only costs the interval.
type Fatal struct{ Err error }

// Error returns the error's text.
func (f Fatal) Error() string { return f.Err.Error() }

// Unwrap returns the error.
func (f Fatal) Unwrap() error { return f.Err }

// A Decoder decodes intervals, and corrects them for coordinated omission if that was asked for:
// see [Scan.Expected]. Make one with [NewDecoder]. It is not safe for concurrent use.
type Decoder struct {
	expected  float64
	claimed   int // bytes of bigs
	payloads  histogram.Decoder
	payload   *histogram.Payload   // of the visit at hand, nil until it is opened
	counts    *histogram.Histogram // its counts, nil until they are decoded
	recorded  histogram.Histogram
	corrected histogram.Histogram
}

// bigs is the memory of all decoders for payloads that take much.
var bigs = histogram.NewBudget(64 << 20)

// mostKept is the number of bytes that a decoder keeps for another payload.
const mostKept = 8 << 20

// NewDecoder returns a decoder. See [Scan.Expected] for expected.
func NewDecoder(expected float64) *Decoder {
	d := &Decoder{expected: expected}
	d.payloads.Claim = d.claim
	return d
}

// claim waits until a payload may take its memory.
func (d *Decoder) claim(payload, counts int) {
	if d.claimed > 0 {
		return // the payload is bad, and opened again
	}
	d.claimed = payload + counts
	if d.expected != 0 {
		d.claimed += counts
	}
	if !bigs.Take(d.claimed) {
		d.claimed = 0
		return
	}
	SaveMemory()
}

// SaveMemory has garbage collected sooner. It is called for the first big payload, which few logs
// have.
var SaveMemory = sync.OnceFunc(func() {
	const percent = 40
	if old := debug.SetGCPercent(percent); 0 <= old && old < percent {
		debug.SetGCPercent(old)
	}
})

// Release ends a visit. Other decoders may then take the memory of a big payload.
func (d *Decoder) Release() {
	if d.claimed == 0 {
		return
	}
	freed := d.payloads.Memory() + d.recorded.Memory() + d.corrected.Memory()
	if freed > mostKept {
		d.payloads = histogram.Decoder{Claim: d.claim}
		d.payload, d.counts, d.recorded, d.corrected = nil, nil, histogram.Histogram{}, histogram.Histogram{}
	} else {
		freed = 0
	}
	bigs.Give(d.claimed, freed)
	d.claimed = 0
}

// Visit returns an interval that can be decoded until the next one is visited, or until
// [Decoder.Release], which must be called before that.
func (d *Decoder) Visit(i *hdrlog.Interval, at Place) Visit {
	d.payload, d.counts = nil, nil
	return Visit{i, at, d}
}

func (v Visit) open() (*histogram.Payload, error) {
	d := v.decoder
	if d.payload != nil {
		return d.payload, nil
	}
	p, err := d.payloads.Open(v.Payload)
	if err == nil {
		d.payload = p
	}
	return p, err
}

// Check decodes the counts and returns the error of that, without correction. Call it where the
// interval is decoded.
func (v Visit) Check() error {
	p, err := v.open()
	if err != nil {
		return err
	}
	return p.Check()
}

// Histogram returns what was recorded, corrected if that was asked for. It must not be changed, and
// is valid until the worker decodes another interval. Call it where the interval is decoded.
func (v Visit) Histogram() (*histogram.Histogram, error) {
	d := v.decoder
	if d.counts != nil {
		return d.counts, nil
	}
	p, err := v.open()
	if err != nil {
		return nil, err
	}
	if err := p.Decode(&d.recorded); err != nil {
		return nil, err
	}
	d.counts = &d.recorded
	if d.expected == 0 {
		return d.counts, nil
	}
	d.counts = nil
	switch err := d.recorded.CorrectInto(&d.corrected, d.expected); {
	case errors.Is(err, histogram.ErrExpected):
		return nil, Fatal{fmt.Errorf("-co: %w", err)} // the fault of the command line, not of the payload
	case err != nil:
		return nil, fmt.Errorf("corrected for coordinated omission: %w", err)
	}
	d.counts = &d.corrected
	return d.counts, nil
}

// Max returns the highest value of the interval in the unit of the log, 0 if it is empty. Call it
// where the interval is decoded.
func (v Visit) Max() (float64, error) {
	p, err := v.open()
	if err != nil {
		return 0, err
	}
	if d := v.decoder; d.counts != nil || d.expected != 0 || p.Double() {
		h, err := v.Histogram()
		if err != nil {
			return 0, err
		}
		return h.Float(h.Max()), nil
	}
	highest, err := p.Max()
	return float64(highest), err
}

// AddTo adds the interval to a sum, corrected if that was asked for. The error is that of the
// payload, or a [merge.SumError]. Call it where the interval is decoded.
func (v Visit) AddTo(sum *merge.Sum) error {
	p, err := v.open()
	if err != nil {
		return err
	}
	if expected := v.decoder.expected; expected != 0 {
		h, err := v.Histogram()
		if err != nil {
			return err
		}
		return sum.AddCorrected(v.Interval, p, expected, h)
	}
	return sum.AddPayload(v.Interval, p)
}

// An Extent is what decides whether an interval adds up with others.
type Extent struct {
	// Ratio is that of its layout: 0 for integers.
	Ratio float64
	// Highest is the highest value of doubles.
	Highest float64
}

// Extent returns the extent of the interval, whose payload is all right. Call it where the interval
// is decoded.
func (v Visit) Extent() (Extent, error) {
	p, err := v.open()
	if err != nil || !p.Double() {
		return Extent{}, err
	}
	h, err := v.Histogram() // doubles are rare enough to decode them once more
	if err != nil {
		return Extent{}, err
	}
	return Extent{h.Ratio(), h.Float(h.Max())}, nil
}

// Extents find the intervals of a tag that do not add up. The zero value is ready. The outcome does
// not depend on the order in which intervals are added.
type Extents struct {
	integer, double  Place // the first of each kind
	ratio, highest   float64
	finest, farthest Place // the first doubles with the smallest ratio and with the highest value
}

// Add takes in the extent of an interval.
func (e *Extents) Add(x Extent, at Place) {
	if x.Ratio == 0 {
		if at.before(e.integer) {
			e.integer = at
		}
		return
	}
	e.Merge(&Extents{double: at, ratio: x.Ratio, highest: x.Highest, finest: at, farthest: at})
}

// Merge adds the extents of f to e.
func (e *Extents) Merge(f *Extents) {
	if f.integer.before(e.integer) {
		e.integer = f.integer
	}
	if f.double.Line == 0 {
		return
	}
	if e.double.Line == 0 || f.ratio < e.ratio || f.ratio == e.ratio && f.finest.before(e.finest) {
		e.ratio, e.finest = f.ratio, f.finest
	}
	if e.double.Line == 0 || f.highest > e.highest || f.highest == e.highest && f.farthest.before(e.farthest) {
		e.highest, e.farthest = f.highest, f.farthest
	}
	if f.double.before(e.double) {
		e.double = f.double
	}
}

// KindErr returns nil if there are not both integers and doubles, and otherwise an error that wraps
// [histogram.ErrKind] and names the first of each.
func (e *Extents) KindErr() error {
	if e.integer.Line == 0 || e.double.Line == 0 {
		return nil
	}
	return fmt.Errorf("%w: integers at %s, doubles at %s", histogram.ErrKind, e.integer, e.double)
}

// Explain returns an error of adding up the intervals, with the places of two that do not add up
// where it is [histogram.ErrKind] or [histogram.ErrSpan]. It returns nil for nil.
func (e *Extents) Explain(err error) error {
	switch {
	case errors.Is(err, histogram.ErrKind):
		return e.KindErr()
	case errors.Is(err, histogram.ErrSpan):
		return fmt.Errorf("%w: up to %v at %s, beside multiples of %v at %s", histogram.ErrSpan, e.highest, e.farthest, e.ratio, e.finest)
	}
	return err
}
