package follow

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc64"
	"slices"
)

// A point is a length of a text, and a hash of the text up to there.
type point struct {
	size int64
	sum  uint64
}

// Points are hashes of a text, in order of their lengths: at the ends of the first lines, at a
// line's end after each power of four, at the ends of the last lines, and at its end. Another log
// differs in one of the first lines. A copy that rotation makes ends at one of the last lines, or
// is not complete yet.
type Points []point

// The numbers of first and of last lines whose ends have points.
const (
	firstLines = 16
	lastLines  = 16
)

// MarshalJSON returns the points as base64, with about 10 bytes for each.
func (ps Points) MarshalJSON() ([]byte, error) {
	data := []byte{'"'}
	before := int64(0)
	var all []byte
	for _, p := range ps {
		all = binary.AppendUvarint(all, uint64(p.size-before))
		all = binary.LittleEndian.AppendUint64(all, p.sum)
		before = p.size
	}
	return append(base64.StdEncoding.AppendEncode(data, all), '"'), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (ps *Points) UnmarshalJSON(data []byte) error {
	var all []byte
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	*ps = nil
	size := int64(0)
	for len(all) > 0 {
		delta, n := binary.Uvarint(all)
		if n <= 0 || len(all) < n+8 || delta > 1<<62-uint64(size) {
			return errors.New("the hashes of a log are damaged")
		}
		size += int64(delta)
		*ps = append(*ps, point{size, binary.LittleEndian.Uint64(all[n:])})
		all = all[n+8:]
	}
	return nil
}

// table is that of the hashes. A later run goes on with the hash of a point, which the state of a
// cryptographic hash would not fit into. Nobody gains by logs that look alike.
var table = crc64.MakeTable(crc64.ECMA)

// A text hashes what is written to it. The zero value works.
type text struct {
	point         // the end of what was written
	power int64   // the next point is at the first line's end from here on
	marks []point // at the ends of the first lines, and at powers of four
	lines []point // at the ends of the last lines
}

// Write adds text. The error is nil.
func (t *text) Write(data []byte) (int, error) {
	t.power = max(t.power, 1)
	all := len(data)
	last := len(data) // where the last lines of data begin
	for range lastLines {
		last = bytes.LastIndexByte(data[:last], '\n')
		if last < 0 {
			break
		}
	}
	for {
		from := max(int(min(t.power-t.size, int64(len(data))+1))-1, 0)
		last = max(last, 0)
		from = min(from, last)
		if len(t.marks) < firstLines {
			from = 0
		}
		n := -1
		if from < len(data) {
			n = bytes.IndexByte(data[from:], '\n')
		}
		if n < 0 {
			t.add(data)
			return all, nil
		}
		n += from + 1
		t.add(data[:n])
		data, last = data[n:], last-n
		p := t.point
		t.mark(p)
		if last <= 0 {
			if len(t.lines) == lastLines {
				t.lines = append(t.lines[:0], t.lines[1:]...)
			}
			t.lines = append(t.lines, p)
		}
	}
}

func (t *text) add(data []byte) {
	t.sum = crc64.Update(t.sum, table, data)
	t.size += int64(len(data))
}

// resume goes on after a text whose points an earlier run had.
func (t *text) resume(points Points) {
	if len(points) == 0 {
		return
	}
	t.point = points[len(points)-1]
	t.lines = slices.Clone(points[max(len(points)-lastLines, 0):])
	t.power = 1
	for _, p := range points {
		t.mark(p)
	}
}

// mark keeps a point if it is one of the first, or at a power of four.
func (t *text) mark(p point) {
	if p.size < t.power && len(t.marks) >= firstLines {
		return
	}
	t.marks = append(t.marks, p)
	for t.power <= p.size {
		t.power *= 4
	}
}

// all returns all points.
func (t *text) all() (all Points) {
	for _, p := range t.marks {
		if len(t.lines) == 0 || p.size < t.lines[0].size {
			all = append(all, p)
		}
	}
	all = append(all, t.lines...)
	if t.size > 0 && (len(all) == 0 || t.size > all[len(all)-1].size) {
		all = append(all, t.point)
	}
	return all
}
