package hdrlog

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/logline"
)

// quoted returns text in quotes for a message, cut after 40 bytes.
func quoted(text []byte) string {
	const maxQuoted = 40
	if len(text) > maxQuoted {
		return strconv.Quote(string(text[:maxQuoted])) + "..."
	}
	return strconv.Quote(string(text))
}

// parse fills rec from a line that is not blank. If it fails, it returns the field at fault and the
// cause. The record may follow other text in the line, see [cutPrefix].
func (r *Reader) parse(rec *Record, line []byte) (field string, err error) {
	if field, err = r.parseFields(rec, line); err == nil {
		return "", nil
	}
	fields := cutPrefix(line)
	if fields == nil {
		return field, err
	}
	inner := Record{Line: rec.Line, Text: fields}
	if field, err = r.parseFields(&inner, fields); err != nil {
		return field, err
	}
	*rec = inner
	r.noteOnce("line", ErrPrefix, "")
	return "", nil
}

func (r *Reader) parseFields(rec *Record, line []byte) (field string, err error) {
	switch line[0] {
	case '#':
		return r.parseComment(rec, line)
	case '"':
		if !bytes.Contains(line, []byte(timestamp)) {
			return "line", fmt.Errorf("%w: %s", ErrLine, quoted(line))
		}
		rec.Kind = Legend
		return "", nil
	}
	rec.Kind = IntervalRecord
	return r.parseInterval(&rec.Interval, line)
}

// parseComment reads a comment, and takes over the time, the unit or the mark of a [Writer] that it
// carries. It ignores case, since some writers spell Basetime.
func (r *Reader) parseComment(rec *Record, line []byte) (field string, err error) {
	rec.Kind = Comment
	if rest, ok := logline.CutPrefixFold(line, "#[StartTime:"); ok {
		if rec.Seconds, err = parseCommentTime(rest); err != nil {
			return "StartTime", err
		}
		rec.Kind = StartTime
		r.noteChange("StartTime", r.times.hasStart, r.times.start, rec.Seconds)
		r.times.start, r.times.hasStart = rec.Seconds, true
	} else if rest, ok := logline.CutPrefixFold(line, "#[BaseTime:"); ok {
		if rec.Seconds, err = parseCommentTime(rest); err != nil {
			return "BaseTime", err
		}
		rec.Kind = BaseTime
		if logline.RevokesUnit(line, r.stated.comment) {
			r.stated.unit, r.stated.comment = 0, nil
		}
		r.noteChange("BaseTime", r.times.hasBase, r.times.base, rec.Seconds)
		r.times.base, r.times.hasBase = rec.Seconds, true
	} else if logline.IsMark(line) {
		r.dialect.byHdrkit = true
	} else if unit, program := UnitBy(line); unit != 0 && (r.stated.unit == 0 || r.stated.implied && program == "") {
		r.stated.unit = unit
		r.stated.implied = program != ""
		r.stated.comment = bytes.Clone(line)
	}
	return "", nil
}

// parseCommentTime reads the number of seconds at the beginning of text. A comma before a digit is
// a decimal comma.
func parseCommentTime(text []byte) (float64, error) {
	text = bytes.TrimLeft(text, " ")
	end := bytes.IndexAny(text, " ]")
	if end < 0 {
		end = len(text)
	}
	number := bytes.TrimRight(text[:end], ",")
	if comma := bytes.IndexByte(number, ','); comma >= 0 {
		number = append(append(append([]byte(nil), number[:comma]...), '.'), number[comma+1:]...)
	}
	seconds, err := parseSeconds(number)
	if err == nil && math.Abs(seconds) > maxTime {
		return 0, fmt.Errorf("%w: %s", ErrTime, quoted(number))
	}
	return seconds, err
}

// parseInterval parses [Tag=NAME,]START,LENGTH,MAX,PAYLOAD into i. If it fails, it returns the
// field at fault and the cause, and the times of the log stay as they are.
func (r *Reader) parseInterval(i *Interval, line []byte) (field string, err error) {
	rest := line
	if bytes.HasPrefix(line, []byte("Tag=")) {
		comma := bytes.IndexByte(line, ',')
		if comma < 0 {
			// The reference reads spaces as commas.
			comma = bytes.IndexByte(line, ' ')
		}
		if comma < 0 {
			return "start", ErrMissing
		}
		i.Tag, rest = line[4:comma:comma], line[comma+1:]
		if len(StandardTag(i.Tag)) > MaxTag {
			return "tag", errLongTag(i.Tag)
		}
		if bytes.IndexByte(i.Tag, '\r') >= 0 {
			return "tag", fmt.Errorf("%w: %s", ErrTag, quoted(i.Tag)) // the reference ends the field at a carriage return
		}
	}
	fields := rest

	var numbers [3][]byte
	for n, name := range [...]string{"start", "length", "max"} {
		end := fieldEnd(rest)
		if end < 0 {
			if len(rest) == 0 {
				return name, ErrMissing
			}
			if _, err := parseSeconds(rest); err != nil {
				return name, err
			}
			return [...]string{"length", "max", "payload"}[n], ErrMissing
		}
		numbers[n], rest = rest[:end], rest[end+1:]
	}
	decimal, payload, commas := decimalCommas(fields, rest)
	if commas {
		numbers, rest = decimal, payload
	}
	var extra []byte
	if end := separator(rest); end >= 0 {
		if extra = bytes.Trim(rest[end:], ", \t"); len(extra) > 0 {
			end = min(end, payloadEnd(rest[:end]))
			extra = bytes.TrimLeft(rest[end:], ", \t")
		}
		end = len(bytes.TrimRight(rest[:end], "\r\t")) // as parseLines trims whole lines
		fields, rest = fields[:len(fields)-len(rest)+end], rest[:end]
	}
	if !commas {
		i.head = fields[:len(fields)-len(rest)]
	}
	if i.Start, err = parseSeconds(numbers[0]); err != nil {
		return "start", err
	}
	if i.Length, err = parseSeconds(numbers[1]); err != nil {
		return "length", err
	}
	var plain bool
	if i.MaxHint, plain = parseDecimal(numbers[2]); !plain {
		if i.MaxHint, err = parseNumber(numbers[2]); err != nil && !isOutOfRange(err) || bytes.ContainsAny(numbers[2],
			notDecimal) {
			return "max", fmt.Errorf("%w: %s", ErrNumber, quoted(numbers[2]))
		}
	}
	if len(rest) == 0 {
		return "payload", ErrMissing
	}
	if rest[0] >= '0' && rest[0] <= '9' && cutPrefix(line) != nil {
		return "payload", ErrLine // the line begins with a number that is not START
	}
	switch field := r.setTimes(i); field {
	case "start":
		return field, fmt.Errorf("%w: %s", ErrTime, quoted(numbers[0]))
	case "length":
		return field, fmt.Errorf("%w: %s", ErrTime, quoted(numbers[1]))
	}
	if commas {
		r.noteOnce("start", ErrDecimalCommas, "")
	}
	if bytes.IndexByte(i.Tag, ' ') >= 0 {
		r.noteOnce("tag", ErrTagSpace, "")
	}
	if len(extra) > 0 {
		r.extras.text = extra
	}
	i.Payload = rest
	return "", nil
}

// payloadEnd returns the end of the payload at the beginning of text, from the header of the
// payload. It separates the payload from the next line if the newline between them was lost. It
// returns len(text) if the header does not give the length.
func payloadEnd(text []byte) int {
	_, _, length := histogram.Peek(text)
	if length == 0 || length >= int64(len(text)) {
		return len(text)
	}
	end := int(length)
	for end < len(text) && text[end] == '=' {
		end++
	}
	return end
}

// timestamp is part of the name of the first column in a legend.
const timestamp = "Timestamp"

// cutLegend splits a line whose newline was lost into the legend and the interval behind it. glued
// is nil if the line is anything else.
func cutLegend(line []byte) (legend, glued []byte) {
	if line[0] != '"' {
		return line, nil
	}
	end := bytes.LastIndexByte(line, '"') + 1
	if !bytes.Contains(line[:end], []byte(timestamp)) {
		return line, nil
	}
	if glued = bytes.TrimLeft(line[end:], ", \t"); bytes.IndexByte(glued, ',') < 0 {
		return line, nil
	}
	return line[:end], glued
}

// fieldEnd returns the index of the comma or space that ends a field, or -1 if there is none. It is
// fast for numbers, and [separator] is fast for payloads.
func fieldEnd(text []byte) int {
	for i, c := range text[:min(len(text), maxNumber)] {
		if c == ',' || c == ' ' {
			return i
		}
	}
	return separator(text)
}

// separator returns the index of the first comma or space, or -1 if there is none.
func separator(text []byte) int {
	comma := bytes.IndexByte(text, ',')
	if comma >= 0 {
		text = text[:comma]
	}
	if space := bytes.IndexByte(text, ' '); space >= 0 {
		return space
	}
	return comma
}

// maxNumber is more than the length of numbers in logs, in bytes.
const maxNumber = 64

func isOutOfRange(err error) bool {
	numErr, ok := err.(*strconv.NumError)
	return ok && numErr.Err == strconv.ErrRange
}

// notDecimal has the characters of numbers that only Go reads: hexadecimal numbers, and numbers
// with underscores.
const notDecimal = "xX_"

// parseSeconds reads a finite decimal number, as the reference does.
func parseSeconds(text []byte) (float64, error) {
	if seconds, ok := parseDecimal(text); ok {
		return seconds, nil
	}
	seconds, err := parseNumber(text)
	if err != nil || math.IsNaN(seconds) || math.IsInf(seconds, 0) || bytes.ContainsAny(text, notDecimal) {
		return 0, fmt.Errorf("%w: %s", ErrNumber, quoted(text))
	}
	return seconds, nil
}

// powers[n] is 10 to the power of n.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14}

// parseDecimal parses a number of at most 15 characters: digits, and perhaps a point before one of
// them. Almost all numbers in logs have this form. ok is false for other text. A float64 holds both
// the digits and the power of ten exactly, so their quotient is the number that strconv.ParseFloat
// returns. ParseFloat takes five times as long, and would be a fifth of the instructions of
// hdrsplit.
func parseDecimal(text []byte) (number float64, ok bool) {
	if len(text) > len(powers) {
		return 0, false
	}
	digits, point := int64(0), len(text)-1
	for n, c := range text {
		switch {
		case c >= '0' && c <= '9':
			digits = digits*10 + int64(c-'0')
		case c == '.' && point == len(text)-1 && n < len(text)-1:
			point = n
		default:
			return 0, false
		}
	}
	return float64(digits) / powers[len(text)-1-point], len(text) > 0
}

// parseNumber parses a number. It refuses long text, since the error of strconv holds a copy of the
// text.
func parseNumber(text []byte) (float64, error) {
	if len(text) > 1000 {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(string(text), 64)
}
