package scan

import (
	"bufio"
	"bytes"
	"io"

	"hdrkit/hdrlog"
)

// Look reads an input from its beginning and calls see with each record, until see returns false. A
// record is valid until see returns. See [Input.NewReader] for batchSize. An error of the input
// occurs again when the input is read for good.
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

// endBytes is the number of bytes that [Input.Ends] reads at the beginning of a log, and again at
// its end. An interval takes a few kilobytes.
const endBytes = 64 << 10

// Ends calls see with the records at the beginning and at the end of a file. A record is valid
// until see returns. Ends reports whether there were intervals among them. It reads nothing if the
// input is no file or a short one, and only the beginning of a compressed log.
func (in *Input) Ends(see func(r *hdrlog.Record)) (hasIntervals bool) {
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
		hasIntervals = hasIntervals || log.Record().Kind == hdrlog.IntervalRecord
		see(log.Record())
	}
	return hasIntervals
}

// Peek returns the first bytes of an input: fewer than size if the input is shorter, or if reading
// fails. An error of reading occurs again when the input is read for good. A pipe can still be read
// from its beginning afterwards.
func (in *Input) Peek(size int) ([]byte, error) {
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
