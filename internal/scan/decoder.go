package scan

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
)

// A Fatal error ends a scan. Any other error of decoding only skips the interval.
type Fatal struct{ Err error }

// Error returns the error's text.
func (f Fatal) Error() string { return f.Err.Error() }

// Unwrap returns the error.
func (f Fatal) Unwrap() error { return f.Err }

// A Decoder decodes the payloads of intervals, one after another, and corrects them for coordinated
// omission if that is wanted. [Decoder.Open] comes first; the other methods are about the open
// interval. Make a decoder with [NewDecoder]. It is not safe for concurrent use.
type Decoder struct {
	// Worker is the number of the worker of a scan that owns the decoder, from 0.
	Worker int
	// NewBatch reports that the interval is the first of a batch that the worker decodes.
	NewBatch bool

	expected  float64 // see [Correction]
	payloads  histogram.Decoder
	interval  *hdrlog.Interval     // the open one
	payload   *histogram.Payload   // of the open interval
	counts    *histogram.Histogram // of the open interval, nil if they are not decoded
	recorded  histogram.Histogram
	corrected histogram.Histogram

	limits   *PayloadLimits
	charge   ledger.Charge
	inflated int // the most bytes of a payload so far
	values   corrections
}

// corrections are the numbers of values before and after a correction.
type corrections struct{ before, after int64 }

// maxCorrected is the largest number of values that a correction may make of one value.
const maxCorrected = 100

// NewDecoder returns a decoder. See [Correction] for expected.
func NewDecoder(expected float64, limits *PayloadLimits) *Decoder {
	d := &Decoder{expected: expected, limits: limits}
	d.payloads.Grow = func(bytes int) error {
		d.inflated = max(d.inflated, workTimes*bytes)
		return d.chargeFor(d.inflated)
	}
	return d
}

// The work on a payload takes up to workTimes its inflated size: to hold the payload, to copy it,
// to add it up and to encode the sum.
const workTimes = 8

// PayloadLimits are shared by all decoders of a command. They limit the memory that large payloads
// take, and how much larger payloads are than their text.
type PayloadLimits struct {
	account      *ledger.Account
	text, counts atomic.Int64
}

// NewPayloadLimits returns limits that charge memory for large payloads.
func NewPayloadLimits(memory *ledger.Ledger) *PayloadLimits {
	return &PayloadLimits{account: memory.Open("decoders of large histograms", "use fewer with -j")}
}

// A histogram of a load test has fewer counts above zero than its text has bytes. Hostile payloads
// with a hundred times as many counts take minutes for some megabytes of text. So a scan ends if
// the counts take more than freeCounts bytes, and more than a multiple of the text. In version 2 of
// the encoding only counts above zero take bytes. In versions 0 and 1 each slot takes 2 to 8 bytes:
// a log of YCSB has 40 times the bytes of its text, and an hour with a single high value in each
// second has a gigabyte of zeros.
const (
	freeCounts  = 1 << 30
	maxCounts   = 100 // times the text, in version 2
	maxCountsV1 = 400 // times the text, in versions 0 and 1
)

// check adds a payload to the totals, and returns an error if payloads expand too much.
func (l *PayloadLimits) check(text []byte, p *histogram.Payload) error {
	most := int64(maxCounts)
	if p.Version() < 2 {
		most = maxCountsV1
	}
	total := l.text.Add(int64(len(text)))
	counts := l.counts.Add(int64(p.CountsSize()))
	if counts > freeCounts && counts/most > total {
		return Fatal{fmt.Errorf("histograms expand too much: %d MiB of counts in %d "+
			"KiB of text", counts>>20, total>>10)}
	}
	return nil
}

// chargeFor charges for a number of bytes, if that is at least a megabyte and more than before.
func (d *Decoder) chargeFor(bytes int) error {
	if bytes < 1<<20 || bytes <= d.charge.Bytes() {
		return nil
	}
	if err := d.charge.Set(d.limits.account, 1, bytes); err != nil {
		return Fatal{err}
	}
	return nil
}

// checkWhole returns an error if the payload of an interval is cut short, as after a crash. Whether
// the log crashed matters even if the selection does not have the interval. checkWhole reads only
// the header of a payload that is complete.
func (d *Decoder) checkWhole(r *hdrlog.Record) error {
	_, _, length := histogram.Peek(r.Interval.Payload)
	if length == 0 && !r.CutOff() || length > 0 && length <= int64(len(bytes.TrimRight(r.Interval.Payload, "="))) {
		return nil
	}
	_, err := d.payloads.Open(r.Interval.Payload)
	return err
}

// Open opens the payload of an interval. The interval stays open until the next one is opened.
func (d *Decoder) Open(i *hdrlog.Interval) error {
	p, err := d.payloads.Open(i.Payload)
	if err == nil {
		err = d.limits.check(i.Payload, p)
	}
	d.interval = i
	d.payload = p
	d.counts = nil
	return err
}

// Layout returns the layout of the counts.
func (d *Decoder) Layout() histogram.Layout { return d.payload.Layout() }

// Double reports whether the values are doubles.
func (d *Decoder) Double() bool { return d.payload.Double() }

// AddTo adds the interval to sums. After a [merge.SumError], one of the sums lacks the interval.
// Any other error says what is wrong with the payload. Without sums, AddTo only checks the payload.
func (d *Decoder) AddTo(sums ...*merge.Sum) error {
	if err := d.prepare(); err != nil {
		return err
	}
	if len(sums) == 0 && d.counts == nil {
		return d.payload.Check()
	}
	var sumErr error
	// The last sum mostly has a histogram. Adding to it checks the counts, so sums that pack them
	// come after it.
	for _, sum := range slices.Backward(sums) {
		err := d.addTo(sum)
		sumErr = cmp.Or(sumErr, err)
		if err != nil && !errors.As(err, new(*merge.SumError)) {
			return err
		}
	}
	return sumErr
}

func (d *Decoder) addTo(sum *merge.Sum) error {
	start, end := d.interval.StartMillis(), d.interval.EndMillis()
	if d.expected != 0 {
		return sum.AddHistogram(start, end, d.counts)
	}
	return sum.AddCounts(start, end, d.payload)
}

// AddText is [Decoder.AddTo] for a sum that keeps the text of a single interval, to write it as it
// is.
func (d *Decoder) AddText(sum *merge.Sum) error {
	if err := d.prepare(); err != nil {
		return err
	}
	if d.expected != 0 {
		return d.addTo(sum)
	}
	return sum.AddPayload(d.interval, d.payload)
}

// prepare decodes the counts if nothing else can be done with them. Doubles are rare.
func (d *Decoder) prepare() (err error) {
	if d.expected != 0 || d.payload.Double() {
		_, err = d.Counts()
	}
	return err
}

// MaxAndCount returns the highest value in the unit of the log, 0 if there is none, and the number
// of values. After [Decoder.AddTo] or [Decoder.Counts] it takes little time.
func (d *Decoder) MaxAndCount() (highest float64, count int64, err error) {
	if err := d.prepare(); err != nil {
		return 0, 0, err
	}
	if h := d.counts; h != nil {
		return h.Float(h.Max()), h.TotalCount(), nil
	}
	most, count, err := d.payload.MaxAndCount()
	return float64(most), count, err
}

// Counts returns the counts, corrected if that is wanted. The caller must not change them. They are
// valid until the next interval is opened.
func (d *Decoder) Counts() (*histogram.Histogram, error) {
	if d.counts != nil {
		return d.counts, nil
	}
	h, err := d.decode()
	if err == nil {
		d.counts = h
	}
	return h, err
}

// decode decodes the payload, and corrects the counts if that is wanted.
func (d *Decoder) decode() (*histogram.Histogram, error) {
	p := d.payload
	size := 8 * p.Layout().SlotsFor(p.Highest())
	if d.expected != 0 {
		size *= 2
	}
	if err := d.chargeFor(d.inflated + size); err != nil {
		return nil, err
	}
	if err := p.Decode(&d.recorded); err != nil || d.expected == 0 {
		return &d.recorded, err
	}
	err := d.recorded.CorrectInto(&d.corrected, d.expected)
	switch {
	case errors.Is(err, histogram.ErrExpected):
		return nil, Fatal{fmt.Errorf("-co: %w", err)} // the fault of the command line, not of the payload
	case err != nil:
		return nil, fmt.Errorf("corrected for coordinated omission: %w", err)
	}
	d.values.before += d.recorded.TotalCount()
	d.values.after += d.corrected.TotalCount()
	return &d.corrected, nil
}
