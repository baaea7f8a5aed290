// Package scan takes a command through the intervals of its inputs: it reads them one after another, leaves out what was
// not asked for, has payloads decoded on several cores, and tells in the order of the logs what came of it.
package scan

import (
	"fmt"
	"io"
	"io/fs"
	"os"

	"hdrkit/hdrlog"
	"hdrkit/internal/ordered"
	"hdrkit/tags"
)

// An Input is a log to read.
type Input struct {
	// Name is what messages call it: its path, or "-" for standard input.
	Name string
	// Size is how many bytes it has, 0 if that is not known.
	Size int64
	// Info is what the file system knows of it, nil if that is nothing.
	Info fs.FileInfo
	// Once is set if it can be opened and read only once, as a pipe can.
	Once bool
	// Tag, if not empty, is what hdrunion tags its intervals with.
	Tag string
	// Second says what the second number of its intervals is, if that is known.
	Second hdrlog.Second
	// Open opens it.
	Open func() (io.ReadCloser, error)
}

// File returns the input in a file.
func File(path string, size int64) Input {
	return Input{Name: path, Size: size, Open: func() (io.ReadCloser, error) { return os.Open(path) }}
}

// Stdin returns the input in r, which is standard input.
func Stdin(r io.Reader) Input {
	input := Input{Name: "-", Once: true, Open: func() (io.ReadCloser, error) { return io.NopCloser(r), nil }}
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err == nil {
			input.Info = info
		}
	}
	return input
}

// NewReader returns a reader of the input, which is open as r.
func (i *Input) NewReader(r io.Reader) *hdrlog.Reader {
	reader := hdrlog.NewReader(r, i.Name)
	reader.SetSecond(i.Second)
	return reader
}

// Same reports whether two inputs are one.
func (i *Input) Same(other *Input) bool {
	return i.Info != nil && other.Info != nil && os.SameFile(i.Info, other.Info) || i.Name == "-" && other.Name == "-"
}

// Overwritten reports whether writing to the file that info tells of would overwrite the input. A device, such as a
// terminal, may be both.
func (i *Input) Overwritten(info fs.FileInfo) bool {
	return i.Info != nil && i.Info.Mode()&fs.ModeDevice == 0 && os.SameFile(i.Info, info)
}

// A Selection says which intervals are wanted.
type Selection struct {
	Tags  tags.Filter
	Range Range
}

// Keeps reports whether an interval is wanted.
func (s *Selection) Keeps(i *hdrlog.Interval) bool {
	return s.Range.Contains(i) && s.Tags.Keeps(i.Tag)
}

// A Scan is what to read and whom to tell of it.
type Scan struct {
	Inputs    []Input
	Selection Selection
	// Workers is how many goroutines decode, at least 1.
	Workers int
	// Report is told of malformed lines and of peculiar ones, in the order of the logs. If it returns an error, the scan
	// ends with that.
	Report func(err *hdrlog.SyntaxError, malformed bool) error
	// Comment, if set, is told of comments that tell no time, in the order of the logs.
	Comment func(input int, text []byte) error
	// Progress, if set, is told of bytes as they are read.
	Progress func(bytes int)
	// Expected is the interval at which values were to be recorded, in the units of the log: what decodes payloads corrects
	// them for coordinated omission. At 0 nothing is corrected.
	Expected float64
	// BatchDone, if set, is called whenever all lines that have been read so far have been consumed or reported, or a
	// few hundred kilobytes of them where they come faster: the time to flush what was written of them.
	BatchDone func() error

	// Seen counts the intervals read, wanted or not, once Run has returned.
	Seen int64
}

// A Visit is an interval to decode.
type Visit struct {
	*hdrlog.Interval
	// Input is the index of the interval's input, Line its line there.
	Input, Line int
	// Name is the input's.
	Name string
}

// A Fatal error ends a scan, where another one only costs the interval.
type Fatal struct{ Err error }

// Error returns the error's text.
func (f Fatal) Error() string { return f.Err.Error() }

// Unwrap returns the error.
func (f Fatal) Unwrap() error { return f.Err }

// batch is a piece of a log and what came of it.
type batch[R any] struct {
	hdrlog.Batch
	input   int
	name    string
	err     error // the log could not be read on
	results []R   // by record
	errs    []error
}

// Run calls decode for each interval wanted, on several goroutines, which the first argument tells apart: it counts
// from 0. Decode puts what is to be known of the interval in result, which holds what an earlier interval left there. Then
// Run calls consume, which may be nil, in the order of the logs. An error of decode is reported as the payload's, and the
// interval is not consumed, unless it is [Fatal].
func Run[R any](s *Scan, decode func(worker int, v Visit, result *R) error, consume func(v Visit, result *R) error) error {
	src := source{scan: s, input: -1}
	defer src.close()
	next := func(b *batch[R]) bool {
		b.err = nil
		if !src.next(&b.Batch, &b.err) {
			return false
		}
		b.input, b.name = src.input, src.name
		return true
	}
	work := func(worker int, b *batch[R]) {
		if missing := len(b.Records) - len(b.results); missing > 0 {
			b.results = append(b.results, make([]R, missing)...)
			b.errs = append(b.errs, make([]error, missing)...)
		}
		for n := range b.Records {
			b.errs[n] = nil
			if r := &b.Records[n]; r.Kind == hdrlog.IntervalRecord && s.Selection.Keeps(&r.Interval) {
				b.errs[n] = decode(worker, Visit{&r.Interval, b.input, r.Line, b.name}, &b.results[n])
			}
		}
	}
	done := func(b *batch[R]) error {
		for n := range b.Records {
			if err := finish(s, b, n, consume); err != nil {
				return err
			}
		}
		if b.err != nil || s.BatchDone == nil {
			return b.err
		}
		return s.BatchDone()
	}
	return ordered.Run(s.Workers, next, work, done)
}

// finish reports or consumes a record.
func finish[R any](s *Scan, b *batch[R], n int, consume func(v Visit, result *R) error) error {
	r := &b.Records[n]
	switch r.Kind {
	case hdrlog.Malformed, hdrlog.Notice:
		return s.Report(r.Err.(*hdrlog.SyntaxError), r.Kind == hdrlog.Malformed)
	case hdrlog.IntervalRecord:
		s.Seen++
	case hdrlog.Comment:
		if s.Comment != nil {
			return s.Comment(b.input, r.Text)
		}
		return nil
	default:
		return nil
	}
	switch err := b.errs[n].(type) {
	case nil:
		if consume != nil && s.Selection.Keeps(&r.Interval) {
			return consume(Visit{&r.Interval, b.input, r.Line, b.name}, &b.results[n])
		}
		return nil
	case Fatal:
		return fmt.Errorf("%s:%d: %w", b.name, r.Line, err.Err)
	default:
		return s.Report(&hdrlog.SyntaxError{File: b.name, Line: r.Line, Field: "payload", Err: err}, true)
	}
}

// source reads the inputs one after another.
type source struct {
	scan   *Scan
	input  int // the index of the one at hand
	name   string
	file   io.ReadCloser
	reader *hdrlog.Reader
}

// next fills b with the next records. An error that ends the reading goes to err, with no records.
func (s *source) next(b *hdrlog.Batch, err *error) bool {
	b.Records = b.Records[:0]
	for {
		if s.reader != nil {
			if s.reader.ReadBatch(b) {
				return true
			}
			readErr := s.reader.Err()
			s.close()
			if readErr != nil {
				*err = fmt.Errorf("%s: %w", s.name, readErr)
				return true
			}
		}
		s.input++
		if s.input >= len(s.scan.Inputs) {
			return false
		}
		input := s.scan.Inputs[s.input]
		file, openErr := input.Open()
		if openErr != nil {
			*err = openErr
			return true
		}
		s.name, s.file = input.Name, file
		s.reader = input.NewReader(&counter{file, s.scan.Progress})
	}
}

func (s *source) close() {
	if s.file != nil {
		s.file.Close()
	}
	s.file, s.reader = nil, nil
}

// counter tells how many bytes were read.
type counter struct {
	io.Reader
	count func(bytes int)
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if c.count != nil {
		c.count(n)
	}
	return n, err
}
