package logs

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/measure"
	"hdrkit/internal/scan"
)

const picture = "a picture; hdrplot LOG -of FILE writes one"

// fileKinds are files that people give by mistake, by how they begin.
var fileKinds = []struct{ begin, kind string }{
	{"\x89PNG", picture}, {"\xff\xd8\xff", picture}, {"GIF8", picture}, {"<svg", picture}, {"<?xml", "an XML document"},
	{"%PDF", "a PDF document"}, {"<!DOCTYPE html", "a page"}, {"<!doctype html", "a page"}, {"<html", "a page"}, {"PK\x03\x04", "an archive; unpack it first"},
	{"\xfd7zXZ", "compressed by xz; give it to xzcat first"}, {"BZh", "compressed by bzip2; give it to bzcat first"},
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

// lookAt lets inputs with measurements be read as logs of them, as hdrrec makes them. It lets the
// diagnostics know the inputs that are another kind of file: of these they print one message only.
func (d *Diagnostics) lookAt(inputs []scan.Input, memory *ledger.Ledger) {
	for n := range inputs {
		open, name := inputs[n].Open, inputs[n].Name
		reported := 0 // the last line with a message; a file may be opened again
		inputs[n].Open = func() (io.ReadCloser, error) {
			file, err := open()
			if err != nil {
				return nil, err
			}
			measured, rest, begin, why := measure.Look(file, name)
			if measured == nil {
				d.isKind(name, begin, why)
				return readCloser{rest, file}, nil
			}
			if reported == 0 && !d.std.Quiet {
				d.Warnf("%s is read as %s; hdrrec has options for other columns", name, measured.Takes())
			}
			report := func(err *hdrlog.SyntaxError) error {
				if err.Line <= reported {
					return nil
				}
				reported = err.Line
				return d.Report(err, true)
			}
			first := reported == 0
			reported = max(reported, 1)
			return readCloser{measure.NewText(measured, memory, report, func(r *measure.Recorder) {
				if first && r.WholeSeconds() {
					d.Warnf("%s: %s", name, CoarseTimes)
				}
				if first && r.Counts.Failed > 0 {
					d.Warnf("%s: %d of %d requests failed and are counted with the others; hdrrec -errors drop or -errors tag changes that", name, r.Counts.Failed, r.Counts.Recorded)
				}
			}), file}, nil
		}
	}
}

// CoarseTimes is the notice of measurements whose times are whole seconds.
const CoarseTimes = "all times are whole seconds, so the requests can have taken up to 2 s less than the log, at a higher rate"

// isKind lets the diagnostics know how an input begins that has no measurements, and why it has
// none, if it could have.
func (d *Diagnostics) isKind(name string, begin []byte, why error) {
	kind := KindOf(begin)
	if why != nil && (kind == "" || kind == "a JSON document") {
		kind = fmt.Sprintf("a table or JSON, of which hdrrec makes a log with options: %v", why)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kinds[name] = kind
}

// A readCloser is a file that is read by way of something else.
type readCloser struct {
	io.Reader
	io.Closer
}
