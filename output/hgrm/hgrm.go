// Package hgrm reads percentile distributions: the text that the reference's
// outputPercentileDistribution, hdrsum, wrk2 and vegeta print.
//
//	       Value     Percentile TotalCount 1/(1-Percentile)
//
//	       0.082 0.000000000000          1           1.00
//	     340.786 1.000000000000      16014
//	#[Mean    =        1.607, StdDeviation   =        9.271]
//	#[Max     =      340.786, Total count    =        16014]
//
// It also reads the form with commas, which the reference prints for spreadsheets. A file can have
// several distributions, and text before, between and after them, as the reports of wrk2 have. The
// text before a distribution can name the distribution.
package hgrm

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"hdrkit/hdrlog"
)

// ErrEmpty is the error for a file whose distributions have no rows, or that has no distribution.
var ErrEmpty = errors.New("no percentile in it")

// A Distribution is a percentile distribution.
type Distribution struct {
	// Name is the name in the text before the distribution, or a number if the text has no name. It
	// is empty if the only distribution of a file has no name.
	Name string
	// Unit is ms if the header names this unit, or if wrk2 wrote the distribution. Otherwise it is
	// empty, for an unknown unit.
	Unit string
	Rows []Row
}

// A Row says that Count values are at most Value. They are Percentile per cent of all values.
type Row struct {
	Value, Percentile float64
	Count             int64
}

// DetectSize is the number of bytes from the beginning of a file that [Detect] needs. wrk2 prints a
// line for each of its threads before the first distribution.
const DetectSize = 64 << 10

// Detect reports whether a file is a report with percentile distributions, and not a log. Begin has
// the first bytes of the file. The file extension .hgrm does not decide this, since some writers of
// logs use it, too.
func Detect(begin []byte) bool {
	for line := range bytes.Lines(begin) {
		switch {
		case isHeader(string(line)):
			return true
		case bytes.HasPrefix(line, []byte("#[Histogram log format")), bytes.HasPrefix(line, []byte(`"StartTimestamp"`)),
			bytes.Contains(line, []byte(",HIST")):
			return false
		}
	}
	return false
}

// vegetaValue is the name of the first column in a report of vegeta (-type=hdrplot).
const vegetaValue = "Value(ms)"

// isHeader reports whether a line is the header of a distribution.
func isHeader(line string) bool {
	fields := split(clean(line))
	return len(fields) >= 3 && (fields[0] == "Value" || fields[0] == vegetaValue) && fields[1] == "Percentile" && fields[2] == "TotalCount"
}

// clean removes a byte-order mark, and white space at both ends of a line.
func clean(line string) string { return strings.TrimSpace(strings.TrimPrefix(line, "\ufeff")) }

// split returns the fields of a row or header, without quotation marks.
func split(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' || r == '"' })
}

// Read reads the distributions of a file. It omits distributions without rows. If there are several
// distributions, each has a different name. The error is a [*hdrlog.SyntaxError] with the name of
// the file. It wraps [ErrEmpty] if there are no distributions.
func Read(r io.Reader, name string) ([]Distribution, error) {
	p := parser{}
	scanner := bufio.NewScanner(r)
	line := 0
	fail := func(field string, err error) error {
		return &hdrlog.SyntaxError{File: name, Line: line, Field: field, Err: err}
	}
	for scanner.Scan() {
		line++
		if field, err := p.line(clean(scanner.Text())); err != nil {
			return nil, fail(field, err)
		}
	}
	if err := scanner.Err(); err != nil {
		return nil, fail("line", err)
	}
	p.end()
	if len(p.all) == 0 {
		return nil, fail("line", ErrEmpty)
	}
	if len(p.all) > 1 {
		distinguish(p.all)
	}
	return p.all, nil
}

// distinguish gives empty names a number, and appends numbers to names that occur several times.
func distinguish(all []Distribution) {
	seen := make(map[string]bool)
	for n := range all {
		d := &all[n]
		name := d.Name
		for i := n + 1; d.Name == "" || seen[d.Name]; i++ {
			d.Name = strings.TrimSpace(fmt.Sprintf("%s %d", name, i))
		}
		seen[d.Name] = true
	}
}

// A parser makes distributions of the lines of a file. Outside of distributions it ignores all
// lines but names and headers.
type parser struct {
	all    []Distribution
	inside bool   // the next row belongs to current
	name   string // of the next distribution
	unit   string // of the next distribution
	// current is the distribution whose rows are being read.
	current Distribution
}

// line parses one line, which has no white space at its ends. After an error, field is the name of
// the malformed field.
func (p *parser) line(text string) (field string, err error) {
	if isHeader(text) {
		p.end()
		p.inside = true
		p.current.Name, p.current.Unit = p.name, p.unit
		p.name, p.unit = "", ""
		if strings.HasPrefix(text, vegetaValue) {
			p.current.Unit = "ms"
		}
		return "", nil
	}
	name, named := nameOf(text)
	if named {
		p.name, p.unit = name, ""
		if strings.Contains(text, wrk2Name) {
			p.unit = "ms"
		}
	}
	if text == "" {
		return "", nil
	}
	row, field, err := parse(text)
	switch {
	case !p.inside && err == nil:
		return "line", errors.New("a row without the header Value, Percentile, TotalCount before it")
	case !p.inside:
		return "", nil
	case named || strings.HasPrefix(text, "#[") || strings.HasPrefix(text, "# end of metric"):
		p.end()
		return "", nil
	case text[0] == '#':
		return "", nil
	case err != nil:
		return field, err
	}
	if rows := p.current.Rows; len(rows) > 0 {
		if last := rows[len(rows)-1]; row.Percentile < last.Percentile || row.Value < last.Value {
			return "percentile", errors.New("less than on the line before")
		}
	}
	p.current.Rows = append(p.current.Rows, row)
	return "", nil
}

// end appends the current distribution to all, unless it has no rows.
func (p *parser) end() {
	if len(p.current.Rows) > 0 {
		p.all = append(p.all, p.current)
	}
	p.inside, p.current = false, Distribution{}
}

// wrk2Name is the text before the name of a distribution of wrk2, which prints milliseconds.
const wrk2Name = "Latency Distribution (HdrHistogram - "

// nameOf returns the name of the next distribution, if a line has such a name:
//
//	#[Tag: insert-rt]                                           hdrsum
//	Latency Distribution (HdrHistogram - Recorded Latency)      wrk2
//	# start of metric latency, dimensions: { "chain": "a" }     Vespa
func nameOf(line string) (name string, ok bool) {
	if name, ok := strings.CutPrefix(line, "#[Tag: "); ok {
		return strings.TrimSuffix(name, "]"), true
	}
	if _, name, ok := strings.Cut(line, wrk2Name); ok {
		name, _, _ = strings.Cut(strings.TrimSuffix(name, ")"), " (")
		return name, true
	}
	if name, ok := strings.CutPrefix(line, "# start of metric "); ok {
		name, dimensions, _ := strings.Cut(name, ", dimensions: ")
		if dimensions = strings.TrimSpace(dimensions); strings.Trim(dimensions, "{ }") != "" {
			name += " " + dimensions
		}
		return name, true
	}
	return "", false
}

// parse returns the row of a line. After an error, field is the name of the malformed field.
func parse(text string) (row Row, field string, err error) {
	fields := split(text)
	var numbers [3]float64
	for n, field := range []string{"value", "percentile", "count"} {
		if n >= len(fields) {
			return row, field, hdrlog.ErrMissing
		}
		number, err := strconv.ParseFloat(fields[n], 64)
		if n == 2 && err == nil {
			row.Count, err = strconv.ParseInt(fields[n], 10, 64)
		}
		switch {
		case err != nil || math.IsNaN(number) || math.IsInf(number, 0) || number < 0:
			return row, field, fmt.Errorf("%w: %.40q", hdrlog.ErrNumber, fields[n])
		case n == 1 && number > 1:
			return row, field, fmt.Errorf("%s is above 1", fields[n])
		}
		numbers[n] = number
	}
	row.Value, row.Percentile = numbers[0], 100*numbers[1]
	return row, "", nil
}
