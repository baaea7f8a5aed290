package measure

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// errNoUnit is the error of a number without a unit, if the unit of the column is unknown.
var errNoUnit = errors.New("a number without a unit; -in says which one all have")

// A durationUnit is a unit in the text of a duration. It has factor times 10^scale nanoseconds.
type durationUnit struct {
	name   string
	factor int64
	scale  int
}

// durationUnits are sorted by the length of their names, so that the first unit that a text begins
// with is the right one.
var durationUnits = []durationUnit{
	{"milliseconds", 1, 6}, {"microseconds", 1, 3}, {"nanoseconds", 1, 0}, {"seconds", 1, 9},
	{"minutes", 60, 9}, {"hours", 3600, 9}, {"millis", 1, 6}, {"micros", 1, 3},
	{"second", 1, 9}, {"minute", 60, 9}, {"nanos", 1, 0}, {"hour", 3600, 9},
	{"msec", 1, 6}, {"usec", 1, 3}, {"nsec", 1, 0}, {"mins", 60, 9},
	{"secs", 1, 9}, {"min", 60, 9}, {"sec", 1, 9}, {"µs", 1, 3},
	{"μs", 1, 3}, {"ms", 1, 6}, {"us", 1, 3}, {"ns", 1, 0},
	{"h", 3600, 9}, {"m", 60, 9}, {"s", 1, 9},
}

// parseDuration returns the nanoseconds of a text with units: 1.5ms, 350µs, 1m2.5s, 2 min, PT0.35S.
// ok is false if the text is not a duration.
func parseDuration(text []byte) (nanoseconds int64, ok bool) {
	text = bytes.ToLower(bytes.TrimSpace(text))
	if rest, iso := bytes.CutPrefix(text, []byte("pt")); iso {
		text = rest
	}
	for len(text) > 0 {
		end := 0
		for end < len(text) && (isDigit(text[end]) || text[end] == '.') {
			end++
		}
		number := text[:end]
		text = bytes.TrimLeft(text[end:], " ")
		n := slices.IndexFunc(durationUnits, func(l durationUnit) bool { return bytes.HasPrefix(text, []byte(l.name)) })
		if n < 0 {
			return 0, false
		}
		text = bytes.TrimLeft(text[len(durationUnits[n].name):], " ")
		part, err := parseDecimal(number, durationUnits[n].scale)
		if err != nil || part > (math.MaxInt64-nanoseconds)/durationUnits[n].factor {
			return 0, false
		}
		part *= durationUnits[n].factor
		nanoseconds += part
		ok = true
	}
	return nanoseconds, ok
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// parseValue returns the nanoseconds of a value: a number in the unit of values, or a text with
// units.
func (p *rowParser) parseValue(text []byte) (int64, error) {
	if p.buckets != nil && bytes.EqualFold(bytes.TrimPrefix(text, []byte("+")), []byte("inf")) {
		return unbounded, nil
	}
	value, err := parseDecimal(text, p.scale)
	if err == nil && p.setup.options.Unit != 0 {
		return value, nil
	}
	if nanoseconds, ok := parseDuration(text); ok {
		return nanoseconds, nil
	}
	if p.setup.sumsLists {
		return p.sumOf(text)
	}
	if err != nil {
		return 0, err
	}
	return 0, fmt.Errorf("%w: %s", errNoUnit, quoted(text))
}

// valueIn returns the nanoseconds of a number in a unit. The unit is ms, for example, or ms/op in
// JMH.
func valueIn(text, unit []byte) (int64, error) {
	name, _, _ := bytes.Cut(bytes.ToLower(unit), []byte("/"))
	n := slices.IndexFunc(durationUnits, func(l durationUnit) bool { return l.name == string(name) || l.name+"s" == string(name) })
	if n < 0 {
		return 0, fmt.Errorf("%s is no unit of time", quoted(unit))
	}
	value, err := parseDecimal(text, durationUnits[n].scale)
	if err == nil && value > math.MaxInt64/durationUnits[n].factor {
		err = fmt.Errorf("%w: %s", errLarge, quoted(text))
	}
	return value * durationUnits[n].factor, err
}

// errNoValue is the error of a row without a value. The row is not malformed.
var errNoValue = errors.New("no value")

// isUpstream reports whether a column has the response times of upstream servers, as in [nginx].
//
// [nginx]: https://nginx.org/en/docs/http/ngx_http_upstream_module.html#var_upstream_response_time
func isUpstream(column string) bool {
	name := strings.TrimLeft(column[strings.LastIndexByte(column, '.')+1:], "$")
	return strings.HasPrefix(name, "upstream_") && strings.HasSuffix(name, "_time")
}

// sumOf returns the sum, in nanoseconds, of a list of times with commas or colons between them. A
// hyphen is no time.
func (p *rowParser) sumOf(text []byte) (sum int64, err error) {
	hasValue := false
	for _, part := range bytes.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ':' || c == ' ' }) {
		if string(part) == "-" {
			continue
		}
		value, err := parseDecimal(part, p.scale)
		switch {
		case err != nil:
			return 0, fmt.Errorf("%w in the list %s", err, quoted(text))
		case p.setup.options.Unit == 0:
			return 0, fmt.Errorf("%w: %s", errNoUnit, quoted(text))
		case value > math.MaxInt64-sum:
			return 0, fmt.Errorf("%w: %s", errLarge, quoted(text))
		}
		sum += value
		hasValue = true
	}
	if !hasValue {
		return 0, errNoValue
	}
	return sum, nil
}

// hasUnits reports whether the first value of a file is a duration with a unit, so that the column
// needs none. In a pipe, it waits for the first row.
func (p *rowParser) hasUnits(h *head) bool {
	const rows = 2 // after the first line, which may be a header
	text := h.more(maxRecord, func(text []byte) bool { return bytes.Count(text, []byte("\n")) > rows })
	lines := bytes.Lines(text)
	if p.setup.format.Name == jsonArray.Name {
		lines = func(yield func([]byte) bool) { yield(firstElement(h)) }
	}
	for line := range lines {
		clear(p.places)
		skip, err := p.fields.find(bytes.TrimRight(line, "\r\n"), p.places)
		if value := p.places[valuePlace]; !skip && err == nil && len(value) > 0 {
			_, ok := parseDuration(value)
			return ok
		}
	}
	return false
}
