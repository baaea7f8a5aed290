package measure

import (
	"errors"
	"fmt"
	"hash/maphash"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/writers"
)

// A rowParser makes rows of records.
type rowParser struct {
	setup    *setup
	fields   fieldFinder
	multiRow multiRow      // fields, if its records may have several rows
	payloads payloadFinder // in place of fields, for text with histograms
	buckets  *buckets      // nil if rows have no counts
	places   [][]byte      // the fields of the last record, in the order of [setup.names]
	times    timeParser
	scale    int // values times 10^scale are nanoseconds
	// chosenMetrics says of each metric in the file whether its rows are read.
	chosenMetrics map[string]bool
	unchosen      int64 // number of rows that options do not choose
	row           Row
	tag           []byte
}

// open prepares to parse the records of a format that has fields.
func (p *rowParser) open(s *setup, h *head) (err error) {
	*p = rowParser{setup: s, chosenMetrics: make(map[string]bool)}
	if p.fields, err = s.format.open(s, h); err != nil {
		return err
	}
	p.multiRow, _ = p.fields.(multiRow)
	p.places = s.newPlaces()
	c := &s.options.Columns
	s.timeless = c.Time == ""
	s.sumsLists = isUpstream(c.Value)
	if s.timeless && c.End != "" {
		return usagef("-end makes a value of two times, and -time has the first one")
	}
	if c.Count != "" {
		p.buckets = &buckets{
			cumulative: c.Value == edgeColumn,
			lastEdges:  make(map[uint64]edgeCount),
			seed:       maphash.MakeSeed(),
		}
	}
	if s.options.Unit == 0 && c.End == "" && !s.rowsHaveUnits && !p.hasUnits(h) {
		return OptionError{UnitError{fmt.Errorf("the unit of the values in column %s is unknown: "+
			"add -in ns, -in us, -in ms or -in s", c.Value)}}
	}
	p.times = timeParser{unit: s.options.TimeUnit, nameUnit: unitIn(c.Time), zone: s.options.Zone}
	if s.options.Start != "" {
		if err := p.times.setStart(s.options.Start); err != nil {
			return err
		}
	}
	if s.options.Unit != 0 {
		p.scale = decimalsOf(s.options.Unit)
	}
	if s.options.Above != "" {
		if p.buckets.above, err = p.parseValue([]byte(s.options.Above)); err != nil {
			return usagef("-above: %w", err)
		}
	}
	return nil
}

// parse makes a row of a record. If skip is true, the record has no row. If err is not nil, field
// names what is malformed.
func (p *rowParser) parse(record []byte) (skip bool, field string, err error) {
	if p.payloads != nil {
		err := p.payloads.line(record)
		return err == nil, "line", err
	}
	if skip, err := p.fields.find(record, p.places); skip || err != nil {
		return skip, "line", err
	}
	return p.fillRow()
}

// fillRow makes a row of the fields in their places.
func (p *rowParser) fillRow() (skip bool, field string, err error) {
	places, s := p.places, p.setup
	chosen, field, err := s.chooses(places)
	if err != nil {
		return false, field, err
	}
	if !chosen || s.options.Columns.metric != "" && !p.wantsMetric(places[metricPlace]) {
		p.unchosen++
		return true, "", nil
	}
	field, err = p.setMeasurement(places)
	switch {
	case err == errNoValue:
		p.unchosen++
		return true, "", nil
	case err != nil:
		return false, field, err
	}
	p.setTag(places)
	p.row.Part = len(s.series) > 1 && string(places[s.tagPlace()]) != s.series[0].tag
	if p.buckets != nil {
		if err := p.buckets.add(&p.row); err != nil {
			return false, s.options.Columns.Count, err
		}
	}
	return false, "", nil
}

// setMeasurement sets the time, the value, its count and the success of the row.
func (p *rowParser) setMeasurement(places [][]byte) (field string, err error) {
	s := p.setup
	if places[timePlace] == nil && !s.timeless {
		return s.options.Columns.Time, hdrlog.ErrMissing
	}
	if places[valuePlace] == nil {
		return s.valueColumn(), hdrlog.ErrMissing
	}
	p.row.Time = 0
	if !s.timeless {
		if p.row.Time, err = p.times.parse(places[timePlace]); err != nil {
			return s.options.Columns.Time, err
		}
	}
	p.row.Count = 1
	if s.options.Columns.Count != "" {
		if err := p.setCount(places[countPlace]); err != nil {
			return s.options.Columns.Count, err
		}
	}
	p.row.Failed = false
	if s.options.Columns.OK != "" && (len(places[okPlace]) > 0 || !s.formatOK) {
		if p.row.Failed, err = isFailure(places[okPlace], s.options.Columns.OK); err != nil {
			return s.options.Columns.OK, err
		}
	}
	p.row.NoValue = s.failsWithout(places)
	if p.row.NoValue {
		p.row.Failed = true
		return "", nil
	}
	if p.row.Value, err = p.value(places[valuePlace]); err != nil {
		return s.valueColumn(), err
	}
	return "", nil
}

// value returns the value of the row, whose time is set.
func (p *rowParser) value(text []byte) (int64, error) {
	if unit := p.places[unitPlace]; len(unit) > 0 {
		return valueIn(text, unit)
	}
	if p.setup.options.Columns.End == "" {
		return p.parseValue(text)
	}
	end, err := p.times.parse(text)
	if err == nil && end < p.row.Time {
		err = errors.New("the end is before the start")
	}
	return end - p.row.Time, err
}

// setCount sets how often the value of the row occurred.
func (p *rowParser) setCount(text []byte) (err error) {
	if text == nil {
		return hdrlog.ErrMissing
	}
	p.row.Count, err = parseDecimal(text, 0)
	return err
}

// maxMetrics is the number of metrics that wantsMetric remembers.
const maxMetrics = 50

// wantsMetric reports whether the rows of a metric are read. It remembers metrics, since matching
// the expression for each row would take an eighth of the time.
func (p *rowParser) wantsMetric(metric []byte) bool {
	wanted, known := p.chosenMetrics[string(metric)]
	if !known {
		wanted = p.setup.metrics.Match(metric)
		if len(p.chosenMetrics) < maxMetrics && len(metric) < hdrlog.MaxTag {
			p.chosenMetrics[string(metric)] = wanted
		}
	}
	return wanted
}

// isFailure reports whether the field of the column OK says that a request failed.
func isFailure(text []byte, column string) (bool, error) {
	if column[0] == '!' {
		return len(text) > 0, nil
	}
	if string(text) == "true" { // saves 4% of the time of JMeter's tables
		return false, nil
	}
	switch strings.ToLower(string(text)) {
	case "true", "1", "ok", "yes", "success", "passed":
		return false, nil
	case "false", "0", "ko", "no", "failure", "failed", "error", "-1", "000":
		return true, nil
	}
	status, err := parseDecimal(text, 0) // of HTTP
	if err != nil || status < 100 || status > 999 {
		return false, fmt.Errorf("neither success nor failure: %s", quoted(text))
	}
	return status >= 400, nil
}

// setTag sets the tag of the row. Columns without a text are left out if the format names the
// columns, and not the user.
func (p *rowParser) setTag(places [][]byte) {
	p.tag = p.tag[:0]
	tagged := false
	for n, part := range places[p.setup.tagPlace():] {
		if p.setup.formatTags && len(part) == 0 {
			continue
		}
		if n > 0 && (tagged || !p.setup.formatTags) {
			p.tag = append(p.tag, '/')
		}
		p.tag = append(p.tag, part...)
		tagged = tagged || len(part) > 0
	}
	if !tagged {
		p.tag = p.tag[:0]
	}
	if message := places[transactionPlace]; len(message) > 0 && beginsWith(message, transactions) {
		p.tag = appendTagPart(p.tag, tagged, writers.Transaction)
		tagged = true
	}
	if len(places[subResultPlace]) > 0 {
		p.tag = appendTagPart(p.tag, tagged, writers.SubResult)
		tagged = true
	}
	p.row.Tag = nil
	if tagged {
		p.row.Tag = p.tag
	}
}

// appendTagPart appends a part to a tag, behind a slash if the tag has parts already.
func appendTagPart(tag []byte, hasParts bool, part string) []byte {
	if hasParts {
		tag = append(tag, '/')
	}
	return append(tag, part...)
}
