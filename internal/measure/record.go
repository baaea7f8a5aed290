package measure

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
)

// A Recorder adds up the rows of files in intervals, and writes these as a log: the windows of
// package merge. An interval stays open until none of its values can come any more. So the memory
// depends on the number of open intervals and tags. Call [Recorder.Into] before others.
type Recorder struct {
	// AtEnd says that a value belongs to the interval of its end, not to that of its start.
	AtEnd func(r *Reader) bool
	// Failed says what becomes of failed requests.
	Failed Failed
	// Late is how much later than others a row may come, in milliseconds.
	Late int64
	// Report takes what is wrong with rows. If it returns an error, recording ends with that.
	Report func(err *hdrlog.SyntaxError) error

	Counts Counts

	w       *hdrlog.Writer
	layout  histogram.Layout
	header  func(w *hdrlog.Writer) error // writes comments
	readers []*Reader
	base    int64 // milliseconds since the epoch
	begun   bool
	done    int64 // intervals that end at or before this are written
	// first and last are the earliest and the latest time of a value. The times of values are
	// multiples of resolution, all in milliseconds.
	first, last, resolution int64
	open                    merge.Table[counts]
	series                  map[string]*series // by tag, as files spell it
	tags                    map[string]*series
	account                 *ledger.Account // of counts
	charge                  ledger.Charge
	bytes                   int // that counts take
	scratch                 histogram.Histogram
	decoder                 histogram.Decoder
	tag, key                []byte
}

// Into sets the log that is written: intervals of size milliseconds, with a layout that is valid.
// Before the first one, header writes comments. What the open ones take is charged to memory.
func (r *Recorder) Into(w *hdrlog.Writer, size int64, layout histogram.Layout, memory *ledger.Ledger, header func(w *hdrlog.Writer) error) {
	r.account = memory.Open("tags, with their open intervals,", "choose fewer with -tag, or write intervals sooner with a smaller -late")
	r.w = w
	r.layout = layout
	r.header = header
	r.open = merge.NewTable[counts](size)
	r.done = never
	r.first = math.MaxInt64
	r.last = never
	r.resolution = 1000
	r.series, r.tags = make(map[string]*series), make(map[string]*series)
}

// Failed is what becomes of failed requests.
type Failed int

const (
	KeepFailed Failed = iota // with the others
	DropFailed
	TagFailed // with a tag of their own
)

// FailedTag is the last part of the tag of failed requests.
const FailedTag = "failed"

// Counts count rows. Each row is one of Recorded, Dropped, Other, Late and Malformed.
type Counts struct {
	Recorded, Malformed int64
	Failed, Dropped     int64 // of those that failed, Dropped are not recorded
	Other               int64 // are of other metrics
	Late                int64
}

// Errors of rows that are like others, but cannot be recorded.
var (
	errEarly = errors.New("what began or ended at this time is outside of the years 1970 to 2262")
	// ErrLate: the interval of a row is written already.
	ErrLate = errors.New("the row comes too late for its interval")
)

// never is the time before the first row.
const never = math.MinInt64 / 2

// farAhead is how much later than all others a row can be, in milliseconds, and be right without
// another one that is as late.
const farAhead = 3600_000

// see takes the time of a row. A single one in the future must not close all intervals.
func (s *Reader) see(at int64) {
	near := s.ahead-farAhead <= at && at <= s.ahead+farAhead
	switch {
	case s.at == never && s.ahead == never:
		s.ahead = at
	case s.at == never && !near:
		s.at, s.ahead = min(at, s.ahead), max(at, s.ahead)
	case at <= s.at:
	case near || at-s.at <= farAhead:
		s.at = at
	default:
		s.ahead = at
	}
}

// Run records all rows of files, those of several files in order of their times. If the rows of a
// file are in no order, all are recorded before the first interval is written.
func (r *Recorder) Run(readers []*Reader) error {
	r.begin(readers)
	for {
		if more, err := r.step(); !more || err != nil {
			return err
		}
	}
}

func (r *Recorder) begin(readers []*Reader) {
	r.readers = readers
	if slices.ContainsFunc(readers, func(s *Reader) bool { return s.format != nil && s.format.unordered }) {
		r.Late = math.MaxInt64 / 4
	}
}

// step records some rows. After the last ones it closes all intervals and returns false.
func (r *Recorder) step() (more bool, err error) {
	if len(r.readers) == 0 {
		return false, r.write(math.MaxInt64)
	}
	behind := func(a, b *Reader) int { return cmp.Compare(a.at, b.at) }
	next := slices.MinFunc(r.readers, behind)
	more, err = r.some(next)
	if err != nil {
		return false, err
	}
	if !more {
		r.readers = slices.DeleteFunc(r.readers, func(s *Reader) bool { return s == next })
	}
	if len(r.readers) == 0 {
		return true, nil
	}
	return true, r.Advance(slices.MinFunc(r.readers, behind), r.Late)
}

// some records some rows of a file. It returns false after the last one.
func (r *Recorder) some(s *Reader) (more bool, err error) {
	for range 1000 {
		if !s.Scan() {
			r.Counts.Other += s.other
			return false, r.ended(s)
		}
		if err := r.add(s); err != nil {
			return false, err
		}
	}
	return true, nil
}

// ended returns the error that ended a file, unless its end is damaged, which is reported.
func (r *Recorder) ended(s *Reader) error {
	err := s.Err()
	switch {
	case errors.Is(err, hdrlog.ErrCutShort):
		r.Counts.Malformed++
		return r.Report(s.malformed("line", err))
	case err != nil:
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

// Since reports whether the newest row is not older than a time.
func (s *Reader) Since(then time.Time) bool { return s.at >= then.UnixMilli() }

// Advance writes the intervals to which no row of the file that is furthest behind can belong, if
// it is at most so many milliseconds late.
func (r *Recorder) Advance(s *Reader, late int64) error {
	if s.at == never {
		return nil
	}
	return r.write(s.at - late)
}

// WriteOver writes the intervals of the only file that are over now, in milliseconds since the
// epoch, although a row that is not late could belong to them.
func (r *Recorder) WriteOver(s *Reader, now int64) error {
	if s.at == never {
		return nil
	}
	return r.write(min(merge.WindowOf(s.at, s.at, r.open.Size()).End, now))
}

// add records the row that a file has advanced to.
func (r *Recorder) add(s *Reader) error {
	err, row := s.bad, &s.row
	if err == nil && row.Payload != nil {
		r.Counts.Recorded++
		return r.addPayload(row)
	}
	if err == nil {
		if row.Time%1e9 != 0 {
			r.resolution = 1
		}
		err = s.malformed(s.setup.Time, r.shift(row, s))
	}
	if err != nil {
		r.Counts.Malformed++
		return r.Report(err)
	}
	if row.Failed {
		r.Counts.Failed++
		switch r.Failed {
		case DropFailed:
			r.Counts.Dropped++
			return nil
		case TagFailed:
			r.tag = appendTagPart(append(r.tag[:0], row.Tag...), row.Tag != nil, FailedTag)
			row.Tag = r.tag
		}
	}
	at := row.Time / 1e6
	s.see(at)
	ok := at > s.at-r.Late || merge.WindowOf(at, at, r.open.Size()).End > s.at-r.Late
	if ok {
		var err error
		if ok, err = r.count(row); err != nil {
			return fmt.Errorf("%s:%d: %w", s.name, s.Line(), err)
		}
	}
	if !ok {
		r.Counts.Late++
		return r.Report(s.malformed(s.setup.Time, ErrLate))
	}
	r.Counts.Recorded++
	return nil
}

// shift moves the time of a row to that of its interval.
func (r *Recorder) shift(row *Row, s *Reader) error {
	switch {
	case r.AtEnd(s) == s.AtEnd():
	case s.AtEnd():
		row.Time -= row.Value
	default:
		row.Time += row.Value // below 2^64
	}
	if row.Time < 0 {
		return errEarly
	}
	return nil
}
