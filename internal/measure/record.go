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
	"hdrkit/internal/base/ledger"
)

// A Recording says how rows become a log.
type Recording struct {
	// AtEnd says that a value belongs to the interval of its end, not to that of its start.
	AtEnd func(r *Reader) bool
	// Failed says what becomes of failed requests.
	Failed Failed
	// Late is how much later than others a row may come, in milliseconds. A row that ends as much
	// before others start is late.
	Late int64
	// Size is the length of intervals in milliseconds. Layout is that of histograms, and valid.
	Size   int64
	Layout histogram.Layout
	// Memory is charged for the open intervals.
	Memory *ledger.Ledger
	// Report takes what is wrong with rows. If it returns an error, recording ends with that.
	Report func(err *hdrlog.SyntaxError) error
	// Ended, if set, is called when all rows are recorded.
	Ended func(r *Recorder)
}

// UsualRecording returns what hdrrec does if no option says otherwise.
func UsualRecording() Recording {
	return Recording{
		AtEnd:  (*Reader).AtEnd,
		Late:   60_000,
		Size:   1000,
		Layout: histogram.Layout{Digits: 3},
	}
}

// A Recorder adds up the rows of files in intervals, and writes these as a log: the windows of
// package merge. An interval stays open until none of its values can come any more. So the memory
// depends on the number of open intervals and tags.
//
// A row has the time of its start, but programs write it at its end: the interval of a slow request
// may be written already. Then the row begins another interval of the same time, out of order.
type Recorder struct {
	options Recording
	Counts  Counts

	readers []*Reader
	tag     []byte
	windows windows
	// lookBack is the least Late for which no row comes after its interval, in milliseconds.
	lookBack int64
	atRest   bool // no row is late, see [Files]
	looks    bool // rows are only looked at
}

// NewRecorder returns a recorder that writes a log to w. Its first comments name the format of the
// first reader.
func NewRecorder(w *hdrlog.Writer, o Recording) *Recorder {
	r := &Recorder{options: o}
	r.windows.init(w, &o)
	return r
}

// look stops the recording: from now on rows are only looked at, for lookBack and Counts.
func (r *Recorder) look() {
	r.looks = true
	r.windows.drop()
}

// Failed is what becomes of failed requests.
type Failed int

const (
	KeepFailed Failed = iota // failed requests count with the others
	DropFailed
	TagFailed // failed requests have a tag of their own
)

// FailedTag is the last part of the tag of failed requests.
const FailedTag = "failed"

// Counts count rows. Each row is one of Recorded, Dropped, NoValue, Other, Late and Malformed.
type Counts struct {
	Recorded, Malformed int64
	Dropped             int64 // failed, and are not recorded, as asked
	NoValue             int64 // failed, and are not recorded because they have no value
	Other               int64 // are of other metrics, or not those of -where
	Late                int64
	Requests            Requests
}

// Requests count the requests of rows that are Recorded, Dropped or NoValue. A row has as many as
// its count says, and none if it is a part of a request that another row has.
type Requests struct{ All, Failed, Dropped, NoValue int64 }

// Errors of rows that are like others, but cannot be recorded.
var (
	errEarly = errors.New("what began or ended at this time is outside of the years 1970 to 2262")
	// ErrLate: a row ended long before those that came earlier.
	ErrLate = errors.New("the row comes too late")
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

// Run records all rows of files, those of several files in order of their times. If the format of a
// file has no order, all rows are recorded before the first interval is written.
func (r *Recorder) Run(readers []*Reader) error {
	r.begin(readers)
	for {
		if more, err := r.step(); !more || err != nil {
			return err
		}
	}
}

func (r *Recorder) begin(readers []*Reader) {
	r.readers = slices.Clone(readers)
	if r.windows.out.named == nil && len(readers) > 0 {
		r.windows.out.named = readers[0]
		r.windows.out.namedAtEnd = r.options.AtEnd(readers[0])
	}
	r.windows.timeless = len(readers) > 0 && !slices.ContainsFunc(readers, func(s *Reader) bool { return !s.parser.setup.timeless })
	if slices.ContainsFunc(readers, func(s *Reader) bool { return s.format != nil && s.format.unordered }) {
		r.options.Late = math.MaxInt64 / 4
	}
}

// step records some rows. After the last ones it closes all intervals and returns false.
func (r *Recorder) step() (more bool, err error) {
	if len(r.readers) == 0 {
		if err := r.windows.write(math.MaxInt64); err != nil {
			return false, err
		}
		if r.options.Ended != nil {
			r.options.Ended(r)
		}
		return false, nil
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
	return true, r.Advance(slices.MinFunc(r.readers, behind), r.options.Late)
}

// some records some rows of a file. It returns false after the last one.
func (r *Recorder) some(s *Reader) (more bool, err error) {
	for range 1000 {
		if !s.Scan() {
			r.Counts.Other += s.parser.other
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
		s.rowLine = s.splitter.line
		if err := r.malformed(s.malformed("line", err)); err != nil {
			return err
		}
		err = s.judge()
	case err == nil:
		err = s.judge()
	}
	if err != nil {
		return &fileError{s.name, err}
	}
	return nil
}

// A fileError is what ended the reading of a file.
type fileError struct {
	name string
	err  error
}

func (e *fileError) Error() string { return e.name + ": " + e.err.Error() }
func (e *fileError) Unwrap() error { return e.err }

// Since reports whether the newest row is not older than a time.
func (s *Reader) Since(then time.Time) bool { return s.at >= then.UnixMilli() }

// Advance writes the intervals to which no row of the file that is furthest behind can belong, if
// it is at most so many milliseconds late.
func (r *Recorder) Advance(s *Reader, late int64) error {
	if s.at == never {
		return nil
	}
	return r.windows.write(s.at - late)
}

// WriteOver writes the intervals of the only file that are over now, in milliseconds since the
// epoch, although a row that is not late could belong to them.
func (r *Recorder) WriteOver(s *Reader, now int64) error {
	if s.at == never {
		return nil
	}
	return r.windows.write(min(r.windows.endOf(s.at), now))
}

// add records the row that a file has advanced to.
func (r *Recorder) add(s *Reader) error {
	row := &s.parser.row
	if s.bad != nil {
		return r.malformed(s.bad)
	}
	if row.Payload != nil {
		r.Counts.Recorded++
		if r.looks {
			return nil
		}
		return r.windows.addPayload(row)
	}
	if row.Time%1e9 != 0 {
		r.windows.times.resolution = 1
	}
	requests := &r.Counts.Requests
	if row.NoValue {
		s.see(row.Time / 1e6)
		r.Counts.NoValue++
		requests.All += row.Count
		requests.Failed += row.Count
		requests.NoValue += row.Count
		return nil
	}
	ended := row.Time
	if !s.AtEnd() {
		ended = min(math.MaxInt64-row.Time, row.Value) + row.Time
	}
	if err := r.shift(row, s); err != nil {
		return r.malformed(s.malformed(s.parser.setup.options.Columns.Time, err))
	}
	if row.Failed && row.Part && r.options.Failed == DropFailed {
		r.Counts.Other++
		return nil
	}
	if row.Failed && !row.Part {
		requests.Failed += row.Count
	}
	if row.Failed {
		switch r.options.Failed {
		case DropFailed:
			r.Counts.Dropped++
			requests.All += row.Count
			requests.Dropped += row.Count
			return nil
		case TagFailed:
			r.tag = appendTagPart(append(r.tag[:0], row.Tag...), row.Tag != nil, FailedTag)
			row.Tag = r.tag
		}
	}
	at := row.Time / 1e6
	s.see(at)
	missed := s.at - r.windows.endOf(at) // negative if its interval has not ended
	r.lookBack = max(r.lookBack, missed+1)
	if !r.atRest && missed >= r.options.Late && ended/1e6 <= s.at-r.options.Late {
		r.Counts.Late++
		behind := time.Duration(s.at-ended/1e6) * time.Millisecond
		return r.options.Report(s.malformed(s.parser.setup.options.Columns.Time, fmt.Errorf("%w: it ended %v "+
			"before others", ErrLate, behind.Round(time.Second))))
	}
	r.Counts.Recorded++
	if !row.Part {
		requests.All += row.Count
	}
	if r.looks || row.Count == 0 {
		return nil
	}
	if err := r.windows.count(row); err != nil {
		return fmt.Errorf("%s:%d: %w", s.name, s.Line(), err)
	}
	return nil
}

// malformed reports a row that cannot be recorded.
func (r *Recorder) malformed(err *hdrlog.SyntaxError) error {
	r.Counts.Malformed++
	return r.options.Report(err)
}

// shift moves the time of a row to that of its interval.
func (r *Recorder) shift(row *Row, s *Reader) error {
	switch {
	case r.options.AtEnd(s) == s.AtEnd(), s.parser.setup.timeless:
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
