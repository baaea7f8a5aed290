package union

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/decode"
	"hdrkit/internal/scan"
)

// manyInputs is how many inputs are held open. Of more, each is open only while it is read: that opens it anew for every
// piece of it, but there may be more than files can be open.
const manyInputs = 32

// openPieces limits how many inputs are read at the same time where they are too many to be held open.
var openPieces = make(chan struct{}, 8)

// errReplaced: a file is not the one that it was.
var errReplaced = errors.New("was replaced by another file while it was read")

// open opens an input that is a file, one of so many.
func open(input scan.Input, inputs int) (io.ReadCloser, error) {
	if inputs <= manyInputs {
		return input.Open()
	}
	return &piecemeal{input: input}, nil
}

// piecemeal reads a file that is open only while it is read.
type piecemeal struct {
	input  scan.Input
	info   os.FileInfo
	offset int64
}

func (p *piecemeal) Read(b []byte) (int, error) {
	openPieces <- struct{}{}
	defer func() { <-openPieces }()
	opened, err := p.input.Open()
	if err != nil {
		return 0, err
	}
	defer opened.Close()
	f, ok := opened.(*os.File)
	if !ok {
		return 0, errors.New("cannot be read in pieces")
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if p.info != nil && !os.SameFile(p.info, info) {
		return 0, errReplaced
	}
	p.info = info
	n, err := f.ReadAt(b, p.offset)
	p.offset += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

func (p *piecemeal) Close() error { return nil }

// times turns the times of an interval into those of the result.
type times struct{ relative bool }

// of returns when an interval starts and ends, in milliseconds, and when its log does.
func (t times) of(i *hdrlog.Interval) (start, end, log int64) {
	start, end = clamp(float64(i.StartMillis())), clamp(float64(i.EndMillis()))
	log = clamp(math.Round(i.LogStart * 1000))
	if t.relative {
		length := end - start
		start = clamp(float64(start) - i.LogStart*1000)
		end, log = start+length, 0
	}
	return start, max(start, end), log
}

// clamp returns v truncated, and what is far beyond maxTime not as far.
func clamp(v float64) int64 {
	return int64(max(min(v, 4*maxTime), -4*maxTime))
}

// wanted makes i an interval as it goes into the result, but for what [interval.take] does, and reports whether that is
// wanted.
func (u *union) wanted(i *interval, input int, r *hdrlog.Record) bool {
	tag := u.tag(input, r.Interval.Tag)
	if !u.scan.Selection.Tags.Keeps(tag) || !u.scan.Selection.Range.Contains(&r.Interval, u.scan.Inputs[input].End) {
		return false
	}
	if u.options.IgnoreTags {
		tag = nil
	}
	*i = interval{input: input, line: r.Line, tag: tag}
	i.start, i.end, _ = u.times.of(&r.Interval)
	if i.start < -maxTime || i.end > maxTime {
		i.err = u.syntaxError(i, "start", hdrlog.ErrTime)
	} else if err := hdrlog.CheckTag(tag); err != nil {
		// One with a space can be read, but nobody could read what would be written.
		i.err = u.syntaxError(i, "tag", err)
	}
	return true
}

func (u *union) syntaxError(i *interval, field string, err error) *hdrlog.SyntaxError {
	return &hdrlog.SyntaxError{File: u.scan.Inputs[i.input].Name, Line: i.line, Field: field, Err: err}
}

// tag returns the tag that an interval of an input has in the result.
func (u *union) tag(input int, tag []byte) []byte {
	own := u.scan.Inputs[input].Tag
	switch {
	case own == "":
		return tag
	case tag == nil:
		return []byte(own)
	}
	return append([]byte(own+"::"), tag...)
}

// An order says in what order the lines of an input are.
type order struct {
	wanted    bool  // any interval is
	base      int64 // when the log or its first interval starts, whichever is earlier, in milliseconds
	lookAhead int   // how many intervals must be held to have them in order
}

func (o *order) include(base int64) {
	if !o.wanted || base < o.base {
		o.base = base
	}
	o.wanted = true
}

// order looks through an input, without decoding anything. It gives up counting what look-ahead it takes at u.lookAhead.
func (u *union) order(input int) (order, error) {
	var o order
	file, err := open(u.scan.Inputs[input], len(u.scan.Inputs))
	if err != nil {
		return o, err
	}
	defer file.Close()
	r := u.scan.Inputs[input].NewReader(file)
	// The latest start so far, as of each of the last intervals, u.lookAhead of them at least.
	latest := make([]int64, 0, 2*u.lookAhead)
	var i interval
	for r.Scan() {
		record := r.Record()
		if record.Kind != hdrlog.IntervalRecord {
			continue
		}
		if !u.wanted(&i, input, record) || i.err != nil {
			continue
		}
		_, _, log := u.times.of(&record.Interval)
		o.include(min(i.start, log))
		if o.lookAhead == u.lookAhead {
			continue
		}
		held := 0
		for held < len(latest) && latest[len(latest)-1-held] > i.start {
			held++
		}
		o.lookAhead = min(max(o.lookAhead, held), u.lookAhead)
		if len(latest) == cap(latest) {
			latest = latest[:copy(latest, latest[len(latest)/2:])]
		}
		if held > 0 {
			i.start = latest[len(latest)-1]
		}
		latest = append(latest, i.start)
	}
	if r.Err() != nil {
		return o, fmt.Errorf("%s: %w", r.Name(), r.Err())
	}
	return o, nil
}

// batch is a piece of an input.
type batch struct {
	records   hdrlog.Batch
	record    []byte // of a run
	intervals []*interval
	maxes     []byte // MAX of the intervals until they are decoded
	reports   []report
	seen      int64
	err       error // the input could not be read on
	ready     chan struct{}
}

// report is what is to be said before an interval of a batch.
type report struct {
	before    int
	err       *hdrlog.SyntaxError
	malformed bool
}

// fill reads the next piece of a log into b and picks out what is wanted.
func (u *union) fill(b *batch, r *hdrlog.Reader, input int) bool {
	b.intervals, b.reports, b.seen, b.maxes = b.intervals[:0], b.reports[:0], 0, b.maxes[:0]
	if !r.ReadBatch(&b.records) {
		b.err = r.Err()
		if b.err != nil {
			b.err = fmt.Errorf("%s: %w", r.Name(), b.err)
		}
		return b.err != nil
	}
	made := make([]interval, len(b.records.Records)) // they outlive b
	for n := range b.records.Records {
		record := &b.records.Records[n]
		switch record.Kind {
		case hdrlog.Malformed, hdrlog.Notice:
			b.reports = append(b.reports, report{len(b.intervals), record.Err.(*hdrlog.SyntaxError), record.Kind == hdrlog.Malformed})
		case hdrlog.IntervalRecord:
			b.seen++
			if u.wanted(&made[n], input, record) {
				b.maxes = made[n].take(&record.Interval, b.maxes)
				b.intervals = append(b.intervals, &made[n])
			}
		}
	}
	return true
}

// decoder checks payloads, and corrects them where that was asked for.
type decoder struct {
	payload   histogram.Decoder
	corrector decode.Decoder
	corrected histogram.Histogram
	plain     []byte
}

// open returns a payload that is all right: the one in text, or what it is corrected to.
func (d *decoder) open(text []byte) (*histogram.Payload, error) {
	if d.corrector.Expected == 0 {
		p, err := d.payload.Open(text)
		if err != nil {
			return nil, err
		}
		return p, p.Check()
	}
	err := d.corrector.Into(&d.corrected, text)
	if err != nil {
		return nil, err
	}
	if d.plain, err = d.corrected.AppendBinary(d.plain[:0]); err != nil {
		return nil, err
	}
	return d.payload.OpenBinary(d.plain)
}

// decode checks the payloads of a batch and has the intervals own what they refer to.
func (u *union) decode(d *decoder, b *batch) {
	for _, i := range b.intervals {
		if i.err != nil {
			continue
		}
		p, err := d.open(i.text)
		if err != nil {
			i.err = u.syntaxError(i, "payload", err)
			continue
		}
		i.tagged, i.tag = u.found.of(i.tag), nil
		i.double = p.Layout().Ratio != 0
		if d.corrector.Expected != 0 {
			i.text = nil
		}
		i.memory = memories.Get().(*memory)
		own := slices.Grow(i.memory.bytes[:0], len(i.max)+len(i.text)+p.BinarySize())
		keep := func(text []byte) []byte {
			begin := len(own)
			own = append(own, text...)
			return own[begin:len(own):len(own)]
		}
		i.max, i.text = keep(i.max), keep(i.text)
		i.plain = p.AppendBinary(own[len(own):])
		i.memory.bytes = own
	}
}

// stream is intervals of a log, or of a run, in order of their starts.
type stream struct {
	union     *union
	queue     chan *batch // filled and on their way to be decoded
	free      chan *batch
	batch     *batch
	next      int       // the index in batch of the interval to take next
	reported  int       // how many of the batch's reports were made
	ahead     intervals // a heap, of those that were read but not taken
	lookAhead int
	last      int64 // the start of the last one taken
	head      *interval
}

// start has fill called until it returns false, and the batches decoded.
func (u *union) start(lookAhead int, fill func(b *batch) bool, end func()) *stream {
	s := &stream{
		union:     u,
		queue:     make(chan *batch, u.depth),
		free:      make(chan *batch, u.depth),
		lookAhead: lookAhead,
		last:      math.MinInt64,
	}
	for range u.depth {
		s.free <- &batch{ready: make(chan struct{}, 1)}
	}
	go func() {
		defer end()
		defer close(s.queue)
		for {
			select {
			case <-u.stop:
				return
			case b := <-s.free:
				if !fill(b) {
					return
				}
				s.queue <- b
				select {
				case <-u.stop:
					return
				case u.jobs <- b:
				}
			}
		}
	}()
	return s
}

// advance puts the next interval in s.head, nil if there is none.
func (s *stream) advance() error {
	s.head = nil
	for len(s.ahead) <= s.lookAhead {
		i, err := s.read()
		if err != nil {
			return err
		}
		if i == nil {
			break
		}
		s.ahead.push(i)
	}
	if len(s.ahead) == 0 {
		return nil
	}
	s.head = s.ahead.pop()
	if s.head.start < s.last {
		return fmt.Errorf("%s was written to while it was read", s.union.scan.Inputs[s.head.input].Name)
	}
	s.last = s.head.start
	return nil
}

// read returns the next interval in the order of the log, nil at its end, and reports what is wrong in it.
func (s *stream) read() (*interval, error) {
	for {
		if s.batch == nil {
			b, ok := <-s.queue
			if !ok {
				return nil, nil
			}
			<-b.ready
			s.batch, s.next, s.reported = b, 0, 0
			s.union.scan.Seen += b.seen
		}
		b := s.batch
		for s.reported < len(b.reports) && b.reports[s.reported].before == s.next {
			r := b.reports[s.reported]
			s.reported++
			if err := s.union.scan.Report(r.err, r.malformed); err != nil {
				return nil, err
			}
		}
		if s.next == len(b.intervals) {
			err := b.err
			s.batch, b.err = nil, nil
			if err != nil {
				return nil, err
			}
			s.free <- b
			continue
		}
		i := b.intervals[s.next]
		b.intervals[s.next] = nil
		s.next++
		if i.err == nil {
			return i, nil
		}
		if fatal, ok := i.err.Err.(scan.Fatal); ok {
			return nil, fmt.Errorf("%s:%d: %w", i.err.File, i.err.Line, fatal.Err)
		}
		if err := s.union.scan.Report(i.err, true); err != nil {
			return nil, err
		}
	}
}

// intervals is a heap of intervals, the earliest on top.
type intervals []*interval

func (h *intervals) push(i *interval) {
	*h = append(*h, i)
	at := len(*h) - 1
	for at > 0 && i.compare((*h)[(at-1)/2]) < 0 {
		(*h)[at] = (*h)[(at-1)/2]
		at = (at - 1) / 2
	}
	(*h)[at] = i
}

func (h *intervals) pop() *interval {
	old := *h
	top, last := old[0], old[len(old)-1]
	old[len(old)-1] = nil
	old = old[:len(old)-1]
	*h = old
	at := 0
	for {
		child := 2*at + 1
		if child >= len(old) {
			break
		}
		if child+1 < len(old) && old[child+1].compare(old[child]) < 0 {
			child++
		}
		if last.compare(old[child]) <= 0 {
			break
		}
		old[at] = old[child]
		at = child
	}
	if len(old) > 0 {
		old[at] = last
	}
	return top
}
