package scan

import (
	"bufio"
	"bytes"
	"io"

	"hdrkit/hdrlog"
)

// Look reads an input, or its beginning, and hands each record to see until that returns false. A
// record is valid until see returns. See [Input.NewReader] for batchSize. An error comes again when
// the input is read.
func (in *Input) Look(batchSize int, see func(r *hdrlog.Record) (more bool)) error {
	file, err := in.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	log := in.NewReader(file, batchSize)
	for log.Scan() {
		if !see(log.Record()) {
			return nil
		}
	}
	return log.Err()
}

// endBytes is how much of a log [Input.Ends] reads at its beginning, and as much at its end: an
// interval takes a few kilobytes.
const endBytes = 64 << 10

// Ends hands the records at the beginning and at the end of an input to see. A record is valid
// until see returns. It reports whether there are intervals: there are none if the input is no
// file, or a short one. Of a compressed log it hands over a part of the beginning alone.
func (in *Input) Ends(see func(r *hdrlog.Record)) (any bool) {
	if in.OpenAt == nil || in.Once || in.Size < 4*endBytes {
		return false
	}
	file, err := in.OpenAt()
	if err != nil {
		return false
	}
	defer file.Close()
	begin, end := make([]byte, endBytes), make([]byte, endBytes)
	_, err = file.ReadAt(begin, 0)
	if err == nil {
		_, err = file.ReadAt(end, in.Size-endBytes)
	}
	if err != nil {
		return false
	}
	begin = begin[:bytes.LastIndexByte(begin, '\n')+1]
	end = end[bytes.IndexByte(end, '\n')+1:]
	log := in.NewReader(io.MultiReader(bytes.NewReader(begin), bytes.NewReader(end)), 0)
	for log.Scan() {
		any = any || log.Record().Kind == hdrlog.IntervalRecord
		see(log.Record())
	}
	return any
}

// Begin returns the first bytes of an input, fewer than size at its end or before an error, which
// comes again when the input is read. The input can be read from its beginning afterwards, also if
// it is a pipe.
func (in *Input) Begin(size int) ([]byte, error) {
	file, err := in.Open()
	if err != nil {
		return nil, err
	}
	begin := bufio.NewReaderSize(file, size)
	text, _ := begin.Peek(size)
	if !in.Once {
		return text, file.Close()
	}
	in.Open = func() (io.ReadCloser, error) {
		return struct {
			io.Reader
			io.Closer
		}{begin, file}, nil
	}
	return text, nil
}
