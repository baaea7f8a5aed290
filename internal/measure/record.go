package measure

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/merge"
)

// A Recorder adds the rows of files to intervals.
type Recorder struct {
	Intervals *Intervals
	// AtEnd says that a value belongs to the interval of its end, not to that of its start.
	AtEnd func(r *Reader) bool
	// Failed says what becomes of failed requests.
	Failed Failed
	// Late is how much later than others a row may come, in milliseconds.
	Late int64
	// Report takes what is wrong with rows. If it returns an error, recording ends with that.
	Report func(err *hdrlog.SyntaxError) error

	Counts  Counts
	sources []*Source
	tag     []byte
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

// A Source is a file that is being recorded.
type Source struct {
	*Reader
	// at is the latest time so far, in milliseconds since the epoch. ahead is a time much later
	// than that, of one row only.
	at, ahead int64
}

// NewSource returns a source of the rows of a reader.
func NewSource(r *Reader) *Source { return &Source{Reader: r, at: never, ahead: never} }

// never is the time before the first row.
const never = math.MinInt64 / 2

// farAhead is how much later than all others a row can be, in milliseconds, and be right without
// another one that is as late.
const farAhead = 3600_000

// see takes the time of a row. A single one in the future must not close all intervals.
func (s *Source) see(at int64) {
	switch near := s.ahead-farAhead <= at && at <= s.ahead+farAhead; {
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
func (r *Recorder) Run(sources []*Source) error {
	r.begin(sources)
	for {
		if more, err := r.step(); !more || err != nil {
			return err
		}
	}
}

func (r *Recorder) begin(sources []*Source) {
	if r.sources = sources; slices.ContainsFunc(sources, func(s *Source) bool { return s.Unordered() }) {
		r.Late = math.MaxInt64 / 4
	}
}

// step records some rows. After the last ones it closes all intervals and returns false.
func (r *Recorder) step() (more bool, err error) {
	if len(r.sources) == 0 {
		return false, r.Intervals.Close(math.MaxInt64)
	}
	next := 0 // the one that is furthest behind
	for n, s := range r.sources {
		if s.at < r.sources[next].at {
			next = n
		}
	}
	more, err = r.some(r.sources[next])
	if err != nil {
		return false, err
	}
	if !more {
		r.sources = slices.Delete(r.sources, next, next+1)
	}
	behind := int64(math.MaxInt64)
	for _, s := range r.sources {
		behind = min(behind, s.at)
	}
	return true, r.closeBefore(behind)
}

// some records some rows of a source. It returns false after the last one.
func (r *Recorder) some(s *Source) (more bool, err error) {
	for range 1000 {
		if !s.Scan() {
			other, _ := s.Other()
			r.Counts.Other += other
			return false, r.ended(s)
		}
		if err := r.add(s); err != nil {
			return false, err
		}
	}
	return true, nil
}

// ended returns the error that ended a source, unless its end is damaged, which is reported.
func (r *Recorder) ended(s *Source) error {
	switch err := s.Err(); {
	case errors.Is(err, hdrlog.ErrCutShort):
		r.Counts.Malformed++
		return r.Report(s.malformed("line", err))
	case err != nil:
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

// Since reports whether the newest row of a source is not older than a time.
func (s *Source) Since(then time.Time) bool { return s.at >= then.UnixMilli() }

// Advance closes the intervals of the only source to which no row can belong that is at most so
// many milliseconds late.
func (r *Recorder) Advance(s *Source, late int64) error {
	if s.at == never {
		return nil
	}
	return r.Intervals.Close(s.at - late)
}

// CloseOver closes the intervals of the only source that are over now, in milliseconds since the
// epoch, although a row that is not late could belong to them.
func (r *Recorder) CloseOver(s *Source, now int64) error {
	if s.at == never {
		return nil
	}
	return r.Intervals.Close(min(merge.WindowOf(s.at, s.at, r.Intervals.open.Size()).End, now))
}

// closeBefore closes the intervals to which no row can belong that is at most late.
func (r *Recorder) closeBefore(at int64) error {
	if at == never || at == math.MaxInt64 {
		return nil
	}
	return r.Intervals.Close(at - r.Late)
}

// add records the row that a source has advanced to.
func (r *Recorder) add(s *Source) error {
	err := s.Malformed()
	row := s.Row()
	if err == nil && row.Payload != nil {
		r.Counts.Recorded++
		return r.Intervals.AddPayload(row)
	}
	if err == nil {
		if row.Time%1e9 != 0 {
			r.Intervals.resolution = 1
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
			r.tag = append(r.tag[:0], row.Tag...)
			if row.Tag != nil {
				r.tag = append(r.tag, '/')
			}
			r.tag = append(r.tag, FailedTag...)
			row.Tag = r.tag
		}
	}
	at := row.Time / 1e6
	s.see(at)
	ok := at > s.at-r.Late || merge.WindowOf(at, at, r.Intervals.open.Size()).End > s.at-r.Late
	if ok {
		var err error
		if ok, err = r.Intervals.Add(row); err != nil {
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
func (r *Recorder) shift(row *Row, s *Source) error {
	switch {
	case r.AtEnd(s.Reader) == s.AtEnd():
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
