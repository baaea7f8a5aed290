package hdrlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	// DefaultMaxLine is how long a line a Reader takes unless told otherwise, in bytes: several times what the largest
	// histogram of five digits encodes to.
	DefaultMaxLine = 64 << 20

	// batchSize is how much a Reader reads at a time, in bytes, where its source gives as much: enough that handing a
	// batch from one goroutine to another costs nothing to speak of, little enough to stay in a core's cache.
	batchSize = 256 << 10

	// longText is more than the lines of ordinary logs take, in bytes. Four times as much is not kept for the next batch: the
	// long line may have been the only one.
	longText = 1 << 20
)

// A Reader reads a log, record by record or batch by batch. It never stops at a malformed line.
//
// What it returns are views of memory that it uses again: a record is valid until the next call of Scan, those of a
// [Batch] until that batch is filled again. It is not safe for concurrent use, but batches that it has filled may
// be worked on elsewhere while it fills others.
type Reader struct {
	in      io.Reader
	file    io.Closer // what Close closes, if anything
	name    string
	maxLine int
	batch   int // how much is read at a time, in bytes

	line     int    // the number of the line last parsed
	rest     []byte // the beginning of a line that is not yet whole
	skipping bool   // the line is longer than maxLine: what is left of it is passed over
	ended    bool
	err      error
	cut      error // why the compressed file ended too early, until a record has told it

	start, base       float64 // seconds since the epoch
	hasStart, hasBase bool
	legendSaysEnd     bool
	ends              ends
	dialect           dialect
	notes             []Record

	scanned Batch // what Scan returns records of
	next    int   // the index of the record that Scan returns next
}

// A Batch is some successive records of a log and the memory that they are views of. The zero value is ready.
type Batch struct {
	Records []Record
	text    []byte
}

// NewReader returns a reader of the log in r, which may be compressed by gzip or zstd and in UTF-8, with a byte-order mark
// or without, or in UTF-16; all that is found from its content. Name is what errors call it.
func NewReader(r io.Reader, name string) *Reader {
	return &Reader{in: &decoder{src: r}, name: name, maxLine: DefaultMaxLine, batch: batchSize}
}

// SetMaxLine limits the length of a line, in bytes without the newline that ends it. A longer one is malformed, with
// [ErrLineTooLong], and takes no more memory than that. Call it before the first record is read.
func (r *Reader) SetMaxLine(bytes int) { r.maxLine = bytes }

// SetBatchSize has a batch take about so many bytes, for who reads a great many logs at once. Call it before the first
// record is read.
func (r *Reader) SetBatchSize(bytes int) { r.batch = bytes }

// Name returns what errors call the log.
func (r *Reader) Name() string { return r.name }

// Scan advances to the next record, which Record then returns. It returns false at the end of the log and when it
// cannot be read on, which [Reader.Err] tells apart.
func (r *Reader) Scan() bool {
	r.next++
	for r.next >= len(r.scanned.Records) {
		if !r.ReadBatch(&r.scanned) {
			return false
		}
		r.next = 0
	}
	return true
}

// Record returns the record that Scan advanced to. It is valid until the next call of Scan.
func (r *Reader) Record() *Record { return &r.scanned.Records[r.next] }

// Err returns the error that ended the log, nil if it was read to its end. Malformed lines are no errors in this sense,
// nor is a compressed file that is cut short: both are records.
func (r *Reader) Err() error { return r.err }

// ReadBatch fills b with the next records, at least one, as soon as a line is whole. It returns false at the end of the
// log and when it cannot be read on. Use it or Scan, not both.
func (r *Reader) ReadBatch(b *Batch) bool {
	b.Records = b.Records[:0]
	if cap(b.text) > max(4*longText, 2*r.batch) {
		b.text = nil
	}
	b.text = append(b.text[:0], r.rest...)
	r.rest = r.rest[:0]
	parsed := 0
	for !r.ended && (len(b.Records) == 0 || r.ends.await(r.line)) {
		whole := r.fill(b, parsed)
		r.parseLines(b, b.text[parsed:whole])
		parsed = whole
		if len(b.Records) == 0 {
			// Blank lines need no memory.
			b.text = append(b.text[:0], b.text[parsed:]...)
			parsed = 0
		}
	}
	if r.ended && r.ends.await(r.line) && r.legendSaysEnd {
		r.ends.settled = true
		r.note(r.line, "length", "the second number may be the interval's end, as the legend says; it is read as the length, as the reference does")
		r.flushNotes(b)
	}
	if r.cut != nil {
		r.line++
		r.malformed(b, nil, "line", r.cut)
		r.cut = nil
	}
	r.settleLengths(b)
	r.rest = append(r.rest, b.text[parsed:]...)
	return len(b.Records) > 0
}

// fill reads on until b.text holds another whole line, or the log ends, and returns where the last whole line ends. The
// lines before parsed have been parsed.
func (r *Reader) fill(b *Batch, parsed int) (whole int) {
	whole = parsed
	for {
		read := len(b.text)
		b.grow(max(r.batch-read, r.batch/4), 2*parsed+r.maxLine+r.batch)
		n, err := r.in.Read(b.text[read:min(cap(b.text), read+r.batch)])
		b.text = b.text[:read+n]
		if r.skipping {
			b.text = b.text[:parsed+copy(b.text[parsed:], r.skip(b.text[parsed:]))]
		}
		// There was none before, and looking again would take a long line's square.
		newline := bytes.LastIndexByte(b.text[read:], '\n')
		if newline >= 0 {
			whole = read + newline + 1
		}
		switch {
		case err != nil:
			return r.end(b, err, whole)
		case newline >= 0:
			return whole
		case len(b.text)-parsed > r.maxLine:
			r.line++
			r.tooLong(b)
			r.skipping = true
			b.text = b.text[:parsed]
			return parsed
		}
	}
}

// grow makes room for so many more bytes: twice as much as there was, or four times for a long line, but no more than is ever
// enough. Append would leave more garbage behind, and clear memory that a short log never fills.
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

// skip returns what follows the line that is too long, nothing if that has not ended yet.
func (r *Reader) skip(text []byte) []byte {
	newline := bytes.IndexByte(text, '\n')
	if newline < 0 {
		return nil
	}
	r.skipping = false
	return text[newline+1:]
}

// end notes why the log ended and returns where its last line does.
func (r *Reader) end(b *Batch, err error, whole int) (end int) {
	r.ended = true
	if err == io.EOF {
		return len(b.text)
	}
	if errors.Is(err, ErrCutShort) {
		r.cut = err
	} else {
		r.err = err
	}
	// What follows the last whole line is of no use.
	b.text = b.text[:whole]
	return whole
}

// parseLines appends the records of text, which is whole lines, but for the log's last, to b.
func (r *Reader) parseLines(b *Batch, text []byte) {
	for len(text) > 0 {
		line := text
		if newline := bytes.IndexByte(text, '\n'); newline >= 0 {
			line, text = text[:newline], text[newline+1:]
		} else {
			text = nil
		}
		r.line++
		if len(line) > r.maxLine {
			r.tooLong(b)
		} else if line = bytes.TrimRight(line, "\r \t"); len(line) > 0 {
			r.parseLine(b, line)
		}
	}
}

// parseLine appends the record of a line to b, and what is to be said of it.
func (r *Reader) parseLine(b *Batch, line []byte) {
	b.Records = append(b.Records, Record{Line: r.line, Text: line})
	rec := &b.Records[len(b.Records)-1]
	if field, err := r.parse(rec, line); err != nil {
		b.Records = b.Records[:len(b.Records)-1]
		r.malformed(b, line, field, err)
		return
	}
	if rec.Kind == IntervalRecord && !r.ends.settled && !rec.Interval.Mended {
		r.settleEnds(b, &rec.Interval)
	}
	r.flushNotes(b)
}

// flushNotes appends what is to be said of the lines so far.
func (r *Reader) flushNotes(b *Batch) {
	b.Records = append(b.Records, r.notes...)
	r.notes = r.notes[:0]
}

func (r *Reader) tooLong(b *Batch) {
	r.malformed(b, nil, "line", fmt.Errorf("%w: over %d bytes", ErrLineTooLong, r.maxLine))
}

func (r *Reader) malformed(b *Batch, line []byte, field string, err error) {
	b.Records = append(b.Records, Record{
		Kind: Malformed, Line: r.line, Text: line,
		Err: &SyntaxError{File: r.name, Line: r.line, Field: field, Err: err},
	})
}
