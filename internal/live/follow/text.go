package follow

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/crc64"
	"slices"
)

// A point is a length of a text, and a hash of the text up to there.
type point struct {
	Size int64
	Sum  uint64
}

// someLines is the number of first and of last lines at whose ends a text has points. Another log
// differs in one of the first lines. A copy that rotation makes ends at one of the last lines, or
// is not complete yet. The lines between the last points are compared, one fewer than these.
const someLines = 16

// encode returns points, in order of their lengths, for a state.
func encode(points []point) []byte {
	data, _ := binary.Append(nil, binary.LittleEndian, points)
	return data
}

// decode returns what encode got, false if it did not make the data.
func decode(data []byte) (points []point, ok bool) {
	points = make([]point, len(data)/binary.Size(point{}))
	n, err := binary.Decode(data, binary.LittleEndian, points)
	inOrder := slices.IsSortedFunc(points, func(a, b point) int { return cmp.Compare(a.Size, b.Size) })
	return points, err == nil && n == len(data) && inOrder && (n == 0 || points[0].Size > 0)
}

// table is that of the hashes. A later run goes on with the hash of a point, which the state of a
// cryptographic hash would not fit into. Nobody gains by logs that look alike.
var table = crc64.MakeTable(crc64.ECMA)

// A text hashes what is written to it. The zero value works.
type text struct {
	point               // the end of what was written
	first, last []point // at the ends of lines
}

// Write adds text. The error is nil.
func (t *text) Write(data []byte) (int, error) {
	for line := range bytes.Lines(data) {
		t.add(line)
		if line[len(line)-1] == '\n' {
			t.mark()
		}
	}
	return len(data), nil
}

func (p *point) add(data []byte) {
	p.Sum = crc64.Update(p.Sum, table, data)
	p.Size += int64(len(data))
}

// mark keeps the point at the end of a line.
func (t *text) mark() {
	if len(t.first) < someLines {
		t.first = append(t.first, t.point)
		return
	}
	if len(t.last) == someLines {
		t.last = slices.Delete(t.last, 0, 1)
	}
	t.last = append(t.last, t.point)
}

// resume goes on after a text whose points an earlier run had.
func (t *text) resume(points []point) {
	for _, t.point = range points {
		t.mark()
	}
}

// points returns all points, the last one at the end.
func (t *text) points() []point {
	all := slices.Concat(t.first, t.last)
	if n := len(all); t.Size > 0 && (n == 0 || t.Size > all[n-1].Size) {
		all = append(all, t.point)
	}
	return all
}
