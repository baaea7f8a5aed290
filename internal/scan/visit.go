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

// A Visit is an interval of a scan.
type Visit struct {
	*hdrlog.Interval
	Place
	Row   []byte // that [Scan.By] puts the interval in: its tag, if nothing else was asked for
	First bool   // of its batch, where it is decoded
	// Part is what ran in the interval: the input, or with phases the part of it that has the
	// interval. Its remainder by the number of inputs is the input.
	Part int
	// Again says that the interval is in several phases, and was visited in another one before.
	Again   bool
	decoder *Decoder // of the worker
}

// Span returns when the interval starts and ends, in milliseconds since the epoch. It does not end
// before it starts.
func (v Visit) Span() (start, end int64) {
	start = v.StartMillis()
	return start, max(start, v.EndMillis())
}

// Passes returns the time that an input has passed once it has an interval with this span, see
// [Scan.Late]: as long before its start as the interval is long.
func Passes(start, end int64) int64 { return 2*start - end }

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
	payloads  histogram.Decoder
	recorded  histogram.Histogram
	corrected histogram.Histogram

	shared   *Payloads
	charge   ledger.Charge
	inflated int // the most bytes of a payload so far
	// values are the numbers of values before and after the correction so far.
	values corrections
}

// corrections are numbers of values.
type corrections struct{ before, after int64 }

// mostCorrected is how many values a correction may make of one.
const mostCorrected = 100

// NewDecoder returns a decoder. See [Scan.Expected] for expected.
func NewDecoder(expected float64, shared *Payloads) *Decoder {
	d := &Decoder{expected: expected, shared: shared}
	d.payloads.Grow = func(bytes int) error {
		d.inflated = max(d.inflated, workTimes*bytes)
		return d.chargeFor(d.inflated)
	}
	return d
}

// workTimes is how many times the inflated payload the work on it may take: to hold it, to copy it,
// to add it up and to encode the sum.
const workTimes = 8

// Payloads is what all decoders of a command share: the memory that large payloads take, and how
// far payloads expanded.
type Payloads struct {
	account      *ledger.Account
	text, counts atomic.Int64
}

// NewPayloads opens the account of decoders.
func NewPayloads(l *ledger.Ledger) *Payloads {
	return &Payloads{account: l.Open("decoders of large histograms", "use fewer with -j")}
}

// A histogram of a load test has fewer counts that are not zero than its text has bytes. Payloads
// that stand for a hundred times as many take minutes for some megabytes of text. So a scan ends if
// payloads are many times as large as their text, and larger than what is free. In version 2 only
// counts that are not zero take bytes. In versions 0 and 1 each slot takes 2 to 8 bytes: YCSB's log
// has 40 times as much as its text, and an hour of a single high value in each second a gigabyte of
// zeros.
const (
	freeCounts = 1 << 30 // bytes
	mostCounts = 100     // in version 2
	mostSlots  = 400     // in versions 0 and 1
)

// expand takes in a payload.
func (s *Payloads) expand(text []byte, p *histogram.Payload) error {
	most := int64(mostCounts)
	if p.Version() < 2 {
		most = mostSlots
	}
	total := s.text.Add(int64(len(text)))
	counts := s.counts.Add(int64(p.CountsSize()))
	if counts > freeCounts && counts/most > total {
		return Fatal{fmt.Errorf("histograms expand too much: %d MiB of counts in %d "+
			"KiB of text", counts>>20, total>>10)}
	}
	return nil
}

// chargeFor charges for bytes, if they are many and more than before.
func (d *Decoder) chargeFor(bytes int) error {
	if bytes < 1<<20 || bytes <= d.charge.Bytes() {
		return nil
	}
	if err := d.charge.Set(d.shared.account, 1, bytes); err != nil {
		return Fatal{err}
	}
	return nil
}

// Visit returns an interval that can be decoded until the next one is visited.
func (d *Decoder) Visit(i *hdrlog.Interval, at Place) Visit {
	return Visit{Interval: i, Place: at, Row: i.Tag, Part: at.Input, decoder: d}
}

// checkWhole returns an error if the payload of an interval is cut short, as a crash leaves it. A
// crash concerns the whole log, so that is an error whether the selection has the interval or not.
// Of a whole payload it reads the header alone.
func (d *Decoder) checkWhole(r *hdrlog.Record) error {
	_, _, length := histogram.Peek(r.Interval.Payload)
	if length == 0 && !r.CutOff() || length > 0 && length <= int64(len(bytes.TrimRight(r.Interval.Payload, "="))) {
		return nil
	}
	_, err := d.payloads.Open(r.Interval.Payload)
	return err
}

// A Want says what a worker takes of an interval besides [Taken.Double]. Text has sums keep the
// text of a single interval, to write it as it is.
type Want struct{ Counts, Max, Text bool }

// Taken is what a worker has of an interval, corrected for coordinated omission if that was asked
// for.
type Taken struct {
	// Counts is what was recorded, if that is wanted. It must not be changed, and is valid until
	// the worker decodes another interval.
	Counts *histogram.Histogram
	// Max is the highest value in the unit of the log, 0 if there is none, and Count the number of
	// values, if Max is wanted.
	Max   float64
	Count int64
	// Double reports that the values are doubles.
	Double bool
}

// Open opens the payload, for [Visit.DecodeOpen].
func (v Visit) Open() (*histogram.Payload, error) {
	d := v.decoder
	p, err := d.payloads.Open(v.Payload)
	if err == nil {
		err = d.shared.expand(v.Payload, p)
	}
	return p, err
}

// Decode decodes the interval, and adds it to sums. After a [merge.SumError], one of the sums lacks
// the interval, and all else is as wanted. Any other error says what is wrong with the payload.
// Call Decode where the interval is decoded.
func (v Visit) Decode(want Want, sums ...*merge.Sum) (t Taken, err error) {
	p, err := v.Open()
	if err != nil {
		return t, err
	}
	return v.DecodeOpen(p, want, sums...)
}

// DecodeOpen is [Visit.Decode] for a payload that is open.
func (v Visit) DecodeOpen(p *histogram.Payload, want Want, sums ...*merge.Sum) (t Taken, err error) {
	d := v.decoder
	var h *histogram.Histogram
	if want.Counts || d.expected != 0 || p.Double() { // doubles are rare
		if h, err = d.decode(p); err != nil {
			return t, err
		}
	} else if !want.Max && len(sums) == 0 {
		return t, p.Check()
	}
	var sumErr error
	// The last sum mostly has a histogram. Adding to it checks the counts, so sums that pack them
	// come after it.
	for _, sum := range slices.Backward(sums) {
		err := error(nil)
		switch {
		case d.expected != 0:
			err = sum.AddHistogram(v.StartMillis(), v.EndMillis(), h)
		case want.Text:
			err = sum.AddPayload(v.Interval, p)
		default:
			err = sum.AddCounts(v.StartMillis(), v.EndMillis(), p)
		}
		sumErr = cmp.Or(sumErr, err)
		if err != nil && !errors.As(err, new(*merge.SumError)) {
			return t, err
		}
	}
	if h != nil {
		t.Counts = h
		t.Count = h.TotalCount()
		t.Max = h.Float(h.Max())
	} else if want.Max {
		highest, count, err := p.MaxAndCount()
		if err != nil {
			return t, err
		}
		t.Max, t.Count = float64(highest), count
	}
	t.Double = p.Double()
	return t, sumErr
}

// decode returns the counts of a payload, corrected if that was asked for: the one place for that.
func (d *Decoder) decode(p *histogram.Payload) (*histogram.Histogram, error) {
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

// Kinds find the first interval of integers and the first of doubles of a tag, which do not add up.
// The zero value is ready. The outcome does not depend on the order in which intervals are added.
type Kinds struct{ integer, double Place }

// Add takes in an interval.
func (k *Kinds) Add(double bool, at Place) {
	if double {
		k.Merge(Kinds{double: at})
	} else {
		k.Merge(Kinds{integer: at})
	}
}

// Merge takes in those of another one.
func (k *Kinds) Merge(other Kinds) {
	if other.integer.before(k.integer) {
		k.integer = other.integer
	}
	if other.double.before(k.double) {
		k.double = other.double
	}
}

// Err returns nil if there are not both, and otherwise an error that wraps [histogram.ErrKind] and
// names the first of each.
func (k *Kinds) Err() error {
	if k.integer.Line == 0 || k.double.Line == 0 {
		return nil
	}
	return fmt.Errorf("%w: integers at %s, doubles at %s", histogram.ErrKind, k.integer, k.double)
}
