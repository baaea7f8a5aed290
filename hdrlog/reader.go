package hdrlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"hdrkit/internal/base/logline"
	"hdrkit/internal/base/plaintext"
)

const (
	// MaxLine is the longest line in bytes that a Reader accepts, without its newline. A longer
	// line is malformed, with [ErrLineTooLong], and takes no more memory than the limit. A
	// histogram of five digits fits even with a random count below a million in each slot: it takes
	// 22 MiB.
	MaxLine = 24 << 20

	// usualBatchSize is the number of bytes that a Reader reads at a time if its source has as
	// many. At this size, the cost of passing a batch to another goroutine is too small to measure,
	// and a batch stays in the cache of a core.
	usualBatchSize = 256 << 10

	// maxRecords is the number of records at which a batch of short lines ends. A record of one
	// byte of text takes some 400 bytes of memory.
	maxRecords = 4096

	// longText is more bytes than lines of ordinary logs have. ReadBatch frees a buffer of four
	// times this size, since the long line that needed the buffer may have been the only one.
	longText = 1 << 20
)

// A Reader reads a log, record by record or batch by batch. A malformed line does not stop it.
//
// Records are views of memory that the Reader reuses. A record of Scan is valid until the next call
// of Scan, a record of a [Batch] until that batch is filled again. A Reader is not safe for
// concurrent use, but other goroutines may work on filled batches while it fills more.
type Reader struct {
	in       io.Reader
	file     io.Closer // closed by Close, unless it is nil
	name     string
	settings settings
	pending  pending
	line     int // the number of the last line parsed
	err      error
	cut      error // why the compressed file ended too early, until a record reports it

	times     logTimes
	inherited *logTimes // from the log that this log continues, until the first interval
	stated    statedUnit
	intervals bool // at least one interval was read
	dialect   dialect
	extras    extras

	scanned scanned
}

// scanned is the batch whose records Scan returns.
type scanned struct {
	Batch
	next int // the index of the record that Scan returns next
}

// settings are the limits and options of a Reader.
type settings struct {
	maxLine   int
	batchSize int         // number of bytes to read at a time
	second    SecondField // see [ReaderOptions.Second]
}

// pending is the text that was read from the source but not parsed, and the state of the source.
type pending struct {
	rest     []byte
	whole    int  // number of bytes of rest that are whole lines
	skipping bool // the next bytes belong to a line that is too long
	ended    bool // the source has no more text
}

// A statedUnit is the unit of values by the comments of the log, see [Reader.Unit].
type statedUnit struct {
	unit    Unit
	comment []byte // states or implies the unit
	implied bool   // the comment only names a program that writes values in this unit
}

// extras are the findings about a line that its record does not hold.
type extras struct {
	notes   []Record
	text    []byte // text behind the payload
	unended bool   // the line has no newline
}

// logTimes are the start and base time of a log, in seconds since the epoch.
type logTimes struct {
	start, base       float64
	hasStart, hasBase bool
}

// A Batch holds successive records of a log and their text. The zero value is ready to use.
type Batch struct {
	Records []Record
	text    []byte
}

// Size returns the size of the buffer for the text of the batch, in bytes. The buffer is large
// after a long line.
func (b *Batch) Size() int { return cap(b.text) }

// NewReader returns a reader of the log in r. The log may be compressed by gzip or zstd. It may be
// UTF-8, with or without a byte-order mark, or UTF-16. The reader detects compression and encoding
// from the content. Name is the name of the log in errors.
func NewReader(r io.Reader, name string) *Reader {
	return ReaderOptions{}.NewReader(r, name)
}

// ReaderOptions say how to read a log if more is known about the log than its text says. The zero
// value is what [NewReader] and [Open] use.
type ReaderOptions struct {
	// Second says whether the second number of an interval is its length or its end. SecondUnknown
	// leaves the decision to the reader.
	Second SecondField
	// LinesBefore is the number of lines of the log before the first line that is read. Records
	// have the line numbers of the whole log.
	LinesBefore int
	// BatchSize is the approximate size of a batch in bytes. 0 means 256 KiB. Use a small size when
	// many logs are read at once.
	BatchSize int
	// Continues, if set, is the reader of an earlier log that this log continues, as a new file
	// does after rotation. The caller has read the earlier log. If no comment before the first
	// interval has a time, the log keeps the start and base time of the earlier one, with the
	// notice [ErrTimesKept]. It also keeps the meaning of the second number, unless Second is set.
	Continues *Reader
}

// NewReader is the function [NewReader] with options.
func (o ReaderOptions) NewReader(r io.Reader, name string) *Reader {
	reader := &Reader{
		name:     name,
		line:     o.LinesBefore,
		settings: settings{maxLine: MaxLine, batchSize: usualBatchSize, second: o.Second},
	}
	if r != nil {
		reader.in = plaintext.NewReader(r)
	}
	if o.BatchSize > 0 {
		reader.settings.batchSize = o.BatchSize
	}
	reader.dialect.second, reader.dialect.secondGiven = o.Second, o.Second != SecondUnknown
	if o.Continues != nil {
		reader.inherit(o.Continues)
	}
	return reader
}

// inherit takes over the times and the meaning of the second number from the log that this log
// continues.
func (r *Reader) inherit(before *Reader) {
	if before.intervals || before.times.hasStart || before.times.hasBase {
		kept := before.times
		r.inherited = &kept
	} else {
		r.inherited = before.inherited
	}
	if r.settings.second == SecondUnknown {
		d := &before.dialect
		r.dialect.second = d.second
		r.dialect.secondGiven = d.secondGiven
		r.dialect.byHdrkit = d.byHdrkit
	}
}

// Name returns the name of the log in errors.
func (r *Reader) Name() string { return r.name }

// Unit returns the unit of the values that the comments read so far state or imply, see [UnitOf].
// It is 0 if there is no such comment.
func (r *Reader) Unit() Unit { return r.stated.unit }

// Scan advances to the next record, which Record then returns. It returns false at the end of the
// log, and if reading fails. [Reader.Err] returns the error.
func (r *Reader) Scan() bool {
	r.scanned.next++
	for r.scanned.next >= len(r.scanned.Records) {
		if !r.ReadBatch(&r.scanned.Batch) {
			return false
		}
		r.scanned.next = 0
	}
	return true
}

// Record returns the record that Scan advanced to. It is valid until the next call of Scan. If Scan
// was not called or returned false, the record is malformed, with [ErrNoRecord].
func (r *Reader) Record() *Record {
	if r.scanned.next >= len(r.scanned.Records) {
		return &Record{Kind: Malformed, Line: r.line, Err: &SyntaxError{r.name, r.line, "line", ErrNoRecord}}
	}
	return &r.scanned.Records[r.scanned.next]
}

// All returns the records of the log that were not read yet. Each is valid until the next
// iteration. Check [Reader.Err] after the loop.
func (r *Reader) All() iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		for r.Scan() {
			if !yield(r.Record()) {
				return
			}
		}
	}
}

// Intervals returns the intervals of the log that were not read yet, and the errors: a
// [*SyntaxError] for each malformed line, and last the error that ended the log, if there is one.
// Of an interval and an error, one is nil. Comments and notices are left out. An interval is valid
// until the next iteration.
func (r *Reader) Intervals() iter.Seq2[*Interval, error] {
	return func(yield func(*Interval, error) bool) {
		for record := range r.All() {
			switch record.Kind {
			case IntervalRecord:
				if !yield(&record.Interval, nil) {
					return
				}
			case Malformed:
				if !yield(nil, record.Err) {
					return
				}
			}
		}
		if err := r.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// Err returns the error that ended the log, with the name of the log. It returns nil if the log was
// read to its end. Malformed lines and a compressed file that is cut short are records, not errors.
func (r *Reader) Err() error { return r.err }

// ReadBatch fills b with the next records, at least one. It returns as soon as it has read a whole
// line, unless intervals wait: as long as the log does not show whether the second number is a
// length or an end, ReadBatch reads on, up to 64 intervals of a tag or about 1 MB. It returns false
// at the end of the log, and if reading fails. Use ReadBatch or Scan on one Reader, not both.
func (r *Reader) ReadBatch(b *Batch) bool {
	if r.in == nil {
		r.err = errNoInput
		return false
	}
	b.Records = b.Records[:0]
	r.dialect.applied, r.dialect.waiting = 0, 0
	if cap(b.text) >= max(4*longText, 2*r.settings.batchSize) {
		b.text = nil
	}
	b.text = append(b.text[:0], r.pending.rest...)
	parsed, whole := 0, r.pending.whole
	for {
		parsed = r.parseLines(b, parsed, whole)
		if parsed < whole || r.pending.ended || r.err != nil || len(b.Records) > 0 && !r.dialect.evidence.waits {
			break
		}
		if len(b.Records) == 0 {
			// Drop blank lines, so that they take no memory.
			b.text = append(b.text[:0], b.text[parsed:]...)
			parsed = 0
		}
		whole = r.fill(b, parsed)
	}
	if r.pending.ended && parsed == whole {
		r.endRecords(b)
	}
	r.applySecond(b)
	if r.err != nil {
		parsed = 0
		whole = 0
		b.text = b.text[:0]
		r.pending.ended = true
	}
	r.pending.rest = append(r.pending.rest[:0], b.text[parsed:]...)
	r.pending.whole = whole - parsed
	return len(b.Records) > 0
}

// endRecords appends the records that are known only at the end of the log: a notice about the
// second number, and the error of a compressed file that is cut short.
func (r *Reader) endRecords(b *Batch) {
	if r.dialect.second == SecondUnknown && r.dialect.evidence.seen {
		r.guessSecond()
		r.flushNotes(b)
	}
	if r.cut != nil {
		r.line++
		r.appendMalformed(b, nil, "line", r.cut)
		r.cut = nil
	}
}

// fill reads until b.text holds another whole line, or the log ends. It returns the end of the last
// whole line. The text before parsed has been parsed.
func (r *Reader) fill(b *Batch, parsed int) (whole int) {
	whole = parsed
	for {
		read := len(b.text)
		b.grow(max(r.settings.batchSize-read, r.settings.batchSize/4, 1), 2*parsed+r.settings.maxLine+r.settings.batchSize)
		n, err := r.in.Read(b.text[read:min(cap(b.text), read+r.settings.batchSize)])
		b.text = b.text[:read+n]
		if r.pending.skipping {
			b.text = b.text[:parsed+copy(b.text[parsed:], r.afterLongLine(b.text[parsed:]))]
		}
		// Search only the new bytes. Searching from the start each time is quadratic for a long
		// line.
		newline := bytes.LastIndexByte(b.text[read:], '\n')
		if newline >= 0 {
			whole = read + newline + 1
		}
		switch {
		case err != nil:
			return r.endSource(b, err, whole)
		case newline >= 0:
			return whole
		case len(b.text)-parsed > r.settings.maxLine:
			r.line++
			r.appendTooLong(b)
			r.pending.skipping = true
			b.text = b.text[:parsed]
			return parsed
		}
	}
}

// grow makes room for more bytes of text. It doubles the capacity, or multiplies it by four for a
// long line, but not beyond enough. Append would leave more garbage, and would clear memory that a
// short log never fills.
func (b *Batch) grow(more, enough int) {
	if cap(b.text)-len(b.text) >= more {
		return
	}
	factor := 2
	if cap(b.text) >= longText {
		factor = 4
	}
	text := make([]byte, len(b.text), max(len(b.text)+more, min(factor*cap(b.text), enough)))
	copy(text, b.text)
	b.text = text
}

// afterLongLine returns the text after the end of a line that is too long, or nil if the line does
// not end in text.
func (r *Reader) afterLongLine(text []byte) []byte {
	newline := bytes.IndexByte(text, '\n')
	if newline < 0 {
		return nil
	}
	r.pending.skipping = false
	return text[newline+1:]
}

// endSource sets the reason why the source ended, and returns the end of the text to parse.
func (r *Reader) endSource(b *Batch, err error, whole int) (end int) {
	r.pending.ended = true
	if err == io.EOF {
		return len(b.text)
	}
	if errors.Is(err, ErrCutShort) {
		r.cut = err
	} else {
		r.fail(err)
	}
	// The text after the last whole line is of no use.
	b.text = b.text[:whole]
	return whole
}

// parseLines appends the records of the lines in b.text[from:to] to b, until the batch is full. It
// returns the end of the last line that it parsed.
func (r *Reader) parseLines(b *Batch, from, to int) (parsed int) {
	for from < to && r.err == nil && (len(b.Records) < maxRecords || r.dialect.evidence.waits) {
		line := b.text[from:to]
		newline := bytes.IndexByte(line, '\n')
		if newline >= 0 {
			line = line[:newline]
			from++
		}
		r.extras.unended = newline < 0
		from += len(line)
		r.line++
		if len(line) > r.settings.maxLine {
			r.appendTooLong(b)
		} else if trimmed := bytes.TrimRight(line, "\r \t"); len(trimmed) > 0 {
			r.parseLine(b, trimmed)
		}
		if e := &r.dialect.evidence; e.waits {
			e.bytes += len(line) + waitingBytes // comments take memory too
			if e.full() {
				r.guessSecond()
				r.flushNotes(b)
			}
		}
	}
	return from
}

// parseLine appends the records of a line to b: the line, notices about it, and an error if other
// text follows the payload.
func (r *Reader) parseLine(b *Batch, line []byte) {
	line, glued := cutLegend(line)
	index := len(b.Records)
	b.Records = append(b.Records, Record{Line: r.line, Text: line, unended: r.extras.unended})
	rec := &b.Records[index]
	if field, err := r.parse(rec, line); err != nil {
		b.Records = b.Records[:index]
		r.appendMalformed(b, line, field, err)
		return
	}
	switch rec.Kind {
	case IntervalRecord:
		r.intervals = true
		if !r.dialect.secondGiven && rec.Interval.head != nil {
			r.weighSecond(b, index)
		}
	case Comment:
		if r.settings.second == SecondUnknown && (logline.IsMark(line) || bytes.HasPrefix(line, []byte(unionComment))) {
			if r.dialect.evidence.seen {
				r.guessSecond()
			}
			r.applySecond(b)
			r.dialect.second, r.dialect.secondGiven = SecondLength, true
		}
	case StartTime, BaseTime:
		r.dialect.evidence.tags = nil // earlier starts count from another time
	}
	r.flushNotes(b)
	if r.extras.text != nil {
		r.appendMalformed(b, line, "line", fmt.Errorf("%w: %s", ErrExtra, quoted(r.extras.text)))
		r.extras.text = nil
	}
	if glued != nil {
		r.parseLine(b, glued)
	}
}

// flushNotes appends the notices about the lines so far.
func (r *Reader) flushNotes(b *Batch) {
	b.Records = append(b.Records, r.extras.notes...)
	r.extras.notes = r.extras.notes[:0]
}

// fail sets the error that ends the log.
func (r *Reader) fail(err error) { r.err = fmt.Errorf("%s: %w", r.name, err) }

func (r *Reader) appendTooLong(b *Batch) {
	r.appendMalformed(b, nil, "line", fmt.Errorf("%w: over %d bytes", ErrLineTooLong, r.settings.maxLine))
}

func (r *Reader) appendMalformed(b *Batch, line []byte, field string, err error) {
	if line != nil && (r.extras.unended || bytes.Contains(line[1:], legendBegin)) {
		err = fmt.Errorf("%w: %w", ErrCutOff, err)
	}
	b.Records = append(b.Records, Record{
		Kind: Malformed,
		Line: r.line,
		Text: line,
		Err:  &SyntaxError{File: r.name, Line: r.line, Field: field, Err: err},
	})
}
