package union

import (
	"cmp"
	"encoding/binary"
	"strconv"
	"sync"

	"hdrkit/hdrlog"
)

// interval is one that is to be united with others: with times in milliseconds, on the time line of the result, and the tag
// that it will have.
type interval struct {
	input, line int
	start, end  int64
	tag         []byte  // nil if it has none, and once tagged tells it
	tagged      *tagged // once it was decoded
	max         []byte  // MAX, as it stands in the log
	text        []byte  // the payload, nil once it was corrected for coordinated omission
	plain       []byte  // the payload inflated, and corrected
	double      bool
	memory      *memory             // what the slices are views of
	err         *hdrlog.SyntaxError // why it cannot be used
}

// A memory is used again for another interval. Five kilobytes for each, left to the garbage collector, took a twelfth of a
// union's time.
type memory struct{ bytes []byte }

var memories = sync.Pool{New: func() any { return new(memory) }}

// compare orders intervals by time, and where that is the same by where they come from.
func (i *interval) compare(j *interval) int {
	return cmp.Or(cmp.Compare(i.start, j.start), cmp.Compare(i.input, j.input), cmp.Compare(i.line, j.line))
}

// maxTime is the latest time taken, in milliseconds, some 35,000 years from the epoch: a float64 of seconds still tells one
// millisecond from the next there, and twice the sum of two does not overflow.
const maxTime = 1 << 50

// take takes the fields beside the times. It appends MAX to maxes, which keeps it,
// and returns that.
func (i *interval) take(from *hdrlog.Interval, maxes []byte) []byte {
	begin := len(maxes)
	maxes = hdrlog.AppendMax(maxes, from)
	i.max, i.text = maxes[begin:len(maxes):len(maxes)], from.Payload
	return maxes
}

// appendTimes appends START,LENGTH, of which a reader that reckons as the reference makes exactly start and end, in
// milliseconds, given the base. The reference truncates what it gets from fractions that binary does not have: it reads
// 2.133 as 2132 ms. Such a number gets a microsecond more.
func appendTimes(text []byte, base, start, end int64) []byte {
	counted := hdrlog.Interval{Base: float64(base) / 1000}
	text, counted.Start = appendMillis(text, start-base, func(seconds float64) bool {
		counted.Start = seconds
		return counted.StartMillis() == start
	})
	text = append(text, ',')
	text, _ = appendMillis(text, end-start, func(seconds float64) bool {
		counted.Length = seconds
		return counted.EndMillis() == end
	})
	return text
}

// appendMillis appends milliseconds as seconds, with as much more than three decimals as it takes to be read right.
func appendMillis(text []byte, ms int64, right func(seconds float64) bool) ([]byte, float64) {
	begin := len(text)
	if ms < 0 {
		text = append(text, '-')
		ms = -ms
	}
	text = strconv.AppendInt(text, ms/1000, 10)
	text = append(text, '.', byte('0'+ms/100%10), byte('0'+ms/10%10), byte('0'+ms%10))
	exact := len(text)
	var seconds float64
	for _, more := range []string{"", "001", "01", "1"} {
		text = append(text[:exact], more...)
		if seconds, _ = strconv.ParseFloat(string(text[begin:]), 64); right(seconds) {
			break
		}
	}
	return text, seconds
}

// appendRecord appends what [readRecord] reads, for a file of sorted intervals.
func (i *interval) appendRecord(record []byte) []byte {
	begin := len(record)
	record = append(record, 0, 0, 0, 0)
	record = binary.AppendVarint(record, int64(i.line))
	record = binary.AppendVarint(record, i.start)
	record = binary.AppendVarint(record, i.end)
	size := int64(len(i.tag))
	if i.tag == nil {
		size = -1
	}
	record = binary.AppendVarint(record, size)
	record = append(record, i.tag...)
	record = binary.AppendVarint(record, int64(len(i.max)))
	record = append(record, i.max...)
	record = append(record, i.text...)
	binary.LittleEndian.PutUint32(record[begin:], uint32(len(record)-begin-4))
	return record
}

// parseRecord reads a record without its length. The interval's slices are views of it.
func (i *interval) parseRecord(record []byte) {
	number := func() int64 {
		n, size := binary.Varint(record)
		record = record[size:]
		return n
	}
	bytes := func(n int64) []byte {
		text := record[:n:n]
		record = record[n:]
		return text
	}
	i.line = int(number())
	i.start, i.end = number(), number()
	if n := number(); n >= 0 {
		i.tag = bytes(n)
	}
	i.max = bytes(number())
	i.text = record
}
