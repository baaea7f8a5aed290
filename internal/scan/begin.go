package scan

import (
	"bufio"
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
