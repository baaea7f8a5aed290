// Package scan takes a command through the intervals of its inputs. It reads pipes at the same
// time, skips the intervals that the user did not select, decodes payloads on several cores, and
// hands over the results in the order of the logs or of time.
//
// One goroutine reads each lane: a pipe, or files one after another. It fills batches of lines,
// which the workers decode. A cursor for each lane takes the decoded batches in their order. The
// memory of a batch is used again after that, so that memory does not grow with the logs.
package scan

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"syscall"
	"time"

	"github.com/klauspost/compress/zstd"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/ledger"
	"hdrkit/tags"
)

// Grace is the time that pipes have to end after an interrupt.
const Grace = 2 * time.Second

// An Input is a log to read.
type Input struct {
	// Name is the name of the log in messages: its path, or "-" for standard input.
	Name string
	// Run is the name of the run that the log belongs to, empty if the log is a run by itself.
	Run string
	// Size is the size of the log in bytes, 0 if it is unknown.
	Size int64
	// Info describes the file of the log. It is nil if there is no file.
	Info fs.FileInfo
	// Once reports that the log can be read only once, because it is a pipe.
	Once bool
	// Tag, if not empty, becomes the tag of untagged intervals, and stands before other tags.
	Tag string
	// Untagged, if not nil, is the tag of untagged intervals, unless Tag is set.
	Untagged []byte
	// Second says what the second number of an interval is, if that is known.
	Second hdrlog.SecondField
	// Start, if not nil, is the time from which a range counts, in seconds since the epoch. It is
	// set for a part of a rotated log. Otherwise a range counts from the start of the log itself.
	Start *float64
	// End is the end of the last interval of the log, or of the rotated log that it is a part of,
	// in milliseconds since the epoch. It is set only if [Range.FromEnd] is true.
	End int64
	// Open opens the log.
	Open func() (io.ReadCloser, error)
	// OpenAt, if not nil, opens the file of the log, as it is on the disk, for [Input.Ends].
	OpenAt func() (ReaderAt, error)
}

// A ReaderAt is an open file that can be read at any offset.
type ReaderAt interface {
	io.ReaderAt
	io.Closer
}

// File returns the input that reads the file at path.
func File(path string, size int64) Input {
	return Input{
		Name:   path,
		Size:   size,
		Open:   func() (io.ReadCloser, error) { return os.Open(path) },
		OpenAt: func() (ReaderAt, error) { return os.Open(path) },
	}
}

// Stdin returns the input that reads standard input, which is r. If r is a regular file, as in
// hdrsum < run.hdr, the input can be read several times.
func Stdin(r io.Reader) Input {
	input := Input{Name: "-", Once: true, Open: func() (io.ReadCloser, error) { return io.NopCloser(r), nil }}
	f, ok := r.(*os.File)
	if !ok {
		return input
	}
	info, err := f.Stat()
	if err != nil {
		return input
	}
	input.Info = info
	if !info.Mode().IsRegular() {
		return input
	}
	if begin, err := f.Seek(0, io.SeekCurrent); err == nil {
		input.Once = false
		input.Size = info.Size() - begin
		input.Open = func() (io.ReadCloser, error) {
			return io.NopCloser(io.NewSectionReader(f, begin, math.MaxInt64-begin)), nil
		}
	}
	return input
}

// RunName returns the name of the run that the log belongs to: the name of the log if it is a run
// by itself.
func (i *Input) RunName() string { return cmp.Or(i.Run, i.Name) }

// NewReader returns a reader of the lines of the input, whose text r has. See
// [hdrlog.ReaderOptions] for batchSize; 0 means the default.
func (i *Input) NewReader(r io.Reader, batchSize int) *hdrlog.Reader {
	return hdrlog.ReaderOptions{Second: i.Second, BatchSize: batchSize}.NewReader(r, i.Name)
}

// Same reports whether two inputs are the same file, or both standard input.
func (i *Input) Same(other *Input) bool {
	return i.Info != nil && other.Info != nil && os.SameFile(i.Info, other.Info) || i.Name == "-" && other.Name == "-"
}

// Overwritten reports whether writing to the file of info would overwrite the input. A device, such
// as a terminal, may be input and output.
func (i *Input) Overwritten(info fs.FileInfo) bool {
	return i.Info != nil && i.Info.Mode()&fs.ModeDevice == 0 && os.SameFile(i.Info, info)
}

// A Selection says which intervals of the inputs a command uses.
type Selection struct {
	Tags  *tags.Filter // nil for all tags
	Range Range
}

// A Scan says which intervals of which logs to read, and which functions to call. [Run] runs it.
// While it runs, it counts intervals.
type Scan struct {
	Inputs     []Input
	Selection  Selection
	Rows       Rows
	Correction Correction
	// Workers is the number of goroutines that decode, at least 1.
	Workers int
	// ByTime merges the inputs by the starts of their intervals, then by name. The lines of one
	// input stay in their order. Otherwise the inputs follow each other, unless there are several
	// pipes: these are handed over as they are read, so that their writers do not wait for each
	// other.
	ByTime bool
	// Report takes malformed lines, and notices of how a line was read, in the order of the logs.
	// If it returns an error, the scan ends with that.
	Report func(err *hdrlog.SyntaxError, malformed bool) error
	// NoLogs, if set, reports whether messages have said of all inputs that they are no logs.
	NoLogs func() bool
	Hooks  Hooks
	// Progress, if set, takes the numbers of bytes as they are read. Several goroutines call it.
	Progress func(bytes int)
	// Memory, if set, limits the memory that the scan and its flows take.
	Memory *ledger.Ledger
	// BatchDone, if set, is called after each batch of lines has been handed over and reported. A
	// batch has the lines that could be read at once, up to a few hundred kilobytes. BatchDone may
	// flush an output.
	BatchDone func() error

	// Seen are the intervals read so far.
	Seen   Seen
	passed passed
}

// Rows say what makes a row.
type Rows struct {
	// By makes a row of each tag if it is nil.
	By *tags.By
	// Phases, if set, make rows too. An interval in several phases is visited for each.
	Phases *Phases
}

// Hooks are functions that a scan calls for what it reads besides the intervals that it hands over.
// Each may be nil.
type Hooks struct {
	// Comment takes comments, without StartTime, in the order of the logs.
	Comment func(input int, text []byte) error
	// Selected takes the input and the row of each interval of the selection, after the comments
	// before it.
	Selected func(input int, row []byte)
}

// A Correction says how decoders correct counts for coordinated omission.
type Correction struct {
	// Expected is the interval at which values were to be recorded, in the units of the log. At 0
	// nothing is corrected.
	Expected float64
	// UnitGiven reports that the user gave the unit of Expected. Otherwise a scan ends with an
	// error if the correction makes more than maxCorrected times as many values: a number in
	// another unit than that of the log does.
	UnitGiven bool
}

// Runs returns a scan of each run: of neighbouring inputs that have the same Run. The hooks of s
// get what such a scan reads of an input.
func (s *Scan) Runs() (all []*Scan) {
	for from, to := 0, 0; from < len(s.Inputs); from = to {
		for to = from + 1; to < len(s.Inputs) && s.Inputs[to].Run != "" && s.Inputs[to].Run == s.Inputs[from].Run; {
			to++
		}
		run := *s
		run.Inputs = s.Inputs[from:to]
		run.Seen = Seen{}
		hooks := s.Hooks
		if hooks.Comment != nil {
			run.Hooks.Comment = func(input int, text []byte) error { return hooks.Comment(from+input, text) }
		}
		if hooks.Selected != nil {
			run.Hooks.Selected = func(input int, row []byte) { hooks.Selected(from+input, row) }
		}
		all = append(all, &run)
	}
	return all
}

// HasPassed reports whether an input has passed a time: it had an interval that starts at least its
// own length after that time. So lines may be out of order by as much. Whether an interval is late
// for a window of time depends on its own input alone.
func (s *Scan) HasPassed(input int, time int64) bool { return s.passed.until[input] >= time }

// PassedBefore returns the time that the input of the interval that is handed over had passed
// before it, see [Scan.HasPassed].
func (s *Scan) PassedBefore() int64 { return s.passed.before }

// AllPassed reports whether all inputs have passed a time, see [Scan.HasPassed]. It counts the next
// interval of each input, too. It is for [Scan.ByTime].
func (s *Scan) AllPassed(time int64) bool {
	p := &s.passed
	for range p.until {
		if p.until[p.slow] < time {
			return false
		}
		p.slow = (p.slow + 1) % len(p.until)
	}
	return true
}

// passed says which times inputs have passed that are merged by time, in milliseconds since the
// epoch.
type passed struct {
	until  []int64 // by input
	before int64   // see [Scan.PassedBefore]
	slow   int     // the input that [Scan.AllPassed] looks at first: it may be the slowest one
}

// A Place says in which line of which input an interval is. The zero value means no place, since
// lines count from 1.
type Place struct {
	Input, Line int
	Name        string // of the input
}

func (p Place) String() string { return fmt.Sprintf("%s:%d", p.Name, p.Line) }

// before reports whether p comes before q in the order of the inputs. Any place comes before the
// zero value.
func (p Place) before(q Place) bool {
	return p.Line > 0 && (q.Line == 0 || p.Input < q.Input || p.Input == q.Input && p.Line < q.Line)
}

// Select puts the tag of the input before the tag of an interval, and reports whether the selection
// has the interval. Call it once for an interval.
func (s *Scan) Select(input int, i *hdrlog.Interval) bool {
	selected, _ := s.choose(input, i)
	return selected
}

// choose does what [Scan.Select] does. It reports as well whether the range has the interval.
func (s *Scan) choose(input int, i *hdrlog.Interval) (selected, inRange bool) {
	if tag := s.Inputs[input].Tag; tag != "" {
		if i.Tag != nil {
			tag += "::" + string(i.Tag)
		}
		i.Tag = []byte(tag)
	} else if i.Tag == nil {
		i.Tag = s.Inputs[input].Untagged
	}
	tested := i
	if start := s.Inputs[input].Start; start != nil {
		whole := *i
		whole.LogStart = *start
		tested = &whole
	}
	tagged := s.Selection.Tags.Keeps(i.Tag) // the filter must see all tags
	inRange = s.Selection.Range.Contains(tested, s.Inputs[input].End)
	return tagged && inRange, inRange
}

// Open opens the log of an input, and charges for the memory that it takes. See [Input.NewReader]
// for batchSize.
func (s *Scan) Open(input, batchSize int) (*Log, error) {
	in := &s.Inputs[input]
	file, err := in.Open()
	if errors.Is(err, syscall.EMFILE) {
		err = fmt.Errorf("%w: allow more with ulimit -n, or merge fewer logs at a time", err)
	}
	if err != nil {
		return nil, err
	}
	src, free, err := s.zstdWindow(s.Count(file))
	if err != nil {
		free()
		file.Close()
		return nil, fmt.Errorf("%s: %w", in.Name, err)
	}
	return &Log{Reader: in.NewReader(src, batchSize), file: file, free: free}, nil
}

// Count returns a reader of file that reports each number of bytes to Progress.
func (s *Scan) Count(file io.Reader) io.Reader {
	if s.Progress == nil {
		return file
	}
	return &counter{file, s.Progress}
}

// A Log is an open input with its reader. Close it after use.
type Log struct {
	Reader *hdrlog.Reader
	file   io.Closer
	free   func() // gives back the memory that was charged
}

// Close closes the file and gives back its memory.
func (l *Log) Close() error {
	l.free()
	return l.file.Close()
}

// zstdWindow charges for the window that zstd needs in memory to decompress a log. It charges
// nothing for other logs. It returns a reader of the same log, and a function that gives the memory
// back.
func (s *Scan) zstdWindow(log io.Reader) (_ io.Reader, free func(), err error) {
	src := bufio.NewReaderSize(log, zstd.HeaderMaxSize)
	begin, err := src.Peek(zstd.HeaderMaxSize)
	if err != nil && err != io.EOF {
		return src, func() {}, err
	}
	var header zstd.Header
	if header.Decode(begin) != nil {
		return src, func() {}, nil // not zstd, or damaged: the reader reports that
	}
	account, charge := s.Memory.Open("logs with zstd windows", "give fewer at a time"), new(ledger.Charge)
	return src, func() { charge.Set(account, 0, 0) }, charge.Set(account, 1,
		int(min(cmp.Or(header.WindowSize, header.FrameContentSize), 1<<30)))
}

// A counter is a reader that calls count with the number of bytes of each read.
type counter struct {
	io.Reader
	count func(bytes int)
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.count(n)
	return n, err
}
