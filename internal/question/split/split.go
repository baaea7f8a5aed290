// Package split writes a log for each tag of a log.
package split

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/logline"
	"hdrkit/internal/base/tempfile"
	"hdrkit/internal/base/writers"
	"hdrkit/internal/scan"
	"hdrkit/internal/scan/rotate"
	"hdrkit/tags"
)

const (
	// partBuffer is the size in bytes of the buffer of one part, and allBuffers that of all
	// buffers. A part's file is open only while its buffer is written, so that there can be more
	// parts than open files. To open a file for this number of bytes takes less than a hundredth of
	// the time.
	partBuffer = 256 << 10
	allBuffers = 16 << 20
	// maxComments is the number of bytes of comments of a log that go to each of its parts. All
	// comments in all parts could be much larger than the log.
	maxComments = 16 << 10
)

// Options say how to split logs.
type Options struct {
	// Folder has the files of the parts. FoldCase says that its file system ignores the case of
	// names.
	Folder   string
	FoldCase bool
	// Given, if set, returns the unit that the user gives a log.
	Given func(log string) (hdrlog.Unit, bool)
	// Warn prints a message.
	Warn func(format string, args ...any)
}

// Parts are the logs that some logs are split into. Their files are temporary until Commit.
type Parts struct {
	options Options
	sources []*source // one for each input
	inputs  []scan.Input
	parts   []*part
	byPlace map[string]*part // by the path that two parts must not share

	writer  *hdrlog.Writer // writes to the parts, see Write
	current *part          // the part that writer writes to
	held    int            // number of bytes in all buffers
	codec   codec
	fields  []byte
	key     []byte

	// Tests change these.
	partBuffer, allBuffers int
	open                   func(part *part) (io.WriteCloser, error)
}

// A codec compresses payloads that the input has without compression.
type codec struct {
	decoder histogram.Decoder
	counts  histogram.Histogram
	encoder histogram.Encoder
}

// A source is a log that is split.
type source struct {
	name     string
	comments [][]byte         // the comments so far
	size     int              // size of the comments in bytes
	full     bool             // further comments are left out
	given    bool             // the user gives the unit, which the first comment states
	parts    map[string]*part // by [merge.AppendKey]
}

// A part is a log with the intervals of one tag of a source.
type part struct {
	path        string
	file        *tempfile.File // nil until the buffer is written for the first time
	source      *source
	tag         []byte
	buf         []byte
	comments    int     // number of the source's comments that are written
	start, base float64 // the latest start and base time that are written, in seconds since the epoch
}

// New returns the parts of inputs. Add makes the parts.
func New(inputs []scan.Input, options Options) *Parts {
	p := &Parts{
		options:    options,
		inputs:     inputs,
		byPlace:    make(map[string]*part),
		partBuffer: partBuffer,
		allBuffers: allBuffers,
	}
	p.open = func(part *part) (io.WriteCloser, error) { return part.open() }
	p.writer = hdrlog.NewWriter(p)
	for _, input := range inputs {
		s := &source{name: input.Name, parts: make(map[string]*part)}
		if options.Given != nil {
			var given hdrlog.Unit
			if given, s.given = options.Given(input.Name); s.given {
				s.comments = append(s.comments, []byte("#"+given.Comment()))
			}
		}
		p.sources = append(p.sources, s)
	}
	return p
}

// Comment adds a comment of an input to all its parts. It leaves out BaseTime comments, since parts
// have their own. If a BaseTime comment revokes a unit, the comment with the unit is dropped.
func (p *Parts) Comment(input int, text []byte) error {
	if logline.IsVersion(text) {
		return nil // each part has a version of its own
	}
	s := p.sources[input]
	if len(s.parts) == 0 && logline.IsBaseTime(text) {
		s.comments = slices.DeleteFunc(s.comments, func(before []byte) bool { return logline.RevokesUnit(text, before) })
	}
	stated, program := hdrlog.UnitBy(text)
	switch {
	case s.given && stated != 0 && program == "":
	case logline.IsBaseTime(text):
	case s.full:
	case s.size+len(text) > maxComments:
		s.full = true
		p.options.Warn("%s: comments after the first %d kB are left out", s.name, maxComments>>10)
	default:
		s.size += len(text)
		s.comments = append(s.comments, bytes.Clone(text))
	}
	return nil
}

// Add writes an interval to its part, and returns the path of the part.
func (p *Parts) Add(v scan.Visit) (path string, err error) {
	part, err := p.part(v)
	if err != nil {
		return "", err
	}
	p.current = part
	if err := p.writeComments(part); err != nil {
		return "", err
	}
	if part.start != v.LogStart || part.base != v.Base {
		if err := p.writeTimes(part, v); err != nil {
			return "", err
		}
	}
	if p.fields, err = p.appendStandard(p.fields[:0], v); err != nil {
		return "", err
	}
	if err := p.writer.WriteEncoded(nil, p.fields); err != nil {
		return "", err
	}
	return part.path, p.writer.Flush()
}

// Write adds text to the buffer of the current part. The writer of the parts calls it.
func (p *Parts) Write(text []byte) (int, error) {
	part := p.current
	part.buf = append(part.buf, text...)
	p.held += len(text)
	switch {
	case len(part.buf) >= p.partBuffer:
		return len(text), p.flush(part)
	case p.held >= p.allBuffers:
		return len(text), p.flushAll()
	}
	return len(text), nil
}

// part returns the part for an interval. It begins a new part if the tag has none.
func (p *Parts) part(v scan.Visit) (*part, error) {
	s := p.sources[v.Input]
	p.key = merge.AppendKey(p.key[:0], v.Tag)
	if known := s.parts[string(p.key)]; known != nil {
		return known, nil
	}
	made := &part{source: s, tag: bytes.Clone(v.Tag)}
	if err := p.claim(made); err != nil {
		return nil, err
	}
	s.parts[string(p.key)] = made
	p.parts = append(p.parts, made)
	p.current = made
	return made, cmp.Or(p.writer.Version(), p.writeComments(made), p.writer.Comment(writers.Split(s.name, made.tag)),
		p.writeTimes(made, v), p.writer.Legend(), p.writer.Flush())
}

// claim sets the path of a part. It returns an error if the path is that of another part, of an
// input or of a folder.
func (p *Parts) claim(made *part) error {
	made.path = filepath.Join(p.options.Folder, tags.FileName("", made.tag, "."+fileName(made.source.name), p.options.FoldCase))
	key, err := tempfile.Place(made.path)
	if err != nil {
		return err
	}
	if absolute, err := filepath.Abs(key); err == nil {
		key = absolute // links may give one file several names
	}
	if p.options.FoldCase {
		key = strings.ToLower(key)
	}
	if other := p.byPlace[key]; other != nil {
		return fmt.Errorf("tag %s of %s and tag %s of %s would both go to %s; split the two logs "+
			"into different folders (-od)",
			tags.Text(other.tag), other.source.name, tags.Text(made.tag), made.source.name, made.path)
	}
	p.byPlace[key] = made
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

// fileName returns the end of the names of the parts of an input. It has no extension of a
// compressed file, since parts are not compressed.
func fileName(input string) string {
	if input == "-" {
		return "stdin.hdr"
	}
	name, _ := rotate.Plain(filepath.Base(input))
	return cmp.Or(name, filepath.Base(input))
}

// writeComments writes the comments of the source that the part does not have yet.
func (p *Parts) writeComments(part *part) error {
	for _, text := range part.source.comments[part.comments:] {
		if err := p.writer.Comment(string(text[1:])); err != nil {
			return err
		}
	}
	part.comments = len(part.source.comments)
	return nil
}

// writeTimes writes the start of the interval's log and its base time.
func (p *Parts) writeTimes(part *part, v scan.Visit) error {
	part.start, part.base = v.LogStart, v.Base
	return cmp.Or(p.writer.StartTime(part.start), p.writer.BaseTime(part.base))
}

// appendStandard appends the fields of an interval. It changes only fields that have no meaning in
// another log, or that the reference would not read. It compresses a payload that is not
// compressed, if its counts can be decoded.
func (p *Parts) appendStandard(fields []byte, v scan.Visit) ([]byte, error) {
	fields = v.Interval.AppendFields(fields)
	if _, compressed, _ := histogram.Peek(v.Payload); compressed || p.codec.decoder.Decode(&p.codec.counts, v.Payload) != nil {
		return append(fields, v.Payload...), nil
	}
	return p.codec.encoder.AppendBase64(fields, &p.codec.counts)
}

// flush writes the buffer of a part to its file.
func (p *Parts) flush(part *part) error {
	if len(part.buf) == 0 {
		return nil
	}
	f, err := p.open(part)
	if err != nil {
		return err
	}
	_, err = f.Write(part.buf)
	err = cmp.Or(err, f.Close())
	p.held -= len(part.buf)
	part.buf = part.buf[:0]
	return err
}

// open opens the file of a part, which it makes the first time.
func (part *part) open() (_ io.WriteCloser, err error) {
	if part.file != nil {
		return part.file, part.file.Reopen()
	}
	part.file, err = tempfile.Create(part.path)
	return part.file, err
}

// flushAll writes the buffers of all parts and frees their memory.
func (p *Parts) flushAll() error {
	for _, part := range p.parts {
		if err := p.flush(part); err != nil {
			return err
		}
		part.buf = nil // the buffers of many parts together would be too large
	}
	return nil
}

// Commit writes the rest of all parts and moves the files to their paths.
func (p *Parts) Commit() error {
	made := make([]*tempfile.File, 0, len(p.parts))
	for _, part := range p.parts {
		p.current = part
		p.writeComments(part)
		if err := p.writer.Flush(); err != nil {
			return err
		}
		if err := p.flush(part); err != nil {
			return err
		}
		part.buf = nil
		made = append(made, part.file)
	}
	return tempfile.Rename(made...)
}

// Close removes temporary files if Commit was not called.
func (p *Parts) Close() {
	for _, part := range p.parts {
		if part.file != nil {
			part.file.Remove()
		}
	}
}

// Paths returns the paths of the parts.
func (p *Parts) Paths() (all []string) {
	for _, part := range p.parts {
		all = append(all, part.path)
	}
	return all
}
