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
	// AtEnd reports whether a value of a file counts in the interval of its end, and not of its
	// start.
	AtEnd func(r *Reader) bool
	// Failed says what becomes of failed requests.
	Failed Failed
	// Late says how long an interval stays open, in milliseconds: it is written when a row comes
	// that is this much later than the interval's end. A row is late if its interval is written,
	// and if the row ended at least Late before the latest row.
	Late int64
	// Size is the length of intervals in milliseconds. Layout is the layout of histograms, and
	// valid.
	Size   int64
	Layout histogram.Layout
	// Memory is charged for the open intervals.
	Memory *ledger.Ledger
	// Report gets malformed and late rows. If it returns an error, recording ends with the error.
	Report func(err *hdrlog.SyntaxError) error
	// OnEnd, if it is not nil, is called when all rows are recorded.
	OnEnd func(r *Recorder)
}

// UsualRecording returns the recording of hdrrec without options.
func UsualRecording() Recording {
	return Recording{
		AtEnd:  (*Reader).AtEnd,
		Late:   60_000,
		Size:   1000,
		Layout: histogram.Layout{Digits: 3},
	}
}

// A Recorder counts the rows of files in intervals, and writes the intervals as a log. An interval
// stays open until no row can belong to it any more. So the memory depends on the number of open
// intervals and tags, and not on the length of the files.
//
// If the time of a row is its start, programs still write the row at its end. The interval of a
// slow request may be written by then. The row then gets an interval of its own with the same time,
// out of order.
type Recorder struct {
	options Recording
	Counts  Counts

	readers   []*Reader // files that have more rows
	failedTag []byte
	intervals openIntervals
	// neededLate is the least [Recording.Late] with which all intervals so far would have been
	// open for all their rows, in milliseconds.
	neededLate int64
	keepsLate  bool // no row is late, see [Files]
	discarding bool // rows are counted in neededLate and Counts only
}

// NewRecorder returns a recorder that writes a log to w. The first comment of the log names the
// format of the first reader.
func NewRecorder(w *hdrlog.Writer, o Recording) *Recorder {
	r := &Recorder{options: o}
	r.intervals.init(w, &o)
	return r
}

// stopRecording ends the recording. Rows that follow are counted in neededLate and Counts only.
func (r *Recorder) stopRecording() {
	r.discarding = true
	r.intervals.drop()
}

// Failed says what becomes of failed requests.
type Failed int

const (
	KeepFailed Failed = iota // they count with the others
	DropFailed               // they are left out
	TagFailed                // they have a tag of their own, see [FailedTag]
)

// FailedTag is the last part of the tag of failed requests.
const FailedTag = "failed"

// Counts are numbers of rows. Each row counts as one of Recorded, Malformed, Dropped, NoValue,
// Unchosen and Late.
type Counts struct {
	Recorded, Malformed int64
	Dropped             int64 // failed rows that [DropFailed] leaves out
	NoValue             int64 // failed rows without a value
	Unchosen            int64 // rows that -metric and -where do not choose
	Late                int64
	Requests            Requests
}

// Requests are numbers of requests in rows that are Recorded, Dropped or NoValue. A row stands for
// Row.Count requests, or for none if it is a part of a request that has a row already.
type Requests struct{ All, Failed, Dropped, NoValue int64 }

var (
	errEarly = errors.New("what began or ended at this time is outside of the years 1970 to 2262")
	// ErrLate is the error of a row that ended [Recording.Late] before others.
	ErrLate = errors.New("the row comes too late")
)

// A latestTime is the latest time of the rows of a file so far.
type latestTime struct {
	at int64 // milliseconds since the epoch, never before the first row
	// ahead is more than farAhead after at, and only one row has such a time. It may be wrong.
	ahead int64
}

// never is the time before the first row.
const never = math.MinInt64 / 2

// farAhead is how much later than all others a row can be, in milliseconds, before its time counts
// only if a second row confirms it.
const farAhead = 3600_000

// add adds the time of a row. One wrong time in the future must not close all intervals.
func (l *latestTime) add(at int64) {
	near := l.ahead-farAhead <= at && at <= l.ahead+farAhead
	switch {
	case l.at == never && l.ahead == never:
		l.ahead = at
	case l.at == never && !near:
		l.at, l.ahead = min(at, l.ahead), max(at, l.ahead)
	case at <= l.at:
	case near || at-l.at <= farAhead:
		l.at = at
	default:
		l.ahead = at
	}
}

// Run records all rows of files. It reads the file whose latest time is earliest, so that the times
// of all files advance together. If a format has no order of rows, Run records all rows before it
// writes the first interval.
func (r *Recorder) Run(readers []*Reader) error {
	r.start(readers)
	for {
		if more, err := r.step(); !more || err != nil {
			return err
		}
	}
}

func (r *Recorder) start(readers []*Reader) {
	r.readers = slices.Clone(readers)
	if r.intervals.out.source == nil && len(readers) > 0 {
		r.intervals.out.source = readers[0]
		r.intervals.out.sourceAtEnd = r.options.AtEnd(readers[0])
	}
	r.intervals.timeless = len(readers) > 0 && !slices.ContainsFunc(readers, func(s *Reader) bool { return !s.Timeless() })
	if slices.ContainsFunc(readers, func(s *Reader) bool { return s.format != nil && s.format.unordered }) {
		r.options.Late = math.MaxInt64 / 4
	}
}

// step records some rows. After the last row, it writes all open intervals and returns false.
func (r *Recorder) step() (more bool, err error) {
	if len(r.readers) == 0 {
		if err := r.intervals.write(math.MaxInt64); err != nil {
			return false, err
		}
		if r.options.OnEnd != nil {
			r.options.OnEnd(r)
		}
		return false, nil
	}
	byLatest := func(a, b *Reader) int { return cmp.Compare(a.latest.at, b.latest.at) }
	next := slices.MinFunc(r.readers, byLatest)
	more, err = r.recordRows(next)
	if err != nil {
		return false, err
	}
	if !more {
		r.readers = slices.DeleteFunc(r.readers, func(s *Reader) bool { return s == next })
	}
	if len(r.readers) == 0 {
		return true, nil
	}
	return true, r.Advance(slices.MinFunc(r.readers, byLatest), r.options.Late)
}

// recordRows records some rows of a file. It returns false after the last row.
func (r *Recorder) recordRows(s *Reader) (more bool, err error) {
	for range 1000 {
		if !s.Scan() {
			r.Counts.Unchosen += s.parser.unchosen
			return false, r.finishFile(s)
		}
		if err := r.recordRow(s); err != nil {
			return false, err
		}
	}
	return true, nil
}

// finishFile returns the error that ended the reading of a file, if any. A damaged end is reported
// as a malformed row instead.
func (r *Recorder) finishFile(s *Reader) error {
	err := s.Err()
	switch {
	case errors.Is(err, hdrlog.ErrCutShort):
		s.rowLine = s.splitter.line
		if err := r.reportMalformed(s.malformed("line", err)); err != nil {
			return err
		}
		err = s.checkTally()
	case err == nil:
		err = s.checkTally()
	}
	if err != nil {
		return &fileError{s.Name(), err}
	}
	return nil
}

// A fileError is an error that ended the reading of a file.
type fileError struct {
	name string
	err  error
}

func (e *fileError) Error() string { return e.name + ": " + e.err.Error() }
func (e *fileError) Unwrap() error { return e.err }

// HasRowAfter reports whether a row of the file is not older than a time.
func (r *Reader) HasRowAfter(t time.Time) bool { return r.latest.at >= t.UnixMilli() }

// Advance writes the intervals that ended at least late milliseconds before the latest row of s,
// which is the file whose latest time is earliest.
func (r *Recorder) Advance(s *Reader, late int64) error {
	if s.latest.at == never {
		return nil
	}
	return r.intervals.write(s.latest.at - late)
}

// WriteOver writes the intervals of the only file that ended before now, in milliseconds since the
// epoch, although rows that are not late could still belong to them.
func (r *Recorder) WriteOver(s *Reader, now int64) error {
	if s.latest.at == never {
		return nil
	}
	return r.intervals.write(min(r.intervals.endOf(s.latest.at), now))
}

// recordRow records the row that a reader advanced to.
func (r *Recorder) recordRow(s *Reader) error {
	row := &s.parser.row
	if s.bad != nil {
		return r.reportMalformed(s.bad)
	}
	if row.Payload != nil {
		r.Counts.Recorded++
		if r.discarding {
			return nil
		}
		return r.intervals.addPayload(row)
	}
	if row.Time%1e9 != 0 {
		r.intervals.times.resolution = 1
	}
	requests := &r.Counts.Requests
	if row.NoValue {
		s.latest.add(row.Time / 1e6)
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
	if err := r.moveTime(row, s); err != nil {
		return r.reportMalformed(s.malformed(s.parser.setup.options.Columns.Time, err))
	}
	if row.Failed && row.Part && r.options.Failed == DropFailed {
		r.Counts.Unchosen++
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
			r.failedTag = appendTagPart(append(r.failedTag[:0], row.Tag...), row.Tag != nil, FailedTag)
			row.Tag = r.failedTag
		}
	}
	at := row.Time / 1e6
	s.latest.add(at)
	behind := s.latest.at - r.intervals.endOf(at) // negative before the end of the row's interval
	r.neededLate = max(r.neededLate, behind+1)
	if !r.keepsLate && behind >= r.options.Late && ended/1e6 <= s.latest.at-r.options.Late {
		r.Counts.Late++
		lateBy := time.Duration(s.latest.at-ended/1e6) * time.Millisecond
		return r.options.Report(s.malformed(s.parser.setup.options.Columns.Time, fmt.Errorf("%w: it ended %v "+
			"before others", ErrLate, lateBy.Round(time.Second))))
	}
	r.Counts.Recorded++
	if !row.Part {
		requests.All += row.Count
	}
	if r.discarding || row.Count == 0 {
		return nil
	}
	if err := r.intervals.addValue(row); err != nil {
		return fmt.Errorf("%s:%d: %w", s.Name(), s.Line(), err)
	}
	return nil
}

func (r *Recorder) reportMalformed(err *hdrlog.SyntaxError) error {
	r.Counts.Malformed++
	return r.options.Report(err)
}

// moveTime sets the time of a row to its start or its end, as [Recording.AtEnd] asks.
func (r *Recorder) moveTime(row *Row, s *Reader) error {
	switch {
	case r.options.AtEnd(s) == s.AtEnd(), s.Timeless():
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
