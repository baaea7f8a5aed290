package cli

import (
	"bytes"
	"io"
	"strings"
	"sync"

	"hdrkit/internal/scan"
	"hdrkit/output/hgrm"
)

// A probe looks at the bytes of an input as they are read, to find out whether it is a log at all.
// It is safe for concurrent use.
type probe struct {
	mu    sync.Mutex
	isLog bool
	head  []byte // the first bytes, while isLog is not set
	tail  []byte // the last bytes behind head, in which a mark may begin
}

// marks are texts that only logs have: the beginning of every payload, and words of headers.
var marks = [][]byte{
	[]byte("HIST"), []byte("H\x00I\x00S\x00T"), []byte("#[Histogram log format version"), []byte("#[StartTime: "), []byte("#[BaseTime: "),
	[]byte(`"StartTimestamp"`), []byte("\x1f\x8b"), []byte("\x28\xb5\x2f\xfd"), // the last two: compressed by gzip or zstd
}

// maxMark is the length of the longest mark.
const maxMark = 30

// wrap has the probe look at what is read of an input.
func (p *probe) wrap(input *scan.Input) {
	open := input.Open
	input.Open = func() (io.ReadCloser, error) {
		file, err := open()
		if err != nil {
			return nil, err
		}
		p.mu.Lock()
		p.head, p.tail = nil, nil // it may be opened again
		p.mu.Unlock()
		return &probed{file, p}, nil
	}
}

type probed struct {
	io.ReadCloser
	probe *probe
}

func (r *probed) Read(text []byte) (int, error) {
	n, err := r.ReadCloser.Read(text)
	r.probe.look(text[:n])
	return n, err
}

func (p *probe) look(text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isLog {
		return
	}
	begin := len(p.head) == 0
	border := append(p.tail, text[:min(len(text), maxMark)]...)
	for n, mark := range marks {
		compressed := n >= len(marks)-2
		if compressed && begin && bytes.HasPrefix(text, mark) || !compressed && (bytes.Contains(text, mark) || bytes.Contains(border, mark)) {
			p.isLog, p.head, p.tail = true, nil, nil
			return
		}
	}
	p.head = append(p.head, text[:min(len(text), hgrm.DetectSize-len(p.head))]...)
	border = append(border, text[min(len(text), maxMark):]...)
	p.tail = bytes.Clone(border[max(0, len(border)-maxMark):])
}

// log reports whether the input is a log, as far as it is read.
func (p *probe) log() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.isLog
}

const picture = "a picture; hdrplot LOG -of FILE writes one"

// fileKinds are files that people give by mistake, by how they begin.
var fileKinds = []struct{ begin, kind string }{
	{"\x89PNG", picture}, {"\xff\xd8\xff", picture}, {"GIF8", picture}, {"<svg", picture}, {"<?xml", "an XML document"},
	{"%PDF", "a PDF document"}, {"<!DOCTYPE html", "a page"}, {"<!doctype html", "a page"}, {"<html", "a page"}, {"PK\x03\x04", "an archive; unpack it first"},
	{"\xfd7zXZ", "compressed by xz; give it to xzcat first"}, {"BZh", "compressed by bzip2; give it to bzcat first"},
	{"{", "a JSON document"}, {"[", "a JSON document"}, {"\x7fELF", "a program"}, {"#!", "a script"},
}

// describe says what an input is that is no log, nothing if that is not known.
func (p *probe) describe() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if hgrm.Detect(p.head) {
		return "a percentile distribution; hdrplot -type percentiles draws it"
	}
	for _, k := range fileKinds {
		if strings.HasPrefix(strings.TrimSpace(string(p.head[:min(len(p.head), 64)])), k.begin) {
			return k.kind
		}
	}
	if bytes.IndexByte(p.head, 0) >= 0 {
		return "binary data"
	}
	return ""
}
