package follow

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/crc64"
	"slices"
)

// A point is the end of a part of a text that starts at the beginning: the size of the part in
// bytes, and its hash.
type point struct {
	Size int64
	Sum  uint64
}

// edgeLines is the number of lines at the beginning of a text, and of lines at its end, for which
// the text keeps points. Another log differs in one of the first lines. A copy that rotation makes
// ends at one of the last lines, or is not complete yet. Comparing from the first of the last
// points on covers one line less than this number.
const edgeLines = 16

// encode returns the bytes of points for a state.
func encode(points []point) []byte {
	data, _ := binary.Append(nil, binary.LittleEndian, points)
	return data
}

// decode returns the points that encode has encoded. It returns false if encode cannot have made
// the data.
func decode(data []byte) (points []point, ok bool) {
	points = make([]point, len(data)/binary.Size(point{}))
	n, err := binary.Decode(data, binary.LittleEndian, points)
	inOrder := slices.IsSortedFunc(points, func(a, b point) int { return cmp.Compare(a.Size, b.Size) })
	return points, err == nil && n == len(data) && inOrder && (n == 0 || points[0].Size > 0)
}

// table selects the polynomial of the hashes. A later run continues the hash of a point, which
// needs only 8 bytes of a CRC. A cryptographic hash is not needed: nobody gains by making two logs
// look alike.
var table = crc64.MakeTable(crc64.ECMA)

// A text hashes the bytes that are written to it. The zero value is an empty text.
type text struct {
	point               // the end of all that was written
	first, last []point // at the ends of the first and the last lines
}

// Write adds bytes. The error is always nil.
func (t *text) Write(data []byte) (int, error) {
	for line := range bytes.Lines(data) {
		t.add(line)
		if line[len(line)-1] == '\n' {
			t.notePoint()
		}
	}
	return len(data), nil
}

// add moves the point to the end of further bytes.
func (p *point) add(data []byte) {
	p.Sum = crc64.Update(p.Sum, table, data)
	p.Size += int64(len(data))
}

// notePoint keeps the present end of the text as the end of a line.
func (t *text) notePoint() {
	if len(t.first) < edgeLines {
		t.first = append(t.first, t.point)
		return
	}
	if len(t.last) == edgeLines {
		t.last = slices.Delete(t.last, 0, 1)
	}
	t.last = append(t.last, t.point)
}

// resume continues a text with the points of an earlier run.
func (t *text) resume(points []point) {
	for _, t.point = range points {
		t.notePoint()
	}
}

// points returns the points at the ends of lines, and last the end of the text.
func (t *text) points() []point {
	all := slices.Concat(t.first, t.last)
	if n := len(all); t.Size > 0 && (n == 0 || t.Size > all[n-1].Size) {
		all = append(all, t.point)
	}
	return all
}
