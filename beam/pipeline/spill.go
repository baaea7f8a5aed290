package pipeline

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"
)

// A spill keeps encoded sums in a temporary file. Only references to the sums are shuffled. That
// saves memory if the runner works in this process, since it holds several copies of what it
// shuffles. The file is deleted after its creation, so it is gone when the process ends.
type spill struct {
	id   int // index into spills.files
	file *os.File
	size int64
}

// spills has the files of all spills of this process.
var spills struct {
	sync.Mutex
	files []*os.File
}

// spilled is the first byte of a reference. Encoded sums begin with a lower byte.
const spilled = 0xff

func newSpill() (*spill, error) {
	file, err := os.CreateTemp("", "hdrbeam-")
	if err != nil {
		return nil, err
	}
	os.Remove(file.Name())
	spills.Lock()
	defer spills.Unlock()
	spills.files = append(spills.files, file)
	return &spill{id: len(spills.files) - 1, file: file}, nil
}

// add writes an encoded sum to the file. It returns a reference: the byte spilled, and the id of
// the spill, the offset and the length as varints.
func (s *spill) add(data []byte) ([]byte, error) {
	if _, err := s.file.Write(data); err != nil {
		return nil, err
	}
	ref := binary.AppendUvarint([]byte{spilled}, uint64(s.id))
	ref = binary.AppendUvarint(ref, uint64(s.size))
	ref = binary.AppendUvarint(ref, uint64(len(data)))
	s.size += int64(len(data))
	return ref, nil
}

// unspill returns the encoded sum that data refers to. It returns data if that is no reference.
func unspill(data []byte) ([]byte, error) {
	if len(data) == 0 || data[0] != spilled {
		return data, nil
	}
	var fields [3]uint64
	data = data[1:]
	for n := range fields {
		size := 0
		if fields[n], size = binary.Uvarint(data); size <= 0 {
			return nil, fmt.Errorf("%q is no reference to a sum", data)
		}
		data = data[size:]
	}
	spills.Lock()
	file := spills.files[fields[0]]
	spills.Unlock()
	sum := make([]byte, fields[2])
	_, err := file.ReadAt(sum, int64(fields[1]))
	return sum, err
}
