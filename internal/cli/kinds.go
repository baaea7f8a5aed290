package cli

import (
	"bytes"
	"io"
	"strings"

	"hdrkit/internal/scan"
)

const picture = "a picture; hdrplot LOG -of FILE writes one"

// fileKinds are files that people give by mistake, by how they begin.
var fileKinds = []struct{ begin, kind string }{
	{"\x89PNG", picture}, {"\xff\xd8\xff", picture}, {"GIF8", picture}, {"<svg", picture}, {"<?xml", "an XML document"},
	{"%PDF", "a PDF document"}, {"<!DOCTYPE html", "a page"}, {"<!doctype html", "a page"}, {"<html", "a page"}, {"PK\x03\x04", "an archive; unpack it first"},
	{"\xfd7zXZ", "compressed by xz; give it to xzcat first"}, {"BZh", "compressed by bzip2; give it to bzcat first"},
	{"\x00\x00\x00\x00\x063.", "a simulation.log of Gatling in binary; versions up to 3.9 write text, which hdrkit reads"},
	{"{", "a JSON document"}, {"[", "a JSON document"}, {"\x7fELF", "a program"}, {"#!", "a script"},
}

// KindOf says what a file is that begins so and is no log, nothing if that is not known. A text
// with a payload, also in UTF-16, and compressed text may be a log.
func KindOf(begin []byte) string {
	for _, mark := range []string{"HIST", "H\x00I\x00S\x00T"} {
		if bytes.Contains(begin, []byte(mark)) {
			return ""
		}
	}
	for _, compressed := range []string{"\x1f\x8b", "\x28\xb5\x2f\xfd"} {
		if bytes.HasPrefix(begin, []byte(compressed)) {
			return ""
		}
	}
	if bytes.Contains(begin, []byte("TotalCount 1/(1-Percentile)")) {
		return "a percentile distribution; hdrplot -type percentiles draws it"
	}
	if bytes.Contains(begin, []byte("\x07Latency\x01")) {
		return "a result of vegeta in binary; vegeta encode -to csv writes a table of it, which hdrkit reads"
	}
	for _, k := range fileKinds {
		if strings.HasPrefix(strings.TrimSpace(string(begin[:min(len(begin), 64)])), k.begin) {
			return k.kind
		}
	}
	if bytes.IndexByte(begin, 0) >= 0 {
		return "binary data"
	}
	return ""
}

// lookAt lets the diagnostics know the inputs that are another kind of file: of these they print
// one message only.
func (d *Diagnostics) lookAt(inputs []scan.Input) {
	for n := range inputs {
		open, name := inputs[n].Open, inputs[n].Name
		inputs[n].Open = func() (io.ReadCloser, error) {
			file, err := open()
			return &beginning{ReadCloser: file, diagnostics: d, name: name}, err
		}
	}
}

// A beginning is an input whose first bytes show what it is.
type beginning struct {
	io.ReadCloser
	diagnostics *Diagnostics
	name        string
	seen        []byte
}

// enough is the number of bytes that show what a file is.
const enough = 512

func (b *beginning) Read(text []byte) (int, error) {
	n, err := b.ReadCloser.Read(text)
	if n > 0 && len(b.seen) < enough {
		b.seen = append(b.seen, text[:min(n, 64<<10)]...)
		b.diagnostics.mu.Lock()
		b.diagnostics.kinds[b.name] = KindOf(b.seen)
		b.diagnostics.mu.Unlock()
	}
	return n, err
}
