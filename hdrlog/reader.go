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
	// MaxLine is the longest line in bytes that a Reader takes, without its newline. A longer one
	// is malformed, with [ErrLineTooLong], and takes no more memory than the limit. A histogram of
	// five digits that has a random count below a million in each of its slots is encoded in 22
	// MiB.
	MaxLine = 24 << 20

	// batchSize is how many bytes a Reader reads at a time if its source has as many. At this size
	// the cost of handing a batch to another goroutine does not show, and a batch stays in a core's
	// cache.
	batchSize = 256 << 10

	// maxRecords ends a batch of many short lines. A record of one byte of text takes some 400
	// bytes of memory.
	maxRecords = 4096

	// longText is more bytes than the lines of ordinary logs take. A batch frees a buffer of four
	// times this size, since the long line may have been the only one.
	longText = 1 << 20
)

// A Reader reads a log, record by record or batch by batch. A malformed line does not stop it.
//
// Records are views of memory that the Reader reuses. A record of Scan is valid until the next call
// of Scan, a record of a [Batch] until that batch is filled again. A Reader is not safe for
// concurrent use, but other goroutines may work on filled batches while it fills more.
type Reader struct {
	in      io.Reader
	file    io.Closer // Close closes it, unless it is nil
	name    string
	reading reading
	pending pending
	line    int // the number of the last line parsed
	err     error
	cut     error // why the compressed file ended too early, until a record reports it

	times     times
	before    *times // of the log that this one continues
	stated    statedUnit
	intervals bool // an interval was read
	dialect   dialect
	aside     aside

	scanned scanned
}

// scanned has the records that Scan returns.
type scanned struct {
	Batch
	next int // the index of the record that Scan returns next
}

// reading says how to read.
type reading struct {
	maxLine int
	batch   int         // how many bytes to read at a time
	second  SecondField // see [ReaderOptions]
}

// pending is text that was read from the source but not parsed.
type pending struct {
	rest     []byte
	whole    int  // how many bytes of rest are whole lines
	skipping bool // the rest of the line is skipped, since it is too long
	ended    bool // the source
}

// A statedUnit is the unit of values that a comment states, see [Reader.Unit].
type statedUnit struct {
	unit        Unit
	unitBy      []byte // the comment that states it
	unitImplied bool   // it does not: it is of a program that writes values in this unit
}

// aside is all that a line has beside its record.
type aside struct {
	notes   []Record
	extra   []byte // the fields behind the payload
	unended bool   // the line has no newline
}

// times are the start and base time of a log, in seconds since the epoch.
type times struct {
	start, base       float64
	hasStart, hasBase bool
}

// A Batch holds successive records of a log and the memory that they are views of. The zero value
// is ready to use.
type Batch struct {
	Records []Record
	text    []byte
}

// Size returns how many bytes of text the batch holds. It is large after a long line.
func (b *Batch) Size() int { return cap(b.text) }

// NewReader returns a reader of the log in r. The log may be compressed by gzip or zstd. It may be
// UTF-8, with or without a byte-order mark, or UTF-16. The reader detects all of that from the
// content. Errors call the log by name.
func NewReader(r io.Reader, name string) *Reader {
	return ReaderOptions{}.NewReader(r, name)
}

// ReaderOptions say how to read a log that is not read alone, or that a person knows more about.
// The zero value is what [NewReader] and [Open] use.
type ReaderOptions struct {
	// Second decides whether the second number of an interval is its length or its end, for a log
	// where the reader does not find it out.
	Second SecondField
	// LinesBefore is the number of lines of the log that come before those that are read. Records
	// have the numbers that they have in the whole log.
	LinesBefore int
	// BatchSize is the approximate size of a batch in bytes. 0 means 256 KiB. Use a small size when
	// many logs are read at once.
	BatchSize int
	// Continues, if set, is the reader of an earlier log that this one continues, as a new file
	// does after rotation. Its caller has read that log. If no comment before the first interval
	// has a time, the log keeps the start and base time of the earlier one, with the notice
	// [ErrTimesKept]. It also keeps the meaning of the second number, unless Second decides that.
	Continues *Reader
}

// NewReader is the function [NewReader] with options.
func (o ReaderOptions) NewReader(r io.Reader, name string) *Reader {
	reader := &Reader{
		name:    name,
		line:    o.LinesBefore,
		reading: reading{maxLine: MaxLine, batch: batchSize, second: o.Second},
	}
	if r != nil {
		reader.in = plaintext.NewReader(r)
	}
	if o.BatchSize > 0 {
		reader.reading.batch = o.BatchSize
	}
	reader.dialect.second, reader.dialect.sure = o.Second, o.Second != SecondUnknown
	if o.Continues != nil {
		reader.follow(o.Continues)
	}
	return reader
}

// follow takes what the log keeps of the log before it.
func (r *Reader) follow(before *Reader) {
	if before.intervals || before.times.hasStart || before.times.hasBase {
		kept := before.times
		r.before = &kept
	} else {
		r.before = before.before
	}
	if r.reading.second == SecondUnknown {
		d := &before.dialect
		r.dialect.second = d.second
		r.dialect.sure = d.sure
		r.dialect.written = d.written
	}
}

// Name returns the name by which errors call the log.
func (r *Reader) Name() string { return r.name }

// Unit returns the unit of the values if one of the comments that were read states it, see
// [UnitOf].
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

// All returns the records of the log that were not read yet. Each is valid until the next one.
// Check [Reader.Err] after the loop.
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
// One of the two is nil. Comments and notices are left out. An interval is valid until the next
// one.
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

// Err returns the error that ended the log, with its name. It returns nil if the log was read to
// its end. Malformed lines and a compressed file that is cut short are records, not errors.
func (r *Reader) Err() error { return r.err }

// ReadBatch fills b with the next records, at least one, as soon as a line is whole. It returns
// false at the end of the log, and if reading fails. Use ReadBatch or Scan on one Reader, not both.
func (r *Reader) ReadBatch(b *Batch) bool {
	if r.in == nil {
		r.err = errNoInput
		return false
	}
	b.Records = b.Records[:0]
	r.dialect.applied, r.dialect.waiting = 0, 0
	if cap(b.text) >= max(4*longText, 2*r.reading.batch) {
		b.text = nil
	}
	b.text = append(b.text[:0], r.pending.rest...)
	parsed, whole := 0, r.pending.whole
	for {
		parsed = r.parseLines(b, parsed, whole)
		if parsed < whole || r.pending.ended || r.err != nil || len(b.Records) > 0 && !r.dialect.evidence.held {
			break
		}
		if len(b.Records) == 0 {
			// Blank lines need no memory.
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

// endRecords appends the records that the end of the log brings.
func (r *Reader) endRecords(b *Batch) {
	if r.dialect.second == SecondUnknown && r.dialect.evidence.bytes > 0 {
		r.guessSecond()
		r.flushNotes(b)
	}
	if r.cut != nil {
		r.line++
		r.malformed(b, nil, "line", r.cut)
		r.cut = nil
	}
}

// fill reads on until b.text holds another whole line, or the log ends. It returns the end of the
// last whole line. The text before parsed has been parsed.
func (r *Reader) fill(b *Batch, parsed int) (whole int) {
	whole = parsed
	for {
		read := len(b.text)
		b.grow(max(r.reading.batch-read, r.reading.batch/4, 1), 2*parsed+r.reading.maxLine+r.reading.batch)
		n, err := r.in.Read(b.text[read:min(cap(b.text), read+r.reading.batch)])
		b.text = b.text[:read+n]
		if r.pending.skipping {
			b.text = b.text[:parsed+copy(b.text[parsed:], r.skip(b.text[parsed:]))]
		}
		// Search only the new bytes. Searching from the start each time is quadratic for a long
		// line.
		newline := bytes.LastIndexByte(b.text[read:], '\n')
		if newline >= 0 {
			whole = read + newline + 1
		}
		switch {
		case err != nil:
			return r.end(b, err, whole)
		case newline >= 0:
			return whole
		case len(b.text)-parsed > r.reading.maxLine:
			r.line++
			r.tooLong(b)
			r.pending.skipping = true
			b.text = b.text[:parsed]
			return parsed
		}
	}
}

// grow makes room for so many more bytes. It doubles the capacity, or multiplies it by four for a
// long line, but does not exceed enough. Append would leave more garbage, and would clear memory
// that a short log never fills.
func (b *Batch) grow(more, enough int) {
	if cap(b.text)-len(b.text) >= more {
		return
	}
	times := 2
	if cap(b.text) >= longText {
		times = 4
	}
	text := make([]byte, len(b.text), max(len(b.text)+more, min(times*cap(b.text), enough)))
	copy(text, b.text)
	b.text = text
}

// skip returns the text after the line that is too long. It is empty if the line has not ended yet.
func (r *Reader) skip(text []byte) []byte {
	newline := bytes.IndexByte(text, '\n')
	if newline < 0 {
		return nil
	}
	r.pending.skipping = false
	return text[newline+1:]
}

// end keeps the reason why the log ended and returns the end of its last line.
func (r *Reader) end(b *Batch, err error, whole int) (end int) {
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
	for from < to && r.err == nil && (len(b.Records) < maxRecords || r.dialect.evidence.held) {
		line := b.text[from:to]
		newline := bytes.IndexByte(line, '\n')
		if newline >= 0 {
			line = line[:newline]
			from++
		}
		r.aside.unended = newline < 0
		from += len(line)
		r.line++
		if len(line) > r.reading.maxLine {
			r.tooLong(b)
		} else if trimmed := bytes.TrimRight(line, "\r \t"); len(trimmed) > 0 {
			r.parseLine(b, trimmed)
		}
		if e := &r.dialect.evidence; e.held {
			e.bytes += len(line) + heldBytes // a comment may need so many
			if e.full() {
				r.guessSecond()
				r.flushNotes(b)
			}
		}
	}
	return from
}

// parseLine appends the records of a line to b.
func (r *Reader) parseLine(b *Batch, line []byte) {
	line, glued := cutLegend(line)
	index := len(b.Records)
	b.Records = append(b.Records, Record{Line: r.line, Text: line, unended: r.aside.unended})
	rec := &b.Records[index]
	if field, err := r.parse(rec, line); err != nil {
		b.Records = b.Records[:index]
		r.malformed(b, line, field, err)
		return
	}
	switch rec.Kind {
	case IntervalRecord:
		r.intervals = true
		if !r.dialect.sure && rec.Interval.head != nil {
			r.weighSecond(b, index)
		}
	case Comment:
		if r.reading.second == SecondUnknown && (logline.IsMark(line) || bytes.HasPrefix(line, []byte(union))) {
			if r.dialect.evidence.bytes > 0 {
				r.guessSecond()
			}
			r.applySecond(b)
			r.dialect.second, r.dialect.sure = SecondLength, true
		}
	case StartTime, BaseTime:
		r.dialect.evidence.tags = nil // starts count from another time
	}
	r.flushNotes(b)
	if r.aside.extra != nil {
		r.malformed(b, line, "line", fmt.Errorf("%w: %s", ErrExtra, quoted(r.aside.extra)))
		r.aside.extra = nil
	}
	if glued != nil {
		r.parseLine(b, glued)
	}
}

// flushNotes appends the notices about the lines so far.
func (r *Reader) flushNotes(b *Batch) {
	b.Records = append(b.Records, r.aside.notes...)
	r.aside.notes = r.aside.notes[:0]
}

// fail ends the log with an error.
func (r *Reader) fail(err error) { r.err = fmt.Errorf("%s: %w", r.name, err) }

func (r *Reader) tooLong(b *Batch) {
	r.malformed(b, nil, "line", fmt.Errorf("%w: over %d bytes", ErrLineTooLong, r.reading.maxLine))
}

func (r *Reader) malformed(b *Batch, line []byte, field string, err error) {
	if line != nil && (r.aside.unended || bytes.Contains(line[1:], legend)) {
		err = fmt.Errorf("%w: %w", ErrCutOff, err)
	}
	b.Records = append(b.Records, Record{
		Kind: Malformed,
		Line: r.line,
		Text: line,
		Err:  &SyntaxError{File: r.name, Line: r.line, Field: field, Err: err},
	})
}
