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

const jsonKind = "a JSON document"

const picture = "a picture; hdrplot LOG -of FILE writes one"

// fileKinds are files that people give by mistake, by how they begin.
var fileKinds = []struct{ begin, kind string }{
	{"\x89PNG", picture}, {"\xff\xd8\xff", picture}, {"GIF8", picture}, {"<svg", picture}, {"<?xml", "an XML document"},
	{"%PDF", "a PDF document"}, {"<!DOCTYPE html", "a page"}, {"<!doctype html", "a page"}, {"<html", "a page"}, {"PK\x03\x04", "an archive; unpack it first"},
	{"\xfd7zXZ", "compressed by xz; give it to xzcat first"}, {"BZh", "compressed by bzip2; give it to bzcat first"},
	{"\x7fELF", "a program"}, {"#!", "a script"},
}

// KindOf takes the beginning of a file that is no log, and says what the file is. It returns an
// empty text if that is not known, or if the file may be a log: if it has a payload, also in
// UTF-16, or is compressed.
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

// lookAt lets inputs with measurements be read as logs of them, as hdrrec makes them. It lets the
// diagnostics know the inputs that are another kind of file: of these they print one message only.
func (d *Diagnostics) lookAt(inputs []scan.Input, memory *ledger.Ledger, given func(log string) (hdrlog.Unit, bool)) {
	d.others.inputs += len(inputs)
	room := measure.NewLogBudget(memory)
	for n := range inputs {
		m := &measurements{
			diagnostics: d,
			name:        inputs[n].Name,
			open:        inputs[n].Open,
			once:        inputs[n].Once,
		}
		if given != nil {
			m.in, _ = given(m.name)
		}
		m.files.Budget = room
		m.files.Open = m.readers
		m.files.Recording = measure.UsualRecording()
		m.files.Memory = memory
		m.files.Report = m.report
		m.files.OnEnd = m.ended
		inputs[n].Open = m.log
	}
}

// measurements are an input that may have some.
type measurements struct {
	diagnostics *Diagnostics
	name        string
	open        func() (io.ReadCloser, error)
	once        bool
	in          hdrlog.Unit // that the user gives, unknown if there is none
	files       measure.Files
	opened      sync.Once
}

// log opens the log of the measurements, or the input as it is if it has none.
func (m *measurements) log() (io.ReadCloser, error) {
	file, err := m.open()
	if err != nil {
		return nil, err
	}
	measured, rest, begin, why := measure.Detect(file, m.name, m.in)
	if measured == nil {
		m.diagnostics.isKind(m.name, begin, why)
		return readCloser{rest, file}, nil
	}
	m.opened.Do(func() {
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

// readers opens the measurements again.
func (m *measurements) readers() ([]*measure.Reader, io.Closer, error) {
	file, err := m.open()
	if err != nil {
		return nil, nil, err
	}
	measured, _, _, _ := measure.Detect(file, m.name, m.in)
	if measured == nil {
		file.Close()
		return nil, nil, fmt.Errorf("%s: the file has changed", m.name)
	}
	return []*measure.Reader{measured}, file, nil
}

func (m *measurements) report(err *hdrlog.SyntaxError) error {
	if errors.Is(err, measure.ErrLate) {
		return m.diagnostics.Late(err, "hdrrec -late says how long to wait in a pipe, and a file may have any order")
	}
	return m.diagnostics.Report(err, true)
}

// ended says what is to know of all rows.
func (m *measurements) ended(r *measure.Recorder) {
	if r.WholeSeconds() {
		m.diagnostics.Warnf("%s: %s", m.name, CoarseTimes)
	}
	if r.Timeless() {
		m.diagnostics.Warnf("%s: %s", m.name, NoTimes)
	}
	if requests := r.Counts.Requests; requests.Failed > 0 {
		m.diagnostics.fails(Failed{
			Log:      m.name,
			Count:    requests.Failed,
			NoValue:  requests.NoValue,
			Requests: requests.All,
		})
	}
}

// CoarseTimes is the notice of measurements whose times are whole seconds.
const CoarseTimes = "all times are whole seconds, so the run may be 2 s shorter " +
	"and the rate a little higher"

// NoTimes is the notice of measurements without times.
const NoTimes = "no value has a time, so there is no rate"

// isKind lets the diagnostics know how an input begins that has no measurements, and why it has
// none, if it could have.
func (d *Diagnostics) isKind(name string, begin []byte, why error) {
	kind := KindOf(begin)
	options := why != nil && why != measure.ErrNoInterval
	if options && (kind == "" || strings.HasPrefix(kind, jsonKind)) {
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
	d.others.texts[name] = text
}

// A readCloser is a file that is read by way of something else.
type readCloser struct {
	io.Reader
	io.Closer
}
