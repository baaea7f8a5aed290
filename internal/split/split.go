// Package split writes the intervals of logs to logs of their own, one for each tag.
package split

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/scan"
	"hdrkit/internal/tempfile"
	"hdrkit/tags"
)

const (
	// partBuffer is how much of a part is held until it is written, in bytes, and allBuffers how much of all parts is.
	// A part's file is open only while it is written, so that there may be more parts than files can be open; what
	// that costs, opening a file for every so many bytes, is under a hundredth of the time at this size.
	partBuffer = 256 << 10
	allBuffers = 16 << 20
)

// Parts are the logs that some logs are split into. None is in its place before Commit.
type Parts struct {
	folder  string
	fold    bool
	sources []*source
	inputs  []scan.Input
	parts   []*part
	byPath  map[string]*part

	writer  *hdrlog.Writer // writes to the part in sink
	sink    sink
	decoder histogram.Decoder
	encoder histogram.Encoder
	fields  []byte
}

// source is a log that is split.
type source struct {
	name     string
	comments [][]byte         // its comments so far
	parts    map[string]*part // by tags.Text
}

// part is a log that intervals of a tag go to.
type part struct {
	path, temp  string
	place       string // where path leads, if it is a symbolic link
	source      *source
	tag         []byte
	buf         []byte
	comments    int     // how many of the source's comments it has
	start, base float64 // as it tells them, in seconds since the epoch
}

// sink writes to the part at hand.
type sink struct {
	part *part
	held int // bytes of all parts that are not in their files
}

func (s *sink) Write(p []byte) (int, error) {
	s.part.buf = append(s.part.buf, p...)
	s.held += len(p)
	return len(p), nil
}

// New returns the parts, none yet, of inputs, in folder, whose file system takes capital letters for small ones if fold is
// set.
func New(folder string, fold bool, inputs []scan.Input) *Parts {
	p := &Parts{folder: folder, fold: fold, inputs: inputs, byPath: make(map[string]*part)}
	p.writer = hdrlog.NewWriter(&p.sink)
	for _, input := range inputs {
		p.sources = append(p.sources, &source{name: input.Name, parts: make(map[string]*part)})
	}
	return p
}

// Comment takes a comment of an input, which all its parts get.
func (p *Parts) Comment(input int, text []byte) error {
	if hdrlog.IsVersion(text) {
		return nil // the parts have their own
	}
	s := p.sources[input]
	s.comments = append(s.comments, bytes.Clone(text[1:]))
	return nil
}

// Add writes an interval to its part and returns the part's path.
func (p *Parts) Add(v scan.Visit) (path string, err error) {
	part, err := p.part(v)
	if err != nil {
		return "", err
	}
	p.sink.part = part
	p.writeComments(part)
	if part.start != v.LogStart || part.base != v.Base {
		p.writeTimes(part, v)
	}
	fields, err := p.standard(v)
	if err != nil {
		return "", err
	}
	if err := p.writer.Fields(nil, fields); err != nil {
		return "", err
	}
	if err := p.writer.Flush(); err != nil {
		return "", err
	}
	if len(part.buf) >= partBuffer {
		return part.path, p.flush(part)
	}
	if p.sink.held >= allBuffers {
		return part.path, p.flushAll()
	}
	return part.path, nil
}

// part returns the part for an interval, which it begins if it is the first.
func (p *Parts) part(v scan.Visit) (*part, error) {
	s := p.sources[v.Input]
	if known := s.parts[tags.Text(v.Tag)]; known != nil {
		return known, nil
	}
	made := &part{source: s, tag: bytes.Clone(v.Tag)}
	if err := p.claim(made); err != nil {
		return nil, err
	}
	s.parts[tags.Text(v.Tag)] = made
	p.parts = append(p.parts, made)
	p.sink.part = made
	p.writer.Version()
	p.writeComments(made)
	p.writer.Comment(fmt.Sprintf("[Split from %s: tag %s]", s.name, tags.Text(made.tag)))
	p.writeTimes(made, v)
	p.writer.Legend()
	return made, p.writer.Flush()
}

// claim finds the place of a part. It is an error if another part's or an input is there, or no file can be.
func (p *Parts) claim(made *part) error {
	made.path = filepath.Join(p.folder, tags.FileName("", made.tag, "."+fileName(made.source.name), p.fold))
	var err error
	if made.place, err = tempfile.Place(made.path); err != nil {
		return err
	}
	key := made.place
	if absolute, err := filepath.Abs(key); err == nil {
		key = absolute // links may lead to one file by different names
	}
	if p.fold {
		key = strings.ToLower(key)
	}
	if other := p.byPath[key]; other != nil {
		return fmt.Errorf("tag %s of %s and tag %s of %s would both go to %s; split the two logs into different folders (-od)",
			tags.Text(other.tag), other.source.name, tags.Text(made.tag), made.source.name, made.path)
	}
	p.byPath[key] = made
	info, err := os.Stat(made.path)
	if err != nil {
		return nil
	}
	if info.IsDir() {
		return fmt.Errorf("output %s is a folder", made.path)
	}
	for _, input := range p.inputs {
		if input.Overwritten(info) {
			return fmt.Errorf("output %s is also an input", made.path)
		}
	}
	return nil
}

// fileName returns what the parts of an input are named after. They are not compressed, even if it is.
func fileName(input string) string {
	if input == "-" {
		return "stdin.hdr"
	}
	name := filepath.Base(input)
	for _, compressed := range []string{".gz", ".zst"} {
		if short := strings.TrimSuffix(name, compressed); short != "" {
			name = short
		}
	}
	return name
}

// writeComments writes the comments of the source that the part at hand lacks.
func (p *Parts) writeComments(part *part) {
	for _, text := range part.source.comments[part.comments:] {
		p.writer.Comment(string(text))
	}
	part.comments = len(part.source.comments)
}

// writeTimes writes when the interval's log starts and what its starts count from.
func (p *Parts) writeTimes(part *part, v scan.Visit) {
	part.start, part.base = v.LogStart, v.Base
	p.writer.StartTime(part.start)
	p.writer.BaseTime(part.base)
}

// standard returns the fields of an interval: as they stand, unless they make no sense in another log, or the reference
// would not read them.
func (p *Parts) standard(v scan.Visit) ([]byte, error) {
	plain := p.plain(v.Payload)
	p.fields = hdrlog.AppendStandard(p.fields[:0], v.Interval)
	if plain == nil {
		return append(p.fields, v.Payload...), nil
	}
	return p.encoder.AppendCompressed(p.fields, plain)
}

// plain returns a payload that is not compressed, nil if it is, or cannot be read: then it stays what it is.
func (p *Parts) plain(text []byte) *histogram.Payload {
	if _, compressed := histogram.Peek(text); compressed {
		return nil
	}
	plain, err := p.decoder.Open(text)
	if err != nil {
		return nil
	}
	return plain
}

// flush writes what is held of a part, if anything is, to its file.
func (p *Parts) flush(part *part) error {
	if len(part.buf) == 0 {
		return nil
	}
	f, err := part.open()
	if err != nil {
		return err
	}
	_, err = f.Write(part.buf)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	p.sink.held -= len(part.buf)
	part.buf = part.buf[:0]
	return tempfile.Blame(err, part.path)
}

func (part *part) open() (*os.File, error) {
	if part.temp != "" {
		f, err := os.OpenFile(part.temp, os.O_WRONLY|os.O_APPEND, 0)
		return f, tempfile.Blame(err, part.path)
	}
	f, err := tempfile.Beside(part.place)
	if err == nil {
		part.temp = f.Name()
	}
	return f, err
}

func (p *Parts) flushAll() error {
	for _, part := range p.parts {
		if err := p.flush(part); err != nil {
			return err
		}
		part.buf = nil // with many parts, what all of them together could hold would be too much
	}
	return nil
}

// Commit puts all parts in their places.
func (p *Parts) Commit() error {
	moves := make([]tempfile.Move, 0, len(p.parts))
	for _, part := range p.parts {
		p.sink.part = part
		p.writeComments(part)
		if err := p.writer.Flush(); err != nil {
			return err
		}
		if err := p.flush(part); err != nil {
			return err
		}
		part.buf = nil
		moves = append(moves, tempfile.Move{From: part.temp, To: part.place})
	}
	return tempfile.Rename(moves...)
}

// Close removes what was not committed.
func (p *Parts) Close() {
	for _, part := range p.parts {
		if part.temp != "" {
			tempfile.Remove(part.temp)
		}
	}
}

// Len returns how many parts there are.
func (p *Parts) Len() int { return len(p.parts) }
