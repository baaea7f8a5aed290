// Package hgrm reads percentile distributions as the reference's outputPercentileDistribution prints them, and hdrsum with
// it: rows of value, percentile and count, then comments that tell mean, maximum and total.
//
//	       Value     Percentile TotalCount 1/(1-Percentile)
//
//	       0.082 0.000000000000          1           1.00
//	     340.786 1.000000000000      16014
//	#[Mean    =        1.607, StdDeviation   =        9.271]
//	#[Max     =      340.786, Total count    =        16014]
//
// The form with commas, which the reference prints for spreadsheets, is read too.
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

// ErrEmpty: there is no row.
var ErrEmpty = errors.New("no percentile in it")

// A Row says that Count values, which is Percentile per cent (0 to 100) of all, are at most Value.
type Row struct {
	Value, Percentile float64
	Count             int64
}

// Detect reports whether a file that begins so is a percentile distribution rather than a log: logs of some writers are
// named .hgrm, too.
func Detect(begin []byte) bool {
	begin = bytes.TrimLeft(bytes.TrimPrefix(begin, []byte("\xef\xbb\xbf")), " \t\r\n\"")
	return bytes.HasPrefix(begin, []byte("Value"))
}

// Read reads a distribution. Name is what errors, which are [*hdrlog.SyntaxError], call it.
func Read(r io.Reader, name string) ([]Row, error) {
	var rows []Row
	scanner := bufio.NewScanner(r)
	line := 0
	fail := func(field string, err error) error {
		return &hdrlog.SyntaxError{File: name, Line: line, Field: field, Err: err}
	}
	for scanner.Scan() {
		line++
		text := strings.TrimSpace(strings.TrimPrefix(scanner.Text(), "\ufeff"))
		if text == "" || strings.HasPrefix(text, "#") || strings.HasPrefix(strings.TrimLeft(text, `"`), "Value") {
			continue
		}
		row, field, err := parse(text)
		if err == nil && len(rows) > 0 && (row.Percentile < rows[len(rows)-1].Percentile || row.Value < rows[len(rows)-1].Value) {
			field, err = "percentile", errors.New("less than on the line before")
		}
		if err != nil {
			return nil, fail(field, err)
		}
		rows = append(rows, row)
	}
	if err := scanner.Err(); err != nil {
		return nil, fail("line", err)
	}
	if len(rows) == 0 {
		return nil, fail("line", ErrEmpty)
	}
	return rows, nil
}

func parse(text string) (row Row, field string, err error) {
	fields := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' })
	for n, field := range []string{"value", "percentile", "count"} {
		if n >= len(fields) {
			return row, field, hdrlog.ErrMissing
		}
		number, err := strconv.ParseFloat(fields[n], 64)
		if err != nil || math.IsNaN(number) || math.IsInf(number, 0) || number < 0 {
			return row, field, fmt.Errorf("%w: %.40q", hdrlog.ErrNumber, fields[n])
		}
		switch n {
		case 0:
			row.Value = number
		case 1:
			if number > 1 {
				return row, field, fmt.Errorf("%s is above 1", fields[n])
			}
			row.Percentile = 100 * number
		case 2:
			if row.Count, err = strconv.ParseInt(fields[n], 10, 64); err != nil {
				return row, field, fmt.Errorf("%w: %.40q", hdrlog.ErrNumber, fields[n])
			}
		}
	}
	return row, "", nil
}
