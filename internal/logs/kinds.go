package logs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/measure"
	"hdrkit/internal/scan"
)

const (
	jsonKind = "a JSON document"
	picture  = "a picture; hdrplot LOG -of FILE writes one"
)

// fileKinds are kinds of files that users give by mistake, with the bytes that such files begin
// with.
var fileKinds = []struct{ begin, kind string }{
	{"\x89PNG", picture}, {"\xff\xd8\xff", picture}, {"GIF8", picture}, {"<svg", picture}, {"<?xml", "an XML document"},
	{"%PDF", "a PDF document"}, {"<!DOCTYPE html", "a page"}, {"<!doctype html", "a page"}, {"<html", "a page"}, {"PK\x03\x04", "an archive; unpack it first"},
	{"\xfd7zXZ", "compressed by xz; give it to xzcat first"}, {"BZh", "compressed by bzip2; give it to bzcat first"},
	{"\x7fELF", "a program"}, {"#!", "a script"},
}

// KindOf returns what kind of file begins with these bytes, for the message that the file is no
// log. It returns an empty text if the kind is unknown, or if the file may be a log: if it is
// compressed or has a payload, which may be in UTF-16.
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
	if kind := measure.SummaryOf(begin); kind != "" {
		return kind
	}
	if bytes.Contains(begin, []byte("\x07Latency\x01")) {
		return "a result of vegeta in binary; vegeta encode -to csv writes a table of it, which hdrkit reads"
	}
	for _, k := range fileKinds {
		if strings.HasPrefix(strings.TrimSpace(string(begin[:min(len(begin), 64)])), k.begin) {
			return k.kind
		}
	}
	switch {
	case bytes.IndexByte(begin, 0) >= 0:
		return "binary data"
	case measure.IsJSON(begin):
		return jsonKind + measure.NumbersHint(begin)
	}
	return ""
}

// convertMeasurements changes inputs so that a file of measurements is read as the log that hdrrec
// makes of it. For an input that is another kind of file, the diagnostics print only one message.
// Given, if not nil, returns the unit that the user gives the values of a log.
func (d *Diagnostics) convertMeasurements(inputs []scan.Input, memory *ledger.Ledger, given func(log string) (hdrlog.Unit, bool)) {
	d.otherFile.inputs += len(inputs)
	budget := measure.NewLogBudget(memory)
	for n := range inputs {
		m := &measurements{
			diagnostics: d,
			name:        inputs[n].Name,
			open:        inputs[n].Open,
			once:        inputs[n].Once,
		}
		if given != nil {
			m.unit, _ = given(m.name)
		}
		m.files.Budget = budget
		m.files.Open = m.readers
		m.files.Recording = measure.UsualRecording()
		m.files.Memory = memory
		m.files.Report = m.report
		m.files.OnEnd = m.ended
		inputs[n].Open = m.log
	}
}

// measurements are an input that may be a file of measurements.
type measurements struct {
	diagnostics *Diagnostics
	name        string
	open        func() (io.ReadCloser, error)
	once        bool
	unit        hdrlog.Unit // that the user gives the values, 0 if unknown
	files       measure.Files
	announced   sync.Once // the message that the input is read as measurements
}

// log opens the input: the log of its measurements, or the input itself if it has no measurements.
func (m *measurements) log() (io.ReadCloser, error) {
	file, err := m.open()
	if err != nil {
		return nil, err
	}
	measured, rest, begin, why := measure.Detect(file, m.name, m.unit)
	if measured == nil {
		m.diagnostics.setKind(m.name, begin, why)
		return readCloser{rest, file}, nil
	}
	m.announced.Do(func() {
		if !m.diagnostics.std.Quiet {
			m.diagnostics.Warnf("%s is read as %s; hdrrec has options for other columns", m.name, measured.Interpretation())
		}
	})
	if m.once {
		text := measure.NewText(m.files.Recording, []*measure.Reader{measured})
		text.Closer = file
		return text, nil
	}
	file.Close()
	return m.files.Log()
}

// readers opens the measurements once more, for [measure.Files].
func (m *measurements) readers() ([]*measure.Reader, io.Closer, error) {
	file, err := m.open()
	if err != nil {
		return nil, nil, err
	}
	measured, _, _, _ := measure.Detect(file, m.name, m.unit)
	if measured == nil {
		file.Close()
		return nil, nil, fmt.Errorf("%s: the file has changed", m.name)
	}
	return []*measure.Reader{measured}, file, nil
}

// report reports an error of a row of measurements.
func (m *measurements) report(err *hdrlog.SyntaxError) error {
	if errors.Is(err, measure.ErrLate) {
		return m.diagnostics.Late(err, "hdrrec -late says how long to wait in a pipe, and a file may have any order")
	}
	return m.diagnostics.Report(err, true)
}

// ended prints notices about all rows of the input, once they are read.
func (m *measurements) ended(r *measure.Recorder) {
	if r.WholeSeconds() {
		m.diagnostics.Warnf("%s: %s", m.name, CoarseTimes)
	}
	if r.Timeless() {
		m.diagnostics.Warnf("%s: %s", m.name, NoTimes)
	}
	if requests := r.Counts.Requests; requests.Failed > 0 {
		m.diagnostics.addFailed(Failed{
			Log:      m.name,
			Count:    requests.Failed,
			NoValue:  requests.NoValue,
			Requests: requests.All,
		})
	}
}

// CoarseTimes is the notice about measurements whose times are whole seconds.
const CoarseTimes = "all times are whole seconds, so the run may be 2 s shorter " +
	"and the rate a little higher"

// NoTimes is the notice about measurements without times.
const NoTimes = "no value has a time, so there is no rate"

// setKind notes how an input begins that has no measurements. If it looks like a log or a file of
// measurements, no message says otherwise. Why is the reason why it has no measurements, or nil.
func (d *Diagnostics) setKind(name string, begin []byte, why error) {
	kind := KindOf(begin)
	needsOptions := why != nil && why != measure.ErrNoInterval
	if needsOptions && (kind == "" || strings.HasPrefix(kind, jsonKind)) {
		kind = fmt.Sprintf("a table or JSON, of which hdrrec makes a log with options: %v", why)
	}
	text := ""
	switch {
	case kind != "":
		text = name + " is no log, but " + kind
	case why == measure.ErrNoInterval:
		text = fmt.Sprintf("%s is no log: %v; %s", name, why, measure.LinesHint(begin))
	case why != nil:
		text = fmt.Sprintf("%s is no log: %v", name, why)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.otherFile.messages[name] = text
}

// A readCloser reads from a reader whose bytes come from a file, and closes the file.
type readCloser struct {
	io.Reader
	io.Closer
}
