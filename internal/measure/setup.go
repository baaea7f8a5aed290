package measure

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// An OptionError is an error of [NewReader] that other options of hdrrec avoid.
type OptionError struct{ error }

// Unwrap returns the cause.
func (e OptionError) Unwrap() error { return e.error }

// A UnitError, in an [OptionError], says that the unit of the values is unknown.
type UnitError struct{ error }

func usagef(format string, args ...any) error { return OptionError{fmt.Errorf(format, args...)} }

// A setup is what is known of a file before its rows are read: the format, and the options with the
// format's defaults. Functions open of formats complete the options by what the file's beginning
// shows.
type setup struct {
	options Options
	format  *Format
	atEnd   bool // times are ends of measurements
	// formatOK and formatTags report that the format names the columns of OK and Tags, and not the
	// user. A file may lack columns that only the format names.
	formatOK, formatTags bool
	// timeless reports that rows have no time. All rows are then one interval.
	timeless bool
	// sumsLists reports that a value may be a list of times, see [rowParser.sumOf].
	sumsLists bool
	series    []valuePath // the series of a document, see [document]
	// rowsHaveUnits reports that each value has its unit in the same row.
	rowsHaveUnits bool
	metrics       *regexp.Regexp
}

// newSetup checks the options, and completes them by the defaults of a format.
func newSetup(f *Format, o Options) (*setup, error) {
	switch {
	case o.Pattern != "" && f.Name != accessLog.Name && f.Name != lines.Name:
		return nil, usagef("-pattern is for access logs and other lines, and this is %s", f.Name)
	case o.Metric != "" && f.columns.metric == "":
		return nil, usagef("-metric is for files with a column of metrics, and this is %s", f.Name)
	case o.Start != "" && (f.open == nil || o.NoTime && o.Columns.Time == ""):
		return nil, usagef("-start is for times since the start of a run, and this has none")
	case o.Above != "" && o.Columns.Count == "":
		return nil, usagef("-above is for counts of buckets: add -count COLUMN")
	case o.Columns.End != "" && o.Columns.Value != "":
		return nil, usagef("-value has the value, and -end makes it of two times: give one of them")
	}
	s := &setup{options: o, format: f, atEnd: f.atEnd}
	c := &s.options.Columns
	if !o.NoTime {
		c.Time = cmp.Or(c.Time, f.columns.Time)
	}
	if c.Value == "" && c.End == "" {
		c.Value, c.End = f.columns.Value, f.columns.End
	}
	if c.OK == "" {
		c.OK, s.formatOK = f.columns.OK, true
	}
	if c.Tags == nil && !o.NoTags {
		c.Tags, s.formatTags = f.columns.Tags, true
	}
	c.metric = f.columns.metric
	c.Count = cmp.Or(c.Count, f.columns.Count)
	s.options.Where = slices.Concat(f.where, o.Where)
	s.options.Unit = cmp.Or(o.Unit, f.unit)
	s.options.TimeUnit = cmp.Or(o.TimeUnit, f.timeUnit)
	s.options.Zone = cmp.Or(o.Zone, time.UTC)
	s.rowsHaveUnits = f.columns.unit != "" && f.columns.unit != seriesUnit
	if c.metric == "" {
		return s, nil
	}
	s.options.Metric = cmp.Or(o.Metric, f.metric)
	var err error
	if s.metrics, err = regexp.Compile(anchored(s.options.Metric)); err != nil {
		return nil, usagef("-metric: %w", err)
	}
	// The values of different metrics do not add up, so each metric has a tag.
	if regexp.QuoteMeta(s.options.Metric) != s.options.Metric && !slices.Contains(c.Tags, c.metric) {
		c.Tags = append([]string{c.metric}, c.Tags...)
	}
	return s, nil
}

// Places of the fields of a row. The fields of conditions and of tags follow.
const (
	timePlace = iota
	valuePlace
	okPlace
	metricPlace
	transactionPlace
	subResultPlace
	labelPlace
	threadPlace
	unitPlace
	countPlace
	wherePlace
)

// names returns the columns to find, in the order of places. A name may be empty.
func (s *setup) names() []string {
	c := &s.format.columns
	names := []string{
		s.options.Columns.Time, s.valueColumn(), strings.TrimPrefix(s.options.Columns.OK, "!"), s.options.Columns.metric,
		c.transaction, c.subResult, c.label, c.thread, c.unit, s.options.Columns.Count,
	}
	for _, condition := range s.options.Where {
		names = append(names, condition.Column)
	}
	return append(names, s.options.Columns.Tags...)
}

// newPlaces returns a slice that has a place for each of names.
func (s *setup) newPlaces() [][]byte {
	return make([][]byte, s.tagPlace()+len(s.options.Columns.Tags))
}

// tagPlace returns the place of the first tag.
func (s *setup) tagPlace() int { return wherePlace + len(s.options.Where) }

// isOptional reports whether a file may lack the column of a place.
func (s *setup) isOptional(place int) bool {
	return place == okPlace && s.formatOK || transactionPlace <= place && place < countPlace || place >= s.tagPlace() && s.formatTags
}

// valueColumn returns the column of the value, or of the end if the value is the difference of two
// times.
func (s *setup) valueColumn() string { return cmp.Or(s.options.Columns.End, s.options.Columns.Value) }

// failsWithout reports whether the fields are those of a failed request without a value.
func (s *setup) failsWithout(places [][]byte) bool {
	if s.format.failedValue == nil || !s.format.failedValue().Match(places[valuePlace]) {
		return false
	}
	return s.options.Columns.OK == "" || len(places[okPlace]) > 0
}

// A fieldFinder finds the fields of a record.
type fieldFinder interface {
	// find puts the fields into their places, and nil if the record lacks a field. If skip is true,
	// the record is not a row, for example a header. The error is errOpenQuote if the record
	// continues in the next line.
	find(record []byte, places [][]byte) (skip bool, err error)
}

// A multiRow is a [fieldFinder] whose records may have several rows.
type multiRow interface {
	// nextRow puts the fields of the record's next row into their places. It returns false if the
	// record has no more rows.
	nextRow(places [][]byte) bool
}
