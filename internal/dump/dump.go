// Package dump makes a line of text for each interval of a log. Tests compare the lines of logs
// that hdrkit wrote with the lines that the reference wrote.
package dump

import (
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"strconv"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
)

// A Line has the figures of an interval in a dump.
type Line struct {
	Tag        string // "-" for an untagged interval
	Start, End int64  // milliseconds since the epoch
	Kind       string // "integer" or "double"
	Digits     int    // significant digits
	Count      int64  // number of values
	CRC        uint32 // checksum of the counts, see the function CRC
}

// String returns the fields joined by tabs, as the dumps in testdata/expected have them.
func (l Line) String() string {
	return fmt.Sprintf("%s\t%d\t%d\t%s\t%d\t%d\t%08x", l.Tag, l.Start, l.End, l.Kind, l.Digits, l.Count, l.CRC)
}

// Of returns the line of an interval, and its histogram.
func Of(i *hdrlog.Interval) (Line, *histogram.Histogram, error) {
	var decoder histogram.Decoder
	p, err := decoder.Open(i.Payload)
	if err != nil {
		return Line{}, nil, err
	}
	h := new(histogram.Histogram)
	if err := p.Decode(h); err != nil {
		return Line{}, nil, err
	}
	line := Line{
		Tag:    "-",
		Start:  i.StartMillis(),
		End:    i.EndMillis(),
		Kind:   "integer",
		Digits: h.Layout().Digits,
		Count:  h.TotalCount(),
	}
	if i.Tag != nil {
		line.Tag = string(i.Tag)
	}
	if h.Double() {
		line.Kind = "double"
	}
	line.CRC = CRC(h)
	return line, h, nil
}

// CRC returns the CRC-32 of the text VALUE:COUNT of each slot with a count, joined by tabs. VALUE
// is the highest value of the slot, as Java prints it.
func CRC(h *histogram.Histogram) uint32 { return crc32.ChecksumIEEE([]byte(values(h))) }

func values(h *histogram.Histogram) string {
	var text []string
	for bucket := range h.Recorded() {
		value := strconv.FormatInt(bucket.High, 10)
		if h.Double() {
			value = javaDouble(h.Float(bucket.High))
		}
		text = append(text, value+":"+strconv.FormatInt(bucket.Count, 10))
	}
	return strings.Join(text, "\t")
}

// javaDouble returns the text of Java's Double.toString for a value that is not negative.
func javaDouble(v float64) string {
	if v != 0 && (v < 1e-3 || v >= 1e7) {
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'E', -1, 64), "E")
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		n, _ := strconv.Atoi(exponent)
		return mantissa + "E" + strconv.Itoa(n)
	}
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if v == math.Trunc(v) {
		text += ".0"
	}
	return text
}

// Log returns the lines of all intervals of a log. The error is that of the first malformed line.
func Log(r io.Reader, name string) ([]Line, error) {
	var lines []Line
	reader := hdrlog.NewReader(r, name)
	for reader.Scan() {
		record := reader.Record()
		switch record.Kind {
		case hdrlog.Malformed:
			return nil, record.Err
		case hdrlog.IntervalRecord:
			line, _, err := Of(&record.Interval)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, record.Line, err)
			}
			lines = append(lines, line)
		}
	}
	return lines, reader.Err()
}
